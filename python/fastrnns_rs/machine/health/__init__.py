"""The checks of `fastrnns-rs doctor`: whether numbers of this machine can be trusted."""

from fastrnns_rs.machine.health.checkup import check_all

__all__ = ["check_all"]
