"""Answer of `ab --same`, and its noise floor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastrnns_rs.cli import display, history_options, shared
from fastrnns_rs.errors import UsageError
from fastrnns_rs.escaping import visible

if TYPE_CHECKING:
    from fastrnns_rs.documents.comparison import Comparison
    from fastrnns_rs.documents.run_file import Run
    from fastrnns_rs.views.screen import Line


def keep_noise_floor(run: Run, comparison: Comparison, given: dict[str, Any]) -> tuple[Comparison, list[Line], bool]:
    """Stores the noise floor of a run, and compares its session with the history.

    Args:
        run: Complete run of `ab --same`.
        comparison: Comparison of its sides.
        given: Options of the command.

    Returns:
        The comparison with its warning, the lines of the answer, and False if the noise floor could not be stored.
    """
    from fastrnns_rs.machine import noise as floors
    from fastrnns_rs.verbs.ab.self_comparison import assess_self_comparison
    from fastrnns_rs.verbs.history.run_history import open_past
    from fastrnns_rs.views import noise

    with open_past(history_options.find_history(given)) as past:
        comparison, floor = assess_self_comparison(run, comparison, past)
    lines = noise.lines(floor, display.terminal_width())
    try:
        floors.store(floor)
    except UsageError as error:
        # The run took minutes, so that its answer is shown all the same.
        shared.tell_error([f"error: {visible(error.message)}", f"hint: {visible(error.hint)}"])
        return comparison, lines, False
    return comparison, lines, True
