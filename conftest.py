"""Doctests of what needs an optional package are left out where that is missing."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch_geometric") else ["torchcent/transforms"]
