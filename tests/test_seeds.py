"""The seed of the tests (seeds.py): the same one gives the same examples and choices."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import parts
import pytest
import seeds

HERE = Path(__file__).resolve().parent
HOOKS = [
    "pytest_addoption", "pytest_collection_modifyitems", "pytest_configure",
    "pytest_itemcollected", "pytest_report_header",
]  # fmt: skip
# Others are imported for nothing.
ALONE = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
PLUGINS = ["-p", "xdist", "-p", "_hypothesis_pytestplugin"]
CONFTEST = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from parts import {", ".join(HOOKS)}
from counts import (
    pytest_deselected, pytest_sessionfinish, pytest_terminal_summary, pytest_testnodedown
)
from seeds import pytest_runtest_protocol
"""
SUITE = """
import json, os, random
from pathlib import Path
import numpy, pytest
from hypothesis import given, settings, strategies as st
pytestmark = pytest.mark.sweep

def note(name, value):
    with (Path(os.environ["DRAWN"]) / name).open("a") as file:
        file.write(json.dumps(value) + "\\n")

@pytest.mark.parametrize("case", range(30))
def test_chosen(case):
    note(f"chosen {case}", [random.random(), numpy.random.rand()])

@pytest.mark.parametrize("case", "abcd")
@settings(max_examples=15)
@given(number=st.integers(0, 10**9), text=st.text(max_size=4), part=st.floats(0, 1))
def test_examples(case, number, text, part):
    note(f"examples {case}", [number, text, part])

@pytest.mark.parametrize("engine", ["tensor", "lanes"])
@pytest.mark.parametrize("case", range(3))
def test_engines(engine, case):
    if engine == "lanes":
        pytest.skip("no lanes here")

@settings(max_examples=15)
@given(st.integers(0, 10**9))
def test_fails(number):
    note("fails", number)
    assert not os.environ.get("FAIL")
"""


def drawn(folder, name, *options, **environment):
    """{test and case: what it drew} of a session of pytest, and the first lines of its output."""
    notes = folder / name
    notes.mkdir()
    known = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "CI"))}
    for name in ("TORCHCENT_TEST_SEED", "TORCHCENT_TEST_DEVICE"):
        known.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", "pytest.ini", *PLUGINS, *options],
        cwd=folder, env=known | {"DRAWN": str(notes), ALONE: "1"} | environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == ("FAIL" in environment), done.stdout + done.stderr
    lines = {file.name: file.read_text().splitlines() for file in sorted(notes.iterdir())}
    return {name: [json.loads(x) for x in rows] for name, rows in lines.items()}, done.stdout


@pytest.fixture
def suite(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_drawn.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n sweep\n property\n each\n slow\n")
    return tmp_path


@pytest.mark.slow
def test_a_seed_repeats_a_run(suite):
    # A failure first, whose example a database would replay.
    drawn(suite, "failed", "--seed", "7", "-k", "fails", FAIL="1")
    part = ("--part", "0.2")
    one, out = drawn(suite, "one", "--seed", "7", *part)
    assert "--seed 7 repeats them (or TORCHCENT_TEST_SEED=7)" in out and "--part 0.2" in out
    again, _ = drawn(suite, "again", *part, "-n", "2", CI="true", TORCHCENT_TEST_SEED="7")
    assert one == again and len(one) == 6 + 4 + 1 and len(one["examples a"]) == 15
    alone, _ = drawn(suite, "alone", "--seed", "7", *part, "-k", "examples and b")
    assert list(alone) == ["examples b"] and alone["examples b"] == one["examples b"]

    other, _ = drawn(suite, "other", "--seed", "8", *part, CI="true")
    assert [x for x in one if "chosen" in x] != [x for x in other if "chosen" in x]
    for name in set(one) & set(other):
        assert one[name] != other[name]
    # Every case draws examples of its own.
    rows = [json.dumps(one[name]) for name in one if "examples" in name]
    assert len(set(rows)) == len(rows)


def options(seed=None, hypothesis_seed=None):
    return SimpleNamespace(option=SimpleNamespace(seed=seed, hypothesis_seed=hypothesis_seed))


def test_the_default_is_that_of_the_commit(monkeypatch):
    monkeypatch.delenv(seeds.VARIABLE, raising=False)
    config = options()
    seeds.settle(config)
    assert config.option.seed == seeds.of_commit() == seeds.of_commit() < 10**6
    monkeypatch.setenv(seeds.VARIABLE, "12")
    config = options()
    seeds.settle(config)
    assert config.option.seed == 12 and "--seed 12" in seeds.header(config)
    monkeypatch.setattr(seeds.subprocess, "run", lambda *command, **how: 1 / 0)
    monkeypatch.setattr(seeds.Path, "exists", lambda path: False)
    assert seeds.of_commit() == seeds.WITHOUT_COMMIT


@pytest.mark.parametrize(
    ("given", "variable", "said"),
    [
        ({"seed": -1}, "", "--seed -1; accepted"),
        ({}, "new", "TORCHCENT_TEST_SEED='new'; accepted"),
        ({"hypothesis_seed": "1"}, "", "--seed is the seed of all"),
    ],
)
def test_what_is_no_seed_is_refused(monkeypatch, given, variable, said):
    monkeypatch.setenv(seeds.VARIABLE, variable)
    with pytest.raises(pytest.UsageError, match=said):
        seeds.settle(options(**given))


def test_of_slow_tests_a_part_is_drawn():
    """By itself and with all of its cases; each of them by some seed."""

    class Item:
        def __init__(self, name, **marks):
            self.nodeid = name
            self.marks = {mark: SimpleNamespace(kwargs=given) for mark, given in marks.items()}

        def get_closest_marker(self, mark):
            return self.marks.get(mark)

    slow = [Item(f"test_x.py::test_{i}[{case}]", slow={}) for i in range(200) for case in "ab"]
    others = [
        Item("test_each", slow={}, each={}), Item("test_count", slow={"always": True}),
        Item("test_quick", sweep={}),
    ]  # fmt: skip
    drawn = set()
    for seed in range(80):
        left_out = parts._slow(options(seed), [*slow, *others])
        one, other = (parts._slow(options(seed), slow[case::2]) for case in (0, 1))
        assert left_out == one | other and not left_out.keys() & set(others)
        kept = {item.nodeid.partition("[")[0] for item in slow if item not in left_out}
        assert 2 * len(kept) == len(slow) - len(left_out)
        assert 10 < len(kept) < 45  # of 200 about 25
        drawn |= kept
    assert len(drawn) == 200


@pytest.mark.slow
def test_numbers_and_reasons_of_what_is_left_out(suite):
    """Of workers, which alone know them."""
    file = suite / "counts.json"
    command = ("--seed", "7", "--part", "0.2", "-k", "not fails", "-n", "2")
    _, out = drawn(suite, "run", *command, "--counts", str(file), TORCHCENT_TEST_DEVICE="cuda")
    thinned = "the tensor engine on cuda: one case of each file is run"
    # Of 30 cases 6, of the engines' four that are left all, as of the four of Hypothesis.
    assert json.loads(file.read_text()) == {
        "passed": 6 + 4 + 1, "failed": 0, "skipped": 3, "deselected": 24 + 2 + 1, "seed": 7,
        "reasons": {
            "skipped": {"no lanes here": 3},
            "deselected": {"--part 0.2": 24, thinned: 2, "-m or -k": 1},
        },
    }  # fmt: skip
    assert f"     2 {thinned}" in out
