"""The common warm-up cut makes estimates of jumping times steadier, and leaves out warm-ups."""

from __future__ import annotations

from validating_warmup import KINDS, table
from validation_tables import is_long, trials


def test_the_common_cut_is_steadier_and_leaves_out_warmups() -> None:
    shown, found = table(trials(8, 1000))
    shown.publish("warm-up cut")
    for kind in KINDS:
        own, common = (found[kind, rule] for rule in ("each process its own", "common"))
        if "jumps" in kind:
            assert common.process < own.process * (1 if is_long() else 1.15), shown.markdown()
        elif is_long():
            # Levels of processes vary by 1 %.
            assert abs(common.mean - (0.1 if "slower" in kind else 0)) <= 0.001, shown.markdown()
