"""Reports how a measure would run, of one graph or of all graphs of a batch."""
