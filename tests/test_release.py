"""tools/release.py: what it refuses, on repositories of its own."""

import importlib.util
import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOL = ROOT / "tools/release.py"
if not TOOL.exists():
    pytest.skip("needs a checkout", allow_module_level=True)
if subprocess.run(["git", "--version"], capture_output=True).returncode != 0:
    pytest.skip("needs git", allow_module_level=True)

# How the changelog is built, as in this repository.
TOWNCRIER = (
    "\n[tool.towncrier]" + (ROOT / "pyproject.toml").read_text().split("[tool.towncrier]")[1]
)
MARK = "# Changelog\n\n<!-- towncrier: sections of releases begin here -->\n"
PROJECT = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "1.2.3"\n' + TOWNCRIER,
    "changelog.d/README.md": "How to add one.\n",
    "changelog.d/template.md": (ROOT / "changelog.d/template.md").read_text(),
    "CITATION.cff": "title: x\nversion: 1.2.3\n",
    "CHANGELOG.md": MARK + "\n## 1.2.3 - 2026-01-31\n\n- New.\n\n## 1.2.2 - 2025-01-01\n\n- Old.\n",
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
        ("CHANGELOG.md", "2026-01-31", "soon", "is 'soon', not YYYY-MM-DD"),
        ("CHANGELOG.md", "2026-01-31", "2026-02-31", "is '2026-02-31', not YYYY-MM-DD"),
        ("CHANGELOG.md", "## 1.2.3", "## 1.2.4", "changelog.d has entries of 1.2.3"),
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


def test_results_of_a_gpu(release, repository):
    assert release.of_gpus(repository) == []
    (repository / "benchmarks/results/h200.json").unlink()
    (line,) = release.of_gpus(repository)
    assert "did not pass on a GPU" in line


@pytest.fixture
def clone(release, repository, tmp_path_factory, monkeypatch):
    """A clone with an entry for the changelog, where lint, tests and wheels take no time."""
    pytest.importorskip("towncrier")
    changelog = repository / "CHANGELOG.md"
    changelog.write_text(changelog.read_text().replace("2026-01-31", "unreleased"))
    fragment(repository, "a-b.fixed.md", "A fix.")
    folder = tmp_path_factory.mktemp("clone") / "there"
    git(repository, "clone", str(repository), str(folder))
    for kind in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{kind}_NAME", "x")
        monkeypatch.setenv(f"GIT_{kind}_EMAIL", "x@example.org")
    touch = "import os, sys; os.makedirs('dist', exist_ok=True); open('dist/' + sys.argv[1], 'w')"
    steps = [(sys.executable, "-c", touch, name) for name in ("lint", "test-all", "wheels")]
    monkeypatch.setattr(release, "STEPS", steps)
    monkeypatch.setattr(release, "REHEARSED", {steps[1]: (*steps[1][:3], "test")})
    monkeypatch.setattr(release, "ROOT", folder)
    return folder


def tags(folder):
    run = subprocess.run(["git", "tag", "-n1"], cwd=folder, capture_output=True, text=True)
    return run.stdout.split()


def released(release, monkeypatch, *options):
    monkeypatch.setattr(sys, "argv", ["release.py", "1.2.3", *options])
    return release.main()


def test_a_release_writes_the_changelog_builds_and_tags(release, clone, monkeypatch, capsys):
    assert released(release, monkeypatch) == 0
    assert tags(clone) == ["v1.2.3", "1.2.3"]
    assert f"## 1.2.3 - {date.today().isoformat()}" in (clone / "CHANGELOG.md").read_text()
    assert sorted(file.name for file in (clone / "dist").iterdir()) == [
        "lint",
        "test-all",
        "wheels",
    ]
    said = capsys.readouterr()
    assert "dist/ is ready" in said.out and "dist/wheels 0 bytes" in said.out and said.err == ""


def test_a_release_with_older_results_of_a_gpu_is_refused(release, clone, monkeypatch, capsys):
    (clone / "benchmarks/results/h200.json").unlink()
    commit(clone)
    assert released(release, monkeypatch) == 1
    assert capsys.readouterr().err.startswith("release: the tests did not pass on a GPU")
    assert tags(clone) == [] and not (clone / "dist").exists()


@pytest.mark.parametrize("current", [True, False])
def test_a_rehearsal_says_what_a_release_would_lack(release, clone, monkeypatch, capsys, current):
    if not current:
        (clone / "benchmarks/results/h200.json").unlink()
        commit(clone)
    assert released(release, monkeypatch, "--rehearse") == 0
    assert tags(clone) == ["v1.2.3", "1.2.3"]
    assert sorted(file.name for file in (clone / "dist").iterdir()) == ["lint", "test", "wheels"]
    said = capsys.readouterr()
    assert ("a release would lack nothing" in said.out) == current
    assert ("would be refused: the tests did not pass on a GPU" in said.out) != current
    assert ("would be refused: the tests did not pass on a GPU" in said.err) != current


def test_a_step_that_fails_leaves_no_tag(release, clone, monkeypatch, capsys):
    fails = (sys.executable, "-c", "raise SystemExit(3)")
    monkeypatch.setattr(release, "STEPS", [fails, *release.STEPS])
    assert released(release, monkeypatch) == 1
    assert "SystemExit(3)` failed; there is no tag" in capsys.readouterr().err
    assert tags(clone) == [] and not (clone / "dist").exists()


def test_a_rehearsal_is_for_a_clone(release, clone, repository, monkeypatch, capsys):
    monkeypatch.setattr(release, "ROOT", repository)
    assert released(release, monkeypatch, "--rehearse") == 1
    assert "for a clone on this machine" in capsys.readouterr().err
    assert tags(repository) == []


def fragment(repository, name, text):
    (repository / "changelog.d" / name).write_text(text)
    commit(repository)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a-b.repaired.md", "Text.", "NAME.TYPE.md, TYPE one of added|changed|deprecated"),
        ("a_b.fixed.md", "Text.", "NAME.TYPE.md"),
        ("a-b.fixed", "Text.", "NAME.TYPE.md"),
        ("a-b.fixed.md", " \n", "not one paragraph"),
        ("a-b.fixed.md", "One.\nTwo.\n", "not one paragraph"),
        ("a-b.fixed.md", "- One.\n", "not one paragraph"),
    ],
)
def test_a_malformed_fragment_is_refused(release, repository, name, text, message):
    changelog = repository / "CHANGELOG.md"
    changelog.write_text(changelog.read_text().replace("2026-01-31", "unreleased"))
    fragment(repository, name, text)
    (line,) = release.missing(repository, "1.2.3")
    assert line.startswith(f"changelog.d/{name} is not") and message in line


def test_fragments_of_a_section_with_a_date_are_refused(release, repository):
    fragment(repository, "a-b.fixed.md", "Text.")
    (line,) = release.missing(repository, "1.2.3")
    assert "CHANGELOG.md has 1.2.3 with a date already" in line


def test_fragments_become_a_section(release, repository):
    pytest.importorskip("towncrier")
    changelog = repository / "CHANGELOG.md"
    changelog.write_text(MARK + "\n## 1.2.2 - 2025-01-01\n\n### Fixed\n\n- Old.\n")
    for name, text in (("b.fixed", "B, `1.0`.\n"), ("a.fixed", "A.\n"), ("c.added", "C.\n")):
        fragment(repository, f"{name}.md", text)
    assert release.missing(repository, "1.2.3") == []
    assert release.build(repository, "1.2.3", "2026-02-28")
    new = "## 1.2.3 - 2026-02-28\n\n### Added\n\n- C.\n\n### Fixed\n\n- A.\n- B, `1.0`.\n\n"
    old = "## 1.2.2 - 2025-01-01\n\n### Fixed\n\n- Old.\n"
    assert changelog.read_text() == MARK + "\n" + new + old
    assert release.fragments(repository) == []
    assert not release.build(repository, "1.2.3", "2026-03-01")


@pytest.mark.parametrize("more", [True, False])
def test_a_section_that_is_unreleased_gets_its_date_and_the_fragments(release, repository, more):
    pytest.importorskip("towncrier")
    changelog = repository / "CHANGELOG.md"
    head, old = MARK + "\n## 1.2.3 - {}\n\n", "## 1.2.2 - 2025-01-01\n\n- Old.\n"
    added, changed = "### Added\n\n- One.\n\n- Two.\n", "### Changed\n\n- Three.\n"
    changelog.write_text(f"{head.format('unreleased')}{added}\n{changed}\n{old}")
    commit(repository)
    if more:
        fragment(repository, "a.added.md", "A.\n")
        fragment(repository, "b.security.md", "B.\n")
    assert release.missing(repository, "1.2.3") == []
    assert release.build(repository, "1.2.3", "2026-02-28")
    if more:
        added, changed = f"{added}- A.\n", f"{changed}\n### Security\n\n- B.\n"
    assert changelog.read_text() == f"{head.format('2026-02-28')}{added}\n{changed}\n{old}"


def test_fragments_of_this_repository_have_known_types(release):
    assert release.of_fragments(ROOT) == []
    assert release.types(ROOT) == ["added", "changed", "deprecated", "removed", "fixed", "security"]
    assert MARK.splitlines()[-1] in (ROOT / "CHANGELOG.md").read_text()


def test_status_of_a_gpu(tmp_path):
    """Results are current if they have the digest of these sources and no test failed."""
    tool = [sys.executable, str(ROOT / "benchmarks/gpu_status.py")]
    code = "import gpu_status; print(gpu_status.digest())"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=ROOT / "benchmarks", capture_output=True, text=True)
    here, path = run.stdout.strip(), tmp_path / "h200.json"
    for digest, failed, status in ((here, 0, 0), (here, 1, 1), ("0" * 64, 0, 1)):
        path.write_text(json.dumps({"tests": {"failed": failed}, "digests": {"tests": digest}}))
        run = subprocess.run([*tool, str(path)], capture_output=True, text=True)
        assert run.returncode == status, run.stdout
        assert ("tests current" in run.stdout) == (digest == here)
    assert subprocess.run(tool, capture_output=True).returncode == 1
