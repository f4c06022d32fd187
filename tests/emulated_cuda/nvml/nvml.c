// A stand-in for the NVIDIA driver's management library (NVML): GPUs that a test describes.
//
// The file that the variable EMULATED_NVML names has them. A line is a word and its values:
//
//   driver 595.71.05                          version of the driver
//   init 18                                   error of nvmlInit
//   fault nvmlDeviceGetPower* 4               error of functions, by a glob of their names: of the GPU whose lines these
//                                             are, of all where no GPU was named yet
//   gpu GPU-7f4d... NVIDIA H200               one more GPU; the lines after it are about it
//   mig MIG-1c82... NVIDIA H200 MIG 1g.18gb   one more instance of this GPU
//   process 4711 /usr/bin/python3             a process that computes on this GPU, or on the instance above
//   reasons 0x40                              clock event reasons
//   load 90                                   utilisation in per cent
//   clock 1980 | most 1980 | memory_clock 3201   in MHz: of the SMs now and at most, of the memory at most
//   temperature 45 | power 350000 | limit 700000   in °C and mW
//   persistence 1
//   look 3                                    the lines after it hold from the third look at this GPU on
//   after_ms 500                              or from half a second after nvmlInit on
//
// A look is a question for the reasons: a process that looks ten times a second advances one line of time ten times a
// second, exactly. Each process counts its own.
#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kGpus = 16, kStates = 16, kFaults = 16, kProcesses = 8, kText = 96 };
enum Error {
    kSuccess = 0,
    kUninitialized = 1,
    kInvalidArgument = 2,
    kNotSupported = 3,
    kNotFound = 6,
    kInsufficientSize = 7,
};

typedef struct {
    char functions[kText];
    int code;
} Fault;

typedef struct {
    long from_look, from_ms;
    unsigned long long reasons;
    unsigned load, clock, temperature, power;
    int fault_count;
    Fault faults[kFaults];
} State;

// A GPU, or an instance of one. A handle of NVML points to one.
typedef struct Device {
    struct Device *parent;   // of an instance, else NULL
    char uuid[kText], name[kText];
    unsigned most, memory_clock, bits, limit, persistence;
    int process_count, state_count;
    unsigned processes[kProcesses];
    State states[kStates];
    long looks;
} Device;

typedef struct {
    unsigned pid;
    char name[kText];
} Process;

static struct {
    char driver[kText];
    int init_error, device_count, process_count, initialised;
    Device devices[kGpus];
    Process processes[kGpus * kProcesses];
    State common;   // faults of all
    struct timespec begin;
} driver;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define EXPORT __attribute__((visibility("default")))

static void refuse(const char *line) {
    fprintf(stderr, "emulated NVML: this setting is not understood: %s\n", line);
    _Exit(86);
}

static Device *add_device(Device *parent, const char *values, const char *line) {
    if (driver.device_count == kGpus) refuse(line);
    Device *made = &driver.devices[driver.device_count++];
    made->parent = parent;
    if (sscanf(values, "%95s %95[^\n]", made->uuid, made->name) != 2) refuse(line);
    made->most = 1980, made->memory_clock = 2619, made->bits = 5120, made->limit = 700000, made->persistence = 1;
    made->state_count = 1;
    made->states[0] = (State){.load = 90, .clock = 1980, .temperature = 45, .power = 350000};
    return made;
}

static State *add_state(Device *device, const char *line) {
    if (device == NULL || device->state_count == kStates) refuse(line);
    State *made = &device->states[device->state_count++];
    *made = made[-1];
    return made;
}

static void add_fault(State *state, const char *values, const char *line) {
    if (state->fault_count == kFaults) refuse(line);
    Fault *made = &state->faults[state->fault_count++];
    if (sscanf(values, "%95s %d", made->functions, &made->code) != 2) refuse(line);
}

static void add_process(Device *device, const char *values, const char *line) {
    if (device == NULL || device->process_count == kProcesses) refuse(line);
    Process *made = &driver.processes[driver.process_count++];
    if (sscanf(values, "%u %95[^\n]", &made->pid, made->name) != 2) refuse(line);
    device->processes[device->process_count++] = made->pid;
}

// Sets the number that a word of a line is about.
static int set_number(Device *device, State *state, const char *key, unsigned long long value) {
    const unsigned number = (unsigned)value;
    if (strcmp(key, "reasons") == 0) return state->reasons = value, 1;
    const struct {
        const char *key;
        unsigned *place;
    } places[] = {
        {"load", &state->load}, {"clock", &state->clock}, {"temperature", &state->temperature},
        {"power", &state->power}, {"most", &device->most}, {"memory_clock", &device->memory_clock},
        {"limit", &device->limit}, {"persistence", &device->persistence},
    };
    for (size_t at = 0; at < sizeof places / sizeof *places; ++at)
        if (strcmp(key, places[at].key) == 0) return *places[at].place = number, 1;
    return 0;
}

static void read_settings(void) {
    const char *path = getenv("EMULATED_NVML");
    FILE *file = path == NULL ? NULL : fopen(path, "r");
    if (file == NULL) refuse(path == NULL ? "EMULATED_NVML is not set" : path);
    Device *gpu = NULL, *device = NULL;
    char line[512], key[kText];
    while (fgets(line, sizeof line, file) != NULL) {
        int end = 0;
        if (sscanf(line, "%95s %n", key, &end) != 1 || key[0] == '#') continue;
        const char *values = line + end;
        if (strcmp(key, "driver") == 0) sscanf(values, "%95s", driver.driver);
        else if (strcmp(key, "init") == 0) driver.init_error = atoi(values);
        else if (strcmp(key, "gpu") == 0) gpu = device = add_device(NULL, values, line);
        else if (strcmp(key, "mig") == 0 && gpu != NULL) device = add_device(gpu, values, line);
        else if (strcmp(key, "process") == 0) add_process(device, values, line);
        else if (strcmp(key, "look") == 0) add_state(gpu, line)->from_look = atol(values);
        else if (strcmp(key, "after_ms") == 0) add_state(gpu, line)->from_ms = atol(values);
        else if (strcmp(key, "fault") == 0)
            add_fault(gpu == NULL ? &driver.common : &gpu->states[gpu->state_count - 1], values, line);
        else if (gpu == NULL || !set_number(gpu, &gpu->states[gpu->state_count - 1], key, strtoull(values, NULL, 0)))
            refuse(line);
    }
    fclose(file);
}

static long elapsed_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - driver.begin.tv_sec) * 1000 + (now.tv_nsec - driver.begin.tv_nsec) / 1000000;
}

// The GPU as it is now. Its look is the last that was begun.
static const State *now(const Device *gpu) {
    const State *found = &gpu->states[0];
    for (int at = 1; at < gpu->state_count; ++at) {
        const State *one = &gpu->states[at];
        if (gpu->looks >= one->from_look && elapsed_ms() >= one->from_ms) found = one;
    }
    return found;
}

static int fault_in(const State *state, const char *function) {
    for (int at = state->fault_count - 1; at >= 0; --at)
        if (fnmatch(state->faults[at].functions, function, 0) == 0) return state->faults[at].code;
    return kSuccess;
}

static const Device *gpu_of(const Device *device) { return device->parent == NULL ? device : device->parent; }

// The error of a question about a device; NULL for those about none.
static int error_of(const Device *device, const char *function) {
    if (!driver.initialised) return kUninitialized;
    const int common = fault_in(&driver.common, function);
    return common != kSuccess || device == NULL ? common : fault_in(now(gpu_of(device)), function);
}

#define BEGIN(device)                                 \
    do {                                              \
        const int error = error_of(device, __func__); \
        if (error != kSuccess) return error;          \
    } while (0)
// An instance does not have this: it belongs to the whole GPU.
#define BEGIN_OF_GPU(device)                                \
    BEGIN(device);                                          \
    if ((device)->parent != NULL) return kNotSupported

EXPORT int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    pthread_mutex_lock(&lock);
    if (driver.device_count == 0 && driver.init_error == kSuccess) read_settings();
    if (driver.init_error == kSuccess && driver.initialised++ == 0) clock_gettime(CLOCK_MONOTONIC, &driver.begin);
    pthread_mutex_unlock(&lock);
    return driver.init_error;
}

EXPORT int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }

// The name for old callers, such as torch.
EXPORT int nvmlInit(void) { return nvmlInitWithFlags(0); }

EXPORT int nvmlShutdown(void) {
    pthread_mutex_lock(&lock);
    const int error = driver.initialised == 0 ? kUninitialized : kSuccess;
    if (error == kSuccess) --driver.initialised;
    pthread_mutex_unlock(&lock);
    return error;
}

EXPORT const char *nvmlErrorString(int error) {
    return error == kSuccess ? "Success" : "an error of the emulated NVML";
}

EXPORT int nvmlSystemGetDriverVersion(char *version, unsigned length) {
    BEGIN(NULL);
    snprintf(version, length, "%s", driver.driver);
    return kSuccess;
}

EXPORT int nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length) {
    BEGIN(NULL);
    for (int at = 0; at < driver.process_count; ++at) {
        if (driver.processes[at].pid != pid) continue;
        snprintf(name, length, "%s", driver.processes[at].name);
        return kSuccess;
    }
    return kNotFound;
}

// The device with a number among those of a GPU (its instances), or among all GPUs where it is NULL.
static Device *numbered(const Device *parent, unsigned index) {
    for (int at = 0; at < driver.device_count; ++at)
        if (driver.devices[at].parent == parent && index-- == 0) return &driver.devices[at];
    return NULL;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *count) {
    BEGIN(NULL);
    for (*count = 0; numbered(NULL, *count) != NULL;) ++*count;
    return kSuccess;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device **device) {
    BEGIN(NULL);
    *device = numbered(NULL, index);
    if (*device == NULL) return kInvalidArgument;
    BEGIN(*device);
    return kSuccess;
}

EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, Device **device) {
    BEGIN(NULL);
    for (int at = 0; at < driver.device_count; ++at) {
        *device = &driver.devices[at];
        if (strcmp((*device)->uuid, uuid) != 0) continue;
        BEGIN(*device);
        return kSuccess;
    }
    return kNotFound;
}

EXPORT int nvmlDeviceGetUUID(const Device *device, char *uuid, unsigned length) {
    BEGIN(device);
    snprintf(uuid, length, "%s", device->uuid);
    return kSuccess;
}

EXPORT int nvmlDeviceGetName(const Device *device, char *name, unsigned length) {
    BEGIN(device);
    snprintf(name, length, "%s", device->name);
    return kSuccess;
}

EXPORT int nvmlDeviceGetMaxMigDeviceCount(const Device *device, unsigned *count) {
    BEGIN(device);
    for (*count = 0; numbered(device, *count) != NULL;) ++*count;
    return kSuccess;
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(const Device *device, unsigned index, Device **found) {
    BEGIN(device);
    *found = numbered(device, index);
    return *found == NULL ? kNotFound : kSuccess;
}

EXPORT int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(const Device *device, Device **parent) {
    BEGIN(device);
    if (device->parent == NULL) return kInvalidArgument;
    *parent = device->parent;
    return kSuccess;
}

EXPORT int nvmlDeviceGetCurrentClocksEventReasons(Device *device, unsigned long long *reasons) {
    __atomic_add_fetch(device->parent == NULL ? &device->looks : &device->parent->looks, 1, __ATOMIC_RELAXED);
    BEGIN_OF_GPU(device);
    *reasons = now(device)->reasons;
    return kSuccess;
}

EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(const Device *device, unsigned long long *reasons) {
    BEGIN_OF_GPU(device);
    *reasons = now(device)->reasons;
    return kSuccess;
}

typedef struct {
    unsigned gpu, memory;
} Utilization;

EXPORT int nvmlDeviceGetUtilizationRates(const Device *device, Utilization *found) {
    BEGIN_OF_GPU(device);
    // Nor has a GPU that is divided.
    if (numbered(device, 0) != NULL) return kNotSupported;
    *found = (Utilization){now(device)->load, now(device)->load / 2};
    return kSuccess;
}

enum Clock { kGraphics = 0, kSm = 1, kMemory = 2 };

EXPORT int nvmlDeviceGetClockInfo(const Device *device, enum Clock kind, unsigned *megahertz) {
    BEGIN_OF_GPU(device);
    *megahertz = kind == kMemory ? device->memory_clock : now(device)->clock;
    return kSuccess;
}

EXPORT int nvmlDeviceGetMaxClockInfo(const Device *device, enum Clock kind, unsigned *megahertz) {
    BEGIN_OF_GPU(device);
    *megahertz = kind == kMemory ? device->memory_clock : device->most;
    return kSuccess;
}

EXPORT int nvmlDeviceGetMemoryBusWidth(const Device *device, unsigned *bits) {
    BEGIN_OF_GPU(device);
    *bits = device->bits;
    return kSuccess;
}

EXPORT int nvmlDeviceGetTemperature(const Device *device, int sensor, unsigned *celsius) {
    BEGIN_OF_GPU(device);
    if (sensor != 0) return kInvalidArgument;
    *celsius = now(device)->temperature;
    return kSuccess;
}

EXPORT int nvmlDeviceGetPowerUsage(const Device *device, unsigned *milliwatts) {
    BEGIN_OF_GPU(device);
    *milliwatts = now(device)->power;
    return kSuccess;
}

EXPORT int nvmlDeviceGetEnforcedPowerLimit(const Device *device, unsigned *milliwatts) {
    BEGIN_OF_GPU(device);
    *milliwatts = device->limit;
    return kSuccess;
}

EXPORT int nvmlDeviceGetPersistenceMode(const Device *device, int *mode) {
    BEGIN_OF_GPU(device);
    *mode = (int)device->persistence;
    return kSuccess;
}

typedef struct {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
} ProcessInfo;

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(const Device *device, unsigned *count, ProcessInfo *found) {
    BEGIN(device);
    const unsigned room = *count;
    *count = (unsigned)device->process_count;
    if (device->process_count == 0) return kSuccess;
    if (found == NULL || room < *count) return kInsufficientSize;
    for (unsigned at = 0; at < *count; ++at) found[at] = (ProcessInfo){device->processes[at], 1 << 20, 0, 0};
    return kSuccess;
}
