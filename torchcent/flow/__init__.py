"""Measures of current flow: a graph as a network of resistors."""
