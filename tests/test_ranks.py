"""Several ranks and several devices: the bits are those of one, whoever fails is heard of."""

import json
import math
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from internals import COMPILED, LocalQueue, Sampler, group_of
from runs import CASES, PAIRS, SMALL, digest, network
from surface import call
from tuning import tuned

import torchcent
from torchcent.distribute import _group, _records, _totals

pytestmark = [
    pytest.mark.skipif(not COMPILED, reason="needs the compiled library"),
    pytest.mark.skipif(not torch.distributed.is_available(), reason="needs torch.distributed"),
]
WORLD = {"group": "world"}
KILLED = ["lanes", "chains", "batch", "closeness from pivots", "harmonic"]
ALL = CASES | PAIRS
# Cases whose result is also written to a file.
FILES = {"pairs": ".npy", "pairs of some": ".npy", "pairs that are widened": ".npy"}


def torchrun(folder, ranks, jobs, *options, ok=True):
    """The findings of each rank."""
    (folder / "jobs.json").write_text(json.dumps(jobs))
    here = Path(__file__).resolve()
    paths = [str(here.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [
            sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
            str(ranks), *options, str(here.with_name("ranks.py")), str(folder),
        ],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) == ok, done.stderr[-3000:]
    if not ok:
        return []
    return [json.loads((folder / f"found-{rank}.json").read_text()) for rank in range(ranks)]


@pytest.mark.parametrize(("asked", "given"), [("1", 6), ("3", 1)])
def test_threads_of_a_rank_on_a_gpu(asked, given, monkeypatch):
    """Its share of the cores, unless somebody has asked for fewer."""
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "x")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        _group.share_cores()
        assert torch.get_num_threads() == given
    finally:
        torch.set_num_threads(before)


def digests(name):
    return [digest(each) for each in ALL[name]()]


class Alone(dict):
    """The digests of each case in one process, in units of the same size, once they are needed."""

    def __missing__(self, name):
        with pytest.MonkeyPatch.context() as patch:
            tuned(patch)(**ALL[name].sizes)
            self[name] = digests(name)
        return self[name]


@pytest.fixture(scope="module")
def alone():
    return Alone()


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("ranks", [2, 4])
def test_bits_of_ranks(ranks, alone, tmp_path):
    jobs = [{"case": name, "options": WORLD} for name in ALL]
    jobs += [
        {"case": name, "options": {**WORLD, "out": str(tmp_path / f"{name}{suffix}")}}
        for name, suffix in FILES.items()
    ]
    with suppress(ImportError):
        import zarr  # noqa: F401

        jobs.append({"case": "pairs", "options": {**WORLD, "out": str(tmp_path / "p.zarr")}})
    found = torchrun(tmp_path, ranks, jobs)
    for at, job in enumerate(jobs):
        name = job["case"]
        assert [each[at].get("digest") for each in found] == [alone[name]] * ranks, job
    # Each has computed some units of many.
    assert all(sum(job["gives"] for job in each) > len(jobs) / 2 for each in found)
    assert not list(tmp_path.glob(".*.tmp"))


@pytest.mark.slow
def test_another_number_of_ranks_goes_on_and_who_fails_is_heard_of(alone, tmp_path):
    folder = str(tmp_path / "ledger")
    job = {"case": "lanes", "options": {**WORLD, "checkpoint": folder}}
    torchrun(tmp_path, 2, [{**job, "kill": [1, 2]}], ok=False)
    assert list(Path(folder).glob("search-*"))
    jobs = [
        *(job, job),
        {"case": "lanes", "options": WORLD, "fail": 1},
        {"case": "lanes", "options": WORLD, "fail": 0},
        {"case": "queue", "options": WORLD, "other graph": [2]},
        {"case": "lanes", "options": WORLD},  # and the group is as good as before
    ]
    three = torchrun(tmp_path, 3, jobs)
    for rank, (*kept, by_one, by_zero, other, last) in enumerate(three):
        assert [each["digest"] for each in kept] == [alone["lanes"]] * 2
        one, zero = ("RuntimeError: on purpose" if rank == x else None for x in (1, 0))
        assert by_one["error"] == (one or "Stopped: rank 1 failed: RuntimeError: on purpose")
        assert by_zero["error"] == (zero or "Stopped: rank 0 failed: RuntimeError: on purpose")
        assert "another search than rank 0: run is" in other["error"]
        assert last["digest"] == alone["lanes"]
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch)(**CASES["lanes"].sizes)
        one = CASES["lanes"](checkpoint=folder)
    assert [digest(each) for each in one] == alone["lanes"]


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("killed", [0, 1])
def test_a_killed_rank_is_started_again(killed, alone, tmp_path):
    """torchrun starts all ranks again, and they go on from the ledger."""
    jobs = [
        {"case": name, "options": {**WORLD, "checkpoint": str(tmp_path / name)}} for name in KILLED
    ]
    file = {"out": str(tmp_path / "out.npy"), "checkpoint": str(tmp_path / "pairs")}
    jobs += [{"case": "pairs", "options": {**WORLD, **file}}]
    at = len(KILLED) if killed else 2
    jobs[at] = {**jobs[at], "kill": [killed, 1]}
    found = torchrun(tmp_path, 2, jobs, "--max-restarts", "1")
    for each in found:
        assert [job["digest"] for job in each] == [alone[name] for name in [*KILLED, "pairs"]]
    assert not list(tmp_path.glob(".*.tmp"))
    # What had been finished before was not computed again.
    assert sum(each[at]["gives"] for each in found for at in (0, 1)) == 0


@pytest.fixture
def three_devices(monkeypatch, tuning):
    """The CPU, three times over; the threads that have given units, each of which has one."""
    cpu = torch.device("cpu")
    tuning(devices=lambda value, home: (cpu,) * 3)
    workers, together = set(), threading.Barrier(3)
    real = LocalQueue.take

    def take(self, control):
        unit = real(self, control)
        if unit is not None and threading.current_thread() not in workers:
            workers.add(threading.current_thread())
            with suppress(threading.BrokenBarrierError):  # fewer units than workers
                together.wait(0.5)
        return unit

    monkeypatch.setattr(LocalQueue, "take", take)
    return workers


#: of one device
ALONE = ("closure", "walks", "walks of a batch")


@pytest.mark.sweep
@pytest.mark.parametrize("name", [name for name in ALL if name not in ALONE])
def test_bits_of_devices(name, alone, tuning, three_devices, tmp_path):
    tuning(**ALL[name].sizes)
    found = ALL[name](devices=["cpu"])
    assert [digest(each) for each in found] == alone[name]
    assert len(three_devices) > 1 or name == "sweeps"
    if name in FILES:
        found = ALL[name](devices=["cpu"], out=tmp_path / f"a{FILES[name]}")
        assert [digest(each) for each in found] == alone[name]
        assert [each.name for each in tmp_path.iterdir()] == [f"a{FILES[name]}"]


@pytest.mark.sweep
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("name", ["lanes", "overflow", "dijkstra", "batch", "pairs"])
def test_results_wait_while_the_device_of_the_sums_is_busy(
    name, kept, alone, tuning, three_devices, monkeypatch, tmp_path
):
    """As a GPU is, which would make the others wait. Here it is that of the worker with unit 0."""
    tuning(**ALL[name].sizes)
    home, delayed, one_is = [], set(), threading.Event()
    real, outputs, give = _totals.Totals.add, LocalQueue.outputs, LocalQueue.give

    def noted(self, unit, device):
        if unit == 0:
            home[:] = [threading.current_thread()]
        return outputs(self, unit, device)

    def is_home(self, device):
        return threading.current_thread() in home

    def later(self, *given):
        if threading.current_thread() in home:
            one_is.wait(2)
        give(self, *given)

    def add(self, result, free):
        real(self, result, free)
        unit = result.unit
        if not free:
            delayed.add(unit)
            one_is.set()
            assert self.has(unit) and self.next <= unit
            if kept:
                assert (tmp_path / _records.results_name(self._number, unit)).exists()

    monkeypatch.setattr(LocalQueue, "outputs", noted)
    monkeypatch.setattr(LocalQueue, "_is_home", is_home)
    monkeypatch.setattr(LocalQueue, "give", later)
    monkeypatch.setattr(_totals.Totals, "add", add)
    more = {"checkpoint": tmp_path} if kept else {}
    found = ALL[name](devices=["cpu"], **more)
    assert [digest(each) for each in found] == alone[name]
    assert delayed
    if kept:
        again = ALL[name](devices=["cpu"], **more)
        assert [digest(each) for each in again] == alone[name]


def test_devices_do_not_choose_the_method(three_devices, monkeypatch, tuning):
    """Samples are timed on one device, after the first: here waking the others takes ten seconds,
    for which exact scores would look cheaper."""
    now, real = [0.0], Sampler.draw

    def draw(sampler, count, bar=None, alone=False):
        spread = sampler._scale is not None and sampler._scale.is_spread and not alone
        now[0] += 10 if spread else 1e-3 * count + 0.5 * (sampler.samples == 0)
        return real(sampler, count, bar, alone)

    monkeypatch.setattr(Sampler, "draw", draw)
    tuning(exact_for_nothing=0, is_worth_timing=lambda *_: True)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    graph, methods, scores = network(), [], []
    for exact in (1.0, 50.0):  # seconds
        tuning(measured=lambda *_, s=exact: SimpleNamespace(exact=s, pivot=math.inf))
        for devices in (None, ["cpu"]):
            found = torchcent.betweenness_approx(
                graph,
                0.02,
                run=torchcent.Run(devices=devices),
                generator=torch.Generator().manual_seed(4),
            )
            methods.append(found.method)
            scores.append(found.scores)
    assert methods == ["exact", "exact", "kadabra", "kadabra"]
    assert torch.equal(scores[0], scores[1]) and torch.equal(scores[2], scores[3])
    assert len(three_devices) > 1


def test_a_worker_that_fails_ends_the_others(tuning, three_devices, monkeypatch):
    tuning(**SMALL)
    real = LocalQueue.outputs

    def fails(self, unit, device):
        if unit == 4:
            raise MemoryError("on purpose")
        return real(self, unit, device)

    monkeypatch.setattr(LocalQueue, "outputs", fails)
    before = set(threading.enumerate())
    with pytest.raises(MemoryError, match="on purpose"):
        CASES["lanes"](devices=["cpu"])
    left = set(threading.enumerate()) - before
    assert all(thread.name.startswith("Dummy") for thread in left)  # not started by Python


@pytest.mark.parametrize(
    ("devices", "error", "match"),
    [
        (7, TypeError, "devices must be a sequence of devices or 'all', got 7"),
        ("cuda:0", TypeError, "devices must be a sequence"),
        ([], ValueError, "must include cpu, where the graph is"),
        (["meta"], ValueError, "must include cpu"),
        (["cpu", "cpu"], ValueError, "must be distinct"),
        (["cpu", "meta"], ValueError, "must be of one kind"),
        (["no device"], ValueError, "each of devices must be a device of this PyTorch"),
    ],
)
def test_bad_devices(devices, error, match):
    with pytest.raises(error, match=match):
        torchcent.betweenness(network(), run=torchcent.Run(devices=devices))


def test_all_devices_of_a_cpu_are_one():
    arcs = torch.tensor([[0, 1, 2], [1, 2, 3]])
    assert torchcent.betweenness(arcs, run=torchcent.Run(devices="all")).tolist() == (
        torchcent.betweenness(arcs).tolist()
    )


def test_iterators_have_no_devices():
    for given in ({"devices": "all"}, {"checkpoint": "x"}, {"out": "x.npy"}):
        (name,) = given
        with pytest.raises(ValueError, match=f"blocks=True returns an iterator .* {name}=None"):
            call(torchcent.shortest_path_lengths, network(), blocks=True, **given)


def test_bad_groups(monkeypatch):
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    with pytest.raises(TypeError, match=r"group must be a torch.distributed.ProcessGroup, 'world'"):
        torchcent.closeness(network(), run=torchcent.Run(group=3))
    with pytest.raises(ValueError, match="group='world', but there are no ranks: start the"):
        torchcent.closeness(network(), run=torchcent.Run(group="world"))
    assert group_of(None) is None
