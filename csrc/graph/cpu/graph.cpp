// Graph construction: CSR, transpose, induced subgraphs, leaf folding, all in linear time. Arguments are validated in
// Python (torchcent/check), ids of arcs as copies: see vertex_ids.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

Tensor empty(const Tensor& like, int64_t size, ScalarType type) { return torch::stable::new_empty(like, {size}, type); }

struct Arc {
  int32_t key, other;
  int64_t id;
};

// Stable counting sort of `count` arcs by key in [0, n): writes ptr [n + 1], and calls write(place, other, id).
// Afterwards, ptr holds the start of each key's range.
template <class ArcAt, class Write>
void bucket(int64_t n, int64_t count, int64_t* ptr, ArcAt arc_at, Write write) {
  for (int64_t v = 0; v <= n; ++v) ptr[v] = 0;
  for (int64_t i = 0; i < count; ++i) ++ptr[arc_at(i).key];
  int64_t sum = 0;
  for (int64_t v = 0; v <= n; ++v) {
    const int64_t degree = ptr[v];
    ptr[v] = sum;
    sum += degree;
  }
  for (int64_t i = 0; i < count; ++i) {
    const Arc arc = arc_at(i);
    write(ptr[arc.key]++, arc.other, arc.id);
  }
  for (int64_t v = n; v > 0; --v) ptr[v] = ptr[v - 1];
  ptr[0] = 0;
}

// Sorts arcs by (row, col): one counting sort by column, then one by row. arcs[i] is {col, row, id}.
void sort_arcs(int64_t n, std::vector<Arc>& arcs, int64_t* rowptr, int32_t* col, int64_t* id) {
  const int64_t count = static_cast<int64_t>(arcs.size());
  std::vector<Arc> by_col(count);
  std::vector<int64_t> colptr(n + 1);
  int32_t current = 0;
  bucket(
      n, count, colptr.data(), [&](int64_t i) { return arcs[i]; },
      [&](int64_t place, int32_t row, int64_t arc) { by_col[place] = {row, 0, arc}; });
  arcs = {};
  for (int64_t c = 0; c < n; ++c, ++current)
    for (int64_t i = colptr[c]; i < colptr[c + 1]; ++i) by_col[i].other = current;
  bucket(
      n, count, rowptr, [&](int64_t i) { return by_col[i]; },
      [&](int64_t place, int32_t c, int64_t arc) {
        col[place] = c;
        id[place] = arc;
      });
}

// Copies ids that other threads may modify concurrently: each is read once, and the copy is validated. Ids that do not
// fit int32 are truncated, and are detected by the smallest and the largest id.
template <class Id>
void copy_ids(const Tensor& edge_index, int32_t* copy, int64_t* range) {
  const int64_t columns = edge_index.size(1);
  Id low = std::numeric_limits<Id>::max(), high = std::numeric_limits<Id>::min();
  for (int64_t side = 0; side < 2; ++side, copy += columns) {
    const Id* const id = edge_index.const_data_ptr<Id>() + side * edge_index.stride(0);
    const int64_t step = edge_index.stride(1);
    for (int64_t e = 0; e < columns; ++e) {
      const Id v = __atomic_load_n(id + e * step, __ATOMIC_RELAXED);
      low = std::min(low, v);
      high = std::max(high, v);
      copy[e] = static_cast<int32_t>(v);
    }
  }
  range[0] = low;
  range[1] = high;
}

// Whether the arcs are sorted by (tail, head), without loops and duplicates, as is common in data sets.
bool is_csr(const int32_t* tail, const int32_t* head, int64_t columns) {
  if (columns > 0 && tail[0] == head[0]) return false;
  for (int64_t e = 1; e < columns; ++e) {
    const bool after = (tail[e] > tail[e - 1]) | ((tail[e] == tail[e - 1]) & (head[e] > head[e - 1]));
    if (!after | (tail[e] == head[e])) return false;
  }
  return true;
}

std::tuple<Tensor, Tensor, Tensor> sorted_csr(const Tensor& ids, int64_t n) {
  const int64_t columns = ids.size(1);
  const int32_t* const tail = ids.const_data_ptr<int32_t>();
  Tensor rowptr = empty(ids, n + 1, ScalarType::Long);
  Tensor col = empty(ids, columns, ScalarType::Int);
  Tensor slot = empty(ids, columns, ScalarType::Long);
  int64_t* const ptr = rowptr.mutable_data_ptr<int64_t>();
  int64_t* const slot_of = slot.mutable_data_ptr<int64_t>();
  // The last arc of a row stores its end; rows without arcs end where the previous row does. There is no branch,
  // because it would be mispredicted every few arcs.
  for (int64_t v = 0; v <= n; ++v) ptr[v] = 0;
  for (int64_t e = 0; e < columns; ++e) ptr[tail[e] + 1] = e + 1;
  for (int64_t v = 0; v < n; ++v) ptr[v + 1] = std::max(ptr[v], ptr[v + 1]);
  std::copy(tail + columns, tail + 2 * columns, col.mutable_data_ptr<int32_t>());
  for (int64_t e = 0; e < columns; ++e) slot_of[e] = e;
  return {rowptr, col, slot};
}

// Two counting sorts, by head and then by tail; the second drops duplicates. Number is the type of the column numbers:
// the first sort is faster with fewer bytes.
template <class Number>
std::tuple<Tensor, Tensor, Tensor> unsorted_csr(const Tensor& ids, int64_t n, bool symmetric) {
  struct In {
    int32_t tail;
    Number column;  // or their number, for an added reverse arc
  };
  struct Row {
    int64_t next = 0;   // slot
    int32_t last = -1;  // head
  };
  const int64_t columns = ids.size(1);
  const Number added = static_cast<Number>(columns);
  const int32_t* const tail = ids.const_data_ptr<int32_t>();
  const int32_t* const head = tail + columns;
  const auto each_arc = [&](auto take) {
    for (int64_t e = 0; e < columns; ++e) {
      if (tail[e] == head[e]) continue;
      take(tail[e], head[e], static_cast<Number>(e));
      if (symmetric) take(head[e], tail[e], added);
    }
  };
  Tensor rowptr = empty(ids, n + 1, ScalarType::Long);
  Tensor slot = empty(ids, columns, ScalarType::Long);
  int64_t* const ptr = rowptr.mutable_data_ptr<int64_t>();
  int64_t* const slot_of = slot.mutable_data_ptr<int64_t>();
  std::vector<int64_t> colptr(n + 1);
  std::vector<Row> rows(n);
  each_arc([&](int32_t u, int32_t v, Number) {
    ++rows[u].next;
    ++colptr[v];
  });
  int64_t count = 0, into = 0;
  for (int64_t v = 0; v < n; ++v) {
    ptr[v] = count;
    count += std::exchange(rows[v].next, count);
    into += std::exchange(colptr[v], into);
  }
  ptr[n] = count;
  Tensor col = empty(ids, count, ScalarType::Int);
  int32_t* target = col.mutable_data_ptr<int32_t>();
  {
    const auto by_head = std::make_unique_for_overwrite<In[]>(count);
    each_arc([&](int32_t u, int32_t v, Number e) { by_head[colptr[v]++] = {u, e}; });  // colptr: now the ends
    for (int64_t e = 0; e < columns; ++e) slot_of[e] = -1;
    int64_t i = 0;
    for (int64_t v = 0; v < n; ++v) {
      for (; i < colptr[v]; ++i) {
        Row& row = rows[by_head[i].tail];
        if (row.last != v) {
          row.last = static_cast<int32_t>(v);
          target[row.next++] = row.last;
        }
        if (by_head[i].column != added) slot_of[by_head[i].column] = row.next - 1;
      }
    }
  }
  std::vector<int64_t>& shift = colptr;  // number of duplicates dropped before each row
  int64_t slots = 0;
  for (int64_t v = 0; v < n; ++v) {
    shift[v] = ptr[v] - slots;
    slots += rows[v].next - ptr[v];
  }
  if (slots == count) return {rowptr, col, slot};
  Tensor merged = empty(ids, slots, ScalarType::Int);
  int32_t* const place = merged.mutable_data_ptr<int32_t>();
  for (int64_t v = 0; v < n; ++v) {
    std::copy(target + ptr[v], target + rows[v].next, place + ptr[v] - shift[v]);
    ptr[v] -= shift[v];
  }
  ptr[n] = slots;
  for (int64_t e = 0; e < columns; ++e)
    if (slot_of[e] >= 0) slot_of[e] -= shift[tail[e]];
  return {rowptr, merged, slot};
}

}  // namespace

// A copy of the ids of int64 or int32 arcs with any strides, and [smallest, largest] of them.
std::tuple<Tensor, Tensor> vertex_ids(const Tensor& edge_index) {
  Tensor ids = torch::stable::new_empty(edge_index, {2, edge_index.size(1)}, ScalarType::Int);
  Tensor range = empty(edge_index, 2, ScalarType::Long);
  int32_t* const copy = ids.mutable_data_ptr<int32_t>();
  int64_t* const ends = range.mutable_data_ptr<int64_t>();
  if (edge_index.scalar_type() == ScalarType::Int) copy_ids<int32_t>(edge_index, copy, ends);
  else copy_ids<int64_t>(edge_index, copy, ends);
  return {ids, range};
}

// ids: int32 [2, columns], in [0, n), not shared with other threads. Self-loops are dropped (slot -1); duplicate arcs
// share a slot.
std::tuple<Tensor, Tensor, Tensor> csr(const Tensor& ids, int64_t n, bool symmetric) {
  const int64_t columns = ids.size(1);
  const int32_t* const tail = ids.const_data_ptr<int32_t>();
  if (!symmetric && is_csr(tail, tail + columns, columns)) return sorted_csr(ids, n);
  return columns < std::numeric_limits<int32_t>::max() ? unsorted_csr<int32_t>(ids, n, symmetric)
                                                       : unsorted_csr<int64_t>(ids, n, symmetric);
}

std::tuple<Tensor, Tensor, Tensor> transpose(const Tensor& rowptr, const Tensor& col) {
  const int64_t n = rowptr.numel() - 1, slots = col.numel();
  Tensor colptr = empty(rowptr, n + 1, ScalarType::Long);
  Tensor row = empty(rowptr, slots, ScalarType::Int);
  Tensor slot = empty(rowptr, slots, ScalarType::Long);
  const int64_t* ptr = rowptr.const_data_ptr<int64_t>();
  const int32_t* head = col.const_data_ptr<int32_t>();
  int32_t* const tail = row.mutable_data_ptr<int32_t>();
  int64_t* const from = slot.mutable_data_ptr<int64_t>();
  int64_t v = 0;  // the row of slot i: bucket() visits slots in order, twice
  bucket(
      n, slots, colptr.mutable_data_ptr<int64_t>(),
      [&](int64_t i) {
        if (i == 0) v = 0;
        while (i >= ptr[v + 1]) ++v;
        return Arc{head[i], static_cast<int32_t>(v), i};
      },
      [&](int64_t place, int32_t other, int64_t id) {
        tail[place] = other;
        from[place] = id;
      });
  return {colptr, row, slot};
}

// The subgraph induced by `kept`, whose i-th vertex becomes vertex i.
std::tuple<Tensor, Tensor, Tensor> induced(const Tensor& rowptr, const Tensor& col, const Tensor& kept) {
  const int64_t n = rowptr.numel() - 1, size = kept.numel();
  const int64_t* ptr = rowptr.const_data_ptr<int64_t>();
  const int32_t* head = col.const_data_ptr<int32_t>();
  const int64_t* vertex = kept.const_data_ptr<int64_t>();
  std::vector<int32_t> place(n, -1);
  for (int64_t i = 0; i < size; ++i) place[vertex[i]] = static_cast<int32_t>(i);
  std::vector<Arc> arcs;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t s = ptr[vertex[i]]; s < ptr[vertex[i] + 1]; ++s)
      if (place[head[s]] >= 0) arcs.push_back({place[head[s]], static_cast<int32_t>(i), s});
  const int64_t count = static_cast<int64_t>(arcs.size());
  Tensor new_rowptr = empty(rowptr, size + 1, ScalarType::Long);
  Tensor new_col = empty(rowptr, count, ScalarType::Int);
  Tensor slot = empty(rowptr, count, ScalarType::Long);
  sort_arcs(size, arcs, new_rowptr.mutable_data_ptr<int64_t>(), new_col.mutable_data_ptr<int32_t>(),
            slot.mutable_data_ptr<int64_t>());
  return {new_rowptr, new_col, slot};
}

// Removes vertices of degree 1 of a symmetric graph, once or until none is left. order: the removed vertices, each
// before its parent; parent [n]: the neighbour it was folded onto, -1 for the remaining ones.
std::tuple<Tensor, Tensor> fold(const Tensor& rowptr, const Tensor& col, bool recursive) {
  const int64_t n = rowptr.numel() - 1;
  const int64_t* ptr = rowptr.const_data_ptr<int64_t>();
  const int32_t* head = col.const_data_ptr<int32_t>();
  Tensor parent = empty(rowptr, n, ScalarType::Long);
  int64_t* const hangs_on = parent.mutable_data_ptr<int64_t>();
  std::vector<int64_t> degree(n), removed;
  for (int64_t v = 0; v < n; ++v) {
    hangs_on[v] = -1;
    degree[v] = ptr[v + 1] - ptr[v];
    if (degree[v] == 1) removed.push_back(v);
  }
  size_t kept = 0;
  for (size_t i = 0; i < removed.size(); ++i) {
    const int64_t v = removed[i];
    if (degree[v] != 1) continue;  // its only neighbour was folded onto it
    int64_t s = ptr[v];
    while (hangs_on[head[s]] >= 0) ++s;
    const int64_t u = head[s];
    hangs_on[v] = u;
    degree[v] = 0;
    removed[kept++] = v;
    if (--degree[u] == 1 && recursive) removed.push_back(u);
  }
  Tensor order = empty(rowptr, static_cast<int64_t>(kept), ScalarType::Long);
  int64_t* const target = order.mutable_data_ptr<int64_t>();
  for (size_t i = 0; i < kept; ++i) target[i] = removed[i];
  return {order, parent};
}

// Sums of values over the vertices folded onto each vertex, including itself.
Tensor tree_sum(const Tensor& order, const Tensor& parent, const Tensor& values) {
  const int64_t n = parent.numel();
  const int64_t* vertex = order.const_data_ptr<int64_t>();
  const int64_t* hangs_on = parent.const_data_ptr<int64_t>();
  const double* value = values.const_data_ptr<double>();
  Tensor result = empty(values, n, ScalarType::Double);
  double* const sum = result.mutable_data_ptr<double>();
  for (int64_t v = 0; v < n; ++v) sum[v] = value[v];
  for (int64_t i = 0; i < order.numel(); ++i) sum[hangs_on[vertex[i]]] += sum[vertex[i]];
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("vertex_ids", TORCH_BOX(&vertex_ids));
  m.impl("csr", TORCH_BOX(&csr));
  m.impl("transpose", TORCH_BOX(&transpose));
  m.impl("induced", TORCH_BOX(&induced));
  m.impl("fold", TORCH_BOX(&fold));
  m.impl("tree_sum", TORCH_BOX(&tree_sum));
}

}  // namespace torchcent
