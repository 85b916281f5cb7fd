"""The lint of sentences (tools/sentences.py): what it counts, and what it leaves out."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONG = " ".join(["word"] * 31)
SHORT = " ".join(["word"] * 30)


@pytest.fixture(scope="module")
def sentences():
    spec = importlib.util.spec_from_file_location("sentences", ROOT / "tools/sentences.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{SHORT}. {SHORT.capitalize()}.", []),
        (f"{LONG}.", [1]),
        (f"# Title\n\n{SHORT}\n{SHORT}.", [3]),  # a sentence over two lines
        (f"- {SHORT}\n- {SHORT}", []),
        (f"| {SHORT} | {SHORT} |", []),
        (f"```\n{LONG}\n```\n\n$$\n{LONG}\n$$\n\n<!-- {LONG} -->", []),
        (f"<!-- measured: all -->\n| {LONG} |\n<!-- end -->", []),
        (f":::{{card}} {SHORT}\n:alt: {SHORT}\n{SHORT}\n:::\n:::{{card}} {SHORT}\n:::", []),
        (f":::{{card}} Title\n:alt: {SHORT}\n{LONG}\n:::", [3]),
        (f"Short. {LONG}.", [1]),
        ("`" + LONG + "` is a word, and so is $" + LONG + "$.", []),
        (f"As Sariyuce et al. have it, {SHORT}.", [1]),
    ],
)
def test_markdown(sentences, tmp_path, text, lines):
    path = tmp_path / "page.md"
    path.write_text(text)
    assert [line for line, _, _ in sentences.long_sentences(path)] == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{LONG}.", [2]),
        (f"Args:\n    {SHORT.replace(' ', ': ', 1)}\n    {SHORT.replace(' ', ': ', 1)}", []),
        (f"Args:\n    one: {LONG}\n    two: short", [3]),
        (f"Example:\n    >>> {LONG}\n    {LONG}\n\n{LONG}.", [6]),
        (f"Formula::\n\n    {LONG}\n\n{SHORT}.", []),
        (f"So that:\n\n    {LONG}\n\n{SHORT}.", []),
    ],
)
def test_docstrings(sentences, tmp_path, text, lines):
    path = tmp_path / "module.py"
    indented = "\n".join(f"    {line}".rstrip() for line in text.split("\n"))
    path.write_text(f'def function():\n    """{indented.lstrip()}\n    """\n')
    assert [line for line, _, _ in sentences.long_sentences(path)] == lines
