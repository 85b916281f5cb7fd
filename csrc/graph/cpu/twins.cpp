// Twins: vertices with the same neighbours, each other aside (torchcent/engines/reduce/_twins.py).

#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
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

// The arcs of one direction; weight is null if hops count.
struct Rows {
  Csr graph;
  const double* weight;
};

// The vertices that are not folded, and their arcs among them: both ways where arcs have directions.
struct Rest {
  std::vector<Rows> ways;
  const int64_t* parent;
  const int64_t* label;  // null: all are alike

  bool has(int64_t v) const { return parent[v] < 0; }
  bool weighted() const { return ways[0].weight != nullptr; }

  // Calls visit(way, slot) for each arc of v.
  template <class Visit>
  void each_arc(int64_t v, Visit visit) const {
    for (size_t way = 0; way < ways.size(); ++way) {
      const Csr& graph = ways[way].graph;
      for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot)
        if (has(graph.col[slot])) visit(way, slot);
    }
  }

  // Whether the arcs of u and v, except between each other, are the same, and those between them, too. With weights,
  // adjacent twins have to be nearer to each other than by any other vertex.
  bool alike(int64_t u, int64_t v) const {
    if (label != nullptr && label[u] != label[v]) return false;
    for (const Rows& rows : ways)
      if (!alike(rows, u, v)) return false;
    return true;
  }

 private:
  bool alike(const Rows& rows, int64_t u, int64_t v) const {
    const Csr& graph = rows.graph;
    int64_t to_v = -1, to_u = -1;  // slots
    const auto next = [&](int64_t slot, int64_t end, int64_t other, int64_t& between) {
      for (; slot < end && (!has(graph.col[slot]) || graph.col[slot] == other); ++slot)
        if (graph.col[slot] == other) between = slot;
      return slot;
    };
    const int64_t end_u = graph.rowptr[u + 1], end_v = graph.rowptr[v + 1];
    int64_t i = next(graph.rowptr[u], end_u, v, to_v), j = next(graph.rowptr[v], end_v, u, to_u);
    double least = std::numeric_limits<double>::infinity();
    while (i < end_u && j < end_v) {
      if (graph.col[i] != graph.col[j]) return false;
      if (rows.weight != nullptr) {
        if (rows.weight[i] != rows.weight[j]) return false;
        least = std::min(least, rows.weight[i]);
      }
      i = next(i + 1, end_u, v, to_v);
      j = next(j + 1, end_v, u, to_u);
    }
    if (i < end_u || j < end_v || (to_v < 0) != (to_u < 0)) return false;
    if (rows.weight == nullptr || to_v < 0) return true;
    return rows.weight[to_v] == rows.weight[to_u] && rows.weight[to_v] < 2 * least;
  }
};

using Keys = std::vector<std::pair<uint64_t, int32_t>>;

// Sorts by key and vertex: first by the highest bits, which are random, into buckets of about one key each.
void sort(Keys& keys) {
  const int shift = 64 - std::bit_width(keys.size() + 1);
  const auto bucket = [shift](const auto& key) { return static_cast<size_t>(key.first >> shift); };
  std::vector<int64_t> end((size_t{1} << (64 - shift)) + 1, 0);
  for (const auto& key : keys) ++end[bucket(key) + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  Keys sorted(keys.size());
  for (const auto& key : keys) sorted[end[bucket(key)]++] = key;
  int64_t begin = 0;
  for (size_t i = 0; i + 1 < end.size(); begin = end[i++])
    if (end[i] - begin > 1) std::sort(sorted.begin() + begin, sorted.begin() + end[i]);
  keys.swap(sorted);
}

// Comparisons that may fail per vertex: rows with equal sums differ only if somebody has made them so, and twins need
// not be found.
constexpr int kFailures = 8;

// Joins the vertices of equal keys whose rows are alike; of each class, its smallest vertex is the twin of all.
void join(Keys& keys, const Rest& rest, int64_t* twin) {
  sort(keys);
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

// Sums of hashes per vertex; vertices that are alike have equal ones. Adjacent twins need the weights apart from the
// heads, since the weight between them is that of another head for each.
struct Sums {
  std::vector<uint64_t> apart, adjacent;
  std::vector<char> alone;  // folded, or without arcs

  Sums(const Rest& rest, int64_t n, int64_t workers) : apart(n), adjacent(rest.weighted() ? n : 0), alone(n, 1) {
    each_range(workers, n, [&](int64_t begin, int64_t end) {
      for (int64_t v = begin; v < end; ++v) {
        apart[v] = rest.label == nullptr ? 0 : mixed(~static_cast<uint64_t>(rest.label[v]));
        if (rest.weighted()) adjacent[v] = apart[v];
        if (!rest.has(v)) continue;
        rest.each_arc(v, [&](size_t way, int64_t slot) {
          alone[v] = 0;
          const uint64_t head = of_head(rest.ways[way].graph.col[slot], way);
          if (!rest.weighted()) {
            apart[v] += head;
          } else {
            const uint64_t weight = mixed(std::bit_cast<uint64_t>(rest.ways[way].weight[slot]));
            apart[v] += mixed(head ^ weight);
            adjacent[v] += head + (weight ^ way);
          }
        });
      }
    });
  }

  uint64_t of(int64_t v, bool second, size_t ways) const {
    if (!second) return apart[v];
    uint64_t sum = adjacent.empty() ? apart[v] : adjacent[v];
    for (size_t way = 0; way < ways; ++way) sum += of_head(v, way);
    return sum;
  }

 private:
  static uint64_t of_head(int64_t v, size_t way) { return mixed(static_cast<uint64_t>(v) ^ (uint64_t{way} << 40)); }
};

// What closes the shortest paths between twins.
struct Between {
  Slots around, among;
  std::vector<int64_t> second;  // [n] the second smallest twin of a class; -1: there is no need of one
};

// around: the slots of vertices with twins that are not adjacent to their nearest neighbours, by which the paths
// between such twins run if arcs have no directions. If they have, these paths are closed walks, which a search finds
// if a second twin is among its vertices. among: the slots between adjacent twins.
Between between_twins(const Rest& rest, const int64_t* twin, int64_t n) {
  const Rows& out = rest.ways[0];
  const Csr& graph = out.graph;
  const bool directed = rest.ways.size() > 1;
  std::vector<char> several(n, 0), adjacent(n, 0);
  Between found;
  for (int64_t v = 0; v < n; ++v)
    if (twin[v] != v) several[v] = several[twin[v]] = 1;
  for (int64_t v = 0; v < n; ++v)
    for (int64_t slot = graph.rowptr[v]; several[v] && slot < graph.rowptr[v + 1]; ++slot)
      if (twin[graph.col[slot]] == twin[v]) found.among.emplace_back(v, slot), adjacent[v] = 1;
  found.second.assign(n, -1);
  for (int64_t v = 0; v < n; ++v) {
    if (!several[v] || adjacent[v]) continue;
    if (directed) {
      const Csr& back = rest.ways[1].graph;
      const bool passed = graph.rowptr[v] < graph.rowptr[v + 1] && back.rowptr[v] < back.rowptr[v + 1];
      if (passed && twin[v] != v && found.second[twin[v]] < 0) found.second[twin[v]] = v;
      continue;
    }
    double least = std::numeric_limits<double>::infinity();
    for (int64_t slot = graph.rowptr[v]; out.weight != nullptr && slot < graph.rowptr[v + 1]; ++slot)
      if (rest.has(graph.col[slot])) least = std::min(least, out.weight[slot]);
    for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot)
      if (rest.has(graph.col[slot]) && (out.weight == nullptr || out.weight[slot] == least))
        found.around.emplace_back(v, slot);
  }
  return found;
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
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> twins(const Tensor& rowptr, const Tensor& col,
                                                         std::optional<Tensor> weight, std::optional<Tensor> colptr,
                                                         std::optional<Tensor> row, std::optional<Tensor> back_weight,
                                                         const Tensor& parent, std::optional<Tensor> label,
                                                         int64_t threads) {
  const auto values = [](const std::optional<Tensor>& x) { return x ? x->const_data_ptr<double>() : nullptr; };
  Rest rest = {{{view(rowptr, col), values(weight)}},
               parent.const_data_ptr<int64_t>(),
               label ? label->const_data_ptr<int64_t>() : nullptr};
  if (colptr) rest.ways.push_back({view(*colptr, *row), values(back_weight)});
  const int64_t n = rowptr.numel() - 1, workers = threads_for(col.numel() + n, threads);
  const Sums sums(rest, n, workers);
  Tensor found = empty(rowptr, n, ScalarType::Long);
  int64_t* const twin = found.mutable_data_ptr<int64_t>();
  for (int64_t v = 0; v < n; ++v) twin[v] = v;
  Keys keys;
  for (const bool adjacent : {false, true}) {
    keys.clear();
    for (int64_t v = 0; v < n; ++v)
      if (!sums.alone[v] && twin[v] == v)
        keys.emplace_back(sums.of(v, adjacent, rest.ways.size()), static_cast<int32_t>(v));
    join(keys, rest, twin);
  }
  const Between between = between_twins(rest, twin, n);
  const auto stands = [&](int64_t v) { return twin[v] == v || between.second[twin[v]] == v; };
  std::vector<int64_t> size(n, 0);
  for (int64_t v = 0; v < n; ++v) ++size[twin[v]];
  Tensor searched = empty(rowptr, n, ScalarType::Double), neighbours = empty(rowptr, n, ScalarType::Long);
  double* const copies = searched.mutable_data_ptr<double>();
  int64_t* const left = neighbours.mutable_data_ptr<int64_t>();
  each_range(workers, n, [&](int64_t begin, int64_t end) {
    for (int64_t v = begin; v < end; ++v) {
      left[v] = 0, copies[v] = 0;
      if (!rest.has(v) || !stands(v)) continue;
      const int64_t all = size[twin[v]], second = between.second[twin[v]];
      copies[v] = static_cast<double>(second < 0 ? all : second == v ? all - 1 : 1);
      rest.each_arc(v, [&](size_t way, int64_t slot) { left[v] += stands(rest.ways[way].graph.col[slot]); });
    }
  });
  return {found, searched, neighbours, as_tensor(rowptr, between.around), as_tensor(rowptr, between.among)};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // twin: the smallest vertex with the same arcs, besides those between the two, and the same label. The transpose is
  // that of a directed graph. parent: that of fold; folded vertices do not count. copies: of a vertex that is searched,
  // the number of twins that it stands for; in a directed graph the first two twins of a class that are not adjacent
  // are searched. left: of a vertex that is searched, the number of arcs to others. around, among, [2, count]: a vertex
  // with twins and its slot to a nearest neighbour of twins that are not adjacent, or to a twin.
  m.def(
      "twins(Tensor rowptr, Tensor col, Tensor? weight, Tensor? colptr, Tensor? row, Tensor? back_weight, "
      "Tensor parent, Tensor? label=None, int threads=1) -> "
      "(Tensor twin, Tensor copies, Tensor left, Tensor around, Tensor among)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("twins", TORCH_BOX(&twins)); }

}  // namespace torchcent
