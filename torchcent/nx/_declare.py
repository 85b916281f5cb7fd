"""Declarations of the backend's functions, which NetworkX's queries are answered from.

``@backend(...)`` stands beside a function and declares everything about it. The function has the
name of NetworkX's, or is declared by it, and names those of its arguments that it uses.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

from networkx.utils.backends import _registered_algorithms
from torch import Tensor

from _torchcent_networkx import present_name
from torchcent.graph import _networkx
from torchcent.nx._config import Engines, running
from torchcent.nx._graph import (
    BackendGraph,
    as_networkx_reads,
    cache_entry,
    edge_lengths,
    warn_once,
)  # fmt: skip
from torchcent.runtime import _ops

_Function = TypeVar("_Function", bound=Callable[..., Any])
FUNCTIONS: dict[str, Declaration] = {}
_SEARCH = "Only worth its conversion if the graph is converted already: see should_run."
#: takes arguments of a call by their names; returns a reason, or None or False
Rule: TypeAlias = Callable[..., str | bool | None]

# What must have its default, and why.
_DEFAULT_ONLY = {
    "sp": "there is nothing to search", "e": "there is nothing to search",
    "paths": "there is nothing to search", "attr": "NetworkX writes it to the nodes",
    "most_valuable_edge": "it is called with a NetworkX graph",
    "nodes": "NetworkX's own", "nstart": "NetworkX's own", "max_iter": "NetworkX's own iteration",
}  # fmt: skip


def _ends(sources: Any, targets: Any) -> str | None:
    for name, nodes in (("sources", sources), ("targets", targets)):
        if not isinstance(nodes, Collection):
            return f"{name} must be a collection, got {type(nodes).__name__}"
    try:
        (count, distinct), _ = ((len(nodes), {*nodes}) for nodes in (sources, targets))
    except Exception:  # any error of a collection that cannot be iterated, such as a nested tensor
        return "sources or targets holds what is no node"
    return "sources names a node more than once" if len(distinct) < count else None


def _pivots(G: Any, k: Any) -> str | None:
    if k is None or (isinstance(k, int) and not isinstance(k, bool) and 1 <= k <= len(G)):
        return None
    return f"k must be 1 to the number of nodes, got {k!r}"


def _cutoff(cutoff: Any) -> str | None:
    if cutoff is None or (isinstance(cutoff, (int, float)) and cutoff == cutoff):
        return None
    return f"cutoff must be a number, got {cutoff!r}"


# for every function that has the arguments
_GENERAL: tuple[Rule, ...] = (_ends, _pivots, _cutoff)


@dataclass(eq=False)
class Declaration:
    """A function of the backend, called with NetworkX's arguments.

    It may name two more: `graph`, which is ``G.search(weight)``, and `weight`, where NetworkX has
    `distance`. A Tensor that it returns has a value for each node, and becomes a dictionary.
    """

    function: Callable[..., Any]
    name: str  # in the installed NetworkX
    _: KW_ONLY
    measure: str | Sequence[str] = ()  # the public functions of torchcent that it stands for
    docs: str = ""  # what NetworkX adds to its own documentation
    rules: Sequence[Rule] = ()  # what it refuses beside _GENERAL
    slower: Sequence[Rule] = ()  # where NetworkX is faster
    engines: Engines | None = None  # those of its family
    least: int = 0  # nodes
    directed: bool = True  # whether it takes directed graphs
    multigraph: bool = True
    single: bool = False  # whether it is one search
    compiled: bool = False  # whether it needs the compiled library
    strengths: bool = False  # whether weights are strengths: an edge of weight 0 is none
    enters: bool = False  # whether it enters running() by itself, as steps of an iterator have to
    # Below this number of nodes x edges, the overhead of a call exceeds the search time of NetworkX
    # (benchmarks/networkx_backend.py --small).
    small: int = 10_000

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)
        self.__name__, self.name = self.name, present_name(self.name)
        self.docs = self.docs or _SEARCH * self.single

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        arguments = self.bind(args, kwargs)
        G: BackendGraph = arguments["G"]
        names = _names(self.function)
        if "graph" in names:
            arguments["graph"] = G.search(arguments["weight"], strengths=self.strengths)
        uses = {name: arguments[name] for name in names if name in arguments}
        if self.enters:
            return self.function(**uses)
        with running(arguments.get("graph"), self.engines):
            result = self.function(**uses)
        return G.by_node(result) if isinstance(result, Tensor) else result

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """All arguments by name, as NetworkX binds them, and the weight of any function."""
        signature, names, defaults = self._signature
        own = {**dict(zip(names, args, strict=False)), **kwargs}
        arguments = {**defaults, **own}
        if len(own) < len(args) + len(kwargs) or arguments.keys() != signature.parameters.keys():
            signature.bind(*args, **kwargs)  # raises TypeError
        arguments.setdefault("weight", arguments.get("distance"))
        return arguments

    def refusal(self, arguments: dict[str, Any]) -> str | None:
        """The reason why NetworkX has to compute this."""
        defaults = self._signature[2]
        for name, why in _DEFAULT_ONLY.items():
            value, default = arguments.get(name), defaults.get(name)
            if value is not default and (default is None or value != default):
                return f"{name} is given: {why}"
        rules = (self._of_graph, *_GENERAL, self._of_weights, *self.rules)
        return _reason(rules, arguments)

    def _of_graph(self, G: Any) -> str | None:
        if not self.directed and G.is_directed():
            return f"{self.name} is for undirected graphs"
        if not self.multigraph and G.is_multigraph():
            return f"{self.name} is not for multigraphs"
        if len(G) < self.least:
            few = "no nodes" if self.least == 1 else f"fewer than {self.least} nodes"
            return f"the graph has {few}"
        return "this needs the compiled library" if self.compiled and not _ops.available else None

    def _of_weights(self, G: Any, weight: Any) -> str | None:
        """Why these weights are not those of torchcent; strengths may be 0."""
        if callable(weight):
            return "lengths of edges must be an attribute, not a function"
        graph = G if isinstance(G, BackendGraph) else cache_entry(G, weight)
        try:
            if graph is None:
                view = as_networkx_reads(G, *([] if weight is None else [weight]))
                if weight is not None:
                    values = _networkx.lengths(view, _networkx.arrays(view), weight)
                    edge_lengths(values, weight, self.strengths)
            elif weight is not None and graph.attribute(weight).zeros and not self.strengths:
                return f"the edges' attribute {weight!r} must be finite and > 0, and one is 0"
        except NotImplementedError as error:
            return str(error)
        return None

    @cached_property
    def _signature(self) -> tuple[inspect.Signature, list[str], dict[str, Any]]:
        """That of the installed NetworkX; the names of positional arguments; the defaults."""
        signature = inspect.signature(_registered_algorithms[self.name].orig_func)
        every = signature.parameters.values()
        names = [x.name for x in every if x.kind is x.POSITIONAL_OR_KEYWORD]
        return signature, names, {x.name: x.default for x in every if x.default is not x.empty}


def backend(name: str = "", **options: Any) -> Callable[[_Function], _Function]:
    """Declares a function of NetworkX; the options are those of :class:`Declaration`."""

    def declare(function: _Function) -> _Function:
        declaration = Declaration(function, name or function.__name__, **options)
        FUNCTIONS[declaration.name] = declaration
        return function

    return declare


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """True, or the reason why torchcent cannot compute this. Does not consume the arguments."""
    try:
        arguments = FUNCTIONS[name].bind(args, kwargs)
    except TypeError as error:
        return str(error)
    if (reason := FUNCTIONS[name].refusal(arguments)) is not None:
        return reason
    warn_once(arguments["G"], arguments["weight"])
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """True, or the reason why NetworkX itself is faster."""
    declaration = FUNCTIONS[name]
    arguments = declaration.bind(args, kwargs)
    G = arguments["G"]
    if isinstance(G, BackendGraph):
        return True
    one = declaration.single or any(arguments.get(x) is not None for x in ("u", "source", "target"))
    if one and cache_entry(G, arguments["weight"]) is None:
        return "one search takes NetworkX no longer than the graph takes to convert"
    if (reason := _reason(declaration.slower, arguments)) is not None:
        return reason
    n, small = len(G), declaration.small
    if not one and n < small and n * G.number_of_edges() < small:
        return "the graph is so small that NetworkX is faster"
    return True


@functools.cache
def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def _reason(rules: Sequence[Rule], arguments: dict[str, Any]) -> str | None:
    """What the first rule says that applies to a function with these arguments."""
    for rule in rules:
        names = _names(rule)
        if arguments.keys() >= {*names}:
            reason = rule(*[arguments[name] for name in names])
            if isinstance(reason, str):
                return reason
    return None
