"""Examples in docs/ print what they say; those of README.md are in test_package.py."""

import doctest
import inspect
import re
from pathlib import Path

import pytest

import torchcent

DOCS = Path(__file__).resolve().parents[1] / "docs"
SECTIONS = ["guide", "howto", "reference", "gallery", "performance", "development"]
MARKUP = re.compile(r":{3,}|:[\w-]+:|```\{toctree")  # of cards, tabs and tables of contents


def listed(name):
    """What the tables of contents of a page name."""
    text = (DOCS / f"{name}.md").read_text()
    tables = re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.M | re.S)
    lines = [line for table in tables for line in table.splitlines()]
    names = [line for line in lines if line and not line.startswith(":")]
    return [re.sub(r".*<(.+)>", r"\1", name) for name in names]


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("index.md", "networkx"),
        ("tutorial.md", "torch"),
        ("run.md", "torch"),
        ("distances.md", "networkx"),
        ("weights.md", "networkx"),
        ("clustering.md", "networkx"),
        ("gnn.md", "torch_geometric"),
        ("batches.md", "torch"),
        ("approximation.md", "torch"),
        ("networkx.md", "networkx"),
        ("walks.md", "torch"),
        ("inputs.md", "pandas"),
        ("streets.md", "torch"),
    ],
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


def test_reference_has_every_public_name():
    text = (DOCS / "api.rst").read_text()
    found = re.findall(r"^\.\. auto(?:function|class):: ([\w.]+)", text, re.M)
    found += [name.split(".")[-1] for name in re.findall(r"^\.\. automodule:: (.*)", text, re.M)]
    assert len(found) == len(set(found))
    lazy = {"transforms", "plot", "cluster_plot"}  # imported when asked for
    of_files = {"write_scores", "read_clusters", "write_clusters"}
    assert of_files < set(torchcent.io.__all__)
    wanted = lazy | {f"torchcent.io.{name}" for name in of_files}
    assert set(found) == wanted | {n for n in torchcent.__all__ if not n.startswith("__")}


def test_every_page_is_in_one_table_of_contents():
    assert listed("index") == SECTIONS
    below = [name for section in SECTIONS for name in listed(section)]
    assert len(below) == len(set(below))
    pages = {path.stem for path in DOCS.iterdir() if path.suffix in (".md", ".rst")}
    notebooks = {f"notebooks/{path.stem}" for path in DOCS.parent.glob("notebooks/*.ipynb")}
    folders = {path.parent.name for path in DOCS.glob("*/*.md")} - {"_build", "notebooks"}
    others = {f"{name}/*" for name in folders}
    assert set(below) | {"index", *SECTIONS} == pages | notebooks | others


def test_the_manual_is_short():
    lines = [line for path in DOCS.glob("*.md") for line in path.read_text().splitlines()]
    assert 0 < sum(not MARKUP.match(line) for line in lines) <= 3200


def test_files_that_the_pages_for_contributors_name_exist():
    for page in DOCS.glob("contributing/*.md"):
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), (page.name, target)


def test_readme_is_short():
    lines = (DOCS.parent / "README.md").read_text().splitlines()
    assert len(lines) < 150


FIGURES = sorted((DOCS / "figures").glob("*.png"))


def test_pictures_of_the_gallery_exist_and_have_words():
    text = (DOCS / "gallery.md").read_text()
    pictures = re.findall(r"^:img-top: (.*)\n:img-alt: .+\n:link: (.*)$", text, re.M)
    assert len(pictures) == text.count(":img-top:") >= 10
    for picture, page in pictures:
        assert (DOCS / picture).exists(), picture
        if page.endswith(".html"):  # conf.py writes it
            assert f'"{page}"' in (DOCS / "conf.py").read_text()
            continue
        source = [(DOCS / f"{page}.md"), DOCS.parent / f"{page}.ipynb"]
        assert any(path.exists() for path in source), page


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_figures_have_no_background(path):
    """So that they suit light and dark pages, which invert none."""
    image = pytest.importorskip("matplotlib.image")
    pixels = image.imread(path)
    assert pixels.shape[2] == 4 and (pixels[[0, 0, -1, -1], [0, -1, 0, -1], 3] == 0).all()


def test_transforms_are_named_with_their_arguments():
    transforms = pytest.importorskip("torchcent.transforms")
    text = (DOCS / "gnn.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(Add\w+)\((\w*)", text, re.MULTILINE)
    assert {name for name, _ in named} == {x for x in transforms.__all__ if x.startswith("Add")}
    for name, argument in named:
        known = inspect.signature(getattr(transforms, name)).parameters
        assert not argument or argument in known, name
