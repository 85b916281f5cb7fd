"""Do the promises hold? Runs of betweenness_approx and betweenness_adaptive against exact scores.

    python benchmarks/coverage.py               # 200 runs per graph; results/coverage.json

For each graph: the share of runs in which some score is off by more than epsilon, with the
probability of as many or more if delta were the truth. (A small one would speak against the
guarantee.) Also the mean over the runs of the largest error. The same for adaptive sampling, which
promises a factor of 1 / epsilon with probability 1 - 2 epsilon for each of the ten highest scores.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.stats
import torch
from machine import conditions

import torchcent
from torchcent import Graph, generate

RESULTS = Path(__file__).parent / "results" / "coverage.json"
F64 = torch.float64
FACTOR = 0.25


def graphs() -> dict[str, Graph]:
    social = generate.rmat(12, 8, seed=1)
    length = (1 + torch.arange(social.shape[1]) % 10).double()
    return {
        "R-MAT scale 12": Graph.from_edge_index(social, directed=False),
        "R-MAT scale 12, directed": Graph.from_edge_index(
            social[:, torch.arange(social.shape[1]) % 3 > 0], directed=True
        ),
        "R-MAT scale 12, weighted": Graph.from_edge_index(
            social, directed=False, edge_weight=length
        ),
        "road-like 40x40": Graph.from_edge_index(generate.road(40, 40, seed=1), directed=False),
        "BA n=3000 b=5": Graph.from_edge_index(generate.ba(3000, 5, seed=1), directed=False),
    }


def row(name: str, graph: Graph, given: argparse.Namespace) -> dict[str, Any]:
    exact = torchcent.betweenness(graph, run=torchcent.Run(dtype=F64))
    high = exact.topk(10).indices
    errors, samples, outside, ratios, ended = [], [], 0, [], 0
    for seed in range(given.runs):
        chance = torch.Generator().manual_seed(seed)
        found = torchcent.betweenness_approx(
            graph,
            given.epsilon,
            given.delta,
            method="kadabra",
            run=torchcent.Run(dtype=F64),
            generator=chance,
        )
        errors.append(float((found.scores - exact).abs().max()))
        samples.append(found.samples)
        outside += bool(((exact < found.lower - 1e-9) | (exact > found.upper + 1e-9)).any())
        adaptive = torchcent.betweenness_adaptive(
            graph,
            high,
            epsilon=FACTOR,
            max_samples=graph.num_nodes,
            run=torchcent.Run(dtype=F64),
            generator=chance,
        )
        ratios.append((adaptive.scores / exact[high]).numpy())
        ended += int(adaptive.stopped.sum())
    far = int((np.array(errors) > given.epsilon).sum())
    ratio = np.array(ratios)
    wrong = ((ratio < FACTOR) | (ratio > 1 / FACTOR)).sum(0)
    record = {
        "name": name,
        "runs": given.runs,
        "off_by_more_than_epsilon": far,
        "outside_of_an_interval": outside,
        "p_value": scipy.stats.binomtest(
            max(far, outside), given.runs, given.delta, "greater"
        ).pvalue,
        "mean_largest_error": float(np.mean(errors)),
        "largest_error": max(errors),
        "mean_samples": float(np.mean(samples)),
        "adaptive": {
            "factor": 1 / FACTOR,
            "most_wrong_of_a_vertex": int(wrong.max()),
            "p_value": scipy.stats.binomtest(
                int(wrong.max()), given.runs, 2 * FACTOR, "greater"
            ).pvalue,
            "stopped_by_the_rule": ended / ratio.size,
            "smallest_ratio": float(ratio.min()),
            "largest_ratio": float(ratio.max()),
        },
    }
    print(json.dumps(record), flush=True)
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--epsilon", type=float, default=0.02)
    parser.add_argument("--delta", type=float, default=0.1)
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    result = {**conditions(), "epsilon": given.epsilon, "delta": given.delta, "rows": []}
    for name, graph in graphs().items():
        result["rows"].append(row(name, graph, given))
        given.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
