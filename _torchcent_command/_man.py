"""Manual pages, torchcent(1), torchcent-mcl(1), ..., which argparse-manpage writes."""

from __future__ import annotations

import argparse
import re

from _torchcent_command._parser import Parser, parser, subparsers
from _torchcent_command._version import version

#: of troff, as argparse-manpage uses them
_REQUESTS = "TH|SH|SS|TP|B|RS|RE"


def pages() -> dict[str, str]:
    """The pages of section 1 as troff, by name.

    Raises:
        ImportError: argparse-manpage is not installed; the message names the extra.
    """
    whole = parser()
    commands = subparsers(whole)
    texts = {"torchcent": _page(_overview(whole, commands), "exact centrality of graphs")}
    for name, each in commands.items():
        texts[f"torchcent-{name}"] = _page(each, _summary(each))
    return texts


def _summary(of: argparse.ArgumentParser) -> str:
    return (of.description or "").removesuffix(".")


def _page(of: argparse.ArgumentParser, summary: str) -> str:
    try:
        from argparse_manpage.manpage import Manpage
    except ImportError as error:
        raise ImportError(
            "manual pages need argparse-manpage, of the extra torchcent[completion]: "
            "pip install argparse-manpage"
        ) from error
    usage = of.format_usage().split(":", 1)[-1].split()
    words = 1 + usage[1:].index("[-h]") if "[-h]" in usage else 1  # of the command itself
    manual = Manpage(of, {"version": version(), "manual_title": "torchcent"})
    manual.prog, manual.source = of.prog.replace(" ", "-"), f"torchcent {version()}"
    manual.synopsis = [" ".join(usage[:words]), *usage[words:]]
    manual.description = summary
    # A point or an apostrophe at the beginning of a line would be a request.
    text = re.sub(rf"(?m)^(?=[.'])(?!\.({_REQUESTS})\b)", r"\\&", str(manual))
    return text.replace(".SH COMMENTS\n", ".SH NOTES\n.nf\n") + ".fi\n"


def _overview(whole: Parser, commands: dict[str, Parser]) -> argparse.ArgumentParser:
    """A parser for the first page: subcommands are arguments, and have pages of their own."""
    plain = argparse.ArgumentParser(
        prog=whole.prog, description=whole.description, epilog=whole.epilog,
        usage="torchcent [-h] [--version] COMMAND ...", formatter_class=whole.formatter_class,
    )  # fmt: skip
    plain.add_argument("--version", action="store_true", help="print the version")
    group = plain.add_argument_group("commands")
    for name, each in commands.items():
        text = f"{_summary(each)} (torchcent-{name}(1))"
        group.add_argument(name, help=text.replace("%", "%%"))
    return plain
