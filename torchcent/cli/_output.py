"""Where results go: files, standard output, JSON. Results whose file fails are not lost.

Files are written before anything is printed: standard output may be a full disk, or a pipe whose
reader leaves early, such as `| head`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from torchcent.cli import _common
from torchcent.distribute._look import is_ledger

STANDARD = "-"
_OUTPUTS = ("out", "plot", "write_graph")  # arguments; all others that name a file are of inputs
_NAME = "standard output"


def target(args: argparse.Namespace, default: str) -> str | None:
    """The path that `write` of `deliver` will get, whose suffix selects the format.

    That of ``-o -`` is a file in the folder of temporary files, in the format of ``--to`` or else
    `default`.
    """
    to = getattr(args, "to", None)
    if args.out != STANDARD:
        if to is not None:
            raise ValueError("--to: only with -o -; of a file, the suffix selects the format")
        if args.out is None:
            return None
        keep_inputs(args, "-o", args.out)
        return str(args.out)
    if getattr(args, "json", False):
        raise ValueError("-o - and --json exclude each other: both are for standard output")
    if (to or default) in ("npy", "npz", "pt", "parquet", "gpkg") and sys.stdout.isatty():
        raise ValueError("-o -: standard output is a terminal; redirect it, or choose a text --to")
    return os.path.join(tempfile.gettempdir(), f"standard-output.{to or default}")


def keep_inputs(args: argparse.Namespace, option: str, path: str) -> None:
    """Refuses an output in the place of a file that is read; `convert` may replace its graph."""
    for name, value in vars(args).items():
        if name in _OUTPUTS or (name == "graph" and args.command == "convert"):
            continue
        for given in value if isinstance(value, list) else [value]:
            if not isinstance(given, str) or os.path.realpath(given) != os.path.realpath(path):
                continue
            if os.path.splitext(given)[1] or os.path.isfile(given):  # and not a word such as "abc"
                raise ValueError(f"{option} {path} is {name.upper()}, too; accepted: another file")


def place(args: argparse.Namespace) -> str:
    """The output in messages."""
    return _NAME if args.out == STANDARD else str(args.out)


def deliver(args: argparse.Namespace, what: str, path: str, write: Callable[[str], object]) -> None:
    """Writes results to `path`, as `target` gave it; for ``-o -``, to standard output.

    Raises:
        OSError: the file could not be written; the message says where the results are instead.
    """
    if args.out == STANDARD:
        _stream(what, path, write)
        return
    try:
        write(path)
    except OSError as error:
        raise OSError(
            f"{path} could not be written ({_reason(error)}); {_rescued(args, what, path, write)}"
        ) from error
    _common.remark(args, f"{what} in {path}")


def _stream(what: str, path: str, write: Callable[[str], object]) -> None:
    folder = tempfile.mkdtemp(prefix="torchcent-")
    copy, keep = os.path.join(folder, os.path.basename(path)), False
    try:
        try:
            write(copy)
        except ValueError as error:
            raise ValueError(str(error).replace(copy, _NAME)) from None
        sys.stdout.flush()
        try:
            with open(copy, "rb") as file:
                while chunk := memoryview(file.read(1 << 20)):
                    while chunk:  # unbuffered output may take a part
                        chunk = chunk[sys.stdout.buffer.write(chunk) :]
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            keep = True
            raise OSError(
                f"{_NAME} could not be written ({_reason(error)}); the {what} are in {copy}"
            ) from error
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _rescued(args: argparse.Namespace, what: str, path: str, write: Callable[[str], object]) -> str:
    """Writes the results elsewhere; returns what a message says about them."""
    parts = []
    for parent in (tempfile.gettempdir(), os.getcwd(), os.path.expanduser("~")):
        folder = None
        try:
            folder = tempfile.mkdtemp(prefix="torchcent-", dir=parent)
            copy = os.path.join(folder, os.path.basename(path))
            write(copy)
        except OSError:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            continue
        parts.append(f"the {what} are in {copy}")
        break
    else:
        parts.append(f"the {what} could not be written elsewhere either")
    checkpoint = getattr(args, "checkpoint", None)
    if checkpoint is not None and is_ledger(Path(checkpoint)):
        parts.append(f"torchcent resume {shlex.quote(checkpoint)} writes them without the work")
    return "; ".join(parts)


def _reason(error: OSError) -> str:
    return error.strerror or " ".join(str(error).split())


def finish(
    args: argparse.Namespace, what: str, files: Mapping[Any, Callable[[str], object]],
    report: Callable[[], Mapping[str, Any]], text: Callable[[], str],
    draw: Callable[[], object] | None = None,
) -> None:  # fmt: skip
    """Writes files, unless their path is None, and the figure; prints the report or a text."""

    def write() -> None:
        for path, write_to in files.items():
            if path is not None:
                deliver(args, what, path, write_to)

    if args.out != STANDARD:
        write()
    if draw is not None:
        draw()
        _common.remark(args, f"figure in {args.plot}")
    if args.out == STANDARD:
        write()
    elif args.json:
        show_json(report())
    elif shown := text():
        print(shown)


def show_json(values: Mapping[str, Any]) -> None:
    """Prints one JSON object; numbers that are not finite are null."""
    print(json.dumps(plain(values), ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """The same value of the types that JSON has."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (Tensor, np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
