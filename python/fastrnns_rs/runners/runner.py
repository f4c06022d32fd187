"""What a runner is: how it is built, for which problems, and what it refuses. Nothing here needs torch."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fastrnns_rs.errors import UsageError
from fastrnns_rs.problem.modes import Modes
from fastrnns_rs.problem.problem import Preset, Problem, Sizes

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef

Creator = Callable[[Problem], "ModelDef"]

_DEFAULT_MODES = Modes()
#: What a runner may say of itself, so that a slip of the pen is none of the silent kind.
KNOWN = {
    "honours": ("bidirectional", "proj_size", "channels_last"),
    "lacks": ("inference", "amp", "deterministic"),
    "devices": ("cpu", "cuda"),
}


@dataclass(frozen=True, slots=True)
class Source:
    """Where a worker process finds a runner again: a plug-in or a module to import, or a file to execute.

    Attributes:
        module: The module of the function.
        file: Its file.
        package: Name and version of the package whose plug-in it is; None for what is of none.
        plugin: What the entry point of that package names.
    """

    module: str
    file: str
    package: str | None = None
    plugin: str | None = None

    def __str__(self) -> str:
        if self.package is not None:
            return f"{self.package} ({self.module})"
        return self.file if self.module == "__main__" else self.module


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """A named way to compute a model.

    Attributes:
        name: What `--rnns` and `--cnns` take.
        creator: Builds the model for a problem.
        family: The group that results carry: `lstm`, `vl_lstm`, `resnet`, …
        group: The value of `--group` that picks it; None for one that is picked by name only.
        description: One line.
        images: Whether it takes images rather than sequences.
        layers: Fewest and most layers that its mathematics permits; None for no upper bound.
        devices: Kinds of device that it runs on.
        requires: Modules beside torch that it imports.
        torchscript: Whether it compiles with TorchScript.
        compiles: Whether it compiles with torch.compile.
        honours: Which of the modes it has that few have: `bidirectional`, `proj_size`, `channels_last`.
        lacks: Which of the modes it has not that most have: `inference`, `amp`, `deterministic`.
        reference: What `verify` holds it against.
        note: What a reader must know to compare its row, for a problem.
        source: Where it was defined.
        qualified: The creator's name there.
    """

    name: str
    creator: Creator
    family: str
    group: str | None
    description: str
    images: bool
    layers: tuple[int, int | None]
    devices: tuple[str, ...]
    requires: tuple[str, ...]
    torchscript: bool
    compiles: bool
    honours: tuple[str, ...]
    lacks: tuple[str, ...]
    reference: str | None
    note: Callable[[Problem], str | None]
    source: Source
    qualified: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[^\s,-][^\s,]*", self.name):
            raise UsageError(f"no runner can be called {self.name!r}", "give a name without blanks and commas")
        for key, known in KNOWN.items():
            given = getattr(self, key)
            if isinstance(given, str) or not set(given) <= set(known):
                raise UsageError(f"{key} of the runner {self.name} is {given!r}", f"give a tuple of {', '.join(known)}")

    def problem(
        self,
        sizes: Sizes,
        preset: Preset,
        modes: Modes = _DEFAULT_MODES,
        *,
        dtype: str,
        device: str,
        seed: int,
        allow_tf32: bool,
    ) -> Problem:
        """The problem that it is built for, when these sizes are asked of it."""
        batch = preset.cnn_mini_batch if self.images else preset.mini_batch
        common = Problem(
            mini_batch=sizes.mini_batch or batch,
            bidirectional=modes.bidirectional or (None if self.images else False),
            proj_size=modes.proj_size,
            dtype=dtype,
            amp=modes.amp,
            device=device,
            seed=seed,
            allow_tf32=allow_tf32,
            channels_last=modes.channels_last or (False if self.images else None),
            cudnn_benchmark=modes.cudnn_benchmark,
            deterministic=modes.deterministic,
            mode=modes.mode,
        )
        if self.images:
            return replace(common, image_size=sizes.image_size or preset.image_size)
        return replace(
            common,
            seq_length=sizes.seq_length or preset.seq_length,
            num_layers=sizes.num_layers or max(preset.num_layers, self.layers[0]),
            input_size=sizes.input_size or preset.input_size,
            hidden_size=sizes.hidden_size or preset.hidden_size,
        )

    def note_on(self, problem: Problem) -> str | None:
        """What a reader must know to compare its row; a note that fails says so and harms nothing."""
        try:
            note = self.note(problem)
        except Exception as error:  # noqa: BLE001  # a runner of somebody else
            return f"its note failed: {type(error).__name__}: {error}"
        return None if note is None else str(note)

    def missing(self) -> list[str]:
        """What it needs and is not installed, found without importing it."""
        return [module for module in self.requires if not _is_installed(module)]

    def refusal(self, problem: Problem) -> str | None:
        """Why it cannot honour `problem`, or None if it can."""
        if problem.device.partition(":")[0] not in self.devices:
            return f"it runs on {' and '.join(self.devices)} only"
        if missing := self.missing():
            return f"it needs the package {missing[0]}, which is not installed"
        least, most = self.layers
        given = problem.num_layers
        if given is not None and given < least:
            return f"it needs --numLayers {least} or more; {given} was given"
        if given is not None and most is not None and given > most:
            return (
                f"its mathematics permits {most} layer{'s' if most > 1 else ''} at most; --numLayers {given} was given"
            )
        return self._refused_mode(problem) or self._refused_images(problem)

    def _refused_images(self, problem: Problem) -> str | None:
        # Five halvings: up to here the last feature map is one pixel, and one image leaves one value a channel.
        last_single_pixel = 32
        one_value = self.images and problem.mini_batch == 1 and (problem.image_size or 0) <= last_single_pixel
        if one_value and problem.training:
            return "batch normalisation needs more than one value a channel: --miniBatch 2, or --image-size above 32"
        return None

    def _refused_mode(self, problem: Problem) -> str | None:
        asked = {"bidirectional": problem.bidirectional, "proj_size": problem.proj_size}
        asked["channels_last"] = problem.channels_last
        for name, value in asked.items():
            if value and name not in self.honours:
                fitting = "images" if name == "channels_last" else "sequences"
                other = self.images == (fitting == "sequences")
                why = f"is for runners of {fitting}" if other else "is not among its variants"
                return f"--{name.replace('_', '-')} {why}"
        if problem.proj_size is not None and problem.proj_size >= (problem.hidden_size or 0):
            return f"--proj-size {problem.proj_size} is not below --hiddenSize {problem.hidden_size}"
        if problem.cudnn_benchmark and not self.images:
            return "--cudnn-benchmark concerns convolutions, and it has none"
        lacking = {"inference": not problem.training, "amp": problem.amp, "deterministic": problem.deterministic}
        flags = {"inference": "--mode inference"}
        missing = next((name for name, value in lacking.items() if value and name in self.lacks), None)
        return None if missing is None else f"{flags.get(missing, '--' + missing)} is not among its variants"


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        # The package around it is not there.
        return False
