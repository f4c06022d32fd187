"""Capture manifests of `profile --torch`: a trace for each runner, of one process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from conftest import ROOT
from kineto_traces import Event, annotation, call, document, kernel, write

from fastrnns_rs.documents import file_names
from fastrnns_rs.documents.capture_manifest import ArtefactEntry, Capture

#: Iterations of a trace, as torch's default schedule numbers them.
STEPS = (2, 3, 4)


def steps(at: float, took: float) -> list[Event]:
    """Steps from a time in microseconds on; each launches a kernel that takes so many microseconds."""
    events = []
    for place, step in enumerate(STEPS):
        begin, correlation = at + 1000 * place, int(at) + place + 1
        events.append(annotation(f"ProfilerStep#{step}", begin, 900))
        events.append(annotation("## forward ##", begin + 5, 400))
        launch = call(start=begin + 10, duration=2)
        events.append({**launch, "args": {"correlation": correlation}})
        events.append(kernel("k", begin + 20, took, correlation=correlation))
    return events


def manifest(folder: Path, runners: dict[str, float], *, since: float = 0) -> Path:
    """Writes the capture of runners, each with the time of its kernels in microseconds, ten seconds apart."""
    folder.mkdir(exist_ok=True)
    artefacts = []
    for place, (runner, took) in enumerate(runners.items()):
        path = folder / f"prof_x.{file_names.distinct(runner)}.0.json.gz"
        write(path, document(steps(since + 10_000_000 * place, took), host_name=f"host of {folder.name}"))
        artefacts.append(ArtefactEntry(path=str(path), kind="kineto", size_bytes=path.stat().st_size, sha256=""))
    made = Capture.load(ROOT / "tests" / "data" / "documents" / "capture_3_4cc6066.json")
    path = folder / "prof_x.json"
    changed = replace(made, artefacts=artefacts, runners=[*runners], unprofiled_ns=[None] * len(runners))
    replace(changed, warnings=[]).save(path)
    return path
