"""The document `fastrnns-rs/history`: the runs that were kept."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, Literal

from fastrnns_rs.documents.codec import Notice
from fastrnns_rs.documents.document import Document


# Not frozen: that would double the time to list thousands.
@dataclass(slots=True, kw_only=True)
class KeptRun:
    """A run of the history.

    Attributes:
        run_id: Id of the run.
        created_utc: Start of the run.
        last_started_utc: Start of its last session; later than `created_utc` if the run was resumed.
        path: Path of the run file.
        size_bytes: Size of this file.
        tags: Tags, in alphabetical order.
        commit: Commit of the working directory; None if that was no checkout.
        dirty: True if files there differed from the commit; None if that is unknown.
        status: `complete`, `interrupted` or `failed`. A run that is still going is `interrupted`.
        verb: `bench` or `ab`.
        runners: Names of its runners.
        devices: Devices that they ran on.
        torch_version: Version of torch.
        machine_id: Hash of the machine's id; None if it has none.
    """

    run_id: str
    created_utc: str
    last_started_utc: str
    path: str
    size_bytes: int
    tags: list[str]
    commit: str | None
    dirty: bool | None
    status: Literal["complete", "interrupted", "failed"]
    verb: Literal["bench", "ab"]
    runners: list[str]
    devices: list[str]
    torch_version: str
    machine_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class History(Document):
    """Runs that were kept, the oldest first."""

    noun: ClassVar[str] = "history"
    hint: ClassVar[str] = "history --json writes one"
    schema: Literal["fastrnns-rs/history"] = "fastrnns-rs/history"
    folder: str
    warnings: list[Notice] = field(default_factory=list)
    runs: list[KeptRun] = field(default_factory=list)

    def to_json(self) -> str:
        """The text of the JSON document: a line for each run."""
        import json

        whole = json.dumps(replace(self, runs=[]).to_dict(), indent=2, allow_nan=False)
        # There may be thousands, and they are flat.
        lines = ",\n".join(f"    {json.dumps(_plain(one))}" for one in self.runs)
        return whole.replace('"runs": []', f'"runs": [\n{lines}\n  ]' if lines else '"runs": []') + "\n"

    def with_runs(self, runs: list[KeptRun]) -> History:
        """Returns the same document with other runs."""
        return replace(self, runs=runs)


def _plain(one: KeptRun) -> dict[str, object]:
    found = {key: getattr(one, key) for key in _KEYS}
    # Python keeps bytes of foreign names as lone surrogates, which no JSON may hold.
    return {**found, "path": one.path.encode("utf-8", "backslashreplace").decode()}


_KEYS = [one.name for one in fields(KeptRun)]
