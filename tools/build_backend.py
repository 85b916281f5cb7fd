"""The build backend: setuptools, with the PyTorch that is already installed.

pip builds in an isolated environment, where the PyTorch of the environment it was called from
cannot be imported. Naming torch as a build requirement would fetch a second one of several GB. So
the build looks at the invoking environment as well, behind its own. Only if there is no PyTorch
either is it asked for as a build requirement. Which version builds the extension does not matter:
it uses the stable ABI.

Before any of that, it says what to do where there is no compiler.
"""

import importlib.util
import os
import shlex
import shutil
import site
import sys
import sysconfig
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

Settings = dict[str, Any] | None

for path in [
    sysconfig.get_path("purelib"),
    sysconfig.get_path("platlib"),
    *site.getsitepackages(),
    site.getusersitepackages(),
]:
    if path not in sys.path:
        sys.path.append(path)


NO_COMPILER = """\
torchcent: no C++ compiler ({}) was found.
Without one, the tensor engine alone can be installed: TORCHCENT_NO_EXTENSION=1 pip install .
To compile the kernels, install g++: apt install g++ (Debian, Ubuntu), dnf install gcc-c++ \
(Fedora), conda install -c conda-forge cxx-compiler (conda)"""


def _needed(compiler: bool = True) -> list[str]:
    """What is needed beyond setuptools; ends the build if there is no compiler."""
    if os.environ.get("TORCHCENT_NO_EXTENSION", "") not in ("", "0"):
        return []
    command = shlex.split(os.environ.get("CXX", "")) or ["c++"]  # PyTorch's choice
    if compiler and shutil.which(command[0]) is None:
        sys.exit(NO_COMPILER.format("g++" if command == ["c++"] else command[0]))
    return [] if importlib.util.find_spec("torch") else ["torch>=2.10"]


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return _needed()


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    return _needed()


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    return _needed(compiler=False)


def prepare_metadata_for_build_wheel(folder: str, config_settings: Settings = None) -> str:
    _needed()  # pip asks for no requirements with --no-build-isolation
    return build_meta.prepare_metadata_for_build_wheel(folder, config_settings)


def prepare_metadata_for_build_editable(folder: str, config_settings: Settings = None) -> str:
    _needed()
    return build_meta.prepare_metadata_for_build_editable(folder, config_settings)
