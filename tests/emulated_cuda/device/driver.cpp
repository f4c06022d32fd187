// The driver API: modules that NVRTC and Triton compile, launches, and the questions that torch asks.
#include <cuda.h>

#include <dlfcn.h>

#include <cstring>

#include "cubins.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "runtime.hpp"

using namespace emulated;

namespace {

// The primary context of each device.
CUcontext context_of(int device) { return reinterpret_cast<CUcontext>(std::uintptr_t(0x1000) * (device + 1)); }

CUresult driver_result(int error) { return static_cast<CUresult>(error); }

CUresult launched(const char *function, CUfunction kernel, const unsigned (&grid)[3], const unsigned (&block)[3], CUstream handle,
                  void **arguments) {
    Stream &stream = stream_of(handle);
    Call call(function, &stream);
    if (call.error() != 0) return driver_result(call.error());
    run_kernel(call, *reinterpret_cast<Kernel *>(kernel), stream, grid, block, arguments);
    return CUDA_SUCCESS;
}

}  // namespace

EXPORT CUresult cuInit(unsigned) { return CUDA_SUCCESS; }

EXPORT CUresult cuDriverGetVersion(int *version) { return driver_result(cudaDriverGetVersion(version)); }

EXPORT CUresult cuDeviceGetCount(int *count) { return driver_result(cudaGetDeviceCount(count)); }

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute name, CUdevice device) {
    // Both APIs have the same numbers of attributes.
    return driver_result(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(name), device));
}

EXPORT CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    std::snprintf(name, size, "%s", settings().name(device).c_str());
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    *context = context_of(device);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned *flags, int *active) {
    *flags = 0;
    *active = 1;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = context_of(current_device());
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
    if (context != nullptr) set_current_device(static_cast<int>(reinterpret_cast<std::uintptr_t>(context) / 0x1000) - 1);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
    *device = current_device();
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetLimit(size_t *value, CUlimit) {
    *value = 0;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetLimit(CUlimit, size_t) { return CUDA_SUCCESS; }

EXPORT CUresult cuGetErrorString(CUresult error, const char **text) {
    *text = cudaGetErrorString(static_cast<cudaError_t>(error));
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetErrorName(CUresult error, const char **text) {
    *text = cudaGetErrorName(static_cast<cudaError_t>(error));
    return CUDA_SUCCESS;
}

// NVRTC crashes where this is not to be found; what it asks for is NVIDIA's own.
EXPORT CUresult cuGetExportTable(const void **, const CUuuid *) { return CUDA_ERROR_NOT_FOUND; }

EXPORT CUresult cuModuleLoadData(CUmodule *loaded, const void *image) {
    const Call call("cuModuleLoadData");
    if (call.error() != 0) return driver_result(call.error());
    if (image != nullptr) read_cubin(image);
    *loaded = reinterpret_cast<CUmodule>(new char);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule *loaded, const void *image, unsigned, CUjit_option *, void **) {
    return cuModuleLoadData(loaded, image);
}

EXPORT CUresult cuModuleLoad(CUmodule *loaded, const char *path) {
    read_cubin_file(path);
    return cuModuleLoadData(loaded, nullptr);
}

EXPORT CUresult cuModuleUnload(CUmodule loaded) {
    delete reinterpret_cast<char *>(loaded);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleGetFunction(CUfunction *found, CUmodule, const char *name) {
    *found = reinterpret_cast<CUfunction>(kernel_named(name));
    return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute name, CUfunction function) {
    const Figures figures = figures_of(reinterpret_cast<const Kernel *>(function)->mangled);
    switch (name) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *value = 1024;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_NUM_REGS:
            *value = figures.registers;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
            *value = figures.local_bytes;
            return CUDA_SUCCESS;
        default:
            *value = 0;
            return CUDA_SUCCESS;
    }
}

EXPORT CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
EXPORT CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }

EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction, int threads, size_t) {
    return driver_result(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, nullptr, threads, 0));
}

EXPORT CUresult cuLaunchKernel(CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                               unsigned, CUstream stream, void **arguments, void **) {
    return launched("cuLaunchKernel", kernel, {gx, gy, gz}, {bx, by, bz}, stream, arguments);
}

EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction kernel, void **arguments, void **) {
    return launched("cuLaunchKernelEx", kernel, {config->gridDimX, config->gridDimY, config->gridDimZ},
                    {config->blockDimX, config->blockDimY, config->blockDimZ}, config->hStream, arguments);
}

EXPORT CUresult cuLaunchCooperativeKernel(CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                          unsigned bz, unsigned, CUstream stream, void **arguments) {
    return launched("cuLaunchCooperativeKernel", kernel, {gx, gy, gz}, {bx, by, bz}, stream, arguments);
}

EXPORT CUresult cuPointerGetAttribute(void *value, CUpointer_attribute name, CUdeviceptr address) {
    const Block *block = block_of(reinterpret_cast<const void *>(address));
    if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
    switch (name) {
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            *static_cast<CUdeviceptr *>(value) = address;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            *static_cast<CUcontext *>(value) = context_of(block->device);
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            *static_cast<int *>(value) = block->device;
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_NOT_SUPPORTED;
    }
}

EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    return driver_result(cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus *>(status)));
}

// Torch takes functions of the driver by name; one that is not here is reported as not found.
EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **found, unsigned, unsigned long long,
                                                    cudaDriverEntryPointQueryResult *status) {
    *found = dlsym(RTLD_DEFAULT, symbol);
    if (status != nullptr) *status = *found == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
    return cudaSuccess;
}
