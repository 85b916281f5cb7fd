// CSR from arcs in any order, on all threads. Arguments are validated in Python (torchcent/check), ids of arcs as
// copies: see vertex_ids.
//
// Arcs are divided into buckets of consecutive rows, each packed into a word (its row within the bucket, its column),
// and sorted bucket by bucket in the cache. The arcs are read twice and moved twice; everything else is proportional to
// the number of vertices. Which column an arc came from is not tracked: `slots` sorts the columns with their numbers
// when it is asked for.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "graph/cpu/buckets.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// Copies ids that other threads may modify concurrently: each is read once, and the copy is validated. Ids that do not
// fit int32 are truncated, and are detected by the smallest and the largest id.
template <class Id>
void copy_ids(const Tensor& edge_index, int32_t* copy, int64_t* range, int64_t threads) {
  const int64_t columns = edge_index.size(1), step = edge_index.stride(1);
  const Id* const id[] = {edge_index.const_data_ptr<Id>(), edge_index.const_data_ptr<Id>() + edge_index.stride(0)};
  std::atomic<Id> lowest{std::numeric_limits<Id>::max()}, highest{std::numeric_limits<Id>::min()};
  each_range(threads_for(columns, threads), columns, [&](int64_t begin, int64_t end) {
    Id low = std::numeric_limits<Id>::max(), high = std::numeric_limits<Id>::min();
    for (int64_t side = 0; side < 2; ++side)
      for (int64_t e = begin; e < end; ++e) {
        const Id v = __atomic_load_n(id[side] + e * step, __ATOMIC_RELAXED);
        low = std::min(low, v);
        high = std::max(high, v);
        copy[side * columns + e] = static_cast<int32_t>(v);
      }
    for (Id seen = lowest; low < seen && !lowest.compare_exchange_weak(seen, low);) {
    }
    for (Id seen = highest; high > seen && !highest.compare_exchange_weak(seen, high);) {
    }
  });
  range[0] = lowest;
  range[1] = highest;
}

std::tuple<Tensor, Tensor> sorted_csr(const Tensor& ids, const Arcs& arcs, int64_t threads) {
  Tensor rowptr = empty(ids, arcs.n + 1, ScalarType::Long);
  Tensor col = empty(ids, arcs.columns, ScalarType::Int);
  int64_t* const ptr = rowptr.mutable_data_ptr<int64_t>();
  int32_t* const head = col.mutable_data_ptr<int32_t>();
  each_range(threads, arcs.columns, [&](int64_t begin, int64_t end) {
    std::copy(arcs.head + begin, arcs.head + end, head + begin);
    // Each column moves the end of its row, without a branch, but not that of a row that goes on in the next range.
    int64_t ends = end;
    while (ends > begin && end < arcs.columns && arcs.tail[ends - 1] == arcs.tail[end]) --ends;
    for (int64_t e = begin; e < end; ++e) {
      const int64_t tail = arcs.tail[e], before = e == 0 ? -1 : arcs.tail[e - 1];
      for (int64_t v = before + 2; v <= tail; ++v) ptr[v] = e;  // after rows without columns
      if (e < ends) ptr[tail + 1] = e + 1;
    }
  });
  const int64_t last = arcs.columns == 0 ? -1 : arcs.tail[arcs.columns - 1];
  std::fill(ptr + last + 1, ptr + arcs.n + 1, arcs.columns);
  ptr[0] = 0;
  return {rowptr, col};
}

// For graphs that fit into the cache: heads are spread over the rows, and each row is sorted.
std::tuple<Tensor, Tensor> small_csr(const Tensor& ids, const Arcs& arcs, bool& repeated) {
  Tensor rowptr = empty(ids, arcs.n + 1, ScalarType::Long);
  int64_t* const ptr = rowptr.mutable_data_ptr<int64_t>();
  std::fill(ptr, ptr + arcs.n + 1, 0);
  arcs.each(0, arcs.columns, [&](int32_t u, int32_t, int64_t) { ++ptr[u + 1]; });
  for (int64_t v = 0; v < arcs.n; ++v) ptr[v + 1] += ptr[v];
  repeated = ptr[arcs.n] < arcs.columns * (arcs.reverse ? 2 : 1);  // loops
  const std::unique_ptr<uint32_t[]> head = std::make_unique_for_overwrite<uint32_t[]>(ptr[arcs.n]);
  // ptr[v] moves to the end of row v, which is the start of row v + 1. The lowest bit tells an arc from its reverse.
  arcs.each(0, arcs.columns, [&](int32_t u, int32_t v, int64_t mark) {
    head[ptr[u]++] = static_cast<uint32_t>(v) << 1 | static_cast<uint32_t>(mark & 1);
  });
  int64_t slots = 0, first = 0;
  for (int64_t v = 0; v < arcs.n; ++v) {
    uint32_t* const row = head.get() + std::exchange(first, ptr[v]);
    uint32_t* const end = head.get() + first;
    std::sort(row, end);
    ptr[v] = slots;
    for (const uint32_t* it = row; it < end; ++it) {
      if (it > row && *it == it[-1]) repeated = true;
      if (it == row || *it >> 1 != it[-1] >> 1) head[slots++] = *it;  // never beyond what is read
    }
  }
  ptr[arcs.n] = slots;
  Tensor col = empty(ids, slots, ScalarType::Int);
  int32_t* const kept = col.mutable_data_ptr<int32_t>();
  for (int64_t i = 0; i < slots; ++i) kept[i] = static_cast<int32_t>(head[i] >> 1);
  return {rowptr, col};
}

std::tuple<Tensor, Tensor> unsorted_csr(const Tensor& ids, const Arcs& arcs, int64_t threads, bool& repeated) {
  Bucketed<Sided> bucketed(
      arcs, threads, [](uint64_t word, int64_t mark) { return Sided{word << 1 | static_cast<uint64_t>(mark & 1)}; });
  std::atomic<bool> again{bucketed.first.back() < arcs.columns * (arcs.reverse ? 2 : 1)};  // loops
  const Buckets& buckets = bucketed.buckets;
  Tensor rowptr = empty(ids, arcs.n + 1, ScalarType::Long);
  int64_t* const ptr = rowptr.mutable_data_ptr<int64_t>();
  std::vector<int64_t> kept(buckets.count + 1, 0);
  each_task(threads, buckets.count, [&](int64_t b) {
    const std::span<Sided> arc = bucketed.sorted(b);
    int64_t left = 0;
    uint64_t last = ~uint64_t{0}, seen = 0, twice = 0;  // bits: the arc, its reverse
    for (const Sided& each : arc) {
      const uint64_t side = 1 + (each.word & 1);
      if (each.arc() == last) {
        twice |= seen & side;
        seen |= side;
        continue;
      }
      last = each.arc();
      seen = side;
      arc[left++] = each;
    }
    if (twice != 0) again = true;
    int64_t row = b << buckets.shift;
    const int64_t end = std::min(arcs.n, (b + 1) << buckets.shift);
    for (int64_t i = 0; i < left; ++i)  // ptr: the start of each row within its bucket, for now
      for (; row <= buckets.row(b, arc[i].arc()); ++row) ptr[row] = i;
    for (; row < end; ++row) ptr[row] = left;
    kept[b + 1] = left;
  });
  for (int64_t b = 0; b < buckets.count; ++b) kept[b + 1] += kept[b];
  Tensor col = empty(ids, kept[buckets.count], ScalarType::Int);
  int32_t* const head = col.mutable_data_ptr<int32_t>();
  each_task(threads, buckets.count, [&](int64_t b) {
    const Sided* const arc = bucketed.arc.get() + bucketed.first[b * bucketed.parts];
    for (int64_t i = 0; i < kept[b + 1] - kept[b]; ++i) head[kept[b] + i] = buckets.col(arc[i].arc());
    for (int64_t row = b << buckets.shift; row < std::min(arcs.n, (b + 1) << buckets.shift); ++row) ptr[row] += kept[b];
  });
  ptr[arcs.n] = kept[buckets.count];
  repeated = again;
  return {rowptr, col};
}

}  // namespace

bool symmetric(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight, int64_t threads);

// A copy of the ids of int64 or int32 arcs with any strides, and [smallest, largest] of them.
std::tuple<Tensor, Tensor> vertex_ids(const Tensor& edge_index, int64_t threads) {
  Tensor ids = torch::stable::new_empty(edge_index, {2, edge_index.size(1)}, ScalarType::Int);
  Tensor range = empty(edge_index, 2, ScalarType::Long);
  int32_t* const copy = ids.mutable_data_ptr<int32_t>();
  int64_t* const ends = range.mutable_data_ptr<int64_t>();
  if (edge_index.scalar_type() == ScalarType::Int) copy_ids<int32_t>(edge_index, copy, ends, threads);
  else copy_ids<int64_t>(edge_index, copy, ends, threads);
  return {ids, range};
}

// ids: int32 [2, columns], in [0, n), not shared with other threads. Self-loops are dropped, duplicate arcs merged; the
// result has the reverse of each arc if `both` is set. repeated: int64 [1], whether there are loops, or arcs that
// several columns have; an arc and its reverse are two.
std::tuple<Tensor, Tensor, Tensor> csr(const Tensor& ids, int64_t n, bool both, int64_t threads) {
  const int64_t columns = ids.size(1);
  const int32_t* const tail = ids.const_data_ptr<int32_t>();
  const Arcs arcs = {tail, tail + columns, columns, n, both};
  const int64_t workers = threads_for(columns, threads);
  Tensor repeated = empty(ids, 1, ScalarType::Long);
  int64_t* const flag = repeated.mutable_data_ptr<int64_t>();
  *flag = 0;
  if (is_csr(arcs, workers)) {
    const auto [rowptr, col] = sorted_csr(ids, arcs, workers);
    if (!both || symmetric(rowptr, col, std::nullopt, threads)) return {rowptr, col, repeated};
  }
  bool again = false;
  const auto [rowptr, col] =
      columns < kFewColumns ? small_csr(ids, arcs, again) : unsorted_csr(ids, arcs, workers, again);
  *flag = again;
  return {rowptr, col, repeated};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // int32 copies of the ids and [smallest, largest] of them. csr expects such copies, within [0, num_nodes).
  m.def("vertex_ids(Tensor edge_index, int threads=1) -> (Tensor ids, Tensor range)");
  m.def(
      "csr(Tensor ids, int num_nodes, bool symmetric, int threads=1) -> "
      "(Tensor rowptr, Tensor col, Tensor repeated)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("vertex_ids", TORCH_BOX(&vertex_ids));
  m.impl("csr", TORCH_BOX(&csr));
}

}  // namespace torchcent
