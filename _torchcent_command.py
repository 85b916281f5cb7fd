"""The command ``torchcent``, which handles Ctrl-C from the start.

This is a separate module outside of the package. Importing the package takes a second or two
(PyTorch), and an interrupt during the import would end in a traceback, or in an ImportError of a
partially loaded library.
"""

import os
import signal
from types import FrameType
from typing import NoReturn


def main() -> int:
    """The entry point of the console script; returns the exit status."""
    # Background jobs of a shell ignore Ctrl-C; this setting is kept.
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
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is done
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        status = INTERRUPTED
    return status


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Terminates the process while there is nothing to clean up."""
    os.write(2, b"torchcent: interrupted\n")
    os._exit(130)
