"""Table of all warning codes with effect, evidence, hint and commands.

The warnings of every command take their texts from here. `fastrnns-rs explain` and docs/reference/warnings.md show the
table. A test finds codes in the sources that are not in the table, and rows that nothing emits.
"""

from __future__ import annotations

from fastrnns_rs.documents.warning_table import (
    capture_comparison,
    capture_files,
    foreign_results,
    machine_state,
    run_comparison,
    stored_files,
    timed_samples,
)

TOPICS = (
    *machine_state.TOPICS,
    *timed_samples.TOPICS,
    *run_comparison.TOPICS,
    *capture_comparison.TOPICS,
    *foreign_results.TOPICS,
    *capture_files.TOPICS,
    *stored_files.TOPICS,
)
#: All rows by their code.
ROWS = {row.code: row for topic in TOPICS for row in topic.rows}
