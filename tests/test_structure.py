"""The packages of torchcent, the families of csrc, and the direction of imports between them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "torchcent"
CSRC = PACKAGE.parent / "csrc"
#: A package imports from lines above its own and from itself; those of one line do not know each
#: other. "root" is the modules beside the packages: the public doors.
LAYERS = (
    ("runtime",),
    ("check",),
    ("graph",),
    ("distribute",),
    ("io", "engines"),
    (
        "paths",
        "distances",
        "pairs",
        "clustering",
        "flow",
        "walks",
        "patterns",
        "diffusion",
        "generate",
    ),  # fmt: skip
    ("plots",),
    ("approx", "curvature", "encodings", "gnn"),
    ("groups", "communities", "streets", "dynamic"),
    ("functional", "transforms"),
    ("root",),
    ("nx", "cli"),
)
MOST_AT_ROOT = 8
MOST_FLOORS = 7  # of engines
TESTS = Path(__file__).resolve().parent
#: what other tests import instead of private modules
SEAM = ("internals", "tuning")
#: unit tests, which import private modules of the packages that they test
UNIT_TESTS = {
    "approx": "approx_bounds approximation current_flow_approx",
    "check": "codes",
    "cli": "cli_names",
    "clustering": "mcl mcl_cycles mcl_pieces mcl_quality",
    "diffusion": "diffusion_cuda_text",
    "dynamic": "dynamic_approx dynamic_splice dynamic_cuda_text",
    "distribute": "hierarchy_on_host ledger ranks units",
    "engines": "blocks distance_sums fixed_point hierarchy_choice hierarchy_on_host "
    "hierarchy_orders hierarchy_samples measures plan preparation room tensor",
    "flow": "current_flow current_flow_subset",
    "graph": "caches fixed_point preparation reductions walk_solvers weighted_graph",
    "groups": "groups",
    "io": "cli_mcl_program io_mcl io_memory io_rows",
    "runtime": "codes mcl_pieces units walk_solvers",
    "walks": "walk_solvers walks",
}
MOST_UNIT_TESTS = 0.25  # of all test files
MOST_INTERNALS = 61  # names of the seam


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def imports(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Modules of torchcent that a module imports, in functions and for types, too."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in known)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) + 1 - node.level]
            base = ".".join([*(parts if node.level else []), *filter(None, [node.module])])
            for each in node.names:
                if f"{base}.{each.name}" in known:
                    yield f"{base}.{each.name}"
                elif base in known:
                    yield base


def layer(name: str) -> str:
    parts = name.split(".")
    if parts[-1] == "__main__":  # the command line by another name
        return "cli"
    return parts[1] if len(parts) > 1 and (PACKAGE / parts[1]).is_dir() else "root"


KNOWN = modules()


@cache
def graph() -> dict[str, set[str]]:
    """All imports: seconds, which only a process that runs these tests is to spend."""
    return {name: set(imports(name, path, KNOWN)) - {name} for name, path in KNOWN.items()}


def test_the_layers_name_every_package() -> None:
    named = {name for line in LAYERS for name in line}
    assert named == {layer(name) for name in KNOWN}


def test_imports_point_one_way() -> None:
    height = {name: at for at, line in enumerate(LAYERS) for name in line}
    wrong = [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in sorted(others)
        if layer(name) != layer(other) and height[layer(name)] <= height[layer(other)]
    ]
    assert not wrong, wrong


def test_no_circles() -> None:
    list(TopologicalSorter(graph()).static_order())  # raises CycleError, which names the circle


def test_engines_are_few_floors() -> None:
    """A package or a module beside it stands above all that it imports of the others."""

    def part(name: str) -> str:
        return name.split(".")[2] if name.count(".") > 1 else ""

    inside = {name: others for name, others in graph().items() if layer(name) == "engines"}
    parts: dict[str, set[str]] = {}
    for name, others in inside.items():
        below = {part(other) for other in others if other in inside} - {part(name), ""}
        parts.setdefault(part(name), set()).update(below)
    floor: dict[str, int] = {}
    for name in TopologicalSorter(parts).static_order():
        floor[name] = 1 + max((floor[other] for other in parts[name]), default=0)
    assert max(floor.values()) <= MOST_FLOORS, floor


def test_the_root_is_the_public_doors() -> None:
    root = sorted(path.stem for path in PACKAGE.glob("*.py"))
    assert len(root) <= MOST_AT_ROOT, root
    assert not [name for name in root if name.startswith("_") and not name.startswith("__")]


def test_the_test_sees_imports() -> None:
    """Of kinds that it must not overlook: in a function, of a submodule, relative."""
    assert "torchcent.plots._scores" in graph()["torchcent.approx._result"]
    assert "torchcent.runtime._ops" in graph()["torchcent.graph._csr"]
    assert "torchcent.engines._tensor._search" in graph()["torchcent.engines._tensor"]
    assert len(graph()) > 100


def private_names(text: str) -> set[str]:
    """Private modules of torchcent that a program names: in imports, anywhere in it, by attributes
    and in texts, such as programs that it runs and places of a monkeypatch."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.Attribute):
            names.add(ast.unparse(node))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= set(re.findall(r"\btorchcent(?:\.\w+)+", node.value))
            for module, line in re.findall(r"from (torchcent[.\w]*) import (.+)", node.value):
                names |= {f"{module}.{each}" for each in re.findall(r"\w+", line)}
    parts = (name.split(".") for name in names if name.startswith("torchcent."))
    starts = {".".join(each[:count]) for each in parts for count in range(2, len(each) + 1)}
    return {name for name in starts & KNOWN.keys() if "._" in name and "__" not in name}


def test_private_modules_are_for_the_seam_and_unit_tests() -> None:
    """All others import the public package and the seam."""
    files = [path for path in TESTS.glob("*.py") if path.stem not in (*SEAM, "test_structure")]
    found = {(layer(name), path.stem) for path in files for name in private_names(path.read_text())}
    named = {
        (package, f"test_{name}") for package, names in UNIT_TESTS.items() for name in names.split()
    }
    others = sorted(found - named)
    assert not others, f"import these from internals.py, or replace them by tuning.py: {others}"
    assert not named - found
    unit_tests = {name for _, name in found}
    assert len(unit_tests) <= MOST_UNIT_TESTS * len(list(TESTS.glob("test_*.py"))), unit_tests


def test_the_seam_has_what_tests_use() -> None:
    """Each of its names is imported by some test."""
    names = {
        target.id
        for node in ast.parse((TESTS / "internals.py").read_text()).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    used = {
        each.name
        for path in TESTS.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "internals"
        for each in node.names
    }
    assert len(names) < MOST_INTERNALS and names <= used, names - used


@pytest.mark.parametrize(
    "text",
    [
        "from torchcent.engines.plan import _plan",
        "def f():\n    from torchcent.engines.plan._plan import plan",
        "import torchcent.engines.plan._plan as planning",
        "torchcent.engines.plan._plan.plan(graph)",
        "patch.setattr('torchcent.engines.plan._plan.MOST_KEPT', 0)",
        "patch.setattr(f'torchcent.engines.plan._plan.{name}', 0)",
        "run('import torch\\nfrom torchcent.engines.plan import _plan, _room')",
    ],
)
def test_the_test_sees_private_names(text: str) -> None:
    assert "torchcent.engines.plan._plan" in private_names(text)
    assert not private_names("import torchcent\nfrom torchcent.io import read\ntorchcent.plot")


@pytest.mark.skipif(not CSRC.is_dir(), reason="an installed package has no sources")
def test_core_includes_no_family() -> None:
    """csrc: core <- families <- kernels, which compiles the kernels of all of them."""
    folders = {path.name for path in CSRC.iterdir() if path.is_dir()}
    assert {"core", "include", "kernels", "paths", "distances", "reference"} <= folders
    wrong = []
    for path in sorted(CSRC.rglob("*.*")):
        folder = path.relative_to(CSRC).parts[0]
        for other in re.findall(r'#include "(\w+)/', path.read_text()):
            above = {"core": folders - {"core", "include"}, "kernels": set()}
            if other in above.get(folder, {"kernels"}):
                wrong.append(f"{path.relative_to(CSRC)} includes {other}")
    assert not wrong, wrong


@pytest.mark.skipif(not CSRC.is_dir(), reason="an installed package has no sources")
def test_schemas_are_with_their_kernels() -> None:
    """A file of a family defines the operators that it implements, with CUDA those of the host."""
    for path in CSRC.rglob("*.cpp"):
        text = path.read_text()
        implemented = set(re.findall(r'impl\("(\w+)"', text))
        defined = set(re.findall(r'm\.def\(\s*"(\w+)\(', text))
        assert implemented <= defined, path
    assert not [path for path in CSRC.rglob("*.cu") if "m.def(" in path.read_text()]
