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
    else if (key == "first_asking_ns") words >> found.first_asking_ns;
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
    } else if (key == "mig") {
        int device;
        std::string profile;
        words >> device >> profile;
        found.profiles[device] = profile;
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

constexpr int kUuidBytes = 16;

char uuid_byte(int device, int at) { return static_cast<char>(0x10 * device + at); }

// The driver's notation.
std::string uuid_text(const Settings &found, int device) {
    std::string text = found.profiles.count(device) == 0 ? "GPU" : "MIG";
    for (int at = 0; at < kUuidBytes; ++at) {
        char digits[4];
        const bool dash = at == 0 || (at >= 4 && at <= 10 && at % 2 == 0);
        std::snprintf(digits, sizeof digits, "%s%02x", dash ? "-" : "", uuid_byte(device, at) & 0xff);
        text += digits;
    }
    return text;
}

// The device that a word of CUDA_VISIBLE_DEVICES names, by its number or by the beginning of its UUID; -1 for none.
int named(const Settings &found, const std::string &word) {
    if (word.find_first_not_of("0123456789") == std::string::npos && !word.empty()) {
        const int number = std::atoi(word.c_str());
        return number < found.devices ? number : -1;
    }
    for (int device = 0; device < found.devices; ++device)
        if (word.size() > 4 && uuid_text(found, device).rfind(word, 0) == 0) return device;
    return -1;
}

std::vector<int> visible(const Settings &found) {
    std::vector<int> devices;
    const char *words = std::getenv("CUDA_VISIBLE_DEVICES");
    if (words == nullptr) {
        for (int device = 0; device < found.devices; ++device) devices.push_back(device);
        return devices;
    }
    std::istringstream list(words);
    for (std::string word; std::getline(list, word, ',');) {
        const int device = named(found, word);
        // The first that names none ends the list.
        if (device < 0) break;
        devices.push_back(device);
    }
    return devices;
}

Settings read() {
    Settings found;
    if (const char *path = std::getenv("EMULATED_CUDA")) {
        std::ifstream file(path);
        if (!file) refuse(path);
        for (std::string line; std::getline(file, line);) take(found, line);
    }
    found.visible = visible(found);
    return found;
}

}  // namespace

Settings &settings() {
    // Never destroyed, like all containers here.
    static auto *found = new Settings(read());
    return *found;
}

Capability Settings::capability(int device) const {
    const auto found = capabilities.find(visible.at(device));
    return found == capabilities.end() ? Capability{} : found->second;
}

std::string Settings::name(int device) const {
    const int number = visible.at(device);
    const auto profile = profiles.find(number);
    return "Emulated GPU " + std::to_string(number) + (profile == profiles.end() ? "" : " MIG " + profile->second);
}

std::array<char, 16> Settings::uuid(int device) const {
    std::array<char, kUuidBytes> found;
    for (int at = 0; at < kUuidBytes; ++at) found[at] = uuid_byte(visible.at(device), at);
    return found;
}

Ns Settings::duration(const std::string &kernel) const {
    for (auto rule = durations.rbegin(); rule != durations.rend(); ++rule)
        if (fnmatch(rule->glob.c_str(), kernel.c_str(), 0) == 0) return rule->ns;
    return kernel_ns;
}

int fault_of(const char *function, int device) {
    for (Fault &fault : settings().faults) {
        if (fnmatch(fault.function.c_str(), function, 0) != 0) continue;
        const std::vector<int> &visible = settings().visible;
        const bool is_one = device >= 0 && device < static_cast<int>(visible.size());
        if (fault.device >= 0 && (!is_one || fault.device != visible[device])) continue;
        const long call = ++fault.calls;
        if (call >= fault.from && (fault.times < 0 || call < fault.from + fault.times)) return fault.code;
    }
    return 0;
}

}  // namespace emulated
