"""Quality of clusterings, distances between them, and interpretation: by hand and against clm."""

import shutil
import subprocess
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import torchcent
from torchcent import clustering_distance
from torchcent.clustering import _interpret
from torchcent.clustering._flow import Flow, from_packed, pointers
from torchcent.clustering._interpret import interpret

CLM = pytest.mark.skipif(shutil.which("clm") is None, reason="mcl's clm is not installed")


def flow_of(columns: list[dict[int, float]]) -> Flow:
    row = [i for column in columns for i in sorted(column)]
    value = [column[i] for column in columns for i in sorted(column)]
    length = torch.tensor([len(column) for column in columns])
    return from_packed(pointers(length), torch.tensor(row), torch.tensor(value))


def clusters_of(columns: list[dict[int, float]], overlap: str = "keep") -> list[list[int]]:
    found = interpret(flow_of(columns), overlap)
    return [
        found.members[a:b].tolist()
        for a, b in zip(found.offset[:-1], found.offset[1:], strict=True)
    ]


def test_interpretation_by_hand() -> None:
    """Checked with ``clm imac``."""
    assert clusters_of([{1: 1}, {0: 1}]) == [[0, 1]]  # to and fro
    assert clusters_of([{0: 0.1, 1: 0.9}, {1: 1}]) == [[0, 1]]
    assert clusters_of([{1: 0.99, 2: 0.01}, {1: 1}, {2: 1}]) == [[0, 1], [0, 2]]
    assert clusters_of([{1: 0.9991, 2: 0.0009}, {1: 1}, {2: 1}]) == [[0, 1], [2]]
    # attractors that are joined by arcs make one cluster, in whichever direction
    joined = [{0: 0.3334, 1: 0.3333, 2: 0.3333}, {1: 1}, {2: 1}, {0: 1}, {1: 1}, {2: 1}]
    assert clusters_of(joined) == [[0, 1, 2, 3, 4, 5]]
    # through vertices that are none, to whatever is reached
    deep = [{1: 1}, {2: 1}, {2: 1}, {3: 1}, {2: 0.5, 3: 0.5}]
    assert clusters_of(deep) == [[0, 1, 2, 4], [3, 4]]
    assert clusters_of(deep, "cut") == [[0, 1, 2, 4], [3]]
    assert clusters_of(deep, "split") == [[0, 1, 2], [3], [4]]
    assert clusters_of([{0: 0.5, 1: 0.5}, {2: 1}, {2: 1}, {0: 1}, {1: 1}]) == [
        [1, 2, 3, 4],
        [0, 3],
    ]
    # the cut leaves a vertex with the system of more attractors, then of the lower ones
    several = [{1: 1 / 3, 2: 1 / 3, 3: 1 / 3}, {1: 1}, {2: 0.5, 3: 0.5}, {2: 0.5, 3: 0.5}]
    assert clusters_of(several, "cut") == [[0, 2, 3], [1]]


@CLM
def test_interpretation_is_that_of_clm(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    overlapping = 0
    for _ in range(60):
        n = int(rng.integers(2, 13))
        columns = []
        for j in range(n):
            rows = set(rng.choice(n, min(n, int(rng.integers(1, 4))), replace=False).tolist())
            if rng.random() < 0.3:
                rows.add(j)
            columns.append(dict.fromkeys(rows, round(1 / len(rows), 6)))
        vectors = [
            f"{j} " + " ".join(f"{i}:{v}" for i, v in sorted(column.items())) + " $"
            for j, column in enumerate(columns)
        ]
        text = f"(mclheader\nmcltype matrix\ndimensions {n}x{n}\n)\n(mclmatrix\nbegin\n"
        (tmp_path / "flow.mci").write_text(text + "\n".join(vectors) + "\n)\n")
        for overlap in ("keep", "cut"):
            command = ["clm", "imac", "-imx", "flow.mci", "-o", "out", "-overlap", overlap]
            subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
            body = (tmp_path / "out").read_text().split("begin")[1].split("$")[:-1]
            expected = sorted(sorted(map(int, line.split()[1:])) for line in body)
            assert sorted(clusters_of(columns, overlap)) == expected
        overlapping += len(interpret(flow_of(columns), "keep").overlaps) > 0
    assert overlapping > 10


ARCS = st.integers(1, 9).flatmap(
    lambda n: st.lists(
        st.dictionaries(st.integers(0, n - 1), st.sampled_from([0.2, 0.5]), max_size=3),
        min_size=n, max_size=n,
    )
)  # fmt: skip


@given(ARCS, st.sampled_from(["cut", "keep", "split"]))
def test_interpretation_without_overlap_is_that_of_the_general_case(columns, overlap) -> None:
    """Where each vertex reaches one system, the clusters do not need products of matrices."""
    flow = flow_of(columns)
    found = interpret(flow, overlap)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_interpret, "_single", lambda *_: None)
        patch.setattr(_interpret, "_only", lambda *_: None)
        general = interpret(flow, overlap)
    for name in ("label", "members", "offset", "attractors", "overlaps", "graph"):
        assert np.array_equal(getattr(found, name), getattr(general, name)), name


def test_chains_longer_than_the_general_case_follows() -> None:
    n = 3000
    found = interpret(flow_of([{max(j - 1, 0): 1.0} for j in range(n)]), "cut")
    assert len(found.offset) == 2 and found.attractors.tolist() == [0]


@pytest.mark.parametrize("directed", [False, True])
def test_modularity_is_networkx(directed: bool) -> None:
    graph = nx.gnp_random_graph(30, 0.2, seed=3, directed=directed)
    rng = np.random.default_rng(1)
    for *_, data in graph.edges(data=True):
        data["weight"] = float(rng.random())
    labels = torch.from_numpy(rng.integers(0, 4, 30))
    index = torch.tensor(list(graph.edges())).T
    weight = torch.tensor([w for *_, w in graph.edges(data="weight")], dtype=torch.float64)
    quality = torchcent.clustering_quality(labels, index, weight, directed=directed or False)
    communities = [{v for v in range(30) if labels[v] == c} for c in range(4)]
    expected = nx.community.modularity(graph, communities)
    assert quality["modularity"] == pytest.approx(expected, abs=1e-12)


@CLM
def test_quality_is_that_of_clm_info(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    for trial in range(8):
        n = 20 + trial
        weight = np.triu(np.round(rng.random((n, n)) * (rng.random((n, n)) < 0.25), 3), 1)
        weight += weight.T
        lines = [
            f"{j} " + " ".join(f"{i}:{weight[i, j]}" for i in np.flatnonzero(weight[:, j])) + " $"
            for j in range(n)
        ]
        head = f"(mclheader\nmcltype matrix\ndimensions {n}x%d\n)\n(mclmatrix\nbegin\n"
        (tmp_path / "graph.mci").write_text(head % n + "\n".join(lines) + "\n)\n")
        labels = rng.permutation(np.arange(n) % 4)
        members = [
            f"{c} " + " ".join(map(str, np.flatnonzero(labels == c))) + " $" for c in range(4)
        ]
        (tmp_path / "clusters").write_text(head % 4 + "\n".join(members) + "\n)\n")
        command = ["clm", "info", "graph.mci", "clusters"]
        said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        told = dict(x.split("=") for x in said.stdout.split() if "=" in x)
        edges = torchcent.read(tmp_path / "graph.mci")
        found = torchcent.clustering_quality(
            torch.from_numpy(labels), edges.edge_index, edges.edge_weight
        )
        names = {"eff": "efficiency", "mod": "modularity"}
        names |= {"mf": "mass_fraction", "af": "area_fraction"}
        for short, name in names.items():
            assert found[name] == pytest.approx(float(told[short]), abs=6e-6)


LABELS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12)


@given(LABELS)
def test_split_join(pairs: list[tuple[int, int]]) -> None:
    """Against its definition, and a metric's laws."""
    first, second = (torch.tensor(side) for side in zip(*pairs, strict=True))

    def sets(labels: torch.Tensor) -> list[set[int]]:
        values = labels.tolist()
        return [{v for v, x in enumerate(values) if x == c} for c in set(values)]

    def away(these: list[set[int]], those: list[set[int]]) -> int:
        return len(pairs) - sum(max(len(a & b) for b in those) for a in these)

    a, b = sets(first), sets(second)
    found = clustering_distance(first, second)
    assert found == (away(a, b) + away(b, a), away(a, b), away(b, a))
    assert clustering_distance(second, first) == (found.distance, found.second, found.first)
    assert clustering_distance(first, first) == (0, 0, 0)
    meet = 6 * first + second
    via = clustering_distance(first, meet).distance + clustering_distance(meet, second).distance
    assert via == found.distance


def test_agreement_with_a_standard() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    arcs = torch.tensor(list(nx.karate_club_graph().edges())).T
    found = torchcent.mcl(arcs, directed=False)
    truth = torch.tensor(
        [int(x == "Officer") for _, x in nx.karate_club_graph().nodes(data="club")]
    )
    said = found.agreement(truth)
    assert said["ari"] == metrics.adjusted_rand_score(truth, found.labels)
    assert said["nmi"] == metrics.normalized_mutual_info_score(truth, found.labels)
    assert found.agreement(found) == {"ari": 1.0, "nmi": pytest.approx(1.0)}
    partly = truth.clone()
    partly[5:] = -1
    assert found.agreement(partly)["ari"] == metrics.adjusted_rand_score(
        truth[:5], found.labels[:5]
    )


def test_agreement_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    found = torchcent.mcl(torch.tensor([[0, 1], [1, 0]]))
    with pytest.raises(ImportError, match=r"of the extra torchcent\[cluster\]"):
        found.agreement(found)
