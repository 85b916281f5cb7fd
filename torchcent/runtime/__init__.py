"""The compiled library, codes, configuration, memory, progress and Ctrl-C, optional packages."""
