"""Graph networks: measures as features, the stores of PyTorch Geometric."""
