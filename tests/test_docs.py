"""Examples in docs/ print what they say; those of README.md are in test_package.py."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.mark.parametrize(
    ("name", "needs"),
    [("weights.md", "networkx"), ("clustering.md", "networkx"), ("gnn.md", "torch_geometric")],
)
def test_examples(name, needs):
    pytest.importorskip(needs)
    examples = re.findall(r"^```pycon\n(.*?)^```", (DOCS / name).read_text(), re.M | re.S)
    assert examples
    known = {}  # an example may go on where the one before it ended
    for number, example in enumerate(examples):
        test = doctest.DocTestParser().get_doctest(example, known, f"{name} {number}", None, 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        assert runner.run(test, clear_globs=False).failed == 0
        known = test.globs
