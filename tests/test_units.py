"""Units of work: how a search is cut, and that nothing else changes its bits."""

import networkx
import pytest
import torch
from hypothesis import assume, example, given
from hypothesis import strategies as st
from internals import COMPILED
from runs import CASES, PAIRS, SMALL
from tuning import original, tuned

from torchcent.distribute import _units
from torchcent.runtime._tuned import TUNED

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled library")
ENGINES = sorted(set(TUNED) - {"tiny", "closure"})


@example(engine="lanes", device="cuda", sources=700, slots=10**10)  # six batches of 128 lanes
@example(engine="bits", device="cuda", sources=1500, slots=10**10)
@given(
    engine=st.sampled_from(ENGINES), device=st.sampled_from(["cpu", "cuda"]),
    sources=st.one_of(st.integers(0, 10**8), st.integers(0, 5000)), slots=st.integers(0, 10**10),
)  # fmt: skip
def test_sizes_cover_all_sources_in_whole_batches(engine, device, sources, slots):
    assume(engine != "reference" or device == "cpu")
    sizes = _units.sizes(engine, device, sources, slots)
    assert sum(sizes) == sources and (min(sizes) > 0 or sources == 0)
    batch = TUNED[engine].batch
    assert all(size % batch == 0 for size in sizes[:-1])
    if len(sizes) > 1:
        work = sources * slots
        on_cuda = device == "cuda"
        least = TUNED[engine].unit * (_units.ON_CUDA if on_cuda else 1)
        assert work >= least
        # A hundred, unless a unit would have ten times the least work; on CUDA 32, and 32 times.
        most, larger = (40, 31.0) if on_cuda else (130, 9.9)
        assert len(sizes) <= max(most, 1.2 * work / (larger * least) + 8)
        # Several devices end together; few batches have a unit each instead.
        batches = -(-sources // (_units._LANES_ON_CUDA if engine == "lanes" else batch))
        assert not on_cuda or len(sizes) in (2, 4, batches) or len(sizes) % 8 == 0


@pytest.mark.parametrize(
    ("engine", "sources", "slots", "count"),
    [
        ("queue", 8192, 5_500_000, 8), ("queue", 1000, 58_000_000, 4),
        ("lanes", 100_000, 10_000_000, 24), ("lanes", 4096, 1_000_000_000, 16),
        ("bits", 2_400_000, 64_000_000, 32), ("dijkstra", 100_000, 200_000, 16),
        ("lanes", 20_000, 1_000_000, 1), ("queue", 1000, 1_000_000, 1),
    ],
)  # fmt: skip
def test_even_short_runs_on_cuda_suit_several_devices(engine, sources, slots, count):
    """In equal parts, but for those that are too short to share."""
    sizes = _units.sizes(engine, "cuda", sources, slots)
    assert len(sizes) == count and max(sizes) - min(sizes) <= TUNED[engine].batch + 64


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 5000)), max_size=60))
def test_sizes_of_small_graphs_cover_all(graphs):
    nodes, slots = (torch.tensor(x, dtype=torch.int64).numpy() for x in
                    (zip(*graphs, strict=True) if graphs else ([], [])))  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch)(units_work={"tiny": 1e5})
        sizes = _units.sizes_of_graphs("cpu", nodes, slots)
    ends = nodes.cumsum().tolist()
    assert sum(sizes) == sum(nodes)
    assert all(end in [0, *ends] for end in torch.tensor(sizes).cumsum(0).tolist())


@example(engine="lanes", device="cpu", sources=10**8, nodes=10**9, slots=10**10)
@given(
    engine=st.sampled_from(ENGINES), device=st.sampled_from(["cpu", "cuda"]),
    sources=st.integers(0, 10**6), nodes=st.integers(0, 10**9), slots=st.integers(0, 10**10),
)  # fmt: skip
def test_sizes_of_rows_are_whole_chunks(engine, device, sources, nodes, slots):
    sizes = _units.sizes_of_rows(engine, device, sources, nodes, slots)
    assert sum(sizes) == sources and (min(sizes) > 0 or sources == 0)
    assert all(size % _units.ROWS == 0 for size in sizes[:-1])


@given(arcs=st.integers(0, 10**10), blocks=st.integers(1, 10**6))
def test_sizes_of_columns_cover_all_blocks(arcs, blocks):
    sizes = _units.sizes_of_columns(arcs, blocks, 512)
    assert sum(sizes) == blocks and min(sizes) > 0


def test_a_short_search_is_one_unit():
    assert _units.sizes("lanes", "cpu", 5000, 100_000) == [5000]
    assert _units.sizes("queue", "cpu", 0, 0) == [0]


@pytest.fixture
def units(tuning):
    """The number of units of each search that runs."""
    counts = []
    real = original("run_units")
    tuning(run_units=lambda search, *rest: (counts.append(len(search.sizes)), real(search, *rest)))
    return counts


@pytest.mark.sweep
@pytest.mark.parametrize("name", CASES)
def test_bits_do_not_depend_on_threads_or_memory(name, tuning, units, threads):
    tuning(**CASES[name].sizes)
    torch.set_num_threads(1)
    expected = CASES[name]()
    assert max(units, default=0) > 1 or name in ("sweeps", "distribution")
    torch.set_num_threads(3)
    for found in (CASES[name](), CASES[name](memory=2**28)):
        assert all(map(torch.equal, found, expected))


@pytest.mark.sweep
@pytest.mark.parametrize("name", CASES)
def test_units_add_up(name, tuning, units):
    """To the values of one unit, up to the order of additions."""
    whole = CASES[name]()
    assert max(units, default=1) == 1
    tuning(**CASES[name].sizes)
    for found, expected in zip(CASES[name](), whole, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_in_units(name, tuning, units, tmp_path):
    """Are those of one call, which other tests compare with oracles."""
    case = PAIRS[name]
    whole = case()
    tuning(**case.sizes)
    for found, expected in zip(case(checkpoint=tmp_path), whole, strict=True):
        assert found.dtype == expected.dtype and torch.equal(found, expected)
    assert max(units) > 1


@pytest.mark.slow
def test_values_are_networkx(tuning):
    tuning(**SMALL)
    case = CASES["queue"]
    expected = networkx.betweenness_centrality(case.graph().to_networkx(), endpoints=True)
    expected = torch.tensor([expected[v] for v in range(len(expected))], dtype=torch.float64)
    torch.testing.assert_close(case()[0], expected, rtol=1e-9, atol=0)


def test_all_units_but_the_first_begin_on_its_rung(tuning):
    """And not on that of the unit before, which another worker may have computed."""
    tuning(**SMALL)
    begun = []
    real = original("compiled_search")

    def counted(problem, plan):
        compute = real(problem, plan)

        def noted(given, unit, out, rung, control):
            begun.append(rung)
            return max(compute(given, unit, out, rung, control), len(begun) % 2 + 1)

        return noted

    tuning(compiled_search=counted)
    CASES["lanes"]()
    assert len(begun) > 3 and begun == [0, *[2] * (len(begun) - 1)]
