"""Builds the package: the compiled libraries (tools/kernels.py) and the headers for users.

With TORCHCENT_NO_EXTENSION=1, the variable that has the same meaning at run time, nothing is
compiled, and neither a compiler nor PyTorch is needed. A file in the package then says that it was
installed this way (torchcent/runtime/_ops.py).

With TORCHCENT_PREBUILT=PATH and TORCHCENT_PLATFORM=TAG, a wheel for that platform has this library
(tools/wheels.py). Wheels with a library serve every Python (tools/platform_wheel.py)."""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

HEADERS = Path("csrc/include/torchcent")
prebuilt = os.environ.get("TORCHCENT_PREBUILT")
compiled = os.environ.get("TORCHCENT_NO_EXTENSION", "") in ("", "0")
# pip asks for the metadata in processes of their own, which would import PyTorch for nothing.
only_metadata = not {"egg_info", "dist_info"}.isdisjoint(sys.argv)


class BuildPackage(build_py):
    """Adds the headers for users (torchcent.include_path()), which a checkout has in csrc."""

    def run(self) -> None:
        super().run()
        package = Path("" if self.editable_mode else self.build_lib, "torchcent")
        without = package / "installed_without_extension"
        if compiled:
            without.unlink(missing_ok=True)
        else:
            without.touch()
        if not self.editable_mode:
            self.mkpath(str(package / "include"))
            for header in sorted(HEADERS.iterdir()):
                self.copy_file(str(header), str(package / "include" / header.name))


def manual() -> list[tuple[str, list[str]]]:
    """The manual pages of the command, for share/man; none without what writes them."""
    sys.path.insert(0, str(Path(__file__).parent))
    from _torchcent_command._man import pages

    try:
        texts = pages()
    except ImportError as error:
        print(f"torchcent: without manual pages: {error}", file=sys.stderr)
        return []
    folder = Path("build", "man")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.1").write_text(text, encoding="utf-8")
    return [("share/man/man1", [str(folder / f"{name}.1") for name in texts])]


commands: dict[str, type] = {"build_py": BuildPackage}
extensions = []
if compiled:
    sys.path.insert(0, str(Path(__file__).parent / "tools"))
    from platform_wheel import CopyLibrary, PlatformWheel

    commands["bdist_wheel"] = PlatformWheel
if prebuilt:
    commands["build_ext"] = CopyLibrary
    extensions = [Extension("torchcent._C", [], py_limited_api=True)]
elif compiled and not only_metadata:
    import kernels

    commands["build_ext"] = kernels.BuildKernels
    extensions = kernels.extensions()

setup(
    ext_modules=extensions,
    cmdclass=commands,
    data_files=[] if only_metadata else manual(),
)
