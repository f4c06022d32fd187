"""Names of the methods of verdicts."""

from __future__ import annotations

#: Of processes, pairs of processes, and pairs whose verdict decided when to stop.
WELCH, PAIRED, ANYTIME = "welch_log", "paired_t_log", "anytime_t_log"
#: Of captures: their times, those of batches of iterations in older documents, and totals without a verdict.
CAPTURES, BATCHES, TOTALS = "welch_log_captures", "welch_log_iteration_batches", "totals"


def name_method(test: str, statistic: str) -> str:
    """Returns the name of a method for runs.

    >>> name_method(PAIRED, "p95")
    'paired_t_log_process_p95s'

    Args:
        test: Test of the processes.
        statistic: Statistic of each process that is judged.
    """
    return f"{test}_process_{statistic}s"
