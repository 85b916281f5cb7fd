"""Figures of the documentation: by scripts, from results that say when and on what."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS, NOTES = ROOT / "benchmarks", ROOT / "docs" / "notes"
TEXTS = ROOT.parent / "shared" / "papers"
if not BENCHMARKS.exists():
    pytest.skip("needs a checkout", allow_module_level=True)

PUBLISHED = json.loads((BENCHMARKS / "results" / "published.json").read_text())
# Observed figures of a page, at most: fewer are better, and more are refused.
OBSERVED = {
    "approximation": 47,
    "dynamic": 166,
    "hierarchy": 84,
    "instructions": 14,
    "measures": 127,
    "performance-batches": 55,
    "performance-cuda": 542,
    "performance-mcl-cuda": 77,
    "performance-mcl": 245,
    "performance-weighted-cuda": 73,
    "performance-weighted": 56,
    "performance": 145,
    "reliability": 93,
}


def module(name):
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


figures = module("figures")


def python(code):
    """What a program prints that imports from benchmarks/."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BENCHMARKS, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_tables_are_those_of_the_results():
    """And a figure in a table that is changed by hand does not stay."""
    pytest.importorskip("networkx")
    pytest.importorskip("scipy")
    code = """
import json, re, tables
results, pages = tables.load(), {}
for page in tables.PAGES:
    text = page.read_text()
    after, count = tables.rewritten(text, results)
    changed = 0
    for mark in tables.MARK.finditer(text):
        at = re.search(r"\\w(?=\\W*$)", mark[4]).start() + mark.start(4)
        other = text[:at] + ("1" if text[at] == "0" else "0") + text[at + 1 :]
        changed += tables.rewritten(other, results)[0] == text
    pages[page.name] = [after == text, count, changed]
print(json.dumps(pages))
"""
    pages = json.loads(python(code))
    stale = [name for name, (same, _, _) in pages.items() if not same]
    assert not stale, "run python benchmarks/tables.py"
    assert pages["papers.md"][1] >= 7 and sum(count for _, count, _ in pages.values()) > 40
    assert all(changed == count for _, count, changed in pages.values())


def test_the_data_of_the_notebook_are_those_of_the_results():
    pytest.importorskip("networkx")
    pytest.importorskip("scipy")
    extract = python("import papers_extract, tables; print(papers_extract.text(tables.load()))")
    known = (ROOT / "notebooks" / "data" / "papers.json").read_text()
    assert extract.strip() == known.strip(), "run python benchmarks/tables.py"
    assert json.loads(known)["published"]["sriram"] == PUBLISHED["papers"]["sriram"]["tables"]


PAGES = sorted({*NOTES.glob("*.md")} - {NOTES / "references.md"})  # of titles and numbers
PAGES.append(NOTES.parent / "performance.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_no_figure_is_written_by_hand(page):
    every = list(figures.figures(page.read_text()))
    loose = [f"line {number}: {figure}" for number, figure, observed in every if not observed]
    assert not loose, "from results by tables.py, or below a line *Observed ...* (figures.py)"
    most = OBSERVED.get(page.stem, 0) if page.parent == NOTES else 0
    assert len(every) <= most, "a figure was added that no script writes"


def test_a_figure_that_is_added_to_the_papers_by_hand_is_refused():
    text = (NOTES / "papers.md").read_text()
    assert "papers" not in OBSERVED and not list(figures.figures(text))
    place = text.index("<!-- papers: sriram -->")
    for more in ("It takes 0.12 s.", "It is 12 times as fast.", "| scale 12 | 1.74 |"):
        assert list(figures.figures(f"{text[:place]}{more}\n\n{text[place:]}")), more


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It takes 0.12 s.", ["0.12 s"]),
        ("It is 3 times as fast, 40 % or 12x.", ["3 times", "40 %", "12x"]),
        ("Of 1,234 vertices and 2e-7.", ["1,234", "2e-7"]),
        ("| BA | 12 | 3 / 4 |", ["12", "3", "4"]),
        ("<!-- papers: x -->\n| BA | 1.5 s |\n<!-- end -->", []),
        ("Bader 2015, Table 2, `0.12 s`, 8 vertices, [a](b_0.12.md).", []),
    ],
)
def test_what_a_figure_is(text, expected):
    assert [figure for _, figure, _ in figures.figures(f"# A\n{text}\n")] == expected


def test_observed_figures_are_those_of_their_section():
    line = "*Observed by 2026-11-22 on one NVIDIA H200; written by hand.*"
    text = f"# A\n1.1 s\n## B\n{line}\n1.2 s\n### C\n1.3 s\n## D\n1.4 s\n"
    assert [known for _, _, known in figures.figures(text)] == [False, True, True, False]


def test_results_say_when_and_on_what():
    code = """
import about, json, tables
print(json.dumps({
    name: [[head["date"], about.where(head), about.torch_of(head), about.digest_of(head)]
           for head in about.heads(result)]
    for name, result in tables.load().items() if name != "published.json"
}))
"""
    pytest.importorskip("networkx")
    known = json.loads(python(code))
    assert len(known) > 30
    for name, heads in known.items():
        assert heads, f"{name} has no date and machine"
        for date, where, torch, digest in heads:
            assert re.match(r"20\d\d-\d\d-\d\d", date) and where and torch[0].isdigit(), name
            assert digest != "none", f"{name} lacks what conditions() of machine.py says"


def published():
    for paper, known in PUBLISHED["papers"].items():
        for name, table in known["tables"].items():
            assert table["unit"] and table["columns"] and table["rows"], name
            for row, values in table["rows"].items():
                assert len(values) == len(table["columns"]), (paper, name, row)
                yield paper, name, table, row, values


def as_printed(text):
    return {float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}


@pytest.mark.skipif(not TEXTS.exists(), reason="needs shared/papers beside the repository")
def test_published_figures_are_in_the_texts_of_the_papers():
    texts = {}
    for paper, known in PUBLISHED["papers"].items():
        text = (TEXTS / known["text"]).read_text().replace(", ", ",")
        texts[paper] = as_printed(text) | as_printed((TEXTS / known["text"]).read_text())
    texts["cuda-mcl"].add(83.0)  # 1 hour and 23 minutes
    missing = [
        (paper, name, row, value)
        for paper, name, _, row, values in published()
        for value in values
        if value is not None and float(value) not in texts[paper]
    ]
    assert not missing


def test_published_figures_are_not_in_programs():
    text = "\n".join(path.read_text() for path in BENCHMARKS.glob("*.py"))
    known = set(re.findall(r"(?<![\w.])\d[\d_]*\.\d+", text.replace("_", "")))
    seconds = {
        f"{value:g}" for _, _, table, _, values in published() if table["unit"] == "s"
        for value in values if value is not None and value != int(value)
    }  # fmt: skip
    assert len(seconds) > 60 and not seconds & {f"{float(x):g}" for x in known}


@pytest.fixture
def counterparts(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("counterpart_rows").PAPERS


def test_every_row_of_a_paper_has_a_counterpart_or_a_reason(counterparts):
    combined = {"Table I": "Tables I to III", "Table II": "Tables I to III"}
    combined |= {"Table III": "Tables I to III"}
    assert set(counterparts) == set(PUBLISHED["papers"])
    for paper, name, _, row, _ in published():
        if (paper, name) == ("fan", "Table 1"):
            continue  # sizes of the networks of Table 2
        name = combined.get(name, name) if paper == "multi-search" else name
        assert [x for x in counterparts[paper] if (x.table, x.row) == (name, row)], (name, row)
    for rows in counterparts.values():
        for row in rows:
            assert row.fair and (row.ours or row.fair.startswith("no")), row


@pytest.mark.skipif(not TEXTS.exists(), reason="needs shared/papers beside the repository")
def test_every_table_and_figure_of_a_paper_is_mentioned(counterparts):
    for paper, known in PUBLISHED["papers"].items():
        text = (TEXTS / known["text"]).read_text()
        named = set(re.findall(r"\b(Table|Fig(?:ure|\.)?) ?(\d|[IV]+)\b", text, re.IGNORECASE))
        there = " ".join(row.table for row in counterparts[paper])
        there = there.replace("Tables I to III", "I II III")
        for kind, number in named:
            assert re.search(rf"\b{number}[a-e]?\b", there), (paper, kind, number)
