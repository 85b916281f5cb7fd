"""The command ``torchcent``, which answers Ctrl-C from its first line on.

A module of its own, outside of the package: importing that takes a second or two (PyTorch), and an
interrupt within it would end in a traceback, or in an ImportError of a library half loaded.
"""

import os
import signal
from types import FrameType
from typing import NoReturn


def main() -> int:
    """The entry point of the console script: returns the exit status."""
    # Whoever starts a job in the background has it ignore Ctrl-C; then it stays so.
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _leave)
    from torchcent.cli import main as command
    from torchcent.runtime._interrupt import INTERRUPTED, interrupt

    try:
        if ours:
            signal.signal(signal.SIGINT, interrupt)
        status = command()
        if ours:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is done: leave in peace
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        status = INTERRUPTED
    return status


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Ends the process where there is nothing to clean up yet."""
    os.write(2, b"torchcent: interrupted\n")
    os._exit(130)
