"""How the package is built: without a compiler, without the extension, in place, with progress."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("setuptools")

ROOT = Path(__file__).resolve().parents[1]
HOOK = "import sys; sys.path.insert(0, 'tools'); import build_backend as backend; print({})"
# What ninja writes, through the descriptor that its child would inherit.
NINJA = r"""
import os, subprocess, sys
sys.path.insert(0, "tools")
import kernels
with kernels.progress():
    lines = ["[1/2] 0.71 c++ -MMD -Icsrc -c {0}/csrc/core/x.cpp -o x.o", "a.h:1: warning: w",
             "[2/2] 12.40 c++ -MMD -Icsrc -c {0}/csrc/paths/cpu/x.cpp -o y.o", "ninja: nothing"]
    subprocess.run(["printf", "%s\\n", *(line.format(os.getcwd()) for line in lines)], stdout=1)
print("over")
"""

if not (ROOT / "setup.py").exists():
    pytest.skip("needs a checkout", allow_module_level=True)


def python(code: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=known | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_build_without_a_compiler_says_how_to_install_one(kind: str, tmp_path: Path) -> None:
    code = HOOK.format(f"backend.get_requires_for_build_{kind}()")
    run = python(code, PATH=str(tmp_path))
    assert run.returncode == 1
    assert "TORCHCENT_NO_EXTENSION=1 pip install ." in run.stderr
    last = run.stderr.splitlines()[-1]
    assert "install g++" in last
    for command in ("apt install g++", "dnf install gcc-c++", "conda install -c conda-forge"):
        assert command in last
    named = python(code, PATH=os.environ["PATH"], CXX="no-such-c++ -x")
    assert "no C++ compiler (no-such-c++)" in named.stderr


@pytest.mark.slow
def test_build_without_the_extension(tmp_path: Path) -> None:
    """Neither compiler nor PyTorch; the wheel is for any platform, in place is a path."""
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "_torchcent_networkx.py"):
        shutil.copy(ROOT / name, tmp_path)
    for folder in ("tools", "csrc/include", "torchcent", "_torchcent_command"):
        ignore = shutil.ignore_patterns("*.so", "__pycache__", "installed_without_extension")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignore)
    (tmp_path / "in_place").mkdir()
    builds = "backend.build_wheel('.'), backend.build_editable('in_place')"
    code = "import sys; sys.modules['torch'] = None\n" + HOOK.format(builds)
    run = python(code, tmp_path, PATH=str(tmp_path), TORCHCENT_NO_EXTENSION="1")
    assert run.returncode == 0, run.stderr
    (wheel,) = tmp_path.glob("torchcent-*-py3-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "torchcent/installed_without_extension" in names
    assert "torchcent/include/csr.h" in names
    (in_place,) = (tmp_path / "in_place").glob("*.whl")
    inside = zipfile.ZipFile(in_place)
    (path,) = (name for name in inside.namelist() if name.endswith(".pth"))
    assert inside.read(path).decode().split() == [str(tmp_path)]


@pytest.mark.slow
def test_a_source_archive_has_what_a_checkout_has() -> None:
    """All that MANIFEST.in names, besides the packages, which are found without it."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("needs git")
    code = (
        "import setuptools; from distutils.filelist import FileList; files = FileList();"
        "files.findall('.'); [files.process_template_line(line.strip()) "
        "for line in open('MANIFEST.in') if line.strip()]; print(*files.files, sep='\\n')"
    )
    packed = {os.path.normpath(name) for name in python(code).stdout.splitlines()}
    of_packages = ("torchcent/", "_torchcent_", ".", "pyproject.toml", "setup.py", "README.md")
    left = [x for x in listed.stdout.splitlines() if x not in packed]
    assert {x for x in left if not x.startswith(of_packages)} == {"LICENSE", "MANIFEST.in"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tag", "library"), [("macosx_14_0_arm64", "_C.abi3.so"), ("win_amd64", "_C.pyd")]
)
def test_wheel_of_a_library_for_another_platform(tmp_path: Path, tag: str, library: str) -> None:
    """As tools/wheels.py builds it: neither a compiler nor PyTorch has a part in it."""
    shutil.copytree(ROOT / "csrc/include", tmp_path / "csrc/include")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "_torchcent_networkx.py"):
        shutil.copy(ROOT / name, tmp_path)
    for folder in ("tools", "torchcent", "_torchcent_command"):
        ignore = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignore)
    (tmp_path / library).write_bytes(b"for another platform")
    code = "import runpy, sys; sys.modules['torch'] = None; sys.argv = ['', '-q', 'bdist_wheel'];"
    built = {"TORCHCENT_PREBUILT": library, "TORCHCENT_PLATFORM": tag}
    run = python(code + "runpy.run_path('setup.py')", tmp_path, PATH=str(tmp_path), **built)
    assert run.returncode == 0, run.stderr
    (wheel,) = (tmp_path / "dist").iterdir()
    assert wheel.name.endswith(f"-py3-none-{tag}.whl")
    inside = zipfile.ZipFile(wheel)
    assert inside.read(f"torchcent/{library}") == b"for another platform"
    assert "torchcent/include/csr.h" in inside.namelist()


@pytest.mark.slow
def test_wheel_of_cuda_kernels(tmp_path: Path) -> None:
    """As tools/cuda_wheels.py builds it: the library, and torchcent of the same version."""
    shutil.copytree(ROOT / "tools/cuda_package", tmp_path / "cuda")
    library = tmp_path / "_CUDA.abi3.so"
    library.write_bytes(b"kernels")
    built = {
        "TORCHCENT_PREBUILT": str(library),
        "TORCHCENT_PLATFORM": "manylinux_2_28_x86_64",
        "TORCHCENT_CUDA_MAJOR": "13",
        "TORCHCENT_VERSION": "7.8.9",
        "PYTHONPATH": str(ROOT / "tools"),
    }
    code = "import runpy, sys; sys.argv = ['', '-q', 'bdist_wheel']; runpy.run_path('setup.py')"
    run = python(code, tmp_path / "cuda", PATH=str(tmp_path), **built)
    assert run.returncode == 0, run.stderr
    (wheel,) = (tmp_path / "cuda/dist").iterdir()
    assert wheel.name == "torchcent_cu13-7.8.9-py3-none-manylinux_2_28_x86_64.whl"
    inside = zipfile.ZipFile(wheel)
    assert inside.read("torchcent_cu13/_CUDA.abi3.so") == b"kernels"
    metadata = inside.read("torchcent_cu13-7.8.9.dist-info/METADATA").decode()
    assert "Requires-Dist: torchcent==7.8.9\n" in metadata
    assert "Root-Is-Purelib: false" in inside.read("torchcent_cu13-7.8.9.dist-info/WHEEL").decode()


KERNELS = """
import os, sys, torch
sys.path.insert(0, "tools")
import kernels
for processor in ("AVX512", "AVX2", "DEFAULT"):
    torch.backends.cpu.get_cpu_capability = lambda: processor
    for wanted in ("all", "native"):
        os.environ["TORCHCENT_KERNELS"] = wanted
        print(*(path.stem for path in kernels.cpu_sources()))
os.environ["TORCHCENT_KERNELS"] = "fast"
kernels.cpu_sources()
"""
NATIVE = (
    {"lane_kernels_avx512", "scalar_kernels_avx2"},
    {"lane_kernels_avx2", "scalar_kernels_avx2"},
    {"lane_kernels_portable", "scalar_kernels_portable"},
)


@pytest.mark.slow
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="other machines have one kind of kernel")
def test_native_kernels_are_those_of_the_machine() -> None:
    pytest.importorskip("torch.utils.cpp_extension")
    run = python(KERNELS, PATH=os.environ["PATH"])
    assert run.returncode == 1
    assert run.stderr.strip() == "TORCHCENT_KERNELS must be all or native, got fast"
    lines = [set(line.split()) for line in run.stdout.splitlines()]
    for native, every, some in zip(NATIVE, lines[::2], lines[1::2], strict=True):
        left_out = every - some
        assert native <= some < every
        assert len(left_out) == 3 and all("_kernels_" in name for name in left_out)


# A library whose only kernels are those of another processor reports the level -1.
FOREIGN = """
import torch
torch.ops.load_library = lambda path: None
class Operators:
    simd = staticmethod(lambda: -1)
torch.ops.torchcent = Operators
import torchcent
"""


@pytest.mark.slow
def test_kernels_for_another_processor_are_refused() -> None:
    run = python(FOREIGN, PATH=os.environ["PATH"], TORCHCENT_SIMD="avx2")
    assert run.returncode == 1
    last = run.stderr.splitlines()[-1]
    assert last.startswith("ImportError") and "TORCHCENT_SIMD=avx2" in last
    assert "TORCHCENT_KERNELS=native" in last and "pip install ." in last


@pytest.mark.slow
def test_progress_is_a_line_per_file() -> None:
    pytest.importorskip("torch.utils.cpp_extension")
    run = python(NINJA, PATH=os.environ["PATH"])
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        "    1 s  [1/2] csrc/core/x.cpp",
        "a.h:1: warning: w",
        "   12 s  [2/2] csrc/paths/cpu/x.cpp",
        "over",
    ]
