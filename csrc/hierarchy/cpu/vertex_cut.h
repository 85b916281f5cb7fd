// Minimum vertex cuts.
#pragma once

#include <cstdint>
#include <vector>

#include "hierarchy/cpu/contraction.h"

namespace torchcent {

// Of vertices in an order, the smallest set without which the first `outer` are not connected with the last `outer`,
// which may be in it themselves: a maximum flow along vertex-disjoint paths.
class VertexCut {
 public:
  explicit VertexCut(const int64_t* cancel) : cancel_(cancel) {}

  // place[v] is that of v in the order. False if the cut has more than `most` vertices, or if cancelled.
  bool find(const Piece& cell, const std::vector<int32_t>& sorted, const std::vector<int32_t>& place, int32_t outer,
            int64_t most);

  std::vector<int32_t> cut;
  int32_t smaller_side = 0;  // vertices

 private:
  static constexpr int32_t kNone = -1, kEnd = -2;

  void number(const Piece& cell, const std::vector<int32_t>& sorted, const std::vector<int32_t>& place);
  bool augment(int32_t start);

  bool is_sink(int32_t i) const { return i >= size_ - outer_; }

  const int64_t* cancel_;
  int32_t size_ = 0, outer_ = 0;
  // Neighbours of each place, the ones closest to the sink first.
  std::vector<int64_t> first_;
  std::vector<int32_t> to_;
  // Of each place, those before and after it on a path, kNone, or kEnd at its ends, and where in the list of neighbours
  // the search of this round goes on.
  struct Way {
    int32_t before = kNone, after = kNone;
    int64_t next = 0;
  };
  std::vector<Way> ways_;
  // A place is an entrance, 2 i, and an exit, 2 i + 1: on a path, one leads to the other only backwards.
  std::vector<int32_t> sources_, path_;
  std::vector<char> seen_;
};

}  // namespace torchcent
