// One call of a function of CUDA: its turn, its place in the log, and the error that a test asks for.
#pragma once

#include <mutex>
#include <string>

#include "streams.hpp"

namespace emulated {

class Call {
   public:
    // Calls take turns: the object holds the lock of the whole machine.
    explicit Call(const char *function, const Stream *stream = nullptr, std::string detail = {});
    ~Call();
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

    // The error that it has to return, or 0.
    int error() const { return error_; }
    // Number that CUPTI knows it by.
    unsigned correlation() const { return correlation_; }
    void tell(std::string detail) { detail_ = std::move(detail); }
    // A library launches its kernels by another function, which is the one that profilers see.
    void launches_by(const char *function) { seen_ = function; }
    // Waits, while other threads may call.
    void wait(Ns time);

   private:
    std::unique_lock<std::recursive_mutex> turn_;
    const char *function_;
    const char *seen_;
    int device_;
    int stream_;
    std::string detail_;
    int error_;
    unsigned correlation_;
    Ns begin_;
};

// A call as profilers see it.
struct Ended {
    const char *function;
    unsigned correlation;
    int device;
    int stream;
    Ns begin;
    Ns end;
};

// Is given each call that ends, on its thread.
extern void (*call_observer)(const Ended &);

// The last error of this thread, as cudaGetLastError has it.
extern thread_local int last_error;
inline int noted(int error) {
    if (error != 0) last_error = error;
    return error;
}

// Names a function that was called and is not emulated. Returns CUDA's "not supported".
int missing(const char *function);

}  // namespace emulated
