"""Encodings of all pairs as operators of torchcent.functional: the values of torchcent's functions,
in one graph, of a shape that is known before."""

import inspect

import pytest
import torch
import torch._dynamo.testing
from graphs import DEVICE, edge_index

import torchcent
from torchcent import Run, functional

F64 = torch.float64
#: arguments, and what must hold of them in the place of the operator
FUNCTIONS = {
    "random_walk_pairs": [{"powers": 1}, {"powers": 4}],
    "heat_kernel_pairs": [
        {"times": 0.5}, {"times": [0, 1, 3]}, {"times": [2.0], "normalization": None},
        {"times": [1.0], "normalization": "rw"},
    ],
    "resistance_pairs": [{}, *({"kind": kind} for kind in ("commute", "hitting", "inverse"))],
}  # fmt: skip
CASES = [(name, options) for name, several in FUNCTIONS.items() for options in several]


def union():
    """A path, a vertex, and a triangle with a tail; weights and the batch."""
    pairs = [(0, 1), (1, 2), (2, 3), (5, 6), (6, 7), (7, 5), (7, 8)]
    index = edge_index(pairs + [(v, u) for u, v in pairs])
    weight = torch.tensor([1, 2, 0.5, 4, 1, 3, 2], device=DEVICE).repeat(2)
    batch = torch.tensor([0, 0, 0, 0, 1, 2, 2, 2, 2], device=DEVICE)
    return index, weight, batch


@pytest.mark.parametrize(("name", "options"), CASES)
def test_values(name, options):
    """Those of the function, then the padding, for graphs one by one and in a batch."""
    index, weight, batch = union()
    function, own = getattr(torchcent, name), getattr(functional, name)
    for weights in (None, weight):
        for dtype in (torch.float32, F64):
            run = Run(dtype=dtype)
            known = function(
                index, weights, batch=batch, max_nodes=6, padding=7, run=run, **options
            )
            found = own(
                index,
                weights,
                num_nodes=9,
                batch=batch,
                shape=(5, 6),
                padding=7,
                run=run,
                **options,
            )
            assert found.dtype == dtype and found.shape == (5, *known.shape[1:])
            torch.testing.assert_close(found[:3], known, rtol=0, atol=0)
            assert bool((found[3:] == 7).all())
    tail = index[:, (index >= 5).all(0)] - 5
    one = own(tail, num_nodes=4, shape=(1, 4), **options)
    torch.testing.assert_close(one, function(tail, **options), rtol=0, atol=0)
    nothing = own(index[:, :0], num_nodes=0, shape=(2, 3), padding=-1, **options)
    assert nothing.shape[:3] == (2, 3, 3) and bool((nothing == -1).all())


@pytest.mark.sweep
@pytest.mark.parametrize(("name", "options"), CASES)
def test_one_operator(name, options):
    """Without a break of the graph, and one compilation for all sizes."""
    own = getattr(functional, name)
    counter = torch._dynamo.testing.CompileCounter()

    def model(x, index, weight, batch):
        shape = x.shape[0] // 2, x.shape[0]
        found = own(index, weight, num_nodes=x.shape[0], batch=batch, shape=shape, **options)
        return 2 * found + x.sum()

    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, backend=counter, dynamic=True)
    index, weight, batch = union()
    for n in (9, 8):
        keep = (index < n).all(0)
        arguments = (torch.ones(n, device=DEVICE), index[:, keep], weight[keep], batch[:n].clone())
        torch.testing.assert_close(compiled(*arguments), model(*arguments), rtol=0, atol=0)
    assert counter.frame_count == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("random_walk_pairs", 3, [], None), ("heat_kernel_pairs", 0, [0.5, 2.0], "rw"),
        ("heat_kernel_pairs", 0, [1.0], None), ("resistance_pairs", 0, [], "commute"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("weighted", [False, True])
def test_opcheck(arguments, weighted):
    name, powers, times, form = arguments
    index, weight, batch = union()
    graph = (index, weight, batch, 9, 4, 5) if weighted else (index, None, None, 9, 1, 9)
    given = (name, *graph, None, powers, times, form, -1.0, F64)
    torch.library.opcheck(torch.ops.torchcent.pairs.default, given)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_are_those_of_the_function(name):
    own = inspect.signature(getattr(functional, name)).parameters
    public = inspect.signature(getattr(torchcent, name)).parameters
    assert own.keys() - {"shape"} == public.keys() - {"max_nodes"}
    for each in own.keys() - {"shape", "num_nodes"}:
        assert own[each].default == public[each].default, each


BAD = [
    ("random_walk_pairs", {"powers": 0}, ValueError, "powers"),
    ("random_walk_pairs", {"powers": 2, "shape": (1, 9)}, ValueError, "shape has 1 graphs"),
    ("random_walk_pairs", {"powers": 2, "shape": (3, 2)}, ValueError, "max_nodes=2 is less than"),
    ("random_walk_pairs", {"powers": 2, "shape": 3}, TypeError, "shape must be"),
    ("random_walk_pairs", {"powers": 2, "shape": (3, 2**28)}, MemoryError, "shape=.* needs"),
    ("random_walk_pairs", {"powers": 2, "padding": "0"}, TypeError, "padding"),
    ("random_walk_pairs", {"powers": 2, "num_nodes": None}, TypeError, "num_nodes"),
    ("heat_kernel_pairs", {"times": -1.0}, ValueError, "times"),
    ("heat_kernel_pairs", {"times": "1"}, TypeError, "times"),
    ("heat_kernel_pairs", {"times": 1, "normalization": "row"}, ValueError, "normalization"),
    ("resistance_pairs", {"kind": "drag"}, ValueError, "kind"),
    ("resistance_pairs", {"edge_weight": [1.0]}, TypeError, "edge_weight"),
    ("resistance_pairs", {"directed": 1}, TypeError, "directed"),
    ("resistance_pairs", {"run": Run(engine="lanes")}, ValueError, "engine"),
]


@pytest.mark.parametrize(("name", "options", "error", "message"), BAD)
def test_bad_input(name, options, error, message):
    index, _, batch = union()
    good = {"num_nodes": 9, "batch": batch, "shape": (3, 5)}
    with pytest.raises(error, match=message):
        getattr(functional, name)(index, **good | options)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_gradient_flows(name):
    index, weight, batch = union()
    options = FUNCTIONS[name][-1] | {"num_nodes": 9, "batch": batch, "shape": (3, 5)}
    with pytest.raises(ValueError, match="edge_weight requires grad"):
        getattr(functional, name)(index, weight.requires_grad_(), **options)
    given = name, index, weight, batch, 9, 3, 5, None, 2, [1.0], None, 0.0, F64
    if name == "resistance_pairs":
        given = (*given[:10], "commute", *given[11:])
    found = torch.ops.torchcent.pairs(*given)
    with pytest.raises(NotImplementedError, match="edge_weight"):
        found.sum().backward()
