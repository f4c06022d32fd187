"""The page of a large capture beside its table: whole processes, with Python's start."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from captures import corpus, enlarge_export, enlarge_trace
from report import apart, measured, report

ROUNDS = 5


def compare(title: str, capture: Path) -> None:
    """Prints the times of table and page, and the medians of their differences."""
    commands = {"table": report(capture), "page": report(capture, "--format", "html")}
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, argv in commands.items():
            found[name].append(measured(argv))
    print(f"\n{title}\n{'':8} seconds      CPU      MiB")
    for name, runs in found.items():
        wall, processor, memory = (statistics.median(values) for values in zip(*runs, strict=True))
        print(f"{name:8} {wall:7.3f} {processor:8.3f} {memory:8.0f}")
    more = [page[0] - table[0] for table, page in zip(found["table"], found["page"], strict=True)]
    print(f"the page takes {statistics.median(more):.2f} s more than the table of the same round")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20, help="copies of the trace: 20 make 1.09 GB")
    parser.add_argument("--kernels", type=int, default=1_000_000, help="kernels of the export")
    parser.add_argument("--folder", type=Path, help="where the large files go, and stay; a temporary folder by default")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        trace, export = folder / "page.json", folder / "page.sqlite"
        apart(enlarge_trace, corpus() / "kineto" / "hta_v100_ddp.json.gz", trace, given.times)
        compare(f"{trace.stat().st_size / 1e9:.2f} GB of JSON", trace)
        apart(enlarge_export, corpus() / "nsys" / "h100_2gpu_2026.2.sqlite", export, given.kernels)
        compare(f"{given.kernels:.0e} kernels of an export", export)


if __name__ == "__main__":
    main()
