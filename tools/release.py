"""A release: `make release VERSION=0.3.0`, or `python tools/release.py 0.3.0 --dry-run`.

Refuses a version that is not ready, and names everything that is missing at once. Then towncrier
moves the entries of changelog.d into CHANGELOG.md, which is committed. It runs the tests and the
lint, builds and checks the wheels (make wheels) and makes the tag. It sends nothing: a tag that is
pushed starts .github/workflows/release.yml. With --dry-run it only says what it would
do; with --notes it prints what the changelog says of the version.

With --rehearse (`make release VERSION=0.3.0 REHEARSE=1`), in a clone of this repository on the same
machine, all is done with a part of the tests. GPU results of older sources do not stop it: it says
that they would stop a release.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STEPS = (("make", "lint"), ("make", "test-all"), ("make", "wheels"))
REHEARSED = {("make", "test-all"): ("make", "test", "PART=0.01")}


def git(root: Path, *command: str) -> str:
    run = subprocess.run(["git", *command], cwd=root, check=True, capture_output=True, text=True)
    return run.stdout.strip()


def heading(root: Path, version: str) -> re.Match[str] | None:
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.search(rf"^## {re.escape(version)} - (.*)\n((?:(?!## ).*\n?)*)", text, re.MULTILINE)


def types(root: Path) -> list[str]:
    """What a fragment may be of, as pyproject.toml lists it for towncrier."""
    tools = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    return list(tools["towncrier"]["fragment"])


def fragments(root: Path) -> list[Path]:
    paths = sorted((root / "changelog.d").glob("*"))
    return [path for path in paths if path.name not in ("README.md", "template.md")]


def of_fragments(root: Path) -> list[str]:
    """What is wrong with the files of changelog.d, a line each."""
    lacks, names = [], "|".join(types(root))
    for path in fragments(root):
        if re.fullmatch(rf"[a-z0-9]+(-[a-z0-9]+)*\.({names})\.md", path.name) is None:
            lacks.append(f"changelog.d/{path.name} is not named NAME.TYPE.md, TYPE one of {names}")
            continue
        text = path.read_text(encoding="utf-8").strip()
        if not text or "\n" in text or re.match("[-*#]", text):
            lacks.append(
                f"changelog.d/{path.name} is not one paragraph in one line, without a bullet"
            )
    return lacks


def of_changelog(root: Path, version: str) -> list[str]:
    entry = heading(root, version)
    if entry is None or entry[1] == "unreleased":  # towncrier writes the heading
        if entry is None and not fragments(root):
            return [f"neither CHANGELOG.md nor changelog.d has entries of {version}"]
        return []
    try:
        date.fromisoformat(entry[1])
    except ValueError:
        return [f"CHANGELOG.md: the date of {version} is '{entry[1]}', not YYYY-MM-DD"]
    if fragments(root):
        return [f"changelog.d has entries, and CHANGELOG.md has {version} with a date already"]
    return []


def parts(section: str) -> dict[str, str]:
    """The texts below the headings of a section, by heading; what is above has ""."""
    name, texts = "", {"": ""}
    for line in section.splitlines(keepends=True):
        if line.startswith("### "):
            name = line[4:].strip()
        else:
            texts[name] = texts.get(name, "") + line
    return {name: text.strip("\n") for name, text in texts.items()}


def build(root: Path, version: str, day: str) -> bool:
    """Writes the section of a version, and removes its fragments; False if it is there already."""
    old = heading(root, version)
    if old and old[1] != "unreleased":
        return False
    path = root / "CHANGELOG.md"
    if old:
        path.write_text(path.read_text(encoding="utf-8").replace(old[0], ""), encoding="utf-8")
    command = ["towncrier", "build", "--yes", "--version", version, "--date", day]
    subprocess.run([sys.executable, "-m", *command], cwd=root, check=True)
    if old and (new := heading(root, version)):  # entries that were written by hand come first
        texts = parts(old[2])
        for name, text in parts(new[2]).items():
            texts[name] = "\n".join(x for x in (texts.get(name), text) if x)
        blocks = [f"### {name}\n\n{text}" if name else text for name, text in texts.items() if text]
        section = "\n\n".join([f"## {version} - {day}", *blocks]) + "\n\n"
        path.write_text(path.read_text(encoding="utf-8").replace(new[0], section), encoding="utf-8")
    return True


def of_gpus(root: Path) -> list[str]:
    results = sorted(root.glob("benchmarks/results/h?00.json"))
    command = [sys.executable, "benchmarks/gpu_status.py", *map(str, results)]
    if subprocess.run(command, cwd=root, capture_output=True).returncode == 0:
        return []
    return ["the tests did not pass on a GPU with these sources (make gpu-status)"]


def missing(root: Path, version: str) -> list[str]:
    """What a release of this version lacks, a line each."""
    if re.fullmatch(r"\d+\.\d+\.\d+", version) is None:
        return [f"VERSION must be three numbers such as 0.3.0, got '{version}'"]
    lacks = []
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = re.search(r"^version: (.*)$", (root / "CITATION.cff").read_text(), re.MULTILINE)
    for name, there in (
        ("pyproject.toml", project["version"]),
        ("CITATION.cff", citation and citation[1]),
    ):
        if there != version:
            lacks.append(f"{name} has version {there}, not {version}")
    if changes := git(root, "status", "--porcelain"):
        lacks.append(f"the tree has changes that are not committed:\n{changes}")
    if git(root, "tag", "--list", f"v{version}"):
        lacks.append(f"the tag v{version} is there already")
    return lacks + of_fragments(root) + of_changelog(root, version)


def of_clone(root: Path) -> list[str]:
    """A rehearsal sets the tag, which is to be in no repository that is worked in."""
    run = subprocess.run(
        ["git", "config", "remote.origin.url"], cwd=root, capture_output=True, text=True
    )
    if run.stdout.strip() and Path(root, run.stdout.strip()).is_dir():
        return []
    return ["a rehearsal is for a clone on this machine: git clone . FOLDER"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument("--rehearse", action="store_true", help="in a clone, with fewer tests")
    parser.add_argument("--notes", action="store_true", help="print the notes of the changelog")
    options = parser.parse_args()
    if options.notes:
        entry = heading(ROOT, options.version)
        print(entry[2].strip() if entry else "")
        return 0 if entry else 1
    version, gpus = options.version, of_gpus(ROOT)
    lacks = missing(ROOT, version)
    lacks += of_clone(ROOT) if options.rehearse else gpus
    for line in lacks:
        print(f"release: {line}", file=sys.stderr)
    tag = ("git", "tag", "--annotate", f"v{version}", "--message", version)
    steps = [*STEPS, tag]
    if options.rehearse:
        steps = [REHEARSED.get(step, step) for step in steps]
        for line in gpus:
            print(f"rehearsal: goes on, but a release would be refused: {line}", file=sys.stderr)
    if options.dry_run:
        print(*(f"would run: {' '.join(step)}" for step in steps), sep="\n")
    elif not lacks:
        if build(ROOT, version, date.today().isoformat()):
            git(ROOT, "add", "CHANGELOG.md", "changelog.d")
            git(ROOT, "commit", "--message", f"Write the changelog of {version}")
        for step in steps:
            print(f"release: {' '.join(step)}", flush=True)
            if subprocess.run(step, cwd=ROOT).returncode != 0:
                print(f"release: `{' '.join(step)}` failed; there is no tag", file=sys.stderr)
                return 1
        for file in sorted((ROOT / "dist").glob("*")):
            print(f"  dist/{file.name} {file.stat().st_size:,} bytes")
        if options.rehearse:
            state = f"would be refused: {gpus[0]}" if gpus else "would lack nothing"
            print(f"rehearsal: done with a part of the tests; a release {state}")
        else:
            print(f"dist/ is ready; `git push origin v{version}` publishes it")
    return 1 if lacks else 0


if __name__ == "__main__":
    sys.exit(main())
