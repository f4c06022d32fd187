"""Verifications, diagnoses and capture manifests that contradict themselves, and objects with a key twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import ROOT
from summary_documents import example

from fastrnns_rs import compare
from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.diagnosis import Diagnosis
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.verification import Verification
from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.tolerance import Tolerance
from fastrnns_rs.worker.verification import checks


@pytest.mark.parametrize(
    "text", ['{"schema": "fastrnns-rs/run", "status": "failed", "status": "complete"}', '{"": 1, "": 2}']
)
def test_a_key_that_is_there_twice_is_refused(text: str, tmp_path: Path) -> None:
    """Some readers would take the first value, and others the last."""
    path = tmp_path / "run.json"
    path.write_text(text)
    for read in (Run.load, lambda path: compare(path, path)):
        with pytest.raises(UsageError, match="duplicate key: '(status|)'"):
            read(path)


def gradient(found: dict[str, Any], **errors: float | None) -> None:
    """Makes the first check one of a gradient, with these errors and tolerances of 1 %."""
    [check] = found["results"][0]["checks"]
    check |= {"name": "gradient:weight", "tolerance_absolute": 0.01, "tolerance_relative": 0.01, **errors}


def add_check(found: dict[str, Any], **changes: Any) -> None:
    """Adds a copy of the first check, with these changes."""
    found["results"][0]["checks"].append(found["results"][0]["checks"][0] | changes)


VERIFIED: dict[str, tuple[Callable[[Any], object], str]] = {
    "no check": (
        lambda found: found["results"][0].update(checks=[]),
        r"^results\[0\] is ok, and no check is of its results$",
    ),
    "checks of what a runner is given": (
        lambda found: found["results"][0]["checks"][0].update(name="parameter:weight"),
        r"^results\[0\] is ok, and no check is of its results$",
    ),
    "a failed check": (
        lambda found: found["results"][0]["checks"][0].update(ok=False),
        r"^results\[0\] is ok, and results\[0\]\.checks\[0\] is not$",
    ),
    "another shape": (
        lambda found: found["results"][0]["checks"][0].update(shape=[1]),
        r"^results\[0\]\.checks\[0\] is ok, and shape differs from expected_shape$",
    ),
    "errors beyond what is allowed": (
        lambda found: found["results"][0]["checks"][0].update(max_absolute=1e9, tolerance_relative=0.0),
        r"^results\[0\]\.checks\[0\] is ok, and max_absolute is 1e\+09, above tolerance_absolute, ",
    ),
    "relative errors beyond what is allowed": (
        lambda found: found["results"][0]["checks"][0].update(max_relative=1e9, tolerance_absolute=0.0),
        r"^results\[0\]\.checks\[0\] is ok, and max_relative is 1e\+09, above tolerance_relative, ",
    ),
    "a gradient with errors beyond both tolerances": (
        lambda found: gradient(found, max_absolute=5.0, max_relative=0.5),
        r"^results\[0\]\.checks\[0\] is ok, and max_absolute is 5, above 0\.11$",
    ),
    "a gradient of zeros with errors": (
        lambda found: gradient(found, max_absolute=0.02, max_relative=None),
        r"^results\[0\]\.checks\[0\] is ok, and max_absolute is 0\.02, above 0\.01$",
    ),
    # An honest gradient of zeros has null, and an error of any other has a quotient above 0.
    "a gradient with an error, and no relative error": (
        lambda found: gradient(found, max_absolute=5.0, max_relative=0.0),
        r"^results\[0\]\.checks\[0\] is ok, and max_absolute is 5, and max_relative 0$",
    ),
    # Only elements that are 0 have no relative error, and are allowed the absolute one.
    "an output with an error, and no relative error": (
        lambda found: found["results"][0]["checks"][0].update(name="output", max_absolute=5.0, max_relative=0.0),
        r"^results\[0\]\.checks\[0\] is ok, and max_absolute is 5, and max_relative 0$",
    ),
    # `verify` writes both states without checks.
    "a runner that was skipped, and has checks": (
        lambda found: found["results"].append(found["results"][0] | {"runner": "y", "status": "skipped"}),
        r"^results\[1\] is skipped, and has checks$",
    ),
    "an interrupted runner that has checks": (
        lambda found: found["results"][0].update(status="interrupted"),
        r"^results\[0\] is interrupted, and has checks$",
    ),
    # `verify` compares what it gives to a runner exactly.
    "a parameter with a relative tolerance": (
        lambda found: add_check(found, name="parameter:weight", tolerance_absolute=0.0),
        r"^results\[0\]\.checks\[1\]\.tolerance_relative is 0\.5, not 0$",
    ),
    "an input with an absolute tolerance": (
        lambda found: add_check(found, name="input[0]", tolerance_relative=0.0),
        r"^results\[0\]\.checks\[1\]\.tolerance_absolute is 0\.5, not 0$",
    ),
    # A runner has one tolerance, and only its absolute part is increased for deep networks.
    "a relative tolerance of one check alone": (
        lambda found: add_check(found, name="state", tolerance_relative=100.0),
        r"^results\[0\]\.checks\[1\]\.tolerance_relative is 100, not 0\.5$",
    ),
    # `verify` has a reason for each runner that failed.
    "a failed runner without a cause": (
        lambda found: (found.update(ok=False), found["results"][0].update(status="failed", reason=None)),
        r"^results\[0\] is failed, and has no reason$",
    ),
    # The index is of an element of both tensors.
    "an element beyond the tensor": (
        lambda found: found["results"][0]["checks"][0].update(worst_index=[0, 4, 0]),
        r"^results\[0\]\.checks\[0\]\.worst_index is \[0, 4, 0\], and shape is \[4, 4, 4\]$",
    ),
    "an element before the tensor": (
        lambda found: found["results"][0]["checks"][0].update(worst_index=[0, -1, 0]),
        r"^results\[0\]\.checks\[0\]\.worst_index is ",
    ),
    "an element of another number of dimensions": (
        lambda found: found["results"][0]["checks"][0].update(worst_index=[0, 0]),
        r"^results\[0\]\.checks\[0\]\.worst_index is \[0, 0\], and shape is \[4, 4, 4\]$",
    ),
    "an element of no tensor": (
        lambda found: found["results"][0]["checks"][0].update(shape=None, expected_shape=None),
        r"^results\[0\]\.checks\[0\]\.worst_index is \[0, 0, 0\], and shape is None$",
    ),
    "no finite error": (
        lambda found: found["results"][0]["checks"][0].update(max_absolute=None),
        r"^results\[0\]\.checks\[0\] is ok, and max_absolute is null$",
    ),
    "an error below 0 is allowed": (
        lambda found: found["results"][0]["checks"][0].update(tolerance_absolute=-1.0),
        r"^results\[0\]\.checks\[0\]\.tolerance_absolute is -1, below 0$",
    ),
    "a failed runner": (
        lambda found: found["results"][0].update(status="failed"),
        "^ok is true, and the results are: failed$",
    ),
    "no runner": (lambda found: found.update(results=[]), "^ok is true, and the results are: none$"),
    "all well": (lambda found: found.update(ok=False), "^ok is false, and the results are: ok$"),
}


@pytest.mark.parametrize("name", VERIFIED)
def test_a_verification_that_contradicts_itself_is_refused(name: str) -> None:
    change, message = VERIFIED[name]
    plain = example(Verification, lambda: "x") | {"schema_version": "1.99"}
    Verification.from_dict(plain)
    change(plain)
    with pytest.raises(UsageError, match=message):
        Verification.from_dict(plain)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("gradient:weight", [100.0, 1.0, 2.01, 1.01]),
        ("gradient:weight", [0.0, 0.0, 0.01, 0.01]),
        ("gradient:weight", [1e-300, 0.0, 0.01, 0.01]),
        # Other tensors have relative errors of each element.
        ("output", [100.0, 0.001, 2.0, 1.5]),
        # An element of 0 has no relative error, and the quotient of a tiny one is no number: null, with an error of 2.
        ("output", [0.0, 100.0, 1.0, 0.0]),
        ("output", [1e-310, 100.0, 1.0, 2.0]),
        ("output", [0.0, 0.0, 1.0, 0.5]),
        # This quotient is too small for a number.
        ("gradient:weight", [1e308, 0.0, 0.0, 1e-16]),
    ],
)
def test_errors_within_both_tolerances_are_ok(name: str, values: list[float]) -> None:
    """Tensors of these expected elements and errors, as `verify` checks them."""
    first, second, error, other = values
    expected = torch.tensor([first, second], dtype=torch.float64)
    found = expected + torch.tensor([error, other], dtype=torch.float64)
    one = checks.compare(name, found, expected, Tolerance(relative=0.02, absolute=1.5), scaled=name != "output").check
    assert one.ok
    plain = example(Verification, lambda: "x") | {"schema_version": "1.99"}
    plain["results"][0]["checks"] = [asdict(one)]
    assert Verification.from_dict(plain).results[0].checks == [one]


def test_a_rounded_relative_error_at_the_limit_is_ok() -> None:
    """The quotient of this error is 0.10000000000000002."""
    numbers = [torch.tensor([one], dtype=torch.float64) for one in (0.831145452777418, 0.7555867752521982)]
    one = checks.compare("output", *numbers, Tolerance(relative=0.1, absolute=0.0)).check
    assert one.ok
    plain = example(Verification, lambda: "x") | {"schema_version": "1.99"}
    plain["results"][0]["checks"] = [asdict(one)]
    assert Verification.from_dict(plain).results[0].checks == [one]


def checked(name: str, expected: str, found: str, *, ok: bool) -> dict[str, Any]:
    return {"checks": [{"id": name, "expected": expected, "found": found, "ok": ok}]}


@pytest.mark.parametrize(
    "changes",
    [
        checked("cycles", "8", "8", ok=True),
        checked("runners", "2 runners", "0 ended well", ok=False),
        checked("ranges", "8 ranges", "8 ranges", ok=True),
        checked("ranges", "8 ranges", "8 ranges, 1 missing: a\nb, 1 too many: c", ok=False),
        # Of redacted texts nothing is known.
        checked("ranges", "8 ranges", "<redacted> ranges", ok=True),
        checked("cycles", "<redacted>", "8", ok=True),
        # A profiler may lose events that were not requested.
        checked("event_loss", "none", "3 events were lost", ok=True),
        checked("event_loss", "none", "3 events were lost (1 kernel)", ok=False),
        checked("kernels", "at least one", "0 kernels, 3 graphs", ok=True),
        checked("kernels", "at least one", "0 kernels", ok=False),
        checked("opens", "a SQLite file", "0 tables", ok=True),
        checked("written:a.json", "a file with content", "an empty file", ok=False),
    ],
)
def test_checks_of_captures_are_read(changes: dict[str, Any]) -> None:
    plain = json.loads((ROOT / "tests" / "data" / "documents" / "capture_5_ae2a7a9.json").read_text(encoding="utf-8"))
    plain["runners"] = ["cudnn", "py"]
    plain["unprofiled_ns"] = []
    assert Capture.from_dict(plain | changes).checks[0].ok is changes["checks"][0]["ok"]


def test_the_check_of_the_runners_is_of_all_of_them() -> None:
    """One number made a capture without its second runner a good one."""
    plain = json.loads((ROOT / "tests" / "data" / "documents" / "capture_5_ae2a7a9.json").read_text(encoding="utf-8"))
    plain |= {"runners": ["cudnn", "py"], "unprofiled_ns": []}
    plain |= checked("runners", "1 runners", "1 ended well", ok=True)
    with pytest.raises(UsageError, match=r"^checks\[0\]\.expected is '1 runners', and runners 2$"):
        Capture.from_dict(plain)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"iterations": 0}, "^iterations is 0, not above 0$"),
        ({"unprofiled_ns": [2400, 7]}, "^unprofiled_ns has 2 numbers, and runners 1$"),
        (
            {"profiled_over_unprofiled_ci": [3.0, 2.0]},
            "^profiled_over_unprofiled_ci is .*, not the ends of an interval$",
        ),
        ({"profiled_over_unprofiled_ci": []}, "^profiled_over_unprofiled_ci is .*, not the ends of an interval$"),
        (checked("cycles", "8", "5", ok=True), r"^checks\[0\]\.ok is true, and expected is '8' and found '5'$"),
        (checked("cycles", "8", "8", ok=False), r"^checks\[0\]\.ok is false, and expected is '8' and found '8'$"),
        (checked("runners", "2 runners", "1 ended well", ok=True), r"^checks\[0\]\.ok is true, and expected is "),
        (checked("ranges", "8 ranges", "5 ranges, 3 missing: a, b, c", ok=True), r"^checks\[0\]\.ok is true, and "),
        (checked("ranges:x.json", "2 ranges", "3 ranges, 1 too many: a", ok=True), r"^checks\[0\]\.ok is true, and "),
        *(
            (checked(name, "x", found, ok=ok), rf"^checks\[0\]\.ok is {str(ok).lower()}, and .*{found[:5]}")
            for name, found, ok in (
                ("kernels", "0 kernels, 0 graphs", True),
                ("kernels", "0 kernels", True),
                ("kernels", "0 kernels, 1 graphs", False),
                ("written:a.json", "no file", True),
                ("written:a.json", "7 bytes", False),
                ("opens:a.json", "it cannot be read: ValueError: a\nb", True),
                ("opens", "7 tables", False),
                ("event_loss", "none", False),
            )
        ),
    ],
)
def test_a_capture_manifest_that_contradicts_itself_is_refused(changes: dict[str, Any], message: str) -> None:
    plain = json.loads((ROOT / "tests" / "data" / "documents" / "capture_5_ae2a7a9.json").read_text(encoding="utf-8"))
    Capture.from_dict(plain)
    with pytest.raises(UsageError, match=message):
        Capture.from_dict(plain | changes)


@pytest.mark.parametrize(
    ("ok", "status", "message"),
    [
        (True, "fail", r"^ok is true, and failed checks are: extension\.build_profile$"),
        (False, "warn", "^ok is false, and failed checks are: none$"),
    ],
)
def test_a_diagnosis_that_contradicts_its_checks_is_refused(ok: bool, status: str, message: str) -> None:
    plain = example(Diagnosis, lambda: "x") | {"schema_version": "1.99", "noise_floor": None}
    Diagnosis.from_dict(plain)
    plain["checks"][0]["status"] = status
    with pytest.raises(UsageError, match=message):
        Diagnosis.from_dict(plain | {"ok": ok})
