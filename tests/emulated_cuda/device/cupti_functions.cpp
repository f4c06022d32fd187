// CUPTI's numbers of functions, from its headers: building.py writes the two lists.
#include <map>
#include <string_view>

#include "cupti.hpp"

namespace emulated {
namespace {

const Function kRuntime[] = {
#include "runtime_functions.inc"
};

const Function kDriver[] = {
#include "driver_functions.inc"
};

using ByName = std::map<std::string_view, const Function *>;

// Where a function has several versions, the last is what programs of today call.
template <std::size_t count>
ByName *by_name(const Function (&functions)[count]) {
    auto *made = new ByName;
    for (const Function &one : functions) (*made)[one.name] = &one;
    return made;
}

const Function *found(const ByName &functions, const char *name) {
    const auto place = functions.find(name);
    return place == functions.end() ? nullptr : place->second;
}

template <std::size_t count>
const Function *numbered(const Function (&functions)[count], CUpti_CallbackId id) {
    for (const Function &one : functions)
        if (one.id == id) return &one;
    return nullptr;
}

}  // namespace

const Function *runtime_function(const char *name) {
    static const ByName *every = by_name(kRuntime);
    return found(*every, name);
}

const Function *driver_function(const char *name) {
    static const ByName *every = by_name(kDriver);
    return found(*every, name);
}

const Function *function_numbered(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) return numbered(kRuntime, id);
    return domain == CUPTI_CB_DOMAIN_DRIVER_API ? numbered(kDriver, id) : nullptr;
}

}  // namespace emulated
