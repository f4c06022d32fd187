// Times of the client's clock, which need not count nanoseconds: Kineto's counts ticks of the processor.
#include <time.h>

#include "cupti.hpp"

namespace emulated {
namespace {

constexpr int kReadings = 7;

struct Reading {
    Ns machine;
    std::uint64_t client;
};

std::uint64_t wall_clock() {
    timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    return static_cast<std::uint64_t>(found.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(found.tv_nsec);
}

std::uint64_t (*client_clock)() = wall_clock;
Reading first, last;

// Both clocks at one time: the reading that took the shortest, since the thread may be interrupted between them.
Reading read_both() {
    Reading best{};
    Ns shortest = -1;
    for (int reading = 0; reading < kReadings; ++reading) {
        const Ns before = now();
        const std::uint64_t client = client_clock();
        const Ns took = now() - before;
        if (shortest >= 0 && took >= shortest) continue;
        shortest = took;
        best = {before + took / 2, client};
    }
    return best;
}

}  // namespace

void set_client_clock(std::uint64_t (*clock)()) {
    client_clock = clock == nullptr ? wall_clock : clock;
    first = read_both();
}

void read_client_clock() {
    if (first.client == 0) first = read_both();
    last = read_both();
}

std::uint64_t client_time(Ns time) {
    const auto elapsed = static_cast<double>(last.machine - first.machine);
    const double ticks = elapsed > 0 ? static_cast<double>(last.client - first.client) / elapsed : 1;
    return first.client + static_cast<std::uint64_t>(static_cast<double>(time - first.machine) * ticks);
}

}  // namespace emulated
