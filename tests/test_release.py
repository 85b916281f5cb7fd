"""tools/release.py: what it refuses, on repositories of its own."""

import importlib.util
import subprocess
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[1] / "tools/release.py"
if not TOOL.exists():
    pytest.skip("needs a checkout", allow_module_level=True)
if subprocess.run(["git", "--version"], capture_output=True).returncode != 0:
    pytest.skip("needs git", allow_module_level=True)

PROJECT = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "1.2.3"\n',
    "CITATION.cff": "title: x\nversion: 1.2.3\n",
    "CHANGELOG.md": "\n## 1.2.3 - 2026-01-31\n\n- New.\n\n## 1.2.2 - 2025-01-01\n\n- Old.\n",
    "benchmarks/gpu_status.py": "import sys\nsys.exit(not sys.argv[1:])\n",
    "benchmarks/results/h200.json": "{}\n",
}


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def git(folder: Path, *command: str) -> None:
    name = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *name, *command], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init")
    commit(tmp_path)
    return tmp_path


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "x", "--no-verify")


def test_what_is_ready_lacks_nothing(release, repository):
    assert release.missing(repository, "1.2.3") == []
    assert release.heading(repository, "1.2.3")[2].strip() == "- New."
    assert release.heading(repository, "1.2.2")[2].strip() == "- Old."


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("pyproject.toml", "1.2.3", "1.2.4", "pyproject.toml has version 1.2.4, not 1.2.3"),
        ("CITATION.cff", "1.2.3", "1.2.2", "CITATION.cff has version 1.2.2, not 1.2.3"),
        ("CHANGELOG.md", "2026-01-31", "unreleased", "is 'unreleased', not YYYY-MM-DD"),
        ("CHANGELOG.md", "2026-01-31", "2026-02-31", "is '2026-02-31', not YYYY-MM-DD"),
        ("CHANGELOG.md", "## 1.2.3", "## 1.2.4", "no heading '## 1.2.3 - YYYY-MM-DD'"),
        ("benchmarks/gpu_status.py", "not sys.argv[1:]", "1", "did not pass on a GPU"),
    ],
)
def test_refusals(release, repository, name, old, new, message):
    path = repository / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    commit(repository)
    (line,) = release.missing(repository, "1.2.3")
    assert message in line


def test_refusal_of_changes_and_of_a_tag_that_is_there(release, repository):
    git(repository, "tag", "v1.2.3")
    (repository / "more.txt").touch()
    changes, tag = release.missing(repository, "1.2.3")
    assert "not committed" in changes and "more.txt" in changes
    assert "v1.2.3 is there already" in tag


@pytest.mark.parametrize("version", ["1.2", "v1.2.3", "1.2.3rc1", ""])
def test_a_version_is_three_numbers(release, repository, version):
    assert release.missing(repository, version) == [
        f"VERSION must be three numbers such as 0.3.0, got '{version}'"
    ]


def test_without_results_of_a_gpu(release, repository):
    (repository / "benchmarks/results/h200.json").unlink()
    commit(repository)
    (line,) = release.missing(repository, "1.2.3")
    assert "did not pass on a GPU" in line
