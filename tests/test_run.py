"""Run: how functions compute, as an argument and as the default of what is inside of it."""

import asyncio
import inspect
import pickle
import threading

import networkx as nx
import pytest
import torch
from graphs import DEVICE
from internals import Request, surrounding

import torchcent
from torchcent import Engine, Run, functional

PATH = torch.tensor([[0, 1, 2], [1, 2, 3]], device=DEVICE)
GONE = {
    "engine", "strategy", "warp_size", "reduce", "memory", "progress", "checkpoint", "devices",
}  # fmt: skip
FUNCTIONS = [
    getattr(module, name)
    for module in (torchcent, functional)
    for name in module.__all__
    if inspect.isfunction(getattr(module, name))
]
MAKERS = [value for name, value in vars(torchcent.Graph).items() if name.startswith("from_")]


@pytest.fixture
def engines(monkeypatch):
    """The engines that calls of betweenness have been planned with."""

    seen: list[str] = []
    real = Request.begin

    def begin(self, graph):
        seen.append(self.engine)
        return real(self, graph)

    monkeypatch.setattr(Request, "begin", begin)
    return seen


# --- the surface


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f"{f.__module__}.{f.__name__}")
def test_no_function_spells_out_a_run(function):
    names = set(inspect.signature(function).parameters)
    assert not names & GONE
    if "group" in names:  # of vertices
        assert function.__name__.startswith("group_")


def test_functions_have_few_parameters():
    for module in (torchcent, functional):
        counts = [
            len(inspect.signature(getattr(module, name)).parameters)
            for name in module.__all__
            if inspect.isfunction(getattr(module, name))
        ]
        assert max(counts) <= 14 and sum(counts) / len(counts) <= 8


def test_graphs_are_made_with_a_run():
    for maker in MAKERS:
        assert "run" in inspect.signature(maker.__func__).parameters
    with pytest.raises(MemoryError, match="memory=10 "):
        torchcent.Graph.from_edge_index(PATH, run=Run(memory=10))
    with Run(memory=10), pytest.raises(MemoryError, match="memory=10 "):
        torchcent.Graph.from_edge_index(PATH)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"engine": "fast"}, ValueError, "engine must be one of auto, lanes, .*'fast'"),
        ({"engine": 3}, ValueError, "engine must be one of"),
        ({"reduce": "folds"}, ValueError, "reduce must be one of auto, none, fold"),
        ({"reduce": 1}, TypeError, "reduce must be 'auto'"),
        ({"memory": 0}, ValueError, "memory must be a positive number of bytes"),
        ({"progress": "yes"}, TypeError, "progress must be True or False"),
        ({"checkpoint": 5}, TypeError, "checkpoint must be a str or os.PathLike"),
        ({"devices": "cuda"}, TypeError, "devices must be a sequence of devices or 'all'"),
        ({"threads": 0}, ValueError, "threads must be 1 to 4096, got 0"),
        ({"threads": 2**40}, ValueError, "threads must be 1 to 4096"),
        ({"devices": torch.zeros(2)}, TypeError, "devices must be a sequence"),
        ({"dtype": torch.int64}, TypeError, "dtype must be a floating-point torch.dtype"),
        ({"threads": 1.5}, TypeError, "threads must be an int"),
        ({"thread": 1}, TypeError, "Run has no 'thread'; accepted: engine, reduce, memory"),
    ],
)
def test_wrong_arguments(options, error, message):
    with pytest.raises(error, match=message):
        Run(**options)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"name": "queue", "strategy": "fast"}, "strategy must be one of auto, node_parallel"),
        ({"warp_size": 7}, r"warp_size must be one of \(4, 8, 16, 32\), got 7"),
    ],
)
def test_wrong_engines(options, message):
    with pytest.raises(ValueError, match=message):
        Engine(**options)


def test_what_is_passed_must_be_a_run():
    for call in (torchcent.betweenness, torchcent.degree, torchcent.Graph.from_edge_index):
        with pytest.raises(TypeError, match=r"run must be a torchcent\.Run, got 'queue'"):
            call(PATH, run="queue")
    with pytest.raises(TypeError, match="run must be"):
        functional.closeness(PATH, num_nodes=4, run="queue")


def test_a_run_is_a_value():
    run = Run(engine="queue", memory=10**9, reduce=["fold"], threads=2)
    assert repr(run) == "Run(engine='queue', reduce=['fold'], memory=1000000000, threads=2)"
    assert eval(repr(run)) == run and hash(eval(repr(run))) == hash(run)
    assert pickle.loads(pickle.dumps(run)) == run
    assert repr(Run()) == "Run()" and Run() == Run() != run
    wide = Run(engine=Engine("queue", strategy="warp_centric", warp_size=8))
    assert eval(repr(wide)) == wide
    with pytest.raises(AttributeError, match="frozen"):
        run.memory = 3
    with pytest.raises(AttributeError, match="frozen"):
        del run.memory
    with pytest.raises(TypeError, match="unsupported operand"):
        run | 3
    assert list(inspect.signature(Run).parameters) == [
        "engine", "reduce", "memory", "progress", "checkpoint", "devices", "group", "threads",
        "dtype",
    ]  # fmt: skip


def test_one_run_over_another():
    outer, inner = Run(engine="queue", memory=5), Run(engine="auto", progress=False)
    both = outer | inner
    assert (both.engine.name, both.memory, both.progress) == ("auto", 5, False)
    assert Run() | outer == outer | Run() == outer
    assert (inner | outer).engine.name == "queue"


# --- what a function has no use for


@pytest.mark.parametrize(
    "function, run, message",
    [
        (torchcent.pagerank, Run(engine="queue"), "pagerank does not use engine='queue'"),
        (torchcent.closeness, Run(reduce="none"), "closeness does not use reduce='none'"),
        (torchcent.degree, Run(devices=["cpu"]), r"degree does not use devices=\('cpu',\)"),
        (torchcent.mcl, Run(checkpoint="run"), "mcl does not use checkpoint='run'"),
        (torchcent.Graph.from_edge_index, Run(reduce="none"), "Graph.from_edge_index does not use"),
        (
            lambda arcs, run=None: torchcent.DynamicBetweenness(
                torchcent.DynamicGraph(arcs), run=run
            ),
            Run(dtype=torch.float64),
            "DynamicBetweenness does not use dtype=torch.float64",
        ),
        (torchcent.harmonic, Run(engine=Engine(strategy="warp_centric")), "not for harmonic"),
    ],
)
def test_what_is_not_used_is_refused(function, run, message):
    with pytest.raises(ValueError, match=message):
        function(PATH, run=run)
    with run:
        function(PATH)


def test_what_all_may_be_told():
    plain = Run(memory=10**9, progress=False, threads=1, engine="auto", reduce="auto")
    assert torchcent.pagerank(PATH, run=plain).shape == (4,)
    assert torch.equal(torchcent.degree(PATH, run=None), torchcent.degree(PATH))


# --- around a block


def test_inside(engines):
    with Run(engine="tensor"):
        torchcent.betweenness(PATH)
        torchcent.betweenness(PATH, run=Run(progress=False))
        torchcent.betweenness(PATH, run=Run(engine="tiny"))
        with Run(engine="auto"):
            torchcent.betweenness(PATH)
        torchcent.betweenness(PATH)
    torchcent.betweenness(PATH)
    assert engines == ["tensor", "tensor", "tiny", "auto", "tensor", "auto"]


def test_it_ends_with_the_block():
    with pytest.raises(KeyError), Run(engine="tensor"):
        raise KeyError
    assert surrounding() == Run()


def test_the_same_twice():
    run = Run(engine="tensor")
    with run, run:
        assert surrounding() == run
    assert surrounding() == Run()


def test_threads_have_their_own():
    seen = {}

    def other():
        seen["other"] = surrounding()
        with Run(engine="queue"):
            seen["own"] = surrounding()

    with Run(engine="tensor"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert surrounding() == Run(engine="tensor")
    assert seen == {"other": Run(), "own": Run(engine="queue")}


def test_tasks_have_their_own():
    async def task(name):
        with Run(engine=name):
            for _ in range(3):
                await asyncio.sleep(0)
                assert surrounding() == Run(engine=name)

    async def both():
        await asyncio.gather(task("queue"), task("tensor"))

    asyncio.run(both())
    assert surrounding() == Run()


def test_networkx(engines):
    graph = nx.path_graph(5)
    with Run(engine="tensor"):
        nx.betweenness_centrality(graph, backend="torchcent")
    nx.betweenness_centrality(graph, backend="torchcent")
    assert engines == ["tensor", "auto"]


def test_operators(engines):
    with Run(engine="tensor"):
        functional.betweenness(PATH, num_nodes=4)
        functional.betweenness(PATH, num_nodes=4, run=Run(engine="tiny"))
    functional.betweenness(PATH, num_nodes=4)
    assert engines == ["tensor", "tiny", "auto"]
    with pytest.raises(ValueError, match="does not use threads|does not use devices"):
        functional.betweenness(PATH, num_nodes=4, run=Run(devices=["cpu"]))


def test_transforms(engines):
    data = pytest.importorskip("torch_geometric.data").Data(edge_index=PATH, num_nodes=4)
    from torchcent.transforms import AddCentrality

    with pytest.raises(ValueError, match="got 'betweeness'; did you mean betweenness"):
        AddCentrality(["betweeness"])
    transform = AddCentrality("betweenness")
    with Run(engine="tensor"):
        transform(data)
    AddCentrality("betweenness", run=Run(engine="tensor"))(data)
    assert pickle.loads(pickle.dumps(AddCentrality(run=Run(memory=9)))).run == Run(memory=9)
    with pytest.raises(TypeError, match="run must be"):
        AddCentrality(run={"engine": "tensor"})


def test_operators_follow_all_of_a_run():
    with pytest.raises(MemoryError, match="memory=1 "):
        functional.betweenness(PATH, num_nodes=4, run=Run(memory=1))
    with Run(memory=1):
        functional.betweenness(PATH, num_nodes=4, run=Run(memory=10**9))
    before = torch.get_num_threads()
    functional.pagerank(PATH, num_nodes=4, run=Run(threads=before + 1))
    assert torch.get_num_threads() == before and surrounding() == Run()


def test_traced_operators_follow_the_argument():
    double = Run(dtype=torch.float64, engine="tensor")

    def scores(arcs):
        return functional.betweenness(arcs, num_nodes=4, run=double)

    traced = torch.compile(scores, fullgraph=True, backend="eager")
    assert torch.equal(traced(PATH), scores(PATH)) and scores(PATH).dtype == torch.float64


def test_dtype_of_attributes():
    data = pytest.importorskip("torch_geometric.data")
    from torchcent.transforms import AddCentrality, AddEdgeCentrality, AddRandomWalkEncoding

    double = Run(dtype=torch.float64)
    for transform, name in (
        (AddCentrality("betweenness", run=double), "centrality"),
        (AddEdgeCentrality(run=double), "edge_centrality"),
        (AddRandomWalkEncoding(3, run=double), "random_walk_pe"),
    ):
        done = transform(data.Data(edge_index=PATH, num_nodes=4))
        assert done[name].dtype == torch.float64
    with double:
        done = AddCentrality("betweenness")(data.Data(edge_index=PATH, num_nodes=4))
    assert done.centrality.dtype == torch.float64
    with pytest.raises(MemoryError):
        AddRandomWalkEncoding(3, run=Run(memory=1))(data.Data(edge_index=PATH, num_nodes=4))
    with pytest.raises(ValueError, match="does not use reduce='none'"):
        AddRandomWalkEncoding(3, run=Run(reduce="none"))(data.Data(edge_index=PATH, num_nodes=4))


def test_networkx_leaves_engines_that_it_cannot_use():
    graph = nx.path_graph(5)
    with Run(engine="queue"):
        found = nx.closeness_centrality(graph, backend="torchcent")
    assert found == pytest.approx(nx.closeness_centrality(graph))


@pytest.mark.parametrize("edges", [False, True])
def test_pivots_of_another_generator_are_refused(edges, tmp_path):
    graph = torchcent.Graph.from_edge_index(torchcent.generate.ba(300, 3, seed=1).to(DEVICE))
    approx = torchcent.edge_betweenness_approx if edges else torchcent.betweenness_approx
    options = {"method": "pivots", "max_samples": 64, "run": Run(checkpoint=tmp_path)}
    first = torch.Generator().manual_seed(1)
    found = approx(graph, 0.05, generator=first, **options).scores
    with pytest.raises(ValueError, match="of another run: from is"):
        approx(graph, 0.05, generator=torch.Generator().manual_seed(2), **options)
    again = approx(graph, 0.05, generator=torch.Generator().manual_seed(1), **options).scores
    assert torch.equal(found, again)


def test_what_functions_call_does_not_see_it(tmp_path):
    """A function that calls others gives them what it has, once: not the checkpoint again."""
    with Run(checkpoint=tmp_path / "run", progress=False):
        scores = torchcent.centralization(PATH, directed=False)
    assert scores.numel() == 1 and not (tmp_path / "run").exists()


def test_dtype_of_scores():
    double = Run(dtype=torch.float64)
    assert torchcent.betweenness(PATH).dtype == torch.get_default_dtype()
    for function in (torchcent.betweenness, torchcent.degree, torchcent.closeness):
        assert function(PATH, run=double).dtype == torch.float64
    with double:
        assert torchcent.pagerank(PATH).dtype == torch.float64
        assert torchcent.pagerank(PATH, run=Run(dtype=torch.float32)).dtype == torch.float32
        assert functional.pagerank(PATH, num_nodes=4).dtype == torch.float64
        assert torchcent.core_number(PATH, directed=False).dtype == torch.int64
    with pytest.raises(ValueError, match="core_number does not use dtype=torch.float64"):
        torchcent.core_number(PATH, directed=False, run=double)
    with pytest.raises(ValueError, match="triangles does not use dtype"):
        functional.triangles(PATH, num_nodes=4, run=double)


def test_number_of_threads():
    before = torch.get_num_threads()
    seen = []

    class Seeing(torchcent.Visitor):
        def visit(self, *_):
            seen.append(torch.get_num_threads())

    torchcent.multi_search(PATH, visitor=Seeing(), run=Run(threads=before + 1))
    with Run(threads=before + 2):
        torchcent.multi_search(PATH, visitor=Seeing())
        assert torch.get_num_threads() == before
    with pytest.raises(ValueError, match="sources"):
        torchcent.betweenness(PATH, sources=9, run=Run(threads=before + 1))
    assert torch.get_num_threads() == before
    assert set(seen) == {before + 1, before + 2}
