"""The public names and signatures: what others have written against.

`python tests/test_public.py` prints them as the file beside this one holds them. A name or an
argument that is gone, a default that changed or a new order is a break; CHANGELOG.md has the rule.
"""

import contextlib
import functools
import inspect
import json
import types
from collections.abc import Callable
from pathlib import Path

import pytest

import torchcent

FILE = Path(__file__).with_name("public.json")
MODULES = ("torchcent", "torchcent.functional", "torchcent.generate", "torchcent.io",
           "torchcent.plot", "torchcent.cluster_plot", "torchcent.transforms")  # fmt: skip


def arguments(function: Callable[..., object]) -> str:
    """Names, kinds and defaults; annotations are written differently by versions of Python."""
    found = inspect.signature(function)
    bare = [
        x.replace(annotation=inspect.Parameter.empty)
        for x in found.parameters.values()
        if not x.name.startswith("_")
    ]
    return str(inspect.Signature(bare))


def described(value: object) -> object:
    """A signature as text; of a class that of its constructor and of its public members."""
    if isinstance(value, type):
        ours = [x for x in reversed(value.__mro__) if x.__module__.startswith("torchcent.")]
        held = {name: member for one in ours for name, member in vars(one).items()}
        members = {
            name: described(member)
            for name, member in sorted(held.items())
            if not name.startswith("_") and not isinstance(member, types.MemberDescriptorType)
        }
        with contextlib.suppress(ValueError):
            members["()"] = arguments(value)
        return members
    if isinstance(value, classmethod | staticmethod):
        return arguments(value.__func__)
    if callable(value) and not isinstance(value, functools.cached_property):
        return arguments(value)
    return "value"


def public() -> dict[str, dict[str, object]]:
    found = {}
    for name in MODULES:
        if name.endswith("transforms"):
            pytest.importorskip("torch_geometric")
        module = __import__(name, fromlist=["_"])
        names = getattr(module, "__all__", None)
        if names is None:
            own = (key for key, value in vars(module).items() if inspect.isfunction(value))
            names = [x for x in own if getattr(module, x).__module__ == name and x[0] != "_"]
        found[name] = {
            key: described(getattr(module, key))
            for key in sorted(names)
            if not isinstance(getattr(module, key), types.ModuleType | str)
        }
    return found


def test_public_names_and_signatures():
    """All that was there is there, as it was; what is new is added to the file."""
    assert public() == json.loads(FILE.read_text())


def test_every_public_name_has_a_docstring():
    for name in torchcent.__all__:
        value = getattr(torchcent, name)
        if name != "__version__":
            assert inspect.getdoc(value), name


if __name__ == "__main__":
    print(json.dumps(public(), indent=1))
