"""shortest_path_lengths: files that are whole or not there, and bounded memory."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from graphs import ASSORTED, DEVICE, edge_index, random_graph
from interrupt import assert_stops
from resident import GIVING_BACK
from surface import call
from test_apsp import DEEP, ENGINES, N_DEEP, expected, scipy_distances

from torchcent import Graph, Run, shortest_path_lengths

# --- files


def test_an_old_file_is_replaced_or_left_whole(tmp_path):
    file = tmp_path / "d.npy"
    np.save(file, np.arange(3))
    graph = Graph.from_edge_index(edge_index(DEEP), N_DEEP, directed=False)
    with pytest.raises(OverflowError):
        shortest_path_lengths(graph, dtype=torch.int8, out=file, block_size=8)
    assert np.load(file).tolist() == [0, 1, 2]
    assert list(tmp_path.iterdir()) == [file]
    shortest_path_lengths(graph, out=file)
    assert np.load(file).tolist() == expected(N_DEEP, DEEP, False)


def test_a_disk_without_room(tmp_path, monkeypatch):
    left = [10_000]
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("usage", (), {"free": left.pop(0)}))
    n, arcs = ASSORTED["more than one batch"]
    with pytest.raises(OSError, match=r"22500 bytes.*10000 bytes.*d\.npy"):
        shortest_path_lengths(edge_index(arcs), num_nodes=n, out=tmp_path / "d.npy")
    left[:] = [30_000, 20_000]  # room for int8, and not for the dtype that turns out to be needed
    graph = Graph.from_edge_index(edge_index(DEEP), N_DEEP, directed=False)
    with pytest.raises(OSError, match=r"int16.*20000 bytes"):
        shortest_path_lengths(graph, out=tmp_path / "d.npy", block_size=8)
    assert list(tmp_path.iterdir()) == []


GRAPH = """
generator = torch.Generator().manual_seed(0)
arcs = torch.randint(0, 50_000, (2, 1_000_000), generator=generator)
graph = torchcent.Graph.from_edge_index(arcs, directed=False)
torchcent.shortest_path_lengths(graph, sources=torch.arange(2))  # all that is prepared once
"""


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("engine", [each for each in ENGINES if each in ("bits", "tensor")])
def test_interrupt_leaves_nothing(engine, tmp_path):
    """Ctrl-C in the middle of a run that would write 2.5 GB, once there is a temporary file."""
    file = tmp_path / "d.npy"
    assert_stops(
        GRAPH,
        "torchcent.shortest_path_lengths(graph, out=sys.argv[1], "
        "run=torchcent.Run(engine=sys.argv[2]))",
        str(file),
        engine,
        within=10,
        begun=lambda: any(tmp_path.iterdir()),
    )
    assert list(tmp_path.iterdir()) == []


# --- memory


@pytest.mark.slow
@pytest.mark.parametrize("engine", [each for each in ENGINES if each != "hierarchy"])
def test_memory_decides_the_blocks(engine):
    n, arcs = 600, random_graph(600, 1500, seed=3)
    graph = Graph.from_edge_index(edge_index(arcs), n)
    need = 0
    try:
        shortest_path_lengths(graph, run=Run(engine=engine, memory=1), blocks=True)
    except MemoryError as error:
        assert "memory=1 " in str(error) and "1 at a time" in str(error)
        need = int(str(error).split("(")[1].split(" bytes")[0])
    sizes = []
    for memory in (need, 2 * need, 8 * need):
        handed = list(
            shortest_path_lengths(graph, run=Run(engine=engine, memory=memory), blocks=True)
        )
        sizes.append(handed[0][0].numel())
        # Two blocks at a time: the one handed out and the next.
        assert 2 * handed[0][1].nbytes + graph.nbytes <= memory
        assert torch.equal(torch.cat([block for _, block in handed]), shortest_path_lengths(graph))
    assert sizes[0] == 1 < sizes[1] < sizes[2]
    with pytest.raises(MemoryError, match="600 at a time"):
        shortest_path_lengths(
            graph,
            run=Run(engine=engine, memory=2 * need),
            block_size=600,
            blocks=True,
        )


@pytest.mark.slow
def test_a_result_that_does_not_fit_is_refused_before_the_run():
    """10^14 distances, 91 TiB."""
    graph = Graph.from_edge_index(edge_index([(0, 1)]), 10**7)
    with pytest.raises(
        MemoryError, match=r"result of 90\.9 TiB.*blocks=True.*TiB.*memory=10000000"
    ):
        shortest_path_lengths(graph, run=Run(memory=10**7))


def test_widening_is_refused_beyond_the_memory():
    graph = Graph.from_edge_index(edge_index(DEEP), N_DEEP, directed=False)
    fits = {"engine": "tensor", "block_size": 20}
    with pytest.raises(MemoryError) as refused:
        call(shortest_path_lengths, graph, memory=1, **fits)
    need = int(str(refused.value).split("allowed")[0].split("needs")[1].split("(")[1].split()[0])
    with pytest.raises(MemoryError, match=f"memory={need} "):  # enough for int8 only
        call(shortest_path_lengths, graph, memory=need, **fits)
    result = call(shortest_path_lengths, graph, memory=need + 2 * N_DEEP**2, **fits)
    assert result.tolist() == expected(N_DEEP, DEEP, False)


@pytest.mark.slow
def test_a_million_vertices_stream():
    """The first block of a result of 10^12 entries."""
    n = 10**6
    generator = torch.Generator().manual_seed(4)
    arcs = torch.randint(0, n, (2, 3 * n), generator=generator)
    graph = Graph.from_edge_index(arcs.to(DEVICE), n)
    sources, block = next(
        shortest_path_lengths(graph, blocks=True, block_size=4, run=Run(memory=2 * 10**9))
    )
    assert sources.tolist() == [0, 1, 2, 3] and block.shape == (4, n)
    assert np.array_equal(block.cpu().numpy(), scipy_distances(graph, sources.cpu()))


FILE_OF_MANY = """
import resource, sys
import torch, torchcent

arcs = torch.randint(0, 10_000, (2, 20_000), generator=torch.Generator().manual_seed(0))
graph = torchcent.Graph.from_edge_index(arcs, 10_000)
torchcent.shortest_path_lengths(graph, sources=torch.arange(600))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
little = torchcent.Run(memory=2**26)
out = torchcent.shortest_path_lengths(graph, out=sys.argv[1], dtype=torch.int32, run=little)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(after - before, out.nbytes // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif("bits" not in ENGINES, reason="slow without the compiled engine")
def test_a_file_is_not_held(tmp_path):
    """A file of 400 MB with 64 MiB of memory, as the system counts it."""
    run = subprocess.run(
        [sys.executable, "-c", FILE_OF_MANY, str(tmp_path / "d.npy")],
        capture_output=True,
        text=True,
        check=True,
        env=GIVING_BACK,
    )
    more, size = (int(kib) for kib in run.stdout.split())
    assert size == 400_000_000 // 1024
    assert more < 80 * 1024
