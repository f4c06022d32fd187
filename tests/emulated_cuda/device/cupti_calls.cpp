// Records of calls: each with the ids that the client has pushed on its thread, by which it finds the operator that called.
#include <pthread.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "cupti.hpp"

using namespace emulated;

namespace {

thread_local std::vector<std::uint64_t> pushed[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

bool is_kind(CUpti_ExternalCorrelationKind kind) { return kind > 0 && kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; }

void keep_external(std::uint32_t correlation) {
    for (int kind = 0; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; ++kind) {
        if (pushed[kind].empty()) continue;
        CUpti_ActivityExternalCorrelation record{};
        record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
        record.externalKind = static_cast<CUpti_ExternalCorrelationKind>(kind);
        record.externalId = pushed[kind].back();
        record.correlationId = correlation;
        keep_untimed(record);
    }
}

void keep_call(CUpti_ActivityKind api, const Function &function, const Ended &call) {
    if (!wants(api) || !wants_function(api, function.id)) return;
    if (wants(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) keep_external(call.correlation);
    CUpti_ActivityAPI record{};
    record.kind = api;
    record.cbid = function.id;
    record.start = static_cast<std::uint64_t>(call.begin);
    record.end = static_cast<std::uint64_t>(call.end);
    record.processId = static_cast<std::uint32_t>(getpid());
    // The id of a thread in CUPTI's records.
    record.threadId = static_cast<std::uint32_t>(pthread_self());
    record.correlationId = call.correlation;
    keep(Side::host, record);
}

// Only waiting for a stream or for a device: a call does not say which event it waits for.
void keep_synchronisation(const Ended &call) {
    const bool of_stream = std::strcmp(call.function, "cudaStreamSynchronize") == 0;
    if (!of_stream && std::strcmp(call.function, "cudaDeviceSynchronize") != 0) return;
    CUpti_ActivitySynchronization record{};
    record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    record.type = of_stream ? CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE
                            : CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
    record.start = static_cast<std::uint64_t>(call.begin);
    record.end = static_cast<std::uint64_t>(call.end);
    record.correlationId = call.correlation;
    record.contextId = context_number(call.device);
    record.streamId = of_stream ? stream_number(call.stream) : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    record.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    keep(Side::device, record);
}

void observe(const Ended &call) {
    if (const Function *function = runtime_function(call.function)) keep_call(CUPTI_ACTIVITY_KIND_RUNTIME, *function, call);
    else if (const Function *other = driver_function(call.function)) keep_call(CUPTI_ACTIVITY_KIND_DRIVER, *other, call);
    if (wants(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) keep_synchronisation(call);
}

}  // namespace

void emulated::observe_calls() { call_observer = observe; }

EXPORT CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
    if (!is_kind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
    pushed[kind].push_back(id);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, std::uint64_t *last) {
    if (!is_kind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
    if (pushed[kind].empty()) return CUPTI_ERROR_QUEUE_EMPTY;
    if (last != nullptr) *last = pushed[kind].back();
    pushed[kind].pop_back();
    return CUPTI_SUCCESS;
}
