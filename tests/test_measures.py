"""The registry of measures against the public functions that it describes."""

import inspect

import pytest
import torch
from surface import call

import torchcent
from torchcent.engines import _measures, _tensor, _tiny
from torchcent.engines._measures import FEATURES, MEASURES

PUBLIC = [x for x in MEASURES.values() if x.public]
PATH = torch.tensor([[0, 1, 2], [1, 2, 3]])


@pytest.mark.parametrize("measure", PUBLIC, ids=lambda x: x.name)
def test_rows_say_what_the_functions_do(measure):
    function = getattr(torchcent, measure.name)
    options = inspect.signature(function).parameters
    if "normalized" in options:
        assert options["normalized"].default is measure.normalized
    if measure.family == "paths":
        # A result per column of edge_index, or per vertex.
        needed = {measure.weighted_by: torch.ones(4)} if measure.weighted_by else {}
        found = call(function, PATH, directed=False, **needed)
        assert found.numel() == (3 if measure.per_slot else 4)
        assert measure.visitor is not None
    else:
        assert measure.visitor is None
    reduced = torchcent.Run(reduce="none")
    if measure.family == "paths":
        function(PATH, directed=False, run=reduced, **needed)
    else:
        with pytest.raises(ValueError, match=f"{measure.name} does not use reduce='none'"):
            function(PATH, directed=False, run=reduced)
    assert torchcent.explain(PATH, measure=measure.name, directed=False).engine == "tiny"


def test_engines_have_what_the_rows_name():
    for measure in MEASURES.values():
        assert measure.tiny in (*_tiny.OUTPUTS, "")
        assert measure.folds in ("all", "one", "no")
        if measure.family == "paths":
            assert measure.visitor in _tensor.VISITORS
    assert not set(_measures.names("paths")) & set(_measures.names("distances"))


def test_features_are_of_measures():
    assert set(FEATURES.values()) - {""} <= set(MEASURES)
    found = torchcent.node_features(
        PATH, measures=list(FEATURES), states=torch.ones(4), directed=False
    )
    assert found.shape == (4, len(FEATURES))


@pytest.mark.parametrize("name", [x.name for x in MEASURES.values() if not x.public] + ["speed"])
def test_what_is_not_public_cannot_be_named(name):
    with pytest.raises(ValueError, match="measure must be one of betweenness"):
        torchcent.explain(PATH, measure=name)
