// Repairs the row of one source after a batch of changes: distances as of Ramalingam and Reps 1996; then path counts
// outwards and shares inwards, by the differences that arrive along arcs of shortest paths (Green et al. 2012, "A fast
// algorithm for streaming betweenness centrality").
#pragma once

#include <utility>

#include "dynamic/cpu/row.h"

namespace torchcent::dynamic {

using Arc = std::pair<int32_t, int32_t>;
using Arcs = std::vector<Arc>;

// What one thread needs for a graph of this size.
template <typename Hops>
class Repair {
 public:
  using Row = dynamic::Row<Hops>;
  static constexpr Hops kFar = Row::kFar;

  // The graph after the batch, and what it has lost and gained.
  Repair(const Csr& forward, const Csr& backward, const Arcs& removed, const Arcs& inserted)
      : out_(forward),
        in_(backward),
        removed_(removed),
        inserted_(inserted),
        seen_(forward.num_nodes),
        orphan_(forward.num_nodes),
        saved_(forward.num_nodes),
        place_(forward.num_nodes) {}

  // Whether the batch is anything to this source: arcs between equal levels, or to nearer ones, are not.
  bool touches(const Row& row) const {
    const Hops* const d = row.distance;
    return std::any_of(removed_.begin(), removed_.end(),
                       [&](const Arc& arc) { return row.leads(arc.first, arc.second); }) ||
           std::any_of(inserted_.begin(), inserted_.end(),
                       [&](const Arc& arc) { return d[arc.second] > d[arc.first]; });
  }

  // Where the row is read first.
  void prefetch(const Row& row) const {
    if (removed_.size() + inserted_.size() > kFewArcs) return;
    for (const Arcs* arcs : {&removed_, &inserted_})
      for (const auto& [u, v] : *arcs) __builtin_prefetch(row.distance + u), __builtin_prefetch(row.distance + v);
  }

  // Repairs the row and the sums. Returns false, with the row taken out of the sums, where it should be computed anew:
  // much has changed, the row is rounded or should be, or Hops may not hold the distances.
  bool operator()(const Row& row, FixedSums& sums) {
    row_ = row, sums_ = &sums;
    ++stamp_;
    moved_.clear(), log_.clear();
    for (const Hops* d = row.distance; d < row.distance + out_.num_nodes; d += 64 / sizeof(Hops)) __builtin_prefetch(d);
    const auto most = static_cast<size_t>(out_.num_nodes / 4);
    if (removed_.size() + inserted_.size() <= most && !row.is_rounded()) {
      find_orphans();
      if (settle() && moved_.size() <= most && repair_counts()) {
        repair_shares();
        for (const Saved& saved : log_) sums.add(saved.vertex, row.at[saved.vertex].dependency(), 1);
        return true;
      }
    }
    remove();
    return false;
  }

 private:
  static constexpr size_t kFewArcs = 64;

  // A vertex that has changed, as it was.
  struct Saved {
    int32_t vertex;
    bool is_counted, is_shared;  // on the levels of path counts, and of shares
    Paths old;
  };

  bool has_moved(int32_t v) const { return seen_[v] == stamp_; }
  Hops before(int32_t v) const { return has_moved(v) ? saved_[v] : row_.distance[v]; }
  // Whether an arc was on shortest paths; it is now if Row::leads says so.
  bool led(const Arc& arc) const {
    const Hops from = before(arc.first);
    return from != kFar && before(arc.second) == from + 1;
  }

  // Takes what is not yet in the log out of the sums.
  void remove() {
    const bool rounded = row_.is_rounded();
    for (int32_t v = 0; v < out_.num_nodes; ++v) {
      const Paths& at = row_.at[v];
      if (v != row_.source && !is_logged(v)) sums_->add(v, rounded ? at.rounded() : at.dependency(), -1);
    }
  }

  void push(int32_t level, int32_t v) {
    if (static_cast<size_t>(level) >= levels_.size()) levels_.resize(level + 1);
    levels_[level].push_back(v);
    lowest_ = std::min(lowest_, level), highest_ = std::max(highest_, level);
  }
  // Calls visit(v, level) for what is on the levels, which it may push to: the nearest level first, or the farthest.
  void each_level(bool upwards, auto visit) {
    for (int32_t level = upwards ? lowest_ : highest_; upwards ? level <= highest_ : level >= lowest_;
         upwards ? ++level : --level) {
      for (size_t next = 0; next < levels_[level].size(); ++next) visit(levels_[level][next], level);
      levels_[level].clear();
    }
    lowest_ = INT32_MAX, highest_ = -1;
  }

  // Vertices without a predecessor are farther away now; who they are is known level by level. They lose their
  // distance.
  void find_orphans() {
    Hops* const d = row_.distance;
    const auto suspect = [&](int32_t v) {
      if (has_moved(v)) return;
      seen_[v] = stamp_, saved_[v] = d[v];
      push(d[v], v);
    };
    for (const auto& [u, v] : removed_)
      if (row_.leads(u, v)) suspect(v);
    each_level(true, [&](int32_t v, int32_t level) {
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
      push(d[v], v);
    }
    const auto reach = [&](int32_t v, int32_t level) {
      if (d[v] <= level) return;
      fits &= level < kFar - 1;
      if (!fits) return;
      if (!has_moved(v)) seen_[v] = stamp_, saved_[v] = d[v], moved_.push_back(v);
      d[v] = static_cast<Hops>(level);
      push(level, v);
    };
    for (const auto& [u, v] : inserted_)
      if (d[u] != kFar) reach(v, d[u] + 1);
    each_level(true, [&](int32_t v, int32_t level) {
      if (d[v] != level) return;
      each_neighbor(out_, v, [&](int32_t w) { reach(w, level + 1); });
    });
    return fits;
  }

  bool is_logged(int32_t v) const {
    const auto place = static_cast<size_t>(place_[v]);
    return place < log_.size() && log_[place].vertex == v;
  }
  // The entry of a vertex in the log; a new one takes its dependency out of the sums.
  Saved& logged(int32_t v) {
    if (!is_logged(v)) {
      const Paths& at = row_.at[v];
      sums_->add(v, at.dependency(), -1);
      place_[v] = static_cast<int32_t>(log_.size());
      log_.push_back({v, false, false, at});
    }
    return log_[place_[v]];
  }
  // Calls visit(v) for the neighbors at a distance that have not moved; their paths are on the way to the cache then.
  void each_ahead(const Csr& graph, int32_t w, int32_t distance, auto visit) {
    ahead_.clear();
    each_neighbor(graph, w, [&](int32_t v) {
      if (row_.distance[v] != distance || has_moved(v)) return;
      __builtin_prefetch(row_.at + v);
      ahead_.push_back(v);
    });
    for (const int32_t v : ahead_) visit(v);
  }
  Paths old(int32_t v) const { return is_logged(v) ? log_[place_[v]].old : row_.at[v]; }

  void add_count(int32_t v, double difference) {
    Saved& saved = logged(v);
    double& sigma = row_.at[v].sigma;
    sigma += difference;
    is_exact_ &= sigma <= kMostPaths;
    if (!std::exchange(saved.is_counted, true)) push(row_.distance[v], v);
  }

  // Path counts; false where they are beyond what is exact. Vertices that have moved count afresh, the others by
  // differences: of arcs that are gone, of arcs that are new, and along those that were and are on shortest paths.
  bool repair_counts() {
    const Hops* const d = row_.distance;
    is_exact_ = true;
    for (const int32_t v : moved_) {
      Saved& saved = logged(v);
      if (d[v] == kFar) row_.at[v] = {};
      else if (!std::exchange(saved.is_counted, true)) push(d[v], v);
    }
    for (const int32_t v : moved_) {
      if (saved_[v] == kFar) continue;
      each_neighbor(out_, v, [&](int32_t w) {
        if (d[w] == saved_[v] + 1 && !has_moved(w)) add_count(w, -old(v).sigma);
      });
    }
    for (const Arc& arc : removed_)
      if (led(arc) && !has_moved(arc.second)) add_count(arc.second, -old(arc.first).sigma);
    for (const Arc& arc : inserted_) {
      if (has_moved(arc.second)) continue;
      // What the loop above has taken from an arc that was not there, or what the one below does not add.
      if (has_moved(arc.first) ? led(arc) : row_.leads(arc.first, arc.second))
        add_count(arc.second, old(arc.first).sigma);
    }
    each_level(true, [&](int32_t v, int32_t level) {
      double& sigma = row_.at[v].sigma;
      if (has_moved(v)) {
        sigma = 0;
        each_neighbor(in_, v, [&](int32_t w) {
          if (d[w] == level - 1) sigma += row_.at[w].sigma;
        });
        is_exact_ &= sigma <= kMostPaths;
      }
      const double difference = has_moved(v) ? sigma : sigma - log_[place_[v]].old.sigma;
      if (difference == 0 || !is_exact_) return;
      each_neighbor(out_, v, [&](int32_t w) {
        if (d[w] == level + 1 && !has_moved(w)) add_count(w, difference);
      });
    });
    return is_exact_;
  }

  void add_share(int32_t v, Unsigned difference) {
    if (v == row_.source) return;
    Saved& saved = logged(v);
    Paths& at = row_.at[v];
    at.set_share(at.share() + difference);
    if (!std::exchange(saved.is_shared, true)) push(row_.distance[v], v);
  }

  // Shares, by differences in the same way.
  void repair_shares() {
    const Hops* const d = row_.distance;
    for (Saved& saved : log_)
      if (d[saved.vertex] != kFar) saved.is_shared = true, push(d[saved.vertex], saved.vertex);
    for (const int32_t w : moved_) {
      if (saved_[w] == kFar || saved_[w] < 2) continue;
      const Unsigned part = old(w).part();
      each_neighbor(in_, w, [&](int32_t v) {
        if (d[v] == saved_[w] - 1 && !has_moved(v)) add_share(v, -part);
      });
    }
    for (const Arc& arc : removed_)
      if (led(arc) && !has_moved(arc.first)) add_share(arc.first, -old(arc.second).part());
    for (const Arc& arc : inserted_) {
      if (has_moved(arc.first)) continue;
      if (has_moved(arc.second) ? led(arc) : row_.leads(arc.first, arc.second))
        add_share(arc.first, old(arc.second).part());
    }
    each_level(false, [&](int32_t w, int32_t level) {
      Paths& at = row_.at[w];
      if (has_moved(w)) {
        Unsigned share = 0;
        each_neighbor(out_, w, [&](int32_t x) {
          if (d[x] == level + 1) share += row_.at[x].part();
        });
        at.set_share(share);
      }
      const Unsigned difference = at.part() - (has_moved(w) ? 0 : log_[place_[w]].old.part());
      if (difference == 0 || level < 2) return;  // level 1: nobody asks for the share of the source
      each_ahead(in_, w, level - 1, [&](int32_t v) { add_share(v, difference); });
    });
  }

  const Csr &out_, &in_;
  const Arcs &removed_, &inserted_;
  Row row_{};
  FixedSums* sums_ = nullptr;
  bool is_exact_ = true;
  uint32_t stamp_ = 0;
  std::vector<uint32_t> seen_, orphan_;  // by the stamp of a repair
  std::vector<Hops> saved_;              // distances before, of what has moved
  std::vector<int32_t> moved_, kept_, ahead_;
  std::vector<int32_t> place_;  // of a vertex in the log, if it says so
  std::vector<Saved> log_;
  std::vector<std::vector<int32_t>> levels_;
  int32_t lowest_ = INT32_MAX, highest_ = -1;
};

}  // namespace torchcent::dynamic
