// The triangles and 4-cycles at each edge of a symmetric graph, from which its balanced Forman curvature follows. The
// edges are cut into runs that threads take one by one.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>

#include "core/control.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "curvature/cycles.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

struct CsrRows {
  Csr graph;
  int64_t degree(int32_t v) const { return graph.rowptr[v + 1] - graph.rowptr[v]; }
  const int32_t* begin(int32_t v) const { return graph.col + graph.rowptr[v]; }
  const int32_t* end(int32_t v) const { return graph.col + graph.rowptr[v + 1]; }
};

constexpr int64_t kSlots = 256;  // of a run

}  // namespace

void edge_cycles(const Tensor& rowptr, const Tensor& col, Tensor& out, Tensor& control, int64_t threads) {
  const CsrRows rows = {view(rowptr, col)};
  const int64_t n = rows.graph.num_nodes, slots = rows.graph.rowptr[n];
  int64_t* const result = out.mutable_data_ptr<int64_t>();
  Control& shared = control_of(control);
  std::atomic<int64_t> next = 0;
  const auto work = [&] {
    CycleCounter counter(n);
    for (int64_t from; (from = next.fetch_add(kSlots)) < slots;) {
      const int64_t to = std::min(from + kSlots, slots);
      const int64_t* row = std::upper_bound(rows.graph.rowptr, rows.graph.rowptr + n + 1, from) - 1;
      for (int64_t slot = from; slot < to; ++slot) {
        while (row[1] <= slot) ++row;
        const auto i = static_cast<int32_t>(row - rows.graph.rowptr);
        const int32_t j = rows.graph.col[slot];
        if (j < i) continue;
        if (__atomic_load_n(&shared.cancel, __ATOMIC_RELAXED) != 0) return;
        const EdgeCycles cycles = counter(rows, i, j);
        result[slot] = cycles.triangles;
        result[slots + slot] = cycles.around;
        result[2 * slots + slot] = cycles.most;
      }
      finish(shared, to - from);
    }
  };
  in_threads(static_cast<int>(threads_for(8 * slots, threads)), work, [&] { next = slots; });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // int64 [3, slots], at the slots u -> v with u < v of a symmetric graph: triangles, vertices next to an end that are
  // on a 4-cycle without a diagonal, and the most such cycles of one of them. Others are left as they are.
  m.def("edge_cycles(Tensor rowptr, Tensor col, Tensor(a!) out, Tensor(b!) control, int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("edge_cycles", TORCH_BOX(&edge_cycles)); }

}  // namespace torchcent
