// Counts of patterns at each vertex or slot of undirected graphs.

#include <torch/csrc/stable/library.h>

#include "patterns/cpu/cliques.h"
#include "patterns/cpu/cycles.h"
#include "patterns/cpu/paths.h"

namespace torchcent {

using torch::stable::Tensor;

namespace patterns {

inline Counts counts_of(const Tensor& rowptr, const Tensor& col, const Tensor& ptr, int64_t size, bool induced,
                        bool of_slots, Tensor& count, Tensor& control) {
  return {view(rowptr, col),
          ptr.const_data_ptr<int64_t>(),
          ptr.numel() - 1,
          size,
          induced,
          of_slots,
          count.mutable_data_ptr<int64_t>(),
          count.size(1),
          &control_of(control)};
}

}  // namespace patterns

Tensor count_cycles(const Tensor& rowptr, const Tensor& col, const Tensor& ptr, int64_t size, bool induced,
                    bool of_slots, Tensor& count, Tensor& control, int64_t threads) {
  patterns::Counts counts = patterns::counts_of(rowptr, col, ptr, size, induced, of_slots, count, control);
  const patterns::Removal removal = patterns::removal(counts, threads);
  const int64_t largest = patterns::largest_graph(counts);
  return search_all(counts, removal.roots, threads, rowptr, [&] { return patterns::Cycles(counts, removal, largest); });
}

Tensor count_cliques(const Tensor& rowptr, const Tensor& col, const Tensor& ptr, int64_t size, bool of_slots,
                     Tensor& count, Tensor& control, int64_t threads) {
  patterns::Counts counts = patterns::counts_of(rowptr, col, ptr, size, true, of_slots, count, control);
  const patterns::Heads heads = patterns::heads(counts.graph, threads);
  const int64_t largest = patterns::largest_graph(counts);
  return search_all(counts, {}, threads, rowptr, [&] { return patterns::Cliques(counts, heads, largest); });
}

Tensor count_paths(const Tensor& rowptr, const Tensor& col, const Tensor& ptr, int64_t size, bool induced,
                   bool of_slots, Tensor& count, Tensor& control, int64_t threads) {
  patterns::Counts counts = patterns::counts_of(rowptr, col, ptr, size, induced, of_slots, count, control);
  const int64_t largest = patterns::largest_graph(counts);
  return search_all(counts, {}, threads, rowptr, [&] { return patterns::Paths(counts, largest); });
}

Tensor count_stars(const Tensor& rowptr, const Tensor& col, const Tensor& ptr, int64_t size, bool of_slots,
                   Tensor& count, Tensor& control, int64_t threads) {
  patterns::Counts counts = patterns::counts_of(rowptr, col, ptr, size, true, of_slots, count, control);
  const int64_t largest = patterns::largest_graph(counts);
  return search_all(counts, {}, threads, rowptr, [&] { return patterns::Stars(counts, largest); });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Patterns of 3 to `size` vertices (stars: leaves), each once, of symmetric graphs with bounds ptr. They are added to
  // count, int64 [n, columns], or with of_slots [slots, columns], where an edge has its number as the sum of its both
  // slots. Columns are sizes in ascending order, of paths with one for each distance from the nearer end, of stars with
  // those of centers and of leaves. The vertex in the middle of a path is counted twice. The result is 1 if a number
  // does not fit int64, else 0. `done` counts vertices.
  m.def(
      "count_cycles(Tensor rowptr, Tensor col, Tensor ptr, int size, bool induced, bool of_slots, Tensor(a!) count, "
      "Tensor(b!) control, int threads) -> Tensor");
  m.def(
      "count_cliques(Tensor rowptr, Tensor col, Tensor ptr, int size, bool of_slots, Tensor(a!) count, "
      "Tensor(b!) control, int threads) -> Tensor");
  m.def(
      "count_paths(Tensor rowptr, Tensor col, Tensor ptr, int size, bool induced, bool of_slots, Tensor(a!) count, "
      "Tensor(b!) control, int threads) -> Tensor");
  // Induced stars.
  m.def(
      "count_stars(Tensor rowptr, Tensor col, Tensor ptr, int size, bool of_slots, Tensor(a!) count, "
      "Tensor(b!) control, int threads) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("count_cycles", TORCH_BOX(&count_cycles));
  m.impl("count_cliques", TORCH_BOX(&count_cliques));
  m.impl("count_paths", TORCH_BOX(&count_paths));
  m.impl("count_stars", TORCH_BOX(&count_stars));
}

}  // namespace torchcent
