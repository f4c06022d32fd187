"""A machine without a GPU, as a probe describes it."""

from fastrnns_rs.machine.facts import Facts
from fastrnns_rs.verbs.bench.expected_run import installed_torch

FACTS = Facts(
    python_version="3.12.0",
    # That of real workers, with which a run may go on.
    torch_version=str(installed_torch()),
    num_threads=2,
    device="cpu",
    cuda_device_count=0,
    no_cuda_reason="no NVIDIA GPU was found",
)
