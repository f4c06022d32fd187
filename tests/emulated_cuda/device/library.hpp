// Parts that cuBLAS and cuDNN share: a handle with a stream, and functions that launch a kernel and do nothing else.
#pragma once

#include "kernels.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace emulated {

struct Library {
    void *stream = nullptr;
    int device = current_device();
    int math_mode = 0;
    int pointer_mode = 0;
};

// Launches the kernel of a function. Returns what the library returns where the launch fails.
inline int launched(const char *function, const Library *library, int failure) {
    Stream &stream = stream_of(library->stream);
    Call call(function, &stream);
    if (noted(call.error()) != 0) return failure;
    run_library_kernel(call, function, stream);
    return 0;
}

}  // namespace emulated
