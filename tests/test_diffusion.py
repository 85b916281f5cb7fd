"""Personalised PageRank and the heat kernel as sparse rows, against dense matrices of NumPy and
SciPy: the bound on every entry, the largest entries, and the same bits by kernels and tensors."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg
import torch
from graphs import DEVICE
from surface import call
from tuning import tuned

import torchcent
from torchcent import Graph, Run

F64 = torch.float64
NAMES = ["personalized_pagerank", "heat_kernel"]
TENSORS = SimpleNamespace(has_kernel=lambda *_: False)


@pytest.fixture(params=["compiled", "tensor"])
def engine(request, tuning):
    if request.param == "tensor":
        tuning(diffusion_operators=TENSORS, diffusion_arcs=500)  # several sources at a time
    return request.param


def drawn(seed, sizes, weights=None, symmetric=False, density=1.5):
    """Columns with loops and repetitions, their weights, ptr and the whole adjacency matrix."""
    draw = np.random.default_rng(seed)
    ptr = np.cumsum([0, *sizes])
    matrix, columns, values = np.zeros((ptr[-1],) * 2), [], []
    for n, first in zip(sizes, ptr, strict=False):
        for u, v in first + draw.integers(0, n, (int(density * n), 2)) if n else ():
            w = 1.0 if weights is None else draw.choice(weights)
            for a, b in [(u, v), (v, u)] if symmetric else [(u, v)]:
                columns.append((a, b))
                values.append(w)
                matrix[a, b] += w
    index = torch.tensor(columns, dtype=torch.int64).reshape(-1, 2).T.contiguous().to(DEVICE)
    weight = None if weights is None else torch.tensor(values, dtype=F64, device=DEVICE)
    return index, weight, torch.from_numpy(ptr).to(DEVICE), matrix


def transition(matrix, sym=False):
    out = matrix.sum(1, keepdims=True)
    share = np.divide(1, out, where=out > 0, out=np.zeros_like(out))
    return np.sqrt(share) * matrix * np.sqrt(share.T) if sym else share * matrix


def exact(name, matrix, options, sym=False):
    step, unit = transition(matrix, sym), np.eye(len(matrix))
    if name == "heat_kernel":
        return scipy.linalg.expm(options["t"] * (step - unit))
    restart = options["restart"]
    return restart * np.linalg.inv(unit - (1 - restart) * step)


def largest_error(name, matrix, options):
    """The bound of each entry of a column."""
    out, step = matrix.sum(1), transition(matrix)
    if (matrix == matrix.T).all():
        return options["eps"] * out
    if name == "heat_kernel":
        flows = itertools.accumulate(range(200), lambda flow, _: flow @ step, initial=out)
        return options["eps"] * np.max(list(flows), axis=0)
    return options["eps"] * out @ exact(name, matrix, options)


def dense(rows, n):
    result = np.zeros((rows.ptr.numel() - 1, n))
    row = torch.repeat_interleave(rows.ptr.diff()).cpu()
    result[row, rows.target.cpu()] = rows.value.cpu()
    return result


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def batch_of(ptr):
    return torch.repeat_interleave(ptr.diff())


def options_of(draw, name):
    own = {"t": float(draw.choice([0.3, 1, 5, 30]))}
    if name == "personalized_pagerank":
        own = {"restart": float(draw.choice([0.1, 0.15, 0.7, 1]))}
    return own | {"eps": float(draw.choice([0.3, 1e-2, 1e-4, 1e-7]))}


@pytest.mark.sweep(by="name seed symmetric")
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(8))
def test_the_bound(engine, name, symmetric, seed, cases=3):
    for case in range(cases):
        draw = np.random.default_rng([seed, case])
        sizes = draw.integers(0, 14, 3).tolist()
        weights = [None, (0.5, 1, 3), (1e-3, 7.25, 100)][case % 3]
        index, weight, ptr, matrix = drawn([seed, case], sizes, weights, symmetric)
        options, n = options_of(draw, name), len(matrix)
        rows = call(
            getattr(torchcent, name), index, weight, num_nodes=n, batch=batch_of(ptr), **options,
            run=Run(dtype=F64),
        )  # fmt: skip
        assert rows.target.dtype == torch.int64 and rows.ptr.numel() == n + 1
        if not n:
            continue
        row = torch.repeat_interleave(rows.ptr.diff())
        place = row * n + rows.target
        assert bool((place.diff() > 0).all()) and bool((rows.value > 0).all())
        error = exact(name, matrix, options) - dense(rows, n)
        assert error.min() > -1e-12
        assert (error <= largest_error(name, matrix, options) + 1e-12).all()


@pytest.mark.parametrize("name", NAMES)
def test_symmetric_normalization(engine, name):
    index, weight, _, matrix = drawn(5, [40], (0.5, 2), symmetric=True)
    options = {"eps": 1e-5} | ({"t": 3.0} if name == "heat_kernel" else {"restart": 0.2})
    rows = call(
        getattr(torchcent, name), index, weight, num_nodes=40, normalization="sym", **options,
        run=Run(dtype=F64),
    )  # fmt: skip
    out = matrix.sum(1)
    root = np.sqrt(np.where(out > 0, out, 1))
    error = exact(name, matrix, options, sym=True) - dense(rows, 40)
    assert error.min() > -1e-12
    assert (error <= options["eps"] * out * root[:, None] / root + 1e-12).all()


@pytest.mark.slow
@pytest.mark.sweep(by="engine name top_k sym")
@pytest.mark.parametrize("sym", [False, True])
@pytest.mark.parametrize("top_k", [1, 3, 1000])
@pytest.mark.parametrize("name", NAMES)
def test_the_largest_entries(engine, name, top_k, sym):
    """Of equal ones those of smaller ids, of which a cycle and a grid have many."""
    grid = torchcent.generate.road(6, 6, seed=1)
    ring = torch.tensor([range(36, 56), [*range(37, 56), 36]])
    star = torch.tensor([[60] * 12, range(61, 73)])
    graph = Graph.from_edge_index(torch.cat([grid, ring, star], 1).to(DEVICE), 75, directed=False)
    run, norm = Run(dtype=F64), "sym" if sym else "row"
    whole = call(getattr(torchcent, name), graph, eps=1e-3, normalization=norm, run=run)
    top = call(getattr(torchcent, name), graph, eps=1e-3, normalization=norm, top_k=top_k, run=run)
    assert top.ptr.diff().max() == min(top_k, int(whole.ptr.diff().max()))
    for v in range(75):
        own, few = (slice(*rows.ptr[v : v + 2].tolist()) for rows in (whole, top))
        entries = sorted(
            zip((-whole.value[own]).tolist(), whole.target[own].tolist(), strict=True)
        )[:top_k]
        known = sorted((target, -value) for value, target in entries)
        assert known == list(zip(top.target[few].tolist(), top.value[few].tolist(), strict=True))


@pytest.mark.parametrize("weights", [None, (0.5, 3)])
@pytest.mark.parametrize("name", NAMES)
def test_bits(name, weights):
    """Of graphs alone and in a batch, of some sources, of each number of threads, by kernels and
    on tensors, in rows of unknown size that have little room."""
    sizes = [30, 0, 1, 17, 50, 2, 40]
    index, weight, ptr, matrix = drawn(7, sizes, weights, symmetric=True)
    function, n, batch = getattr(torchcent, name), len(matrix), batch_of(ptr)
    for top_k in (None, 4):
        options = {"num_nodes": n, "batch": batch, "top_k": top_k, "eps": 1e-3}
        known = call(function, index, weight, **options, run=Run(threads=1))
        for threads in (2, 3):
            assert same(known, call(function, index, weight, **options, run=Run(threads=threads)))
        for begin, end in itertools.pairwise(ptr.tolist()):
            own = (index[0] >= begin) & (index[0] < end)
            alone = call(
                function, index[:, own] - begin, None if weight is None else weight[own],
                num_nodes=end - begin, top_k=top_k, eps=1e-3,
            )  # fmt: skip
            part = slice(int(known.ptr[begin]), int(known.ptr[end]))
            assert torch.equal(alone.target + begin, known.target[part])
            assert torch.equal(alone.value, known.value[part])
        some = torch.tensor([130, 5, 64, 31, 2], device=DEVICE)
        rows = call(function, index, weight, **options, sources=some)
        for i, v in enumerate(some.tolist()):
            one, other = (slice(*x.ptr[j : j + 2].tolist()) for x, j in ((rows, i), (known, v)))
            assert torch.equal(rows.target[one], known.target[other])
            assert torch.equal(rows.value[one], known.value[other])
        with pytest.MonkeyPatch.context() as patch:
            tuned(patch)(diffusion_room=50, inline=0, units_work=1e3)
            assert same(known, call(function, index, weight, **options))
            tuned(patch)(diffusion_operators=TENSORS)
            assert same(known, call(function, index, weight, **options))


@pytest.mark.parametrize("name", NAMES)
def test_names_of_vertices_do_not_matter(engine, name):
    index, _, _, _ = drawn(3, [60], symmetric=True)
    order = torch.randperm(60, generator=torch.Generator().manual_seed(1)).to(DEVICE)
    run = Run(dtype=F64)
    one = dense(call(getattr(torchcent, name), index, num_nodes=60, run=run), 60)
    other = dense(call(getattr(torchcent, name), order[index], num_nodes=60, run=run), 60)
    order = order.cpu().numpy()
    assert (other[np.ix_(order, order)] == one).all()


def test_a_hub_moves_its_mass(engine):
    """As in PyTorch Geometric, although it has no more than the bound allows."""
    star = torch.stack([torch.zeros(50, dtype=torch.int64), torch.arange(1, 51)]).to(DEVICE)
    rows = call(torchcent.personalized_pagerank, star, directed=False, eps=0.1)
    assert rows.ptr[:2].tolist() == [0, 1] and rows.target[0] == 0
    torch.testing.assert_close(rows.value[0].item(), 0.15)


def test_as_get_ppr(engine, monkeypatch):
    """The function of PyTorch Geometric pushes in another order."""
    ppr = pytest.importorskip("torch_geometric.utils.ppr")
    monkeypatch.setattr(ppr, "numba", SimpleNamespace(prange=range, int64=int), raising=False)
    index, _, _, matrix = drawn(2, [25], symmetric=True, density=2)
    for restart, eps in ((0.15, 1e-3), (0.2, 1e-2)):
        adjacency = [np.repeat(np.arange(25), row.astype(int)) for row in matrix]
        rowptr = np.cumsum([0, *map(len, adjacency)])
        js, values = ppr._get_ppr(rowptr, np.concatenate(adjacency), restart, eps)
        known = np.zeros((25, 25))
        for v, (targets, row) in enumerate(zip(js, values, strict=True)):
            known[v, targets] = row
        rows = call(torchcent.personalized_pagerank, index, num_nodes=25, restart=restart, eps=eps)
        assert (abs(dense(rows, 25) - known) <= eps * matrix.sum(1) + 1e-6).all()


@pytest.mark.parametrize("name", NAMES)
def test_small_graphs(engine, name):
    function = getattr(torchcent, name)
    none = torch.empty(2, 0, dtype=torch.int64, device=DEVICE)
    alone = 0.15 if name == "personalized_pagerank" else math.exp(-5)
    for top_k in (None, 2):
        assert function(none, num_nodes=0, top_k=top_k).ptr.tolist() == [0]
        rows = function(none, num_nodes=3, top_k=top_k)
        assert rows.ptr.tolist() == [0, 1, 2, 3] and rows.target.tolist() == [0, 1, 2]
        torch.testing.assert_close(rows.value.tolist(), [alone] * 3, rtol=1e-6, atol=0)
        loop = function(none.new_zeros(2, 1), num_nodes=1, top_k=top_k, eps=1e-6)
        torch.testing.assert_close(loop.value.item(), 1.0, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint(name, tmp_path, tuning):
    tuning(inline=0, units_work=1e4)
    graph = Graph.from_edge_index(torchcent.generate.ba(400, 3, seed=1).to(DEVICE), directed=False)
    known = call(getattr(torchcent, name), graph, top_k=7)
    for _ in range(2):
        assert same(
            known, call(getattr(torchcent, name), graph, top_k=7, run=Run(checkpoint=tmp_path))
        )
    assert any(tmp_path.iterdir())
    with pytest.raises(ValueError, match="pass top_k as well"):
        getattr(torchcent, name)(graph, run=Run(checkpoint=tmp_path))


@pytest.mark.slow
def test_memory(tuning):
    graph = Graph.from_edge_index(torchcent.generate.ba(3000, 8, seed=1).to(DEVICE), directed=False)
    with pytest.raises(MemoryError, match="top_k=64"):
        torchcent.personalized_pagerank(graph, top_k=64, run=Run(memory=2 * 10**6))
    with pytest.raises(MemoryError, match="entries so far"):
        torchcent.personalized_pagerank(graph, eps=1e-7, run=Run(memory=30 * 10**6))
    assert torchcent.personalized_pagerank(graph, top_k=8, run=Run(memory=30 * 10**6)).ptr[-1] > 0


PATH = torch.tensor([[0, 1, 2], [1, 2, 3]])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"restart": 0}, ValueError, "restart must be in"),
        ({"restart": "much"}, TypeError, "restart must be a number"),
        ({"eps": 0}, ValueError, "eps must be in"),
        ({"eps": math.nan}, ValueError, "eps must be in"),
        ({"top_k": 0}, ValueError, "top_k must be at least 1"),
        ({"top_k": 1.5}, TypeError, "top_k must be an int"),
        ({"sources": torch.tensor([4])}, ValueError, "sources contains vertex 4"),
        ({"sources": torch.tensor([1, 1])}, ValueError, "sources contains vertex 1 more than once"),
        ({"normalization": "col"}, ValueError, "normalization must be one of row, sym"),
        ({"normalization": "sym"}, ValueError, "needs a symmetric matrix"),
        ({"alpha": 0.15}, TypeError, "alpha"),
        ({"edge_weight": torch.tensor([1.0, math.nan, 1])}, ValueError, "edge_weight"),
        ({"edge_weight": torch.tensor([1.0, -1, 1])}, ValueError, "edge_weight"),
        ({"edge_weight": torch.ones(3, requires_grad=True)}, ValueError, "requires grad"),
    ],
)
def test_bad_input(options, error, message):
    moved = {k: v.to(DEVICE) if isinstance(v, torch.Tensor) else v for k, v in options.items()}
    with pytest.raises(error, match=message):
        torchcent.personalized_pagerank(PATH.to(DEVICE), **moved)


def test_bad_times():
    for t in (0, -1, 1e4, math.nan):
        with pytest.raises(ValueError, match="t must be in"):
            torchcent.heat_kernel(PATH.to(DEVICE), t=t)


def test_weights_of_0_are_no_arcs(engine):
    weight = torch.tensor([1.0, 0, 1], device=DEVICE)
    rows = torchcent.personalized_pagerank(PATH.to(DEVICE), weight)
    assert rows.target.tolist() == [0, 1, 1, 2, 3, 3]
