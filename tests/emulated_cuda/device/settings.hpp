// Settings of the emulated devices, from the file that the variable EMULATED_CUDA names.
//
// A line is a word and its values; later lines win:
//
//   devices 2                              how many there are
//   clock virtual | real                   see clock.hpp
//   log /tmp/calls.tsv                     where calls are logged; no log without it
//   memory_mib 16384                       of each device
//   capability 1 7.0                       of device 1
//   mig 1 1g.10gb                          device 1 is an instance of a GPU (MIG) with this profile
//   duration *sgemm* 3000                  of kernels by a glob of their names, in nanoseconds
//   fault cudaSetDevice 46 device 1        an error of a function: of one device, `from` its third call, `times` 2
//   call_ns 100                            what a call takes of the host's virtual time
//   launch_ns 1000                         from a launch to its start on an idle device
//   first_asking_ns 0                      what the first synchronisation of a device after a launch takes of the host's time
//   event_step_ns 32                       step of the clock that events are stamped with
//   arithmetic                             what operators compute is in memory, so that small values are read as they are
//
// A process has of them what CUDA_VISIBLE_DEVICES leaves; the numbers above are those without it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace emulated {

using Ns = std::int64_t;

struct Capability {
    int major = 9;
    int minor = 0;
};

struct Duration {
    std::string glob;
    Ns ns;
};

struct Fault {
    std::string function;
    int code;
    int device = -1;   // -1: any
    long from = 1;     // the first call that fails
    long times = -1;   // how many fail; -1: all
    long calls = 0;
};

struct Settings {
    int devices = 1;   // of the machine
    std::vector<int> visible;
    bool virtual_clock = true;
    std::string log;
    std::size_t memory_bytes = std::size_t{16} << 30;
    std::map<int, Capability> capabilities;
    std::map<int, std::string> profiles;
    std::vector<Duration> durations;
    std::vector<Fault> faults;
    Ns call_ns = 100;
    Ns launch_ns = 1000;
    Ns kernel_ns = 2000;
    Ns first_asking_ns = 0;
    Ns event_step_ns = 32;
    // True if a Python mode computes the operators: see arithmetic.py.
    bool arithmetic = false;

    // The settings of a device, by the number that this process has for it.
    Capability capability(int device) const;
    std::string name(int device) const;
    std::array<char, 16> uuid(int device) const;
    // Duration of a kernel of this name.
    Ns duration(const std::string &kernel) const;
};

// The settings of this process, read once. A line that is not understood ends it, and says so.
Settings &settings();

// The error that a call of a function gets, or 0; the device by the number that this process has for it.
int fault_of(const char *function, int device);

}  // namespace emulated
