"""What searches compute for a measure: declarations, kernels, requests, normalisation."""
