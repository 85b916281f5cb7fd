"""Generators: the right model, simple and symmetric, the same for the same seed."""

import networkx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from internals import pair_of

from torchcent import generate

SEEDED = {
    "rmat": lambda seed: generate.rmat(8, 8, seed=seed),
    "ba": lambda seed: generate.ba(200, 4, seed=seed),
    "er": lambda seed: generate.er(200, 0.05, seed=seed),
    "er m": lambda seed: generate.er(200, m=700, seed=seed),
    "delaunay": lambda seed: generate.delaunay(200, seed=seed),
    "ws": lambda seed: generate.ws(200, 6, 0.3, seed=seed),
    "road": lambda seed: generate.road(15, 20, seed=seed),
    "planted": lambda seed: generate.planted(200, 8, seed=seed),
}


def graph(edge_index, num_nodes):
    made = networkx.empty_graph(num_nodes)
    made.add_edges_from(edge_index.T.tolist())
    return made


@pytest.mark.parametrize("name", [*SEEDED, "grid"])
def test_simple_symmetric_sorted(name):
    index = generate.grid(7, 9) if name == "grid" else SEEDED[name](3)
    assert index.dtype == torch.int64
    pairs = list(map(tuple, index.T.tolist()))
    assert pairs == sorted(set(pairs))
    assert all(u != v for u, v in pairs)
    assert set(pairs) == {(v, u) for u, v in pairs}
    assert index.min() >= 0


@pytest.mark.parametrize("name", SEEDED)
def test_seed(name):
    assert SEEDED[name](1).equal(SEEDED[name](1))
    assert not SEEDED[name](1).equal(SEEDED[name](2))


@given(rows=st.integers(0, 6), cols=st.integers(0, 6))
def test_grid_is_networkx_grid(rows, cols):
    index = generate.grid(rows, cols)
    expected = networkx.grid_2d_graph(rows, cols)
    arcs = {(a * cols + b, c * cols + d) for (a, b), (c, d) in expected.edges}
    assert set(map(tuple, index.T.tolist())) == arcs | {(v, u) for u, v in arcs}


@given(n=st.integers(2, 40), m=st.integers(1, 39), seed=st.integers(0, 9))
def test_ba_counts(n, m, seed):
    if m >= n:
        with pytest.raises(ValueError, match="accepted: 1 to n - 1"):
            generate.ba(n, m, seed=seed)
        return
    made = graph(generate.ba(n, m, seed=seed), n)
    assert made.number_of_edges() == m * (n - m)
    assert networkx.is_connected(made)
    # each vertex after the first star has the m it chose, and whoever chose it
    assert all(made.degree(v) >= m for v in range(m, n))
    assert all(sum(u < v for u in made[v]) == m for v in range(m + 1, n))


def test_ba_prefers_degree():
    """Old vertices end up with far more than a uniform choice would give them."""
    n, m = 3000, 4
    degree = np.bincount(generate.ba(n, m)[0].numpy())
    uniform = m * (1 + np.log(n / 100))  # expectation of vertex 100 without preference
    assert degree[:100].mean() > 1.3 * uniform
    theirs = [d for _, d in networkx.barabasi_albert_graph(n, m, seed=1).degree]
    # the exponent of the tail, by the maximum likelihood estimate above 2m
    mine, other = (1 + 1 / np.log(x[x >= 8] / 7.5).mean() for x in (degree, np.array(theirs)))
    assert mine == pytest.approx(other, abs=0.25)


@given(n=st.integers(0, 30), share=st.floats(0, 1), seed=st.integers(0, 9))
def test_er_exact_count(n, share, seed):
    m = int(share * n * (n - 1) / 2)
    assert generate.er(n, m=m, seed=seed).shape == (2, 2 * m)


@pytest.mark.parametrize("p", [0.0, 0.02, 0.5, 0.9, 1.0])
def test_er_probability(p):
    n = 300
    index = generate.er(n, p, seed=5)
    pairs = n * (n - 1) / 2
    assert abs(index.size(1) / 2 - p * pairs) <= 5 * np.sqrt(pairs * p * (1 - p))
    if p == 0.5:  # no pair is out of reach, none preferred
        half = sum(
            np.bincount(generate.er(40, 0.5, seed=s)[0].numpy(), minlength=40) for s in range(40)
        )
        assert half.min() > 39 * 20 - 5 * np.sqrt(39 * 10)
        assert half.max() < 39 * 20 + 5 * np.sqrt(39 * 10)


def test_er_pairs_of_a_large_graph():
    """The last pair numbers lie beyond what float32 could tell apart."""
    n = 3_000_000
    last = n * (n - 1) // 2 - 1
    low, high = pair_of(np.array([0, 1, 2, 3, last - n + 2, last]))
    assert low.tolist() == [0, 0, 1, 0, 0, n - 2]
    assert high.tolist() == [1, 2, 2, 3, n - 1, n - 1]


@given(n=st.integers(1, 30), k=st.integers(0, 29), seed=st.integers(0, 9), p=st.floats(0, 1))
def test_ws_counts(n, k, p, seed):
    if k >= n:
        with pytest.raises(ValueError, match="accepted: 0 to n - 1"):
            generate.ws(n, k, p, seed=seed)
        return
    made = graph(generate.ws(n, k, p, seed=seed), n)
    assert made.number_of_edges() == n * (k // 2)
    assert all(degree >= k // 2 for _, degree in made.degree)
    assert networkx.utils.edges_equal(
        graph(generate.ws(n, k, 0, seed=seed), n).edges,
        networkx.watts_strogatz_graph(n, k, 0).edges,
    )


@pytest.mark.slow
def test_ws_rewires_the_share():
    n, k, p = 4000, 10, 0.3
    ring = {tuple(e) for e in generate.ws(n, k, 0).T.tolist()}
    kept = sum(tuple(e) in ring for e in generate.ws(n, k, p, seed=2).T.tolist()) / len(ring)
    assert kept == pytest.approx(1 - p, abs=0.02)


def test_delaunay_is_a_triangulation():
    n = 500
    made = graph(generate.delaunay(n), n)
    planar, embedding = networkx.check_planarity(made)
    assert planar and networkx.is_connected(made)
    faces = set()
    for u, v in embedding.edges:
        faces.add(frozenset(embedding.traverse_face(u, v)))
    assert sum(len(face) > 3 for face in faces) <= 1  # all triangles but the one outside
    assert made.number_of_edges() <= 3 * n - 6


def test_road():
    rows, cols = 60, 70
    made = graph(generate.road(rows, cols, 0.3, seed=1), None or 0)
    n = made.number_of_nodes()
    assert set(made) == set(range(n))
    assert networkx.is_connected(made)
    assert 0.8 * rows * cols < n < rows * cols
    assert max(d for _, d in made.degree) == 4
    total = rows * (cols - 1) + cols * (rows - 1)
    assert made.number_of_edges() / total == pytest.approx(0.7, abs=0.03)
    whole = generate.road(5, 6, 0)
    assert whole.equal(generate.grid(5, 6))
    assert generate.road(3, 3, 1.0).shape == (2, 0)


def test_rmat_is_skewed_and_balanced_when_told():
    n = 1 << 12
    skewed = np.bincount(generate.rmat(12, 16)[0].numpy(), minlength=n)
    even = np.bincount(generate.rmat(12, 16, a=0.25, b=0.25, c=0.25)[0].numpy(), minlength=n)
    assert skewed.max() > 12 * skewed.mean()
    assert (skewed == 0).mean() > 0.1
    # 16 n arcs thrown at random: degrees are Poisson with mean 32
    assert even.mean() == pytest.approx(32, rel=0.02)
    assert even.var() == pytest.approx(32, rel=0.15)
    assert even.max() < 32 + 7 * np.sqrt(32)


def test_rmat_quadrants():
    """With scale 1 and one arc, the pair 0-1 appears with probability b + c."""
    seeds = 2000
    hits = sum(generate.rmat(1, 1, a=0.5, b=0.1, c=0.2, seed=s).numel() > 0 for s in range(seeds))
    expected = 1 - 0.7**2  # edge_factor 1 means 2 arcs for 2 vertices
    assert hits / seeds == pytest.approx(expected, abs=5 * 0.5 / np.sqrt(seeds))


def test_small():
    assert generate.rmat(0).shape == (2, 0)
    assert generate.rmat(3, 0).shape == (2, 0)
    assert generate.ba(2, 1).tolist() == [[0, 1], [1, 0]]
    assert generate.er(0, 0.5).shape == (2, 0)
    assert generate.ws(1, 0, 0.5).shape == (2, 0)
    assert generate.road(1, 1).shape == (2, 0)
    assert generate.delaunay(3).shape == (2, 6)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: generate.rmat(-1), ValueError, "scale=-1; accepted: 0 or more"),
        (lambda: generate.rmat(31), ValueError, "scale=31; accepted: 0 to 30"),
        (lambda: generate.rmat(4.0), TypeError, "scale must be an int, got float"),
        (lambda: generate.rmat(4, a=0.9), ValueError, "a=0.9, b=0.19, c=0.19; accepted"),
        (lambda: generate.rmat(4, b=-0.1), ValueError, "none negative"),
        (lambda: generate.ba(1, 1), ValueError, "n=1; accepted: 2 or more"),
        (lambda: generate.ba(5, 0), ValueError, "m=0; accepted: 1 or more"),
        (lambda: generate.er(5), ValueError, "exactly one"),
        (lambda: generate.er(5, 0.5, m=3), ValueError, "exactly one"),
        (lambda: generate.er(5, 1.5), ValueError, "p=1.5; accepted: 0 to 1"),
        (lambda: generate.er(5, float("nan")), ValueError, "p=nan"),
        (lambda: generate.er(5, m=11), ValueError, "m=11; accepted: 0 to n.* = 10"),
        (lambda: generate.grid(-1, 3), ValueError, "rows=-1"),
        (lambda: generate.grid(True, 3), TypeError, "rows must be an int, got bool"),
        (lambda: generate.delaunay(2), ValueError, "n=2; accepted: 3 or more"),
        (lambda: generate.ws(5, 2, -0.1), ValueError, "p=-0.1"),
        (lambda: generate.road(3, 3, 2), ValueError, "removed=2"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.slow
def test_planted_clusters():
    """Without mixing clusters are components of the sizes asked for; with all of it they vanish."""
    n = 5000
    apart = graph(generate.planted(n, 40, 0, smallest=5, largest=60, seed=1), n)
    sizes = [len(c) for c in networkx.connected_components(apart)]
    assert max(sizes) <= 60
    assert np.mean(sizes) > 5
    index = generate.planted(n, 12, 1, seed=1)
    assert index.shape[1] / n == pytest.approx(12, rel=0.05)
    assert max(map(len, networkx.connected_components(graph(index, n)))) > 0.95 * n
    degree = np.bincount(index[0].numpy(), minlength=n)
    assert degree.max() > 5 * degree.mean()  # a power law


def test_planted_edge_cases():
    assert generate.planted(0).shape == generate.planted(1).shape == (2, 0)
    assert generate.planted(9, 0).shape == (2, 0)
    for arguments in (
        {"n": -1},
        {"n": 5, "degree": -1},
        {"n": 5, "mixing": 2},
        {"n": 5, "largest": 2},
    ):
        with pytest.raises(ValueError, match="accepted"):
            generate.planted(**arguments)
