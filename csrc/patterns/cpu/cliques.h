// Cliques of up to 8 vertices. Each edge points to its end of higher degree, and a clique is searched from its first
// vertex among the common heads of those that it has (Chiba and Nishizeki 1985; Danisch, Balalau and Sozio 2018).
#pragma once

#include "patterns/cpu/counts.h"

namespace torchcent::patterns {

// The heads of each vertex, and their slots.
struct Heads {
  std::vector<int64_t> begin;  // [n + 1]
  std::vector<int32_t> vertex;
  std::vector<int64_t> slot;
};

inline Heads heads(const Csr& graph, int64_t threads) {
  const int64_t n = graph.num_nodes, team = threads_for(graph.rowptr[n], threads);
  Heads result = {std::vector<int64_t>(n + 1, 0), {}, {}};
  const auto each_head = [&](int64_t u, auto visit) {
    for (int64_t slot = graph.rowptr[u]; slot < graph.rowptr[u + 1]; ++slot) {
      const int64_t v = graph.col[slot], own = graph.degree(u), other = graph.degree(v);
      if (own < other || (own == other && u < v)) visit(static_cast<int32_t>(v), slot);
    }
  };
  each_range(team, n, [&](int64_t from, int64_t to) {
    for (int64_t u = from; u < to; ++u) each_head(u, [&](int32_t, int64_t) { ++result.begin[u + 1]; });
  });
  for (int64_t u = 0; u < n; ++u) result.begin[u + 1] += result.begin[u];
  result.vertex.resize(result.begin[n]);
  result.slot.resize(result.begin[n]);
  each_range(team, n, [&](int64_t from, int64_t to) {
    for (int64_t u = from; u < to; ++u) {
      int64_t at = result.begin[u];
      each_head(u, [&](int32_t v, int64_t slot) {
        result.vertex[at] = v;
        result.slot[at++] = slot;
      });
    }
  });
  return result;
}

class Cliques : public Search {
 public:
  Cliques(Counts& counts, const Heads& heads, int64_t largest) : Search(counts), heads_(heads), level_(largest, 0) {
    if (counts.of_slots)
      for (int64_t member = 0; member + 1 < counts.size; ++member) slot_[member].resize(largest);
  }

  bool root(int64_t first, int64_t root) {
    first_ = first;
    const int32_t v = static_cast<int32_t>(root);
    if (heads_.begin[v + 1] - heads_.begin[v] < kSmallest - 1) return !stops();
    const Sizes total = extend(v, 1);
    if (!counts_.of_slots && total.any) add(v, total);
    return !stops();
  }

 private:
  // The cliques whose first vertices are `members`, the last of which is v. Candidates have the number of members that
  // they are heads of as their level.
  Sizes extend(int32_t v, int64_t members) {
    Sizes total;
    if (stops()) return total;
    std::vector<int32_t>& candidates = candidates_[members];
    candidates.clear();
    for (int64_t i = heads_.begin[v]; i < heads_.begin[v + 1]; ++i) {
      const int32_t w = heads_.vertex[i];
      if (level_[w - first_] != members - 1) continue;
      level_[w - first_] = static_cast<uint8_t>(members);
      if (counts_.of_slots) slot_[members - 1][w - first_] = heads_.slot[i];
      candidates.push_back(w);
    }
    for (const int32_t w : candidates) {
      Sizes own;
      if (members + 1 >= kSmallest) own.add(members + 1, 1, overflow_);
      if (members + 1 < counts_.size) own.add(extend(w, members + 1), overflow_);
      if (!own.any) continue;
      if (counts_.of_slots)
        for (int64_t member = 0; member < members; ++member) add(slot_[member][w - first_], own);
      else add(w, own);
      total.add(own, overflow_);
    }
    for (const int32_t w : candidates) level_[w - first_] = static_cast<uint8_t>(members - 1);
    return total;
  }

  const Heads& heads_;
  int64_t first_ = 0;
  std::vector<uint8_t> level_;                 // of each vertex of the graph
  std::vector<int64_t> slot_[kLargest - 1];    // of each member, to the candidates
  std::vector<int32_t> candidates_[kLargest];  // by the number of members
};

}  // namespace torchcent::patterns
