"""Every TypeError and ValueError about several devices."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from torchcent.check import _common as check
from torchcent.check._values import wrong_type


def devices(value: object, home: torch.device) -> tuple[torch.device, ...]:
    """Devices of one kind, that of the graph first."""
    if isinstance(value, str) and value == "all":
        if home.type != "cuda":
            return (home,)
        every = [torch.device("cuda", at) for at in range(torch.cuda.device_count())]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        every = [_numbered(check.device(each, "each of devices")) for each in value]
    else:
        raise wrong_type("devices", "a sequence of devices or 'all'", value)
    home = _numbered(home)
    if home not in every:
        names = [str(each) for each in every]
        raise ValueError(
            f"devices={names} must include {home}, where the graph is; move the graph with .to()"
        )
    if len(set(every)) < len(every):
        raise ValueError(f"devices={[str(each) for each in every]} must be distinct")
    if any(each.type != home.type for each in every):
        raise ValueError(
            f"devices={[str(each) for each in every]} must be of one kind, so that the result does "
            "not depend on which of them computed what"
        )
    return (home, *(each for each in every if each != home))


def _numbered(device: torch.device) -> torch.device:
    """The same with its number."""
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return device
