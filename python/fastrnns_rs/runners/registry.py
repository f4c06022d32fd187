"""Registry of runners by name and group. Nothing here needs torch."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fastrnns_rs.documents.keywords import checked_keywords
from fastrnns_rs.documents.missing_file import file_not_found
from fastrnns_rs.errors import FastrnnsError, UsageError, own_text, type_name, unknown
from fastrnns_rs.processes.module_path import additions_noted
from fastrnns_rs.processes.process_state import other_threads_waiting, standard_output_elsewhere
from fastrnns_rs.runners import plugins
from fastrnns_rs.runners.neighbor_caches import ignore_caches_of_others
from fastrnns_rs.runners.runner import GROUPS, Creator, Runner, Source
from fastrnns_rs.runners.source_loader import load_source

if TYPE_CHECKING:
    from fastrnns_rs.documents.codec import RunWarning
    from fastrnns_rs.problem.problem import Problem

#: Prefix of the names of modules that were made from a runner's file: they cannot be imported.
FILE_MODULE = "_fastrnns_runners_"
#: Names of code that is in no file: of a prompt, of standard input, of `-c` and `exec`, and of a cell of a notebook,
#: whose folder ipykernel does not make. Other users may put a file there.
_WITHOUT_FILE = re.compile(r"^<.*>$|/ipykernel_\d+/[^/]*$")
ALL = "all"

_OUR_MODELS = (
    "lstm",
    "custom",
    "layernorm",
    "dropout",
    "gru",
    "rnn",
    "milstm",
    "varlen",
    "cnn",
    "compiled",
    "cudagraph",
)
_runners: dict[str, Runner] = {}
_failures: list[plugins.Failure] = []
_plugins_wanted = True


class _Loading(threading.local):
    """Plug-in and file that a thread loads; they own the runners it registers.

    Attributes:
        plugin: Plug-in; None if the thread loads none.
        file: File of runners; None if the thread loads none.
    """

    plugin: plugins.Plugin | None = None
    file: str | None = None


_loading = _Loading()


@checked_keywords()
def runner(
    name: str,
    *,
    family: str = "custom",
    group: str | None = None,
    description: str = "",
    images: bool = False,
    layers: tuple[int, int | None] = (1, None),
    devices: tuple[str, ...] = ("cpu", "cuda"),
    requires: tuple[str, ...] = (),
    torchscript: bool = False,
    compiles: bool = False,
    honours: tuple[str, ...] = (),
    lacks: tuple[str, ...] = (),
    reference: str | None = None,
    note: Callable[[Problem], str | None] = lambda _problem: None,
) -> Callable[[Creator], Creator]:
    """Registers a function that builds a model as a runner.

    >>> import fastrnns_rs
    >>> @fastrnns_rs.runner("doubled", description="doubles its weights")
    ... def doubled(problem):
    ...     import torch
    ...     weight = torch.ones(problem.hidden_size, requires_grad=True)
    ...     return fastrnns_rs.ModelDef(
    ...         inputs=[weight],
    ...         params=[weight],
    ...         forward=lambda w: (w * 2).sum(),
    ...         backward=lambda output: output.backward(),
    ...     )

    Args:
        name: Name of the runner, as `bench` takes it.
        family: Group name in results.
        group: Group that selects the runner; None for selection by name only.
        description: One line; the first line of the function's docstring when empty.
        images: True if the runner takes images (`mini_batch`, `image_size`) instead of sequences.
        layers: Smallest and largest supported number of layers; None as the largest for no limit.
        devices: Kinds of device that the runner supports.
        requires: Modules that the runner imports, besides torch.
        torchscript: True if the runner compiles with TorchScript.
        compiles: True if the runner compiles with torch.compile, which has a time limit and a cache of its own.
        honours: Rarely supported modes that the runner supports: `bidirectional`, `proj_size`, `channels_last`.
        lacks: Commonly supported modes that the runner does not support: `inference`, `amp`, `deterministic`.
        reference: Reference that `verify` compares the runner with.
        note: Function that returns a note on a problem, which a reader needs to compare the runner's row.

    Returns:
        A decorator that returns the function unchanged. The function takes a `Problem` and returns a `ModelDef`; it
        imports torch inside its body, so that listing runners stays fast.

    Raises:
        UsageError: If another function has registered the name, or an argument is invalid.
    """
    if not isinstance(name, str):
        hint = 'Decorate with a name: @fastrnns_rs.runner("name").'
        raise UsageError(f"not a name: {name!r}", hint, where="name", value=name)

    def register(creator: Creator) -> Creator:
        source = _find_source(creator)
        if not source.is_built_in:
            all_runners()
        known = _runners.get(name)
        # A function that is registered again comes from a file that is read again.
        if known is not None and (known.source.file, known.qualified) != (source.file, creator.__qualname__):
            reason = f"a runner of this name exists in {known.source}"
            raise UsageError(f"duplicate runner: {name!r}", "Use another name.", where="name", reason=reason)
        _runners[name] = Runner(
            name=name,
            creator=creator,
            family=family,
            group=group,
            description=description or (creator.__doc__ or "").strip().split("\n")[0],
            images=images,
            layers=layers,
            devices=devices,
            requires=requires,
            torchscript=torchscript,
            compiles=compiles,
            honours=honours,
            lacks=lacks,
            reference=reference,
            note=note,
            source=source,
            qualified=creator.__qualname__,
        )
        return creator

    return register


def _find_source(creator: Creator) -> Source:
    code = getattr(inspect.unwrap(creator), "__code__", None)
    if code is None:
        raise UsageError(f"not a function: {creator!r}", "Decorate a function that is defined with def.")
    name, plugin = code.co_filename, _loading.plugin
    return Source(
        module=creator.__module__,
        # Another user may have put a file with the name `<stdin>` into the working directory.
        file=name if _WITHOUT_FILE.search(name) else str(Path(name).resolve()),
        package=None if plugin is None else plugin.package,
        plugin=None if plugin is None else plugin.value,
        runner_file=_loading.file,
    )


def all_runners() -> Mapping[str, Runner]:
    """Returns all runners by name: ours, then those of installed packages."""
    global _plugins_wanted  # noqa: PLW0603
    _load_ours()
    with other_threads_waiting():
        # A plug-in asks too, while it is loaded.
        if _plugins_wanted:
            _plugins_wanted = False
            _load_plugins()
    return _runners


def obtain(name: str, source: Source) -> Runner:
    """Returns a runner by name, in a process that was started for it.

    Other plug-ins are loaded only if it is not found.

    Raises:
        UsageError: If the source does not define such a runner.
    """
    global _plugins_wanted  # noqa: PLW0603
    _load_ours()
    if name not in _runners:
        wanted, _plugins_wanted = _plugins_wanted, False
        load(source)
        _plugins_wanted = wanted
    return find(name)


def plugin_warnings() -> list[RunWarning]:
    """Returns a warning for each plug-in that could not be loaded."""
    all_runners()
    return [one.warning() for one in _failures]


def _load_ours() -> None:
    for module in _OUR_MODELS:
        importlib.import_module(f"fastrnns_rs.models.{module}")


def _load_plugins() -> None:
    """Imports the plug-ins.

    A plug-in that fails leaves no runners, since a worker could not load it either.
    """
    found, damaged = plugins.installed()
    _failures.extend(damaged)
    try:
        for one in found:
            _loading.plugin = one
            before = {*_runners}
            failure = plugins.load(one)
            if failure is not None:
                _failures.append(failure)
                # Another thread may have registered some meanwhile.
                for name in [*_runners.keys() - before]:
                    if _runners[name].source.plugin == one.value:
                        del _runners[name]
    finally:
        _loading.plugin = None


def find(name: str) -> Runner:
    """Returns a runner by name.

    Raises:
        UsageError: If there is no such runner; the hint offers the nearest name.
    """
    _load_ours()
    runners = _runners if name in _runners else all_runners()
    if name not in runners:
        family = next((one.name for one in runners.values() if one.family == name), None)
        if family is not None:
            message, reason = f"unknown runner: {name!r}", f"{name!r} is a family of runners"
            raise UsageError(message, where="runners", value=name, correction=family, reason=reason)
        failed = ", ".join(str(one.plugin) for one in _failures)
        reason = f"plug-ins that failed may define more runners: {failed}" if failed else ""
        hint = "List all runners: fastrnns-rs list"
        raise unknown("unknown runner", name, runners, where="runners", hint=hint, reason=reason)
    return runners[name]


def is_known(name: str) -> bool:
    """Returns True if a runner of this package has the name. Loads no plug-ins."""
    _load_ours()
    return name in _runners


def find_name(creator: Creator) -> str:
    """Returns the name of the runner that a decorated function builds.

    Raises:
        UsageError: If the function is not decorated, or a new process could not find it.
    """
    for name, one in all_runners().items():
        if one.creator is creator:
            file = one.source.file
            if "<locals>" in one.qualified or _WITHOUT_FILE.search(file) or not Path(file).is_file():
                raise _not_in_file(name)
            return name
    shown = getattr(creator, "__name__", repr(creator))
    raise UsageError(f"not a runner: {shown}", "Decorate the function with @fastrnns_rs.runner(name).")


def _not_in_file(name: str) -> UsageError:
    hint = "Define the runner in a module or script, outside of functions: a fresh process imports it."
    return UsageError(f"runner not at the top level of a file: {name!r}", hint)


def members(group: str) -> list[str]:
    """Returns the names of a group's runners, in the order in which they run.

    Raises:
        UsageError: If there is no such group.
    """
    if group == ALL:
        grouped = [name for one in GROUPS for name in members(one)]
        return grouped + [name for name in all_runners() if name not in grouped]
    if group not in GROUPS:
        raise unknown("unknown group", group, [*GROUPS, ALL], where="groups")
    return [name for name, one in all_runners().items() if one.group == group]


def load(source: Source) -> None:
    """Runs the code that defines a runner, in a process that does not have it yet."""
    if source.plugin is not None:
        # The module of the function is not imported: it may belong to another package.
        plugins.import_value(source.plugin)
    elif source.runner_file is not None:
        # It may change how the module of the function is found.
        load_file(source.runner_file)
    elif is_importable(source):
        importlib.import_module(source.module)
    elif _WITHOUT_FILE.search(source.file):
        raise _not_in_file(source.file)
    else:
        load_file(source.file)


def load_module(name: str) -> None:
    """Imports a module that defines runners.

    Raises:
        UsageError: If the module cannot be imported.
    """
    all_runners()
    try:
        importlib.import_module(name)
    except Exception as error:
        reason = f"{type_name(error)}: {own_text(error)}"
        raise UsageError(
            f"cannot import module: {name!r}", "Put the folder of the module on PYTHONPATH.", reason=reason
        ) from error


def is_importable(source: Source) -> bool:
    """Returns True if importing the module of a source runs its file."""
    return not source.module.startswith(FILE_MODULE) and _origin(source.module) == source.file


def load_file(path: str) -> list[str]:
    """Registers the runners that a Python file defines, and returns their names.

    Raises:
        UsageError: If the file does not exist, defines no runner, or fails when it is executed.
    """
    all_runners()
    # `os.path.isfile` returns False, not an error, for a name that is too long.
    if not os.path.isfile(path):  # noqa: PTH113
        raise file_not_found(path, "Use the path of a Python file that defines runners.")
    file = Path(path).resolve()
    # Modules next to the file are importable, as when it is run as a script, unless other users may put one there who
    # may not replace the file. Its name is not `__main__`, so that the part that a script guards does not run.
    shared = is_shared(file.parent)
    name = f"{FILE_MODULE}{file.stem}"
    outer, _loading.file = _loading.file, _loading.file or str(file)
    try:
        with standard_output_elsewhere(), additions_noted(str(file)):
            if not shared:
                ignore_caches_of_others(file.parent)
                sys.path.insert(0, str(file.parent))
            load_source(name, file)
    except (FastrnnsError, KeyboardInterrupt):
        raise
    except BaseException as error:
        reason = f"{type_name(error)}: {own_text(error)}"
        hint = "Fix the file."
        if shared and isinstance(error, ModuleNotFoundError) and _is_neighbor(file, error.name or ""):
            hint = (
                f"Move it: modules beside it are not imported, because other users may write to {str(file.parent)!r}."
            )
        elif isinstance(error, ImportError) and error.path and _is_neighbor(file, error.name or ""):
            hint = "If it needs the module beside it, rename that module, or name each file in its own command."
        raise UsageError(f"cannot load file: {path!r}", hint, reason=reason, value=path) from error
    finally:
        _loading.file = outer
    names = [name for name, one in _runners.items() if one.source.file == str(file)]
    if not names:
        hint = "Decorate a function of the file with @fastrnns_rs.runner(name)."
        raise UsageError(f"no runner in file: {path!r}", hint, value=path)
    return names


def is_shared(folder: Path) -> bool:
    """Returns True if other users may add files to a folder, such as `/tmp`."""
    mode = folder.stat().st_mode
    return bool(mode & stat.S_IWOTH) or bool(mode & stat.S_IWGRP and mode & stat.S_ISVTX)


def _is_neighbor(file: Path, module: str) -> bool:
    place = file.parent / module.partition(".")[0]
    return place.is_dir() or place.with_suffix(".py").is_file()


def _origin(module: str) -> str | None:
    """Returns the file that importing `module` would run, or None if it is not found."""
    if module == "__main__":
        return None
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return None if spec is None or spec.origin is None else str(Path(spec.origin).resolve())
