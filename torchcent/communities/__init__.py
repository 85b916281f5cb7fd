"""Communities by removing the edges between them."""
