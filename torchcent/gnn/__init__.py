"""Graph neural networks: measures as node features, and PyTorch Geometric data objects."""
