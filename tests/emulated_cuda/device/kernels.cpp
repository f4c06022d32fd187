#include "kernels.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

namespace emulated {
namespace {

std::map<const void *, Kernel *> &by_address() {
    static auto *every = new std::map<const void *, Kernel *>;
    return *every;
}

std::string demangled(const std::string &mangled) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> found(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 ? found.get() : mangled;
}

}  // namespace

Kernel *kernel_named(const std::string &mangled) {
    static auto *every = new std::map<std::string, Kernel>;
    const auto [found, is_new] = every->try_emplace(mangled, Kernel{mangled});
    return &found->second;
}

void enlist_kernel(const void *host, const char *mangled) { by_address()[host] = kernel_named(mangled); }

Kernel *kernel_of(const void *host) {
    const auto found = by_address().find(host);
    // A handle is the kernel's own address.
    return found == by_address().end() ? static_cast<Kernel *>(const_cast<void *>(host)) : found->second;
}

void run_kernel(Call &call, const Kernel &given, Stream &stream, const unsigned (&grid)[3], const unsigned (&block)[3],
                void **arguments) {
    auto &kernel = const_cast<Kernel &>(given);
    if (kernel.name.empty()) {
        kernel.name = demangled(kernel.mangled);
        kernel.spins = kernel.name.find("spin_kernel") != std::string::npos;
    }
    call.tell(kernel.name);
    Operation operation{Kind::kernel, &stream, kernel.mangled};
    // The clock of a device ticks once in a nanosecond.
    operation.duration = kernel.spins ? *static_cast<std::int64_t *>(arguments[0]) : settings().duration(kernel.name);
    operation.correlation = call.correlation();
    std::copy_n(grid, 3, operation.grid);
    std::copy_n(block, 3, operation.block);
    enqueue(std::move(operation));
}

void run_library_kernel(Call &call, const char *function, Stream &stream) {
    call.launches_by("cudaLaunchKernel");
    run_kernel(call, *kernel_named(function), stream, {1, 1, 1}, {128, 1, 1}, nullptr);
}

}  // namespace emulated
