"""Graphs of a million rows between 300,000 names, whatever holds them, beside integers.

    python benchmarks/names.py                 # a minute -> results/names.json
    python benchmarks/names.py --rows 50000

Each time is the best of several calls on two threads. The other libraries number the same names
(factorize, dictionary_encode), which is the first step of a graph, and make none.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import torch
from machine import conditions
from pyarrow import csv, parquet
from report import markdown

import torchcent
from torchcent import Graph

RESULT = Path(__file__).parent / "results" / "names.json"
TURNS = 5


def seconds(call: Callable[[], object]) -> float:
    """The least of some turns, by the clock."""
    least = float("inf")
    for _ in range(TURNS):
        began = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - began)
    return least


def calls(rows: int, folder: Path) -> dict[str, dict[str, Callable[[], Any]]]:
    """By what holds the ends: torchcent with names and with integers, and another library."""
    chance = np.random.default_rng(0)
    vertices = max(2, 3 * rows // 10)
    ids = [chance.integers(0, vertices, rows) for _ in range(2)]
    words = np.array([f"user_{x:07d}" for x in chance.permutation(10**7)[:vertices]], object)
    names = [words[x] for x in ids]
    ends = ("source", "target")
    table, integers = (pyarrow.table(list(map(pyarrow.array, x)), ends) for x in (names, ids))
    codes = pyarrow.table([table[end].combine_chunks().dictionary_encode() for end in ends], ends)
    frame, of_integers = table.to_pandas(), integers.to_pandas()
    objects = frame.astype(object)
    as_polars = polars.from_arrow(table)
    numbers = polars.from_arrow(integers)
    for name, each in (("names", table), ("integers", integers)):
        parquet.write_table(each, folder / f"{name}.parquet")
        csv.write_csv(each, folder / f"{name}.csv")
        csv.write_csv(each, folder / f"{name}.tsv", csv.WriteOptions(delimiter="\t"))
    lists, pairs = [x.tolist() for x in names], list(zip(*(x.tolist() for x in names), strict=True))
    int_lists = [x.tolist() for x in ids]
    int_pairs = list(zip(*int_lists, strict=True))
    flat = np.concatenate(names)

    def factorize(of: Any) -> Callable[[], Any]:
        return lambda: pandas.factorize(pandas.concat([of[end] for end in ends]))

    def graph(of: Any) -> Callable[[], Graph]:
        return lambda: Graph.from_edges(of) if isinstance(of, list) else Graph.from_table(of)

    def file(name: str) -> dict[str, Callable[[], Any]]:
        kinds = ("names", "integers")
        return {kind: lambda kind=kind: torchcent.read(folder / f"{kind}{name}") for kind in kinds}

    def row(of: Any, others: Any, peer: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
        return {"names": graph(of), "integers": graph(others), "peer": peer}

    both = pyarrow.chunked_array([table[end].combine_chunks() for end in ends])
    return {
        "list of pairs": row(pairs, int_pairs, lambda: pandas.factorize(flat)),
        "two lists": row(lists, int_lists, lambda: pandas.factorize(flat)),
        "pandas, objects": row(objects, of_integers, factorize(objects)),
        "pandas, str": row(frame, of_integers, factorize(frame)),
        "pyarrow": row(table, integers, both.dictionary_encode),
        "pyarrow, codes": {"names": graph(codes)},
        "polars": row(
            as_polars, numbers,
            lambda: polars.concat([as_polars[x] for x in ends]).cast(polars.Categorical),
        ),
        ".parquet": {
            **file(".parquet"),
            "peer": lambda: factorize(pandas.read_parquet(folder / "names.parquet"))(),
        },
        ".csv": {
            **file(".csv"),
            "peer": lambda: factorize(pandas.read_csv(folder / "names.csv", engine="pyarrow"))(),
        },
        ".tsv": file(".tsv"),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--output", type=Path, default=RESULT)
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    result: dict[str, Any] = {**conditions(), "rows": arguments.rows, "seconds": {}}
    with tempfile.TemporaryDirectory() as folder:
        for held, row in calls(arguments.rows, Path(folder)).items():
            result["seconds"][held] = {name: seconds(call) for name, call in row.items()}
            print(
                held, *(f"{name} {1000 * x:.0f} ms" for name, x in result["seconds"][held].items())
            )
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")
    heads = ("held by", "names, ms", "integers, ms", "another library, ms")
    cells = [
        [
            held,
            *(
                f"{1000 * x[name]:.0f}" if name in x else ""
                for name in ("names", "integers", "peer")
            ),
        ]
        for held, x in result["seconds"].items()
    ]
    print(markdown([heads, *cells]))


if __name__ == "__main__":
    main()
