// Kernels: their names, and how long they run.
#pragma once

#include <string>

#include "calls.hpp"

namespace emulated {

struct Kernel {
    // The mangled name, and the readable one.
    std::string mangled;
    std::string name;
    // For a kernel whose first argument is the number of cycles that it takes.
    bool spins = false;
};

// A kernel by its mangled name; the same object each time.
Kernel *kernel_named(const std::string &mangled);
// By the address that a host's code knows it by.
void enlist_kernel(const void *host, const char *mangled);
Kernel *kernel_of(const void *host);

// Gives a kernel to a stream, as part of a call.
void run_kernel(Call &call, const Kernel &kernel, Stream &stream, const unsigned (&grid)[3], const unsigned (&block)[3],
                void **arguments);
// A library's kernel: of the function that launches it.
void run_library_kernel(Call &call, const char *function, Stream &stream);

}  // namespace emulated
