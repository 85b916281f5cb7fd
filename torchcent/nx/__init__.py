"""The NetworkX backend, called by NetworkX's dispatcher (docs/networkx.md).

NetworkX finds this module through its entry point, converts graphs with :func:`convert_from_nx`,
queries :func:`can_run` and :func:`should_run`, and calls the function of the same name. Each is
declared where it is written, by ``@backend``.
"""

from torchcent.runtime._optional import need

need("networkx", "networkx", "torchcent.nx")

from torchcent.nx import (  # noqa: E402, F401
    _betweenness,
    _closure,
    _communities,
    _derived,
    _distances,
    _flow,
    _groups,
    _lengths,
    _sums,
    _walks,
)
from torchcent.nx._declare import FUNCTIONS, can_run, should_run  # noqa: E402, F401
from torchcent.nx._graph import BackendGraph, convert_from_nx, convert_to_nx  # noqa: E402

globals().update(FUNCTIONS)
__all__ = ["BackendGraph", "can_run", "convert_from_nx", "convert_to_nx", "should_run"]
__all__ += FUNCTIONS
