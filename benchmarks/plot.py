"""The figure of the README: how many times faster than each peer, graph by graph.

python benchmarks/plot.py [benchmarks/results/cpu.json] [-o docs/figures/benchmark.png]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib
from report import peers_of, speedup, threads_of

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
matplotlib.rc_file(ROOT / "notebooks" / "matplotlibrc")
INK = plt.rcParams["text.color"]
# colours that stay apart for colour-blind eyes (Okabe and Ito), and shapes for print
STYLES = {
    "networkit": ("#0072B2", "o"),
    "igraph": ("#D55E00", "s"),
    "rustworkx": ("#009E73", "^"),
    "networkx": ("#B8860B", "D"),
}


def figure(result: dict[str, Any]) -> plt.Figure:
    peers, threads = peers_of(result), threads_of(result)
    groups = list(dict.fromkeys(row["group"] for row in result["graphs"]))
    heights = [sum(row["group"] == group for row in result["graphs"]) for group in groups]
    size = (8.2, 1.4 + 0.195 * sum(heights) + 0.3 * len(groups))
    drawing, axes = plt.subplots(
        len(groups), 1, figsize=size, sharex=True, squeeze=False, layout="constrained",
        height_ratios=[height + 0.4 for height in heights],
    )  # fmt: skip
    for axis, group in zip(axes[:, 0], groups, strict=True):
        rows = [row for row in result["graphs"] if row["group"] == group]
        rows.sort(key=lambda row: -(speedup(row, peers[0]) or 0))
        draw_group(axis, rows, peers)
        axis.set_title(group, loc="left", fontsize=9.5, fontweight="bold")
    bottom = axes[-1, 0]
    bottom.set_xlabel("times faster, seconds per source (log scale)", fontsize=9.5)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    versions = result["machine"]["packages"]
    named = [f"{p} {versions[p]} ({threads[p]} thread{'s'[: threads[p] > 1]})" for p in labels]
    title = f"torchcent ({result['threads']} threads) against:"
    drawing.legend(
        handles, named, title=title, loc="outside upper center", ncols=2, fontsize=9.5,
        frameon=False, title_fontproperties={"weight": "bold", "size": 11},
    )  # fmt: skip
    machine = result["machine"]
    measure = result["measure"].replace("_", " ")
    note = f"exact {measure}, {machine['cpu']}, {machine['cores']} cores, {result['date']}"
    drawing.supxlabel(note, fontsize=8)
    return drawing


def draw_group(axis: plt.Axes, rows: list[dict[str, Any]], peers: list[str]) -> None:
    for place, row in enumerate(rows):
        values = [x for peer in peers if (x := speedup(row, peer))]
        axis.plot([1, max(values, default=1)], [place, place], color=INK, alpha=0.4, lw=1, zorder=1)
    for peer in peers:
        color, marker = STYLES[peer]
        points = [(x, i) for i, row in enumerate(rows) if (x := speedup(row, peer))]
        axis.scatter(
            [x for x, _ in points], [i for _, i in points], s=26, color=color, marker=marker,
            label=peer, zorder=3,
        )  # fmt: skip
    axis.axvline(1, color=INK, lw=1.2, zorder=2)
    axis.set_xscale("log")
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=8.5)
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=30))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}x"))
    axis.xaxis.set_minor_locator(plt.NullLocator())
    axis.tick_params(axis="x", labelsize=8.5)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x", zorder=0)
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left"]].set_visible(False)


def main() -> None:
    parser = argparse.ArgumentParser(description="draw the speed-ups of a result")
    default = Path(__file__).parent / "results" / "cpu.json"
    parser.add_argument("result", type=Path, nargs="?", default=default)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs/figures/benchmark.png")
    arguments = parser.parse_args()
    drawing = figure(json.loads(arguments.result.read_text()))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(arguments.output, dpi=150)
    print(f"drawn to {arguments.output}")


if __name__ == "__main__":
    main()
