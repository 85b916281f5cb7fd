#include "hierarchy/cpu/vertex_cut.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/cpu/simd_level.h"

namespace torchcent {

bool VertexCut::find(const Piece& cell, const std::vector<int32_t>& sorted, const std::vector<int32_t>& place,
                     int32_t outer, int64_t most) {
  size_ = cell.size();
  outer_ = outer;
  number(cell, sorted, place);
  ways_.assign(size_, {});
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
    for (int32_t i = 0; i < size_; ++i) ways_[i].next = first_[i];
    for (const int32_t i : sources_) {
      if (cancelled(cancel_)) return false;
      if (ways_[i].before != kNone || !augment(i)) continue;
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
  std::vector<int64_t> next(first_.begin(), first_.end() - 1);
  for (int32_t i = size_ - 1; i >= 0; --i)
    for (int64_t e = cell.first[sorted[i]]; e < cell.first[sorted[i] + 1]; ++e) to_[next[place[cell.to[e]]]++] = i;
}

// Searches for a path from a source to the sink, depth first, and takes it.
bool VertexCut::augment(int32_t start) {
  char* const seen = seen_.data();
  path_.assign(1, 2 * start);
  while (!path_.empty()) {
    const int32_t node = path_.back(), i = node >> 1;
    Way& way = ways_[i];
    int32_t on = kNone;
    if ((node & 1) == 0) {
      const int32_t exit = way.before == kNone ? node + 1 : 2 * way.before + 1;
      if (way.before != kEnd && seen[exit] == 0) on = exit;
    } else {
      if (is_sink(i) && way.after != kEnd) break;
      const int32_t after = way.after;
      int64_t next = way.next;
      for (const int64_t end = first_[i + 1]; on == kNone && next < end; ++next) {
        const int32_t j = to_[next];
        if (j != after && seen[2 * j] == 0) on = 2 * j;
      }
      way.next = next;
      if (on == kNone && way.before != kNone && seen[2 * i] == 0) on = 2 * i;
    }
    if (on == kNone) {
      path_.pop_back();
    } else {
      seen[on] = 1;
      path_.push_back(on);
    }
  }
  if (path_.empty()) return false;
  // From an entrance back to the exit of the place before, a path is given up; from an exit on, one is made.
  const size_t steps = path_.size() - 1;
  for (size_t k = 0; k < steps; ++k) {
    const int32_t i = path_[k] >> 1, j = path_[k + 1] >> 1;
    if (i == j || (path_[k] & 1) != 0) continue;
    if (ways_[j].after == i) ways_[j].after = kNone;
    if (ways_[i].before == j) ways_[i].before = kNone;
  }
  for (size_t k = 0; k < steps; ++k) {
    const int32_t i = path_[k] >> 1, j = path_[k + 1] >> 1;
    if (i == j || (path_[k] & 1) == 0) continue;
    ways_[i].after = j;
    ways_[j].before = i;
  }
  ways_[start].before = kEnd;
  ways_[path_.back() >> 1].after = kEnd;
  return true;
}

}  // namespace torchcent
