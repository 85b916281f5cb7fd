"""Little work without waking PyTorch's threads.

Most of PyTorch's operators use one thread below some 32,768 numbers. repeat_interleave wakes all of
them for any number, which takes milliseconds where the cores are busy.
"""

import numpy as np
import torch
from torch import Tensor

ALONE = 2**15
"""Numbers up to which one thread does the work."""


def repeat_interleave(
    values: Tensor, counts: Tensor | None = None, *, output_size: int | None = None
) -> Tensor:
    """torch.repeat_interleave of the first dimension; without counts, `values` are the counts."""
    few = values.device.type == "cpu" and values.shape[0] <= ALONE
    if few and (output_size is None or output_size <= ALONE):
        number = (values if counts is None else counts).numpy()
        if counts is None:
            return torch.from_numpy(np.arange(values.shape[0], dtype=np.int64).repeat(number))
        return torch.from_numpy(values.detach().numpy().repeat(number, 0))
    if counts is None:
        return torch.repeat_interleave(values, output_size=output_size)
    return torch.repeat_interleave(values, counts, 0, output_size=output_size)
