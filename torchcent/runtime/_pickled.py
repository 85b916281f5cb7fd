"""What the pickle in a file of torch.save names, read without executing any of it."""

from __future__ import annotations

import re

_GLOBAL = rb"c([\w.]+)\n([\w.]+)\n"  # the opcode GLOBAL: module, name


def unexpected(content: bytes, accepted: bytes) -> str | None:
    """The first global of a pickle that is not accepted; the pattern matches ``module name``."""
    for module, name in re.findall(_GLOBAL, content):
        if not re.fullmatch(accepted, module + b" " + name):
            return f"{module.decode()}.{name.decode()}"
    return None
