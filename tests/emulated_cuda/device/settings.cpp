#include "settings.hpp"

#include <fnmatch.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace emulated {
namespace {

[[noreturn]] void refuse(const std::string &line) {
    std::fprintf(stderr, "emulated CUDA: this setting is not understood: %s\n", line.c_str());
    std::_Exit(86);
}

Fault fault_from(std::istringstream &words, const std::string &line) {
    Fault fault;
    if (!(words >> fault.function >> fault.code)) refuse(line);
    for (std::string key; words >> key;) {
        long value;
        if (!(words >> value)) refuse(line);
        if (key == "device") fault.device = static_cast<int>(value);
        else if (key == "from") fault.from = value;
        else if (key == "times") fault.times = value;
        else refuse(line);
    }
    return fault;
}

void take(Settings &found, const std::string &line) {
    std::istringstream words(line);
    std::string key;
    if (!(words >> key) || key[0] == '#') return;
    if (key == "devices") words >> found.devices;
    else if (key == "log") words >> found.log;
    else if (key == "arithmetic") found.arithmetic = true;
    else if (key == "call_ns") words >> found.call_ns;
    else if (key == "launch_ns") words >> found.launch_ns;
    else if (key == "kernel_ns") words >> found.kernel_ns;
    else if (key == "event_step_ns") words >> found.event_step_ns;
    else if (key == "memory_mib") {
        words >> found.memory_bytes;
        found.memory_bytes <<= 20;
    } else if (key == "clock") {
        std::string kind;
        words >> kind;
        if (kind != "virtual" && kind != "real") refuse(line);
        found.virtual_clock = kind == "virtual";
    } else if (key == "capability") {
        int device;
        char dot;
        Capability capability;
        words >> device >> capability.major >> dot >> capability.minor;
        found.capabilities[device] = capability;
    } else if (key == "duration") {
        Duration duration;
        words >> duration.glob >> duration.ns;
        found.durations.push_back(duration);
    } else if (key == "fault") {
        found.faults.push_back(fault_from(words, line));
        return;
    } else {
        refuse(line);
    }
    if (words.fail()) refuse(line);
}

Settings read() {
    Settings found;
    const char *path = std::getenv("EMULATED_CUDA");
    if (path == nullptr) return found;
    std::ifstream file(path);
    if (!file) refuse(path);
    for (std::string line; std::getline(file, line);) take(found, line);
    return found;
}

}  // namespace

Settings &settings() {
    static Settings found = read();
    return found;
}

Capability Settings::capability(int device) const {
    const auto found = capabilities.find(device);
    return found == capabilities.end() ? Capability{} : found->second;
}

Ns Settings::duration(const std::string &kernel) const {
    for (auto rule = durations.rbegin(); rule != durations.rend(); ++rule)
        if (fnmatch(rule->glob.c_str(), kernel.c_str(), 0) == 0) return rule->ns;
    return kernel_ns;
}

int fault_of(const char *function, int device) {
    for (Fault &fault : settings().faults) {
        if (fnmatch(fault.function.c_str(), function, 0) != 0) continue;
        if (fault.device >= 0 && fault.device != device) continue;
        const long call = ++fault.calls;
        if (call >= fault.from && (fault.times < 0 || call < fault.from + fault.times)) return fault.code;
    }
    return 0;
}

}  // namespace emulated
