"""How Sphinx builds the documentation: `make docs`, into docs/_build."""

import re
import shutil
import sys
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import command_page  # noqa: E402

import torchcent  # noqa: E402

project, author = "torchcent", "the torchcent authors"
copyright = f"2026, {author}"
version = release = torchcent.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "myst_nb",  # MyST Markdown, and the notebooks with the outputs that they carry
    "sphinx-mathjax-offline",  # brings MathJax along: nothing is fetched when a page is read
]
root_doc = "index"
exclude_patterns = ["_build"]
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
napoleon_use_ivar = True
napoleon_custom_sections = [("Source", "notes")]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
html_theme = "furo"
html_title = "torchcent"
html_show_sphinx = False


def _attribute(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Napoleon would take what stands before a colon for a type."""
    if what in ("property", "attribute") and lines:
        lines[0] = lines[0].replace(": ", " – ", 1)


def _unlink(app: Sphinx, name: str, source: list[str]) -> None:
    """Pages of the repository that are not built are named without a link.

    The pages of notebooks are copies that lie below this folder.
    """
    if name.startswith("notebooks/"):
        source[0] = source[0].replace("../docs/", "../")
        return
    here = "../" * name.count("/")
    up = re.escape(here + "../")
    source[0] = re.sub(
        rf"\({up}notebooks/(\w+)\.ipynb\)", rf"({here}notebooks/\1.ipynb)", source[0]
    )
    source[0] = re.sub(rf"\[([^]]*)\]\({up}[^)]*\.md\)", r"\1", source[0])


def _options(app: Sphinx, name: str, source: list[str]) -> None:
    """Adds the tables of all options to the page of the command line."""
    if name == "command_line":
        source[0] = command_page.page()


def _notebooks(app: Sphinx) -> None:
    """Copies the notebooks to where Sphinx looks for pages."""
    folder = Path(app.srcdir, "notebooks")
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.ipynb"):
        path.unlink()
    for path in (Path(app.srcdir).parent / "notebooks").glob("*.ipynb"):
        shutil.copy2(path, folder)


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _notebooks)
    app.connect("autodoc-process-docstring", _attribute, priority=400)  # before napoleon's
    app.connect("source-read", _options, priority=400)  # before the links are changed
    app.connect("source-read", _unlink)
