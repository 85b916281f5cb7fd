"""What exponents.py calls: every public function."""

from __future__ import annotations

import warnings

import exponent_forms
import exponent_measures
from exponent_call import CALLS, Call

__all__ = ["CALLS", "LEFT_OUT", "Call", "exponent_forms", "exponent_measures"]

#: public functions that compute nothing on a graph
LEFT_OUT = {
    "include_path": "a path", "show_config": "a text", "io.replacing": "a context",
    "io.read": "as read", "io.write": "as write", "io.read_streets": "lines of other programs",
    "io.street_table": "their scores", "read_streets": "likewise", "street_table": "likewise",
    "plot": "figures", "cluster_plot": "figures",
}  # fmt: skip
warnings.simplefilter("ignore")
