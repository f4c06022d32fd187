// Records of what devices do: kernels, copies and sets.
#include <algorithm>
#include <set>
#include <string>

#include "cupti.hpp"

using namespace emulated;

namespace {

// A record refers to a name, which stays.
const char *kept_name(const std::string &name) {
    static auto *names = new std::set<std::string>;
    return names->insert(name).first->c_str();
}

// Fields that the records of all operations have.
template <typename Record>
Record record_of(CUpti_ActivityKind kind, const Operation &operation, Ns begin, Ns end) {
    Record record{};
    record.kind = kind;
    record.start = static_cast<std::uint64_t>(begin);
    record.end = static_cast<std::uint64_t>(end);
    const int device = operation.stream->device;
    record.deviceId = static_cast<std::uint32_t>(device);
    record.contextId = context_number(device);
    record.streamId = stream_number(operation.stream->id);
    record.correlationId = operation.correlation;
    record.graphId = operation.graph;
    record.graphNodeId = operation.node;
    return record;
}

void keep_kernel(const Operation &operation, Ns begin, Ns end) {
    auto record = record_of<CUpti_ActivityKernel9>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, operation, begin, end);
    record.name = kept_name(operation.name);
    record.completed = record.end;
    record.registersPerThread = 32;
    record.gridId = operation.correlation;
    record.gridX = static_cast<std::int32_t>(operation.grid[0]);
    record.gridY = static_cast<std::int32_t>(operation.grid[1]);
    record.gridZ = static_cast<std::int32_t>(operation.grid[2]);
    record.blockX = static_cast<std::int32_t>(operation.block[0]);
    record.blockY = static_cast<std::int32_t>(operation.block[1]);
    record.blockZ = static_cast<std::int32_t>(operation.block[2]);
    keep(Side::device, record);
}

void keep_copy(const Operation &operation, Ns begin, Ns end) {
    auto record = record_of<CUpti_ActivityMemcpy5>(CUPTI_ACTIVITY_KIND_MEMCPY, operation, begin, end);
    record.copyKind = static_cast<std::uint8_t>(operation.copy_kind);
    record.srcKind = static_cast<std::uint8_t>(operation.memory_kinds[0]);
    record.dstKind = static_cast<std::uint8_t>(operation.memory_kinds[1]);
    record.bytes = operation.bytes;
    keep(Side::device, record);
}

void keep_set(const Operation &operation, Ns begin, Ns end) {
    auto record = record_of<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, operation, begin, end);
    record.bytes = operation.bytes;
    record.memoryKind = static_cast<std::uint16_t>(operation.memory_kinds[1]);
    keep(Side::device, record);
}

void observe(const Operation &operation, Ns begin, Ns end) {
    switch (operation.kind) {
        case Kind::kernel:
            if (wants(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) keep_kernel(operation, begin, end);
            return;
        case Kind::copy:
            if (wants(CUPTI_ACTIVITY_KIND_MEMCPY)) keep_copy(operation, begin, end);
            return;
        case Kind::set:
            if (wants(CUPTI_ACTIVITY_KIND_MEMSET)) keep_set(operation, begin, end);
            return;
        default:
            return;
    }
}

}  // namespace

void emulated::observe_operations() { observer = observe; }
