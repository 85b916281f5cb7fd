"""The manual of several versions in one folder: `python tools/site.py site https://example.org/`.

The second argument is the address at which the folder will be read. The pages of the commit that is
checked out are in `site/latest`. Those of each tag `v*` whose manual has a menu of versions are in
`site/TAG`. `site/versions.json` is that menu. The newest tag is the first page.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_FIRST = '<!doctype html><meta http-equiv="refresh" content="0; url={}/index.html">'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("address")
    arguments = parser.parse_args()
    out, address = arguments.out.resolve(), arguments.address.rstrip("/") + "/"
    out.mkdir(parents=True, exist_ok=True)
    tags = [tag for tag in _git("tag", "--list", "v*", "--sort=-v:refname").split() if _has(tag)]
    for name in ["latest", *tags]:
        _build("HEAD" if name == "latest" else name, name, out / name, address)
    versions = [{"name": name, "version": name, "url": f"{address}{name}/"} for name in tags]
    versions.append({"name": "latest", "version": "latest", "url": f"{address}latest/"})
    if tags:
        versions[0]["preferred"] = True
    (out / "versions.json").write_text(json.dumps(versions, indent=1))
    (out / "index.html").write_text(_FIRST.format(versions[0]["version"]))
    shutil.rmtree(out / "jupyter_execute", ignore_errors=True)  # myst-nb's copies of figures
    (out / ".nojekyll").touch()


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def _has(tag: str) -> bool:
    """Whether the manual at the tag has a menu of versions."""
    return bool(re.search("TORCHCENT_DOCS_VERSIONS", _git("show", f"{tag}:docs/conf.py")))


def _build(commit: str, name: str, out: Path, address: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = str(Path(folder, "tree"))
        _git("worktree", "add", "--quiet", "--detach", tree, commit)
        try:
            subprocess.run(
                [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going",
                 "-d", f"{folder}/trees", "docs", str(out)],
                cwd=tree, check=True,
                env={
                    **os.environ, "PYTHONPATH": tree, "TORCHCENT_NO_EXTENSION": "1",
                    "TORCHCENT_DOCS_VERSION": name,
                    "TORCHCENT_DOCS_VERSIONS": f"{address}versions.json",
                },
            )  # fmt: skip
        finally:
            _git("worktree", "remove", "--force", tree)


if __name__ == "__main__":
    main()
