"""The warnings of a bench: what makes its numbers doubtful, each with its cause, evidence and next step."""

from fastrnns_rs.machine.warnings.occasions import after, before

__all__ = ["after", "before"]
