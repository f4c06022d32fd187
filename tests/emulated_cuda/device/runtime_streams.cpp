// Streams and events.
#include "runtime.hpp"

using namespace emulated;

namespace {

Event &event_of(cudaEvent_t handle) { return *reinterpret_cast<Event *>(handle); }

cudaError_t made(cudaStream_t *stream, unsigned flags, int priority) {
    *stream = reinterpret_cast<cudaStream_t>(new_stream(current_device(), (flags & cudaStreamNonBlocking) == 0, priority));
    return cudaSuccess;
}

Operation operation(Kind kind, Stream &stream, Event &event) {
    Operation found{kind, &stream, ""};
    found.event = event.self;
    return found;
}

}  // namespace

EXPORT cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    CALL(cudaStreamCreate);
    return made(stream, 0, 0);
}

EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    CALL(cudaStreamCreateWithFlags);
    return made(stream, flags, 0);
}

EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
    CALL(cudaStreamCreateWithPriority);
    return made(stream, flags, priority);
}

EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    CALL(cudaStreamDestroy, &stream_of(stream));
    forget(&stream_of(stream));
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    CALL(cudaStreamGetPriority, &stream_of(stream));
    *priority = stream_of(stream).priority;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamQuery(cudaStream_t stream) {
    CALL(cudaStreamQuery, &stream_of(stream));
    // Not noted: it is an answer.
    return stream_of(stream).tail <= now() ? cudaSuccess : cudaErrorNotReady;
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    CALL(cudaStreamSynchronize, &stream_of(stream));
    call.wait(stream_of(stream).tail);
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    CALL(cudaStreamWaitEvent, &stream_of(stream));
    enqueue(operation(Kind::wait, stream_of(stream), event_of(event)));
    return cudaSuccess;
}

EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    CALL(cudaLaunchHostFunc, &stream_of(stream));
    function(data);
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned) {
    CALL(cudaStreamAddCallback, &stream_of(stream));
    function(stream, cudaSuccess, data);
    return cudaSuccess;
}

EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    CALL(cudaEventCreateWithFlags);
    const auto made = std::make_shared<Event>(Event{current_device(), (flags & cudaEventDisableTiming) == 0});
    made->self = made;
    *event = reinterpret_cast<cudaEvent_t>(made.get());
    return cudaSuccess;
}

EXPORT cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }

EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event) {
    CALL(cudaEventDestroy);
    // A graph may still have it.
    const std::shared_ptr<Event> last = std::move(event_of(event).self);
    return cudaSuccess;
}

EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
    Stream &on = stream_of(stream);
    CALL(cudaEventRecord, &on, event_of(event).timing ? "timing" : "");
    if (event_of(event).device != on.device) return result(cudaErrorInvalidResourceHandle);
    enqueue(operation(Kind::record, on, event_of(event)));
    return cudaSuccess;
}

EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, 0);
}

EXPORT cudaError_t cudaEventQuery(cudaEvent_t event) {
    CALL(cudaEventQuery);
    const Event &one = event_of(event);
    return !one.recorded || one.time <= now() ? cudaSuccess : cudaErrorNotReady;
}

EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    CALL(cudaEventSynchronize);
    call.wait(event_of(event).time);
    return cudaSuccess;
}

EXPORT cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    CALL(cudaEventElapsedTime);
    const Event &first = event_of(start), &second = event_of(end);
    if (!first.recorded || !second.recorded || !first.timing || !second.timing || first.device != second.device)
        return result(cudaErrorInvalidResourceHandle);
    if (first.time > now() || second.time > now()) return result(cudaErrorNotReady);
    *ms = static_cast<float>(static_cast<double>(second.time - first.time) / 1e6);
    return cudaSuccess;
}
