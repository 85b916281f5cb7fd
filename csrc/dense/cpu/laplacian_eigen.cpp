// Eigenvalues and eigenvectors of the Laplacians of many small graphs, in bases that no solver changes.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include "dense/cpu/laplacian_batch.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// I - P is similar to the symmetric form: its eigenvectors are those divided by the roots of the strengths.
void divide_by_roots(const Spectrum& graph, double* state) {
  double square = 0;
  for (int64_t i = 0; i < graph.n; ++i) {
    if (graph.strength[i] > 0) state[i] /= std::sqrt(graph.strength[i]);
    square += state[i] * state[i];
  }
  for (int64_t i = 0; i < graph.n; ++i) state[i] /= std::sqrt(square);
}

}  // namespace

void laplacian_eigen(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight, const Tensor& ptr,
                     const Tensor& number, const std::vector<int64_t>& form, const std::vector<int64_t>&,
                     Tensor& values, Tensor& multiplicity, Tensor& vectors, Tensor& control, int64_t threads) {
  const LaplacianGraphs all(rowptr, col, weight, ptr, number, form[0], form[1]);
  const int64_t skip = form[2], width = values.size(1);
  const bool has_vectors = vectors.numel() > 0;
  double* const value = values.mutable_data_ptr<double>();
  const bool is_single = vectors.scalar_type() == torch::headeronly::ScalarType::Float;
  float* const single = is_single ? vectors.mutable_data_ptr<float>() : nullptr;
  double* const vector = is_single ? nullptr : vectors.mutable_data_ptr<double>();
  int64_t* const size = multiplicity.mutable_data_ptr<int64_t>();
  each_spectrum(
      all, has_vectors ? skip + width : 0, control_of(control), threads, [] { return CanonicalBasis(); },
      [&](CanonicalBasis& basis, const Spectrum& graph) {
        const int64_t n = graph.n, last = std::min(skip + width, n), row = graph.number * width - skip;
        for (int64_t begin = 0, end; begin < last; begin = end) {
          end = end_of_space(graph.value, 1, n, begin + 1);
          const bool is_zero = begin == 0 && std::abs(graph.value[0]) <= kSameValue * std::abs(graph.value[n - 1]);
          if (has_vectors) basis.replace(graph.state + begin * n, end - begin, std::min(end, last) - begin, n);
          for (int64_t j = std::max(begin, skip); j < std::min(end, last); ++j) {
            size[row + j] = end - begin;
            value[row + j] = is_zero ? 0 : graph.value[j];
            if (has_vectors && all.kind == Laplacian::walk) divide_by_roots(graph, graph.state + j * n);
          }
        }
        const auto store = [&](auto* result) {
          for (int64_t i = 0; i < n; ++i)
            for (int64_t j = skip; j < last; ++j)
              result[(graph.first + i) * width + j - skip] =
                  static_cast<std::remove_pointer_t<decltype(result)>>(graph.state[j * n + i]);
        };
        if (!has_vectors) return;
        if (is_single) store(single);
        else store(vector);
      });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Eigenvalues and eigenvectors of the Laplacians of some graphs of a batch, in canonical bases (dense/canonical.h).
  // ptr has the bounds of all graphs; those with a number are solved. form: kind (dense/laplacian.h), the diagonal of a
  // vertex without arcs, the ranks that are skipped, and on CUDA whether results are by the place of a number, of
  // graphs of one size. classes, for CUDA: the ends of runs of `number`, each with the vertices of its largest graph.
  // values [graphs, width], float64; multiplicity [graphs, width], int64; vectors [n, width], float64 or on the CPU
  // float32, or empty. What a graph does not have is unchanged.
  m.def(
      "laplacian_eigen(Tensor rowptr, Tensor col, Tensor? weight, Tensor ptr, Tensor number, int[] form, int[] classes, "
      "Tensor(a!) values, Tensor(b!) multiplicity, Tensor(c!) vectors, Tensor(d!) control, int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("laplacian_eigen", TORCH_BOX(&laplacian_eigen)); }

}  // namespace torchcent
