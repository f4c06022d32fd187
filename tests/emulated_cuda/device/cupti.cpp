// The client of CUPTI, and the records that it requests.
#include "cupti.hpp"

#include <atomic>
#include <mutex>
#include <set>
#include <utility>

using namespace emulated;

namespace {

std::atomic<bool> wanted[CUPTI_ACTIVITY_KIND_COUNT];

std::mutex unwanted_lock;
// Never destroyed, like all containers here.
auto &unwanted = *new std::set<std::pair<CUpti_ActivityKind, CUpti_CallbackId>>;

bool is_kind(CUpti_ActivityKind kind) { return kind > 0 && kind < CUPTI_ACTIVITY_KIND_COUNT; }

CUptiResult set_function(CUpti_ActivityKind api, CUpti_CallbackId id, bool is_wanted) {
    const std::lock_guard turn(unwanted_lock);
    if (is_wanted) unwanted.erase({api, id});
    else unwanted.insert({api, id});
    return CUPTI_SUCCESS;
}

}  // namespace

bool emulated::wants(CUpti_ActivityKind kind) { return wanted[kind]; }

bool emulated::wants_function(CUpti_ActivityKind api, CUpti_CallbackId id) {
    const std::lock_guard turn(unwanted_lock);
    return unwanted.count({api, id}) == 0;
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    if (!is_kind(kind)) return CUPTI_ERROR_INVALID_KIND;
    wanted[kind] = true;
    observe_calls();
    observe_operations();
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    if (!is_kind(kind)) return CUPTI_ERROR_INVALID_KIND;
    wanted[kind] = false;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityEnableRuntimeApi(std::uint32_t id, std::uint8_t is_wanted) {
    return set_function(CUPTI_ACTIVITY_KIND_RUNTIME, id, is_wanted != 0);
}

EXPORT CUptiResult cuptiActivityEnableDriverApi(std::uint32_t id, std::uint8_t is_wanted) {
    return set_function(CUPTI_ACTIVITY_KIND_DRIVER, id, is_wanted != 0);
}

EXPORT CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
    set_client_clock(clock);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, std::size_t *, void *) { return CUPTI_SUCCESS; }

EXPORT CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t) { return CUPTI_SUCCESS; }

// Nothing calls a client back: torch wants to be only to take CUPTI down, which it does where a variable asks for it.
EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc, void *) {
    static int handle;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&handle);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) { return CUPTI_SUCCESS; }

EXPORT CUptiResult cuptiEnableCallback(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId) {
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiEnableDomain(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain) { return CUPTI_SUCCESS; }

EXPORT CUptiResult cuptiFinalize() {
    for (auto &one : wanted) one = false;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetVersion(std::uint32_t *version) {
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text) {
    *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : "an error of the emulated CUPTI";
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char **name) {
    const Function *function = function_numbered(domain, id);
    *name = function == nullptr ? "INVALID" : function->versioned;
    return function == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}
