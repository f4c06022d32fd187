"""Health checks of `fastrnns-rs doctor`, on the reliability of measurements."""

from fastrnns_rs.machine.health.checkup import check_all

__all__ = ["check_all"]
