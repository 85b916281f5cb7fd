// Random walks between all pairs of the vertices of small graphs: the powers of P, whose rows are those of a CSR
// divided by their sums.

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

void walk_pairs(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight, const Tensor& strength,
                const Tensor& ptr, Tensor& out, Tensor& control, int64_t threads) {
  Control& shared = control_of(control);
  const int64_t graphs = ptr.numel() - 1, width = out.size(1), powers = out.size(3);
  const WalkGraph graph(view(rowptr, col), weight, strength, powers, shared);
  const int64_t* const bound = ptr.const_data_ptr<int64_t>();
  double* const result = out.mutable_data_ptr<double>();
  std::atomic<int64_t> next = 0;
  const auto works = [&] {
    std::vector<double> from, to;
    for (int64_t g; (g = next++) < graphs && __atomic_load_n(graph.cancel, __ATOMIC_RELAXED) == 0;) {
      const int64_t begin = bound[g], n = bound[g + 1] - begin;
      to.resize(n * kWalks);
      for (int64_t first = 0; first < n; first += kWalks) {
        const WalkBlock block = {begin, begin + n, begin + first, std::min(kWalks, n - first)};
        from.assign(n * kWalks, 0.0);
        for (int64_t c = 0; c < block.count; ++c) from[(first + c) * kWalks + c] = 1;
        for (int64_t k = 0; k < powers; ++k) {
          for (int64_t u = 0; u < n; ++u)
            for (int64_t c = 0; c < block.count; ++c)
              result[((g * width + u) * width + first + c) * powers + k] = from[u * kWalks + c];
          if (k + 1 == powers) break;
          if (graph.weight != nullptr) walk_step<true>(graph, block, from.data(), to.data());
          else walk_step<false>(graph, block, from.data(), to.data());
          std::swap(from, to);
        }
      }
      finish(shared, n);
    }
  };
  const int64_t work = (rowptr.numel() + col.numel()) * std::min(width, int64_t{1} << 20) * powers / kWalkWorth;
  const auto team = std::min(threads_for(work, threads), graphs);
  in_threads(static_cast<int>(std::max<int64_t>(1, team)), works, [&] { next = graphs; });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Fills out [graphs, width, width, powers], float64, with P^0, P^1, ... of each graph; entries beyond a graph are
  // unchanged. ptr has the bounds of the graphs, and strength is what the rows of the weights are divided by.
  m.def(
      "walk_pairs(Tensor rowptr, Tensor col, Tensor? weight, Tensor strength, Tensor ptr, Tensor(a!) out, "
      "Tensor(b!) control, int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("walk_pairs", TORCH_BOX(&walk_pairs)); }

}  // namespace torchcent
