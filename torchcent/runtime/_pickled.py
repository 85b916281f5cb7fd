"""What the pickle in a file of torch.save names, read without executing any of it."""

from __future__ import annotations

import re

_GLOBAL = re.compile(rb"c([\w.]+)\n([\w.]+)\n")  # the opcode GLOBAL: module, name


def unexpected(content: bytes, accepted: re.Pattern[bytes]) -> str | None:
    """The first global of a pickle that is not accepted; the pattern matches ``module name``."""
    for module, name in _GLOBAL.findall(content):
        if not accepted.fullmatch(module + b" " + name):
            return f"{module.decode()}.{name.decode()}"
    return None
