// Simple cycles of up to 8 vertices. Each is searched from the first of its vertices in an order by descending degree,
// in which vertices of at most one other edge leave the graph at once. So each search is among vertices of lower degree
// (Chiba and Nishizeki 1985), and a graph of few independent cycles has few searches.
#pragma once

#include "patterns/cpu/counts.h"

namespace torchcent::patterns {

// When vertices leave the graph.
struct Removal {
  std::vector<int32_t> round;  // [n]: vertex v is in the searches of the roots 0 to round[v] of its graph
  Roots roots;
};

inline void remove(const Counts& counts, int64_t number, std::vector<int64_t>& degree, Removal& result) {
  const Csr& graph = counts.graph;
  const int64_t begin = counts.ptr[number], end = counts.ptr[number + 1];
  constexpr int32_t kThere = INT32_MAX;
  std::vector<int32_t> leaves;
  int64_t most = 0;
  for (int64_t v = begin; v < end; ++v) {
    result.round[v] = kThere;
    degree[v] = graph.degree(v);
    most = std::max(most, degree[v]);
    if (degree[v] <= 1) leaves.push_back(static_cast<int32_t>(v));
  }
  std::vector<int64_t> place(most + 2, 0);
  for (int64_t v = begin; v < end; ++v) ++place[most - degree[v] + 1];
  for (int64_t d = 0; d <= most; ++d) place[d + 1] += place[d];
  std::vector<int32_t> order(end - begin);
  for (int64_t v = begin; v < end; ++v) order[place[most - degree[v]]++] = static_cast<int32_t>(v);
  int32_t round = -1;
  const auto leave = [&](int64_t v) {
    result.round[v] = round;
    for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot)
      if (const int32_t w = graph.col[slot]; result.round[w] == kThere && --degree[w] == 1) leaves.push_back(w);
  };
  const auto peel = [&] {
    while (!leaves.empty()) {
      const int32_t v = leaves.back();
      leaves.pop_back();
      if (result.round[v] == kThere) leave(v);
    }
  };
  peel();
  for (const int32_t v : order) {
    if (result.round[v] != kThere) continue;
    ++round;
    result.roots.vertex[begin + round] = v;
    leave(v);
    peel();
  }
  result.roots.number[number] = round + 1;
}

inline Removal removal(const Counts& counts, int64_t threads) {
  const int64_t n = counts.graph.num_nodes;
  Removal result = {std::vector<int32_t>(n), {std::vector<int32_t>(n), std::vector<int64_t>(counts.graphs)}};
  std::vector<int64_t> degree(n);
  each_range(threads_for(counts.graph.rowptr[n], threads), counts.graphs, [&](int64_t from, int64_t to) {
    for (int64_t graph = from; graph < to; ++graph) remove(counts, graph, degree, result);
  });
  return result;
}

class Cycles : public Search {
 public:
  Cycles(Counts& counts, const Removal& removal, int64_t largest)
      : Search(counts), round_(removal.round.data()), by_wedges_(counts.size <= 4 && !counts.induced) {
    if (by_wedges_) wedges_.assign(largest, 0);
    else distance_.assign(largest, kFar), on_path_.assign(largest, 0);
    if (counts.induced) beside_.assign(largest, 0);
  }

  bool root(int64_t first, int64_t root) {
    first_ = first;
    root_ = static_cast<int32_t>(root);
    alive_ = round_[root];
    if (by_wedges_) close_wedges();
    else search();
    return !stops();
  }

 private:
  static constexpr uint8_t kFar = 255;

  template <class Visit>
  void each_neighbour(int32_t u, Visit visit) {
    for (int64_t slot = graph_.rowptr[u]; slot < graph_.rowptr[u + 1]; ++slot)
      if (const int32_t w = graph_.col[slot]; round_[w] >= alive_) visit(w, slot);
  }

  void search() {
    measure();
    on_path_[root_ - first_] = 1;
    step_beside(root_, 1);
    Sizes total;
    int32_t last = -1;
    each_neighbour(root_, [&](int32_t w, int64_t) { last = w; });
    each_neighbour(root_, [&](int32_t w, int64_t slot) {
      if (w == last) return;  // no other neighbour closes what begins with it
      start_ = w;
      const Sizes found = extend(w, 2);
      credit(w, slot, found);
      total.add(found, overflow_);
    });
    if (!counts_.of_slots) add(root_, total);
    step_beside(root_, -1);
    on_path_[root_ - first_] = 0;
    for (const int32_t v : reached_) distance_[v - first_] = kFar;
  }

  // Hops from the root, as far as half of a cycle.
  void measure() {
    reached_.assign(1, root_);
    distance_[root_ - first_] = 0;
    for (size_t i = 0; i < reached_.size(); ++i) {
      const int32_t u = reached_[i];
      const uint8_t next = distance_[u - first_] + 1;
      if (next > counts_.size / 2) break;
      each_neighbour(u, [&](int32_t w, int64_t) {
        if (distance_[w - first_] != kFar) return;
        distance_[w - first_] = next;
        reached_.push_back(w);
      });
    }
  }

  // The cycles that begin with a path of `length` vertices from the root to u. They close at a neighbour of the root
  // with a larger number than the one that they begin with, so that each has one direction.
  Sizes extend(int32_t u, int64_t length) {
    Sizes total;
    if (stops()) return total;
    const bool ends = counts_.induced && length > 2 && distance_[u - first_] == 1;
    on_path_[u - first_] = 1;
    if (!ends) step_beside(u, 1);
    each_neighbour(u, [&](int32_t w, int64_t slot) {
      if (w == root_) {
        if (length < kSmallest || u < start_) return;
        total.add(length, 1, overflow_);
        if (counts_.of_slots) add(slot, length - kSmallest, 1);
        return;
      }
      const uint8_t distance = distance_[w - first_];
      if (ends || on_path_[w - first_] || distance > counts_.size - length) return;
      if (counts_.induced && beside_[w - first_] != (distance == 1 ? 2 : 1)) return;
      const Sizes found = extend(w, length + 1);
      credit(w, slot, found);
      total.add(found, overflow_);
    });
    if (!ends) step_beside(u, -1);
    on_path_[u - first_] = 0;
    return total;
  }

  void credit(int32_t w, int64_t slot, const Sizes& found) {
    if (found.any) add(counts_.of_slots ? slot : w, found);
  }

  // Chords: how many vertices of the path each vertex is adjacent to.
  void step_beside(int32_t u, int32_t by) {
    if (counts_.induced) each_neighbour(u, [&](int32_t w, int64_t) { beside_[w - first_] += by; });
  }

  // Triangles and cycles of four vertices, from the number of paths of two edges to each vertex.
  void close_wedges() {
    reached_.clear();
    const auto each_wedge = [&](auto visit) {
      each_neighbour(root_, [&](int32_t v, int64_t slot) {
        each_neighbour(v, [&](int32_t w, int64_t other) {
          if (w != root_) visit(v, slot, w, other);
        });
      });
    };
    each_wedge([&](int32_t, int64_t, int32_t w, int64_t) {
      if (wedges_[w - first_]++ == 0) reached_.push_back(w);
    });
    const bool squares = counts_.size == 4, of_slots = counts_.of_slots;
    int64_t twice = 0, opposite = 0;  // triangles of the root, and its other cycles
    each_neighbour(root_, [&](int32_t v, int64_t slot) {
      const int64_t triangles = wedges_[v - first_];
      twice += triangles;
      if (triangles != 0) add(of_slots ? slot : v, 0, triangles);
    });
    if (of_slots)  // edges between neighbours of the root: a wedge ends at both
      each_neighbour(root_, [&](int32_t v, int64_t) { wedges_[v - first_] = -wedges_[v - first_] - 1; });
    const auto count = [&](int32_t w) {
      return wedges_[w - first_] < 0 ? -wedges_[w - first_] - 1 : wedges_[w - first_];
    };
    each_wedge([&](int32_t v, int64_t slot, int32_t w, int64_t other) {
      if (of_slots && wedges_[w - first_] < 0 && v < w) add(other, 0, 1);
      const int64_t others = count(w) - 1;
      if (!squares || others == 0) return;
      add(of_slots ? slot : v, 1, others);
      if (of_slots) add(other, 1, others);
    });
    if (squares)
      for (const int32_t w : reached_) {
        const int64_t pairs = count(w) * (count(w) - 1) / 2;
        if (pairs == 0) continue;
        overflow_ |= __builtin_add_overflow(opposite, pairs, &opposite);
        if (!of_slots) add(w, 1, pairs);
      }
    if (!of_slots) {
      add(root_, 0, twice / 2);
      if (squares) add(root_, 1, opposite);
    }
    for (const int32_t w : reached_) wedges_[w - first_] = 0;
    if (of_slots) each_neighbour(root_, [&](int32_t v, int64_t) { wedges_[v - first_] = 0; });
  }

  const int32_t* round_;
  const bool by_wedges_;
  int64_t first_ = 0;
  int32_t root_ = 0, start_ = 0, alive_ = 0;
  std::vector<uint8_t> distance_, on_path_;  // of each vertex of the graph
  std::vector<int32_t> beside_, reached_;
  std::vector<int64_t> wedges_;
};

}  // namespace torchcent::patterns
