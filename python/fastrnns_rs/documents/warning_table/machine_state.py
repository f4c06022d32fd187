"""Warnings about the machine, its software and its GPU, before and during a run."""

from __future__ import annotations

from fastrnns_rs.documents.warning_table.row import Topic, WarningRow

_BENCH = ("bench", "ab")

_BEFORE = (
    WarningRow(
        "more_threads_than_cores",
        effect="times are longer and vary more, because threads share CPUs",
        short="times are longer and vary more: threads share CPUs",
        evidence="number of torch's threads, number of CPUs that the workers may use, and the limit on CPU time of a "
        "container",
        hint="Use one thread per CPU: fastrnns-rs bench --threads N RUNNER",
        verbs=_BENCH,
        details="Each parallel region waits for its slowest thread. If a container limits the CPU time, the "
        "kernel stops all threads for tens of milliseconds when they have used it. Only models on a CPU are checked, "
        "because with a model on a GPU torch's threads are idle.",
    ),
    WarningRow(
        "machine_busy",
        effect="times are longer and vary more, because other programs use the CPUs",
        short="times are longer and vary more: other programs run",
        evidence="load average of the last minute, number of CPUs, and limit: half of the CPUs",
        hint="Stop other programs, then check the load: fastrnns-rs doctor",
        verbs=_BENCH,
    ),
    WarningRow(
        "governor",
        effect="times depend on the load before each measurement, because the CPU clock follows the load",
        short="times depend on the load before each measurement",
        evidence="frequency governors of the CPUs that the workers may use, if one is not `performance`",
        hint="Keep the CPU clock up: sudo cpupower frequency-set -g performance",
        verbs=_BENCH,
    ),
    WarningRow(
        "turbo",
        effect="times depend on the temperature and on the number of busy CPUs, because turbo is on",
        short="times depend on temperature and on busy CPUs: turbo",
        evidence="state of turbo",
        hint="Turn turbo off for more stable times: echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo",
        verbs=_BENCH,
        details="Without turbo, times are longer and have a lower variance. Drivers other than intel_pstate have "
        "another switch; the warning names the switch of this machine.",
    ),
    WarningRow(
        "gpu_busy",
        effect="times are longer and vary more, because other processes use the GPU",
        short="times are longer and vary more: the GPU is shared",
        evidence="other processes by number and name; or GPU utilization before the measurement, in % (above 10 %), "
        "if processes are not listed",
        hint="Wait, or choose another GPU: fastrnns-rs bench --device cuda:N RUNNER",
        verbs=_BENCH,
        details="Processes in another container are not listed. They are found by the utilization.",
    ),
    WarningRow(
        "gpu_persistence",
        effect="first iterations are longer, because the driver initialises the GPU for each process",
        short="first iterations include the driver's start of the GPU",
        evidence="persistence mode, and SM clock in MHz",
        hint="Keep the driver loaded: sudo nvidia-smi -pm 1",
        verbs=_BENCH,
    ),
    WarningRow(
        "debug_build",
        effect="each sample includes extra time, because the extension is not optimised",
        short="samples include extra time: unoptimised build",
        evidence="build profile of the extension",
        hint="Build the extension with optimisation: pip install .",
        verbs=_BENCH,
    ),
    WarningRow(
        "plugin_failed",
        effect="runners of a plug-in are missing, because its import failed",
        short="runners of a plug-in are missing: its import failed",
        evidence="entry point, its package and version, and the error in one line",
        hint="Show the traceback, or uninstall PACKAGE: FASTRNNS_DEBUG=1 fastrnns-rs list",
        verbs=("bench", "ab", "profile", "verify", "list"),
        details="Reasons are in the section on packages of [your own runner]"
        "(../how-to/your-own-runner.md#in-a-package).",
    ),
    WarningRow(
        "torchscript_deprecated",
        effect="runners may fail with a later PyTorch, because TorchScript is deprecated",
        short="runners may fail with a later PyTorch: TorchScript",
        evidence="runners that use TorchScript",
        hint="Choose runners without TorchScript: fastrnns-rs list",
        verbs=_BENCH,
    ),
)

_RANKS = (
    WarningRow(
        "ranks_differ",
        effect="the run file records only the environment of rank 0, and ranks have other environments",
        short="ranks have other environments than the run file",
        evidence="first keys that differ, by rank, with both values",
        hint="Check the machine and the software of each rank: fastrnns-rs doctor",
        verbs=("bench",),
        details="The point estimate is computed from all ranks. The run file has the processes of each rank.",
    ),
    WarningRow(
        "several_machines",
        effect="the run file describes only the machine of rank 0",
        evidence="number of machines",
        hint="Check the clocks and the load of the other machines: fastrnns-rs doctor",
        verbs=("bench",),
    ),
)

_DURING = (
    WarningRow(
        "gpu_throttled",
        effect="times are longer, because the driver slowed the GPU down",
        short="times are longer: the driver slowed the GPU down",
        evidence="slowed readings and all readings, share of each reason in %; range of SM clock in MHz, temperature "
        "in °C and power in W; before the measurement the reasons only",
        hint="Let the GPU cool, and check its limits: nvidia-smi -q -d PERFORMANCE",
        verbs=_BENCH,
        details="The warning is given from 1 in 100 slowed readings on. Reasons are `sw_power_cap`, `hw_slowdown`, "
        "`sync_boost`, `sw_thermal_slowdown`, `hw_thermal_slowdown`, `hw_power_brake_slowdown`, `board_limit` and "
        "`reliability`. Clocks that a user set, and an idle GPU, are not a slowdown.",
    ),
    WarningRow(
        "gpu_lost",
        effect="later processes fail, because the driver lost the GPU",
        evidence="error of the driver",
        hint="Find the Xid error of the driver: sudo dmesg | grep -i xid",
        verbs=_BENCH,
        details="Reset the GPU or restart the machine before the next run.",
    ),
)

TOPICS = (
    Topic(
        "Before a run",
        _BEFORE,
        "The limits are those of `fastrnns-rs doctor`, which shows these values in any case. Only the measured GPU is "
        "checked.",
    ),
    Topic("Ranks of torchrun", _RANKS),
    Topic(
        "During a run",
        _DURING,
        "On CUDA, a thread of the parent process reads the GPU's clocks, temperature and power from NVML (package "
        "`nvidia-ml-py`) about 10 times per second. Readings of an idle GPU, between processes, do not count. A MIG "
        "instance shares the clocks of its GPU, so the whole GPU is read. Without NVML there are no readings, and no "
        "error.",
    ),
)
