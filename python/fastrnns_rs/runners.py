"""What a runner is: how it is built, for which problems, and what it refuses. Nothing here needs torch."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fastrnns_rs.problem import Preset, Problem, Sizes

if TYPE_CHECKING:
    from fastrnns_rs.models.definition import ModelDef

Creator = Callable[[Problem], "ModelDef"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a worker process finds a runner again: a module to import, or a file to execute."""

    module: str
    file: str

    def __str__(self) -> str:
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
    note: Callable[[Problem], str | None]
    source: Source
    qualified: str

    def problem(self, sizes: Sizes, preset: Preset, *, dtype: str, device: str, seed: int, allow_tf32: bool) -> Problem:
        """The problem that it is built for, when these sizes are asked of it."""
        batch = preset.cnn_mini_batch if self.images else preset.mini_batch
        common = Problem(
            mini_batch=sizes.mini_batch or batch, dtype=dtype, device=device, seed=seed, allow_tf32=allow_tf32
        )
        if self.images:
            return replace(common, image_size=sizes.image_size or preset.image_size, channels_last=False)
        return replace(
            common,
            seq_length=sizes.seq_length or preset.seq_length,
            num_layers=sizes.num_layers or max(preset.num_layers, self.layers[0]),
            input_size=sizes.input_size or preset.input_size,
            hidden_size=sizes.hidden_size or preset.hidden_size,
            bidirectional=False,
        )

    def note_on(self, problem: Problem) -> str | None:
        """What a reader must know to compare its row; a note that fails says so and harms nothing."""
        try:
            note = self.note(problem)
        except Exception as error:  # noqa: BLE001  # a runner of somebody else
            return f"its note failed: {type(error).__name__}: {error}"
        return None if note is None else str(note)

    def refusal(self, problem: Problem) -> str | None:
        """Why it cannot honour `problem`, or None if it can."""
        if problem.device.partition(":")[0] not in self.devices:
            return f"it runs on {' and '.join(self.devices)} only"
        for module in self.requires:
            if importlib.util.find_spec(module) is None:
                return f"it needs the package {module}, which is not installed"
        least, most = self.layers
        given = problem.num_layers
        if given is not None and given < least:
            return f"it needs --numLayers {least} or more; {given} was given"
        if given is not None and most is not None and given > most:
            return (
                f"its mathematics permits {most} layer{'s' if most > 1 else ''} at most; --numLayers {given} was given"
            )
        # Five halvings: up to here the last feature map is one pixel, and one image leaves one value a channel.
        last_single_pixel = 32
        if self.images and problem.mini_batch == 1 and (problem.image_size or 0) <= last_single_pixel:
            return "batch normalisation needs more than one value a channel: --miniBatch 2, or --image-size above 32"
        return None
