// Matrices of graphs whose eigenvectors are encodings.
#pragma once

namespace torchcent {

enum class Laplacian : int {
  plain,      // D - A
  symmetric,  // I - D^(-1/2) A D^(-1/2)
  walk,       // I - D^(-1) A
};

// Minimum, mean and standard deviation of the potential of a vertex, minimum and standard deviation of those at it, and
// the means over its neighbours of both.
constexpr int kElectrostatic = 7;

// What is computed from its eigenvectors.
enum class SpectralKind : int {
  heat,           // exp(-t L)
  inverse,        // the pseudo-inverse of L
  resistance,     // of the plain Laplacian: effective resistances
  commute,        // steps of a random walk there and back
  hitting,        // steps there
  electrostatic,  // of vertices: kElectrostatic statistics of potentials
  density,        // of vertices: shares of the eigenvectors of the values in a part of the spectrum
};

}  // namespace torchcent
