"""Edge lists whose ids are any 64-bit numbers: MB/s from a file to vertices 0, ..., n - 1.

    python benchmarks/reading.py              # 250 MB -> results/reading.json, and tables.py
    python benchmarks/reading.py --rows 400000 --output FILE

Each reading is a process of its own, whose peak memory is known; in each round every contestant
reads every file, and the times are medians. All give the same list of edges with vertices numbered
from 0. (torchcent, NetworKit and Polars number in the order of the ids, pandas and pyarrow in the
order in which they occur.) The numbers of vertices and rows are compared. NetworKit builds its
graph as well, and has no reader of compressed files. "parse" is a parser alone, without numbering.
The files are in the page cache. Also: processor seconds until the package is imported.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from machine import conditions, timed
from report import markdown

RESULT = Path(__file__).parent / "results" / "reading.json"
ROUNDS = 3
FILES = {"text": "", ".gz": ".gz", ".zst": ".zst"}
READERS = ("torchcent", "pandas", "polars", "pyarrow", "networkit")
PARSERS = ("pandas, parse", "polars, parse", "pyarrow, parse")
STARTS = {
    "import torch": ["-c", "import torch"],
    "import torchcent": ["-c", "import torchcent"],
    "import networkx": ["-c", "import networkx"],
    "torchcent --version": [
        "-c",
        "import sys; from _torchcent_command import main; sys.exit(main())",
        "--version",
    ],
    "torchcent info, 34 vertices": [
        "-c",
        "import sys; from _torchcent_command import main; sys.exit(main())",
        "info",
        "networkx:karate_club",
    ],
}


def write(folder: Path, rows: int) -> None:
    """R-MAT edges whose vertices have ids up to 10^12, as text and compressed."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv

    from torchcent import generate

    scale = max(rows.bit_length() - 4, 4)
    edges = generate.rmat(scale, -(-rows // 2**scale), seed=1)[:, :rows].numpy()
    chance = np.random.default_rng(1)
    ids = np.unique(chance.integers(0, 10**12, 2 << scale))
    ids = chance.permutation(ids)[: 1 << scale]
    table = pa.table({"source": ids[edges[0]], "target": ids[edges[1]]})
    plain = csv.WriteOptions(include_header=False, delimiter="\t")
    for ending in FILES.values():
        with pa.output_stream(
            str(folder / f"edges.tsv{ending}"),
            compression={"": None, ".gz": "gzip", ".zst": "zstd"}[ending],
        ) as file:
            csv.write_csv(table, file, plain)


def read(name: str, path: str) -> tuple[int, int]:
    """Numbers of rows and of vertices (0 for a parser alone)."""
    reader, _, parse = name.partition(", ")
    found: tuple[int, int] = globals()[f"_{reader}"](path, not parse)
    return found


def _torchcent(path: str, number: bool) -> tuple[int, int]:
    import torchcent

    found = torchcent.read(path, directed=True)
    return found.edge_index.shape[1], found.num_nodes


def _pandas(path: str, number: bool) -> tuple[int, int]:
    import numpy as np
    import pandas as pd

    table = pd.read_csv(path, sep="\t", header=None, dtype="int64")
    if not number:
        return len(table), 0
    ends, ids = pd.factorize(table.to_numpy().T.ravel())
    edges = np.asarray(ends).reshape(2, -1)
    return edges.shape[1], len(ids)


def _polars(path: str, number: bool) -> tuple[int, int]:
    import polars as pl

    table = pl.read_csv(path, separator="\t", has_header=False, new_columns=["source", "target"])
    if not number:
        return table.height, 0
    ends = pl.concat([table["source"], table["target"]]).rank("dense") - 1
    return ends.len() // 2, int(ends.max()) + 1  # type: ignore[arg-type]


def _pyarrow(path: str, number: bool) -> tuple[int, int]:
    import pyarrow as pa
    from pyarrow import csv

    table = csv.read_csv(
        path,
        read_options=csv.ReadOptions(autogenerate_column_names=True),
        parse_options=csv.ParseOptions(delimiter="\t"),
    )
    if not number:
        return table.num_rows, 0
    both = pa.chunked_array([*table["f0"].chunks, *table["f1"].chunks]).combine_chunks()
    coded = both.dictionary_encode()
    return len(coded) // 2, len(coded.dictionary)


def _networkit(path: str, number: bool) -> tuple[int, int]:
    import networkit as nk

    reader = nk.graphio.EdgeListReader("\t", 0, continuous=False, directed=True)
    graph = reader.read(path)
    return graph.numberOfEdges(), graph.numberOfNodes()


def most_memory() -> int:
    """Bytes of this program at its peak; ru_maxrss has those of the process that started it."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(x for x in status.splitlines() if x.startswith("VmHWM")).split()[1])


def one(name: str, path: str) -> None:
    """Imports, then reads; prints seconds and bytes."""
    __import__(name.partition(", ")[0])
    before = most_memory()
    begin = time.perf_counter()
    rows, vertices = read(name, path)
    taken = time.perf_counter() - begin
    peak = most_memory() - before
    print(json.dumps({"seconds": taken, "bytes": peak, "rows": rows, "vertices": vertices}))


def processor_seconds(command: list[str]) -> float:
    return timed([sys.executable, *command])[0]["cpu_seconds"]


def measure(rows: int, rounds: int) -> dict[str, Any]:
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as place:
        write(Path(place), rows)
        plain = os.path.getsize(Path(place) / "edges.tsv")
        for _ in range(rounds):
            for kind, ending in FILES.items():
                path = str(Path(place) / f"edges.tsv{ending}")
                for name in (*READERS, *PARSERS):
                    if name == "networkit" and ending:
                        continue
                    command = [sys.executable, __file__, "--one", name, path]
                    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                    runs.setdefault((kind, name), []).append(json.loads(run.stdout))
    table = []
    for (kind, name), each in runs.items():
        assert all(run["rows"] == rows or name == "networkit" for run in each)
        taken = statistics.median(run["seconds"] for run in each)
        peak = statistics.median(run["bytes"] for run in each)
        table.append({
            "file": kind, "reader": name, "seconds": taken, "mb_per_second": plain / taken / 1e6,
            "bytes": peak, "times_the_arrays": peak / (16 * rows), "vertices": each[0]["vertices"],
        })  # fmt: skip
    assert len({row["vertices"] for row in table if "parse" not in row["reader"]}) == 1
    return {"rows": rows, "bytes": plain, "readers": table, **measure_starts(rounds)}


def measure_starts(rounds: int) -> dict[str, Any]:
    for command in STARTS.values():
        processor_seconds(command)  # writes the bytecode
    starts = {name: statistics.median(processor_seconds(command) for _ in range(rounds))
              for name, command in STARTS.items()}  # fmt: skip
    return {"processor_seconds": starts}


def table(result: dict[str, Any]) -> str:
    """MB of text per second; memory at most, in sizes of the edge_index."""
    lines = [["reader", *FILES, "memory, text"]]
    for name in (*READERS, *PARSERS):
        found = {row["file"]: row for row in result["readers"] if row["reader"] == name}
        shown = [f"{found[kind]['mb_per_second']:.0f}" if kind in found else "" for kind in FILES]
        lines.append([name, *shown, f"{found['text']['times_the_arrays']:.1f}"])
    return markdown(lines)


def starts(result: dict[str, Any]) -> str:
    """Processor seconds until a process has started and ended."""
    lines = [["process", "processor seconds"]]
    lines += [[name, f"{taken:.2f}"] for name, taken in result["processor_seconds"].items()]
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=9_600_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--output", type=Path, default=RESULT)
    parser.add_argument("--starts", action="store_true", help="only that table anew")
    parser.add_argument("--one", nargs=2, metavar=("READER", "FILE"), help="reads, and prints")
    given = parser.parse_args()
    if given.one:
        return one(*given.one)
    if given.starts:
        result = json.loads(given.output.read_text()) | measure_starts(given.rounds)
        result["starts_on"] = conditions()
    else:
        result = {**conditions(), **measure(given.rows, given.rounds)}
    given.output.write_text(json.dumps(result, indent=1) + "\n")
    print(table(result), starts(result), sep="\n\n")


if __name__ == "__main__":
    main()
