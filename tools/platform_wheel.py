"""Commands of setuptools for a wheel with a library that has no function of Python's.

PyTorch loads the library, and Python never imports it. So a wheel serves every Python, those
without a global lock as well, which have no stable ABI before 3.15."""

import os

from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext


class PlatformWheel(bdist_wheel):
    """For any Python on the platform TORCHCENT_PLATFORM, by default this one."""

    def finalize_options(self) -> None:
        self.plat_name = self.plat_name or os.environ.get("TORCHCENT_PLATFORM")
        super().finalize_options()

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class CopyLibrary(build_ext):
    """Takes the library TORCHCENT_PREBUILT, which is there."""

    def get_ext_filename(self, fullname: str) -> str:
        name = os.path.basename(os.environ["TORCHCENT_PREBUILT"])
        return os.path.join(*fullname.split(".")[:-1], name)

    def build_extension(self, extension: object) -> None:
        self.copy_file(os.environ["TORCHCENT_PREBUILT"], self.get_ext_fullpath(extension.name))
