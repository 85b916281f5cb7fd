// Preparation of graphs: CSR, transpose, induced subgraphs, leaf folding. All linear time. Arguments are validated
// in Python (torchcent/_check.py and graph.py).

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <tuple>
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
// ptr holds the beginning of each key's run afterwards.
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

// Are the arcs sorted by (tail, head), without loops and copies, as those of data sets often are?
bool is_csr(const int64_t* tail, const int64_t* head, int64_t columns) {
  if (columns > 0 && tail[0] == head[0]) return false;
  for (int64_t e = 1; e < columns; ++e) {
    const bool after = (tail[e] > tail[e - 1]) | ((tail[e] == tail[e - 1]) & (head[e] > head[e - 1]));
    if (!after | (tail[e] == head[e])) return false;
  }
  return true;
}

std::tuple<Tensor, Tensor, Tensor> sorted_csr(const Tensor& edge_index, int64_t n) {
  const int64_t columns = edge_index.size(1);
  const int64_t* const tail = edge_index.const_data_ptr<int64_t>();
  Tensor rowptr = empty(edge_index, n + 1, ScalarType::Long);
  Tensor col = empty(edge_index, columns, ScalarType::Int);
  Tensor slot = empty(edge_index, columns, ScalarType::Long);
  int64_t* const ptr = rowptr.mutable_data_ptr<int64_t>();
  int32_t* const target = col.mutable_data_ptr<int32_t>();
  int64_t* const slot_of = slot.mutable_data_ptr<int64_t>();
  // The last arc of a row leaves its end there; rows without arcs end where the one before does. No branch, as one
  // for every few arcs would be mispredicted.
  for (int64_t v = 0; v <= n; ++v) ptr[v] = 0;
  for (int64_t e = 0; e < columns; ++e) ptr[tail[e] + 1] = e + 1;
  for (int64_t v = 0; v < n; ++v) ptr[v + 1] = std::max(ptr[v], ptr[v + 1]);
  for (int64_t e = 0; e < columns; ++e) target[e] = static_cast<int32_t>(tail[columns + e]);
  for (int64_t e = 0; e < columns; ++e) slot_of[e] = e;
  return {rowptr, col, slot};
}

}  // namespace

// Self-loops are dropped (slot -1), copies of an arc share a slot.
std::tuple<Tensor, Tensor, Tensor> csr(const Tensor& edge_index, int64_t n, bool symmetric) {
  const int64_t columns = edge_index.size(1);
  const int64_t* tail = edge_index.const_data_ptr<int64_t>();
  const int64_t* head = tail + columns;
  if (!symmetric && is_csr(tail, head, columns)) return sorted_csr(edge_index, n);
  std::vector<Arc> arcs;
  arcs.reserve(columns * (symmetric ? 2 : 1));
  for (int64_t e = 0; e < columns; ++e) {
    const int32_t u = static_cast<int32_t>(tail[e]), v = static_cast<int32_t>(head[e]);
    if (u == v) continue;
    arcs.push_back({v, u, e});
    if (symmetric) arcs.push_back({u, v, columns});
  }
  const int64_t count = static_cast<int64_t>(arcs.size());
  Tensor rowptr = empty(edge_index, n + 1, ScalarType::Long);
  Tensor slot = empty(edge_index, columns, ScalarType::Long);
  int64_t* const ptr = rowptr.mutable_data_ptr<int64_t>();
  int64_t* const slot_of = slot.mutable_data_ptr<int64_t>();
  std::vector<int32_t> all_col(count);
  std::vector<int64_t> id(count);
  sort_arcs(n, arcs, ptr, all_col.data(), id.data());
  for (int64_t e = 0; e < columns; ++e) slot_of[e] = -1;
  int64_t slots = 0;  // merge copies in place
  for (int64_t v = 0, i = 0; v < n; ++v) {
    const int64_t begin = slots, end = ptr[v + 1];
    for (; i < end; ++i) {
      if (slots == begin || all_col[slots - 1] != all_col[i]) all_col[slots++] = all_col[i];
      if (id[i] < columns) slot_of[id[i]] = slots - 1;
    }
    ptr[v] = begin;
  }
  ptr[n] = slots;
  Tensor col = empty(edge_index, slots, ScalarType::Int);
  int32_t* const target = col.mutable_data_ptr<int32_t>();
  for (int64_t i = 0; i < slots; ++i) target[i] = all_col[i];
  return {rowptr, col, slot};
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
  int64_t v = 0;  // the row of slot i: bucket() asks in order, twice
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

// The subgraph on `kept`, whose i-th vertex becomes vertex i.
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

// Removes vertices of degree 1 of a symmetric graph, once or until none is left. order: the removed ones, each
// before its parent; parent [n]: the neighbour it hung on, -1 for those that stay.
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

// Sums of values over what is folded onto each vertex, itself included.
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
  m.impl("csr", TORCH_BOX(&csr));
  m.impl("transpose", TORCH_BOX(&transpose));
  m.impl("induced", TORCH_BOX(&induced));
  m.impl("fold", TORCH_BOX(&fold));
  m.impl("tree_sum", TORCH_BOX(&tree_sum));
}

}  // namespace torchcent
