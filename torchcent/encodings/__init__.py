"""Encodings of vertices and pairs by the spectrum of the Laplacian.

Terminology: D is the diagonal matrix of the strengths, A that of the weights. The *plain* Laplacian
is D - A, the *symmetric* one I - D^(-1/2) A D^(-1/2), and that of walks I - P with P = D^(-1) A. Of
small graphs all eigenvalues are computed, many graphs at a time. Of large ones only those of the
encoding are.
"""
