"""`report --json` of a trace with a million kernel names on 5,000 devices: time and memory of the whole command.

The floor is `cp` of the document; the peer reads the trace with Python's `json.load`, and does no more.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from report import compare, python

NAMES, DEVICES = 1_000_000, 5_000


def make(path: Path) -> None:
    """Writes a trace in which each kernel has a name of its own."""
    with path.open("w") as file:
        file.write('{"schemaVersion": 1, "host_name": "made", "traceEvents": [\n')
        for number in range(NAMES):
            place = {"pid": number % DEVICES, "tid": 7, "ts": 2 * number, "dur": 1}
            arguments = {"device": number % DEVICES, "stream": 7, "correlation": number + 1}
            event = {"ph": "X", "cat": "kernel", "name": f"kernel_{number}", **place, "args": arguments}
            file.write(f"{json.dumps(event)}{',' if number + 1 < NAMES else ''}\n")
        file.write("]}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        trace, document = Path(folder) / "trace.json", Path(folder) / "summary.json"
        make(trace)
        ours = [sys.executable, "-m", "fastrnns_rs", "report", str(trace), "--json", "--output", str(document)]
        peer = python("import json, sys; json.load(open(sys.argv[1]))", trace)
        copy = ["cp", str(document), f"{document}.copy"]
        compare(f"{NAMES:,} names on {DEVICES:,} devices", {"ours": ours, "json.load": peer, "cp": copy})


if __name__ == "__main__":
    main()
