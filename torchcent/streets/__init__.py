"""Measures of streets: balls around each vertex, sums over what is within reach, angles."""
