"""Searches of a plan: their units and calls, number formats, operators."""
