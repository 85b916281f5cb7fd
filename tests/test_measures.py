"""The declarations of measures, and that every surface has what they say."""

import importlib.util
import inspect
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch
from internals import KERNELS, MEASURES, has_command
from surface import call, needed

import torchcent
import torchcent.nx
from torchcent import functional
from torchcent.engines import _tensor
from torchcent.engines.measures import _kernels, _measures
from torchcent.engines.measures._kernels import Kernel
from torchcent.engines.measures._measures import COMMON, OPTIONS
from torchcent.engines.search import _tiny

ROOT = Path(__file__).resolve().parents[1]
PUBLIC = [x for x in KERNELS.values() if x.public]
PATH = torch.tensor([[0, 1, 2], [1, 2, 3]])
#: public functions of a graph that are no measures: plans, layouts, other graphs, whole analyses
NO_MEASURES = {
    "anchor_distances", "landmark_distances", "pair_features", "windows",
    "betweenness_adaptive", "biconnected_components", "centralization", "clustering_quality",
    "communities_by_betweenness", "dual_graph", "explain", "explain_mcl", "heat_kernel", "layout",
    "mcl", "mcl_sweep", "multi_search", "personalized_pagerank", "prominent_group", "reachable",
    "sdrf", "shortest_path", "shortest_path_encoding", "shortest_path_pairs", "transitive_closure",
    "eigenspace_projections", "heat_kernel_pairs", "magnetic_encoding", "resistance_pairs",
    "random_walk_pairs", "gpse_encodings",
}  # fmt: skip
#: surface -> what has a score there; for others the reason
OF = {
    "functional": (("vertices", "edges", "groups"), "the shape depends on what is computed"),
    "command": (("vertices", "edges", "groups", "graph"), "torchcent apsp, and no table of n^2"),
    "columns": (("vertices",), "a column has a number for every vertex"),
    "networkx": (("vertices", "edges", "groups", "pairs", "graph"), ""),
}
OF_NETWORKX = {
    measure
    for function in torchcent.nx.FUNCTIONS.values()
    for measure in ([function.measure] if isinstance(function.measure, str) else function.measure)
}


def has(surface: str, name: str) -> bool:
    each = MEASURES[name]
    if surface == "functional":
        return name in functional.__all__
    if surface == "networkx":
        return name in OF_NETWORKX
    if surface == "command":
        return has_command(each)
    return bool(each.columns)


@pytest.mark.parametrize("surface", OF)
@pytest.mark.parametrize("name", MEASURES)
def test_every_surface_has_every_measure(name: str, surface: str) -> None:
    """Or the declaration says why not; and no reason is given for what is there."""
    each, (kinds, why) = MEASURES[name], OF[surface]
    reason = each.without.get(surface) or ("" if each.of in kinds else why)
    assert has(surface, name) is (not reason), reason


def test_all_functions_of_a_graph_are_declared() -> None:
    functions = {
        name: getattr(torchcent, name)
        for name in torchcent.__all__
        if inspect.isfunction(getattr(torchcent, name))
    }
    of_graphs = {x for x, f in functions.items() if "edge_index" in inspect.signature(f).parameters}
    assert of_graphs - NO_MEASURES == set(MEASURES)
    for name, each in MEASURES.items():
        assert functions[name] is each.function
        assert set(each.without) <= set(OF)


@pytest.mark.parametrize("name", MEASURES)
def test_declarations_say_what_the_functions_do(name: str) -> None:
    each = MEASURES[name]
    assert each.text.endswith(".") and "`" not in each.text
    assert ("edge_weight" in each.parameters) is bool(each.weights)
    if each.of in OF["functional"][0]:
        assert each.options.keys() <= OPTIONS.keys()  # each argument means the same everywhere
    words = {option for option in each.options if OPTIONS.get(option, ("",))[0] == "word"}
    assert words <= set(each.choices)
    for option in words:
        default = each.options[option].default
        assert default in each.choices[option] or default is inspect.Parameter.empty
    assert list(each.parameters)[0] == "edge_index" and set(COMMON) & set(each.parameters)


@pytest.mark.parametrize("name", [x for x in MEASURES if MEASURES[x].undirected])
def test_undirected_measures_refuse_directed_graphs(name: str) -> None:
    more = needed(name)
    call(MEASURES[name].function, PATH, **more)
    with pytest.raises(ValueError, match="directed"):
        call(MEASURES[name].function, PATH, **more | {"directed": None})


def test_derived_files() -> None:
    where = ROOT / "tools" / "declare.py"
    spec = importlib.util.spec_from_file_location("declare", where)
    assert spec is not None and spec.loader is not None
    tool: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    for path, text in tool.FILES.items():
        assert path.read_text(encoding="utf-8") == text(), "run: python tools/declare.py"


@pytest.mark.parametrize("kernel", PUBLIC, ids=lambda x: x.name)
def test_kernels_say_what_the_functions_do(kernel):
    function = getattr(torchcent, kernel.name)
    options = inspect.signature(function).parameters
    if "normalized" in options:
        assert options["normalized"].default is kernel.normalized
    if kernel.family == "paths":
        # A result per column of edge_index, or per vertex.
        more = needed(kernel.name)
        assert not kernel.weighted_by or kernel.weighted_by in more
        scores = call(function, PATH, directed=False, **more)
        assert scores.numel() == (3 if kernel.per_slot else 4)
        assert kernel.visitor is not None
    else:
        assert kernel.visitor is None
    reduced = torchcent.Run(reduce="none")
    if kernel.family == "paths":
        function(PATH, directed=False, run=reduced, **more)
    else:
        with pytest.raises(ValueError, match=f"{kernel.name} does not use reduce='none'"):
            function(PATH, directed=False, run=reduced)
    engine = torchcent.explain(PATH, measure=kernel.name, directed=False).engine
    assert (engine == "tiny") is bool(kernel.tiny)


def test_engines_have_what_the_kernels_name():
    for kernel in KERNELS.values():
        assert kernel.tiny in (*_tiny.OUTPUTS, "")
        assert kernel.folds in ("all", "one", "no")
        if kernel.family == "paths":
            assert kernel.visitor in _tensor.VISITORS
    assert not set(_kernels.names("paths")) & set(_kernels.names("distances"))


def test_columns_have_the_scores_of_their_measures():
    """With weights, those that are lengths matter to measures of shortest paths alone."""
    known = _measures.columns()
    weight = torch.tensor([1.0, 2.0, 4.0])
    own = {name: needed(each.name) | {"directed": False} for name, each in known.items()}
    all_own = {key: value for options in own.values() for key, value in options.items()}
    exact = torchcent.Run(dtype=torch.float64)
    features = torchcent.node_features(PATH, weight, measures=list(known), run=exact, **all_own)
    assert features.shape == (4, len(known))
    for column, (name, each) in zip(features.T, known.items(), strict=True):
        options = own[name]
        if each.name == "katz":
            options["alpha"] = None
        if "normalized" in each.options:
            options["normalized"] = True
        if "disconnected" in each.options:
            options["disconnected"] = "component"
        weights = {"edge_weight": weight} if each.weights == "lengths" else {}
        run = exact if "dtype" in each.uses else torchcent.Run()
        scores = each.function(PATH, **weights, run=run, **options)
        torch.testing.assert_close(
            column, (getattr(scores, name) if each.parts else scores).double()
        )


@pytest.mark.parametrize("name", [x for x, each in KERNELS.items() if not each.public] + ["speed"])
def test_what_is_not_public_cannot_be_named(name):
    with pytest.raises(ValueError, match="measure must be one of betweenness"):
        torchcent.explain(PATH, measure=name)


def test_the_declaration_says_how_sums_become_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of sources do not: a kernel that has them is normalised as betweenness is."""
    own = replace(KERNELS["percolation"], normalization=Kernel("paths").normalization)
    weights = torch.tensor([3.0, 0.5, 0.0, 2.0])
    batch = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1])
    both = {"edge_index": torch.cat([PATH, PATH + 4], 1), "batch": batch, "directed": False}
    for graph, states in (
        ({"edge_index": PATH, "directed": False}, weights), (both, weights.repeat(2)),
    ):  # fmt: skip
        shares = torchcent.percolation(**graph, states=states)
        with monkeypatch.context() as patch:
            patch.setitem(KERNELS, "percolation", own)
            scores = torchcent.percolation(**graph, states=states)
        torch.testing.assert_close(scores, torchcent.betweenness(**graph, sources=states))
        assert not torch.allclose(scores, shares)


def test_tests_know_what_a_new_measure_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    def own(
        edge_index, *, states, variant, radius, walk_length, group, times, normalized=True
    ):  # fmt: skip
        """A measure that only this test has."""

    new = _measures.Measure(own, "vertices", undirected=True, choices={"variant": ("a", "b")})
    monkeypatch.setitem(MEASURES, "own", new)
    values = needed("own", 5)
    assert new.needs == {
        "states": "values", "variant": "word", "radius": "number", "walk_length": "count",
        "group": "group", "times": "lengths",
    }  # fmt: skip
    assert values.keys() == {*new.needs, "directed"} and values["directed"] is False
    assert values["states"].shape == (5,) and values["variant"] == "b"
