"""Markov clustering over ranks: the same bits as one process, and errors that reach all ranks."""

import datetime
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing
from commands import run
from internals import group_of, has_kernel
from surface import call
from torch import Tensor
from tuning import original, tuned

import torchcent
from torchcent import Clustering, Graph, Prune, generate

RANKS = 3
FUSED = has_kernel("mcl_iterate", torch.device("cpu"))


def weights(index: Tensor) -> Tensor:
    return torch.rand(index.shape[1], generator=torch.Generator().manual_seed(7)) + 0.1


def ring(n: int, reach: int) -> Tensor:
    vertex = torch.arange(n)
    return torch.cat([torch.stack([vertex, (vertex + k) % n]) for k in range(1, reach + 1)], 1)


def cases() -> dict[str, tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments of mcl by name."""
    proteins = generate.planted(1200, 20, seed=3)
    small = generate.planted(160, 8, seed=5)
    loops = torch.cat([small, torch.arange(0, 160, 2).expand(2, -1)], 1)
    few = torch.tensor([[0, 1], [1, 0]])
    path = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
    nothing = torch.empty(2, 0, dtype=torch.int64)
    both = {"directed": False}
    made: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
        "auto": ((proteins, weights(proteins)), both),
        "no weights": ((small,), {**both, "inflation": 1.5}),
        "a Graph": ((Graph.from_edge_index(small, directed=False),), {}),
        "one-way arcs": ((small, weights(small)), {"directed": True, "inflation": 4}),
        "its own loops": ((loops, weights(loops)), {**both, "loops": None}),
        "isolated vertices": ((small,), {**both, "num_nodes": 200}),
        "fewer columns than ranks": ((few,), {}),
        "a vertex": ((nothing,), {"num_nodes": 1}),
        "no vertex": ((nothing,), {}),
        "a fixed point": ((ring(24, 2),), both),
        "not converged": ((small,), {**both, "max_iter": 2}),
        "a cycle": ((torch.tensor([[0, 1, 2], [1, 2, 0]]),), {}),
        **{f"overlap {how}": ((path,), {**both, "overlap": how}) for how in ("keep", "split")},
    }
    for engine in ("dense", "tensor", *(["fused"] if FUSED else [])):
        options = {**both, "engine": engine, "num_nodes": 165}
        made[engine] = ((small, weights(small)), options)
        made[f"{engine}, three steps"] = (
            (small,), {**options, "expansion": 3, "prune": None, "max_iter": 5},
        )  # fmt: skip
    if FUSED:  # products are omitted by batches of columns
        tight = {"prune": Prune(1e-2, 300, 300), "inflation": 1.6, "engine": "fused"}
        made["fused, filtered"] = ((proteins, weights(proteins)), {**both, **tight})
    return made


def cluster(arguments: tuple[Any, ...], options: dict[str, Any], **others: Any) -> Clustering:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged
        return call(torchcent.mcl, *arguments, return_flow=True, **{**options, **others})


def record(found: Clustering) -> dict[str, Any]:
    flow = found.flow
    assert flow is not None
    return {
        "flow": [flow.ccol_indices(), flow.row_indices(), flow.values()],
        "clusters": [found.labels, found.attractors, found.overlaps, *found.clusters()],
        "rest": (found.iterations, found.chaos_history, found.converged, found.engine),
    }


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one["rest"] == other["rest"] and all(
        len(one[part]) == len(other[part]) and all(map(torch.equal, one[part], other[part]))
        for part in ("flow", "clusters")
    )


def failing(rank: int, error: Callable[[Any], None]) -> Callable[[], Clustering]:
    """mcl, in whose second iteration one rank fails."""

    def call() -> Clustering:
        usual, count = original("mcl_compute"), 0

        def compute(self: Any, *arguments: Any) -> Any:
            nonlocal count
            count += 1
            if count == 2 and dist.get_rank() == rank:
                error(self)
            return usual(self, *arguments)

        with pytest.MonkeyPatch.context() as patch:
            tuned(patch)(mcl_compute=compute)
            return torchcent.mcl(
                ring(30, 3), directed=False, run=torchcent.Run(engine="tensor", group="world")
            )

    return call


def no_memory(_: Any) -> None:
    raise MemoryError("memory=1 is not enough")


def ctrl_c(engine: Any) -> None:
    os.kill(os.getpid(), signal.SIGINT)
    while not engine.loop.control[0]:
        time.sleep(0.01)


def errors() -> dict[str, Callable[[], object]]:
    """Calls that fail on every rank, with one error on all."""
    rank = dist.get_rank()
    index = ring(30, 3)
    return {
        "memory": failing(1, no_memory),
        "first rank": failing(0, no_memory),
        "Ctrl-C": failing(2, ctrl_c),
        "too small": lambda: torchcent.mcl(
            index, run=torchcent.Run(engine="tensor", memory=4000, group="world")
        ),
        "bad value": lambda: torchcent.mcl(index, run=torchcent.Run(group="world"), inflation=1),
        "bad on one": lambda: torchcent.mcl(
            index, run=torchcent.Run(group="world"), inflation=2 - (rank == 1)
        ),
        "not alike": lambda: torchcent.mcl(
            index, run=torchcent.Run(group="world"), inflation=2 + (rank == 1)
        ),
        "other graph": lambda: torchcent.mcl(ring(30 + rank, 3), run=torchcent.Run(group="world")),
        "other limit": lambda: torchcent.mcl(
            index, run=torchcent.Run(memory=10**8 + rank, group="world")
        ),
        "batch": lambda: call(
            torchcent.mcl, index, run=torchcent.Run(group="world"), ptr=torch.tensor([0, 30])
        ),
        "no group": lambda: torchcent.mcl(index, run=torchcent.Run(group="some")),
        "a number": lambda: torchcent.mcl(index, run=torchcent.Run(group=3)),  # type: ignore[arg-type]
    }


def work(rank: int, folder: str) -> None:
    """Runs everything in a rank, and writes down what it found."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    torch.set_num_threads(1 + rank // 2)
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=RANKS,
        timeout=datetime.timedelta(seconds=300),
    )  # fmt: skip
    pair = dist.new_group([2, 0])
    told: dict[str, Any] = {"failed": {}, "exchange": {}}
    told["world"] = {name: record(cluster(*case, group="world")) for name, case in cases().items()}
    told["pair"] = {}
    for name in ("auto", "dense", "a fixed point"):
        if rank != 1:
            told["pair"][name] = record(cluster(*cases()[name], group=pair))
    if rank == 1:
        try:
            torchcent.mcl(ring(5, 1), run=torchcent.Run(group=pair))
        except (TypeError, ValueError) as error:
            told["outside"] = str(error)
    for name, wrong in errors().items():
        try:
            wrong()
        except BaseException as error:
            told["failed"][name] = type(error).__name__, str(error)
    sweep = torchcent.mcl_sweep(ring(40, 2), directed=False, run=torchcent.Run(group="world"))
    told["sweep"] = [found.labels for found in sweep.clusterings], sweep.table
    group = group_of("world")
    assert group is not None
    for kind in (torch.float32, torch.int64, torch.bool):
        own = torch.arange(2 * rank).reshape(rank, 2).to(kind)
        lengths = group.all_gather(len(own))
        whole = own.new_empty(sum(lengths), 2)
        group.fill(whole, lengths, own)
        told["exchange"][kind] = whole.split(lengths)
    torch.save(told, f"{folder}/{rank}.pt")
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("ranks")
    torch.multiprocessing.spawn(work, (str(folder),), RANKS)
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in range(RANKS)]


@pytest.mark.slow
def test_ranks_find_what_one_process_finds(ranks: list[dict[str, Any]]) -> None:
    for name, case in cases().items():
        want = record(cluster(*case))
        for rank, told in enumerate(ranks):
            assert same(want, told["world"][name]), (name, rank)
            if name in told["pair"]:
                assert same(want, told["pair"][name]), (name, rank)
    alone = torchcent.mcl_sweep(ring(40, 2), directed=False)
    for labels, table in (told["sweep"] for told in ranks):
        assert all(map(torch.equal, labels, (found.labels for found in alone.clusterings)))
        assert table == alone.table
    engines = {name: ranks[0]["world"][name]["rest"][-1] for name in cases()}
    assert engines["dense"] == "dense" and engines["tensor"] == "tensor"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("memory", "MemoryError", "memory=1 is not enough"),
        ("first rank", "MemoryError", "memory=1 is not enough"),
        ("Ctrl-C", "KeyboardInterrupt", ""),
        ("too small", "MemoryError", "memory=4000"),
        ("bad value", "ValueError", "inflation must be > 1"),
        ("bad on one", "ValueError", "inflation must be > 1"),
        ("not alike", "ValueError", "must be called with the same arguments"),
        ("other graph", "ValueError", "must be called with the same arguments"),
        ("other limit", "ValueError", "must be called with the same arguments"),
        ("batch", "ValueError", "group=) does not go with batch="),
        ("no group", "TypeError", "group must be a torch.distributed.ProcessGroup, 'world' or"),
        ("a number", "TypeError", "group must be a torch.distributed.ProcessGroup, 'world' or"),
    ],
)
def test_an_error_of_one_rank_is_that_of_all(
    ranks: list[dict[str, Any]], name: str, kind: str, text: str
) -> None:
    found = {told["failed"][name] for told in ranks}
    assert len(found) == 1, found
    (error,) = found
    assert error[0] == kind and text in error[1]


def test_groups(ranks: list[dict[str, Any]]) -> None:
    assert "must be a process group that this process belongs to" in ranks[1]["outside"]
    for told in ranks:
        for kind, parts in told["exchange"].items():
            want = [torch.arange(2 * r).reshape(r, 2).to(kind) for r in range(RANKS)]
            assert all(map(torch.equal, parts, want))
    with pytest.raises(ValueError, match="group='world', but there are no ranks"):
        torchcent.mcl(ring(5, 1), run=torchcent.Run(group="world"))


@pytest.mark.slow
def test_the_command_under_torchrun(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    index = generate.planted(160, 8, seed=5)
    lines = "".join(f"{a} {b}\n" for a, b in index.T.tolist())
    (tmp_path / "graph.txt").write_text(lines)
    assert run(capsys, "mcl", tmp_path / "graph.txt", "-o", tmp_path / "one.txt")[0] == 0
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [sys.executable, *torchrun, "-m", "torchcent", "mcl", "graph.txt", "-o", "two.txt"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(torchcent.__file__).parents[1])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("clusters ") == done.stderr.count("clusters in two.txt") == 1
    assert (tmp_path / "one.txt").read_bytes() == (tmp_path / "two.txt").read_bytes()
