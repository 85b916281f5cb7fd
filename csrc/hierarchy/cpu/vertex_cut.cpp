#include "hierarchy/cpu/vertex_cut.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace torchcent {

bool VertexCut::find(const Piece& cell, const std::vector<int32_t>& sorted, const std::vector<int32_t>& place,
                     int32_t outer, int64_t most) {
  size_ = cell.size();
  outer_ = outer;
  number(cell, sorted, place);
  before_.assign(size_, kNone);
  after_.assign(size_, kNone);
  // Paths need not return to a source: they begin at the last one.
  sources_.clear();
  for (int32_t i = 0; i < outer; ++i)
    if (first_[i] < first_[i + 1] && to_[first_[i]] >= outer) sources_.push_back(i);
  // In each round, a search goes on where those before it, in vain or not, have not been. The last round is one search
  // from all sources, in vain.
  int64_t flow = 0;
  for (bool more = true; more;) {
    more = false;
    seen_.assign(2 * static_cast<size_t>(size_), 0);
    std::fill_n(seen_.begin(), 2 * static_cast<size_t>(outer), 1);
    for (const int32_t i : sources_) seen_[2 * i + 1] = 0;
    next_.assign(first_.begin(), first_.end() - 1);
    for (const int32_t i : sources_) {
      if (before_[i] != kNone || !augment(i)) continue;
      more = true;
      if (++flow > most) return false;
    }
  }
  // Where the entrance is reached but not the exit.
  cut.clear();
  int32_t reached = 0;
  for (int32_t i = 0; i < size_; ++i) {
    if (seen_[2 * i] != 0 && seen_[2 * i + 1] == 0) cut.push_back(sorted[i]);
    reached += seen_[2 * i + 1];
  }
  smaller_side = std::max(1, std::min(reached, size_ - reached - static_cast<int32_t>(cut.size())));
  return true;
}

void VertexCut::number(const Piece& cell, const std::vector<int32_t>& sorted, const std::vector<int32_t>& place) {
  first_.assign(size_ + 1, 0);
  for (int32_t i = 0; i < size_; ++i) first_[i + 1] = first_[i] + cell.first[sorted[i] + 1] - cell.first[sorted[i]];
  to_.resize(cell.to.size());
  next_.assign(first_.begin(), first_.end() - 1);
  for (int32_t i = size_ - 1; i >= 0; --i)
    for (int64_t e = cell.first[sorted[i]]; e < cell.first[sorted[i] + 1]; ++e) to_[next_[place[cell.to[e]]]++] = i;
}

// Searches for a path from a source to the sink, depth first, and takes it.
bool VertexCut::augment(int32_t start) {
  path_.assign(1, 2 * start);
  while (!path_.empty()) {
    const int32_t node = path_.back(), i = node >> 1;
    int32_t on = kNone;
    if ((node & 1) == 0) {
      const int32_t exit = before_[i] == kNone ? node + 1 : 2 * before_[i] + 1;
      if (before_[i] != kEnd && seen_[exit] == 0) on = exit;
    } else {
      if (is_sink(i) && after_[i] != kEnd) break;
      while (on == kNone && next_[i] < first_[i + 1]) {
        const int32_t j = to_[next_[i]++];
        if (j != after_[i] && seen_[2 * j] == 0) on = 2 * j;
      }
      if (on == kNone && before_[i] != kNone && seen_[2 * i] == 0) on = 2 * i;
    }
    if (on == kNone) {
      path_.pop_back();
    } else {
      seen_[on] = 1;
      path_.push_back(on);
    }
  }
  if (path_.empty()) return false;
  // From an entrance back to the exit of the place before, a path is given up; from an exit on, one is made.
  const size_t steps = path_.size() - 1;
  for (size_t k = 0; k < steps; ++k) {
    const int32_t i = path_[k] >> 1, j = path_[k + 1] >> 1;
    if (i == j || (path_[k] & 1) != 0) continue;
    if (after_[j] == i) after_[j] = kNone;
    if (before_[i] == j) before_[i] = kNone;
  }
  for (size_t k = 0; k < steps; ++k) {
    const int32_t i = path_[k] >> 1, j = path_[k + 1] >> 1;
    if (i == j || (path_[k] & 1) == 0) continue;
    after_[i] = j;
    before_[j] = i;
  }
  before_[start] = kEnd;
  after_[path_.back() >> 1] = kEnd;
  return true;
}

}  // namespace torchcent
