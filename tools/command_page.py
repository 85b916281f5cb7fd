"""The page docs/command_line.md with tables of all options, from the parsers.

Sphinx builds this page (docs/conf.py); `python tools/command_page.py` prints it. The file has the
text above the line MARK, which is written by hand.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from _torchcent_command._completion import VALUES
from _torchcent_command._parser import parser, subparsers

PAGE = Path(__file__).resolve().parents[1] / "docs" / "command_line.md"
MARK = "<!-- Below is what tools/command_page.py adds when the documentation is built. -->\n"
_HEADINGS = {"options": "Output", "positional arguments": "Input"}
_SHARED = 4  # subcommands with the same option from which it is described once


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


def page() -> str:
    """The text of the file, and what follows from the parsers."""
    above = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    return f"{above}{MARK}\n{chr(10).join(_lines())}\n"


def _lines() -> Iterator[str]:
    _, *commands = tree(parser())
    above = [each for each in commands if len(each.words) == 1]
    count = Counter(option for each in above for option in each.options)
    shared = [
        option for option, number in count.items()
        if number >= _SHARED and "--help" not in option.flags
    ]  # fmt: skip
    yield "## Shared options"
    yield ""
    yield "These options are the same in every subcommand that lists them."
    for group in dict.fromkeys(option.group for option in shared):
        yield ""
        yield f"### {_HEADINGS.get(group, group.capitalize())}"
        yield from _table([option for option in shared if option.group == group])
    yield ""
    yield "## Subcommands"
    for each in above:
        below = [one for one in commands if one.words[:-1] == each.words]
        common = [
            option for one in below[:1] for option in one.options
            if all(option in other.options for other in below)
        ]  # fmt: skip
        yield from _section(each, shared, common)
        for one in below:
            yield from _section(one, [*shared, *common])


def _section(
    command: Command, shared: list[Option], common: list[Option] | None = None
) -> Iterator[str]:
    yield ""
    yield f"### torchcent {' '.join(command.words)}"
    yield ""
    text = _escaped(command.help.removesuffix(".")) + "."
    yield text[0].upper() + text[1:]
    if command.commands:
        yield ""
        yield f"Models: {', '.join(f'`{name}`' for name in command.commands)}. Options of all:"
        yield from _table([each for each in common or [] if "--help" not in each.flags])
    own = [each for each in command.options if each not in shared and "--help" not in each.flags]
    if own:
        yield from _table(own)
    others = [f"`{each.flags[0]}`" for each in command.options if each in shared and each.flags]
    others = [flag for flag in others if flag != "`-h`"]
    if others:
        yield ""
        yield f"Shared options: {', '.join(others)}."
    text = command.epilog.partition("GRAPH is a file")[0].strip()
    if text:
        yield ""
        yield f"```text\n{text.removeprefix('examples:').strip(chr(10))}\n```"


def _table(options: list[Option]) -> Iterator[str]:
    yield ""
    yield "| option | meaning |"
    yield "|---|---|"
    for option in options:
        names = ", ".join(f"`{flag}`" for flag in option.flags) or f"`{option.value}`"
        value = f" `{option.value}`" if option.flags and option.value else ""
        need = "required" if option.required and option.flags else ""
        said = "without effect here, or refused with advice" if option.hidden else option.help
        text = "; ".join(filter(None, [_escaped(said), need]))
        yield f"| {(names + value).replace('|', chr(92) + '|')} | {text} |"


def _escaped(text: str) -> str:
    """Text of --help as Markdown."""
    for sign in "\\|*_<[]$":
        text = text.replace(sign, f"\\{sign}")
    return text


if __name__ == "__main__":
    print(page(), end="")
