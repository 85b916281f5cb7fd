"""Measures that sum or compare distances: closeness, harmonic, eccentricity to diameter."""
