"""benchmarks/exponents.py knows every public function, and fits what it should."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the sweep."""
    pytest.importorskip("torch_geometric")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import exponent_calls
    import exponents

    yield exponent_calls, exponents
    for name in [name for name in sys.modules if name.startswith("exponent")]:
        del sys.modules[name]


def test_every_public_function_has_a_call(modules: Any) -> None:
    calls, _ = modules
    named = {call.name.split("(")[0] for call in calls.CALLS}
    public = json.loads((ROOT / "tests" / "public.json").read_text())
    missing = []
    for module, names in public.items():
        short = module.removeprefix("torchcent").lstrip(".")
        for name, signature in names.items():
            full = f"{short}.{name}" if short else name
            if not isinstance(signature, str):  # a class: transforms are called, Graph has its own
                if short != "transforms":
                    continue
            elif not signature.startswith("("):
                continue
            if not {full, short} & ({*calls.LEFT_OUT} | named):
                missing.append(full)
    assert not missing, missing


def test_methods_of_graphs_have_a_call(modules: Any) -> None:
    calls, _ = modules
    named = {call.name.split("(")[0] for call in calls.CALLS}
    public = json.loads((ROOT / "tests" / "public.json").read_text())["torchcent"]["Graph"]
    left_out = {
        # attributes that are kept, and what needs libraries or devices beside those of the sweep
        "()", "back_weight", "batch", "device", "drop_caches", "is_weighted", "nbytes",
        "labels", "num_edges", "num_graphs", "num_slots", "scaled_weights", "ties", "tie_tolerance",
        "to", "from_dgl", "from_graph_tool", "from_networkit",
        "to_networkit", "from_table",
    }  # fmt: skip
    missing = {name for name in public if f"Graph.{name}" not in named} - left_out
    assert not missing, missing


@pytest.mark.parametrize("slope", [0.5, 1.0, 1.5, 2.0, 3.0])
def test_exponent_is_the_slope(modules: Any, slope: float) -> None:
    _, exponents = modules
    points = [(size, 1e-9 * size**slope, 0) for size in (1000, 4000, 16000, 10**9)]
    assert exponents.exponent(points[:1]) is None  # one size, and too short a time
    longer = [(size, 0.3 * (size / 16000) ** slope, 0) for size, _, _ in points[:3]]
    found = exponents.exponent(longer)
    assert found == pytest.approx(slope)


def test_graphs_have_the_size_that_is_asked_for(modules: Any) -> None:
    from exponent_graphs import KINDS, Case

    for kind in KINDS:
        for size in (100, 1000, 10000):
            case = Case(kind, size)
            assert size / 2 <= case.input_size <= 1.5 * size
            assert case.kind == "parallel" or case.graph().num_edges == case.edges.shape[1]


def test_rows_above_are_told_apart(modules: Any) -> None:
    from exponent_report import is_above, table

    row = {
        "call": "closeness", "kind": "path", "weights": "hops", "points": [(1000, 0.5, 0)],
        "exponent": 2.0, "expected": 1.0, "reason": "", "timeout": False, "error": None,
    }  # fmt: skip
    fine = row | {"kind": "star", "exponent": 1.9, "expected": 2.0, "reason": "O(n m)"}
    assert is_above(row) and not is_above(fine)
    result = {"rows": [row, fine]}
    assert "**2.0**" in table(result, "all") and "1.9 (2)" in table(result, "all")
    assert table(result, "above").count("\n") == 2
    assert "O(n m)" in table(result, "reasons")


def test_a_late_run_has_a_lower_bound(modules: Any) -> None:
    """A run that exceeded the limit took at least the time it had; preparation says nothing."""
    _, exponents = modules
    points = [(1000, 0.01, 0), (2000, 0.02, 0)]
    job = (0, "path", "hops")
    row = exponents.row_of(job, [*points, {"size": 4000, "before": 2.0}], -24, 10)
    assert exponents.fitted(row) == pytest.approx(8.64, abs=0.01)
    row = exponents.row_of(job, [*points, {"size": 4000, "before": 2.0}, None], -24, 10)
    assert exponents.fitted(row) == pytest.approx(1.0)


def test_missing_packages_are_told_from_failures(modules: Any) -> None:
    _, exponents = modules
    from exponent_report import table

    rows = []
    for message in ("ImportError: needs igraph", "ValueError: out of range"):
        rows.append(exponents.row_of((len(rows), "path", "hops"), [message], 0, 10))
        rows[-1]["call"] = message
    found = table({"rows": rows}, "all")
    assert found.count("not available") == 1 and found.count("failed") == 1
