"""Engine, lanes, threads and memory of a run, determined before any search."""
