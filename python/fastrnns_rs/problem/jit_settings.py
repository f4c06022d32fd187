"""Settings of TorchScript's compiler."""

from __future__ import annotations

from dataclasses import dataclass

from fastrnns_rs.errors import UsageError, nearest
from fastrnns_rs.problem.problem import check_count

FUSERS = ("te", "old", "none", "default")
EXECUTORS = ("profiling", "simple", "legacy", "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class JitSettings:
    """How TorchScript compiles; the names and meanings are those of PyTorch's fastrnns.

    Attributes:
        fuser: `te`, `old`, `none`, or `default` to leave torch as it is.
        executor: `profiling`, `simple`, `legacy` or `default`; it wins over what `fuser` implies.
        cuda_pointwise_loop_level: Loop levels of the fuser's CUDA kernels; None leaves them to torch.
        cuda_pointwise_block_count: Blocks of such a kernel.
        cuda_pointwise_block_size: Threads of such a block.
    """

    fuser: str = "te"
    executor: str | None = None
    cuda_pointwise_loop_level: int | None = None
    cuda_pointwise_block_count: int | None = None
    cuda_pointwise_block_size: int | None = None

    def __post_init__(self) -> None:
        if self.fuser not in FUSERS:
            raise UsageError(f"no fuser is called {self.fuser!r}", nearest(self.fuser, FUSERS))
        if self.executor is not None and self.executor not in EXECUTORS:
            raise UsageError(f"no executor is called {self.executor!r}", nearest(self.executor, EXECUTORS))

        for name, value in self.pointwise().items():
            check_count(f"cuda_pointwise_{name}", value, least=1)

    def switches(self) -> dict[str, bool]:
        """What each switch is set to; one that is not named stays as it is."""
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
        """The settings of CUDA kernels that were given."""
        given = {
            "loop_levels": self.cuda_pointwise_loop_level,
            "block_count": self.cuda_pointwise_block_count,
            "block_size": self.cuda_pointwise_block_size,
        }
        return {name: value for name, value in given.items() if value is not None}
