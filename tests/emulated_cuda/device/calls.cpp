#include "calls.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace emulated {

void (*call_observer)(const Ended &) = nullptr;
thread_local int last_error = 0;

namespace {

// After these a context is lost, and every later call fails like it.
constexpr int kFirstSticky = 700;
constexpr int kLastSticky = 719;
constexpr int kNotSupported = 801;

int sticky = 0;
unsigned calls = 0;

std::recursive_mutex &machine() {
    // Never destroyed: threads may call while the process ends.
    static auto *lock = new std::recursive_mutex;
    return *lock;
}

std::FILE *log() {
    static std::FILE *file = [] {
        const std::string &path = settings().log;
        if (path.empty()) return static_cast<std::FILE *>(nullptr);
        // Names in the order in which processes began: their ids may start again from 1.
        timespec time;
        clock_gettime(CLOCK_MONOTONIC, &time);
        char name[64];
        std::snprintf(name, sizeof name, ".%010ld.%09ld.%d", long(time.tv_sec), time.tv_nsec, getpid());
        std::FILE *opened = std::fopen((path + name).c_str(), "w");
        // A process that is killed has its lines in the file.
        if (opened != nullptr) std::setvbuf(opened, nullptr, _IOLBF, 0);
        return opened;
    }();
    return file;
}

int error_of(const char *function, int device) {
    if (sticky != 0) return sticky;
    const int error = fault_of(function, device);
    if (error >= kFirstSticky && error <= kLastSticky) sticky = error;
    return error;
}

}  // namespace

Call::Call(const char *function, const Stream *stream, std::string detail)
    : turn_(machine()),
      function_(function),
      seen_(function),
      device_(stream == nullptr ? current_device() : stream->device),
      stream_(stream == nullptr ? -1 : stream->id),
      detail_(std::move(detail)),
      error_(error_of(function, device_)),
      correlation_(++calls),
      begin_(now()) {
    if (settings().virtual_clock) pass(settings().call_ns);
}

Call::~Call() {
    const Ns end = now();
    if (call_observer != nullptr) call_observer({seen_, correlation_, device_, stream_, begin_, end});
    if (std::FILE *file = log())
        std::fprintf(file, "%ld\t%lld\t%s\t%d\t%d\t%d\t%s\n", syscall(SYS_gettid), static_cast<long long>(begin_), function_,
                     device_, stream_, error_, detail_.c_str());
}

void Call::wait(Ns time) {
    turn_.unlock();
    wait_until(time);
    turn_.lock();
}

int missing(const char *function) {
    const Call call(function, nullptr, "not emulated");
    std::fprintf(stderr, "emulated CUDA: %s is not emulated\n", function);
    return noted(kNotSupported);
}

}  // namespace emulated
