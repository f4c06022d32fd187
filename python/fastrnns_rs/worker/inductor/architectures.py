"""Triton kernels compiled for architectures that this machine need not have.

The figures of each are those that ptxas prints.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fastrnns_rs.errors import FastrnnsError, first_line
from fastrnns_rs.problem.architecture import capability
from fastrnns_rs.worker.inductor.triton_kernels import load_all_configs

if TYPE_CHECKING:
    from types import ModuleType

    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

#: Figures of a kernel, as `ptxas -v` prints them, each with its key.
_FIGURES = {
    "registers": re.compile(r"Used (\d+) registers"),
    "stack_bytes": re.compile(r"(\d+) bytes stack frame"),
    "spill_store_bytes": re.compile(r"(\d+) bytes spill stores"),
    "spill_load_bytes": re.compile(r"(\d+) bytes spill loads"),
}
#: Of shared memory ptxas prints the static part only. Triton's is requested when a kernel is launched.
_STATIC_SHARED = re.compile(r"(\d+) bytes smem")
_SHARED = "shared_memory_bytes"


class Assembler:
    """Compiles the kernel of a module for some architectures.

    Args:
        mod: Module of the kernel.
        architectures: Names such as `sm_90`.
    """

    def __init__(self, mod: ModuleType, architectures: Sequence[str]) -> None:
        self._mod = mod
        self._architectures = architectures
        self._kernel: CachingAutotuner | None = None

    def figures(self, config: Any) -> list[dict[str, Any]]:
        """Returns the figures of a configuration.

        They are the keys of `AssembledKernel` for each architecture.
        """
        return [self._figures(config, one) for one in self._architectures]

    def _figures(self, config: Any, architecture: str) -> dict[str, Any]:
        nothing = dict.fromkeys((*_FIGURES, _SHARED))
        try:
            shared, log = self._compiled(config, capability(architecture))
            found = _parsed(log)
        except Exception as error:  # noqa: BLE001  # a compiler can fail in many ways; the other architectures may work
            reason = error.message if isinstance(error, FastrnnsError) else first_line(error)
            return {"architecture": architecture, **nothing, "reason": reason}
        return {"architecture": architecture, **found, _SHARED: shared + found[_SHARED], "reason": None}

    def _compiled(self, config: Any, number: int) -> tuple[int, str]:
        """Returns the shared memory of a launch in bytes, and the output of ptxas."""
        if self._kernel is None:
            # The kernel that is timed stays as it is.
            self._kernel = load_all_configs(self._mod)
        kernel = self._kernel
        if kernel.device_props.type != "cuda":
            raise FastrnnsError(f"the kernel was generated for {kernel.device_props.type}, not for CUDA")
        kernel.device_props = kernel.device_props._replace(cc=number, major=number // 10)
        with _compilations() as (made, log):
            kernel._precompile_config(config)  # noqa: SLF001  # no public function takes another architecture
        if not made:
            raise FastrnnsError("Inductor compiled nothing with Triton")
        return made[-1].metadata.shared, log.getvalue()


@contextlib.contextmanager
def _compilations() -> Iterator[tuple[list[Any], io.StringIO]]:
    """Yields the kernels that Triton compiles in the block, and the output of ptxas.

    Triton's cache is not used.
    """
    # Not every torch comes with Triton.
    import triton  # type: ignore[import-untyped]
    from triton import knobs

    made: list[Any] = []
    log = io.StringIO()
    compiles = triton.compile

    def kept(*given: Any, **named: Any) -> Any:
        made.append(compiles(*given, **named))
        return made[-1]

    with (
        knobs.compilation.scope(),
        knobs.nvidia.scope(),
        contextlib.redirect_stdout(log),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        knobs.compilation.always_compile = True
        knobs.nvidia.dump_ptxas_log = True
        triton.compile = kept
        try:
            yield made, log
        finally:
            triton.compile = compiles


def _parsed(log: str) -> dict[str, int]:
    """Returns the figures in the output of ptxas.

    Raises:
        FastrnnsError: If the output does not contain them.
    """
    found = {}
    for key, pattern in _FIGURES.items():
        match = pattern.search(log)
        if match is None:
            raise FastrnnsError(f"ptxas did not print {key.replace('_', ' ')}")
        found[key] = int(match[1])
    static = _STATIC_SHARED.search(log)
    return {**found, _SHARED: int(static[1]) if static else 0}
