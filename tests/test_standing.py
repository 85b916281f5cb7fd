"""What stands beside the sources: citation, paper, recipe, templates, workflows."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_versions_are_those_of_the_package():
    for name, pattern in (
        ("CITATION.cff", r"^version: (.*)$"),
        ("recipe/recipe.yaml", r'n: "(.*)"$'),
    ):
        found = re.search(pattern, (ROOT / name).read_text(), re.M)
        assert found and found[1] == PROJECT["version"], name


def test_the_recipe_needs_what_the_package_needs():
    text = (ROOT / "recipe/recipe.yaml").read_text()
    needed = set(text.partition("\n  run:\n")[2].partition("\n\n")[0].split("\n"))
    assert {line.strip("- ") for line in needed} == {
        f"python {PROJECT['requires-python']}",
        *(re.sub(r"^torch(?=>)", "pytorch ", each) for each in PROJECT["dependencies"]),
    }


def test_the_paper_cites_what_is_listed():
    cited = set(re.findall(r"@(\w+\d{4})", (ROOT / "paper.md").read_text()))
    listed = re.findall(r"^@\w+\{(\w+),$", (ROOT / "paper.bib").read_text(), re.M)
    assert len(listed) == len(set(listed)) and set(listed) == cited


def test_figures_of_the_paper_are_those_of_the_results():
    """By the script that writes the tables of the manual."""
    text = (ROOT / "paper.md").read_text()
    marked = r"<!-- public: all -->\n(.*?)\n<!-- end -->"
    table = re.search(marked, text, re.S)
    assert table
    code = "import json, public_call; print(public_call.table(json.load(open({!r}))))"
    measured = subprocess.run(
        [sys.executable, "-c", code.format("results/public_call.json")],
        cwd=ROOT / "benchmarks", check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert table[1].strip() == measured.stdout.strip()
    # No other times or factors, which nobody would measure again.
    prose = re.sub(marked, "", text, flags=re.S)
    assert not re.search(r"\d(?:\.\d+)? ?(?:x|s|ms|seconds|times|%)\b", prose)


YAML = sorted(
    path
    for pattern in ("*.cff", "recipe/*.yaml", ".readthedocs.yaml", ".github/**/*.yml")
    for path in ROOT.glob(pattern)
)


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_yaml(path):
    yaml = pytest.importorskip("yaml")
    content = yaml.safe_load(path.read_text())
    assert isinstance(content, dict) and content
    if path.parent.name == "workflows":  # nothing may write but what says so
        assert content["permissions"] == {"contents": "read"}
        for job in content["jobs"].values():
            assert ("uses" in job) != ("steps" in job)
            for step in job.get("steps", []):
                assert ("uses" in step) != ("run" in step)


def test_links_between_pages_lead_somewhere():
    for name in ("CODE_OF_CONDUCT.md", "GOVERNANCE.md", "CONTRIBUTING.md", "SECURITY.md"):
        for target, anchor in re.findall(
            r"\]\((?!http)([^)#]+)(#[\w-]+)?\)", (ROOT / name).read_text()
        ):
            assert (ROOT / target).exists(), (name, target)
            if anchor and target.endswith(".md"):
                heads = re.findall(r"^#+ (.*)$", (ROOT / target).read_text(), re.M)
                slugs = {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}
                assert anchor[1:] in slugs, (name, target, anchor)
