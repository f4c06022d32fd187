// Devices: how many, which, and what they are.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "memory.hpp"
#include "runtime.hpp"

using namespace emulated;

namespace {

constexpr int kVersion = CUDART_VERSION;
constexpr int kProcessors = 132;
constexpr int kClockKhz = 1'000'000;

int device_count() { return static_cast<int>(settings().visible.size()); }

bool is_device(int device) { return device >= 0 && device < device_count(); }

int attribute(cudaDeviceAttr name, int device) {
    const Capability capability = settings().capability(device);
    switch (name) {
        case cudaDevAttrComputeCapabilityMajor: return capability.major;
        case cudaDevAttrComputeCapabilityMinor: return capability.minor;
        case cudaDevAttrMultiProcessorCount: return kProcessors;
        case cudaDevAttrClockRate: return kClockKhz;
        case cudaDevAttrMemoryClockRate: return 2'600'000;
        case cudaDevAttrGlobalMemoryBusWidth: return 5120;
        case cudaDevAttrWarpSize: return 32;
        case cudaDevAttrMaxThreadsPerBlock: return 1024;
        case cudaDevAttrMaxThreadsPerMultiProcessor: return 2048;
        case cudaDevAttrMaxBlocksPerMultiprocessor: return 32;
        case cudaDevAttrMaxSharedMemoryPerBlock: return 48 << 10;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: return 227 << 10;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return 228 << 10;
        case cudaDevAttrMaxRegistersPerBlock: return 65536;
        case cudaDevAttrMaxRegistersPerMultiprocessor: return 65536;
        case cudaDevAttrMaxGridDimX: return 2147483647;
        case cudaDevAttrMaxGridDimY: return 65535;
        case cudaDevAttrMaxGridDimZ: return 65535;
        case cudaDevAttrUnifiedAddressing: return 1;
        case cudaDevAttrMemoryPoolsSupported: return 1;
        case cudaDevAttrCooperativeLaunch: return 1;
        case cudaDevAttrL2CacheSize: return 50 << 20;
        case cudaDevAttrPciBusId: return settings().visible.at(device) + 1;
        default: return 0;
    }
}

}  // namespace

EXPORT cudaError_t cudaGetDeviceCount(int *count) {
    *count = 0;
    CALL(cudaGetDeviceCount);
    *count = device_count();
    return result(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

EXPORT cudaError_t cudaSetDevice(int device) {
    if (!is_device(device)) return result(cudaErrorInvalidDevice);
    const int before = current_device();
    // The call is one of the new device.
    set_current_device(device);
    Call call("cudaSetDevice");
    if (call.error() != 0) set_current_device(before);
    return result(call.error());
}

EXPORT cudaError_t cudaGetDevice(int *device) {
    CALL(cudaGetDevice);
    *device = current_device();
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr name, int device) {
    CALL(cudaDeviceGetAttribute);
    if (!is_device(device)) return result(cudaErrorInvalidDevice);
    *value = attribute(name, device);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp *found, int device) {
    if (!is_device(device)) return result(cudaErrorInvalidDevice);
    CALL(cudaGetDeviceProperties, &default_stream(device));
    std::memset(found, 0, sizeof *found);
    std::snprintf(found->name, sizeof found->name, "%s", settings().name(device).c_str());
    const auto uuid = settings().uuid(device);
    std::copy(uuid.begin(), uuid.end(), found->uuid.bytes);
    const auto get = [device](cudaDeviceAttr name) { return attribute(name, device); };
    found->totalGlobalMem = settings().memory_bytes;
    found->sharedMemPerBlock = get(cudaDevAttrMaxSharedMemoryPerBlock);
    found->sharedMemPerBlockOptin = get(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    found->sharedMemPerMultiprocessor = get(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    found->regsPerBlock = get(cudaDevAttrMaxRegistersPerBlock);
    found->regsPerMultiprocessor = get(cudaDevAttrMaxRegistersPerMultiprocessor);
    found->warpSize = get(cudaDevAttrWarpSize);
    found->maxThreadsPerBlock = get(cudaDevAttrMaxThreadsPerBlock);
    found->maxThreadsPerMultiProcessor = get(cudaDevAttrMaxThreadsPerMultiProcessor);
    found->maxBlocksPerMultiProcessor = get(cudaDevAttrMaxBlocksPerMultiprocessor);
    found->maxThreadsDim[0] = found->maxThreadsDim[1] = 1024;
    found->maxThreadsDim[2] = 64;
    found->maxGridSize[0] = get(cudaDevAttrMaxGridDimX);
    found->maxGridSize[1] = found->maxGridSize[2] = get(cudaDevAttrMaxGridDimY);
    found->totalConstMem = 64 << 10;
    found->major = get(cudaDevAttrComputeCapabilityMajor);
    found->minor = get(cudaDevAttrComputeCapabilityMinor);
    found->textureAlignment = 512;
    found->multiProcessorCount = kProcessors;
    found->canMapHostMemory = found->concurrentKernels = found->unifiedAddressing = 1;
    found->memoryBusWidth = get(cudaDevAttrGlobalMemoryBusWidth);
    found->l2CacheSize = get(cudaDevAttrL2CacheSize);
    found->memoryPoolsSupported = found->cooperativeLaunch = 1;
    found->pciBusID = get(cudaDevAttrPciBusId);
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device) {
    CALL(cudaDeviceGetPCIBusId);
    std::snprintf(text, size, "0000:%02x:00.0", attribute(cudaDevAttrPciBusId, device));
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    CALL(cudaDeviceGetStreamPriorityRange);
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int other) {
    CALL(cudaDeviceCanAccessPeer);
    *can = device != other;
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
    CALL(cudaDeviceEnablePeerAccess);
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceSynchronize() {
    CALL(cudaDeviceSynchronize);
    call.wait(tail_of(current_device()));
    if (launched_since_asked()) pass(settings().first_asking_ns);
    return cudaSuccess;
}

EXPORT cudaError_t cudaDriverGetVersion(int *version) {
    *version = kVersion;
    return cudaSuccess;
}

EXPORT cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = kVersion;
    return cudaSuccess;
}

EXPORT cudaError_t cudaProfilerStart() {
    CALL(cudaProfilerStart);
    return cudaSuccess;
}

EXPORT cudaError_t cudaProfilerStop() {
    CALL(cudaProfilerStop);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGetLastError() {
    const auto found = static_cast<cudaError_t>(last_error);
    last_error = 0;
    return found;
}

EXPORT cudaError_t cudaPeekAtLastError() { return static_cast<cudaError_t>(last_error); }

namespace {

struct Text {
    int code;
    const char *name;
    const char *text;
};

constexpr Text kErrors[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {46, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {801, "cudaErrorNotSupported", "operation not supported"},
};

const Text &text_of(int code) {
    for (const Text &one : kErrors)
        if (one.code == code) return one;
    static constexpr Text other{999, "cudaErrorUnknown", "unknown error"};
    return other;
}

}  // namespace

EXPORT const char *cudaGetErrorName(cudaError_t error) { return text_of(error).name; }

EXPORT const char *cudaGetErrorString(cudaError_t error) { return text_of(error).text; }
