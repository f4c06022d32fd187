"""Times on a device whose kernels take known times."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest
from emulated.bench import RUNNERS, bench


def test_phases_take_as_long_as_their_kernels(tmp_path: Path) -> None:
    found = bench(tmp_path, "--runner-file", RUNNERS, "--rnns", "sleeping", "--group", "rnns", "--device", "cuda")
    process = found.process("sleeping")
    # Forward begins on an idle device: the host's millisecond counts. Backward's is hidden behind forward's kernel.
    assert median(process["forward_ns"]) == pytest.approx(4e6, rel=0.01)
    assert median(process["backward_ns"]) == pytest.approx(5e6, rel=0.01)
    assert max(process["forward_ns"]) - min(process["forward_ns"]) < 1000


def test_an_iteration_has_four_marks_and_one_synchronisation(tmp_path: Path) -> None:
    found = bench(tmp_path, "--runner-file", RUNNERS, "--rnns", "sleeping", "--group", "rnns", "--device", "cuda")
    spins = found.worker.kernels("spin_kernel")
    assert {one.stream for one in found.worker.marks()} == {one.stream for one in spins}
    # The last iteration is looked at, and so read back.
    *_, begin, _, end, _ = spins
    between = [one for one in found.worker.calls if begin.at_ns < one.at_ns < end.at_ns]
    functions = [one.function for one in between]
    assert functions.count("cudaStreamSynchronize") == 1
    assert "cudaDeviceSynchronize" not in functions
    assert len([one for one in between if one.function == "cudaEventRecord"]) == 4
