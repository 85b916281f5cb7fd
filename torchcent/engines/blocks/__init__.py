"""Blocks of a graph that are searched one by one, and what they count in closed form."""
