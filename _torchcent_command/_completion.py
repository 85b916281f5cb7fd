"""Scripts by which shells complete the command line, as shtab writes them."""

from __future__ import annotations

import argparse
import re
from typing import Any

from _torchcent_command import _common
from _torchcent_command._parser import parser, subparsers

#: values of options that the parser takes as text
VALUES = {
    "format": _common.FORMATS,
    "device": ("cpu", "cuda", "all"),
    "reduce": ("auto", "none", "fold", "blocks", "twins", "chains"),
}
# The words of bash end at "=": --engine=l is completed as --engine l.
_BASH = """\
_torchcent() {
  local at words=()
  for ((at = 0; at <= COMP_CWORD; at++)); do
    [[ "${COMP_WORDS[at]}" = "=" ]] && ((at < COMP_CWORD)) || words+=("${COMP_WORDS[at]#=}")
  done
  local COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
  _shtab_torchcent
}

complete -o bashdefault -F _torchcent torchcent
"""
_FILES = ("GRAPH", "CHANGES", "OUT", "FILE", "FILE|K", "FILE|X", "FOLDER")


def script(shell: str) -> str:
    """The script for bash, zsh or fish.

    Raises:
        ImportError: shtab is not installed; the message names the extra.
    """
    try:
        import shtab
    except ImportError as error:
        raise ImportError(
            "completion needs shtab, of the extra torchcent[completion]: pip install shtab"
        ) from error
    whole = parser()
    _describe(whole, shtab.FILE)
    text: str = shtab.complete(whole, shell)
    if shell == "bash":
        return f"{text}\n\n{_BASH}"
    return _with_words(text) if shell == "fish" else text


def _with_words(text: str) -> str:
    """The script for fish, in which -scheme is no short option, whose letters count alone."""
    flags = r"(?m)^complete .*?(?= -d '|$)"
    return re.sub(flags, lambda line: re.sub(r" -s (?=\w\w)", " -o ", line[0]), text)


def _describe(of: argparse.ArgumentParser, files: Any) -> None:
    """Tells shtab, by attributes of actions, which values are files, and which ones are known."""
    for action in of._actions:
        if action.dest in VALUES and not action.choices:
            action.choices = VALUES[action.dest]
        elif action.nargs != 0 and action.metavar in _FILES:
            action.complete = files  # type: ignore[attr-defined]
    for each in subparsers(of).values():
        _describe(each, files)
