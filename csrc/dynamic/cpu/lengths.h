// The sums of the distances from one source in a graph that changes. All are integers, so that differences add up to
// what a new search gives.
#pragma once

#include "dynamic/cpu/settling.h"

namespace torchcent::dynamic {

// Of the vertices besides the source that it reaches: their number, the sum of their distances, the largest one, and
// the sum of 1 / distance as a multiple of 2^-64.
struct Lengths {
  int64_t reach = 0, sum = 0, longest = 0;
  uint64_t low = 0, high = 0;

  void add(int64_t distance) { change(distance, 1), longest = std::max(longest, distance); }
  void remove(int64_t distance) { change(distance, -1); }

 private:
  void change(int64_t distance, int sign) {
    if (distance == 0) return;  // the source
    reach += sign, sum += sign * distance;
    const Unsigned part = fixed(1.0 / static_cast<double>(distance));
    Unsigned total = static_cast<Unsigned>(high) << 64 | low;
    total += sign > 0 ? part : -part;
    low = static_cast<uint64_t>(total), high = static_cast<uint64_t>(total >> 64);
  }
};
static_assert(sizeof(Lengths) == 40);

// Which rows a batch touches, told from the rows of the ends of its arcs: in an undirected graph, what is far from them
// is as far from all. A row of each end is read at a stretch, and not two entries of each row.
template <typename Hops>
class TouchedRows {
 public:
  using Row = dynamic::Row<Hops>;

  // rows: of all n vertices, before any is repaired.
  TouchedRows(const Hops* rows, int64_t n, const Arcs& removed, const Arcs& inserted) : touched_(n) {
    for (const auto& [u, v] : removed)
      mark(rows + u * n, rows + v * n, [](Hops tail, Hops head) { return tail != Row::kFar && head == tail + 1; });
    for (const auto& [u, v] : inserted)
      mark(rows + u * n, rows + v * n, [](Hops tail, Hops head) { return tail != Row::kFar && head > tail + 1; });
  }
  bool operator[](int64_t i) const { return touched_[i] != 0; }

 private:
  void mark(const Hops* tail, const Hops* head, auto matters) {
    for (size_t i = 0; i < touched_.size(); ++i) touched_[i] |= static_cast<uint8_t>(matters(tail[i], head[i]));
  }

  std::vector<uint8_t> touched_;
};

// Searches and repairs for one thread.
template <typename Hops>
class LengthSearch {
 public:
  using Row = dynamic::Row<Hops>;
  static constexpr Hops kFar = Row::kFar;

  LengthSearch(const Csr& forward, const Csr& backward, const Arcs& removed, const Arcs& inserted)
      : graph_(forward), hops_(forward, backward, removed, inserted) {}

  // False if Hops cannot hold the distances.
  bool compute(const Row& row, Lengths& lengths) {
    std::fill_n(row.distance, graph_.num_nodes, kFar);
    order_.assign(1, row.source);
    row.distance[row.source] = 0;
    lengths = {};
    for (size_t next = 0; next < order_.size(); ++next) {
      const Hops distance = row.distance[order_[next]];
      if (distance == kFar - 1) return false;
      lengths.add(distance);
      each_neighbor(graph_, order_[next], [&](int32_t w) {
        if (row.distance[w] != kFar) return;
        row.distance[w] = static_cast<Hops>(distance + 1);
        order_.push_back(w);
      });
    }
    return true;
  }

  void prefetch(const Row& row) const { hops_.prefetch(row); }
  bool touches(const Row& row) const { return hops_.touches(row, 1); }

  // False if Hops may not hold the distances; the row is to be computed anew then. `moves` says whether any changed.
  bool repair(const Row& row, Lengths& lengths, bool& moves) {
    if (!hops_.bring_up_to_date(row)) return false;
    bool is_farthest = false;
    moves = false;
    for (const int32_t v : hops_.moved()) {
      const Hops before = hops_.was(v), now = row.distance[v];
      if (before == now) continue;
      moves = true;
      is_farthest |= before != kFar && before == lengths.longest;
      if (before != kFar) lengths.remove(before);
      if (now != kFar) lengths.add(now);
    }
    if (is_farthest) {
      lengths.longest = 0;
      for (int64_t v = 0; v < graph_.num_nodes; ++v)
        if (row.distance[v] != kFar) lengths.longest = std::max<int64_t>(lengths.longest, row.distance[v]);
    }
    return true;
  }

 private:
  const Csr& graph_;
  Settling<Hops> hops_;
  std::vector<int32_t> order_;
};

}  // namespace torchcent::dynamic
