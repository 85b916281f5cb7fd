"""What a run of the tests did and what it left out, by reason: `pytest --counts FILE` writes it.

The summary of pytest has no reasons of what is deselected, and under xdist no number either: the
workers select, and tell the first process here.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

KINDS = ("passed", "failed", "skipped")
REASON = pytest.StashKey[str]()
LEFT_OUT = pytest.StashKey[Counter[str]]()


def add_option(group: pytest.OptionGroup) -> None:
    group.addoption("--counts", type=Path, default=None, help="a JSON file for numbers and reasons")


def leave_out(config: pytest.Config, items: list[pytest.Item], reasons: dict[Any, str]) -> None:
    """Takes the items that have a reason out of the list."""
    if not reasons:
        return
    for item, reason in reasons.items():
        item.stash[REASON] = reason
    config.hook.pytest_deselected(items=[item for item in items if item in reasons])
    items[:] = [item for item in items if item not in reasons]


def pytest_deselected(items: list[pytest.Item]) -> None:
    for item in items:
        counts = item.config.stash.setdefault(LEFT_OUT, Counter())
        counts[item.stash.get(REASON, "-m or -k")] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = dict(config.stash.get(LEFT_OUT, Counter()))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Every worker has selected the same tests."""
    if left_out := getattr(node, "workeroutput", {}).get("left_out"):
        node.config.stash[LEFT_OUT] = Counter(left_out)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    left_out = config.stash.get(LEFT_OUT, Counter())
    if left_out:
        terminalreporter.section("left out")
        for reason, number in left_out.most_common():
            terminalreporter.write_line(f"{number:6} {reason}")
    if config.option.counts is None:
        return
    stats = terminalreporter.stats
    numbers: dict[str, Any] = {kind: len(stats.get(kind, ())) for kind in KINDS}
    numbers["failed"] += len(stats.get("error", ()))
    numbers["deselected"] = sum(left_out.values())
    numbers["seed"] = config.option.seed
    skipped = Counter(_reason(report) for report in stats.get("skipped", ()))
    numbers["reasons"] = {
        "skipped": dict(skipped.most_common()),
        "deselected": dict(left_out.most_common()),
    }
    config.option.counts.write_text(json.dumps(numbers, indent=1) + "\n")


def _reason(report: Any) -> str:
    """Of a skipped test: (file, line, "Skipped: reason")."""
    if not isinstance(report.longrepr, tuple):
        return str(report.longrepr)
    return str(report.longrepr[2]).removeprefix("Skipped: ")
