// Declarations that the files of the runtime API share.
#pragma once

#include <cuda_runtime_api.h>

#include "calls.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace emulated {

// An error as the runtime returns it; the thread's last error is noted.
inline cudaError_t result(int error) { return static_cast<cudaError_t>(noted(error)); }

}  // namespace emulated

// A call of this function, as `call`; where a test asks for an error, the function returns it.
#define CALL(function, ...)                          \
    emulated::Call call(#function, ##__VA_ARGS__);   \
    if (call.error() != 0) return emulated::result(call.error())
