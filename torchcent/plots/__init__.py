"""Figures of scores and clusterings."""
