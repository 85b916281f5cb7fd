"""A random part of the sweeps, chosen by the seed of the run (seeds.py): `pytest --part 0.3`.

A sweep is a test marked as such that has many cases (parameters) or examples (Hypothesis). Only a
part of its cases is run, at least four and one with each engine, and only a part of its examples.
`sweep(cases=1)` is for a few long cases: one is run. Tests marked `each` are exempt: their cases
have lines of the package of their own (docs/reliability.md). Files with tests marked `slow` come
first, so that no process is left with them at the end. `--part 1`, the default, runs everything.

Tests that draw examples get the mark `property`: `-m "property or sweep"` is what another seed
changes.
"""

import math
import random
from collections import defaultdict
from typing import Any

import pytest
import seeds
from hypothesis import settings

CASES = 4  # of each function at least so many are run
EXAMPLES = 20  # of each property likewise
# Of every value of these at least one case is run.
FIXTURES = ("engine", "distance_engine", "compiled_engine", "weighted_engine", "row_engine")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("torchcent")
    group.addoption(
        "--part", type=float, default=1.0, help="how much of each large sweep to run, in (0, 1]"
    )
    seeds.add_option(group)


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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    part = config.option.part
    if part == 1:
        return
    cases: defaultdict[Any, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sweep") and not item.get_closest_marker("each"):
            cases[_function(item)].append(item)
    left_out = set()
    for function, sweep in cases.items():
        mark = sweep[0].get_closest_marker("sweep")
        cases_of = None if mark is None else mark.kwargs.get("cases")
        share = max(part, CASES / len(sweep)) if cases_of is None else cases_of / len(sweep)
        if share < 1:
            chance = random.Random(f"{config.option.seed} {function}")
            left_out |= set(sweep) - set(_chosen(sweep, share, chance))
        _fewer_examples(sweep[0], part)
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _chosen(sweep: list[pytest.Item], share: float, chance: random.Random) -> list[pytest.Item]:
    """A share of all, and at least one with each engine."""
    groups: defaultdict[Any, list[pytest.Item]] = defaultdict(list)
    for item in sweep:
        given = getattr(getattr(item, "callspec", None), "params", {})
        groups[tuple(str(given.get(name)) for name in FIXTURES)].append(item)
    return [
        item
        for group in groups.values()
        for item in chance.sample(group, math.ceil(share * len(group)))
    ]


def _fewer_examples(item: pytest.Item, part: float) -> None:
    """The settings that Hypothesis keeps with a function, which its cases share."""
    function = seeds.hypothesis_function(item)
    if function is None:
        return
    known = getattr(function, "_hypothesis_internal_use_settings", settings())
    fewer = max(min(EXAMPLES, known.max_examples), math.ceil(part * known.max_examples))
    function._hypothesis_internal_use_settings = settings(known, max_examples=fewer)
