"""The declarations of measures, from which every other surface is derived.

A public function that computes a measure is decorated with :func:`measure`. Operators for compiled
models, subcommands, columns of `node_features`, the tables of the documentation, fuzzers and tests
read what it says (docs/contributing/new_measure.md).
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, ParamSpec, TypeVar, get_type_hints

from torchcent.check import _common as check
from torchcent.check import _weights as check_weights
from torchcent.check._run import computes
from torchcent.engines.measures._kernels import KERNELS, Kernel

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

#: arguments that all measures share
COMMON = ("edge_index", "edge_weight", "num_nodes", "batch", "directed", "run")


class Option(NamedTuple):
    """An argument of measures.

    Attributes:
        kind: "flag", "number", "count", "word" (one of several), "lengths" (a number or several),
            "vertices" (their ids), "values" (a number per vertex), "value" (one, or per vertex),
            "group", "columns" (names). Others are "parts" (the part of each vertex) and "decay" (a
            name and a number). It is "places" for the positions of the graph, and "" for what only
            Python has.
        text: what it says, for the command line.
        flag: what it is called there, where its own name is another option of all commands.
    """

    kind: str
    text: str = ""
    flag: str = ""


#: what an argument means, whichever measure has it
OPTIONS = {
    "normalized": Option("flag", "divide by the largest possible score"),
    "endpoints": Option("flag", "also count the ends of a path"),
    "wf_improved": Option("flag", "with Wasserman and Faust's factor for disconnected graphs"),
    "strong": Option("flag", "paths in both directions must join the vertices of a component"),
    "sources": Option("vertices", "only paths from these vertices, one name per line"),
    "targets": Option("vertices", "only paths to these vertices, likewise"),
    "vertices": Option("", "only the scores of these vertices"),
    "top": Option("", "only the highest scores"),
    "cutoff": Option("lengths", "count only pairs at most so far apart; several: scores for each"),
    "decay": Option("decay", "what a place counts at a distance: power, exponential, ..."),
    "destinations": Option("values", "what is at each vertex: its name and a number per line"),
    "positions": Option("places"),
    "labels": Option("parts", "a file with one community per line, or a table", "communities"),
    "resolution": Option("number", "larger values favour smaller communities"),
    "objective": Option("word", "what communities make as large as possible"),
    "iterations": Option("count", "how often communities are refined; -1 until nothing changes"),
    "radius": Option("number", "of the graph around each vertex, in weights or hops"),
    "by_hops": Option("flag", "the radius is a number of hops, also with weights"),
    "states": Option("values", "one vertex and its state, a number >= 0, per line; others have 0"),
    "variant": Option("word", "how a path counts"),
    "disconnected": Option("word", "inf, or within each component, if some pairs have no path"),
    "direction": Option("word", "which arcs of a vertex count"),
    "alpha": Option(
        "number", "weight of each step of a walk; of curvature, the mass that stays at a vertex"
    ),
    "beta": Option("value", "weight of each vertex, the same for all or one per line"),
    "personalization": Option("values", "where walks begin anew: one vertex and a number per line"),
    "dangling": Option("values", "where walks go from vertices without arcs, likewise"),
    "tol": Option("number", "error at which the iteration ends"),
    "max_iter": Option("count", "largest number of iterations"),
    "walk_length": Option("count", "number of steps, and of columns"),
    "patterns": Option(""),
    "induced": Option("flag", "only subgraphs without further edges"),
    "node_labels": Option(""),
    "edge_labels": Option(""),
    "measures": Option("columns", "names of the columns, separated by commas"),
    "group": Option("group", "the vertices of a group; may be given several times"),
    "epsilon": Option("number", "largest error of a score"),
    "delta": Option("number", "probability with which an error may be larger"),
    "method": Option("word", "how scores are estimated; of curvature, how costs are minimised"),
    "kind": Option("word", "which curvature"),
    "regularization": Option("number", "weight of the entropy, for --method sinkhorn"),
    "max_samples": Option("count", "draw at most so many"),
    "time_limit": Option("number", "seconds after which the best estimates are returned"),
    "pivots": Option("word", "how pivots are chosen, for --method pivots"),
    "generator": Option(""),
    "k": Option("count", "number of columns"),
    "times": Option("lengths", "times of the diffusion"),
    "bins": Option("count", "parts of the spectrum, and columns"),
    "normalization": Option(""),
    "trivial": Option("flag", "also count the eigenvalue 0"),
    "flip": Option(""),
}


class InNetworkX(NamedTuple):
    """The function of NetworkX that a measure is, with no code of its own in torchcent/nx.

    Attributes:
        name: as in NetworkX's namespace.
        docs: what the backend adds to NetworkX's documentation.
        rules: what it refuses: functions of arguments by their names, which return the reason, or
            None or False.
    """

    name: str
    docs: str = ""
    rules: Sequence[Callable[..., str | bool | None]] = ()


@dataclass(frozen=True)
class Measure:
    """What is declared beside the function of a measure.

    Attributes:
        function: the public function.
        of: what has a score: "vertices", "edges", "groups", "pairs" or "graph".
        uses: the fields of a Run that matter to it.
        family: "paths" or "distances" if searches compute it, else "".
        weights: what weights of edges are to it: "lengths", "strengths" (0 is no edge),
            "conductances" (likewise), or "" if they do not matter.
        choices: the words that an argument accepts.
        columns: the columns of `node_features` that it has.
        undirected: whether it is for undirected graphs alone.
        share: whether tables show each score's share of the sum.
        lowest: whether the lowest scores are the most central ones.
        parts_of: what its numbers are those of: "components" or "communities", of which tables show
            the sizes; "" if they are scores.
        members: what a measure of a graph returns, "vertices" or "edges" of it; "" for a number.
        demand: whether `sources` and `targets` may be numbers of all vertices.
        networkx: its function in NetworkX, if it needs no code but this.
        without: the surfaces that do not have it, with the reason: "functional", "command",
            "columns" or "networkx".
        not_in_models: the arguments that it does not have as an operator.
        width: the number of columns of its result, from its options; None for a vector.
    """

    function: Callable[..., Any]
    of: str
    uses: tuple[str, ...] = ()
    family: str = ""
    weights: str = "lengths"
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    undirected: bool = False
    share: bool = False
    lowest: bool = False
    parts_of: str = ""
    members: str = ""
    demand: bool = False
    networkx: InNetworkX | None = None
    without: Mapping[str, str] = field(default_factory=dict)
    not_in_models: tuple[str, ...] = ()
    width: Callable[[Mapping[str, Any]], int | None] | None = None

    @property
    def name(self) -> str:
        return self.function.__name__

    @functools.cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.function).parameters

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """Its own arguments, in their order."""
        return {name: each for name, each in self.parameters.items() if name not in COMMON}

    @property
    def needs(self) -> dict[str, str]:
        """Those that must be given, with their kinds."""
        needed = (name for name, each in self.options.items() if each.default is each.empty)
        return {name: OPTIONS.get(name, Option("")).kind for name in needed}

    @functools.cached_property
    def result(self) -> Any:
        """The type of what the function returns."""
        return get_type_hints(self.function)["return"]

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the tensors of its result, if there are several."""
        return getattr(self.result, "_fields", ())

    @property
    def text(self) -> str:
        """The first sentence of its docstring."""
        return first_sentence(self.function)


def first_sentence(function: Callable[..., object]) -> str:
    """That of its docstring, as plain text."""
    summary = (inspect.getdoc(function) or "").partition("\n\n")[0]
    text = re.sub(r":\w+:`~?(.*?)`", r"\1", " ".join(summary.split()))
    return text.replace("``", "")


#: `without` of a measure that only torchcent has
NOT_IN_NETWORKX = {"networkx": "NetworkX has no such function"}
#: `without` of what one command says together
IN_DIAMETER = {"command": "torchcent diameter says it"}

#: arguments whose numbers of all vertices are options of their own
DEMAND = {"sources": "origins", "targets": "destinations"}

#: by name, in the order of their modules
MEASURES: dict[str, Measure] = {}


def measure(
    of: str, *uses: str, searches: bool = False,
    kernel: Kernel | None = None, kernels: Mapping[str, Kernel] | None = None, **declared: Any,
) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:  # fmt: skip
    """Declares a measure, beside its function, and decorates it as `computes` does.

    Args:
        of, declared: attributes of :class:`Measure`.
        uses, searches: as in :func:`torchcent.check._run.computes`.
        kernel: what searches compute for it, by its name; `kernels` if there are several.
    """

    def decorate(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        call = computes(*uses, searches=searches)(function)
        all_kernels = dict(kernels or {}) | ({function.__name__: kernel} if kernel else {})
        KERNELS.update({name: replace(each, name=name) for name, each in all_kernels.items()})
        family = next((each.family for each in all_kernels.values()), "")
        MEASURES[function.__name__] = Measure(call, of, uses, family, **declared)
        return call

    return decorate


def columns() -> dict[str, Measure]:
    """The measure that has each column of `node_features`."""
    return _columns(len(MEASURES))


@functools.cache
def _columns(declared: int) -> dict[str, Measure]:
    """That of so many declared measures; they are declared when their modules are imported."""
    return {name: each for each in MEASURES.values() for name in each.columns}


def plain_columns() -> tuple[str, ...]:
    """The columns of `node_features` that need only the graph."""
    return tuple(name for name, each in columns().items() if not each.needs)


def has_command(each: Measure) -> bool:
    """Whether it is a subcommand of its own."""
    return each.of != "pairs" and "command" not in each.without


def engines(each: Measure) -> tuple[str, ...]:
    """The engines that may be named, for hops and for weights."""
    if "engine" in each.choices or "engine" not in each.uses:
        return tuple(each.choices.get("engine", ("auto",)))
    of_hops = check.ENGINES if each.family == "paths" else check.DISTANCE_ENGINES
    return tuple(dict.fromkeys((*of_hops, *check_weights.ENGINES)))
