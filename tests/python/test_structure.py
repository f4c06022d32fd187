"""The house: who may use whom, what is loaded when, and that names do not collide."""

from __future__ import annotations

import ast
import graphlib
import importlib
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from kineto_traces import kernel, write

import fastrnns_rs

PACKAGE = ROOT / "python" / "fastrnns_rs"

#: Which of our parts each part of the Rust core may use.
RUST = {
    "error": {"results"},
    "results": {"guard", "units"},
    "units": set(),
    "memory": set(),
    "panics": set(),
    # Its tests: they use the package from outside.
    "fuzz_seeds": set(),
    "stats": {"error", "memory", "par", "results", "simd", "units"},
    "timing": {"error", "memory", "units", "stats"},
    "orchestrate": {"error", "memory", "units"},
    "par": {"memory", "panics"},
    "simd": set(),
    "trace": {"error", "memory", "par", "simd", "stats"},
    "guard": {"memory", "panics"},
    "python": {
        "error",
        "guard",
        "memory",
        "par",
        "results",
        "simd",
        "stats",
        "timing",
        "orchestrate",
        "trace",
        "units",
    },
}

#: Which of our rooms each room of the Python package may use, whether when it is loaded or inside a function, besides
#: `counting`, `escaping` and `similarity`.
PYTHON = {
    "counting": set(),
    "errors": set(),
    "escaping": set(),
    "similarity": set(),
    "hidden_modules": set(),
    "stats": {"_core"},
    "documents": {"_core", "errors", "problem"},
    "problem": {"documents", "errors"},
    "runners": {"documents", "errors", "models", "problem", "processes"},
    "models": {"errors", "problem", "runners", "worker"},
    "processes": {"_core", "errors"},
    "machine": {"_core", "documents", "errors", "processes", "stats"},
    "worker": {"_core", "documents", "errors", "machine", "models", "problem", "processes", "runners", "stats"},
    "verbs": {"_core", "documents", "errors", "machine", "problem", "processes", "runners", "stats"},
    "views": {"_core", "documents", "errors", "processes", "stats"},
}

#: What is used against the lists above, and why.
EXCEPTIONS = {
    # Documents and the summary of captures, which people hold in their hands, can show themselves.
    ("documents", "views"),
    ("verbs", "views"),
    # A module that benchmarks itself is parent and child in one process.
    ("worker", "verbs"),
}

#: Modules that take longer to load than a small capture takes to read, and those of ours that load them.
HEAVY = {
    *("asyncio", "click", "concurrent", "contextlib", "dataclasses", "difflib", "enum", "hashlib"),
    *("inspect", "jinja2", "json", "matplotlib", "numpy", "pathlib", "platformdirs", "re", "shutil", "statistics"),
    *("importlib.metadata", "subprocess", "tempfile", "torch", "typing", "fastrnns_rs.documents.codec"),
    *("fastrnns_rs.documents.summary", "fastrnns_rs.problem.problem", "fastrnns_rs.runners.registry"),
    "fastrnns_rs.verbs.profile",
}
HEAVIEST = {"asyncio", "jinja2", "matplotlib", "numpy", "platformdirs", "subprocess", "torch"}


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path, *, top_level_only: bool = False) -> set[str]:
    """Modules that a file imports, those for type checkers left out."""
    tree = ast.parse(path.read_text())
    checking = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    nodes = tree.body if top_level_only else ast.walk(tree)
    found: set[str] = set()
    for node in nodes:
        if id(node) in checking:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name} imports relatively, which the lists below do not see"
            assert node.module
            found.add(node.module)
            if node.module == "fastrnns_rs":
                found |= {f"fastrnns_rs.{alias.name}" for alias in node.names}
    return found


def imported_names(path: Path) -> set[str]:
    """Everything that a file imports from this package when it is loaded, as `fastrnns_rs.room.module.name`."""
    tree = ast.parse(path.read_text())
    nodes = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = {f"{node.module}.{alias.name}" for node in nodes for alias in node.names}
    return {name for name in names if name.startswith("fastrnns_rs.")}


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_python_rooms_use_only_what_they_may() -> None:
    for path in files():
        part = part_of(path)
        if part not in PYTHON:
            assert part in {"__init__", "__main__", "api", "cli", "inductor"}, (
                f"{part} is in no list: say what it may use"
            )
            continue
        used = {name.split(".")[1] for name in imports(path) if name.startswith("fastrnns_rs.")} - {
            part,
            "counting",
            "escaping",
            "similarity",
        }
        foreign = {one for one in used - PYTHON[part] if (part, one) not in EXCEPTIONS}
        assert not foreign, f"{path.relative_to(PACKAGE)} uses {foreign}"


def test_only_the_worker_imports_torch_when_it_is_loaded() -> None:
    for path in files():
        if part_of(path) == "worker":
            continue
        heavy = {"torch", "torchvision", "numpy"}
        found = {name for name in imports(path, top_level_only=True) if name.split(".")[0] in heavy}
        assert not found, f"{path.relative_to(PACKAGE)} imports {found} at its top"
        # Models are built by workers, who have torch.
        if part_of(path) not in {"models", "api"}:
            found = {name for name in imports(path) if name.split(".")[0] in {"torch", "torchvision"}}
            assert not found, f"{path.relative_to(PACKAGE)} imports {found}"


def test_few_modules_stand_beside_the_rooms() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 9


def modules() -> dict[str, Path]:
    names = {path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in files()}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def test_no_module_imports_itself_by_way_of_others() -> None:
    known = modules()
    graph: dict[str, set[str]] = {}
    for name, path in known.items():
        graph[name] = set()
        for imported in imported_names(path):
            # What `from a.b import c` loads: `a`, `a.b`, and `a.b.c` where that is a module.
            parts = imported.split(".")
            loaded = {".".join(parts[:end]) for end in range(2, len(parts) + 1)}
            graph[name] |= {one for one in loaded if one in known and one != name and not name.startswith(f"{one}.")}
    # Raises an error that names the cycle.
    tuple(graphlib.TopologicalSorter(graph).static_order())


#: What each folder of the statistics may use; none uses one that uses it.
STATISTICS = {
    "samples": set(),
    "intervals": {"samples"},
    "describe": {"intervals", "samples"},
    "compare": {"intervals", "samples"},
    "series": {"samples"},
    "growth": {"samples"},
}


@pytest.mark.parametrize(("folder", "head", "allowed"), [("src", "lib", RUST), ("src/stats", "mod", STATISTICS)])
def test_rust_parts_use_only_what_they_may(folder: str, head: str, allowed: dict[str, set[str]]) -> None:
    name = "::".join(["crate", *folder.split("/")[1:]])
    for path in (ROOT / folder).rglob("*.rs"):
        part = path.relative_to(ROOT / folder).parts[0].removesuffix(".rs")
        if part == head:
            continue
        text = path.read_text()
        assert not re.search(r"super::super::|crate::\{|crate::\*", text), f"{path}: name each part as crate::part"
        used = set(re.findall(rf"\b{name}::(\w+)", text)) - {part}
        assert used <= allowed[part], f"{path} uses {used - allowed[part]}"
        assert part in {"guard", "python", "results"} or "pyo3" not in text, f"{path} knows of Python"


def rust_modules(folder: Path) -> dict[str, list[Path]]:
    """The modules of a folder of the core, each with its files; tests left out."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.rs")):
        parts = path.relative_to(folder).with_suffix("").parts
        if parts[0] != "mod" and "tests" not in parts:
            found.setdefault(parts[0], []).append(path)
    return found


def rust_uses(folder: Path, path: Path, items: dict[str, str]) -> set[str]:
    """Names beside or below `folder` that a file of it uses."""
    text = re.sub(r"//.*", "", path.read_text())
    text = re.split(r"#\[cfg\(test\)\]\s+(?:#\[.*\]\s+)*mod \w+ \{", text)[0]
    here = "::".join(["crate", *folder.relative_to(ROOT / "src").parts])
    # `super` is the folder itself for its files and for the heads of its folders.
    direct = path.parent == folder or (path.parent.parent == folder and path.name == "mod.rs")
    start = rf"(?:{here}{'|super' if direct else ''})"
    named = re.findall(start + r"::(?:\{([^;]*?)\}|(\w+))", text, flags=re.DOTALL)
    words = {word for group in named for part in group for word in re.findall(r"\w+", part)}
    return {items.get(word, word) for word in words}


@pytest.mark.parametrize("head", sorted((ROOT / "src").rglob("mod.rs")), ids=lambda head: head.parent.name)
def test_no_rust_module_uses_itself_by_way_of_its_siblings(head: Path) -> None:
    folder = head.parent
    known = rust_modules(folder)
    exported = re.findall(r"use (\w+)::(?:\{([^}]*)\}|(\w+));", head.read_text())
    items = {word: module for module, *names in exported for name in names for word in re.findall(r"\w+", name)}
    uses = {
        name: {one for path in paths for one in rust_uses(folder, path, items)} & known.keys() - {name}
        for name, paths in known.items()
    }
    tuple(graphlib.TopologicalSorter(uses).static_order())


def test_only_vector_code_and_a_few_files_are_unsafe() -> None:
    assert 'unsafe_code = "deny"' in (ROOT / "Cargo.toml").read_text()
    # The allocator and its setting, mappings that reserve memory, and arrays whose memory is numpy's.
    names = ("memory/cushion.rs", "memory/reserve.rs", "memory/returned.rs", "python/convert/array.rs")
    known = {ROOT / "src" / file for file in names}
    found = {path for path in (ROOT / "src").rglob("*.rs") if "allow(unsafe_code" in path.read_text()}
    assert {path for path in found if path.parent != ROOT / "src" / "simd"} == known


def test_no_module_hides_a_public_name() -> None:
    """Importing a submodule sets an attribute of the package: it must not overwrite a function."""
    for one in pkgutil.walk_packages(fastrnns_rs.__path__, "fastrnns_rs."):
        if not one.name.endswith("__main__"):
            importlib.import_module(one.name)
    names = "ab bench benchmark_modules compare inductor load profile read run_command runner trainbench verify"
    assert all(callable(getattr(fastrnns_rs, name)) for name in names.split())
    assert fastrnns_rs.stats.summarize([1.0]).count == 1
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fastrnns_rs.nothing
    assert set(dir(fastrnns_rs)) == set(fastrnns_rs.__all__)


#: What needs neither torch nor numpy, in Python and on the command line.
STATEMENTS = [
    "import fastrnns_rs",
    "import fastrnns_rs.stats; fastrnns_rs.stats.summarize([1.0, 2.0])",
    "from fastrnns_rs import runner, Run, bench, trainbench, ModelDef",
    "from fastrnns_rs.runners import registry; registry.all_runners()",
    "from fastrnns_rs import verify, Verification",
    "from fastrnns_rs import Comparison, compare",
    "from fastrnns_rs import InductorReport, benchmark_modules, inductor",
]
COMMANDS = [
    *("--help", "--version", "bench --help", "bench --rnns nothing", "list", "list --json", "doctor"),
    *("verify --help", "verify --rnns nothing", "verify py --quiet", "compare --help", "show nothing"),
    *("inductor --help", "inductor nothing.py", "inductor --runner cudnn"),
    *("profile --help", "profile --dry-run --torch --quick"),
]


@pytest.mark.parametrize(
    "statement", [*STATEMENTS, *(f"from fastrnns_rs.cli import main; main({one.split()})" for one in COMMANDS)]
)
def test_heavy_packages_are_not_loaded(statement: str) -> None:
    code = f"""
import sys
try:
    {statement}
except SystemExit:
    pass
loaded = {{"torch", "torchvision", "numpy", "matplotlib", "jinja2"}} & set(sys.modules)
sys.exit(f"loaded {{loaded}}" if loaded else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("before", "statement", "idle"),
    [
        ("", "import fastrnns_rs; fastrnns_rs.read(path).render()", HEAVY),
        ("", "from fastrnns_rs.verbs.compare import explanation, margins, run_comparison, run_files", HEAVIEST),
        # What click loads is there anyway.
        ("click", "from fastrnns_rs.cli import main; main(['report', path])", HEAVY - {"pathlib"}),
        ("click", "from fastrnns_rs.cli import main; main(['report', path, '--json'])", HEAVY - {"pathlib", "json"}),
    ],
)
def test_a_small_capture_is_read_before_python_has_loaded_much(
    before: str, statement: str, idle: set[str], tmp_path: Path
) -> None:
    code = f"""
import sys
{f"import {before}" if before else ""}
before, path = {{*sys.modules}}, sys.argv[1]
try:
    {statement}
except SystemExit as end:
    assert not end.code
print(*({{*sys.modules}} - before), file=sys.stderr)
"""
    path = write(tmp_path / "x.json", [kernel()])
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not idle.intersection(done.stderr.split())


@pytest.mark.parametrize(("profile", "warned"), [("debug", True), ("release", False)])
def test_a_build_without_optimisation_warns(profile: str, warned: bool) -> None:
    code = f"""
import sys, types, warnings
core = types.ModuleType("fastrnns_rs._core")
core.BUILD_PROFILE, core.__version__ = {profile!r}, "0"
sys.modules["fastrnns_rs._core"] = core
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    import fastrnns_rs
sys.exit(0 if bool([w for w in heard if w.category is RuntimeWarning]) is {warned} else 1)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_variable_of_a_comprehension_hides_a_function_that_is_called() -> None:
    """Python 3.12 takes the one for the other: `w = {row for row in x}; [row(one) for one in y]` is an error there."""
    hidden = {
        f"{path.relative_to(PACKAGE)}: {function.name}: {names}"
        for path in files()
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef) and (names := comprehension_clashes(function))
    }
    assert hidden == set()
    text = "def rows(run):\n    kept = {row for rows in run for row in rows}\n    return [row(one) for one in run]"
    assert comprehension_clashes(ast.parse(text)) == {"row"}
    assert comprehension_clashes(ast.parse(text.replace("row(one)", "one"))) == set()


def comprehension_clashes(function: ast.AST) -> set[str]:
    """Names that a comprehension binds, and that the rest of a function reads without binding them."""
    comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    bound: set[str] = set()
    used: dict[type[ast.expr_context], set[str]] = {ast.Load: set(), ast.Store: set(), ast.Del: set()}

    def visit(node: ast.AST, inner: frozenset[str]) -> None:
        if isinstance(node, comprehensions):
            targets = [one for clause in node.generators for one in ast.walk(clause.target)]
            names = {one.id for one in targets if isinstance(one, ast.Name)}
            bound.update(names)
            inner |= names
        elif isinstance(node, ast.Name) and node.id not in inner:
            used[type(node.ctx)].add(node.id)
        elif isinstance(node, ast.arg):
            used[ast.Store].add(node.arg)
        for child in ast.iter_child_nodes(node):
            visit(child, inner)

    visit(function, frozenset())
    return bound & used[ast.Load] - used[ast.Store]


@pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="needs git and a checkout")
def test_no_build_output_or_foreign_lock_is_committed() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert "Cargo.lock" in listed
    assert not [name for name in listed if name.endswith(("uv.lock", ".so"))]


def test_inflating_uses_what_the_processor_has() -> None:
    """Without this feature zlib-rs checks and inflates byte by byte: `.gz` then takes half as long again."""
    import tomllib

    flate2 = tomllib.loads((ROOT / "Cargo.toml").read_text())["dependencies"]["flate2"]
    assert {"runtime_detection", "zlib-rs"} <= {*flate2["features"]}
