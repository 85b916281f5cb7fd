"""What the pickle in a file of torch.save names, read without executing any of it."""

from __future__ import annotations

import pickletools
import re

_GLOBAL = rb"c([\w.]+)\n([\w.]+)\n"  # the opcode GLOBAL: module, name


def unexpected(content: bytes, accepted: bytes) -> str | None:
    """The first global of a pickle that is not accepted; the pattern matches ``module name``.

    What looks like one may be text, or a part of other opcodes. So what is found by a pattern, in a
    fraction of the time, is looked for again among the opcodes.

    Raises:
        ValueError: it is no pickle.
    """
    found = (module + b" " + name for module, name in re.findall(_GLOBAL, content))
    if all(re.fullmatch(accepted, name) for name in found):
        return None
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name == "GLOBAL" and not re.fullmatch(accepted, str(argument).encode()):
            return str(argument).replace(" ", ".")
    return None
