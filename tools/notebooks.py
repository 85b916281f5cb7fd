"""Runs the notebooks and keeps their outputs: `python tools/notebooks.py [NAME ...]`.

Every cell is executed, in a copy of `notebooks/`, so that nothing but the outputs is written.
What changes from run to run without a meaning (times of execution, addresses, the version of
Python) is left out of the files. Times that a notebook measures itself stay. Pictures that it saves
under the name of one in `docs/figures` replace that. `notebooks/matplotlibrc` makes their
backgrounds transparent, for pages that are light or dark.
"""

import argparse
import base64
import io
import os
import re
import shutil
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
FIGURES = FOLDER.parent / "docs" / "figures"
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def executed(path: Path, timeout: int = 600) -> nbformat.NotebookNode:
    """The notebook with the outputs of all its cells."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(path.parent / "data", Path(folder, "data"))
        shutil.copy2(path.parent / "matplotlibrc", folder)
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(
            notebook, timeout=timeout, resources=resources, coalesce_streams=True
        )
        client.execute(env={**os.environ, "PYTHONPATH": str(FOLDER.parent)})
        for picture in Path(folder).glob("*.png"):
            if (FIGURES / picture.name).exists():
                (FIGURES / picture.name).write_bytes(smaller(picture.read_bytes()))
    return notebook


def clean(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Without what differs between two runs for no reason of the reader's."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if "outputs" in cell:  # warnings of the environment, and the paths in them
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
        for output in cell.get("outputs", []):
            if "text" in output:
                output.text = ADDRESS.sub("", output.text)
            output.get("metadata", {}).pop("needs_background", None)  # any background will do
            if "image/png" in output.get("data", {}):
                picture = smaller(base64.b64decode(output.data["image/png"]))
                output.data["image/png"] = base64.b64encode(picture).decode()
    return notebook


def smaller(picture: bytes) -> bytes:
    """With 256 colours: a third of the size, and nothing that the eye would miss."""
    image = Image.open(io.BytesIO(picture)).convert("RGBA")
    written = io.BytesIO()
    image.quantize(256, Image.Quantize.FASTOCTREE).save(written, "png", optimize=True)
    return written.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="all of them if none is given")
    names = parser.parse_args().names or sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    for name in names:
        path = FOLDER / f"{name}.ipynb"
        nbformat.write(clean(executed(path)), path)
        print(f"{name}: {path.stat().st_size / 1e3:,.0f} kB", flush=True)


if __name__ == "__main__":
    main()
