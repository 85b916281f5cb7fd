"""Calls of public functions with options that a test has as a dictionary."""

from typing import Any

from torchcent import Engine, Run

_OF_ENGINES = ("strategy", "warp_size")
_OF_RUNS = ("engine", "reduce", "memory", "progress", "checkpoint", "devices", "group", "threads")


def spread(options: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The keyword arguments of a function, those of a Run among them put into `run`."""
    arguments = {**options, **more}
    named = {name: arguments.pop(name) for name in _OF_RUNS if name in arguments}
    of_engine = {name: arguments.pop(name) for name in _OF_ENGINES if name in arguments}
    if of_engine:
        named["engine"] = Engine(named.get("engine", "auto"), **of_engine)
    if named:
        arguments["run"] = arguments.get("run", Run()) | Run(**named)
    return arguments
