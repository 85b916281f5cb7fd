// The sources of a call, cut into batches of neighbours, and what is above each batch. It is compiled once, so the
// kernels read it by pointers.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hierarchy/hierarchy.h"

namespace torchcent {

// A vertex that is a source or above one, in the order of positions; in a directed graph also those above with arcs
// down.
struct Above {
  int32_t position;
  int32_t lane;       // of the source that it is; -1 for none
  int32_t low, high;  // lanes of the sources below it or at it
};

class SourceBatches {
 public:
  // sequence, split: see HierarchyProblem. Unless they are `whole`, batches have three quarters to five quarters of so
  // many sources, so that they can be cut where neighbours are.
  SourceBatches(const Hierarchy& hierarchy, const int64_t* position, const int32_t* sequence, const int32_t* split,
                int64_t lanes, bool whole = false);

  void start(const int64_t* sources, const double* weights, int64_t count);  // weights may be null: 1
  bool next();
  std::vector<std::vector<int32_t>> divided();  // instead of next(): the indices of all batches

  // Of the batch, each source in a lane: positions in ascending order, of one component. In a directed graph this is a
  // strong one, so that all sources reach the same vertices.
  int count = 0;
  const int32_t* position = nullptr;
  const double* weight = nullptr;
  const int32_t* index = nullptr;  // among the sources of the call
  int num_above = 0;
  const Above* above = nullptr;
  const int32_t* number = nullptr;  // by position: number of the vertex in `above`, or -1

  std::pair<int32_t, int32_t> below(int32_t begin, int32_t end) const;  // lanes of the sources in a range

 private:
  int64_t cut() const;
  void close();

  const Hierarchy hierarchy_;
  const int64_t* position_of_;
  const int32_t *sequence_, *split_of_;
  const int64_t least_, most_;
  const int64_t* sources_ = nullptr;
  const double* weights_ = nullptr;
  int64_t begin_ = 0;
  std::vector<std::pair<int32_t, int32_t>> ordered_;  // places in the order of neighbours, and indices
  std::vector<int32_t> splits_;                       // between each of them and the one before
  std::vector<int32_t> positions_, indices_, list_, number_;
  std::vector<double> batch_weights_;
  std::vector<Above> above_;
};

}  // namespace torchcent
