"""The subcommands and their options as records, for the documentation."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from _torchcent_command import _common
from _torchcent_command._parser import subparsers

#: values of options that the parser takes as text, for completion
VALUES = {
    "format": _common.FORMATS,
    "device": ("cpu", "cuda", "all"),
    "reduce": ("auto", "none", "fold", "blocks", "twins", "chains"),
}
_FILES = ("GRAPH", "OUT", "FILE", "FILE|K", "FILE|X", "FOLDER")


class Option(NamedTuple):
    """An option, or a positional argument if it has no flags.

    Attributes:
        flags: its names; none for a positional argument.
        value: the placeholder of its value; "" for a flag without a value.
        values: the known values; not all where others are accepted, too.
        group: the heading under which ``--help`` lists it.
        hidden: whether ``--help`` leaves it out.
    """

    flags: tuple[str, ...]
    value: str
    values: tuple[str, ...]
    required: bool
    help: str
    group: str
    hidden: bool


class Command(NamedTuple):
    """A subcommand: its words (``("generate", "rmat")``), help, arguments and subcommands."""

    words: tuple[str, ...]
    help: str
    epilog: str
    options: list[Option]
    commands: list[str]

    @property
    def flags(self) -> list[str]:
        return [flag for option in self.options for flag in option.flags]

    @property
    def positionals(self) -> list[Option]:
        return [option for option in self.options if not option.flags]


def tree(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[Command]:
    """The command itself and all below it."""
    below = subparsers(parser)
    options = [
        _option(action, group.title or "")
        for group in parser._action_groups
        for action in group._group_actions
        if not isinstance(action, argparse._SubParsersAction)
    ]
    yield Command(words, parser.description or "", parser.epilog or "", options, list(below))
    for name, each in below.items():
        yield from tree(each, (*words, name))


def names_file(action: argparse.Action) -> bool:
    """Whether its value is a file or folder."""
    return action.nargs != 0 and action.metavar in _FILES


def _option(action: argparse.Action, group: str) -> Option:
    takes, hidden = action.nargs != 0, action.help == argparse.SUPPRESS
    choices = tuple(map(str, action.choices or ()))
    shown = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    value = shown if action.metavar or not choices else "|".join(choices)
    return Option(
        tuple(action.option_strings),
        value if takes else "",
        (choices or VALUES.get(action.dest, ())) if takes else (),
        action.required,
        "" if hidden else (action.help or "").replace("%%", "%"),
        group,
        hidden,
    )
