"""Warnings of `bench` about unreliable numbers, with evidence and hint."""

from fastrnns_rs.machine.warnings.run_checks import check_devices, check_machine, check_samples

__all__ = ["check_devices", "check_machine", "check_samples"]
