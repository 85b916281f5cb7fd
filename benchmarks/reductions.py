"""What exact reductions save: exact betweenness of whole graphs, from edges to scores.

    python benchmarks/reductions.py                 # about twenty minutes
    python benchmarks/reductions.py --device cuda   # the three largest

Without a reduction beyond folding, and as `reduce="auto"` decides, in turns: five times, once where
a run takes longer than 10 seconds. Every run builds the graph; where they are repeated, the same is
then measured on a prepared graph. Scores are compared.
Some graphs are taken with their directions, too, and some for stress. results/reductions.json holds
both devices.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from graphs import find, lengths, shared
from machine import conditions
from report import markdown

import torchcent
from torchcent import Graph, Run

RESULT = Path(__file__).parent / "results" / "reductions.json"
THREADS, TURNS, LONG = 2, 5, 10.0
GRAPHS = (
    "rec-amazon", "PGPgiantcompo", "web-NotreDame", "email-Enron", "ca-CondMat-lcc", "astro-ph",
    "oregon1", "as20000102", "power", "facebook_combined", "4elt", "luxembourg_osm", "tn-sydney",
)  # fmt: skip
LARGEST = ("rec-amazon", "web-NotreDame", "luxembourg_osm")
#: also with weights, and what they are
WEIGHTED = {
    "PGPgiantcompo": "whole weights", "ca-CondMat-lcc": "whole weights", "power": "lengths",
    "luxembourg_osm": "lengths", "tn-sydney": "lengths",
}  # fmt: skip
#: also with their directions
DIRECTED = ("higgs-mention", "p2p-Gnutella31", "soc-Slashdot0902", "web-NotreDame", "cnr-2000")
#: also by another measure
STRESS = ("rec-amazon", "PGPgiantcompo", "email-Enron")


def measure(
    name: str,
    device: torch.device,
    weights: str = "",
    directed: bool = False,
    function: str = "betweenness",
) -> dict[str, Any]:
    """weights: none, "whole weights" of 1 to 9 or "lengths" of 10 to 1,000."""
    edges, n = shared(name) if directed else find([name])[0].edges()
    score = getattr(torchcent, function)
    index = torch.from_numpy(np.ascontiguousarray(edges)).to(device)
    weight = None
    if weights == "lengths":
        weight = torch.from_numpy(np.round(1000 * lengths(edges, "uniform")))
    elif weights:
        chance = torch.Generator().manual_seed(1)
        weight = torch.randint(1, 10, (index.shape[1],), generator=chance).double()
    weight = None if weight is None else weight.to(device)
    options: dict[str, Any] = {"num_nodes": n, "directed": directed}
    seconds: dict[str, list[float]] = {"fold": [], "auto": []}
    scores: dict[str, torch.Tensor] = {}
    if device.type == "cuda":  # loads the kernels
        score(index, weight, sources=1, run=by_reduction("auto"), **options)
    for _ in range(TURNS):
        for how, runs in seconds.items():
            _finish(device)
            begin = time.perf_counter()
            scores[how] = score(index, weight, run=by_reduction(how), **options)
            _finish(device)
            runs.append(time.perf_counter() - begin)
        if seconds["fold"][0] > LONG:
            break
    torch.testing.assert_close(scores["auto"], scores["fold"], rtol=1e-4, atol=1e-9)
    graph = Graph.from_edge_index(index, num_nodes=n, directed=directed, edge_weight=weight)
    prepared: dict[str, list[float]] = {"fold": [], "auto": []}
    for turn in range(TURNS + 1 if len(seconds["fold"]) > 1 else 0):
        for how, runs in prepared.items():
            _finish(device)
            begin = time.perf_counter()
            score(graph, run=by_reduction(how))
            _finish(device)
            runs += [time.perf_counter() - begin] if turn else []
    plan = torchcent.explain(graph, measure=function)
    kind = ["directed"] * directed + [weights] * bool(weights)
    kind += [function] * (function != "betweenness")
    row = {
        "name": ", ".join([name, *kind]), "num_nodes": n,
        "num_slots": graph.num_slots, "searched_nodes": plan.core_nodes,
        "searched_slots": plan.core_slots, "blocks": plan.blocks, "merged": plan.merged,
        "contracted": plan.contracted, "together": plan.together, "seconds": seconds,
        "prepared": prepared if prepared["fold"] else None,
    }  # fmt: skip
    medians = {how: round(statistics.median(x), 4) for how, x in seconds.items()}
    print(row["name"], medians, "prepared", _ratio(row["prepared"]), searched(row), flush=True)
    return row


def by_reduction(how: str) -> Run:
    return Run(reduce=how, progress=False, dtype=torch.float64)


def _ratio(seconds: dict[str, list[float]] | None) -> str:
    """How many times faster, of the medians."""
    if seconds is None:
        return ""
    return f"{statistics.median(seconds['fold']) / statistics.median(seconds['auto']):.2f}"


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def searched(row: dict[str, Any]) -> str:
    twins = f"{row['merged']:,} twins are merged" if row["merged"] else ""
    how = "in sweeps for several sources" if row["together"] else "one source at a time"
    chains = f"{row['contracted']:,} vertices are inside of chains, {how}"
    parts = [row["blocks"], twins, chains if row["contracted"] else ""]
    return "; ".join(filter(None, parts)) or "the folded graph"


def table(result: dict[str, Any], device: str) -> str:
    head = ["graph", "vertices", "slots", "folded, s", "auto, s", "x", "x, prepared", "searched"]
    lines = [head]
    for row in result[device]["graphs"]:
        fold, auto = (statistics.median(row["seconds"][how]) for how in ("fold", "auto"))
        lines.append(
            [row["name"], f"{row['num_nodes']:,}", f"{row['num_slots']:,}", f"{fold:.3g}"]
            + [f"{auto:.3g}", _ratio(row["seconds"]), _ratio(row.get("prepared")), searched(row)]
        )
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", nargs="+")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--output", type=Path, default=RESULT)
    given = parser.parse_args()
    device = torch.device(given.device)
    names = given.graphs or (GRAPHS if device.type == "cpu" else LARGEST)
    torch.set_num_threads(THREADS)
    rows = [measure(name, device) for name in names]
    rows += [measure(name, device, WEIGHTED[name]) for name in names if name in WEIGHTED]
    if device.type == "cpu":
        of_directed = DIRECTED if not given.graphs else [x for x in names if x in DIRECTED]
        rows += [measure(name, device, directed=True) for name in of_directed]
        rows += [measure(name, device, function="stress") for name in names if name in STRESS]
    result: dict[str, Any] = {**conditions(), "threads": THREADS, "graphs": rows}
    if device.type == "cuda":
        result["device"] = torch.cuda.get_device_name(device)
    known = json.loads(given.output.read_text()) if given.output.exists() else {}
    known[device.type] = result
    given.output.write_text(json.dumps(known, indent=1) + "\n")
    print(table(known, device.type))


if __name__ == "__main__":
    main()
