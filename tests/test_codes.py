"""Codes and limits that Python and the compiled library share (csrc/core/codes.h), and launches."""

import re
from pathlib import Path

import pytest
import torch
from internals import COMPILED, Launch, Visitor

import torchcent
from torchcent.check import _common as check
from torchcent.runtime import _codes
from torchcent.runtime._fakes import FAKES

ops = torch.ops.torchcent

compiled = pytest.mark.skipif(not COMPILED, reason="needs the compiled library")
#: parameters of a compiled operator
MOST = 16
SOURCES = Path(__file__).resolve().parents[1] / "csrc"


@compiled
def test_codes_are_those_of_the_library():
    found = ops.codes(torch.empty(0, dtype=torch.float64)).tolist()
    known = {**_codes.ALL, **{f"Visitor.{x.name}": x for x in Visitor}}
    assert dict(zip(known, found, strict=True)) == known


def test_all_codes_are_compared():
    """Every number of _codes.py is in the table that the test above holds against the library."""
    named = {name for name in vars(_codes) if re.fullmatch("[A-Z_]+", name)} - {"ALL"}
    entries = {name.partition("[")[0].partition(".")[0] for name in _codes.ALL}
    assert named - entries == {"CANCEL", "DONE", "BYTES", "WORK"}  # places in the record


@pytest.mark.skipif(not SOURCES.is_dir(), reason="an installed package has no sources")
def test_limits_are_written_once():
    for number in ("1e290", "1e-290"):
        files = [x for x in SOURCES.rglob("*.*") if number in x.read_text()]
        assert [x.name for x in files] == (["codes.h"] if number == "1e290" else [])
    text = "".join(x.read_text() for x in SOURCES.rglob("*.*"))
    assert text.count("enum class Strategy") == text.count("enum class Measure") == 1


@compiled
def test_a_record_that_is_too_short_is_refused():
    graph = torchcent.Graph.from_edge_index(torch.tensor([[0, 1], [1, 0]]))
    with pytest.raises((RuntimeError, ValueError)):
        ops.search_summary(
            graph.rowptr, graph.col, torch.arange(2), torch.zeros(3, dtype=torch.int64), 1
        )


def test_strategies_have_codes():
    assert set(check.STRATEGIES.values()) <= set(_codes.Strategy)
    for name, code in check.WEIGHTED_STRATEGIES.items():
        assert bool(code & _codes.Strategy.LOCKED) == ("locked" in name)
        assert code & ~_codes.Strategy.LOCKED in set(_codes.Strategy)


@compiled
def test_operators_take_records():
    """Numbers of a launch are one argument, as are tensors that belong together."""
    parameters = {name: len(getattr(ops, name).default._schema.arguments) for name in FAKES}
    assert len(parameters) > 70
    assert not {name: count for name, count in parameters.items() if count > MOST}
    for name in ("path_dependency", "weighted_dependency", "weighted_distances"):
        assert "int[] launch" in str(getattr(ops, name).default._schema)


@pytest.mark.skipif(not SOURCES.is_dir(), reason="an installed package has no sources")
def test_a_launch_has_the_fields_of_the_compiled_one():
    text = (SOURCES / "core" / "codes.h").read_text()
    record = text.partition("struct Launch {")[2].partition("};")[0]
    assert tuple(re.findall(r"int64_t (\w+) = 0;", record)) == Launch._fields


@compiled
@pytest.mark.parametrize(("arcs", "launch"), [(2, (1, 0, 0, 0, 0)), (4, (1, 0))])
def test_records_of_another_length_are_refused(arcs: int, launch: tuple[int, ...]):
    graph = torchcent.Graph.from_edge_index(torch.tensor([[0, 1], [1, 0]]))
    one, control = torch.ones(2, dtype=torch.float64), torch.zeros(4, dtype=torch.int64)
    lists = [graph.rowptr, graph.col, graph.rowptr, graph.col][:arcs]
    with pytest.raises((RuntimeError, ValueError), match="record"):
        ops.path_dependency(
            lists, torch.arange(2), one, one, one, one, one.clone(), control, 0, 1, 1, launch
        )
