// The slots of columns, and what columns of one slot have together. Arguments are validated in Python
// (torchcent/check).

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <optional>

#include "core/cpu/view.h"
#include "graph/cpu/buckets.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// Calls take(slot, mark) for every arc, for one slot in the order of the columns. Arcs are sorted once more, with their
// columns: to search for each in its row would wait for the memory several times, unless the graph is small.
template <class Take>
void each_slot(const Arcs& arcs, const int64_t* ptr, const int32_t* head, int64_t threads, Take take) {
  if (arcs.columns < kFewColumns) {
    arcs.each(0, arcs.columns, [&](int32_t u, int32_t v, int64_t mark) {
      take(std::lower_bound(head + ptr[u], head + ptr[u + 1], v) - head, mark);
    });
    return;
  }
  Bucketed<Numbered> bucketed(arcs, threads, [](uint64_t word, int64_t mark) { return Numbered{word, mark}; });
  each_task(threads, bucketed.buckets.count, [&](int64_t b) {
    Take own = take;  // whose state is that of this task
    int64_t place = 0, row = -1;
    for (const Numbered& arc : bucketed.sorted(b)) {  // rows may have more slots than these: those of reverse arcs
      if (const int64_t u = bucketed.buckets.row(b, arc.word); u != row) place = ptr[row = u];
      while (head[place] != bucketed.buckets.col(arc.word)) ++place;
      own(place, arc.mark);
    }
  });
}

// Keeps the smallest weight of each slot; reports whether there are others when it is done.
struct Least {
  const double* given;
  double* least;
  double none;
  std::atomic<bool>* differ;
  bool found = false;

  void operator()(int64_t place, int64_t mark) {
    const double before = least[place], here = given[mark >> 1];
    found |= (before != here) & (before != none);
    least[place] = std::min(before, here);
  }
  ~Least() {
    if (found) differ->store(true, std::memory_order_relaxed);
  }
};

}  // namespace

// The slot of each column, -1 for a self-loop.
Tensor slots(const Tensor& ids, const Tensor& rowptr, const Tensor& col, int64_t threads) {
  const int64_t columns = ids.size(1);
  const int32_t* const tail = ids.const_data_ptr<int32_t>();
  const int64_t* const ptr = rowptr.const_data_ptr<int64_t>();
  const Arcs arcs = {tail, tail + columns, columns, rowptr.numel() - 1, false};
  const int64_t workers = threads_for(columns, threads);
  Tensor slot = empty(ids, columns, ScalarType::Long);
  int64_t* const found = slot.mutable_data_ptr<int64_t>();
  if (columns == col.numel() && is_csr(arcs, workers)) {
    std::iota(found, found + columns, int64_t{0});
    return slot;
  }
  each_range(workers, columns, [&](int64_t begin, int64_t end) { std::fill(found + begin, found + end, -1); });
  each_slot(arcs, ptr, col.const_data_ptr<int32_t>(), workers,
            [&](int64_t place, int64_t mark) { found[mark >> 1] = place; });
  return slot;
}

// The smallest weight among the columns of each slot; with `both`, a column counts for the slot of its reverse, too.
// unequal: int64 [1], set to whether columns of one slot have different weights.
Tensor slot_weights(const Tensor& ids, const Tensor& weight, const Tensor& rowptr, const Tensor& col, bool both,
                    int64_t threads, std::optional<Tensor> unequal) {
  const int64_t columns = ids.size(1), slots = col.numel();
  const int32_t* const tail = ids.const_data_ptr<int32_t>();
  const double* const given = weight.const_data_ptr<double>();
  const Arcs arcs = {tail, tail + columns, columns, rowptr.numel() - 1, both};
  const int64_t workers = threads_for(columns, threads);
  Tensor result = empty(ids, slots, ScalarType::Double);
  double* const least = result.mutable_data_ptr<double>();
  if (unequal) unequal->mutable_data_ptr<int64_t>()[0] = 0;
  if (!both && columns == slots && is_csr(arcs, workers)) {
    std::copy_n(given, columns, least);
    return result;
  }
  constexpr double kNone = std::numeric_limits<double>::infinity();
  each_range(workers, slots, [&](int64_t begin, int64_t end) { std::fill(least + begin, least + end, kNone); });
  const int64_t* const ptr = rowptr.const_data_ptr<int64_t>();
  const int32_t* const head = col.const_data_ptr<int32_t>();
  if (unequal) {
    std::atomic<bool> differ{false};
    each_slot(arcs, ptr, head, workers, Least{given, least, kNone, &differ});
    unequal->mutable_data_ptr<int64_t>()[0] = differ;
  } else {
    each_slot(arcs, ptr, head, workers,
              [&](int64_t place, int64_t mark) { least[place] = std::min(least[place], given[mark >> 1]); });
  }
  return result;
}

// The sum of the weights of the columns of each slot, in their order; with `both`, the larger one of the sums of the
// slot and of its reverse.
Tensor slot_sums(const Tensor& ids, const Tensor& weight, const Tensor& rowptr, const Tensor& col, bool both,
                 int64_t threads) {
  const int64_t columns = ids.size(1), slots = col.numel();
  const int32_t* const tail = ids.const_data_ptr<int32_t>();
  const double* const given = weight.const_data_ptr<double>();
  const Arcs arcs = {tail, tail + columns, columns, rowptr.numel() - 1, both};
  const int64_t workers = threads_for(columns, threads);
  Tensor result = empty(ids, slots, ScalarType::Double);
  Tensor reverse = empty(ids, both ? slots : 0, ScalarType::Double);
  double* const side[] = {result.mutable_data_ptr<double>(), reverse.mutable_data_ptr<double>()};
  each_range(workers, slots, [&](int64_t begin, int64_t end) {
    for (int k = 0; k <= both; ++k) std::fill(side[k] + begin, side[k] + end, 0.0);
  });
  each_slot(arcs, rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>(), workers,
            [&](int64_t place, int64_t mark) { side[mark & 1][place] += given[mark >> 1]; });
  if (both)
    each_range(workers, slots, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) side[0][i] = std::max(side[0][i], side[1][i]);
    });
  return result;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Of each column of the ids that csr was given.
  m.def("slots(Tensor ids, Tensor rowptr, Tensor col, int threads=1) -> Tensor");
  m.def(
      "slot_weights(Tensor ids, Tensor weight, Tensor rowptr, Tensor col, bool both, int threads=1, "
      "Tensor(a!)? unequal=None) -> Tensor");
  m.def("slot_sums(Tensor ids, Tensor weight, Tensor rowptr, Tensor col, bool both, int threads=1) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("slots", TORCH_BOX(&slots));
  m.impl("slot_weights", TORCH_BOX(&slot_weights));
  m.impl("slot_sums", TORCH_BOX(&slot_sums));
}

}  // namespace torchcent
