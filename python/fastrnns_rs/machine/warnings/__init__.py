"""Warnings of `bench` about unreliable numbers, with evidence and hint."""

from fastrnns_rs.machine.warnings.occasions import after, before

__all__ = ["after", "before"]
