"""How tests run programs that report how much memory they have taken."""

import os

# Blocks above this size go back to the system as soon as they are freed. By default, glibc raises
# the size with what was freed before, and a peak of resident memory is then one of what was taken
# at some time, up to twice what is held.
GIVING_BACK = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
