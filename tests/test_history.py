"""benchmarks/history.py: which rows it refuses, what it reads, and that its calls run."""

import importlib.util
import json
from pathlib import Path

import pytest
from internals import COMPILED

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"
if not (FOLDER / "history.py").exists():
    pytest.skip("needs a checkout", allow_module_level=True)


def module(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


history = module("history")


def row(entries=None, conditions=None, **instructions):
    return {
        "commit": "abc", "date": "2026-01-01T00:00:00+00:00",
        "conditions": conditions or {"torch": "2"}, "entries": entries or {},
        "instructions": instructions,
    }  # fmt: skip


def test_growth_beyond_three_percent_is_refused():
    last = row(same=1000, less=1000, little=1000, more=1000)
    now = row(same=1000, less=500, little=1030, more=1031, new=5)
    (line,) = history.faults(last, now)
    assert line.startswith("more takes 3.1% more instructions than at abc (1,000 -> 1,031)")
    assert history.faults(last, row(same=1, less=1, little=1, more=1000)) == []


def test_growth_with_a_new_entry_of_the_changelog_is_accepted():
    old, new = "Exact ties (`more`).", "Ties within cutoffs (`more`)."
    last = row({"more": [old]}, more=1000)
    assert history.faults(last, row({"more": [old, new]}, more=2000)) == []
    assert len(history.faults(last, row({"more": [old]}, more=2000))) == 1
    assert len(history.faults(last, row({"other": [new]}, more=2000))) == 1


def test_a_case_that_is_lost_is_refused():
    (line,) = history.faults(row(a=1000, b=1000), row(a=1000))
    assert line.startswith("b is in the last row")


def test_counts_under_other_conditions_are_not_compared():
    (line,) = history.faults(row(a=1000), row(conditions={"torch": "3"}, a=1000))
    assert "torch was 2, is 3" in line and "--package" in line


def test_entries_are_of_the_changelog_and_of_fragments(tmp_path):
    (tmp_path / "changelog.d").mkdir()
    one, two = "One: `a-b` takes 5 % more instructions.", "Two: `a`, more instructions."
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n- {one}\n- {two}\n- Three of `a`.\n")
    four = "Four: `a-b` takes more instructions."
    (tmp_path / "changelog.d/four.fixed.md").write_text(f"{four}\n")
    entries = history.naming(history.changelog(tmp_path), ["a", "a-b", "c"])
    assert entries == {"a": [two], "a-b": [one, four]}


def test_totals_of_callgrind(tmp_path):
    text = "version: 1\ndesc: Trigger: Client Request: {}\nsummary: 18446744073704151616\n{}\n"
    (tmp_path / "out.10").write_text(text.format("b", "totals: 70000"))
    (tmp_path / "out.9").write_text(text.format("a", "totals: 600021"))
    (tmp_path / "out.11").write_text("desc: Trigger: Program termination\ntotals: 5\n")
    assert list(history.dumps(tmp_path).items()) == [("a", 600_021), ("b", 70_000)]
    (tmp_path / "out.12").write_text(text.format("c", "totals: 18446744073704151616"))
    with pytest.raises(ValueError, match="c: callgrind counted 18446744073704151616"):
        history.dumps(tmp_path)


def test_the_table_compares_with_the_first_row_that_has_the_case():
    rows = [row(a=2_000_000), row(a=2_100_000, b=500_000), row(a=1_900_000, b=550_000)]
    lines = history.table({"rows": rows}).splitlines()[2:]
    assert lines == ["| a | 1.9 | -5.0% |", "| b | 0.6 | +10.0% |"]


def test_the_figure_is_the_same_for_the_same_rows(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [row(a=2_000_000), row(a=2_100_000, b=500_000)]
    for name in ("one.svg", "two.svg"):
        history.draw({"rows": rows}, tmp_path / name)
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text() and "millions of instructions" in text


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="the calls are of compiled kernels")
def test_calls_run_and_are_in_the_last_row(tmp_path):
    calls = module("history_cases").cases(tmp_path)
    assert all(call() is not None for call in calls.values())
    last = json.loads(history.RESULT.read_text())["rows"][-1]["instructions"]
    assert list(last) == list(calls) and len(calls) == 20
