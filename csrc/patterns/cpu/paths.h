// Simple paths of up to 8 vertices, and induced stars of up to 8 leaves. A path is searched from both of its ends, so
// that what is in it is counted at its place from the first end alone: the vertex in the middle twice.
#pragma once

#include "patterns/cpu/counts.h"

namespace torchcent::patterns {

// Columns of a path: a vertex, or an edge, at each distance from the nearer end.
inline int64_t places(int64_t size, bool of_slots) { return of_slots ? size / 2 : (size + 1) / 2; }

class Paths : public Search {
 public:
  Paths(Counts& counts, int64_t largest) : Search(counts), beside_(largest, 0), on_path_(largest, 0) {
    for (int64_t size = kSmallest; size < kLargest; ++size)
      column_[size + 1] = column_[size] + places(size, counts.of_slots);
  }

  bool root(int64_t first, int64_t root) {
    first_ = first;
    const Sizes total = extend(static_cast<int32_t>(root), 1);
    if (!counts_.of_slots) credit(root, 0, total);
    return !stops();
  }

 private:
  // The paths that begin with one of `length` vertices that ends at u.
  Sizes extend(int32_t u, int64_t length) {
    Sizes total;
    if (stops()) return total;
    const int64_t next = length + 1;
    if (!counts_.induced && next >= kSmallest) total.add(next, graph_.degree(u) - beside_[u - first_], overflow_);
    if (next == counts_.size && !counts_.induced) return total;
    on_path_[u - first_] = 1;
    step_beside(u, 1);
    for (int64_t slot = graph_.rowptr[u]; slot < graph_.rowptr[u + 1]; ++slot) {
      const int32_t w = graph_.col[slot];
      if (on_path_[w - first_] || (counts_.induced && beside_[w - first_] != 1)) continue;
      if (counts_.induced && next >= kSmallest) total.add(next, 1, overflow_);
      const Sizes longer = next < counts_.size ? extend(w, next) : Sizes();
      credit(counts_.of_slots ? slot : w, counts_.of_slots ? length - 1 : length, longer, u < w);
      total.add(longer, overflow_);
    }
    step_beside(u, -1);
    on_path_[u - first_] = 0;
    return total;
  }

  // Counts what is at this place from the first end, unless that is the farther one; slots in the middle of a path if
  // they ascend.
  void credit(int64_t row, int64_t place, const Sizes& number, bool ascends = true) {
    if (!number.any) return;
    for (int64_t size = kSmallest; size <= counts_.size; ++size) {
      const bool in_middle = counts_.of_slots && 2 * (place + 1) == size;
      if (number.of[size] != 0 && place < places(size, counts_.of_slots) && (ascends || !in_middle))
        add(row, column_[size] + place, number.of[size]);
    }
  }

  void step_beside(int32_t u, int32_t by) {
    for (int64_t slot = graph_.rowptr[u]; slot < graph_.rowptr[u + 1]; ++slot) beside_[graph_.col[slot] - first_] += by;
  }

  int64_t first_ = 0;
  int64_t column_[kLargest + 1] = {};
  std::vector<int32_t> beside_;  // of each vertex of the graph: those of the path that are adjacent to it
  std::vector<uint8_t> on_path_;
};

// Stars whose leaves are not adjacent, in ascending order.
class Stars : public Search {
 public:
  Stars(Counts& counts, int64_t largest) : Search(counts), beside_(largest, 0) {}

  bool root(int64_t first, int64_t root) {
    first_ = first;
    center_ = static_cast<int32_t>(root);
    if (graph_.degree(root) < kSmallest) return !stops();
    const Sizes total = extend(graph_.rowptr[root], 0);
    if (!counts_.of_slots) credit(root, 0, total);
    return !stops();
  }

 private:
  // The stars that have so many leaves already, and others from this slot on.
  Sizes extend(int64_t from, int64_t leaves) {
    Sizes total;
    if (stops()) return total;
    for (int64_t slot = from; slot < graph_.rowptr[center_ + 1]; ++slot) {
      const int32_t w = graph_.col[slot];
      if (beside_[w - first_] != 0) continue;
      Sizes own;
      if (leaves + 1 >= kSmallest) own.add(leaves + 1, 1, overflow_);
      if (leaves + 1 < counts_.size) {
        step_beside(w, 1);
        own.add(extend(slot + 1, leaves + 1), overflow_);
        step_beside(w, -1);
      }
      credit(counts_.of_slots ? slot : w, counts_.of_slots ? 0 : 1, own);
      total.add(own, overflow_);
    }
    return total;
  }

  void credit(int64_t row, int64_t place, const Sizes& number) {
    const int64_t width = counts_.of_slots ? 1 : 2;
    for (int64_t size = kSmallest; size <= counts_.size; ++size)
      if (number.of[size] != 0) add(row, width * (size - kSmallest) + place, number.of[size]);
  }

  void step_beside(int32_t u, int32_t by) {
    for (int64_t slot = graph_.rowptr[u]; slot < graph_.rowptr[u + 1]; ++slot) beside_[graph_.col[slot] - first_] += by;
  }

  int64_t first_ = 0;
  int32_t center_ = 0;
  std::vector<int32_t> beside_;  // of each vertex of the graph: leaves that are adjacent to it
};

}  // namespace torchcent::patterns
