"""The version, without importing PyTorch."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path


def version() -> str:
    """Of the installed package, or of the checkout that was built in place."""
    try:
        return installed("torchcent")
    except PackageNotFoundError:
        project = Path(__file__).parents[1] / "pyproject.toml"
        if not project.is_file():
            return "unknown"
        import tomllib

        return f"{tomllib.loads(project.read_text())['project']['version']}+checkout"
