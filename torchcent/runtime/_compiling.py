"""Public functions under torch.compile: the graph breaks once at a call, and nothing is traced."""

from __future__ import annotations

import contextlib
from typing import Any

_SAID = "torch.compile captures the functions of torchcent.functional"


def outside(function: Any) -> None:
    """As torch.compiler.disable, which would import the compiler: seconds for every user.

    The compiler knows a disabled function by these attributes and breaks the graph at its call. The
    strategy has it leave alone the frame of the call, and those of all that it calls.
    """
    function._torchdynamo_disable = True
    function._torchdynamo_disable_msg = _SAID
    with contextlib.suppress(ImportError, AttributeError):  # private: it may move
        from torch._C._dynamo import eval_frame

        skip = eval_frame._FrameAction.SKIP
        strategy = eval_frame._FrameExecStrategy(skip, skip)
        eval_frame.set_code_exec_strategy(function.__code__, strategy)
