"""Doctests: of what needs an optional package they are left out where that is missing."""

from importlib.util import find_spec

import pytest

collect_ignore = [] if find_spec("torch_geometric") else ["torchcent/transforms"]


@pytest.fixture(autouse=True)
def names_of_generators(request):
    """Examples of torchcent.generate use its functions, whichever file of it they are in."""
    if request.node.name.startswith("torchcent.generate."):
        from torchcent import generate

        request.node.dtest.globs.update(
            {name: getattr(generate, name) for name in generate.__all__}
        )
