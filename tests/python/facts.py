"""A machine without a GPU, as a probe describes it."""

from fastrnns_rs.machine.facts import Facts

FACTS = Facts(
    python_version="3.12.0",
    torch_version="2.15.0",
    num_threads=2,
    device="cpu",
    cuda_device_count=0,
    no_cuda_reason="no NVIDIA GPU was found",
)
