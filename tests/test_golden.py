"""Scores of real graphs against results by other programs (tests/golden and, where it is there,
shared/golden beside the repository).

Unless said otherwise those are raw scores of undirected graphs that count each unordered pair
once; directed graphs were searched along their arcs.
"""

import gzip
import lzma
import re
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch
from engines import ENGINES, assert_scores, skip_if_too_large
from graphs import DEVICE, edge_index
from pytest import MarkDecorator
from references import Golden, Graphs
from surface import call
from torch import Tensor

import torchcent

pytestmark = pytest.mark.sweep

F64 = torch.float64

# By sources x slots: every engine gets through the small ones in a few seconds, the queue through
# the middling ones too, lanes through all.
SMALL = ["karate", "dolphins", "football", "jazz", "celegans_metabolic", "email-Eu-core"]
MIDDLING = [
    "polblogs-gml",
    "rome99",
    "power",
    "delaunay_n12",
    "p2p-Gnutella08",
    "ca-GrQc",
    "as20000102",
    "PGPgiantcompo",
    "hprd-release9",
]
LARGE = ["breast-coexpress"]


def runs(small: Sequence[str], middling: Sequence[str], large: Sequence[str]) -> MarkDecorator:
    """Parametrises a test by engine and name."""
    names = {
        "tensor": small,
        "tiny": small,
        "queue": [*small, *middling],
        "lanes": [*small, *middling, *large],
    }
    pairs = [(engine, name) for engine in ENGINES for name in names[engine]]
    return pytest.mark.parametrize("engine, name", pairs, indirect=["engine"])


def text_lines(file: Path) -> list[str]:
    reader = {".xz": lzma.open, ".gz": gzip.open}.get(file.suffix, open)
    with reader(file, "rt") as lines:
        return list(lines)


def table(folder: Path, name: str) -> dict[str, float]:
    """vertex -> score from a table with a header line."""
    file = next(folder.glob(f"betweenness_centrality_{name}.txt*"))
    return {vertex: float(score) for vertex, score in map(str.split, text_lines(file)[1:])}


def columns(matrix: scipy.sparse.csr_matrix) -> Tensor:
    coo = matrix.tocoo()
    return torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64)).to(DEVICE)


@pytest.mark.slow
@runs(SMALL, MIDDLING, LARGE)
def test_igraph(engine: str, name: str, load: Graphs, golden: Golden) -> None:
    matrix, info = load.load(name)
    reference = np.load(golden / f"igraph-1.0.0/{name}.npz")
    known = torchcent.Graph.from_edge_index(columns(matrix), matrix.shape[0], info["directed"])
    actual = torchcent.betweenness(
        known, normalized=False, run=torchcent.Run(engine=engine, dtype=F64)
    )
    assert_scores(actual, torch.from_numpy(reference["betweenness"]), engine)
    if "edge_betweenness" not in reference:
        return
    actual = torchcent.edge_betweenness(
        known, normalized=False, run=torchcent.Run(engine=engine, dtype=F64)
    )
    column = {(u, v): e for e, (u, v) in enumerate(zip(*columns(matrix).tolist(), strict=True))}
    ends = zip(reference["edge_row"].tolist(), reference["edge_col"].tolist(), strict=True)
    at = [column[u, v] for u, v in ends]
    assert_scores(actual[at], torch.from_numpy(reference["edge_betweenness"]), engine)


@pytest.mark.parametrize("name", [*SMALL, "polblogs-gml", "power"])
def test_igraph_distances(distance_engine: str, name: str, load: Graphs, golden: Golden) -> None:
    """Closeness: 1 / the sum of the distances to what is reached; harmonic: the mean of 1 / d."""
    matrix, info = load.load(name)
    n = matrix.shape[0]
    if distance_engine == "tensor" and name not in SMALL:
        pytest.skip("slow on the tensor engine")
    skip_if_too_large(distance_engine, n)
    reference = np.load(golden / f"igraph-1.0.0/{name}.npz")
    known = torchcent.Graph.from_edge_index(columns(matrix), n, info["directed"])
    profile = torchcent.distance_profile(
        known.reversed(), run=torchcent.Run(engine=distance_engine, dtype=F64)
    )
    farness, harmonic = profile.farness.cpu(), profile.harmonic.cpu()
    closeness = torch.where(farness > 0, 1 / farness, 0)
    expected = torch.from_numpy(reference["closeness"]).nan_to_num(0)
    torch.testing.assert_close(closeness, expected, rtol=1e-12, atol=0)
    expected = torch.from_numpy(reference["harmonic"])
    torch.testing.assert_close(harmonic / (n - 1), expected, rtol=1e-9, atol=0)


@pytest.mark.slow
@runs([], ["ca-GrQc", "ca-HepTh"], ["ca-CondMat"])
def test_bebeca(engine: str, name: str, load: Graphs, golden: Golden) -> None:
    file = golden.matching(f"bebeca-bc/{name}.txt.*")[0]
    scores = {int(v): float(score) for v, score in (line.split(":") for line in text_lines(file))}
    matrix, _ = load.load(f"{name}-lcc")
    actual = torchcent.betweenness(
        torchcent.Graph.from_edge_index(columns(matrix), matrix.shape[0], False),
        normalized=False,
        run=torchcent.Run(engine=engine, dtype=F64),
    )
    assert len(scores) == len(actual)
    expected = torch.tensor([scores[v] for v in range(len(scores))], dtype=F64)
    # Written with six decimals; their own sums are good to 1e-12 of the largest score.
    torch.testing.assert_close(
        actual, expected, rtol=ENGINES[engine], atol=1e-6 + 1e-12 * float(expected.max())
    )


@pytest.mark.slow
@runs(["Test1", "Rand", "Pref-attach"], ["Road", "Cite"], [])
def test_networkx_files(engine: str, name: str, golden: Golden) -> None:
    folder = golden / "networkx-bc"
    plain = folder / f"{name}.graphml"
    with plain.open("rb") if plain.exists() else lzma.open(f"{plain}.xz") as file:
        drawn = nx.read_graphml(file)
    matrix = nx.to_scipy_sparse_array(drawn, weight=None)
    known = torchcent.Graph.from_edge_index(columns(matrix), matrix.shape[0], False)
    actual = torchcent.betweenness(
        known, normalized=True, run=torchcent.Run(engine=engine, dtype=F64)
    )
    reference = table(folder, name)
    assert_scores(actual, [reference[vertex] for vertex in drawn], engine)


@pytest.mark.slow
@runs([], [], ["musae-facebook"])
def test_networkx_facebook_pages(engine: str, name: str, load: Graphs, golden: Golden) -> None:
    matrix, _ = load.load(name)
    known = torchcent.Graph.from_edge_index(columns(matrix), matrix.shape[0], False)
    actual = torchcent.betweenness(
        known, normalized=False, run=torchcent.Run(engine=engine, dtype=F64)
    )
    reference = table(golden / "networkx-bc", "Musea")
    expected = [reference[str(vertex)] for vertex in range(matrix.shape[0])]
    assert_scores(actual, expected, engine)


def test_cugraph(engine: str, golden: Golden) -> None:
    text = "".join(text_lines(golden / "cugraph/c_api_bc_arrays.txt.gz"))
    arrays = [
        (name, re.findall(r"[-+.\de]+", body.replace("f", "")))
        for name, body in re.findall(r"h_(src|dst|seeds|result)\[\]\s*=\s*\{([^}]*)\}", text)
    ]
    cases, case = [], {}
    for name, numbers in arrays:
        case[name] = [float(number) for number in numbers]
        if name == "result":
            cases.append(case)
            case = {}
    options = [
        {"directed": False, "normalized": False},
        {"directed": True, "normalized": False},
        {"directed": False, "normalized": True},
        {"directed": True, "normalized": False},  # seeds, on both directions of each edge
        {"directed": True, "normalized": True, "endpoints": True},
        {"directed": True, "normalized": False},  # karate club, each pair twice
    ]
    # Later arrays of the file belong to other functions.
    for case, chosen in zip(cases[: len(options)], options, strict=True):
        arcs = edge_index(list(zip(case["src"], case["dst"], strict=True)))
        seeds = torch.tensor(case["seeds"]).long() if "seeds" in case else None
        actual = call(
            torchcent.betweenness, arcs, sources=seeds, dtype=F64, engine=engine, **chosen
        )
        # Written with six digits.
        torch.testing.assert_close(
            actual, torch.tensor(case["result"], dtype=F64), rtol=1e-5, atol=1e-6
        )
