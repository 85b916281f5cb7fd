"""Instructions of pinned calls, commit by commit, counted by valgrind's callgrind.

    python benchmarks/history.py record    # a row in results/history.json, and the figure
    python benchmarks/history.py check     # compares with the last row; exits with 1 on growth
    python benchmarks/history.py draw      # the figure alone

Counts hardly depend on what else the machine does. Both `record` and `check` fail where a case of
history_cases.py takes 3 % more instructions than in the last row, and no new entry of the changelog
says so. They need valgrind with its headers, and a C compiler. docs/notes/instructions.md
says what is counted.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks/results/history.json"
FIGURE = ROOT / "docs/figures/instructions.svg"
SOURCES = ("csrc", "torchcent")
MOST = 0.03
# What the process has of its environment besides paths: kernels that valgrind knows, one thread in
# each library, and one order of sets.
ENVIRONMENT = {
    "TORCHCENT_SIMD": "avx2", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0",
}  # fmt: skip


def counts(package: Path) -> dict[str, int]:
    """Instructions of every case, of the package in this folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind", "--tool=callgrind", "--quiet", "--instr-atstart=no",
            f"--callgrind-out-file={folder}/out", sys.executable,
            str(Path(__file__).with_name("history_cases.py")), str(package / "torchcent"),
        ]  # fmt: skip
        environment = ENVIRONMENT | {"PATH": os.environ["PATH"], "PYTHONPATH": str(package)}
        subprocess.run(command, check=True, env=environment)
        return dumps(Path(folder))


def dumps(folder: Path) -> dict[str, int]:
    """What callgrind counted, in the order in which it wrote."""
    totals = {}
    paths = sorted(folder.glob("out.*"), key=lambda path: int(path.suffix[1:]))
    for path in paths:
        text = path.read_text()
        name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
        total = re.search(r"^totals: (\d+)$", text, re.M)
        if name is None:
            continue  # written at the end of the process
        if total is None or not 10_000 < int(total[1]) < 2**48:
            raise ValueError(f"{name[1]}: callgrind counted {total and total[1]} instructions")
        totals[name[1]] = int(total[1])
    return totals


def conditions(package: Path) -> dict[str, str]:
    """What counts depend on besides the sources."""
    (library,) = (package / "torchcent").glob("_C.*so")
    compilers = re.findall(rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+", library.read_bytes())
    valgrind = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True)
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    processors = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": processors[0] if processors else platform.machine(),
        "python": platform.python_version(),
        "torch": version("torch"),
        "numpy": version("numpy"),
        "compiler": ", ".join(sorted({text.decode() for text in compilers})),
        "valgrind": valgrind.stdout.strip().removeprefix("valgrind-"),
    }


def changelog(root: Path) -> list[str]:
    """The entries of CHANGELOG.md and of the fragments, a line each."""
    paths = [root / "CHANGELOG.md", *sorted((root / "changelog.d").glob("*.md"))]
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [line.removeprefix("- ") for line in lines]


def naming(lines: list[str], cases: list[str]) -> dict[str, list[str]]:
    """By case, the entries that say that "`case` takes more instructions", in any such words."""
    lines = [line for line in lines if "more instructions" in line]
    entries = {case: [line for line in lines if f"`{case}`" in line] for case in cases}
    return {case: texts for case, texts in entries.items() if texts}


def faults(last: dict[str, Any], row: dict[str, Any]) -> list[str]:
    """Why this row is refused after the last one, in words."""
    differences = [
        f"{key} was {value}, is {row['conditions'].get(key)}"
        for key, value in last["conditions"].items()
        if row["conditions"].get(key) != value
    ]
    if differences:
        return [
            f"the last row, of {last['commit']}, cannot be compared: {'; '.join(differences)}. "
            "Record one on this machine first, of a build of the commit to compare with: "
            "record --package FOLDER --commit HASH"
        ]
    lines = []
    for case, before in last["instructions"].items():
        now = row["instructions"].get(case)
        if now is None:
            lines.append(f"{case} is in the last row, and is not counted any more")
        elif now > before * (1 + MOST) and not new_entries(last, row, case):
            lines.append(
                f"{case} takes {now / before - 1:.1%} more instructions than at {last['commit']} "
                f"({before:,} -> {now:,}), and no new entry of the changelog says that `{case}` "
                "takes more instructions"
            )
    return lines


def new_entries(last: dict[str, Any], row: dict[str, Any], case: str) -> list[str]:
    before = last["entries"].get(case, [])
    return [line for line in row["entries"].get(case, []) if line not in before]


def changes(last: dict[str, Any] | None, row: dict[str, Any]) -> list[str]:
    """The counts of a row beside those of the last one."""
    before = last["instructions"] if last else {}
    return [
        f"{case:24} {count:15,}  "
        + (f"{count / before[case] - 1:+.2%}" if case in before else "new")
        for case, count in row["instructions"].items()
    ]


def table(result: dict[str, Any]) -> str:
    """The last row in Markdown, and how it differs from the first row that has the case."""
    rows = result["rows"]
    lines = ["| case | instructions, millions | since the first row |", "| --- | ---: | ---: |"]
    for case, count in rows[-1]["instructions"].items():
        first = next(row["instructions"][case] for row in rows if case in row["instructions"])
        lines.append(f"| {case} | {count / 1e6:,.1f} | {count / first - 1:+.1%} |")
    return "\n".join(lines)


def draw(result: dict[str, Any], path: Path) -> None:
    """A small chart for each case: millions of instructions over the dates of the commits."""
    import matplotlib

    matplotlib.use("Agg")
    # The same rows give the same file.
    more = {"svg.hashsalt": "history", "svg.fonttype": "none", "font.size": 8}
    with matplotlib.rc_context(more, ROOT / "notebooks/matplotlibrc"):
        _draw(result, path)


def _draw(result: dict[str, Any], path: Path) -> None:
    from matplotlib import dates, pyplot

    rows = result["rows"]
    cases = list(rows[-1]["instructions"])
    columns = 4
    figure, axes = pyplot.subplots(
        -(-len(cases) // columns), columns, figsize=(9, 1.5 * -(-len(cases) // columns)),
        sharex=True, squeeze=False, layout="constrained",
    )  # fmt: skip
    for axis in axes.flat[len(cases) :]:
        axis.set_axis_off()
    for axis, case in zip(axes.flat, cases, strict=False):
        points = [
            (datetime.datetime.fromisoformat(row["date"]), row["instructions"][case] / 1e6)
            for row in rows
            if case in row["instructions"]
        ]
        axis.plot(*zip(*points, strict=True), color="#0072B2", marker="o", markersize=2.5)
        axis.set_ylim(0, 1.25 * max(count for _, count in points))
        axis.set_title(case, loc="left", fontsize=8)
        axis.grid(axis="y")
        axis.spines[["top", "right"]].set_visible(False)
        ticks = dates.AutoDateLocator(minticks=2, maxticks=4)
        axis.xaxis.set_major_locator(ticks)
        axis.xaxis.set_major_formatter(dates.ConciseDateFormatter(ticks))
    figure.supylabel("millions of instructions")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def git(*command: str) -> str:
    run = subprocess.run(["git", *command], cwd=ROOT, check=True, capture_output=True, text=True)
    return run.stdout.strip()


def row_of(package: Path, commit: str) -> dict[str, Any]:
    """A row: the last commit that changed the sources, its date, and the counts."""
    number, date = git("log", "-1", "--format=%h %cI", commit, "--", *SOURCES).split()
    instructions = counts(package)
    return {
        "commit": number, "date": date, "conditions": conditions(package),
        "entries": naming(changelog(package), list(instructions)), "instructions": instructions,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("record", "check", "draw"))
    parser.add_argument("--package", type=Path, default=ROOT, help="a built checkout; this one")
    parser.add_argument("--commit", default="HEAD", help="that the checkout is of")
    options = parser.parse_args()
    result = json.loads(RESULT.read_text()) if RESULT.exists() else {"rows": []}
    if options.what == "draw":
        draw(result, FIGURE)
        return 0
    package = options.package.resolve()
    ours = package == ROOT
    if ours and options.what == "record" and (files := git("status", "--porcelain", *SOURCES)):
        print(f"history: a row is of a commit, and these files differ from it:\n{files}")
        return 1
    row = row_of(package, options.commit)
    others = [x for x in result["rows"] if x["commit"] != row["commit"]]
    rows = others if options.what == "record" else result["rows"]
    last = rows[-1] if rows else None
    print(*changes(last, row), sep="\n")
    lines = faults(last, row) if last and ours else []
    print(*(f"history: {line}" for line in lines), sep="\n", file=sys.stderr)
    if options.what == "record" and not lines:
        when = datetime.datetime.fromisoformat
        result["rows"] = sorted([*others, row], key=lambda x: when(x["date"]))
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
        draw(result, FIGURE)
    return min(len(lines), 1)


if __name__ == "__main__":
    sys.exit(main())
