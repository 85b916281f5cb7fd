"""A random part of the sweeps, chosen by the seed of the run (seeds.py): `pytest --part 0.3`.

A sweep is a test marked as such that has many cases (parameters) or examples (Hypothesis). Only a
part of its cases is run, at least four and one with each engine, and only a part of its examples.
`sweep(cases=1)` is for a few long cases: one is run, with each engine. With `sweep(by="shape
engine")` each value of these parameters is in at least one case. Of tests of Hypothesis without the
mark all cases are run, with a part of their examples. Tests marked `each` are exempt: their cases
have lines of the package of their own (docs/notes/reliability.md).

Tests marked `slow` take seconds: several processes, kills, memory, large graphs. One of SLOW is
run, drawn by itself, so that different changes run different ones; `slow(always=True)` is not
drawn. Files that have one come first: no process is left with it at the end. `--part 1`, the
default, runs everything.

With their graphs on a GPU (TORCHCENT_TEST_DEVICE), of each file one case with the tensor engine is
run, and none that is slow: plain PyTorch starts dozens of kernels for each level of a search there,
and where processes share the GPU, a case takes up to a minute. Nothing is left out by its name.
What is left out is counted by reason (counts.py).

Tests that draw examples get the mark `property`: `-m "property or sweep"` is what another seed
changes.
"""

import math
import os
import random
from collections import defaultdict
from typing import Any

import counts
import pytest
import references
import seeds
from hypothesis import settings

CASES = 4  # of each function at least so many are run
EXAMPLES = 20  # of each property likewise
SLOW = 8  # of so many slow tests one is run
DEVICE = os.environ.get("TORCHCENT_TEST_DEVICE", "cpu").partition(":")[0]  # as in graphs.py
# Of every value of these at least one case is run.
FIXTURES = ("engine", "distance_engine", "compiled_engine", "weighted_engine", "row_engine")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("torchcent")
    group.addoption(
        "--part", type=float, default=1.0, help="how much of each large sweep to run, in (0, 1]"
    )
    seeds.add_option(group)
    counts.add_option(group)


def pytest_configure(config: pytest.Config) -> None:
    part = config.option.part
    if not 0 < part <= 1:
        raise pytest.UsageError(f"--part={part}; accepted: above 0, at most 1")
    seeds.settle(config)


def pytest_report_header(config: pytest.Config) -> list[str]:
    part = config.option.part
    return [seeds.header(config)] + ([f"sweeps: --part {part}"] if part < 1 else [])


def pytest_itemcollected(item: pytest.Item) -> None:
    if seeds.hypothesis_function(item):
        item.add_marker("property")
    graph = _given(item).get("name")
    if "load" in getattr(item, "fixturenames", ()) and not references.has_graph(graph):
        item.add_marker(pytest.mark.skip(reason="needs the graphs of shared/data"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if DEVICE != "cpu":
        counts.leave_out(config, items, _slow_on_a_device(config, items))
    if config.option.part < 1:
        if DEVICE == "cpu":
            counts.leave_out(config, items, _slow(config, items))
        _draw_cases(config, items)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def _draw_cases(config: pytest.Config, items: list[pytest.Item]) -> None:
    part = config.option.part
    cases: defaultdict[Any, list[pytest.Item]] = defaultdict(list)
    for item in items:
        drawn = item.get_closest_marker("sweep") and not item.get_closest_marker("each")
        if drawn and not item.get_closest_marker("skip"):  # a choice of what is there
            cases[_function(item)].append(item)
        elif not item.get_closest_marker("each"):
            _fewer_examples(item, part)
    left_out = {}
    for function, sweep in cases.items():
        mark = sweep[0].get_closest_marker("sweep")
        cases_of = None if mark is None else mark.kwargs.get("cases")
        share = max(part, CASES / len(sweep)) if cases_of is None else cases_of / len(sweep)
        if share < 1:
            chance = random.Random(f"{config.option.seed} {function}")
            by = None if mark is None else mark.kwargs.get("by")
            some = _chosen_by(by, sweep, share, chance) if by else _chosen(sweep, share, chance)
            chosen = set(some)
            left_out |= {item: f"--part {part:g}" for item in sweep if item not in chosen}
        _fewer_examples(sweep[0], part)
    counts.leave_out(config, items, left_out)


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _given(item: pytest.Item) -> dict[str, Any]:
    given: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    return given


def _engines(item: pytest.Item) -> tuple[str, ...]:
    return tuple(str(_given(item).get(name)) for name in FIXTURES)


def _slow(config: pytest.Config, items: list[pytest.Item]) -> dict[pytest.Item, str]:
    """Those that are not drawn, and why. Which other tests are selected does not matter."""
    left_out = {}
    for item in items:
        slow = item.get_closest_marker("slow")
        if not slow or slow.kwargs.get("always") or item.get_closest_marker("each"):
            continue
        chance = random.Random(f"{config.option.seed} {_function(item)} is slow")
        if chance.randrange(SLOW) > 0:
            left_out[item] = f"slow: one of {SLOW} is run"
    return left_out


def _slow_on_a_device(config: pytest.Config, items: list[pytest.Item]) -> dict[pytest.Item, str]:
    """All but one case of each file with the tensor engine, and why."""
    cases: defaultdict[Any, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if any("tensor" in engine for engine in _engines(item)):
            cases[item.path].append(item)
    reason = f"the tensor engine on {DEVICE}: one case of each file is run"
    left_out = {}
    for path, slow in cases.items():
        fast = [item for item in slow if not item.get_closest_marker("slow")]
        chosen = random.Random(f"{config.option.seed} {path.name}").choice(fast) if fast else None
        left_out |= {item: reason for item in slow if item is not chosen}
    return left_out


def _chosen(sweep: list[pytest.Item], share: float, chance: random.Random) -> list[pytest.Item]:
    """A share of all, and at least one with each engine."""
    groups: defaultdict[Any, list[pytest.Item]] = defaultdict(list)
    for item in sweep:
        groups[_engines(item)].append(item)
    return [
        item
        for group in groups.values()
        for item in chance.sample(group, math.ceil(share * len(group)))
    ]


def _chosen_by(
    names: str, sweep: list[pytest.Item], share: float, chance: random.Random
) -> list[pytest.Item]:
    """A share of all, and at least one with each value of each of these parameters."""
    seen: set[tuple[str, int]] = set()
    needed, others = [], []
    for item in chance.sample(sweep, len(sweep)):
        # Values need not be hashable; those of the cases are the same objects.
        values = {(name, id(_given(item)[name])) for name in names.split()}
        (others if values <= seen else needed).append(item)
        seen |= values
    return needed + others[: max(0, math.ceil(share * len(sweep)) - len(needed))]


def _fewer_examples(item: pytest.Item, part: float) -> None:
    """The settings that Hypothesis keeps with a function, which its cases share."""
    function = seeds.hypothesis_function(item)
    if function is None:
        return
    known = getattr(function, "_hypothesis_internal_use_settings", settings())
    fewer = max(min(EXAMPLES, known.max_examples), math.ceil(part * known.max_examples))
    function._hypothesis_internal_use_settings = settings(known, max_examples=fewer)
