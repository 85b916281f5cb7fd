"""How Sphinx builds the documentation: `make docs`, into docs/_build."""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]
os.environ.setdefault("TORCHCENT_NO_EXTENSION", "1")  # pages need no kernels
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
    "sphinx_copybutton",
    "sphinx_design",  # cards, grids, tabs
    "sphinx-mathjax-offline",  # brings MathJax along: nothing is fetched when a page is read
]
sd_custom_directives = {
    "page": {"inherit": "grid-item-card", "options": {"link-type": "doc"}},
    "way": {"inherit": "grid-item-card", "options": {"link-type": "url"}},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_static_path = ["static"]
html_css_files = ["torchcent.css"]
html_js_files = ["torchcent.js"]
root_doc = "index"
exclude_patterns = ["_build"]
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
napoleon_use_ivar = True
napoleon_custom_sections = [("Source", "notes")]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
html_theme = "pydata_sphinx_theme"
html_title = "torchcent"
html_logo = html_favicon = "static/logo.svg"
html_show_sphinx = False
html_sourcelink_suffix = ""  # the source of the page of a notebook is the notebook
templates_path = ["templates"]
html_theme_options: dict[str, Any] = {
    "logo": {"text": "torchcent", "alt_text": "torchcent"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_persistent": ["search-button-field"],
    "article_header_end": ["notebook"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "gallery": []},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}  # light or dark, as the system is
html_sidebars: dict[str, list[str]] = {"index": [], "gallery": [], "performance": []}
if "TORCHCENT_DOCS_VERSIONS" in os.environ:  # tools/site.py: one version of several
    html_theme_options["navbar_end"] = ["version-switcher", "theme-switcher"]
    html_theme_options["check_switcher"] = False
    html_theme_options["switcher"] = {
        "json_url": os.environ["TORCHCENT_DOCS_VERSIONS"],
        "version_match": os.environ["TORCHCENT_DOCS_VERSION"],
    }


def _attribute(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Napoleon would take what stands before a colon for a type."""
    if what in ("property", "attribute") and lines:
        lines[0] = lines[0].replace(": ", " – ", 1)


def _titles(text: str) -> str:
    """Links that are called like the file they lead to get the title of that page.

    Sphinx takes it, or the heading, for a link without a text.
    """
    return re.sub(r"\[[\w./-]+\.(?:md|ipynb)\]\((?!https?:)([^)\s]+\.(?:md|ipynb))", r"[](\1", text)


def _links(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Pages that docstrings name by their files become links with the titles of these pages."""
    for number, line in enumerate(lines):
        lines[number] = re.sub(r"\bdocs/([\w/-]+)\.md(?:#[\w-]+)?", r":doc:`/\1`", line)


API = Path(__file__).parent / "api"


def _api(app: Sphinx) -> None:
    """Cuts api.rst into a page for each of its sections."""
    shutil.rmtree(API, ignore_errors=True)
    API.mkdir()
    text = Path(__file__).with_name("api.rst").read_text()
    for title, section in _sections(text):
        rule = "=" * len(title)
        page = f"{title}\n{rule}\n\n.. py:currentmodule:: torchcent\n{section}"
        (API / f"{_slug(title)}.rst").write_text(page)


def _sections(text: str) -> list[tuple[str, str]]:
    """The titles of the sections, and what stands below them."""
    parts = re.split(r"^(.+)\n-+$", text, flags=re.M)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def _slug(title: str) -> str:
    return title.lower().replace(" ", "_")


def _contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Instead of its sections, api.rst has a table of their pages."""
    if name == "api":
        head = source[0].partition("Graphs\n------")[0]
        pages = "".join(f"   api/{_slug(title)}\n" for title, _ in _sections(source[0]))
        source[0] = f"{head}.. toctree::\n   :maxdepth: 1\n\n{pages}"


def _unlink(app: Sphinx, name: str, source: list[str]) -> None:
    """Pages of the repository that are not built are named without a link.

    The pages of notebooks are copies that lie below this folder.
    """
    if name.startswith("notebooks/"):
        source[0] = _titles(source[0].replace("../docs/", "../"))
        return
    here = "../" * name.count("/")
    up = re.escape(here + "../")
    source[0] = re.sub(
        rf"\({up}notebooks/(\w+)\.ipynb\)", rf"({here}notebooks/\1.ipynb)", source[0]
    )
    source[0] = re.sub(rf"\[([^]]*)\]\({up}[^)]*\.md\)", r"\1", source[0])
    if not name.startswith("api"):
        source[0] = _titles(source[0])


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


def _people(app: Sphinx, error: Exception | None) -> None:
    """Writes the interactive figure of the gallery."""
    if error is None and app.builder.name == "html":
        import networkx

        from torchcent.plot import plot_network

        graph = torchcent.Graph.from_networkx(networkx.les_miserables_graph()).unweighted()
        plot_network(
            graph, scores=torchcent.betweenness(graph), title="Les Misérables",
            communities=torchcent.mcl(graph, inflation=2.5), path=Path(app.outdir, "people.html"),
        )  # fmt: skip


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _notebooks)
    app.connect("builder-inited", _api)
    app.connect("build-finished", _people)
    app.connect("autodoc-process-docstring", _links, priority=300)
    app.connect("source-read", _contents)
    app.connect("autodoc-process-docstring", _attribute, priority=400)  # before napoleon's
    app.connect("source-read", _options, priority=400)  # before the links are changed
    app.connect("source-read", _unlink)
