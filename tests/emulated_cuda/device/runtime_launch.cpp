// Kernels of the runtime API: registered when a library is loaded, then launched.
#include "kernels.hpp"
#include "runtime.hpp"

using namespace emulated;

namespace {

struct Configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};

thread_local std::vector<Configuration> configurations;

cudaError_t launched(const char *function, const void *kernel, dim3 grid, dim3 block, void **arguments, cudaStream_t handle) {
    Stream &stream = stream_of(handle);
    Call call(function, &stream);
    if (call.error() != 0) return result(call.error());
    run_kernel(call, *kernel_of(kernel), stream, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, arguments);
    return cudaSuccess;
}

}  // namespace

EXPORT void **__cudaRegisterFatBinary(void *) {
    static void *handle = nullptr;
    return &handle;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **) {}

EXPORT void __cudaUnregisterFatBinary(void **) {}

EXPORT void __cudaRegisterFunction(void **, const char *host, char *, const char *name, int, uint3 *, uint3 *, dim3 *, dim3 *,
                                   int *) {
    enlist_kernel(host, name);
}

EXPORT void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int) {}

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    configurations.push_back({grid, block, shared, stream});
    return 0;
}

EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, cudaStream_t *stream) {
    const Configuration found = configurations.back();
    configurations.pop_back();
    *grid = found.grid;
    *block = found.block;
    *shared = found.shared;
    *stream = found.stream;
    return cudaSuccess;
}

EXPORT cudaError_t __cudaGetKernel(void **kernel, const void *host) {
    *kernel = kernel_of(host);
    return cudaSuccess;
}

EXPORT cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments, size_t, cudaStream_t stream) {
    return launched("cudaLaunchKernel", kernel, grid, block, arguments, stream);
}

EXPORT cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t, cudaStream_t stream) {
    return launched("cudaLaunchKernel", kernel, grid, block, arguments, stream);
}

EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
    return launched("cudaLaunchKernelExC", kernel, config->gridDim, config->blockDim, arguments, config->stream);
}

EXPORT cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *found, const void *) {
    CALL(cudaFuncGetAttributes);
    *found = {};
    const Capability capability = settings().capability(current_device());
    found->maxThreadsPerBlock = 1024;
    found->numRegs = 32;
    found->maxDynamicSharedSizeBytes = 227 << 10;
    found->ptxVersion = found->binaryVersion = 10 * capability.major + capability.minor;
    return cudaSuccess;
}

EXPORT cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int) {
    CALL(cudaFuncSetAttribute);
    return cudaSuccess;
}

EXPORT cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t, cudaFuncAttribute, int, int) {
    CALL(cudaKernelSetAttributeForDevice);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
    *address = const_cast<void *>(symbol);
    return cudaSuccess;
}

EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *, int threads, size_t,
                                                                          unsigned) {
    *blocks = threads > 0 ? std::max(1, 2048 / threads) : 1;
    return cudaSuccess;
}

EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared, 0);
}
