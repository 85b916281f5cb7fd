"""``python -m torchcent``: the command line."""

import sys

from torchcent.cli import main

if __name__ == "__main__":
    sys.exit(main())
