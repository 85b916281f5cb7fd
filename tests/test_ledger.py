"""The ledger: runs that are stopped, killed or damaged continue with the same bits, or are refused.

`runs.CASES` are cut into many units. What continues is compared with a run without a ledger.
"""

import contextlib
import errno
import fcntl
import io
import json
import os
import random
import resource
import signal
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from internals import COMPILED, Ledger, LocalQueue
from lives import Lives
from runs import CASES, PAIRS, SMALL, mesh

import torchcent
from torchcent import Graph, generate
from torchcent.distribute import _ledger, _look, _records

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled library")
#: one search; several; rows
SEVERAL = ("queue", "batch", "closeness by weights")
# The tensor engine takes seconds for the others' graphs.
STOPPED = {
    name: case._replace(graph=mesh, sizes=SMALL | {"units_work": 6e5}) if "tensor" in name else case
    for name, case in CASES.items()
}


class Stop(Exception):
    pass


@pytest.fixture
def stopping(monkeypatch):
    """`stopping(k)` lets the k-th write of sums fail, before or after it; `written` counts."""
    real = Ledger.keep

    class Stopping:
        written = 0

        def __call__(self, number, after=True):
            self.written, self.at, self.after = 0, number, after

        at, after = None, True

    state = Stopping()

    def keep(self, *args):
        if state.written + 1 == state.at and not state.after:
            raise Stop
        real(self, *args)
        state.written += 1
        if state.written == state.at:
            raise Stop

    monkeypatch.setattr(Ledger, "keep", keep)
    return state


@pytest.fixture
def out_of_order(monkeypatch):
    """Units after the first are computed in threes, backwards."""

    def take_now(self):
        totals = self.totals
        units = range(totals.next, min(totals.next + 3, len(totals.search.sizes)))
        left = [unit for unit in units if unit not in self._out and not totals.has(unit)]
        if not left:
            return None
        unit = left[0] if totals.next == 0 else left[-1]
        self._out.add(unit)
        return unit

    monkeypatch.setattr(LocalQueue, "take_now", take_now)


def same(found, expected):
    return len(found) == len(expected) and all(map(torch.equal, found, expected))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ---- runs that continue


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("name", STOPPED)
def test_continues_after_a_stop(name, tuning, stopping, tmp_path):
    case = STOPPED[name]
    tuning(**case.sizes)
    expected = case()
    stopping(None)
    assert same(case(checkpoint=tmp_path / "whole"), expected)
    units = stopping.written
    chance = random.Random(name)
    for number, after in [(1, False), (chance.randint(1, units), True), (units, False)]:
        folder = tmp_path / f"{number} {after}"
        stopping(number, after)
        with pytest.raises(Stop):
            case(checkpoint=folder)
        kept = stopping.written
        stopping(None)
        assert same(case(checkpoint=folder), expected)
        assert kept + stopping.written == units  # only what was not kept is computed again
        stopping(None)
        assert same(case(checkpoint=folder), expected)
        assert stopping.written == 0


@pytest.mark.parametrize("name", SEVERAL)
def test_continues_several_times(name, tuning, stopping, tmp_path):
    case = CASES[name]
    tuning(**case.sizes)
    expected, chance = case(), random.Random(name)
    kept = 0
    while True:
        stopping(chance.randint(1, 8), chance.random() < 0.5)
        try:
            found = case(checkpoint=tmp_path)
            break
        except Stop:
            kept += stopping.written
    assert kept > 3
    assert same(found, expected)


@pytest.mark.parametrize("name", SEVERAL)
def test_units_before_their_turn(name, tuning, out_of_order, stopping, tmp_path):
    case = CASES[name]
    tuning(**case.sizes)
    expected = case()
    stopping(3, after=False)
    with pytest.raises(Stop):
        case(checkpoint=tmp_path)
    assert len(list(tmp_path.glob("search-*-unit-*.npz"))) > 0
    stopping(None)
    assert same(case(checkpoint=tmp_path), expected)
    assert not list(tmp_path.glob("search-*-unit-*.npz"))


def test_what_changes_no_sums_may_change(tuning, stopping, threads, tmp_path):
    case = CASES["queue"]
    tuning(**case.sizes)
    case(checkpoint=tmp_path)
    torch.set_num_threads(1)
    stopping(None)
    for more in ({"normalized": False}, {"dtype": torch.float32}, {"memory": 2**28}):
        assert same(case(checkpoint=tmp_path, **more), case(**more))
    assert stopping.written == 0


def test_a_folder_within_folders_is_made(tuning, tmp_path):
    case = CASES["queue"]
    tuning(**case.sizes)
    case(checkpoint=tmp_path / "a" / "b")
    assert sorted(contents(tmp_path / "a" / "b")) == ["run.json", "search-000.npz"]


# ---- kills


@pytest.fixture(scope="module")
def lives():
    server = Lives()
    yield server
    server.close()


KILLED = (
    "lanes", "queue", "chains", "blocks", "overflow", "relax", "closeness", "closeness of some",
    "profile", "harmonic within", "pairs", "closure",
)  # fmt: skip


def units_of(log):
    return len(Path(log).read_text().split()) if os.path.exists(log) else 0


def at_random(lives, chance, asked, took, units):
    """Waits for the begin of a random unit, and a random while; mostly it is within the work."""
    process = lives.begin(**asked)
    before, until = units_of(asked["log"]), time.monotonic() + took
    begun = before + (0 if chance.random() < 0.2 else chance.randint(1, units))
    while units_of(asked["log"]) < begun and time.monotonic() < until:
        time.sleep(1e-4)
    time.sleep(chance.uniform(0, 2 * took / units))
    return process


@pytest.mark.sweep
@pytest.mark.parametrize("number", range(60))
def test_kills(number, lives, tuning, tmp_path):
    """SIGKILL at random moments, several times in a run: at most a unit is lost each time."""
    chance = random.Random(number)
    name = KILLED[number % len(KILLED)]
    case = (CASES | PAIRS)[name]
    tuning(**case.sizes)
    expected = case()
    asked = {"case": name, "out": str(tmp_path / "out.pt")}
    if name == "pairs" and number % 2 == 0:  # every second time into a file
        asked["options"] = {"out": str(tmp_path / "rows.npy")}
    quiet = asked | {"log": str(tmp_path / "quiet"), "checkpoint": str(tmp_path / "first")}
    begun = time.monotonic()
    lives.begin(**quiet)
    assert lives.end() == 0
    took, units = time.monotonic() - begun, units_of(quiet["log"])
    ledger = tmp_path / "ledger"
    asked |= {"log": str(tmp_path / "log"), "checkpoint": str(ledger)}
    kills = 0
    for _ in range(chance.randint(1, 3)):
        os.kill(at_random(lives, chance, asked, took, units), signal.SIGKILL)
        kills += lives.end() == -signal.SIGKILL  # unless it had ended
        for _, _, path in _records.results(ledger) if ledger.exists() else []:
            _records.read_results(path)  # is whole
    lives.begin(**asked)
    assert lives.end() == 0
    assert same(torch.load(asked["out"]), expected)
    assert not _records.temporaries(ledger)
    assert units <= units_of(asked["log"]) <= units + kills


@pytest.mark.sweep
@pytest.mark.parametrize("number", range(10))
def test_kills_of_the_command(number, lives, tmp_path):
    """SIGKILL or Ctrl-C; `resume` writes the file of an undisturbed run."""
    chance = random.Random(number)
    graph = torchcent.EdgeList(generate.ba(2000, 3, seed=number), None, None, 2000, False)
    torchcent.write(tmp_path / "g.npz", graph)
    usual = ["betweenness", "g.npz", "--quiet", "-o"]
    asked = {"folder": str(tmp_path), "log": str(tmp_path / "log")}
    begun = time.monotonic()
    lives.begin(**asked, arguments=[*usual, "usual.npy", "--checkpoint", "first"])
    assert lives.end() == 0
    took, units = time.monotonic() - begun, units_of(asked["log"])
    assert units > 10
    arguments = [*usual, "out.npy", "--checkpoint", "run"]
    for sent in (signal.SIGKILL, signal.SIGINT, signal.SIGKILL):
        os.kill(at_random(lives, chance, {**asked, "arguments": arguments}, took, units), sent)
        assert lives.end() in (0, -sent, 130)
        if (tmp_path / "run" / _records.COMMAND).exists():
            arguments = ["resume", "run"]
    lives.begin(**asked, arguments=arguments)
    assert lives.end() == 0
    assert (tmp_path / "out.npy").read_bytes() == (tmp_path / "usual.npy").read_bytes()
    assert units_of(asked["log"]) <= 2 * units + 3


# ---- what is refused


@pytest.fixture
def stopped(tuning, stopping, tmp_path):
    """A run of "queue" that was stopped, and its folder."""
    case = CASES["queue"]
    tuning(**case.sizes)
    stopping(5)
    with pytest.raises(Stop):
        case(checkpoint=tmp_path / "ledger")
    stopping(None)
    return case, tmp_path / "ledger"


@pytest.mark.parametrize(
    ("more", "differs"),
    [
        ({"endpoints": False}, "endpoints is True there and False here"),
        ({"engine": "lanes"}, "engine is 'queue' there and 'lanes' here"),
        ({"sources": torch.arange(9)}, "sources is None there and '[0-9a-f]{12}' here"),
        ({"targets": torch.arange(9)}, "targets is None there and '[0-9a-f]{12}' here"),
        ({"reduce": "none"}, "reduce is 'auto' there and \\[\\] here"),
    ],
)
def test_another_request_is_refused(stopped, more, differs):
    case, folder = stopped
    before = contents(folder)
    with pytest.raises(ValueError, match=rf"^checkpoint='.*ledger' holds another run: {differs}; "):
        case(checkpoint=folder, **more)
    assert contents(folder) == before


def test_another_measure_is_refused(stopped):
    case, folder = stopped
    with pytest.raises(ValueError, match="measure is 'betweenness' there and 'stress' here"):
        torchcent.stress(case.graph(), run=torchcent.Run(checkpoint=folder))


def test_other_sources_are_refused(tuning, tmp_path):
    case = CASES["closeness from pivots"]
    tuning(**case.sizes)
    case(checkpoint=tmp_path)
    assert same(case(checkpoint=tmp_path), case())
    with pytest.raises(ValueError, match="'[0-9a-f]{12}' there and '[0-9a-f]{12}' here"):
        case(checkpoint=tmp_path, sources=torch.arange(5, 600, 2))


def test_another_graph_is_refused(stopped):
    case, folder = stopped
    before = contents(folder)
    one_arc = Graph.from_edge_index(
        torch.cat([generate.grid(25, 31), torch.tensor([[0], [774]])], 1), directed=False
    )
    for other, size in ((one_arc, "775 vertices, 2990 slots"), (CASES["lanes"].graph(), "1500 ")):
        with pytest.raises(ValueError, match=f"graph is '775 .* 2988 .* there and '{size}.* here"):
            case._replace(graph=lambda other=other: other)(checkpoint=folder)
    assert contents(folder) == before


def test_other_weights_are_refused(tuning, tmp_path):
    case = CASES["dijkstra"]
    tuning(**case.sizes)
    case(checkpoint=tmp_path)
    graph = case.graph()
    arcs, weight = graph.to_edge_index(), graph.weight.clone()
    weight[arcs[0] + arcs[1] == int(arcs[:, 7].sum())] *= 1 + 2**-52  # both ways
    other = Graph.from_edge_index(arcs, edge_weight=weight)
    with pytest.raises(ValueError, match="graph is '600 .* there and '600 .* here"):
        case._replace(graph=lambda: other)(checkpoint=tmp_path)


@pytest.mark.parametrize("name", ["torchcent", "torch", "kernels"])
def test_another_version_is_refused(stopped, monkeypatch, tuning, name):
    case, folder = stopped
    if name == "torch":
        monkeypatch.setattr(torch, "__version__", "0.0.1")
    else:
        tuning(**{{"torchcent": "version", "kernels": "simd"}[name]: "0.0.1"})
    with pytest.raises(ValueError, match=f"{name} is '.*' there and '.*0.0.1' here"):
        case(checkpoint=folder)


def test_other_units_are_refused(stopped, tuning):
    case, folder = stopped
    tuning(units_work=3e5)
    with pytest.raises(ValueError, match=r"search-000.npz is of another run: units is \d+ there"):
        case(checkpoint=folder)


def test_a_lost_header_does_not_mix_runs(stopped):
    case, folder = stopped
    (folder / "run.json").unlink()
    with pytest.raises(ValueError, match="search-000.npz is of another run"):
        case(checkpoint=folder, endpoints=False)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("notes.txt", b"mine"), (".hidden", b""), ("search-results.csv", b"1"),
        ("run.json", b'{"lr": 0.1}'), ("run.json", b""), (".other.tmp", b""),
    ],
)  # fmt: skip
def test_a_folder_of_something_else_is_refused(tuning, tmp_path, name, content):
    tuning(**CASES["queue"].sizes)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(
        ValueError, match=f"^checkpoint='.*' is no ledger: it holds '{name}', which"
    ):
        CASES["queue"](checkpoint=tmp_path)
    assert contents(tmp_path) == {name: content}


def test_no_folder_can_be_made(tuning, tmp_path):
    tuning(**CASES["queue"].sizes)
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="file' is a file; accepted: a new or empty folder"):
        CASES["queue"](checkpoint=tmp_path / "file")
    with pytest.raises(OSError, match="the folder cannot be made .Not a directory"):
        CASES["queue"](checkpoint=tmp_path / "file" / "within")


def test_two_processes_do_not_share_a_folder(stopped, monkeypatch):
    case, folder = stopped
    monkeypatch.setattr(_ledger, "_PATIENCE", 0.05)
    other = os.open(folder, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)  # as another process would hold it
    before = contents(folder)
    with pytest.raises(BlockingIOError, match="another process is at work on it"):
        case(checkpoint=folder)
    assert contents(folder) == before and _look.look(folder).in_use
    os.close(other)
    assert same(case(checkpoint=folder), case()) and not _look.look(folder).in_use


def test_temporary_files_of_killed_runs_are_removed(stopped):
    case, folder = stopped
    for name in ("search-000.npz", "search-003-unit-00007.npz", "run.json", "command.json"):
        (folder / f".{name}.0a1b2c3d.tmp").write_bytes(b"half of it")
    (folder / ".mine.tmp").touch()
    case(checkpoint=folder)
    assert sorted(contents(folder)) == [".mine.tmp", "run.json", "search-000.npz"]


# ---- damage


DAMAGES = {
    "empty": lambda whole, chance: b"",
    "first byte": lambda whole, chance: whole[:1],
    "truncated": lambda whole, chance: whole[: chance.randrange(1, len(whole))],
    "last byte lost": lambda whole, chance: whole[:-1],
    "zeros": lambda whole, chance: bytes(len(whole)),
    "half written": lambda whole, chance: whole[: len(whole) // 2] + bytes(len(whole) // 2),
    "a bit": lambda whole, chance: flipped(whole, chance.randrange(len(whole) * 8 // 2)),
}


def flipped(whole, bit):
    changed = bytearray(whole)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.slow
@pytest.mark.sweep(by="damage")
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["queue", "closeness by weights"])
def test_damaged_files_are_named_and_made_again(
    name, damage, tuning, out_of_order, stopping, tmp_path
):
    case = CASES[name]
    tuning(**case.sizes)
    expected, chance = case(), random.Random(f"{name} {damage}")
    stopping(3, after=False)
    with pytest.raises(Stop):
        case(checkpoint=tmp_path)
    stopping(None)
    whole = contents(tmp_path)
    assert len(whole) == 4
    for file, content in whole.items():
        for other, before in whole.items():
            (tmp_path / other).write_bytes(before)
        (tmp_path / file).write_bytes(DAMAGES[damage](content, chance))
        if damage == "a bit" and _as_before(tmp_path / file, content):
            continue  # a date, say
        with pytest.warns(RuntimeWarning, match=f"{file} is damaged and is not used") as told:
            assert same(case(checkpoint=tmp_path), expected)
        assert len(told) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert same(case(checkpoint=tmp_path), expected)


def _as_before(path, content):
    if path.suffix == ".json":
        return False
    try:
        about, found = _records.read_results(path)
    except _records.Damage:
        return False
    with np.load(io.BytesIO(content)) as whole:
        assert all(np.array_equal(each, whole[f"total_{at}"]) for at, each in enumerate(found))
    return True


def test_all_files_damaged(stopped):
    case, folder = stopped
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:-5])
    with pytest.warns(RuntimeWarning) as told:
        assert same(case(checkpoint=folder), case())
    assert len(told) == 2


@pytest.mark.slow
def test_every_bit_and_every_length(tmp_path):
    """Is noticed, or changes nothing."""
    path = tmp_path / "search-000.npz"
    about = _records.About("run", {"search": "x"}, 1, 2, 3, 6, 0, 0.5)
    arrays = [np.array([1.5, -2.0]), np.array([[3], [4]], np.int32)]
    with path.open("wb") as file:
        _records.write_results(file, about, arrays)
    whole = path.read_bytes()
    noticed = 0
    changed = [flipped(whole, bit) for bit in range(8 * len(whole))]
    for content in [*changed, *(whole[:length] for length in range(len(whole)))]:
        path.write_bytes(content)
        try:
            found, values = _records.read_results(path)
        except _records.Damage:
            noticed += 1
            continue
        assert found == about and len(values) == 2
        assert all(map(np.array_equal, values, arrays))
        assert [each.dtype for each in values] == [each.dtype for each in arrays]
    assert noticed > 0.8 * len(changed)


def test_every_bit_of_a_record(tmp_path):
    path, value = tmp_path / "run.json", {"measure": "closeness", "cutoff": 1.5, "sources": None}
    with path.open("wb") as file:
        _records.write_record(file, value)
    whole = path.read_bytes()
    for content in [flipped(whole, bit) for bit in range(8 * len(whole))]:
        path.write_bytes(content)
        with contextlib.suppress(_records.Damage):
            assert _records.read_record(path) == value
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(_records.Damage):
            _records.read_record(path)


def test_files_are_whole_by_the_time_they_have_their_names(stopped):
    _, folder = stopped
    with zipfile.ZipFile(folder / "search-000.npz") as file:
        assert file.testzip() is None
    assert json.loads((folder / "run.json").read_text())["value"]["measure"] == "betweenness"


# ---- full disks


@pytest.fixture
def room(tuning):
    """`room(k)` leaves k bytes on the disk, and returns how many of those before were taken."""
    left, before = [0], [0]

    class File(io.FileIO):
        def write(self, data):
            left[0] -= memoryview(data).nbytes
            if left[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data)

    tuning(open=lambda path, mode: io.BufferedWriter(File(path, mode)))

    def change(number):
        taken, left[0], before[0] = before[0] - left[0], number, number
        return taken

    return change


@pytest.mark.slow
@pytest.mark.parametrize("name", ["queue", "closeness by weights"])
def test_a_full_disk(name, room, tuning, tmp_path):
    case = CASES[name]
    tuning(**case.sizes)
    expected = case()
    room(10**9)
    case(checkpoint=tmp_path / "whole")
    size = room(10**9)
    for share in (0, 0.01, 0.1, 0.3, 0.7, 0.99):
        folder = tmp_path / f"{share}"
        room(int(share * size))
        with pytest.raises(
            OSError, match="could not be written .No space left on device.; all"
        ) as e:
            case(checkpoint=folder)
        assert e.value.errno == errno.ENOSPC and f"checkpoint='{folder}'" in str(e.value)
        assert not _records.temporaries(folder)
        room(10**9)
        assert same(case(checkpoint=folder), expected)


@pytest.mark.parametrize("operation", ["fsync", "replace"])
def test_a_disk_that_fails_at_the_end(operation, stopped, monkeypatch):
    case, folder = stopped
    real, count = getattr(os, operation), [0]

    def failing(*args):
        count[0] += 1
        if count[0] == 3:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(*args)

    monkeypatch.setattr(os, operation, failing)
    with pytest.raises(OSError, match="search-000.npz could not be written .Input/output error"):
        case(checkpoint=folder)
    assert count[0] == 3 and not _records.temporaries(folder)
    assert same(case(checkpoint=folder), case())


def test_a_limit_of_the_system(stopped):
    """A real refusal to write, by the limit of the size of files."""
    case, folder = stopped
    before = contents(folder)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, limits[1]))
    try:
        with pytest.raises(OSError, match="search-000.npz could not be written .File too large"):
            case(checkpoint=folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(folder) == before
    assert same(case(checkpoint=folder), case())


# ---- looking


def test_look(stopped):
    case, folder = stopped
    before = contents(folder)
    found = _look.look(folder)
    assert contents(folder) == before
    assert found.key["measure"] == "betweenness" and found.command is None
    assert found.nbytes == sum(map(len, before.values())) and found.files == 2
    assert found.damaged == [] and not found.in_use
    (search,) = found.searches
    assert search.units == 5 < search.of and search.name == "betweenness (queue)"
    assert 0 < search.done < search.total == 775
    left = search.total - search.done
    assert search.remaining == pytest.approx(search.seconds / search.done * left)
    case(checkpoint=folder)
    (search,) = _look.look(folder).searches
    assert (search.units, search.done, search.remaining) == (search.of, search.total, 0)


@pytest.mark.slow
def test_look_counts_units_before_their_turn(tuning, out_of_order, stopping, tmp_path):
    case = CASES["queue"]
    tuning(**case.sizes)
    stopping(3, after=False)
    with pytest.raises(Stop):
        case(checkpoint=tmp_path)
    files = len(list(tmp_path.glob("search-*-unit-*.npz")))
    (search,) = _look.look(tmp_path).searches
    assert files > 0 and search.units == 2 + files
    (tmp_path / "search-000.npz").write_bytes(b"")
    found = _look.look(tmp_path)
    assert found.searches[0].units == files
    assert len(found.damaged) == 1 and found.damaged[0].startswith("search-000.npz: ")
