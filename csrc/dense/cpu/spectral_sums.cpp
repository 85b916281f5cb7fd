// Functions of the Laplacians of many small graphs, from all of their eigenvectors: heat kernels, pseudo-inverses, and
// what is derived from these.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <limits>

#include "dense/cpu/laplacian_batch.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// A function of a graph, as a matrix.
class SpectralMatrix {
 public:
  explicit SpectralMatrix(const LaplacianGraphs& graphs) : graphs_(graphs) {}

  // sum f(value) v v^T over the ranks from `begin` on; the first values are 0.
  template <class Function>
  void set(const Spectrum& graph, int64_t begin, int64_t zeros, const Function& function) {
    n_ = graph.n;
    entry_.assign(n_ * n_, 0.0);
    for (int64_t j = begin; j < n_; ++j) {
      const double* const state = graph.state + j * n_;
      const double factor = function(j < zeros ? 0 : graph.value[j]);
      for (int64_t u = 0; u < n_; ++u) {
        const double share = factor * state[u];
        double* const row = entry_.data() + u * n_;
        for (int64_t v = 0; v <= u; ++v) row[v] += share * state[v];
      }
    }
    for (int64_t u = 0; u < n_; ++u)
      for (int64_t v = 0; v < u; ++v) entry_[v * n_ + u] = entry_[u * n_ + v];
  }
  double* row(int64_t u) { return entry_.data() + u * n_; }

  // Labels the components of the graph; returns how many there are: the multiplicity of the eigenvalue 0.
  int64_t label(const Spectrum& graph) {
    n_ = graph.n;
    component_.assign(n_, -1);
    int64_t number = 0;
    for (int64_t root = 0; root < n_; ++root) {
      if (component_[root] >= 0) continue;
      queue_.assign(1, root);
      component_[root] = number;
      while (!queue_.empty()) {
        const int64_t u = queue_.back() + graph.first;
        queue_.pop_back();
        for (int64_t slot = graphs_.arcs.rowptr[u]; slot < graphs_.arcs.rowptr[u + 1]; ++slot) {
          const int64_t v = graphs_.arcs.col[slot] - graph.first;
          if (component_[v] >= 0) continue;
          component_[v] = number;
          queue_.push_back(v);
        }
      }
      ++number;
    }
    return number;
  }
  int64_t component(int64_t v) const { return component_[v]; }

  // From the pseudo-inverse: statistics of the potentials E[u, v] = L+[u, v] - L+[v, v], per vertex.
  void summarise(const Spectrum& graph, double* out) {
    diagonal_.resize(n_);
    for (int64_t v = 0; v < n_; ++v) diagonal_[v] = row(v)[v];
    const auto potential = [&](int64_t u, int64_t v) { return row(u)[v] - diagonal_[v]; };
    for (int64_t x = 0; x < n_; ++x) {
      double* const own = out + x * kElectrostatic;
      double least_of = 0, least_at = 0, sum_of = 0, sum_at = 0;
      for (int64_t y = 0; y < n_; ++y) {
        least_of = std::min(least_of, potential(y, x));
        least_at = std::min(least_at, potential(x, y));
        sum_of += potential(y, x);
        sum_at += potential(x, y);
      }
      const double count = static_cast<double>(n_), mean_of = sum_of / count, mean_at = sum_at / count;
      double square_of = 0, square_at = 0;
      for (int64_t y = 0; y < n_; ++y) {
        square_of += (potential(y, x) - mean_of) * (potential(y, x) - mean_of);
        square_at += (potential(x, y) - mean_at) * (potential(x, y) - mean_at);
      }
      own[0] = least_of;
      own[1] = mean_of;
      own[2] = n_ > 1 ? std::sqrt(square_of / (count - 1)) : 0;
      own[3] = least_at;
      own[4] = n_ > 1 ? std::sqrt(square_at / (count - 1)) : 0;
      for (int64_t slot = graphs_.arcs.rowptr[graph.first + x]; slot < graphs_.arcs.rowptr[graph.first + x + 1];
           ++slot) {
        const int64_t y = graphs_.arcs.col[slot] - graph.first;
        const double weight = graphs_.weight == nullptr ? 1 : graphs_.weight[slot];
        if (weight > 0) {
          own[5] += weight / graph.strength[y] * potential(y, x);
          own[6] += weight / graph.strength[x] * potential(x, y);
        }
      }
    }
  }

  // The pseudo-inverse of the plain Laplacian becomes what `kind` says.
  void derive(const Spectrum& graph, SpectralKind kind) {
    constexpr double kUnreachable = std::numeric_limits<double>::infinity();
    diagonal_.resize(n_);
    total_.assign(n_, 0.0);  // of a row, by strengths, within its component
    volume_.assign(n_, 0.0);
    for (int64_t u = 0; u < n_; ++u) {
      diagonal_[u] = row(u)[u];
      volume_[component_[u]] += graph.strength[u];
      for (int64_t v = 0; v < n_; ++v)
        if (component_[v] == component_[u]) total_[u] += graph.strength[v] * row(u)[v];
    }
    for (int64_t u = 0; u < n_; ++u) {
      const double volume = volume_[component_[u]];
      for (int64_t v = 0; v < n_; ++v) {
        double& own = row(u)[v];
        if (component_[u] != component_[v]) own = kUnreachable;
        else if (u == v) own = 0;
        else if (kind == SpectralKind::hitting) own = total_[u] - total_[v] + volume * (diagonal_[v] - own);
        else own = (kind == SpectralKind::commute ? volume : 1) * (diagonal_[u] + diagonal_[v] - 2 * own);
      }
    }
  }

 private:
  const LaplacianGraphs& graphs_;
  int64_t n_ = 0;
  std::vector<double> entry_, diagonal_, total_, volume_;
  std::vector<int64_t> component_, queue_;
};

}  // namespace

void spectral_sums(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight, const Tensor& ptr,
                   const Tensor& number, const std::vector<int64_t>& form, const Tensor& times, Tensor& out,
                   Tensor& control, int64_t threads) {
  const LaplacianGraphs all(rowptr, col, weight, ptr, number, form[0], 0);
  const auto kind = static_cast<SpectralKind>(form[1]);
  const bool nontrivial = form[2] != 0, pairs = out.dim() == 4;
  const int64_t columns = out.size(out.dim() - 1), width = pairs ? out.size(1) : 0;
  const double* const time = times.const_data_ptr<double>();
  double* const result = out.mutable_data_ptr<double>();
  each_spectrum(
      all, std::numeric_limits<int64_t>::max(), control_of(control), threads, [&] { return SpectralMatrix(all); },
      [&](SpectralMatrix& matrix, const Spectrum& graph) {
        const int64_t n = graph.n, zeros = matrix.label(graph), begin = nontrivial ? zeros : 0;
        double* const first = result + graph.first * columns;
        if (kind == SpectralKind::density) {
          // Values in (time[c - 1], time[c]]; rounding does not move 0 below the first.
          for (int64_t j = begin, c = 0; j < n; ++j) {
            while (c < columns - 1 && j >= zeros && graph.value[j] > time[c]) ++c;
            for (int64_t u = 0; u < n; ++u) first[u * columns + c] += graph.state[j * n + u] * graph.state[j * n + u];
          }
          return;
        }
        if (kind == SpectralKind::electrostatic) {
          matrix.set(graph, zeros, zeros, [](double value) { return 1 / value; });
          if (zeros < n) matrix.summarise(graph, first);
          return;
        }
        for (int64_t c = 0; c < columns; ++c) {
          const double t = kind == SpectralKind::heat ? time[c] : 0;
          const auto heat = [&](double value) { return std::exp(-t * value); };
          if (!pairs) {
            for (int64_t j = begin; j < n; ++j) {
              const double factor = heat(j < zeros ? 0 : graph.value[j]);
              for (int64_t u = 0; u < n; ++u)
                first[u * columns + c] += factor * graph.state[j * n + u] * graph.state[j * n + u];
            }
            continue;
          }
          if (kind == SpectralKind::heat) {
            matrix.set(graph, begin, zeros, heat);
          } else {
            matrix.set(graph, zeros, zeros, [](double value) { return 1 / value; });
            if (kind != SpectralKind::inverse) matrix.derive(graph, kind);
          }
          for (int64_t u = 0; u < n; ++u) {
            double* const to = result + (graph.number * width + u) * width * columns + c;
            for (int64_t v = 0; v < n; ++v) to[v * columns] = matrix.row(u)[v];
          }
        }
      });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Functions of the Laplacians of the graphs of a batch that have a number. form: kind of Laplacian and of function
  // (dense/laplacian.h), and whether the eigenvalue 0 is left out. times: those of heat kernels, or the upper bounds of
  // the parts of a density. out, float64, 0 on entry: of vertices [n, columns], of pairs
  // [graphs, width, width, columns], of which entries beyond a graph are unchanged.
  m.def(
      "spectral_sums(Tensor rowptr, Tensor col, Tensor? weight, Tensor ptr, Tensor number, int[] form, Tensor times, "
      "Tensor(a!) out, Tensor(b!) control, int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("spectral_sums", TORCH_BOX(&spectral_sums)); }

}  // namespace torchcent
