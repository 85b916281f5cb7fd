"""Arguments that change during a call, threads that cannot start, numbers at the edge of a type."""

import os
import shutil
import subprocess
import sys
import textwrap
import threading
import types
from _thread import start_new_thread
from pathlib import Path

import pytest
import torch
import weighted_oracles
from internals import COMPILED, checked_vertices, progress_bar, watched
from resident import GIVING_BACK
from surface import call
from tuning import original

import torchcent
from torchcent import Graph

HERE = str(Path(__file__).parent)
ARCS = torch.tensor([[0, 1, 2, 0, 3], [1, 2, 3, 2, 1]])
compiled = pytest.mark.skipif(not COMPILED, reason="the compiled extension is not in use")


def run_apart(code: str, *, within: float = 120) -> str:
    """What a program prints that runs in a process of its own, where a crash or a hang would
    show."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env=GIVING_BACK,
        timeout=within,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout


# --- ranges before differences


@pytest.mark.parametrize("name", ["ptr", "batch"])
@pytest.mark.parametrize(
    "wrapping",
    [[0, 2**63 - 1, -(2**63), -1, 4], [0, 2**62, -(2**62) - 1, 4, 4], [0, -(2**63), 0, 4, 4]],
)
def test_differences_that_wrap(name, wrapping):
    with pytest.raises(ValueError, match=f"{name} must (ascend|be sorted).* after "):
        call(torchcent.betweenness, ARCS, **{name: torch.tensor(wrapping)})


@pytest.mark.parametrize("bad", [2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**63 - 1])
def test_ids_that_int32_would_cut_off(bad):
    arcs = ARCS.clone()
    arcs[1, 3] = bad
    for size in (None, 4):
        with pytest.raises(ValueError, match=f"vertex id {bad}"):
            Graph.from_edge_index(arcs, size)
    arcs[1, 3] = -bad
    with pytest.raises(ValueError, match=f"negative vertex ids, got {-bad}"):
        Graph.from_edge_index(arcs)


# --- arguments that another thread changes


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_ids_are_those_that_were_checked(tuning, dtype):
    """Another thread at the worst moment: right after the ids were read."""
    expected = Graph.from_edge_index(ARCS)
    for batch in (None, torch.zeros(4, dtype=torch.int64)):
        given, own = ARCS.to(dtype, copy=True), original("ids")

        def then_changed(arcs, own=own):
            found = own(arcs)
            arcs.fill_(2**30)
            return found

        tuning(ids=then_changed)
        graph = Graph.from_edge_index(given, batch=batch)
        tuning(ids=own)
        assert torch.equal(graph.rowptr, expected.rowptr)
        assert torch.equal(graph.col, expected.col) and torch.equal(graph.slot, expected.slot)
        assert bool((given == 2**30).all())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.int64])
def test_weights_are_those_that_were_checked(tuning, dtype):
    given = torch.tensor([1, 2, 3, 4, 5], dtype=dtype)
    ends = original("ends_of_weights")

    def change_first(weight):
        given.fill_(-1)
        return ends(weight)

    tuning(ends_of_weights=change_first)
    graph = Graph.from_edge_index(ARCS, edge_weight=given)
    assert graph.weight.tolist() == [1, 4, 2, 3, 5] and bool((given == -1).all())
    given = torch.tensor([1, 2, 3, 4, 5], dtype=dtype)
    with pytest.warns(UserWarning, match="has not converged in 30 iterations"):
        found = torchcent.mcl(ARCS, given, max_iter=30)
    assert found.num_clusters and bool((given == -1).all())


def test_batch_and_sources_are_copies():
    ptr, sources = torch.tensor([0, 4]), torch.tensor([0, 2])
    graph = Graph.from_edge_index(ARCS, ptr=ptr)
    ptr.fill_(7)
    assert graph.ptr.tolist() == [0, 4]
    batch = torch.zeros(4, dtype=torch.int64)
    graph = Graph.from_edge_index(ARCS, batch=batch)
    batch.fill_(7)
    assert graph.batch.tolist() == [0] * 4
    found = checked_vertices(sources, "sources", graph)
    sources.fill_(10**9)
    assert found.tolist() == [0, 2]


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@compiled
@pytest.mark.parametrize("what", ["edge_index", "weight", "ptr"])
def test_a_thread_that_changes_arguments(what):
    """A graph comes out, or an error; memory is never written out of bounds."""
    said = run_apart(f"""
        import threading, torch
        from torchcent import Graph
        torch.set_num_threads(1)
        generator = torch.Generator().manual_seed(0)
        n, columns = 1000, 20000
        arcs = torch.randint(0, n, (2, columns), generator=generator)
        weight, ptr = torch.ones(columns, dtype=torch.float64), torch.tensor([0, n])
        target, bad = {{
            "edge_index": (arcs, 2**40), "weight": (weight, float("nan")), "ptr": (ptr, -2**62),
        }}[{what!r}]
        good, over = target.clone(), threading.Event()

        def change():
            while not over.is_set():
                target[..., 1::2] = bad
                target.copy_(good)

        thread = threading.Thread(target=change)
        thread.start()
        built = refused = 0
        for _ in range(400):
            try:
                graph = Graph.from_edge_index(arcs, n, False, weight, ptr=ptr)
                graph.transpose
                built += 1
                assert int(graph.col.min()) >= 0 and int(graph.col.max()) < n
                assert int(graph.rowptr[-1]) == graph.num_slots
                assert bool(torch.isfinite(graph.weight).all())
                assert graph.ptr.tolist() == [0, n]
            except ValueError:
                refused += 1
        over.set()
        thread.join()
        print(built + refused, refused > 0)
    """)
    assert said.split()[0] == "400"
    if what != "ptr":  # which two threads may well not meet in
        assert said.split()[1] == "True"


def test_a_graph_shares_no_memory_with_what_it_was_built_from():
    arcs = torch.tensor([[0, 1, 2], [1, 2, 0]])  # sorted: nothing would have to be moved
    weight = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    ptr = torch.tensor([0, 3])
    graph = Graph.from_edge_index(arcs, edge_weight=weight, ptr=ptr)
    for part in (arcs, weight, ptr):
        part.fill_(99)
    assert graph.to_edge_index().tolist() == [[0, 1, 2], [1, 2, 0]]
    assert graph.weight.tolist() == [1, 2, 3] and graph.ptr.tolist() == [0, 3]


def test_a_graph_shares_no_memory_with_an_edge_index_of_pyg():
    geometric = pytest.importorskip("torch_geometric")
    arcs = torch.tensor([[0, 1, 2], [1, 2, 0]])
    index = geometric.EdgeIndex(arcs, sparse_size=(3, 3), sort_order="row").fill_cache_()
    graph = Graph.from_data(index)
    (rowptr, col), _ = index.get_csr()
    for part in (rowptr, col, arcs):
        part.fill_(99)
    assert graph.rowptr.tolist() == [0, 1, 2, 3] and graph.col.tolist() == [1, 2, 0]


def test_a_cached_csr_that_lies_is_not_believed():
    geometric = pytest.importorskip("torch_geometric")
    arcs = torch.tensor([[0, 1, 2], [1, 2, 0]])
    index = geometric.EdgeIndex(arcs, sparse_size=(3, 3), sort_order="row").fill_cache_()
    index._indptr.fill_(10**9)
    assert Graph.from_data(index).rowptr.tolist() == [0, 1, 2, 3]


# --- threads that cannot start


def no_thread(*_):
    raise RuntimeError("can't start new thread")


def stillborn(function, arguments):
    """A thread that has no memory to call anything, which Python tells nobody."""
    start_new_thread(lambda: None, ())


@pytest.mark.parametrize("start", [no_thread, stillborn])
def test_work_is_done_here_where_no_thread_starts(tuning, start):
    graph = torchcent.generate.ba(3000, 5)
    names = ("closeness", "betweenness", "distance_distribution")
    expected = [
        getattr(torchcent, name)(graph, run=torchcent.Run(progress=False)) for name in names
    ]
    tuning(
        start_thread=start,
        inline=0,
    )
    for name, known in zip(names, expected, strict=True):
        assert torch.equal(
            getattr(torchcent, name)(graph, run=torchcent.Run(progress=False)), known
        )


@pytest.mark.parametrize("start", [no_thread, stillborn, start_new_thread])
def test_errors_come_from_either_thread(tuning, start):
    tuning(start_thread=start)
    control = torch.zeros(4, dtype=torch.int64)
    here, worked = threading.get_ident(), []

    def work():
        worked.append(threading.get_ident())
        raise OSError("a fault of its own")

    with (
        progress_bar(1, "test", False, False) as bar,
        pytest.raises(OSError, match="a fault of its own"),
    ):
        watched(work, control, bar)
    assert len(worked) == 1 and (worked[0] == here) is (start is not start_new_thread)


def test_a_thread_that_dies_at_work(monkeypatch, tuning):
    """As one does that has no memory left to say so."""

    class Dead(threading.Event):
        def set(self):
            return [][1]

    # Of this module alone: the test runner's own threads have events too.
    tuning(threading=types.SimpleNamespace(**vars(threading) | {"Event": Dead}))
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    with (
        progress_bar(1, "test", False, False) as bar,
        pytest.raises(MemoryError, match="thread that computes"),
    ):
        watched(lambda: None, torch.zeros(4, dtype=torch.int64), bar)


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@compiled
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.parametrize("kind", ["address space", "processes"])
def test_at_the_edge_of_what_the_system_grants(kind):
    """No call hangs: each ends with a result or a MemoryError, where libraries cannot be loaded any
    more too. PyTorch's own pool of threads, which ends the process where it cannot start them, is
    started before; and where the child becomes a user who may not read the libraries, they are
    loaded before."""
    said = run_apart(f"""
        import os, resource, torch, torchcent
        if {kind!r} == "processes":
            import scipy.sparse.csgraph, scipy.special
        torch.set_num_threads(2)
        graph = torchcent.Graph.from_edge_index(torchcent.generate.ba(3000, 8))
        torch.ones(3 * 10**6).sum(), torch.ones(10**6).sort()
        run = torchcent.Run(memory=10**9)
        calls = {{
            "closeness": lambda: torchcent.closeness(graph, run=run | torchcent.Run(engine="bits")),
            "mcl": lambda: torchcent.mcl(graph, run=run),
            "distribution": lambda: torchcent.distance_distribution(graph, run=run),
            "approx": lambda: torchcent.betweenness_approx(graph, epsilon=0.05, run=run),
            "betweenness": lambda: torchcent.betweenness(graph, run=run),
        }}
        room_left = (2, 6, 8.2, 8.4, 8.6, 9, 12, 20, 40) if {kind!r} == "address space" else (0,)
        for name, call in calls.items():
            for room in room_left:
                child = os.fork()
                if child:
                    print(name, room, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                    continue
                # The child has no threads: not even those of PyTorch, and may start none of them.
                torch.set_num_threads(1)
                import signal
                signal.alarm(60)
                if {kind!r} == "address space":
                    taken = int(open("/proc/self/statm").read().split()[0]) * 4096
                    resource.setrlimit(resource.RLIMIT_AS, (taken + int(room * 10**6),) * 2)
                else:
                    if os.getuid() == 0:
                        os.setuid(65534)
                    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
                code = 0
                try:
                    call()
                except MemoryError as error:
                    code = 3
                except BaseException as error:
                    os.write(2, f"{{name}} {{room}} {{error!r}}".encode())
                    code = 1
                os._exit(code)
    """)
    rows = [line.split() for line in said.splitlines()]
    assert len(rows) == (45 if kind == "address space" else 5)
    # The C library itself aborts (127, -6) where it has no memory for a new thread's own data.
    assert {row[2] for row in rows} <= {"0", "3", "127", "-6"}, said
    assert sum(row[2] in ("0", "3") for row in rows) >= 0.8 * len(rows)
    assert any(row[2] == "0" for row in rows)


FORKS = """
import multiprocessing, torch, torchcent

def work(how, queue):
    if how == "fork":
        torch.set_num_threads(1)
    arcs = torchcent.generate.ba(3000, 5)
    score = float(torchcent.closeness(arcs, run=torchcent.Run(progress=False)).sum())
    queue.put((score, float(torch.ones(10**6).sum())))

if __name__ == "__main__":
    torch.set_num_threads(2)
    arcs = torchcent.generate.ba(3000, 5)
    known = float(torchcent.closeness(arcs, run=torchcent.Run(progress=False)).sum())
    torch.ones(10**7).sum()
    for how in ("fork", "spawn"):
        context = multiprocessing.get_context(how)
        queue = context.Queue()
        process = context.Process(target=work, args=(how, queue))
        process.start()
        assert queue.get(timeout=60) == (known, 10.0**6)
        process.join(60)
        print(how, process.exitcode)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_processes_as_the_docs_start_them(tmp_path):
    """docs/gnn.md: spawned, or forked with one thread."""
    (tmp_path / "forks.py").write_text(FORKS)
    run = subprocess.run(
        [sys.executable, str(tmp_path / "forks.py")], capture_output=True, text=True, timeout=200
    )
    assert run.stdout.split() == ["fork", "0", "spawn", "0"], run.stderr[-2000:]


# --- numbers at the edge


@compiled
@pytest.mark.parametrize("factor", [1e-310, 5e-324, 1e-300, 2.0**-1000, 1e300])
@pytest.mark.parametrize("engine", ["relax", "dijkstra"])
def test_weights_at_the_edge_of_float64(engine, factor):
    generator = torch.Generator().manual_seed(3)
    n = 30
    arcs = torch.randint(0, n, (2, 120), generator=generator)
    arcs = torch.unique(arcs[:, arcs[0] != arcs[1]], dim=1)
    lengths = torch.randint(1, 9, (arcs.shape[1],), generator=generator).double() * factor
    weights = dict(zip(map(tuple, arcs.T.tolist()), lengths.tolist(), strict=True))
    ones = [1] * n
    expected = weighted_oracles.sums(
        "betweenness", n, weights, weights, range(n), ones, [0] * n, ones, [0] * n
    )
    found = torchcent.betweenness(
        arcs,
        lengths,
        num_nodes=n,
        normalized=False,
        run=torchcent.Run(engine=engine, dtype=torch.float64),
    )
    assert found.tolist() == pytest.approx([float(score) for score in expected], rel=1e-5)
    rows = torchcent.shortest_path_lengths(
        arcs, lengths, num_nodes=n, run=torchcent.Run(engine=engine)
    )
    for source in range(n):
        known = weighted_oracles.distances(n, weights, source)
        assert rows[source].tolist() == [float("inf") if d is None else d for d in known]


@pytest.mark.slow
def test_vertices_are_sorted_without_undefined_conversions(tmp_path):
    """Where the reciprocal of a distance is infinite: a sanitizer sees what results do not show."""
    compiler, text = shutil.which("g++"), Path(__file__).with_name("lane_order.cpp")
    sources = Path(__file__).resolve().parents[1] / "csrc"
    if compiler is None or not sources.is_dir():
        pytest.skip("needs g++ and the sources")
    program = tmp_path / "lane_order"
    flags = [
        "-std=c++20",
        f"-I{sources}",
        f"-I{sources}/include",
        "-fsanitize=undefined,float-cast-overflow",
    ]
    made = subprocess.run(
        [
            *(compiler, *flags, "-fno-sanitize-recover=all"),
            *(str(text), str(sources / "core/cpu/map.cpp"), "-o", str(program)),
        ],
        capture_output=True, text=True,
    )  # fmt: skip
    if "cannot find" in made.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert made.returncode == 0, made.stderr
    run = subprocess.run([program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_whole_weights_are_exact_below_2_to_the_53():
    """docs/weights.md: sums of whole weights are exact below 2^53, of any dtype, and rounded
    beyond; `explain` tells whether no path can be so long."""
    path = torch.tensor([[0, 1, 2], [1, 2, 3]])
    for dtype in (torch.int64, torch.float64):
        below = torch.tensor([2**51 + 1, 2**51 + 1, 1], dtype=dtype)
        row = torchcent.shortest_path_lengths(path, below)[0]
        assert [int(d) for d in row.tolist()] == [0, 2**51 + 1, 2**52 + 2, 2**52 + 3]
        assert torchcent.explain(path, edge_weight=below).weights == "float64, sums exact"
        beyond = torch.tensor([2**53 - 1, 1, 1], dtype=dtype)
        row = torchcent.shortest_path_lengths(path, beyond)[0]
        assert [int(d) for d in row.tolist()] == [0, 2**53 - 1, 2**53, 2**53]  # not 2^53 + 1
        assert torchcent.explain(path, edge_weight=beyond).weights == "float64"
        with pytest.raises(ValueError, match=r"whole numbers.*2\^53"):
            torchcent.distance_distribution(path, beyond)
    with pytest.raises(ValueError, match=r"edge_weight\[1\] is 9007199254740993.*2\^53"):
        torchcent.shortest_path_lengths(path, torch.tensor([1, 2**53 + 1, 1]))


# --- what building takes


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="needs /proc")
@compiled
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_building_takes_what_is_said(symmetric, weighted):
    said = run_apart(f"""
        import sys, torch
        from torchcent import Graph
        sys.path.append({HERE!r})
        from internals import Building
        torch.set_num_threads(1)

        def status(name):
            lines = open("/proc/self/status").read().splitlines()
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

        n, columns = 100_000, 1_500_000
        arcs = torch.randint(0, n, (2, columns), generator=torch.Generator().manual_seed(0))
        weight = torch.rand(columns) + 1 if {weighted} else None
        few = None if weight is None else weight[:9]
        Graph.from_edge_index(arcs[:, :9], n, not {symmetric}, few)
        open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
        before = status("VmRSS")
        graph = Graph.from_edge_index(arcs, n, not {symmetric}, weight)
        slots = graph.num_slots  # some columns are loops or repeated, whose weights are added up
        room = Building(columns, {symmetric}, {weighted}, arcs.device, None, slots)
        print(status("VmHWM") - before, room.needed(n))
    """)
    measured, promised = map(int, said.split())
    assert 0.8 * promised < measured < 1.05 * promised + 2**21


@pytest.mark.slow
def test_what_is_free_knows_limits_of_the_process():
    resource = pytest.importorskip("resource")
    said = run_apart(f"""
        import resource, sys, torch
        sys.path.append({HERE!r})
        from tuning import original
        free = original("free_memory")
        taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + 10**8,) * 2)
        print(free(torch.device("cpu")))
    """)
    assert resource and 0 < int(said) <= 10**8
    assert torchcent.explain(ARCS).memory_limit > 0
