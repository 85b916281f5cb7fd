"""The parser of the command line. Nothing here imports PyTorch, which takes seconds."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from _torchcent_command import _common, _files, _groups, _mcl, _pairs, _scores, _stream
from _torchcent_command._meant import meant

#: adds options to a parser
Fill = Callable[[argparse.ArgumentParser], None]

_EXAMPLES = """\
  torchcent betweenness friends.csv --top 10            # the ten most central vertices
  torchcent betweenness soc.txt.gz -o scores.csv --plot scores.png
  torchcent betweenness road.gr --sources 512 --seed 1  # estimate from 512 pivots
  torchcent betweenness-approx web.mtx --epsilon 0.001 --time-limit 60
  torchcent edge-betweenness networkx:les_miserables    # edges instead of vertices
  torchcent betweenness-variant road.gr --variant distance      # long paths count less
  torchcent betweenness road.gr --weights               # by the lengths in the file
  torchcent betweenness ppi.tsv --similarity inverse    # the third column is a similarity
  torchcent closeness soc.txt.gz -o scores.csv          # exact, of all vertices
  torchcent closeness links.csv --directed --reversed   # distances from the vertex, not to it
  torchcent harmonic road.gr --sources 512 --normalized
  torchcent eccentricity roads.csv --disconnected component
  torchcent pagerank links.csv --directed --personalization start.txt
  torchcent node-features friends.csv --measures degree,core_number,pagerank -o features.npz
  torchcent diameter roads.csv --average --effective 0.9
  torchcent apsp friends.csv -o dist.npy                # distances of all pairs
  torchcent apsp roads.csv -o dist.npy --sources 100 > rows.txt
  torchcent closure calls.csv --directed -o calls.npz   # who reaches whom
  torchcent group-betweenness friends.csv --group Ada,Bob --group Cleo,Di
  torchcent group-closeness friends.csv --groups clusters.txt -o scores.csv
  torchcent group-degree calls.csv --directed --direction in --group Ada,Bob
  torchcent prominent-group web.mtx -k 10               # which ten cover most paths?
  torchcent leiden soc.txt -o communities.txt           # Leiden communities, one per line
  torchcent modularity soc.txt --communities communities.txt
  torchcent bridges power.csv                           # edges that nothing replaces
  torchcent articulation-points power.csv --json
  torchcent accessibility road.gr --weights --cutoff 800 --destinations jobs.txt
  torchcent straightness streets.gpkg --weights --cutoff 800 -o scores.gpkg
  torchcent betweenness road.gr --weights --origins people.txt --destinations jobs.txt
  torchcent rewired networkx:karate_club -o random.csv  # the same degrees
  torchcent communities networkx:karate_club --levels   # Girvan and Newman's method
  torchcent communities soc.txt --count 20 --per-round 0.02 --approx 0.001 -o communities.csv
  torchcent mcl ppi.abc -I 2.0 -o clusters.txt          # Markov clustering, like mcl
  torchcent mcl hits.tsv --blast -o families.graphml    # proteins, from a table of BLAST
  torchcent betweenness streets.gpkg --edges --weights -o scores.gpkg
  torchcent mcl ppi.tsv --sweep 1.4,2,4,6 --plot sweep.png      # which inflation?
  torchcent stream calls.txt changes.txt --every 100 --changed -o scores.csv
  tail -n +1 -f changes.txt | torchcent stream calls.txt - --every 1 --top 10
  torchcent betweenness road.gr -o scores.csv --checkpoint road.run   # keep what is finished
  torchcent closeness road.gr -o scores.csv --checkpoint road.run --time-limit 11.5h
  torchcent info road.run                               # how far is it?
  torchcent resume road.run                             # continue after Ctrl-C, kill or a crash
  torchcent info web.mtx                                # a summary and the execution plan
  torchcent info web.mtx --json | jq .components        # for programs
  torchcent convert web.mtx.gz web.parquet
  zcat web.mtx.gz | torchcent convert - - --to csv | head       # pipes
  torchcent generate rmat --scale 16 --edge-factor 8 -o rmat.npz
  torchcent completion bash > ~/.local/share/bash-completion/completions/torchcent"""

_GRAPHS = """\
GRAPH is a file (edge lists .txt .tsv .csv .edges .el, .abc, .mci, .mtx, .graph, .gr, .graphml,
.gml, .npz, .npy, .pt, .parquet; streets .gpkg, .shp, .geojson; BLAST's tables .m8; each but .shp
also .gz .bz2 .xz .zst) or networkx:NAME with NAME one of les_miserables, karate_club,
davis_southern_women, florentine_families, or - for standard input: its format is that of --format
or found in the data, compressed or not."""


def _epilog(command: str = "", more: str = "") -> str:
    """The examples of a command, or of all commands, additional text, and the forms of GRAPH."""
    word = f"torchcent {command} " if command else ""
    lines = [line for line in _EXAMPLES.split("\n") if word in line]
    examples = "\n".join(["examples:", *lines]) if lines else ""
    return "\n\n".join(filter(None, [examples, more, _GRAPHS]))


class Parser(argparse.ArgumentParser):
    """Reports errors in one line with what may have been meant; accepts no abbreviations.

    Attributes:
        fill: adds the options. It is called for the subcommand that is used alone, of many.
    """

    fill: Fill | None = None

    def filled(self) -> Parser:
        fill, self.fill = self.fill, None
        if fill is not None:
            fill(self)
        return self

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    @property
    def commands(self) -> frozenset[str]:
        """The names of the subcommands."""
        names = (x.choices for x in self._actions if isinstance(x, argparse._SubParsersAction))
        return frozenset(next(names, ()))

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"torchcent: error: {message} (see {self.prog} --help)\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            if action.dest == "command" and _is_graph(value):
                text = f"a command is missing, as in: torchcent betweenness {shlex.quote(value)}"
                raise argparse.ArgumentError(None, text) from None
            if action.metavar == "COMMAND":  # of these there are too many for a line
                error.message = f"invalid choice: {value!r}"
            error.message += meant(str(value), map(str, action.choices or ()))
            raise

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        """Values that are joined to an option, as in ``-I2``, but no beginnings of ``-scheme``."""
        options: list[Any] = super()._get_option_tuples(option_string)
        return [option for option in options if option[1] == option_string[:2]]


class _Commands(argparse._SubParsersAction):  # type: ignore[type-arg]
    """Adds the options of a subcommand before they are parsed."""

    def __call__(self, parser: Any, namespace: Any, values: Any, *more: Any) -> None:
        if values[0] in self.choices:
            self.choices[values[0]].filled()
        super().__call__(parser, namespace, values, *more)


class _Version(argparse.Action):
    """Prints the version, which is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from _torchcent_command._version import version

        print(version())
        parser.exit()


def _is_graph(text: str) -> bool:
    """Whether it looks like a GRAPH rather than a command."""
    return text == "-" or ":" in text or "." in text or os.path.isfile(text)


def parser() -> Parser:
    """The parser of all subcommands."""
    raw = argparse.RawDescriptionHelpFormatter
    whole = Parser(
        prog="torchcent", description="Exact centrality, distances and clustering of graphs.",
        epilog=_epilog(), formatter_class=raw,
    )  # fmt: skip
    whole.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = whole.add_subparsers(
        dest="command", required=True, metavar="COMMAND", action=_Commands
    )

    def add(name: str, text: str, more: str = "", fill: Fill | None = None) -> Parser:
        text = text[0].upper() + text[1:]
        command: Parser = commands.add_parser(
            name, help=text, description=f"{text}.",
            epilog=_epilog(name, more), formatter_class=raw,
        )  # fmt: skip
        command.fill = fill
        return command

    _scores.add_parsers(add)
    _pairs.add_parsers(add)
    _groups.add_parsers(add)
    _mcl.add_parsers(add)
    _stream.add_parsers(add)
    _files.add_parsers(add)
    resume = add("resume", "continue an interrupted run, by the command that it began with")
    resume.add_argument("checkpoint", metavar="FOLDER", help="that of --checkpoint")
    _common.quiet_option(resume)
    _common.time_limit_option(resume)
    completion = add("completion", "a script that lets a shell complete commands and options")
    completion.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    man = add("man", "a manual page in troff, for man -l -")
    man.add_argument(
        "page", nargs="?", choices=[*commands.choices], metavar="COMMAND",
        help="of this subcommand (default: of all, without their options)",
    )  # fmt: skip
    return whole


SHELLS = ("bash", "zsh", "fish")


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The arguments as a namespace.

    Raises:
        SystemExit: they are wrong, or ask for help; a message has been printed.
    """
    whole, words = parser(), list(arguments)
    if "--edges" in words and f"edge-{words[0]}" in whole.commands:
        words.remove("--edges")
        words[0] = f"edge-{words[0]}"
    args, unknown = whole.parse_known_args(words)
    if unknown:
        inner = used_parser(whole, args)
        options = [text for text in unknown if text.startswith("-") and text != "-"]
        name = options[0].partition("=")[0] if options else ""
        names = inner._option_string_actions
        hint = meant(name, names) if name not in names else f"; it comes after {args.command}"
        inner.error(f"unrecognized arguments: {' '.join(options or unknown)}{hint}")
    return args


def used_parser(whole: Parser, args: argparse.Namespace) -> Parser:
    """The parser of the subcommand that was given."""
    inner = whole
    for name in (args.command, getattr(args, "model", None)):
        if name is not None:
            inner = subparsers(inner)[name]
    return inner


def subparsers(of: argparse.ArgumentParser) -> dict[str, Any]:
    """The subcommands of a parser."""
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            return {name: each.filled() for name, each in action.choices.items()}
    return {}
