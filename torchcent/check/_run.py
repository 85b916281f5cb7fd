"""Run: how functions compute, as an argument of each and as the default of all of them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import Parameter, Signature
from numbers import Integral
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypedDict, TypeVar, Unpack

import torch

from torchcent.check import _common as check
from torchcent.check import _files as check_files
from torchcent.check import _weights as check_weights
from torchcent.check._names import unknown_argument
from torchcent.check._values import flag, integer, shortened, wrong_type, wrong_value
from torchcent.runtime import _compiling, _host, _memory

if TYPE_CHECKING:
    from typing import Literal

    import torch.distributed as dist

Devices: TypeAlias = Sequence[str | torch.device] | str | None
Folder: TypeAlias = str | os.PathLike[str] | None
#: a process group, all ranks ("world"), or this process alone (None)
GroupLike: TypeAlias = "dist.ProcessGroup | Literal['world'] | None"

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_OF_CLUSTERING = ("fused", "dense")
_ENGINES = tuple(
    dict.fromkeys(
        (*check.ENGINES, *check.DISTANCE_ENGINES, *check_weights.ENGINES, *_OF_CLUSTERING)
    )
)
MOST_THREADS = 2**12
# What all functions accept, also those that do not use it.
_OF_ALL = ("memory", "progress", "threads")
#: what functions may use besides
SEARCHES = ("engine", "checkpoint", "devices", "group")
PATHS = (*SEARCHES, "strategy", "reduce")


@dataclass(frozen=True)
class Engine:
    """A method of computing, by its name, and how it uses a GPU.

    ``Run(engine="lanes")`` is short for ``Run(engine=Engine("lanes"))``.

    Args:
        name: "auto" selects one for each graph; :func:`explain` reports which. Engines of paths:
            "lanes" (float32 path counts, relative error below 1e-5), "queue" and "tensor" (float64,
            1e-9; "queue" on CUDA 1e-5 where counts overflow float64). With weights they are "relax"
            (float32 counts), "dijkstra" and "tensor". With and without weights there is "hierarchy"
            (like "lanes"), if sums of weights are exact. It computes on the host, also for graphs
            on CUDA (docs/hierarchy.md). No engine overflows. Engines of distances: "bits",
            "queue" (on CUDA), "hierarchy" and "tensor"; with weights "relax", "dijkstra",
            "hierarchy" and "tensor". "tiny" is for batches of small graphs. "reference" is for
            comparison: the algorithm of the paper on one thread of the CPU, with float64 path
            counts (docs/betweenness.md). It raises an error where there are more paths. Engines of
            Markov clustering: "fused", "dense" and "tensor".
        strategy: how the queue engine on CUDA assigns threads to the vertices or arcs of a level.
            It is "auto", "node_parallel", "edge_parallel" (Jia et al. 2011; gpu-fan),
            "work_efficient" (McLaughlin and Bader 2014), "warp_centric" (Hong et al. 2011) or
            "cooperative" (multi-search). With weights, the same for the dijkstra engine: "auto",
            "node_parallel", "work_efficient", "warp_centric", "node_parallel+warp_centric". Each
            may have "+locked", which adds path counts under a lock per vertex as in Fan, Xu and
            Zhao 2017. "locked" alone takes as many threads per vertex as suit the mean degree. All
            strategies give the same result; the argument is for comparing them.
        warp_size: 4, 8, 16 or 32 threads per vertex for "warp_centric".

    Example:
        >>> import torchcent
        >>> torchcent.Run(engine=torchcent.Engine("queue", strategy="warp_centric", warp_size=8))
        Run(engine=Engine(name='queue', strategy='warp_centric', warp_size=8))
    """

    name: str = "auto"
    strategy: str = "auto"
    warp_size: int = 32

    def __post_init__(self) -> None:
        check.choice(self.name, "engine", _ENGINES)
        strategies = dict.fromkeys((*check.STRATEGIES, *check.WEIGHTED_STRATEGIES))
        check.choice(self.strategy, "strategy", tuple(strategies))
        if not isinstance(self.warp_size, Integral) or self.warp_size not in check.WARP_SIZES:
            raise wrong_value("warp_size", f"one of {check.WARP_SIZES}", self.warp_size)


class RunOptions(TypedDict, total=False):
    """The arguments of :class:`Run`."""

    engine: str | Engine
    reduce: str | Sequence[str]
    memory: int | None
    progress: bool | None
    checkpoint: Folder
    devices: Devices
    group: GroupLike
    threads: int | None
    dtype: torch.dtype | None


class Run:
    """How functions compute: engine, memory, progress bar, devices, and where work is kept.

    It is the argument `run` of every function that computes. As a context manager it is the default
    of all functions that are called inside, those of ``torchcent.functional``, the NetworkX backend
    and the transforms of PyTorch Geometric among them. What a Run does not name is that of the
    surrounding one. The default belongs to the thread or the asynchronous task that has entered it.

    Args:
        engine: the name of an engine or an :class:`Engine`. "auto" selects one for each graph.
        reduce: exact reductions before searches for paths, for those who compare. It is "auto"
            (those that pay), "none", or a list. In a list, "fold" removes vertices of degree 1, in
            rounds, and "blocks" searches biconnected components one by one. "twins" searches
            vertices with the same neighbours once, and "chains" searches paths over vertices of
            degree 2 as one edge. With weights all of them need exact sums; "fold" and "chains" are
            for undirected graphs. Where one does not apply (docs/betweenness.md), it is left out.
        memory: bytes that may be used; None allows half of the free memory.
        progress: None shows a progress bar on a terminal after two seconds; True always shows it,
            False never does.
        checkpoint: a folder that keeps what is finished, so that a call that was killed continues
            with the next call with the same arguments, with the same bits (docs/scale.md).
        devices: several devices of the kind of the graph's, such as ["cuda:0", "cuda:1"], or "all":
            they share the searches. None uses that of the graph (docs/scale.md).
        group: a process group of torch.distributed, or "world": all ranks call with the same graph
            and arguments, share the searches, and have the result (docs/scale.md).
        threads: of the CPU, as by ``torch.set_num_threads``; None leaves their number as it is.
        dtype: of scores; None uses ``torch.get_default_dtype()``. Sums are accumulated in float64.

    Functions ignore what a surrounding Run names and they do not use, but an engine that they do
    not have is an error. If the argument `run` names what a function does not use, it raises an
    error, apart from memory, progress and threads. docs/run.md has examples and the limits:
    compiled models, threads and generators.

    Raises:
        TypeError, ValueError: an argument is invalid; the message names it.

    Example:
        >>> import torch, torchcent
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> exact = torchcent.Run(engine="queue", progress=False)
        >>> torchcent.betweenness(path, directed=False, normalized=False, run=exact)
        tensor([0., 2., 2., 0.])
        >>> with torchcent.Run(threads=1):
        ...     torchcent.closeness(path, directed=False)
        tensor([0.5000, 0.7500, 0.7500, 0.5000])
        >>> torchcent.closeness(path, directed=False, run=torchcent.Run(dtype=torch.float64))
        tensor([0.5000, 0.7500, 0.7500, 0.5000], dtype=torch.float64)
    """

    engine: Engine
    reduce: frozenset[str] | None
    memory: int | None
    progress: bool | None
    checkpoint: str | None
    devices: str | Sequence[str | torch.device] | None
    group: GroupLike
    threads: int | None
    _dtype: torch.dtype | None
    _named: frozenset[str]

    def __init__(self, **options: Unpack[RunOptions]) -> None:
        for name, value in _DEFAULTS.items():
            self._set(name, value)
        for name, value in options.items():
            if name not in _CHECKS:
                raise TypeError(f"Run has no {name!r}; accepted: {', '.join(_CHECKS)}")
            self._set(name, _CHECKS[name](value))
        self._set("_named", frozenset(options))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, _key(name), value)

    def _get(self, name: str) -> Any:
        return getattr(self, _key(name))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Run is frozen: make another one, Run({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Run is frozen: cannot delete {name}")

    def __or__(self, other: Run) -> Run:
        """What `other` names, and for the rest this."""
        if not isinstance(other, Run):
            return NotImplemented
        if not other._named:
            return self
        if not self._named:
            return other
        both = Run()
        for run in (self, other):
            for name in run._named:
                both._set(name, run._get(name))
        both._set("_named", self._named | other._named)
        return both

    def _without(self, names: frozenset[str]) -> Run:
        """This Run, as if it did not name these."""
        less = Run()
        for name in self._named - names:
            less._set(name, self._get(name))
        less._set("_named", self._named - names)
        return less

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self._named, self.engine, self.reduce, self.memory, self.checkpoint))

    def __repr__(self) -> str:
        parts = (f"{name}={self._written(name)}" for name in _DEFAULTS if name in self._named)
        return f"Run({', '.join(parts)})"

    def _written(self, name: str) -> str:
        value = self._get(name)
        if name == "engine" and value == Engine(value.name):
            return repr(value.name)
        if name == "reduce":
            return repr("auto" if value is None else sorted(value) or "none")
        return shortened(value)

    def __enter__(self) -> Run:
        _entered.set((*_entered.get(), surrounding() | self))
        return self

    def __exit__(self, *error: object) -> None:
        _entered.set(_entered.get()[:-1])

    @property
    def dtype(self) -> torch.dtype:
        return self._dtype or torch.get_default_dtype()


def _key(name: str) -> str:
    """Where a Run keeps an option: torch.compile of PyTorch 2.11 evaluates a property to read the
    entry of __dict__ that has its name."""
    return "_dtype" if name == "dtype" else name


def _devices(value: object) -> object:
    if isinstance(value, str) and value == "all":
        return value
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise wrong_type("devices", "a sequence of devices or 'all'", value)
    return tuple(value)


def _threads(value: object) -> int:
    threads = integer(value, "threads")
    if not 1 <= threads <= MOST_THREADS:
        raise wrong_value("threads", f"1 to {MOST_THREADS}", value)
    return threads


def _or_none(check_value: Callable[[object], object]) -> Callable[[object], object]:
    return lambda value: None if value is None else check_value(value)


_CHECKS: dict[str, Callable[[object], object]] = {
    "engine": lambda value: value if isinstance(value, Engine) else Engine(value),  # type: ignore[arg-type]
    "reduce": check.reductions,
    "memory": check.byte_budget,
    "progress": _or_none(lambda value: flag(value, "progress")),
    "checkpoint": _or_none(lambda value: check_files.path(value, "checkpoint")),
    "devices": _or_none(_devices),
    "group": lambda value: value,
    "threads": _or_none(_threads),
    "dtype": _or_none(check.float_dtype),
}
_DEFAULTS: dict[str, object] = {**dict.fromkeys(_CHECKS), "engine": Engine()}

# The Runs that this thread or task has entered, each with those around it.
_entered: ContextVar[tuple[Run, ...]] = ContextVar("_entered", default=())
#: that of functions called without one
DEFAULT = Run()

Run.__signature__ = Signature(  # type: ignore[attr-defined]
    [
        Parameter(
            name, Parameter.KEYWORD_ONLY, annotation=annotation,
            default="auto" if name in ("engine", "reduce") else None,
        )
        for name, annotation in RunOptions.__annotations__.items()
    ]
)  # fmt: skip


def surrounding() -> Run:
    """The Run that this thread or task is inside of."""
    entered = _entered.get()
    return entered[-1] if entered else DEFAULT


def checked(run: object) -> Run:
    if not isinstance(run, Run):
        raise wrong_type("run", "a torchcent.Run", run)
    return run


def quiet() -> Run:
    """The surrounding Run, without a progress bar unless it asks for one."""
    return Run(progress=False) | surrounding()


def of_operator(run: Run | None, function: str, *uses: str) -> tuple[str, torch.dtype]:
    """The engine and the dtype of a function that is an operator.

    While a model is traced, only the argument `run` is seen.
    """
    own = DEFAULT if run is None else run
    if not torch.compiler.is_compiling():
        refuse(checked(own), uses, function)
        own = surrounding() | own
    return own.engine.name, own.dtype


def around(run: Run | None) -> AbstractContextManager[object]:
    """What an operator is called in, so that it sees the rest of a Run, unless it is traced."""
    return nullcontext() if run is None or torch.compiler.is_compiling() else run


def computes(
    *uses: str, searches: bool = False
) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """Decorates public functions that compute: they get the whole Run as their argument `run`.

    Args:
        uses: what the function uses of it.
        searches: whether its engines are compiled, so that graphs on CUDA are searched on the host
            where there are no CUDA kernels.
    """

    def decorate(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        known = Signature.from_callable(function).parameters
        title = function.__qualname__.removesuffix(".__init__")  # of a class

        @functools.wraps(function)
        def call(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
            for name in options:
                if name not in known:
                    raise unknown_argument(function.__qualname__, name, known)
            run = resolved(options.get("run"), uses, title)
            options["run"] = run
            within = nullcontext() if run is DEFAULT and not _entered.get() else _inside(run)
            try:
                with within:
                    method = run.engine.name
                    if searches and _host.is_elsewhere(arguments, options, method, run.devices):
                        return _host.run(function, arguments, options)
                    return function(*arguments, **options)
            except _memory.FAILURES as error:
                failure = _memory.allocation_failure(error, function.__qualname__)
                if failure is None:
                    raise
                raise failure from None

        _compiling.outside(call)
        return call

    return decorate


def resolved(given: object, uses: tuple[str, ...], function: str) -> Run:
    """The argument `run`, and for what it does not name, the surrounding Run.

    Raises:
        ValueError: the argument names what the function does not use.
    """
    if (given is None or given is DEFAULT) and not _entered.get():
        return DEFAULT  # most calls are small ones without a Run
    own = DEFAULT if given is None else checked(given)
    refuse(own, uses, function)
    run = surrounding() | own
    unused = run._named - own._named - {*uses, *_OF_ALL}
    return run._without(unused) if unused else run


def refuse(run: Run, uses: tuple[str, ...], function: str) -> None:
    """Checks that a Run names nothing that the function does not use."""
    for name in run._named - {*uses, *_OF_ALL}:
        value = run._get(name)
        if value != Engine() if name == "engine" else value is not None:
            raise ValueError(f"run: {function} does not use {name}={run._written(name)}")
    if "strategy" not in uses and run.engine.strategy != "auto":
        raise ValueError(
            f"strategy={run.engine.strategy!r} is not for {function}; leave Engine(strategy='auto')"
        )


@contextmanager
def _inside(run: Run) -> Iterator[None]:
    """What a public function runs in: with its threads, and no surrounding Run.

    Threads of a call that leaves their number alone are not set afterwards, because another thread
    of Python may have set them meanwhile. A rank may set them (distribute/_group.py).
    """
    entered = _entered.get()
    sets_threads = run.threads is not None or run.group is not None
    threads = torch.get_num_threads() if sets_threads else 0
    if run.threads is not None:
        torch.set_num_threads(run.threads)
    if entered:
        _entered.set(())
    try:
        yield
    finally:
        if entered:
            _entered.set(entered)
        if sets_threads:
            torch.set_num_threads(threads)
