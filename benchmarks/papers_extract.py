"""What notebooks/papers.ipynb draws: an extract of the results, as notebooks/data/papers.json.

tables.py writes it beside the pages. A notebook is also run where there is no checkout.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "papers.json"
NEEDED = {"papers.json", "h200.json", "mcl.json", "published.json"}
CLUSTERED = {"torchcent, whole, as the paper": "torchcent", "mcl": "mcl"}


def text(results: dict[str, Any]) -> str:
    """The contents of the file."""
    keys = ("paper", "table", "workload", "measure", "sources", "seconds", "isolated", "drawn")
    keys += ("one_thread",)
    calls = {
        kind: [{key: row[key] for key in keys if key in row} for row in of_kind["rows"]]
        for kind, of_kind in results["papers.json"].items()
    }
    strategies = {
        row["name"]: {"graph": row["stands_for_it"], "locked": row["locked"], "auto": row["auto"]}
        for row in results["h200.json"]["weighted_strategies"]
    }
    clustered = {
        row["graph"]: {
            name: statistics.median(run["seconds"] for run in row["runs"][contestant])
            for contestant, name in CLUSTERED.items()
        }
        for row in results["mcl.json"]["graphs"]
        if CLUSTERED.keys() <= row["runs"].keys()
    }
    on_device = {row["name"]: row["seconds"] for row in results["h200.json"]["mcl"]}
    figures = results["h200.json"].get("figures", {})
    parts = {
        "published": {
            name: paper["tables"] for name, paper in results["published.json"]["papers"].items()
        },
        "calls": calls,
        "strategies": strategies,
        "figures": figures,
        "mcl": {"cuda": on_device, "cpu": clustered},
    }
    return json.dumps(parts) + "\n"
