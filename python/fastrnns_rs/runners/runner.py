"""Definition of a runner: creator, supported problems and reasons to skip others.

Nothing here needs torch.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.counting import counted
from fastrnns_rs.errors import UsageError, own_text, type_name
from fastrnns_rs.problem.modes import Modes
from fastrnns_rs.problem.problem import Preset, Problem, Sizes
from fastrnns_rs.processes.process_state import process_restored, standard_output_elsewhere

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from fastrnns_rs.models.definition import ModelDef

Creator = Callable[[Problem], "ModelDef"]

_DEFAULT_MODES = Modes()
#: Reference that is the runner without the last part of its name: `resnet18` for `resnet18_jit`.
EAGER = "eager"
#: Valid values in a runner's definition, so that a typing error is reported.
KNOWN = {
    "honours": ("bidirectional", "proj_size", "channels_last"),
    "lacks": ("inference", "amp", "deterministic"),
    "devices": ("cpu", "cuda"),
}
#: Values of `--group`, in the order in which groups run.
GROUPS = ("vl_rnns", "rnns", "cnns")


def _is_range(given: object) -> bool:
    if not isinstance(given, (tuple, list)) or len(given) != 2:  # noqa: PLR2004
        return False
    least, most = given
    return type(least) is int and least > 0 and (most is None or (type(most) is int and most >= least))


def _are_texts(given: object, known: Collection[str] | None = None) -> bool:
    # The letters of a text are texts, too.
    if isinstance(given, str) or not isinstance(given, Collection):
        return False
    return all(isinstance(one, str) and (known is None or one in known) for one in given)


#: Check and hint of each value in a runner's definition that is not a switch. The plan or a document would fail later.
_DECLARATIONS: dict[str, tuple[Callable[[object], bool], str]] = {
    "family": (lambda given: isinstance(given, str), "Use a text."),
    "description": (lambda given: isinstance(given, str), "Use a text."),
    "group": (lambda given: given is None or given in GROUPS, f"Use {', '.join(GROUPS)}, or leave it out."),
    "layers": (_is_range, "Use a tuple such as (1, 4), or (1, None) for no limit."),
    "requires": (_are_texts, 'Use a tuple of names of modules, such as ("numpy",).'),
    "reference": (lambda given: given is None or isinstance(given, str), "Use the name of a reference or a runner."),
    "note": (callable, "Use a function, or leave it out."),
    **{key: (partial(_are_texts, known=known), f"Use a tuple of {', '.join(known)}.") for key, known in KNOWN.items()},
}


@dataclass(frozen=True, slots=True)
class Source:
    """Source of a runner for a worker process: a plug-in, a module, or a file to run.

    Attributes:
        module: Module of the function.
        file: Path of the function's file.
        package: Name and version of the package whose plug-in defines the runner; None without a plug-in.
        plugin: Value of that package's entry point.
        runner_file: File of `--runner-file` that defines the runner, or imports the module that does; None without one.
    """

    module: str
    file: str
    package: str | None = None
    plugin: str | None = None
    runner_file: str | None = None

    @property
    def is_built_in(self) -> bool:
        """True if this package defines the runner."""
        return self.package is None and self.module.startswith("fastrnns_rs.")

    def __str__(self) -> str:
        if self.package is not None:
            return f"{self.package} ({self.module})"
        return self.file if self.module == "__main__" else self.module


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Named way to compute a model.

    Attributes:
        name: Name for `--rnns` and `--cnns`.
        creator: Function that builds the model for a problem.
        family: Group name in results: `lstm`, `vl_lstm`, `resnet`, …
        group: Value of `--group` that selects the runner; None for selection by name only.
        description: Description in one line.
        images: True if the runner takes images instead of sequences.
        layers: Smallest and largest supported number of layers; None as the largest for no limit.
        devices: Kinds of device that the runner supports.
        requires: Modules that the runner imports, besides torch.
        torchscript: True if the runner compiles with TorchScript.
        compiles: True if the runner compiles with torch.compile.
        honours: Rarely supported modes that the runner supports: `bidirectional`, `proj_size`, `channels_last`.
        lacks: Commonly supported modes that the runner does not support: `inference`, `amp`, `deterministic`.
        reference: Reference that `verify` compares the runner with.
        note: Function that returns a note on a problem, which a reader needs to compare the runner's row.
        source: Source of the definition.
        qualified: Qualified name of the creator in its source.
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
        if not isinstance(self.name, str) or not re.fullmatch(r"[^\s,\ud800-\udfff-][^\s,\ud800-\udfff]*", self.name):
            hint = "Use a name without spaces, commas and lone surrogates that does not start with a dash."
            raise UsageError(f"invalid name of a runner: {self.name!r}", hint, where="name")
        for key, (is_valid, hint) in _DECLARATIONS.items():
            given = getattr(self, key)
            if not is_valid(given):
                raise UsageError(f"invalid value of runner {self.name!r}: {given!r}", hint, where=key)

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
        """Returns the problem that the runner is built for, given sizes and modes."""
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

    @property
    def reference_name(self) -> str | None:
        """Name of the reference; for `eager`, the first parts of the name."""
        return self.name.rpartition("_")[0] if self.reference == EAGER else self.reference

    def note_on(self, problem: Problem) -> str | None:
        """Returns the note that a reader needs to compare the runner's row.

        A note that fails is replaced by a text about the failure.

        Raises:
            KeyboardInterrupt: If the user presses Ctrl-C.
        """
        try:
            with process_restored("the note"), standard_output_elsewhere():
                note = self.note(problem)
                return None if note is None else f"{note}"
        except KeyboardInterrupt:
            raise
        # The note may come from another package, and may call sys.exit.
        except BaseException as error:  # noqa: BLE001
            return f"its note failed: {type_name(error)}: {own_text(error)}"

    def missing(self) -> list[str]:
        """Returns the required modules that are not installed, without importing them."""
        return [module for module in self.requires if not _is_installed(module)]

    def refusal(self, problem: Problem) -> str | None:
        """Returns the reason why the runner does not support `problem`, or None."""
        if problem.device.partition(":")[0] not in self.devices:
            return f"runs on {' and '.join(self.devices)} only"
        if missing := self.missing():
            return f"needs the package {missing[0]}, which is not installed"
        least, most = self.layers
        given = problem.num_layers
        if given is not None and given < least:
            return f"supports {least} layers or more, not {given}"
        if given is not None and most is not None and given > most:
            return f"supports {counted(most, 'layer')}, not {given}"
        return self._refused_mode(problem) or self._refused_images(problem)

    def _refused_images(self, problem: Problem) -> str | None:
        # After five halvings the last feature map of such an image is one pixel: one image has one value per channel.
        last_single_pixel = 32
        one_value = self.images and problem.mini_batch == 1 and (problem.image_size or 0) <= last_single_pixel
        if one_value and problem.training:
            return "needs 2 images or an image size above 32 (batch normalization)"
        return None

    def _refused_mode(self, problem: Problem) -> str | None:
        asked = {"bidirectional": problem.bidirectional, "proj_size": problem.proj_size}
        asked["channels_last"] = problem.channels_last
        for name, value in asked.items():
            if value and name not in self.honours:
                return f"does not support {name.replace('_', '-')}"
        if problem.proj_size is not None and problem.proj_size >= (problem.hidden_size or 0):
            return f"needs a proj-size below the hidden-size: {problem.proj_size} and {problem.hidden_size}"
        if problem.cudnn_benchmark and not self.images:
            return "does not support cudnn-benchmark: the runner has no convolutions"
        lacking = {"inference": not problem.training, "amp": problem.amp, "deterministic": problem.deterministic}
        missing = next((name for name, value in lacking.items() if value and name in self.lacks), None)
        return None if missing is None else f"does not support {missing}"


def _is_installed(module: str) -> bool:
    """Returns True if a module is found, without importing its packages.

    A package may fail when it is imported, and its submodules may import torch. A plain module may define submodules
    when it is imported: they count as installed. So does a module in another folder of the package's name on the module
    path, because the package may add this folder when it is imported.
    """
    if sys.modules.get(module) is not None:
        return True
    package, *inner = module.split(".")
    try:
        spec, place = importlib.util.find_spec(package), Path(package)
        for name in inner:
            if spec is None or spec.submodule_search_locations is None:
                break
            spec = _find_in(
                [*spec.submodule_search_locations, *(str(one / place) for one in map(Path, sys.path))], name
            )
            place /= name
    except (ImportError, ValueError):
        # The name is not that of a module.
        return False
    return spec is not None


def _find_in(folders: Iterable[str], name: str) -> ModuleSpec | None:
    import pkgutil

    finders = filter(None, map(pkgutil.get_importer, folders))
    return next(filter(None, (finder.find_spec(name) for finder in finders)), None)
