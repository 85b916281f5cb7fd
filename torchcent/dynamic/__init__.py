"""Graphs that change, and scores that follow.

_graph.py has the arcs and their updates, _rows.py the rows of sources, the other files measures.
"""
