// Return probabilities of random walks: the diagonals of the powers of P, whose rows are those of a CSR divided by
// their sums. Eight columns of a graph are multiplied together, by one thread, row by row. No number depends on the
// columns beside it, on the other graphs or on the number of threads.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/control.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "graph/cpu/walk_columns.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// Of a symmetric matrix: the entries (P^(i + j))[v, v] from columns v of P^i and P^j. D P is symmetric for D the
// diagonal of the strengths, so that they are sums of D[u, u] P^i[u, v] P^j[u, v] / D[v, v].
void meet(const WalkGraph& graph, const WalkBlock& block, const double* one, const double* other, double* sum) {
  std::fill(sum, sum + kWalks, 0);
  for (int64_t u = block.begin; u < block.end; ++u) {
    const int64_t at = (u - block.begin) * kWalks;
    for (int64_t c = 0; c < kWalks; ++c) sum[c] += graph.strength[u] * one[at + c] * other[at + c];
  }
}

// Writes the rows of the sources of a block; returns false if cancelled.
template <bool kWeighted>
bool walk(const WalkGraph& graph, const WalkBlock& block, const int64_t* sources, bool mutual, double* from, double* to,
          double* out) {
  const int64_t entries = (block.end - block.begin) * kWalks;
  std::fill(from, from + entries, 0);
  const auto at = [&](int64_t c) { return (sources[block.first + c] - block.begin) * kWalks + c; };
  for (int64_t c = 0; c < block.count; ++c) from[at(c)] = 1;
  for (int64_t k = 1; k <= graph.steps; ++k) {
    if (__atomic_load_n(graph.cancel, __ATOMIC_RELAXED) != 0) return false;
    double* const result = out + block.first * graph.steps + k - 1;
    double sum[kWalks];
    if (mutual && k % 2 == 0) {
      meet(graph, block, from, from, sum);
    } else {
      walk_step<kWeighted>(graph, block, from, to);
      if (mutual && k > 1) meet(graph, block, from, to, sum);
      std::swap(from, to);
    }
    for (int64_t c = 0; c < block.count; ++c)
      result[c * graph.steps] = mutual && k > 1 ? sum[c] * graph.share[sources[block.first + c]] : from[at(c)];
  }
  return true;
}

}  // namespace

// Fills out [sources, steps] with (P^k)[v, v]. Graphs of more than `alone` vertices are symmetric if `mutual` says so,
// and take half of the products then.
void walk_returns(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight, const Tensor& strength,
                  const Tensor& ptr, const Tensor& sources, bool mutual, int64_t alone, Tensor& out, Tensor& control,
                  int64_t threads) {
  Control& shared = control_of(control);
  const int64_t count = sources.numel(), steps = out.size(1);
  const WalkGraph graph(view(rowptr, col), weight, strength, steps, shared);
  const int64_t *const source = sources.const_data_ptr<int64_t>(), *bound = ptr.const_data_ptr<int64_t>();
  std::vector<WalkBlock> blocks;
  int64_t largest = 0, work = 0;
  for (int64_t first = 0; first < count;) {
    bound = std::upper_bound(bound, ptr.const_data_ptr<int64_t>() + ptr.numel(), source[first]) - 1;
    WalkBlock block = {bound[0], bound[1], first, 1};
    while (block.count < kWalks && first + block.count < count && source[first + block.count] < block.end)
      ++block.count;
    first += block.count;
    largest = std::max(largest, block.end - block.begin);
    work += (graph.arcs.rowptr[block.end] - graph.arcs.rowptr[block.begin]) * steps * kWalks / kWalkWorth;
    blocks.push_back(block);
  }
  double* const result = out.mutable_data_ptr<double>();
  std::atomic<int64_t> next = 0;
  const auto works = [&] {
    std::vector<double> from(largest * kWalks), to(largest * kWalks);
    for (size_t i; (i = next++) < blocks.size();) {
      const bool half = mutual && blocks[i].end - blocks[i].begin > alone;
      const bool done = graph.weight ? walk<true>(graph, blocks[i], source, half, from.data(), to.data(), result)
                                     : walk<false>(graph, blocks[i], source, half, from.data(), to.data(), result);
      if (!done) return;
      finish(shared, blocks[i].count);
    }
  };
  const auto team = std::min(threads_for(work, threads), static_cast<int64_t>(blocks.size()));
  in_threads(static_cast<int>(std::max<int64_t>(1, team)), works, [&] { next = blocks.size(); });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Fills out [sources, steps], float64, with the probabilities that a random walk is back at its first vertex after
  // 1, 2, ... steps. ptr has the bounds of the graphs, sources are in ascending order, and strength is what the rows of
  // the weights are divided by. With `mutual` graphs of more than `alone` vertices are symmetric.
  m.def(
      "walk_returns(Tensor rowptr, Tensor col, Tensor? weight, Tensor strength, Tensor ptr, Tensor sources, "
      "bool mutual, int alone, Tensor(a!) out, Tensor(b!) control, int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("walk_returns", TORCH_BOX(&walk_returns)); }

}  // namespace torchcent
