"""The build backend: setuptools, with the PyTorch that is already installed.

pip builds in an isolated environment, where the PyTorch of the environment it was called from
cannot be imported; naming torch as a build requirement would fetch a second one of several GB.
So the build looks at the invoking environment as well, behind its own. Only if there is no PyTorch
either is it asked for as a build requirement. Which version builds the extension does not matter:
it uses the stable ABI.
"""

import importlib.util
import site
import sys
import sysconfig
from typing import Any

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


def _with_torch(requires: list[str]) -> list[str]:
    return requires if importlib.util.find_spec("torch") else [*requires, "torch>=2.10"]


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return _with_torch([])


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    return _with_torch([])


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    return _with_torch([])
