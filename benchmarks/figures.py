"""Figures in the notes that stand outside of the tables that tables.py writes.

    python benchmarks/figures.py [PAGE ...]     # how many each page has, observed and not
    python benchmarks/figures.py --list PAGE    # the lines of those that are not observed

A measured figure comes from a results file. Others were only observed, by a program that was not
kept or in a run whose result was not. They stand below a line that says when and on what, up to
the next heading of the same level or of a higher one. The date is that of the commit that wrote
them:

    *Observed by 2026-11-22 on one NVIDIA H200; written by hand.*
    *Predicted by 2026-11-22, before the kernel ran; written by hand.*
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

NOTES = Path(__file__).resolve().parents[1] / "docs" / "notes"
OBSERVED = re.compile(r"^\*(?:Observed|Predicted) by \d{4}-\d\d-\d\d,? \S.+; written by hand\.\*$")
LEFT_OUT = re.compile(
    r"<!-- \w+: [^>]*-->.*?<!-- end -->|<!--.*?-->|^(```|~~~).*?^\1|`[^`\n]*`|\]\([^)\n]*\)",
    re.DOTALL | re.MULTILINE,
)
NUMBER = r"(?<![\w.,^/*-])~?\d[\d,]*(?:\.\d+)?"
UNIT = (
    r"(?:s|ms|us|µs|ns|x|%|times|GTEPS|G|M|[KMG]i?B|TB/s|GB/s|seconds|minutes|hours|milliseconds"
    r"|microseconds|million|billion)"
)
MEASURED = re.compile(
    rf"{NUMBER}(?:e[-+]?\d+)?(?:\s?{UNIT}(?![\w/]))|(?<![\w.,^/*-])~?\d[\d,]*\.\d+(?:e[-+]?\d+)?\b(?!\.\d)"
    r"|(?<![\w.,^/*-])\d{1,3}(?:,\d{3})+\b|(?<![\w.,^/*-])\de-\d+\b"
)

PLAIN = re.compile(r"[~>*]{0,2} ?[\d.,]+(?:(?:, | / | ?- ?|; |/)[\d.,]+)*\**")  # a cell of numbers


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def figures(text: str) -> Iterator[tuple[int, str, bool]]:
    """Line, figure, and whether it is marked as observed, of those outside of generated tables."""
    level, marked = 0, 0  # of the heading above, and of the section that is marked
    for number, line in enumerate(LEFT_OUT.sub(_blank, text).splitlines(), 1):
        if heading := re.match(r"(#+) ", line):
            level = len(heading[1])
            marked = 0 if level <= marked else marked
        if OBSERVED.match(line):
            marked = marked or level
            continue
        plain = (cell for cell in line.split("|")[2:-1] if PLAIN.fullmatch(cell.strip()))
        cells = [n for cell in plain for n in re.findall(NUMBER, cell)] if line[:1] == "|" else []
        for figure in cells or (match[0] for match in MEASURED.finditer(line)):
            yield number, figure, marked > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, default=sorted(NOTES.glob("*.md")))
    parser.add_argument("--list", action="store_true", help="the lines that have any")
    given = parser.parse_args()
    for page in given.pages:
        every = list(figures(page.read_text()))
        loose = [(number, figure) for number, figure, observed in every if not observed]
        print(f"{page.name:32} {len(every) - len(loose):5} observed {len(loose):5} by hand")
        if given.list:
            lines = dict.fromkeys(number for number, _ in loose)
            for at in lines:
                print(f"  {at}: {', '.join(figure for number, figure in loose if number == at)}")


if __name__ == "__main__":
    main()
