// Records on their way to the client, in buffers of its own.
#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <vector>

#include "cupti.hpp"

using namespace emulated;

namespace {

// Each record has as much room, so that fields of later versions read as zero.
constexpr std::size_t kRoom = 256;

struct Kept {
    alignas(8) std::array<char, kRoom> bytes;
    std::size_t start_at, end_at;
    Ns end;
};

struct Buffer {
    std::uint8_t *begin = nullptr;
    std::size_t size = 0;
    std::size_t used = 0;
};

std::mutex buffers_lock;
CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
// The client has a buffer before there is anything in it: one that has none asks for no flush.
Buffer buffer;
// Kineto links what it reads to what it has read: calls come first.
// Never destroyed, like all containers here.
auto &of_host = *new std::vector<Kept>;
auto &of_device = *new std::vector<Kept>;

Buffer requested() {
    Buffer found;
    std::size_t most = 0;
    if (request != nullptr) request(&found.begin, &found.size, &most);
    return found;
}

void hand_over(Buffer &full) {
    if (full.begin != nullptr) complete(nullptr, 0, full.begin, full.size, full.used);
    full = {};
}

std::uint64_t converted(const char *at) {
    std::uint64_t time;
    std::memcpy(&time, at, sizeof time);
    return client_time(static_cast<Ns>(time));
}

void write(Kept &record) {
    for (const std::size_t at : {record.start_at, record.end_at}) {
        if (at == kNowhere) continue;
        const std::uint64_t time = converted(&record.bytes[at]);
        std::memcpy(&record.bytes[at], &time, sizeof time);
    }
    if (buffer.used + kRoom > buffer.size) {
        hand_over(buffer);
        buffer = requested();
    }
    if (buffer.begin == nullptr) return;
    std::memcpy(buffer.begin + buffer.used, record.bytes.data(), kRoom);
    buffer.used += kRoom;
}

// Writes what has ended; the rest waits for a later flush.
void write_complete(std::vector<Kept> &records) {
    const Ns time = now();
    const auto rest = std::stable_partition(records.begin(), records.end(), [=](const Kept &one) { return one.end <= time; });
    std::for_each(records.begin(), rest, write);
    records.erase(records.begin(), rest);
}

}  // namespace

void emulated::keep_record(Side side, const void *record, std::size_t size, std::size_t start_at, std::size_t end_at, Ns end) {
    Kept kept{{}, start_at, end_at, end};
    std::memcpy(kept.bytes.data(), record, std::min(size, kRoom));
    const std::lock_guard turn(buffers_lock);
    (side == Side::host ? of_host : of_device).push_back(kept);
    if (buffer.begin == nullptr) buffer = requested();
}

EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc by_request,
                                                  CUpti_BuffersCallbackCompleteFunc by_complete) {
    const std::lock_guard turn(buffers_lock);
    request = by_request;
    complete = by_complete;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityFlushAll(std::uint32_t) {
    const std::lock_guard turn(buffers_lock);
    read_client_clock();
    write_complete(of_host);
    write_complete(of_device);
    hand_over(buffer);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNextRecord(std::uint8_t *begin, std::size_t size, CUpti_Activity **record) {
    auto *next = *record == nullptr ? begin : reinterpret_cast<std::uint8_t *>(*record) + kRoom;
    if (next + kRoom > begin + size) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity *>(next);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t *dropped) {
    *dropped = 0;
    return CUPTI_SUCCESS;
}
