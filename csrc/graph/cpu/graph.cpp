// Symmetry, transposes and induced subgraphs. Arguments are validated in Python (torchcent/check).

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// The i-th of `parts` ranges of rows, with about as many slots each.
std::pair<int64_t, int64_t> rows_of(const int64_t* ptr, int64_t n, int64_t i, int64_t parts) {
  const auto begin_of = [&](int64_t part) -> int64_t {
    if (part == parts) return n;
    return std::lower_bound(ptr, ptr + n, part_of(ptr[n], part, parts).first) - ptr;
  };
  return {begin_of(i), begin_of(i + 1)};
}

// Whether a range of rows has the reverse of each of its arcs to smaller vertices, and these rows are reached from
// smaller vertices by no other arcs. As rows are sorted, their slots below the diagonal come in the order in which
// ascending u meet them: a cursor per row is enough.
bool mirrored(const Csr& graph, const double* weight, int64_t low, int64_t high, const std::atomic<bool>& stop) {
  const int64_t* const ptr = graph.rowptr;
  std::vector<int64_t> cursor(ptr + low, ptr + high);
  for (int64_t u = 0; u < high; ++u) {
    if (u % 1024 == 0 && stop) return true;
    const int32_t* const end = graph.col + ptr[u + 1];
    const auto from = static_cast<int32_t>(std::max(low, u + 1));
    for (const int32_t* v = std::lower_bound(graph.col + ptr[u], end, from); v < end && *v < high; ++v) {
      const int64_t back = cursor[*v - low]++;
      if (back >= ptr[*v + 1] || graph.col[back] != u) return false;
      if (weight != nullptr && weight[back] != weight[v - graph.col]) return false;
    }
  }
  for (int64_t v = low; v < high; ++v)
    if (cursor[v - low] < ptr[v + 1] && graph.col[cursor[v - low]] < v) return false;
  return true;
}

// Calls write(place, row, slot) for every slot, where places are those of the transpose, whose rows begin at `begin`.
// Each block of columns is filled by one pass over the rows, which are sorted: a cursor per row stays where the block
// ends. The part of the output that a block writes to stays in the cache.
template <class Write>
void each_by_column(const Csr& graph, const int64_t* begin, int64_t threads, Write write) {
  constexpr int64_t kInCache = int64_t{1} << 17;  // slots of a block: 12 bytes each
  const int64_t n = graph.num_nodes, workers = threads_for(graph.rowptr[n], threads);
  const int64_t* const ptr = graph.rowptr;
  const int32_t* const head = graph.col;
  each_task(workers, workers, [&](int64_t part) {
    const auto [low, high] = rows_of(begin, n, part, workers);
    std::vector<int64_t> place(begin + low, begin + high), cursor(ptr, ptr + n);
    if (low > 0)
      for (int64_t u = 0; u < n; ++u)
        cursor[u] = std::lower_bound(head + ptr[u], head + ptr[u + 1], static_cast<int32_t>(low)) - head;
    for (int64_t block = low; block < high;) {
      int64_t end = block + 1;
      while (end < high && begin[end + 1] - begin[block] <= kInCache) ++end;
      for (int64_t u = 0; u < n; ++u)
        for (int64_t& i = cursor[u]; i < ptr[u + 1] && head[i] < end; ++i) write(place[head[i] - low]++, u, i);
      block = end;
    }
  });
}

}  // namespace

// Whether every arc has its reverse, of the same weight if weights are given (float64).
bool symmetric(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight, int64_t threads) {
  const Csr graph = view(rowptr, col);
  const double* const weights = weight ? weight->const_data_ptr<double>() : nullptr;
  const int64_t parts = threads_for(col.numel(), threads);
  std::atomic<bool> failed{false};
  each_task(parts, parts, [&](int64_t part) {
    const auto [low, high] = rows_of(graph.rowptr, graph.num_nodes, part, parts);
    if (!mirrored(graph, weights, low, high, failed)) failed = true;
  });
  return !failed;
}

// The reversed arcs, and for each the slot that it came from.
std::tuple<Tensor, Tensor, Tensor> transpose(const Tensor& rowptr, const Tensor& col, int64_t threads) {
  const int64_t n = rowptr.numel() - 1, count = col.numel();
  Tensor colptr = empty(rowptr, n + 1, ScalarType::Long);
  Tensor row = empty(rowptr, count, ScalarType::Int);
  Tensor slot = empty(rowptr, count, ScalarType::Long);
  const Csr graph = view(rowptr, col);
  int64_t* const begin = colptr.mutable_data_ptr<int64_t>();
  int32_t* const tail = row.mutable_data_ptr<int32_t>();
  int64_t* const from = slot.mutable_data_ptr<int64_t>();
  std::fill(begin, begin + n + 1, 0);
  each_range(threads_for(count, threads), count, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) __atomic_fetch_add(begin + graph.col[i] + 1, 1, __ATOMIC_RELAXED);
  });
  for (int64_t v = 0; v < n; ++v) begin[v + 1] += begin[v];
  each_by_column(graph, begin, threads, [&](int64_t place, int64_t u, int64_t i) {
    tail[place] = static_cast<int32_t>(u);
    from[place] = i;
  });
  return {colptr, row, slot};
}

// The slot of the reverse of each arc, in a graph that has them all: the last result of transpose.
Tensor reverse_slots(const Tensor& rowptr, const Tensor& col, int64_t threads) {
  Tensor slot = empty(rowptr, col.numel(), ScalarType::Long);
  int64_t* const from = slot.mutable_data_ptr<int64_t>();
  const Csr graph = view(rowptr, col);
  each_by_column(graph, graph.rowptr, threads, [&](int64_t place, int64_t, int64_t i) { from[place] = i; });
  return slot;
}

// The subgraph induced by `kept`, whose i-th vertex becomes vertex i, and the slot of each of its slots if wanted. Each
// row is gathered through the table of new numbers, which stays in the cache, and sorted there.
std::tuple<Tensor, Tensor, Tensor> induced(const Tensor& rowptr, const Tensor& col, const Tensor& kept, bool with_slots,
                                           int64_t threads) {
  const int64_t n = rowptr.numel() - 1, size = kept.numel(), workers = threads_for(col.numel(), threads);
  const int64_t* const ptr = rowptr.const_data_ptr<int64_t>();
  const int32_t* const head = col.const_data_ptr<int32_t>();
  const int64_t* const vertex = kept.const_data_ptr<int64_t>();
  std::vector<int32_t> number(n, -1);
  for (int64_t i = 0; i < size; ++i) number[vertex[i]] = static_cast<int32_t>(i);
  Tensor new_rowptr = empty(rowptr, size + 1, ScalarType::Long);
  int64_t* const begin = new_rowptr.mutable_data_ptr<int64_t>();
  begin[0] = 0;
  // Ranges of rows: the number of rows and of slots differ much, so that there are many.
  const int64_t parts = workers == 1 ? 1 : std::min<int64_t>(size, 1024);
  each_task(workers, parts, [&](int64_t part) {
    const auto [first, last] = part_of(size, part, parts);
    for (int64_t i = first; i < last; ++i) {
      int64_t degree = 0;
      for (int64_t s = ptr[vertex[i]]; s < ptr[vertex[i] + 1]; ++s) degree += number[head[s]] >= 0;
      begin[i + 1] = degree;
    }
  });
  for (int64_t i = 0; i < size; ++i) begin[i + 1] += begin[i];
  Tensor new_col = empty(rowptr, begin[size], ScalarType::Int);
  Tensor slot = empty(rowptr, with_slots ? begin[size] : 0, ScalarType::Long);
  int32_t* const new_head = new_col.mutable_data_ptr<int32_t>();
  int64_t* const from = with_slots ? slot.mutable_data_ptr<int64_t>() : nullptr;
  each_task(workers, parts, [&](int64_t part) {
    std::vector<uint64_t> words;  // new number and position in the old row
    const auto [first, last] = part_of(size, part, parts);
    for (int64_t i = first; i < last; ++i) {
      const int64_t old = ptr[vertex[i]], old_end = ptr[vertex[i] + 1];
      int32_t* const row = new_head + begin[i];
      int64_t k = 0;
      if (from == nullptr) {
        for (int64_t s = old; s < old_end; ++s)
          if (number[head[s]] >= 0) row[k++] = number[head[s]];
        if (!std::is_sorted(row, row + k)) std::sort(row, row + k);
        continue;
      }
      words.clear();
      for (int64_t s = old; s < old_end; ++s)
        if (number[head[s]] >= 0)
          words.push_back(static_cast<uint64_t>(number[head[s]]) << 32 | static_cast<uint32_t>(s - old));
      if (!std::is_sorted(words.begin(), words.end())) std::sort(words.begin(), words.end());
      for (const uint64_t word : words) {
        row[k] = static_cast<int32_t>(word >> 32);
        from[begin[i] + k++] = old + static_cast<uint32_t>(word);
      }
    }
  });
  return {new_rowptr, new_col, slot};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Of transpose and induced, slot is where each slot of the result came from.
  m.def("symmetric(Tensor rowptr, Tensor col, Tensor? weight=None, int threads=1) -> bool");
  m.def("transpose(Tensor rowptr, Tensor col, int threads=1) -> (Tensor colptr, Tensor row, Tensor slot)");
  m.def("reverse_slots(Tensor rowptr, Tensor col, int threads=1) -> Tensor");
  m.def(
      "induced(Tensor rowptr, Tensor col, Tensor kept, bool slots=True, int threads=1) -> "
      "(Tensor rowptr, Tensor col, Tensor slot)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("symmetric", TORCH_BOX(&symmetric));
  m.impl("transpose", TORCH_BOX(&transpose));
  m.impl("reverse_slots", TORCH_BOX(&reverse_slots));
  m.impl("induced", TORCH_BOX(&induced));
}

}  // namespace torchcent
