#include "clock.hpp"

#include <time.h>

#include <atomic>

namespace emulated {
namespace {

constexpr Ns kSecond = 1'000'000'000;
// Zero is the time of what never happened.
std::atomic<Ns> virtual_now{kSecond};

Ns monotonic() {
    timespec found;
    clock_gettime(CLOCK_MONOTONIC, &found);
    return found.tv_sec * kSecond + found.tv_nsec;
}

}  // namespace

Ns now() { return settings().virtual_clock ? virtual_now.load() : monotonic(); }

void pass(Ns ns) {
    if (settings().virtual_clock) {
        virtual_now += ns;
        return;
    }
    for (const Ns end = monotonic() + ns; monotonic() < end;) {
    }
}

void wait_until(Ns time) {
    if (settings().virtual_clock) {
        for (Ns before = virtual_now.load(); before < time && !virtual_now.compare_exchange_weak(before, time);) {
        }
        return;
    }
    const timespec when{time / kSecond, time % kSecond};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) != 0) {
    }
}

}  // namespace emulated

// For tests, by ctypes: the host works for so long.
extern "C" __attribute__((visibility("default"))) void emulated_cuda_host(emulated::Ns ns) { emulated::pass(ns); }
