// CUPTI: records of calls and of what devices do, for the profiler inside torch.
//
// A record is kept with the machine's times. A flush hands the complete ones to the client, in times of the client's clock.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

#include "calls.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace emulated {

// True if the client requests records of a kind, and of a function.
bool wants(CUpti_ActivityKind kind);
bool wants_function(CUpti_ActivityKind api, CUpti_CallbackId id);

// CUPTI's number of a thing that is numbered from zero here.
inline std::uint32_t context_number(int device) { return static_cast<std::uint32_t>(device) + 1; }
inline std::uint32_t stream_number(int stream) { return stream == 0 ? 7 : 12 + static_cast<std::uint32_t>(stream); }

enum class Side { host, device };

// Stands for no time.
constexpr std::size_t kNowhere = ~std::size_t{0};

void keep_record(Side side, const void *record, std::size_t size, std::size_t start_at, std::size_t end_at, Ns end);

// Keeps a record whose `start` and `end` are the machine's times.
template <typename Record>
void keep(Side side, const Record &record) {
    keep_record(side, &record, sizeof record, offsetof(Record, start), offsetof(Record, end), static_cast<Ns>(record.end));
}

template <typename Record>
void keep_untimed(const Record &record) {
    keep_record(Side::host, &record, sizeof record, kNowhere, kNowhere, 0);
}

// Has calls and operations observed from now on.
void observe_calls();
void observe_operations();

// The client's clock.
void set_client_clock(std::uint64_t (*clock)());
// Has later conversions count from two readings of both clocks: the one when the client's was set, and one now.
void read_client_clock();
std::uint64_t client_time(Ns time);

// A function as CUPTI numbers it, and its name with the version; nothing for one that CUPTI does not know.
struct Function {
    const char *name;
    CUpti_CallbackId id;
    const char *versioned;
};
const Function *runtime_function(const char *name);
const Function *driver_function(const char *name);
const Function *function_numbered(CUpti_CallbackDomain domain, CUpti_CallbackId id);

}  // namespace emulated
