"""Settings of TorchScript's compiler."""

from __future__ import annotations

from dataclasses import dataclass

from fastrnns_rs.errors import unknown
from fastrnns_rs.problem.problem import check_count

FUSERS = ("te", "old", "none", "default")
EXECUTORS = ("profiling", "simple", "legacy", "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class JitSettings:
    """Settings of TorchScript's compiler, with the names of PyTorch's fastrnns.

    The meanings are also those of PyTorch's fastrnns.

    Attributes:
        fuser: `te`, `old`, `none`, or `default`, which does not change torch's settings.
        executor: `profiling`, `simple`, `legacy` or `default`; it overrides the executor that `fuser` implies.
        cuda_pointwise_loop_level: Loop levels of the fuser's CUDA kernels; None uses torch's default.
        cuda_pointwise_block_count: Number of blocks of these kernels; None uses torch's default.
        cuda_pointwise_block_size: Number of threads per block of these kernels; None uses torch's default.
    """

    fuser: str = "te"
    executor: str | None = None
    cuda_pointwise_loop_level: int | None = None
    cuda_pointwise_block_count: int | None = None
    cuda_pointwise_block_size: int | None = None

    def __post_init__(self) -> None:
        if self.fuser not in FUSERS:
            raise unknown("invalid value", self.fuser, FUSERS, where="fuser")
        if self.executor is not None and self.executor not in EXECUTORS:
            raise unknown("invalid value", self.executor, EXECUTORS, where="executor")

        for name, value in self.pointwise().items():
            check_count(f"cuda_pointwise_{name}", value, least=1)

    def switches(self) -> dict[str, bool]:
        """Returns the value of each switch to set; other switches are not changed."""
        switches: dict[str, bool] = {}
        if self.fuser == "te":
            switches.update(executor=True, optimize=True, cpu_fusion=False, gpu_fusion=True, expressions=True)
        elif self.fuser == "old":
            switches.update(executor=False, optimize=False, gpu_fusion=True, expressions=False)
        elif self.fuser == "none":
            switches.update(executor=False, optimize=False, cpu_fusion=False, gpu_fusion=False, expressions=False)
        if self.executor == "profiling":
            switches.update(executor=True, optimize=True)
        elif self.executor == "simple":
            switches.update(optimize=False)
        elif self.executor == "legacy":
            switches.update(executor=False, optimize=True)
        return switches

    def pointwise(self) -> dict[str, int]:
        """Returns the given settings of CUDA kernels."""
        given = {
            "loop_levels": self.cuda_pointwise_loop_level,
            "block_count": self.cuda_pointwise_block_count,
            "block_size": self.cuda_pointwise_block_size,
        }
        return {name: value for name, value in given.items() if value is not None}
