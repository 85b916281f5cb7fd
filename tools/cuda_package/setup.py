"""A wheel of the CUDA kernels alone, which tools/cuda_wheels.py builds in a copy of this folder.

Of the environment it takes the library (TORCHCENT_PREBUILT), the tag (TORCHCENT_PLATFORM), the
major version of CUDA (TORCHCENT_CUDA_MAJOR) and the version of torchcent (TORCHCENT_VERSION)."""

import os

from platform_wheel import CopyLibrary, PlatformWheel
from setuptools import Extension, setup

major, version = os.environ["TORCHCENT_CUDA_MAJOR"], os.environ["TORCHCENT_VERSION"]
name = f"torchcent_cu{major}"
setup(
    name=name.replace("_", "-"),
    version=version,
    description=f"CUDA kernels of torchcent, for a PyTorch with CUDA {major}",
    long_description=f"torchcent {version} loads them when it is imported. They have no use alone.",
    long_description_content_type="text/plain",
    license_expression="BSD-3-Clause",
    python_requires=">=3.11",
    install_requires=[f"torchcent=={version}"],
    packages=[name],
    package_dir={name: "package"},
    ext_modules=[Extension(f"{name}._CUDA", [], py_limited_api=True)],
    cmdclass={"build_ext": CopyLibrary, "bdist_wheel": PlatformWheel},
)
