"""The CUDA kernels of torchcent, which loads them when it is imported."""
