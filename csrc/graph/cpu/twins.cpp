// Twins: vertices with the same neighbours, each other aside (torchcent/engines/_twins.py).

#include <torch/csrc/stable/library.h>

#include <algorithm>
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

// SplitMix64 (Steele, Lea and Flood 2014). Equal sums of these numbers are only candidates, whose rows are compared.
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// The vertices that are not folded, and their neighbours among them.
struct Rest {
  Csr graph;
  const int64_t* parent;
  const int64_t* label;  // null: all are alike

  bool has(int64_t v) const { return parent[v] < 0; }

  // Whether the neighbours of u and v, except u and v, are the same.
  bool alike(int64_t u, int64_t v) const {
    if (label != nullptr && label[u] != label[v]) return false;
    const auto next = [&](int64_t& slot, int64_t end) {
      while (slot < end && (!has(graph.col[slot]) || graph.col[slot] == u || graph.col[slot] == v)) ++slot;
      return slot < end;
    };
    int64_t i = graph.rowptr[u], j = graph.rowptr[v];
    while (true) {
      const bool one = next(i, graph.rowptr[u + 1]), other = next(j, graph.rowptr[v + 1]);
      if (!one || !other) return one == other;
      if (graph.col[i++] != graph.col[j++]) return false;
    }
  }
};

using Keys = std::vector<std::pair<uint64_t, int32_t>>;

// Comparisons that may fail per vertex: rows with equal sums differ only if somebody has made them so, and twins need
// not be found.
constexpr int kFailures = 8;

// Joins the vertices of equal keys whose rows are alike; of each class, its smallest vertex is the twin of all.
void join(Keys& keys, const Rest& rest, int64_t* twin) {
  std::sort(keys.begin(), keys.end());
  for (size_t begin = 0, end; begin < keys.size(); begin = end) {
    for (end = begin + 1; end < keys.size() && keys[end].first == keys[begin].first;) ++end;
    for (size_t i = begin; i < end; ++i) {
      const int64_t u = keys[i].second;
      if (twin[u] != u) continue;
      int failed = 0;
      for (size_t j = i + 1; j < end && failed < kFailures; ++j) {
        const int64_t v = keys[j].second;
        if (twin[v] != v) continue;
        if (rest.alike(u, v)) twin[v] = u;
        else ++failed;
      }
    }
  }
}

using Slots = std::vector<std::pair<int64_t, int64_t>>;  // vertex, slot

// The slots of vertices with twins: those to the neighbours of twins that are not adjacent, and those to twins.
std::pair<Slots, Slots> slots_of_twins(const Rest& rest, const int64_t* twin) {
  const Csr& graph = rest.graph;
  std::vector<char> several(graph.num_nodes, 0), adjacent(graph.num_nodes, 0);
  Slots around, among;
  for (int64_t v = 0; v < graph.num_nodes; ++v)
    if (twin[v] != v) several[v] = several[twin[v]] = 1;
  for (int64_t v = 0; v < graph.num_nodes; ++v)
    for (int64_t slot = graph.rowptr[v]; several[v] && slot < graph.rowptr[v + 1]; ++slot)
      if (twin[graph.col[slot]] == twin[v]) among.emplace_back(v, slot), adjacent[v] = 1;
  for (int64_t v = 0; v < graph.num_nodes; ++v)
    for (int64_t slot = graph.rowptr[v]; several[v] && !adjacent[v] && slot < graph.rowptr[v + 1]; ++slot)
      if (rest.has(graph.col[slot])) around.emplace_back(v, slot);
  return {around, among};
}

// [2, count]: the vertices, and the slots.
Tensor as_tensor(const Tensor& like, const Slots& slots) {
  const auto count = static_cast<int64_t>(slots.size());
  Tensor result = torch::stable::new_empty(like, {2, count}, ScalarType::Long);
  int64_t* const to = result.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) to[i] = slots[i].first, to[count + i] = slots[i].second;
  return result;
}

}  // namespace

// No vertex has twins of both kinds, adjacent and not adjacent ones: with u and w not adjacent and v adjacent to u, v
// is a neighbour of w, and hence w one of u.
std::tuple<Tensor, Tensor, Tensor, Tensor> twins(const Tensor& rowptr, const Tensor& col, const Tensor& parent,
                                                 std::optional<Tensor> label, int64_t threads) {
  const Rest rest = {view(rowptr, col), parent.const_data_ptr<int64_t>(),
                     label ? label->const_data_ptr<int64_t>() : nullptr};
  const Csr& graph = rest.graph;
  const int64_t n = graph.num_nodes, workers = threads_for(col.numel() + n, threads);
  std::vector<uint64_t> sum(n);
  std::vector<char> alone(n, 1);  // folded, or without neighbours
  each_range(workers, n, [&](int64_t begin, int64_t end) {
    for (int64_t v = begin; v < end; ++v) {
      sum[v] = rest.label == nullptr ? 0 : mixed(~static_cast<uint64_t>(rest.label[v]));
      if (!rest.has(v)) continue;
      for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot)
        if (rest.has(graph.col[slot])) alone[v] = 0, sum[v] += mixed(graph.col[slot]);
    }
  });
  Tensor found = empty(rowptr, n, ScalarType::Long);
  int64_t* const twin = found.mutable_data_ptr<int64_t>();
  for (int64_t v = 0; v < n; ++v) twin[v] = v;
  Keys keys;
  for (const bool adjacent : {false, true}) {
    keys.clear();
    for (int64_t v = 0; v < n; ++v)
      if (!alone[v] && twin[v] == v) keys.emplace_back(sum[v] + (adjacent ? mixed(v) : 0), static_cast<int32_t>(v));
    join(keys, rest, twin);
  }
  Tensor neighbours = empty(rowptr, n, ScalarType::Long);
  int64_t* const left = neighbours.mutable_data_ptr<int64_t>();
  each_range(workers, n, [&](int64_t begin, int64_t end) {
    for (int64_t v = begin; v < end; ++v) {
      left[v] = 0;
      if (!rest.has(v) || twin[v] != v) continue;
      for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot)
        left[v] += rest.has(graph.col[slot]) && twin[graph.col[slot]] == graph.col[slot];
    }
  });
  const auto [around, among] = slots_of_twins(rest, twin);
  return {found, neighbours, as_tensor(rowptr, around), as_tensor(rowptr, among)};
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("twins", TORCH_BOX(&twins)); }

}  // namespace torchcent
