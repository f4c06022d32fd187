// Memory: allocations, copies and sets.
#include <cstring>

#include "memory.hpp"
#include "runtime.hpp"

using namespace emulated;

namespace {

// Bytes per nanosecond, and what a copy takes at least.
constexpr double kOverBus = 25.0;
constexpr double kOnDevice = 2000.0;
constexpr Ns kLeastNs = 1000;
// A value that is read back decides about control flow. Nothing was computed: it is zero, not what the memory held before.
constexpr std::size_t kScalarBytes = 8;

// CUPTI's numbers.
enum MemoryKind { kPageable = 1, kPinned = 2, kDevice = 3 };
enum CopyKind { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 8, kHostToHost = 9 };

MemoryKind kind_of(const void *pointer) {
    const Block *block = block_of(pointer);
    if (block == nullptr) return kPageable;
    return block->place == Place::host ? kPinned : kDevice;
}

CopyKind copy_kind(MemoryKind from, MemoryKind to) {
    if (from == kDevice) return to == kDevice ? kDeviceToDevice : kDeviceToHost;
    return to == kDevice ? kHostToDevice : kHostToHost;
}

Ns duration(std::size_t bytes, CopyKind kind) {
    return kLeastNs + static_cast<Ns>(static_cast<double>(bytes) / (kind == kDeviceToDevice ? kOnDevice : kOverBus));
}

Ns copy(void *to, const void *from, std::size_t bytes, Stream &stream, unsigned correlation) {
    const MemoryKind source = kind_of(from), target = kind_of(to);
    const CopyKind kind = copy_kind(source, target);
    Operation operation{Kind::copy, &stream, "memcpy", duration(bytes, kind)};
    operation.bytes = bytes;
    operation.copy_kind = kind;
    operation.memory_kinds[0] = source;
    operation.memory_kinds[1] = target;
    operation.correlation = correlation;
    const bool is_scalar = kind == kDeviceToHost && bytes <= kScalarBytes && !settings().arithmetic;
    operation.effect = [=] {
        if (is_scalar) std::memset(to, 0, bytes);
        else std::memmove(to, from, bytes);
    };
    return enqueue(std::move(operation));
}

Ns set(void *at, int value, std::size_t bytes, Stream &stream, unsigned correlation) {
    Operation operation{Kind::set, &stream, "memset", duration(bytes, kDeviceToDevice)};
    operation.bytes = bytes;
    operation.memory_kinds[1] = kind_of(at);
    operation.correlation = correlation;
    operation.effect = [=] { std::memset(at, value, bytes); };
    return enqueue(std::move(operation));
}

cudaError_t allocated(void **pointer, std::size_t size, Place place) {
    *pointer = allocate(size, place, current_device());
    return result(*pointer == nullptr && size != 0 ? cudaErrorMemoryAllocation : cudaSuccess);
}

}  // namespace

EXPORT cudaError_t cudaMalloc(void **pointer, size_t size) {
    CALL(cudaMalloc, nullptr, std::to_string(size));
    return allocated(pointer, size, Place::device);
}

EXPORT cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t) {
    CALL(cudaMallocAsync);
    return allocated(pointer, size, Place::device);
}

EXPORT cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned) {
    CALL(cudaMallocManaged);
    return allocated(pointer, size, Place::managed);
}

EXPORT cudaError_t cudaMallocHost(void **pointer, size_t size) {
    CALL(cudaMallocHost);
    return allocated(pointer, size, Place::host);
}

EXPORT cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned) {
    CALL(cudaHostAlloc);
    return allocated(pointer, size, Place::host);
}

EXPORT cudaError_t cudaFree(void *pointer) {
    CALL(cudaFree);
    if (pointer == nullptr) return cudaSuccess;
    // Like a real device: it waits for the device.
    call.wait(tail_of(current_device()));
    return result(release(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaFreeAsync(void *pointer, cudaStream_t) {
    CALL(cudaFreeAsync);
    return result(release(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaFreeHost(void *pointer) {
    CALL(cudaFreeHost);
    return result(release(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned) {
    CALL(cudaHostRegister);
    enlist(pointer, size);
    return cudaSuccess;
}

EXPORT cudaError_t cudaHostUnregister(void *pointer) {
    CALL(cudaHostUnregister);
    delist(pointer);
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    CALL(cudaMemGetInfo);
    *total = settings().memory_bytes;
    *free = *total - used_by(current_device());
    return cudaSuccess;
}

EXPORT cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *found, const void *pointer) {
    CALL(cudaPointerGetAttributes);
    std::memset(found, 0, sizeof *found);
    const Block *block = block_of(pointer);
    if (block == nullptr) {
        found->type = cudaMemoryTypeUnregistered;
        found->device = -1;
        return cudaSuccess;
    }
    found->type = block->place == Place::host     ? cudaMemoryTypeHost
                  : block->place == Place::device ? cudaMemoryTypeDevice
                                                  : cudaMemoryTypeManaged;
    found->device = block->device;
    found->devicePointer = found->hostPointer = const_cast<void *>(pointer);
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
    CALL(cudaMemcpyAsync, &stream_of(stream), std::to_string(bytes));
    copy(to, from, bytes, stream_of(stream), call.correlation());
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
    CALL(cudaMemcpy, &default_stream(current_device()), std::to_string(bytes));
    call.wait(copy(to, from, bytes, default_stream(current_device()), call.correlation()));
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t stream) {
    CALL(cudaMemcpyPeerAsync, &stream_of(stream), std::to_string(bytes));
    copy(to, from, bytes, stream_of(stream), call.correlation());
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, cudaMemcpyKind) {
    CALL(cudaMemcpyToSymbol);
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream) {
    CALL(cudaMemsetAsync, &stream_of(stream), std::to_string(bytes));
    set(at, value, bytes, stream_of(stream), call.correlation());
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemset(void *at, int value, size_t bytes) {
    CALL(cudaMemset, &default_stream(current_device()), std::to_string(bytes));
    call.wait(set(at, value, bytes, default_stream(current_device()), call.correlation()));
    return cudaSuccess;
}

// Pools: torch asks for a device's own and sets how much it keeps.
EXPORT cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
    CALL(cudaDeviceGetDefaultMemPool);
    *pool = reinterpret_cast<cudaMemPool_t>(&default_stream(device));
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) {
    CALL(cudaMemPoolSetAttribute);
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *value) {
    CALL(cudaMemPoolGetAttribute);
    std::memset(value, 0, sizeof(std::uint64_t));
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc *, size_t) {
    CALL(cudaMemPoolSetAccess);
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
    CALL(cudaMemPoolTrimTo);
    return cudaSuccess;
}
