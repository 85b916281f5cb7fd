"""What the functions of the NetworkX backend declare, and what is derived from that."""

import importlib.util
import inspect
import re
from pathlib import Path

from graphs import networkx_function

import _torchcent_networkx
import torchcent
from torchcent import nx as backend

ROOT = Path(__file__).resolve().parents[1]


def test_networkx_is_told_what_is_declared():
    spec = importlib.util.spec_from_file_location(
        "networkx_functions", ROOT / "tools/networkx_functions.py"
    )
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.FILE.read_text(encoding="utf-8") == tool.text(), (
        "run: python tools/networkx_functions.py"
    )
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page()
    assert _torchcent_networkx.functions() == {
        name: each.docs for name, each in backend.FUNCTIONS.items()
    }


def test_measures_are_public():
    """Those that a function stands for, by which other surfaces can be compared with this one."""
    for name, each in backend.FUNCTIONS.items():
        measures = [each.measure] if isinstance(each.measure, str) else each.measure
        assert set(measures) <= set(torchcent.__all__), name


def test_functions_name_arguments_of_networkx():
    for name, each in backend.FUNCTIONS.items():
        theirs = networkx_function(name)
        known = {*inspect.signature(theirs).parameters, "graph", "weight"}
        ours = inspect.signature(each.function).parameters.values()
        assert {x.name for x in ours if x.default is x.empty} <= known, name


def test_rules_are_for_arguments_of_some_function():
    """A rule for arguments that no function has would never be asked."""
    signatures = [inspect.signature(each).parameters for each in _theirs()]
    for each in backend.FUNCTIONS.values():
        for rule in (*each.rules, *each.slower):
            names = {*inspect.signature(rule).parameters} - {"weight"}
            since = {"method"} if each.name == "hits" else set()  # NetworkX 3.7
            assert any(names - since <= parameters.keys() for parameters in signatures), each.name


def _theirs():
    return [networkx_function(name) for name in backend.FUNCTIONS]


def test_the_page_names_every_function():
    text = (ROOT / "docs/networkx.md").read_text(encoding="utf-8")
    table = text.partition("## Functions")[2].partition("## ")[0]
    rows = "".join(line for line in table.splitlines(True) if line.startswith("| "))
    names = set(re.findall(r"`(\w+)`", rows))
    others = {"centroid", "information_centrality", "load_centrality"}
    assert names - others == set(_torchcent_networkx.FUNCTIONS)


def test_arguments_are_bound_as_networkx_binds_them():
    each = backend.FUNCTIONS["betweenness_centrality"]
    assert each.bind(("a graph", 3), {"endpoints": True}) == {
        "G": "a graph", "k": 3, "normalized": True, "weight": None, "endpoints": True, "seed": None
    }  # fmt: skip
    assert backend.FUNCTIONS["closeness_centrality"].bind((0,), {"distance": 1})["weight"] == 1
    wrong = {
        "unexpected keyword": ((0,), {"speed": 1}),
        "missing a required": ((), {}),
        "too many positional": (range(7), {}),
        "multiple values": ((0, 1), {"k": 1}),
    }
    for why, (args, kwargs) in wrong.items():
        assert why in backend.can_run("betweenness_centrality", tuple(args), kwargs)
