// Graphs: what streams were given between the begin and the end of a capture, and its replays.
#include "runtime.hpp"

using namespace emulated;

namespace {

using Shared = std::shared_ptr<Graph>;

// A handle of a graph, or of one that can be launched, keeps it.
Shared &graph_of(void *handle) { return *static_cast<Shared *>(handle); }

template <typename Handle>
Handle handle_of(const Shared &graph) {
    return reinterpret_cast<Handle>(new Shared(graph));
}

struct UserObject {
    void *pointer;
    cudaHostFn_t destroy;
};

unsigned last_graph = 0;

}  // namespace

EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode) {
    Stream &stream = stream_of(handle);
    CALL(cudaStreamBeginCapture, &stream);
    if (stream.id == 0 || stream.capturing) return result(cudaErrorStreamCaptureUnsupported);
    stream.capturing = std::make_shared<Graph>();
    stream.capturing->id = ++last_graph;
    stream.began_capture = true;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph) {
    Stream &stream = stream_of(handle);
    CALL(cudaStreamEndCapture, &stream);
    if (!stream.began_capture) return result(cudaErrorStreamCaptureUnmatched);
    const Shared found = stream.capturing;
    for (const Operation &one : found->operations)
        if (one.stream->capturing == found) one.stream->capturing.reset();
    stream.capturing.reset();
    stream.began_capture = false;
    *graph = handle_of<cudaGraph_t>(found);
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus *status) {
    // Asked before every allocation: neither logged nor timed.
    *status = stream_of(handle).capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus *status, unsigned long long *id,
                                            cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                            const cudaGraphEdgeData **edges, size_t *count) {
    const Stream &stream = stream_of(handle);
    cudaStreamIsCapturing(handle, status);
    if (id != nullptr) *id = stream.capturing ? stream.capturing->id : 0;
    // Borrowed: it is the stream's as long as it captures.
    if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(const_cast<Shared *>(&stream.capturing));
    if (dependencies != nullptr) *dependencies = nullptr;
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = 0;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t *, const cudaGraphEdgeData *, size_t,
                                                       unsigned) {
    CALL(cudaStreamUpdateCaptureDependencies, &stream_of(handle));
    return cudaSuccess;
}

EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
    thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    std::swap(*mode, current);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long) {
    CALL(cudaGraphInstantiate);
    *made = handle_of<cudaGraphExec_t>(graph_of(graph));
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long flags) {
    return cudaGraphInstantiateWithFlags(made, graph, flags);
}

EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t handle) {
    std::vector<std::function<void()>> effects;
    {
        CALL(cudaGraphLaunch, &stream_of(handle), std::to_string(graph_of(graph)->operations.size()));
        effects = launch(graph_of(graph), stream_of(handle), call.correlation());
    }
    for (const auto &effect : effects) effect();
    return cudaSuccess;
}

// For arithmetic.py, by ctypes: a function that each replay of the graph that is captured calls.
EXPORT void emulated_cuda_graph_step(cudaStream_t handle, void (*step)()) {
    const Call call("emulated_cuda_graph_step");
    Operation operation{Kind::step, &stream_of(handle), ""};
    operation.effect = step;
    enqueue(std::move(operation));
}

EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *, size_t *count) {
    CALL(cudaGraphGetNodes);
    *count = graph_of(graph)->operations.size();
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    CALL(cudaGraphDestroy);
    delete &graph_of(graph);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
    CALL(cudaGraphExecDestroy);
    delete &graph_of(graph);
    return cudaSuccess;
}

// Objects that live as long as a graph.
EXPORT cudaError_t cudaUserObjectCreate(cudaUserObject_t *made, void *pointer, cudaHostFn_t destroy, unsigned, unsigned) {
    CALL(cudaUserObjectCreate);
    *made = reinterpret_cast<cudaUserObject_t>(new UserObject{pointer, destroy});
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned, unsigned) {
    CALL(cudaGraphRetainUserObject);
    const UserObject one = *reinterpret_cast<UserObject *>(object);
    graph_of(graph)->destructors.push_back([one] { one.destroy(one.pointer); });
    return cudaSuccess;
}

EXPORT cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned) {
    CALL(cudaUserObjectRelease);
    delete reinterpret_cast<UserObject *>(object);
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceGetGraphMemAttribute(int, cudaGraphMemAttributeType, void *value) {
    CALL(cudaDeviceGetGraphMemAttribute);
    *static_cast<std::uint64_t *>(value) = 0;
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceSetGraphMemAttribute(int, cudaGraphMemAttributeType, void *) {
    CALL(cudaDeviceSetGraphMemAttribute);
    return cudaSuccess;
}
