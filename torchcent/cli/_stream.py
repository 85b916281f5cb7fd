"""The subcommand ``stream``: scores of a graph that changes, after every batch of changes.

A checkpoint is a file of DynamicGraph.save. It also has how many lines have been read and how many
bytes written, and checksums of both. The output is on the disk before the checkpoint that counts
it. So what the output has beyond is cut off, and written again.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import hashlib
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any

import numpy as np

from _torchcent_command._stream import MEASURES as OPTIONS
from torchcent import DynamicBetweenness, DynamicCloseness, DynamicGraph, Graph, Run
from torchcent.cli import _common, _output
from torchcent.cli._changes import Batch, Reader
from torchcent.cli._report import score_rows
from torchcent.distribute import _digest
from torchcent.distribute._ledger import lock
from torchcent.engines.measures._measures import MEASURES
from torchcent.graph import _labels
from torchcent.io import EdgeList
from torchcent.io._cells import objects
from torchcent.io._files import check_target, replacing, split_suffix
from torchcent.io._scores import write_table

#: what makes the measures, whose options are those of the command
_MAKERS: dict[str, Callable[..., Any]] = {
    "betweenness": DynamicBetweenness,
    **{
        name: partial(DynamicCloseness, measure=name)
        for name in ("closeness", "harmonic", "eccentricity")
    },
}
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_RATIO = 10  # a checkpoint is written when so many times as long has passed as the last one took
_TOP = 20  # rows of --json
_PIECE = 1 << 20  # bytes that are compared at a time
#: what a checkpoint has besides the graph and the measure
_COUNTS = ("changes", "batches", "ignored")
_PLACES = ("key", "names", "lines", "checksum", "is_timed", "bytes", "checksum_of_bytes")


class Sink:
    """Where scores go; counts the bytes and their checksum.

    Attributes:
        failure: the error of what could not be written.
    """

    def __init__(self, name: str, file: IO[bytes], size: int, checksum: int) -> None:
        self.name, self.size, self.checksum = name, size, checksum
        self.failure: OSError | None = None
        self._file = file

    def write(self, data: bytes) -> int:
        with self._told():
            rest = memoryview(data)
            while rest:  # unbuffered output may take a part
                rest = rest[self._file.write(rest) :]
        self.size += len(data)
        self.checksum = zlib.crc32(data, self.checksum)
        return len(data)

    def flush(self, durable: bool = False) -> None:
        with self._told():
            self._file.flush()
            if durable:
                os.fsync(self._file.fileno())

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = error.strerror or str(error)
            self.failure = OSError(f"{self.name} could not be written ({reason})")
            raise self.failure from error


class Stream:
    """A graph, the measure that follows it, and how far the changes have been read.

    Attributes:
        key: what must be the same where another call goes on.
        changes, batches, ignored: how many there were.
    """

    def __init__(self, args: argparse.Namespace, edges: EdgeList) -> None:
        self.args, self.changes, self.batches, self.ignored = args, 0, 0, 0
        self._progress = False if args.quiet else None
        self.names = list(map(str, edges.vertex_labels().tolist()))
        frozen = edges.graph(edge_weight=edges.edge_weight is not None)
        self.key = self._key(frozen)
        self.graph = DynamicGraph(frozen)
        self.measure = self._measure()
        self._own = len(self.names)  # those of the file
        self._saved, self._took = time.monotonic(), 0.0

    def _key(self, frozen: Graph) -> dict[str, Any]:
        text = "\n".join(self.names).encode("utf-8", "surrogatepass")
        options = ("measure", *OPTIONS[self.args.measure], "every", "top", "changed")
        options += ("grow", "strict", "escape_formulas")
        names = hashlib.sha256(text).hexdigest()[:12]
        key = {name: getattr(self.args, name) for name in options}
        return {"graph": _digest.of_graph(frozen), "names": names, "to": _suffix(self.args), **key}

    def _measure(self) -> Any:
        run = Run(memory=self.args.memory, progress=self._progress)
        return _MAKERS[self.args.measure](self.graph, **given(self.args), run=run)

    def resume(self, path: str, reader: Reader) -> tuple[int, int]:
        """Takes over what a checkpoint has; bytes that were written, and their checksum."""
        graph, measures, more = DynamicGraph._load(path)
        if set(more) != {*_COUNTS, *_PLACES} or len(measures) != 1:
            raise ValueError(f"--checkpoint {path} is a graph, but no checkpoint of stream")
        if differs := _digest.difference(more["key"], self.key):
            raise ValueError(
                f"--checkpoint {path} is of another call: {differs}; give another file, or delete "
                "this one"
            )
        self.graph, [self.measure] = graph, measures
        self.measure._progress = self._progress
        self.changes, self.batches, self.ignored = (more[x] for x in _COUNTS)
        names = _labels.restored(more["names"], graph.num_nodes - self._own, ValueError)
        self.names += [] if names is None else names.tolist()
        reader.skip(more["lines"], more["checksum"], more["is_timed"])
        return more["bytes"], more["checksum_of_bytes"]

    def keep(self, reader: Reader, sink: Sink, now: bool) -> None:
        """Writes the checkpoint, unless it would take much of the time."""
        path = self.args.checkpoint
        if path is None:
            return
        begin = time.monotonic()
        if not now and begin - self._saved < _RATIO * self._took:
            return
        sink.flush(durable=True)
        new = self.names[self._own :]
        more = {
            "key": self.key, **{x: getattr(self, x) for x in _COUNTS},
            "names": _labels.stored(objects(new)) if new else {},
            "lines": reader.lines, "checksum": reader.checksum, "is_timed": reader.is_timed,
            "bytes": sink.size, "checksum_of_bytes": sink.checksum,
        }  # fmt: skip
        self.graph._save(path, (self.measure,), more)
        self._saved = time.monotonic()
        self._took = self._saved - begin

    def rows(self) -> np.ndarray:
        """The vertices whose scores are written."""
        if self.args.changed:
            changed: np.ndarray = self.measure.changed.numpy()
            return changed
        if self.args.top is None:
            return np.arange(self.graph.num_nodes)
        values = self.measure.scores.numpy()
        order = values if MEASURES[self.args.measure].lowest else -values
        return np.argsort(order, kind="stable")[: self.args.top]

    def write(self, sink: Sink, time: str | None) -> None:
        """Writes the scores of the graph as it is."""
        vertices = self.rows()
        at = (
            np.full(vertices.size, self.changes)
            if time is None
            else objects([time] * len(vertices))
        )
        columns = {
            "change" if time is None else "time": at,
            "label": objects(self.names[v] for v in vertices.tolist()),
            self.args.measure: self.measure.scores.numpy()[vertices],
        }
        separator, escape = _SEPARATORS[_suffix(self.args)], self.args.escape_formulas
        try:
            write_table(sink, columns, separator, escape, headed=not sink.size)  # type: ignore[arg-type]
        except UnicodeEncodeError as error:
            raise ValueError(f"{sink.name}: {error.object!r:.40} is not valid UTF-8 text") from None
        sink.flush()


def given(args: argparse.Namespace) -> dict[str, Any]:
    """The options of the measure that differ from its own defaults."""
    options = {name: getattr(args, name) for name in OPTIONS[args.measure]}
    return {name: value for name, value in options.items() if value is not None}


def _suffix(args: argparse.Namespace) -> str:
    if args.out in (None, _output.STANDARD):
        return f".{args.to or 'csv'}"
    return split_suffix(args.out)[0]


def _check(args: argparse.Namespace) -> None:
    """Checks what can be before the graph is read."""
    _output.target(args, "csv")
    to_file = args.out not in (None, _output.STANDARD)
    for name, least in (("every", 1), ("top", 0)):
        value = getattr(args, name)
        if value is not None and value < least:
            raise ValueError(f"--{name} {value}; accepted: {least} or more")
    for name in sorted({name for names in OPTIONS.values() for name in names}):
        if getattr(args, name) is not None and name not in OPTIONS[args.measure]:
            raise ValueError(f"--{name.replace('_', '-')} is not for {args.measure}")
    if args.graph == args.changes == "-":
        raise ValueError("GRAPH and CHANGES are both -: one of them must be a file")
    if args.device != "cpu":
        raise ValueError(f"--device {args.device}: graphs that change are on the CPU")
    if args.json and not to_file:
        raise ValueError("--json needs -o FILE: scores are for standard output without it")
    if args.checkpoint is not None:
        if not to_file:
            raise ValueError("--checkpoint needs -o FILE, whose end it knows")
        check_target(args.checkpoint)
    if not to_file:
        return
    if "".join(split_suffix(args.out)) not in _SEPARATORS:
        raise ValueError(f"{args.out}: scores of a stream are written as {' '.join(_SEPARATORS)}")
    check_target(args.out)


@contextlib.contextmanager
def _opened(args: argparse.Namespace) -> Iterator[tuple[str, IO[bytes]]]:
    """The changes."""
    if args.changes == "-":
        yield "standard input", sys.stdin.buffer
        return
    try:
        file = open(args.changes, "rb")  # noqa: SIM115
    except FileNotFoundError:
        raise FileNotFoundError(f"{args.changes}: no such file") from None
    except IsADirectoryError:
        raise ValueError(f"{args.changes}: is a directory, not a file") from None
    with file:
        yield args.changes, file


@contextlib.contextmanager
def _sink(args: argparse.Namespace, size: int, checksum: int) -> Iterator[Sink]:
    """The output, of which so many bytes are there already."""
    name = _output.place(args)
    if args.out in (None, _output.STANDARD):
        sys.stdout.flush()
        yield Sink("standard output", sys.stdout.buffer, 0, 0)
    elif args.checkpoint is None:
        sink = None
        try:
            with replacing(args.out) as file:
                sink = Sink(name, file, 0, 0)
                yield sink
        except OSError:  # of what is left in the buffer, when the file is closed
            if sink is None or sink.failure is None:
                raise
            raise sink.failure from None
    else:
        if size and not os.path.isfile(args.out):
            raise FileNotFoundError(
                f"{name}: no such file, of which --checkpoint has {size} bytes; delete the "
                "checkpoint to begin anew"
            )
        with open(args.out, "a+b") as file:
            if not lock(file.fileno(), "LOCK_EX"):
                raise BlockingIOError(f"{name}: another process is at work on it")
            file.seek(0)
            if size and not _begins(file, size, checksum):
                raise ValueError(
                    f"{name} does not begin with the {size} bytes that --checkpoint is of; "
                    "delete the checkpoint to begin anew"
                )
            file.truncate(size)
            yield Sink(name, file, size, checksum)


def _begins(file: IO[bytes], size: int, checksum: int) -> bool:
    found = 0
    while size and (piece := file.read(min(size, _PIECE))):
        size, found = size - len(piece), zlib.crc32(piece, found)
    return size == 0 and found == checksum


def _stream(args: argparse.Namespace) -> None:
    _check(args)
    _common.prepare(args)
    edges = _common.load(args)
    if edges.edge_weight is not None and not args.weights:
        how = "--weights uses them as lengths, which '+ u v w' has as well"
        _common.remark(args, f"{args.graph}: its weights are not used ({how})")
        edges = dataclasses.replace(edges, edge_weight=None)
    started = time.perf_counter()
    stream = Stream(args, edges)
    with _opened(args) as (name, file):
        reader, done = Reader(name, file, stream.graph.is_weighted), (0, 0)
        if args.checkpoint is not None and os.path.exists(args.checkpoint):
            done = stream.resume(args.checkpoint, reader)
            _common.remark(args, f"{name}: continues after line {reader.lines:,}")
        with _sink(args, *done) as sink:
            _follow(stream, reader, sink)
    graph = stream.graph
    about = _common.about_run(
        args, started, graph.num_nodes, graph.num_edges, graph.directed, graph.is_weighted
    )
    counts = {name: getattr(stream, name) for name in _COUNTS}
    told = ", ".join(f"{value:,} {name}" for name, value in counts.items())
    _common.remark(args, f"{told}; scores in {sink.name}")
    if args.json:
        about |= {"measure": args.measure, "out": args.out}
        about |= given(args)
        columns = {"label": objects(stream.names), args.measure: stream.measure.scores.numpy()}
        lowest = MEASURES[args.measure].lowest
        top = score_rows(columns, _TOP if args.top is None else args.top, lowest=lowest)
        _output.show_json(about | counts | {"lines": reader.lines, "top": top})


def _follow(stream: Stream, reader: Reader, sink: Sink) -> None:
    """Reads changes to the end, and writes scores after each batch."""
    args = stream.args
    batch = Batch(stream.graph, stream.names, args.graph, args.grow, args.strict)
    for change in reader:
        batch.add(change)
        if batch.size == args.every:
            _apply(batch, change.time, stream, reader, sink)
    if batch.size:
        _apply(batch, change.time, stream, reader, sink)
    stream.keep(reader, sink, now=True)


def _apply(batch: Batch, time: str | None, stream: Stream, reader: Reader, sink: Sink) -> None:
    stream.changes, stream.batches = stream.changes + batch.size, stream.batches + 1
    stream.ignored += batch.ignored
    batch.apply()
    stream.write(sink, time)
    stream.keep(reader, sink, now=False)


COMMANDS = {"stream": _stream}
