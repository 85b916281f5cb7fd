// Repairs the distances of one source after a batch of changes, as of Ramalingam and Reps 1996.
#pragma once

#include <utility>

#include "dynamic/cpu/row.h"

namespace torchcent::dynamic {

using Arc = std::pair<int32_t, int32_t>;
using Arcs = std::vector<Arc>;

// Vertices by their distances.
class Levels {
 public:
  void push(int32_t level, int32_t v) {
    if (static_cast<size_t>(level) >= levels_.size()) levels_.resize(level + 1);
    levels_[level].push_back(v);
    lowest_ = std::min(lowest_, level), highest_ = std::max(highest_, level);
  }
  // Calls visit(v, level) for what is on the levels, which it may push to: the nearest level first, or the farthest.
  void each(bool upwards, auto visit) {
    for (int32_t level = upwards ? lowest_ : highest_; upwards ? level <= highest_ : level >= lowest_;
         upwards ? ++level : --level) {
      for (size_t next = 0; next < levels_[level].size(); ++next) visit(levels_[level][next], level);
      levels_[level].clear();
    }
    lowest_ = INT32_MAX, highest_ = -1;
  }

 private:
  std::vector<std::vector<int32_t>> levels_;
  int32_t lowest_ = INT32_MAX, highest_ = -1;
};

// What one thread needs for a graph of this size.
template <typename Hops>
class Settling {
 public:
  using Row = dynamic::Row<Hops>;
  static constexpr Hops kFar = Row::kFar;

  // The graph after the batch, and what it has lost and gained.
  Settling(const Csr& forward, const Csr& backward, const Arcs& removed, const Arcs& inserted)
      : out_(forward),
        in_(backward),
        removed_(removed),
        inserted_(inserted),
        seen_(forward.num_nodes),
        orphan_(forward.num_nodes),
        saved_(forward.num_nodes) {}

  // Where the row is read first.
  void prefetch(const Row& row) const {
    if (removed_.size() + inserted_.size() > kFew) return;
    for (const Arcs* arcs : {&removed_, &inserted_})
      for (const auto& [u, v] : *arcs) __builtin_prefetch(row.distance + u), __builtin_prefetch(row.distance + v);
  }

  // Whether an arc that was on shortest paths is gone, or one that leads on by more than `least` is new.
  bool touches(const Row& row, int32_t least) const {
    const Hops* const d = row.distance;
    return std::any_of(removed_.begin(), removed_.end(),
                       [&](const Arc& arc) { return row.leads(arc.first, arc.second); }) ||
           std::any_of(inserted_.begin(), inserted_.end(),
                       [&](const Arc& arc) { return d[arc.first] != kFar && d[arc.second] > d[arc.first] + least; });
  }

  // Brings distances up to date; false if they may be too large.
  bool bring_up_to_date(const Row& row) {
    row_ = row;
    ++stamp_;
    moved_.clear();
    find_orphans();
    return settle();
  }

  const std::vector<int32_t>& moved() const { return moved_; }  // whose distances have changed, or may have
  Hops was(int32_t v) const { return saved_[v]; }               // the distance of one of these before
  bool has_moved(int32_t v) const { return seen_[v] == stamp_; }
  Hops before(int32_t v) const { return has_moved(v) ? saved_[v] : row_.distance[v]; }
  // Whether an arc was on shortest paths; it is now if Row::leads says so.
  bool led(const Arc& arc) const {
    const Hops from = before(arc.first);
    return from != kFar && before(arc.second) == from + 1;
  }

 private:
  static constexpr size_t kFew = 64;

  // Vertices without a predecessor are farther away now; who they are is known level by level. They lose their
  // distance.
  void find_orphans() {
    Hops* const d = row_.distance;
    const auto suspect = [&](int32_t v) {
      if (has_moved(v)) return;
      seen_[v] = stamp_, saved_[v] = d[v];
      levels_.push(d[v], v);
    };
    for (const auto& [u, v] : removed_)
      if (row_.leads(u, v)) suspect(v);
    levels_.each(true, [&](int32_t v, int32_t level) {
      bool has_predecessor = false;
      for (int64_t slot = in_.rowptr[v]; slot < in_.rowptr[v + 1] && !has_predecessor; ++slot)
        has_predecessor = d[in_.col[slot]] == level - 1 && orphan_[in_.col[slot]] != stamp_;
      if (has_predecessor) {
        kept_.push_back(v);
        return;
      }
      orphan_[v] = stamp_;
      moved_.push_back(v);
      each_neighbor(out_, v, [&](int32_t w) {
        if (d[w] == level + 1) suspect(w);
      });
    });
    for (const int32_t v : kept_) seen_[v] = 0;
    kept_.clear();
    for (const int32_t v : moved_) d[v] = kFar;
  }

  // Orphans begin from the best neighbour that kept its distance, heads of new arcs from their tails; then by levels.
  // False if distances may be too large.
  bool settle() {
    Hops* const d = row_.distance;
    bool fits = true;
    const size_t orphans = moved_.size();
    for (size_t i = 0; i < orphans; ++i) {
      const int32_t v = moved_[i];
      Hops nearest = kFar;
      each_neighbor(in_, v, [&](int32_t w) {
        if (orphan_[w] != stamp_) nearest = std::min(nearest, d[w]);
      });
      if (nearest == kFar) continue;
      fits &= nearest < kFar - 2;
      d[v] = static_cast<Hops>(nearest + 1);
      levels_.push(d[v], v);
    }
    const auto reach = [&](int32_t v, int32_t level) {
      if (d[v] <= level) return;
      fits &= level < kFar - 1;
      if (!fits) return;
      if (!has_moved(v)) seen_[v] = stamp_, saved_[v] = d[v], moved_.push_back(v);
      d[v] = static_cast<Hops>(level);
      levels_.push(level, v);
    };
    for (const auto& [u, v] : inserted_)
      if (d[u] != kFar) reach(v, d[u] + 1);
    levels_.each(true, [&](int32_t v, int32_t level) {
      if (d[v] != level) return;
      each_neighbor(out_, v, [&](int32_t w) { reach(w, level + 1); });
    });
    return fits;
  }

  const Csr &out_, &in_;
  const Arcs &removed_, &inserted_;
  Row row_{};
  uint32_t stamp_ = 0;
  std::vector<uint32_t> seen_, orphan_;  // by the stamp of a repair
  std::vector<Hops> saved_;
  std::vector<int32_t> moved_, kept_;
  Levels levels_;
};

}  // namespace torchcent::dynamic
