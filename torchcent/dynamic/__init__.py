"""Graphs that change, and scores that follow.

_graph.py has the graph and its updates, _arcs.py the arcs at one time, _rows.py rows of sources,
_samples.py samples, _saved.py files; the others are measures.
"""
