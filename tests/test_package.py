"""The package as it is installed: import, configuration, metadata, README, notebooks."""

import doctest
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import torch
from internals import COMPILED

import torchcent

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(torchcent.__file__).parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

# An editable installation would find in the sources what the folder lacks.
ONLY_HERE = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if getattr(f, "__name__", "") != "_EditableFinder"]
"""

STAR = """
import torch, torchcent
star = torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])
print(torchcent.betweenness(star).tolist())
"""


def python(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code where only the torchcent of this folder can be imported."""
    return subprocess.run(
        [sys.executable, "-P", "-c", ONLY_HERE + code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def unbuilt(tmp_path: Path) -> Path:
    """A folder with the package as it is before it was compiled."""
    ignore = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "torchcent", ignore=ignore)
    return tmp_path


@pytest.mark.slow
def test_import_of_an_older_library_says_that_it_is(unbuilt: Path) -> None:
    """As after a pull in a checkout that is installed in place."""
    library = PACKAGE / "_C.abi3.so"
    if not library.exists():
        pytest.skip("it is not compiled")
    shutil.copy2(library, unbuilt / "torchcent")
    sources = unbuilt / "csrc" / "paths" / "cpu"
    sources.mkdir(parents=True)
    (sources / "lanes.h").touch()
    compiled = library.stat().st_mtime
    for newer in (False, True):
        os.utime(sources / "lanes.h", times=(compiled + newer, compiled + newer))
        run = python("import torchcent", unbuilt, TORCHCENT_NO_EXTENSION="")
        assert run.returncode == 0
        assert ("RuntimeWarning" in run.stderr) == newer
        assert ("_C.abi3.so is older than its sources" in run.stderr) == newer


@pytest.mark.slow
def test_import_without_the_library_says_how_to_build_it(unbuilt: Path) -> None:
    run = python("import torchcent", unbuilt, TORCHCENT_NO_EXTENSION="")
    assert run.returncode != 0
    message = run.stderr.splitlines()[-1]
    assert message.startswith("ImportError")
    assert "pip install ." in message
    assert "TORCHCENT_NO_EXTENSION=1" in message


WITHOUT = """
for engine in ("lanes", "queue"):
    try:
        torchcent.betweenness(star, run=torchcent.Run(engine=engine))
    except ValueError as error:
        print(error)
print(torchcent.show_config())
"""


@pytest.mark.slow
def test_the_tensor_engine_works_without_the_library(unbuilt: Path) -> None:
    """Compiled ones are refused."""
    run = python(STAR + WITHOUT, unbuilt, TORCHCENT_NO_EXTENSION="1")
    assert run.returncode == 0, run.stderr
    scores, lanes, queue, *shown = run.stdout.splitlines()
    assert scores == "[1.0, 0.0, 0.0, 0.0]"
    for engine, message in (("lanes", lanes), ("queue", queue)):
        assert engine in message and "tensor" in message
    shown = config("\n".join(shown))
    assert shown["extension"].startswith("no") and shown["kernels"] == "none"


@pytest.mark.slow
def test_installed_without_the_extension_needs_no_variable(unbuilt: Path) -> None:
    (unbuilt / "torchcent" / "installed_without_extension").touch()
    code = STAR + "print(torchcent.show_config())"
    run = python(code, unbuilt, TORCHCENT_NO_EXTENSION="")
    assert run.returncode == 0, run.stderr
    scores, *shown = run.stdout.splitlines()
    assert scores == "[1.0, 0.0, 0.0, 0.0]"
    assert "installed with TORCHCENT_NO_EXTENSION=1" in config("\n".join(shown))["extension"]


def config(text: str) -> dict[str, str]:
    return dict(line.split(maxsplit=1) for line in text.splitlines())


def test_show_config() -> None:
    shown = config(torchcent.show_config())
    assert shown["torchcent"] == torchcent.__version__
    assert torch.__version__ in shown["torch"]
    assert shown["threads"] == str(torch.get_num_threads())
    assert "networkx" in shown["optional"]  # the tests need it


def test_show_config_names_the_kernels() -> None:
    if os.environ.get("TORCHCENT_NO_EXTENSION"):
        pytest.skip("TORCHCENT_NO_EXTENSION is set: there are no kernels")
    shown = config(torchcent.show_config())
    assert shown["extension"] == "yes"
    assert shown["kernels"] in ("avx512", "avx2", "portable")


@pytest.mark.parametrize("library", sorted(PACKAGE.glob("*.so")), ids=lambda path: path.name)
def test_cpp_runtime_is_not_exported(library: Path) -> None:
    """Where a compiler links it in: PyTorch has another one, and theirs must not be mixed."""
    if sys.platform != "linux" or shutil.which("nm") is None:
        pytest.skip("nm lists the symbols of libraries for Linux")
    command = ["nm", "-DC", "--defined-only", str(library)]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    mixed = re.findall(r"std::(?:__cxx11::)?(?:locale|codecvt|basic_o?stream|num_put)\b.*", names)
    assert not mixed, mixed[:5]


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="needs the compiled operators")
def test_refused_memory_is_an_error() -> None:
    """The message is put together in C++, by the run-time library that was linked."""
    message = subprocess.run(
        [sys.executable, "-c", REFUSED], capture_output=True, text=True, timeout=120, check=True
    ).stdout
    assert "new_empty" in message


REFUSED = """
import torch, torchcent
ids = torch.zeros((2, 10), dtype=torch.int32)
try:
    torch.ops.torchcent.csr(ids, 2**58, False, 1)
except RuntimeError as error:
    print(error)
"""

CUDA_WHEEL = """
import torch
loaded = []
load = torch.ops.load_library
torch.ops.load_library = lambda path: (
    loaded.append(str(path)) if "CUDA" in str(path) else load(path)
)
torch.version.cuda = "13.0"
import torchcent
print(*loaded, sep=chr(10))
print(torchcent.show_config())
"""


def cuda_wheel(folder: Path, major: str, version: str) -> Path:
    """As pip would install a wheel of tools/cuda_wheels.py."""
    package = folder / f"torchcent_cu{major}"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "_CUDA.abi3.so").touch()
    metadata = folder / f"torchcent_cu{major}-{version}.dist-info"
    metadata.mkdir()
    metadata.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.4\nName: torchcent-cu{major}\nVersion: {version}\n"
    )
    return package / "_CUDA.abi3.so"


def own_metadata(folder: Path, version: str) -> None:
    metadata = folder / f"torchcent-{version}.dist-info"
    metadata.mkdir()
    metadata.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.4\nName: torchcent\nVersion: {version}\n"
    )


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="needs the compiled library")
@pytest.mark.parametrize(
    ("major", "version", "says"),
    [
        ("13", "7.8.9", "kernels of torchcent-cu13 7.8.9"),
        ("12", "7.8.9", "no kernels: torchcent-cu13 is not installed"),
        ("13", "7.8.8", "no kernels: torchcent-cu13 is 7.8.8, torchcent 7.8.9"),
    ],
)
def test_cuda_kernels_of_a_wheel_are_found(
    unbuilt: Path, major: str, version: str, says: str
) -> None:
    """Of the major version of PyTorch's CUDA and of the same version as torchcent."""
    shutil.copytree(PACKAGE.parent / "_torchcent_command", unbuilt / "_torchcent_command")
    own_metadata(unbuilt, "7.8.9")
    library = cuda_wheel(unbuilt, major, version)
    extension = {"TORCHCENT_NO_EXTENSION": "", "TORCHCENT_LIBRARY": str(PACKAGE / "_C.abi3.so")}
    run = python(CUDA_WHEEL, unbuilt, **extension)
    assert run.returncode == 0, run.stderr
    loaded, shown = run.stdout.split("\n", 1)
    taken = says.startswith("kernels")
    assert loaded == (str(library) if taken else "")
    assert config(shown)["cuda"] == says
    assert config(shown)["kernels"].endswith(", CUDA") == taken


@pytest.mark.slow
def test_show_config_says_that_pytorch_has_no_cuda() -> None:
    code = (
        "import torch; torch.version.cuda = None; import torchcent\nprint(torchcent.show_config())"
    )
    run = python(code, PACKAGE.parent)
    assert run.returncode == 0, run.stderr
    assert config(run.stdout)["cuda"] == "no kernels: this PyTorch is built without CUDA"


@pytest.mark.slow
def test_kernels_can_be_limited_to_portable_code() -> None:
    if os.environ.get("TORCHCENT_NO_EXTENSION"):
        pytest.skip("TORCHCENT_NO_EXTENSION is set: there are no kernels")
    code = STAR + "print(torchcent.show_config())"
    run = python(code, PACKAGE.parent, TORCHCENT_SIMD="portable")
    assert run.returncode == 0, run.stderr
    scores, *shown = run.stdout.splitlines()
    assert scores == "[1.0, 0.0, 0.0, 0.0]"
    assert config("\n".join(shown))["kernels"] == "portable"


def test_types_are_shipped() -> None:
    assert (PACKAGE / "py.typed").is_file()


def test_version_is_the_project_s() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert torchcent.__version__ == project["version"]


def test_public_names_exist() -> None:
    missing = [name for name in torchcent.__all__ if not hasattr(torchcent, name)]
    assert missing == []


@pytest.mark.slow
def test_optional_packages_are_not_imported() -> None:
    optional = ["pyarrow", "matplotlib", "torch_geometric", "scipy", "networkx"]
    code = f"import gc, sys, torchcent; print([x for x in {optional} if x in sys.modules])"
    run = python(code + "\nprint(gc.isenabled())", PACKAGE.parent)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["[]", "True"]


FAILS = """
import gc, torch
for before in (gc.enable, gc.disable):
    before()
    try:
        import torchcent
    except ImportError:
        print(gc.isenabled())
"""


@pytest.mark.slow
def test_import_leaves_the_collector_as_it_was(unbuilt: Path) -> None:
    """It is paused meanwhile, also where the import fails."""
    run = python(FAILS, unbuilt, TORCHCENT_NO_EXTENSION="")
    assert run.stdout.split() == ["True", "False"], run.stderr
    works = "import gc, torch; gc.disable()\nimport torchcent; print(gc.isenabled())"
    run = python(works, PACKAGE.parent, TORCHCENT_NO_EXTENSION="")
    assert run.stdout.split() == ["False"], run.stderr


def test_readme_examples_print_what_they_say() -> None:
    text = (ROOT / "README.md").read_text()
    examples = re.findall(r"^```pycon\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert examples
    known: dict[str, object] = {}  # an example may go on where the one before it ended
    for number, example in enumerate(examples):
        test = doctest.DocTestParser().get_doctest(example, known, f"README {number}", None, 0)
        assert test.examples
        assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
        known = test.globs


def pictures(notebook: dict[str, Any]) -> int:
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


#: what is changed in notebooks that take long, so that they do less of the same
SMALLER = {
    "graph_transformer": ("epochs=8", "epochs=1"),
    "own_measure": ("LocalDimension(10)", "LocalDimension(3)"),
}


@pytest.mark.slow
@pytest.mark.sweep(cases=1)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_runs(path: Path, tmp_path: Path) -> None:
    if importlib.util.find_spec("ipykernel") is None:
        pytest.skip("ipykernel is not installed")
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("matplotlib")
    notebook = nbformat.read(path, as_version=4)
    if path.stem in SMALLER:
        long, short = SMALLER[path.stem]
        (cell,) = (cell for cell in notebook.cells if long in cell.source)
        cell.source = cell.source.replace(long, short)
    shutil.copytree(path.parent / "data", tmp_path / "data")
    resources = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(notebook, timeout=300, resources=resources)
    client.execute(env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)})
    assert pictures(notebook) == pictures(nbformat.read(path, as_version=4)) > 0


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_carries_its_outputs(path: Path) -> None:
    """Those of one run from the first cell to the last (tools/notebooks.py)."""
    cells = [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {
        "stream",
        "display_data",
        "execute_result",
    }
    assert all(output.get("name") != "stderr" for output in outputs)
