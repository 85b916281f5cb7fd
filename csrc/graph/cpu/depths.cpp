// Single searches: hops from a source, the order of the queue, and a summary per source. Implemented as visitors of
// include/torchcent/multi_search.h.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>

#include "core/control.h"
#include "core/cpu/view.h"
#include "torchcent/multi_search.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

struct Depths : Visitor {
  int32_t* depth;  // [n], -1 everywhere

  void finalize(const SearchState& search) {
    for (int32_t p = 0; p < search.end; ++p) depth[search.queue[p]] = search.depth[search.queue[p]];
  }
};

struct Summary : Visitor {
  int64_t* row;  // [sources, 3]

  void finalize(const SearchState& search) {
    int32_t farthest = search.queue[search.end - 1];
    const int32_t eccentricity = search.depth[farthest];
    for (int32_t p = search.end - 1; p >= 0 && search.depth[search.queue[p]] == eccentricity; --p)
      farthest = std::min(farthest, search.queue[p]);
    int64_t* const out = row + 3 * search.lane;
    out[0] = eccentricity, out[1] = farthest, out[2] = search.end;
  }
};

struct Order : Visitor {
  int64_t limit;
  int32_t* order;  // [sources, n]
  int32_t* depth;

  bool prior(const SearchState& search) { return search.level < limit; }
  void finalize(const SearchState& search) {
    const int64_t row = search.lane * search.graph.num_nodes;
    for (int32_t p = 0; p < search.end; ++p) {
      order[row + p] = search.queue[p];
      depth[row + p] = search.depth[search.queue[p]];
    }
    if (search.end < search.graph.num_nodes) order[row + search.end] = -1;
  }
};

}  // namespace

// Hops from the source, -1 for vertices that it does not reach.
Tensor depths(const Tensor& rowptr, const Tensor& col, int64_t source) {
  const int64_t n = rowptr.numel() - 1;
  Tensor result = torch::stable::new_empty(rowptr, {n}, ScalarType::Int);
  int32_t* const depth = result.mutable_data_ptr<int32_t>();
  std::fill(depth, depth + n, -1);
  multi_search(view(rowptr, col), &source, 1, Depths{{}, depth});
  return result;
}

// A row per source: its eccentricity within the reachable vertices, the farthest vertex (the lowest id of the last
// level), and the number of reached vertices, including itself. If the run is cancelled, rows may be 0.
Tensor search_summary(const Tensor& rowptr, const Tensor& col, const Tensor& sources, Tensor& control,
                      int64_t threads) {
  const int64_t count = sources.numel();
  Tensor result = torch::stable::new_empty(sources, {count, 3}, ScalarType::Long);
  int64_t* const row = result.mutable_data_ptr<int64_t>();
  std::fill(row, row + 3 * count, 0);
  multi_search(view(rowptr, col), sources.const_data_ptr<int64_t>(), count, Summary{{}, row}, threads,
               &control_of(control).cancel);
  return result;
}

// If the run is cancelled, some rows are not filled.
void search_order(const Tensor& rowptr, const Tensor& col, const Tensor& sources, int64_t limit, Tensor& order,
                  Tensor& depth, Tensor& control, int64_t threads) {
  const Order visitor = {{}, limit, order.mutable_data_ptr<int32_t>(), depth.mutable_data_ptr<int32_t>()};
  multi_search(view(rowptr, col), sources.const_data_ptr<int64_t>(), sources.numel(), visitor, threads,
               &control_of(control).cancel);
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  m.def("depths(Tensor rowptr, Tensor col, int source) -> Tensor");
  // One search per source: int64 [k, 3], the eccentricity within the reachable vertices, the farthest vertex, and the
  // number of reached vertices.
  m.def("search_summary(Tensor rowptr, Tensor col, Tensor sources, Tensor(a!) control, int threads) -> Tensor");
  // The same searches up to depth `limit`: int32 [k, n], the vertices in the order in which a queue reaches them,
  // padded with -1, and the depth of each. Rows may list arcs in any order, which determines the order of the queue.
  m.def(
      "search_order(Tensor rowptr, Tensor col, Tensor sources, int limit, Tensor(a!) order, Tensor(b!) depth, "
      "Tensor(c!) control, int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("depths", TORCH_BOX(&depths));
  m.impl("search_summary", TORCH_BOX(&search_summary));
  m.impl("search_order", TORCH_BOX(&search_order));
}

}  // namespace torchcent
