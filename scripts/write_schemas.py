"""Writes the JSON Schema of each document to docs/schemas. A test holds the files against the code."""

import json
from pathlib import Path

from fastrnns_rs.documents.capture_manifest import Capture
from fastrnns_rs.documents.codec import json_schema
from fastrnns_rs.documents.comparison import Comparison
from fastrnns_rs.documents.diagnosis import Diagnosis
from fastrnns_rs.documents.inductor_report import InductorReport
from fastrnns_rs.documents.listing import Catalogue
from fastrnns_rs.documents.run_file import Run
from fastrnns_rs.documents.summary import SummaryDocument
from fastrnns_rs.documents.verification import Verification
from fastrnns_rs.machine.noise.storage import NoiseFloorDocument

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "schemas"
DOCUMENTS = {
    "run": (Run, "fastrnns-rs/run 1.0"),
    "list": (Catalogue, "fastrnns-rs/list 1.0"),
    "capture": (Capture, "fastrnns-rs/capture 1.0"),
    "summary": (SummaryDocument, "fastrnns-rs/summary 1.0"),
    "comparison": (Comparison, "fastrnns-rs/comparison 1.0"),
    "doctor": (Diagnosis, "fastrnns-rs/doctor 1.0"),
    "verification": (Verification, "fastrnns-rs/verification 1.0"),
    "inductor": (InductorReport, "fastrnns-rs/inductor 1.0"),
    "noise-floor": (NoiseFloorDocument, "fastrnns-rs/noise-floor 1.0"),
}


def texts() -> dict[str, str]:
    """The file name and text of each schema."""
    return {
        f"{name}.schema.json": json.dumps(json_schema(document, title), indent=2) + "\n"
        for name, (document, title) in DOCUMENTS.items()
    }


if __name__ == "__main__":
    for name, text in texts().items():
        (FOLDER / name).write_text(text)
