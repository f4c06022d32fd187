"""Health checks of the software: the extension and torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fastrnns_rs.counting import counted
from fastrnns_rs.documents.diagnosis import Check
from fastrnns_rs.documents.warning_table import ROWS
from fastrnns_rs.errors import FastrnnsError
from fastrnns_rs.machine import nvidia
from fastrnns_rs.machine.health.outcome import judged

if TYPE_CHECKING:
    from fastrnns_rs.machine.facts import Facts


def build_profile(profile: str) -> Check:
    """Checks that the extension is optimised."""
    slow = profile != "release"
    message = f"the extension is {'not ' if slow else ''}optimised"
    return judged("extension.build_profile", slow, profile, message, ROWS["debug_build"].hint)


def torch_import(torch: Facts | FastrnnsError) -> Check:
    """Checks that torch can be imported."""
    if isinstance(torch, FastrnnsError):
        return Check(id="torch.import", status="fail", message=torch.message, hint=torch.hint or None)
    return Check(id="torch.import", status="ok", value=torch.torch_version, message="torch can be imported")


def torch_cuda(facts: Facts | None) -> Check:
    """Checks that torch can compute on the GPU, if there is one."""
    if facts is None:
        return Check(id="torch.cuda", status="skipped", message="torch cannot be imported")
    count, version = facts.cuda_device_count, facts.cuda_version
    problem = facts.device_problem or facts.dtype_problem
    if count and problem is None:
        message = f"torch finds {counted(count, 'CUDA device')}"
        return Check(id="torch.cuda", status="ok", value=version, message=message)
    if count:
        message = f"{facts.device} does not compute: {problem}"
        # Torch has no code for a GPU that is older than its build, or newer.
        unsupported = "kernel image" in str(problem) or "compute capability" in str(problem)
        hint = "Install a torch built for this GPU." if unsupported else "Use the CPU: fastrnns-rs bench --device cpu"
        return Check(id="torch.cuda", status="fail", value=version, message=message, hint=hint)
    reason = facts.no_cuda_reason or "torch reports no reason"
    if not nvidia.has_device():
        return Check(id="torch.cuda", status="skipped", value=version, message=reason)
    # A CPU build of torch or a hidden GPU is the user's choice, hence only a warning.
    status: Literal["warn", "fail"] = "warn" if version is None or nvidia.is_hidden() else "fail"
    cure = "Update the driver, install a torch built for an older CUDA"
    if version is None:
        cure = "Install a torch built for CUDA"
    elif nvidia.is_hidden():
        cure = "Unset CUDA_VISIBLE_DEVICES"
    hint = f"{cure}, or use the CPU: fastrnns-rs bench --device cpu"
    return Check(id="torch.cuda", status=status, value=version, message=reason, hint=hint)
