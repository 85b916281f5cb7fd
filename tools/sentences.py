"""Sentences of more than 30 words in docs/, README.md and docstrings: `python tools/sentences.py`.

Prints file:line and the number of words of each, and exits with 1 if there are any. An item of a
list, a cell of a table, a heading and the description of an argument are texts of their own. Code
in backticks and a formula count as a word, blocks of code and of mathematics as none.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST = 30
# Not yet clean: folders and files that are left out unless they are named. This list shrinks.
LEFT_OUT = ("torchcent/io",)
_MARKDOWN = ["README.md", "docs/*.md", "docs/notes/*.md", "docs/contributing/*.md"]
_PYTHON = ["torchcent/**/*.py", "_torchcent_command/**/*.py", "tools/*.py", "benchmarks/*.py"]
_ABBREVIATIONS = (
    r"\b(?:e\.g|i\.e|et al|cf|vs|Fig|Figs|Eq|Eqs|Sec|Alg|Th|No|Nos|pp|p|approx|St|Dr)\.$"
)
# Also before a word in small letters that begins sentences here.
_START = r"[\"'(*_]*(?:[A-Z0-9\[`>\\$α-ω]|(?<=\")\w|torchcent|igraph|mcl|docs/|u?int\d|float\d)"
_END = re.compile(rf"[.!?][\"')\]*_]*(?=\s+{_START})")

Lines = Iterable[tuple[int, str]]
Block = list[tuple[int, str]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders instead of all")
    parser.add_argument("--most", type=int, default=MOST, help="words of a sentence (%(default)s)")
    arguments = parser.parse_args()
    number = 0
    for path in sorted(_named(arguments.paths) if arguments.paths else _all()):
        for line, words, text in long_sentences(path, arguments.most):
            print(f"{path}:{line}: {words} words: {text}")
            number += 1
    if number:
        print(f"{number} sentences of more than {arguments.most} words", file=sys.stderr)
    return min(number, 1)


def _all() -> set[Path]:
    paths = {path for pattern in _MARKDOWN + _PYTHON for path in ROOT.glob(pattern)}
    paths -= {path for name in LEFT_OUT for path in _named([ROOT / name])}
    return {
        path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path for path in paths
    }


def _named(paths: list[Path]) -> set[Path]:
    below = (path.rglob("*") if path.is_dir() else [path] for path in paths)
    return {path for each in below for path in each if path.suffix in (".md", ".py")}


def long_sentences(path: Path, most: int = MOST) -> Iterator[tuple[int, int, str]]:
    """Line, number of words and text of each sentence with more than `most` words."""
    text = path.read_text(encoding="utf-8")
    blocks = _markdown(text) if path.suffix == ".md" else _docstrings(text)
    for block in blocks:
        for line, sentence in _sentences(block):
            words = len(re.findall(r"\S*\w\S*", sentence))
            if words > most:
                yield line, words, sentence


def _markdown(text: str) -> Iterator[Block]:
    """Paragraphs, items, headings and cells."""
    # What benchmarks/tables.py writes is data.
    text = re.sub(r"<!-- \w+: [^>]*-->.*?<!-- end -->", _blank, text, flags=re.S)
    text = re.sub(r"<!--.*?-->", _blank, text, flags=re.S)
    text = re.sub(r"^(\s*)(```|~~~).*?^\s*\2", _blank, text, flags=re.M | re.S)
    text = re.sub(r"^\s*\$\$.*?\$\$", _blank, text, flags=re.M | re.S)
    # Of cards and tabs, titles and text are read, each by itself, and options are not.
    text = re.sub(r"^:{3,}\{[\w-]+\} ", "# ", text, flags=re.M)
    text = re.sub(r"^:(?:::+|[\w-]+:).*$", "", text, flags=re.M)
    block: Block = []
    for number, line in enumerate(text.splitlines(), 1):
        starts = re.match(r"\s*([-*+]|\d+[.)]|#+|>)\s", line)
        if starts or not line.strip() or line.lstrip().startswith("|"):
            yield block
            block = []
        if line.lstrip().startswith("|"):
            yield from ([(number, cell)] for cell in re.split(r"(?<!\\)\|", line))
        elif line.strip():
            block.append((number, line[starts.end() :] if starts else line))
        if line.startswith(("#", "    ")) and not starts and len(block) == 1:
            block = []  # a block of code
        if line.startswith("#"):
            yield block
            block = []
    yield block


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _docstrings(text: str) -> Iterator[Block]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines = first.value.value.expandtabs().splitlines()
                yield from _paragraphs(list(enumerate(lines, first.lineno)))


def _paragraphs(lines: Lines) -> Iterator[Block]:
    """Paragraphs, items of lists and arguments ("name: text") of a docstring, without examples."""
    block: Block = []
    code = None  # indentation of the line before a block of code
    shown = False  # whether that is an example, which ends with a blank line
    colon = None  # that of a paragraph which ends with a colon: what is indented below is a formula
    for number, line in lines:
        indent = len(line) - len(line.lstrip())
        if code is not None and (line.strip() or shown):
            if line.strip() and indent > code:
                continue
            code = None
        starts = re.match(
            r"\s*(?:([-*+]|\d+[.)])\s|(\*{0,2}\w+(, \*{0,2}\w+)*( \([^)]*\))?: ))", line
        )
        inside = bool(block) and indent > len(block[0][1]) - len(block[0][1].lstrip())
        title = re.fullmatch(r"\s*[A-Z]\w*:\s*", line)  # such as Args:
        example = line.lstrip().startswith((">>>", "...", "python "))
        if title or example or not line.strip() or (starts and not inside):
            if block:
                first, last = block[0][1], block[-1][1]
                colon = len(first) - len(first.lstrip()) if last.rstrip().endswith(":") else None
            yield block
            block = []
        if example or (colon is not None and indent > colon and line.strip() and not starts):
            code, shown = indent - 1, example
        elif line.strip() and not title:
            block.append((number, line))
            colon = None
        if line.rstrip().endswith("::"):
            yield block
            block, code, shown = [], indent, False
    yield block


def _sentences(block: Block) -> Iterator[tuple[int, str]]:
    """Each with the line where it begins."""
    text, starts = "", []
    for number, line in block:
        starts.append((len(text), number))
        text += line.strip() + " "
    text = _words(text)
    begin = 0
    for match in [*_END.finditer(text), None]:
        end = match.end() if match else len(text)
        if match and re.search(_ABBREVIATIONS, text[begin : match.start() + 1]):
            continue
        sentence = text[begin:end].strip()
        if sentence:
            yield max(number for at, number in starts if at <= begin), sentence
        begin = end + 1


def _words(text: str) -> str:
    """Without spaces in code and formulas, and without addresses of links; as long as before."""

    def joined(match: re.Match[str]) -> str:
        return re.sub(r"[\s.!?]", "_", match[0])

    text = re.sub(r"``.+?``|`[^`]+`", joined, text)
    text = re.sub(r"\$[^$]+\$", joined, text)
    return re.sub(r"\]\([^)\s]*\)", lambda match: "]" + "_" * (len(match[0]) - 1), text)


if __name__ == "__main__":
    sys.exit(main())
