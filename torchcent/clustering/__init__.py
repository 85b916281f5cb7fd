"""Markov clustering: flow, engines, the loop over iterations, interpretation, quality.

The words: the *flow* is the column-stochastic matrix M, whose column j says where the walker goes
from vertex j; an *entry* is a stored (row, value) of a column; *expansion* is M^e, *inflation*
raises entries to the power r and rescales columns; *pruning* cuts, recovers and selects entries
after expansion; *chaos* tells how far columns are from equal entries (docs/clustering.md).
"""
