#include "streams.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

namespace emulated {

void (*observer)(const Operation &, Ns, Ns) = nullptr;

namespace {

// CUDA's handles of the default stream: none, legacy, and of the thread.
constexpr std::uintptr_t kReserved = 2;

thread_local int device_of_thread = 0;

std::set<Stream *> &streams() {
    // Never destroyed: other threads, and destructors of torch, call until the process is gone.
    static auto *every = new std::set<Stream *>;
    return *every;
}

// When a stream is free, by what it waits for of itself.
Ns free_at(const Stream &stream) {
    if (!stream.blocking) return stream.tail;
    if (stream.id != 0) return std::max(stream.tail, default_stream(stream.device).tail);
    Ns time = stream.tail;
    for (const Stream *one : streams())
        if (one->device == stream.device && one->blocking) time = std::max(time, one->tail);
    return time;
}

Ns rounded(Ns time) {
    const Ns step = std::max<Ns>(1, settings().event_step_ns);
    return (time + step - 1) / step * step;
}

std::atomic<bool> was_launched = false;

// Gives an operation that may begin at a time its times; `tail` is where its stream has come to.
void run(const Operation &operation, Ns earliest, Ns &tail) {
    switch (operation.kind) {
        case Kind::record:
            tail = std::max(tail, earliest);
            operation.event->time = tail;
            operation.event->recorded = true;
            return;
        case Kind::wait:
            tail = std::max(tail, operation.event->time);
            return;
        case Kind::step:
            return;
        default:
            break;
    }
    const Ns begin = std::max(tail, earliest + settings().launch_ns);
    tail = begin + operation.duration;
    was_launched = true;
    if (observer != nullptr) observer(operation, begin, tail);
}

// Has a stream that waits for an event of a capture be captured too.
void join_capture(const Operation &operation) {
    if (operation.kind == Kind::wait && !operation.stream->capturing)
        operation.stream->capturing = operation.event->captured.lock();
}

}  // namespace

Graph::~Graph() {
    for (const auto &destroy : destructors) destroy();
}

Stream &default_stream(int device) {
    static auto *every = new std::map<int, Stream>;
    const auto [found, is_new] = every->try_emplace(device, Stream{device, 0});
    return found->second;
}

Stream &stream_of(void *handle) {
    if (reinterpret_cast<std::uintptr_t>(handle) <= kReserved) return default_stream(current_device());
    return *static_cast<Stream *>(handle);
}

Stream *new_stream(int device, bool blocking, int priority) {
    static int last = 0;
    auto *made = new Stream{device, ++last, priority, blocking};
    streams().insert(made);
    return made;
}

void forget(Stream *stream) {
    streams().erase(stream);
    delete stream;
}

Ns enqueue(Operation operation) {
    join_capture(operation);
    Stream &stream = *operation.stream;
    if (stream.capturing) {
        if (operation.kind == Kind::record) operation.event->captured = stream.capturing;
        stream.capturing->operations.push_back(std::move(operation));
        return stream.tail;
    }
    if (operation.kind == Kind::record) operation.event->captured.reset();
    stream.tail = free_at(stream);
    run(operation, now(), stream.tail);
    if (operation.effect) operation.effect();
    if (operation.kind == Kind::record) operation.event->time = rounded(operation.event->time);
    return stream.tail;
}

std::vector<std::function<void()>> launch(const std::shared_ptr<Graph> &graph, Stream &stream, unsigned correlation) {
    if (stream.capturing) {
        const auto &inner = graph->operations;
        stream.capturing->operations.insert(stream.capturing->operations.end(), inner.begin(), inner.end());
        return {};
    }
    const Ns begin = std::max(free_at(stream), now() + settings().launch_ns);
    std::map<const Stream *, Ns> tails;
    std::vector<std::function<void()>> effects;
    Ns end = begin;
    unsigned node = 0;
    for (Operation operation : graph->operations) {
        Ns &tail = tails.try_emplace(operation.stream, begin).first->second;
        operation.correlation = correlation;
        operation.graph = graph->id;
        operation.node = ++node;
        // No call of the host between its operations.
        run(operation, begin - settings().launch_ns, tail);
        end = std::max(end, tail);
        if (operation.effect) effects.push_back(std::move(operation.effect));
    }
    stream.tail = end;
    return effects;
}

bool launched_since_asked() { return was_launched.exchange(false); }

Ns tail_of(int device) {
    Ns time = default_stream(device).tail;
    for (const Stream *one : streams())
        if (one->device == device) time = std::max(time, one->tail);
    return time;
}

int current_device() { return device_of_thread; }

void set_current_device(int device) { device_of_thread = device; }

}  // namespace emulated
