"""Markov clustering: flow, engines, iteration loop, interpretation, quality.

Terminology: the *flow* is the column-stochastic matrix M, whose column j is the distribution of the
walker's next vertex from vertex j. An *entry* is a stored (row, value) of a column. *Expansion* is
M^e. *Inflation* raises entries to the power r and rescales columns. *Pruning* cuts, recovers and
selects entries after expansion. *Chaos* measures how far columns are from having equal entries
(docs/clustering.md).
"""
