// Repairs the row of one source after a batch of changes: distances as of Ramalingam and Reps 1996; then path counts
// outwards and shares inwards, by the differences that arrive along arcs of shortest paths (Green et al. 2012, "A fast
// algorithm for streaming betweenness centrality").
#pragma once

#include "dynamic/cpu/settling.h"

namespace torchcent::dynamic {

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
        hops_(forward, backward, removed, inserted),
        place_(forward.num_nodes) {}

  // Whether the batch is anything to this source: arcs between equal levels, or to nearer ones, are not.
  bool touches(const Row& row) const { return hops_.touches(row, 0); }
  void prefetch(const Row& row) const { hops_.prefetch(row); }

  // Repairs the row and the sums. Returns false, with the row taken out of the sums, where it should be computed anew:
  // much has changed, the row is rounded or should be, or Hops may not hold the distances.
  bool operator()(const Row& row, FixedSums& sums) {
    row_ = row, sums_ = &sums;
    log_.clear();
    for (const Hops* d = row.distance; d < row.distance + out_.num_nodes; d += 64 / sizeof(Hops)) __builtin_prefetch(d);
    const auto most = static_cast<size_t>(out_.num_nodes / 4);
    if (removed_.size() + inserted_.size() <= most && !row.is_rounded() && hops_.bring_up_to_date(row) &&
        hops_.moved().size() <= most && repair_counts()) {
      repair_shares();
      for (const Saved& saved : log_) sums.add(saved.vertex, row.at[saved.vertex].dependency(), 1);
      return true;
    }
    remove();
    return false;
  }

 private:
  // A vertex that has changed, as it was.
  struct Saved {
    int32_t vertex;
    bool is_counted, is_shared;  // on the levels of path counts, and of shares
    Paths old;
  };

  // Takes what is not yet in the log out of the sums.
  void remove() {
    const bool rounded = row_.is_rounded();
    for (int32_t v = 0; v < out_.num_nodes; ++v) {
      const Paths& at = row_.at[v];
      if (v != row_.source && !is_logged(v)) sums_->add(v, rounded ? at.rounded() : at.dependency(), -1);
    }
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
      if (row_.distance[v] != distance || hops_.has_moved(v)) return;
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
    if (!std::exchange(saved.is_counted, true)) levels_.push(row_.distance[v], v);
  }

  // Path counts; false where they are beyond what is exact. Vertices that have moved count afresh, the others by
  // differences: of arcs that are gone, of arcs that are new, and along those that were and are on shortest paths.
  bool repair_counts() {
    const Hops* const d = row_.distance;
    is_exact_ = true;
    for (const int32_t v : hops_.moved()) {
      Saved& saved = logged(v);
      if (d[v] == kFar) row_.at[v] = {};
      else if (!std::exchange(saved.is_counted, true)) levels_.push(d[v], v);
    }
    for (const int32_t v : hops_.moved()) {
      if (hops_.was(v) == kFar) continue;
      each_neighbor(out_, v, [&](int32_t w) {
        if (d[w] == hops_.was(v) + 1 && !hops_.has_moved(w)) add_count(w, -old(v).sigma);
      });
    }
    for (const Arc& arc : removed_)
      if (hops_.led(arc) && !hops_.has_moved(arc.second)) add_count(arc.second, -old(arc.first).sigma);
    for (const Arc& arc : inserted_) {
      if (hops_.has_moved(arc.second)) continue;
      // What the loop above has taken from an arc that was not there, or what the one below does not add.
      if (hops_.has_moved(arc.first) ? hops_.led(arc) : row_.leads(arc.first, arc.second))
        add_count(arc.second, old(arc.first).sigma);
    }
    levels_.each(true, [&](int32_t v, int32_t level) {
      double& sigma = row_.at[v].sigma;
      if (hops_.has_moved(v)) {
        sigma = 0;
        each_neighbor(in_, v, [&](int32_t w) {
          if (d[w] == level - 1) sigma += row_.at[w].sigma;
        });
        is_exact_ &= sigma <= kMostPaths;
      }
      const double difference = hops_.has_moved(v) ? sigma : sigma - log_[place_[v]].old.sigma;
      if (difference == 0 || !is_exact_) return;
      each_neighbor(out_, v, [&](int32_t w) {
        if (d[w] == level + 1 && !hops_.has_moved(w)) add_count(w, difference);
      });
    });
    return is_exact_;
  }

  void add_share(int32_t v, Unsigned difference) {
    if (v == row_.source) return;
    Saved& saved = logged(v);
    Paths& at = row_.at[v];
    at.set_share(at.share() + difference);
    if (!std::exchange(saved.is_shared, true)) levels_.push(row_.distance[v], v);
  }

  // Shares, by differences in the same way.
  void repair_shares() {
    const Hops* const d = row_.distance;
    for (Saved& saved : log_)
      if (d[saved.vertex] != kFar) saved.is_shared = true, levels_.push(d[saved.vertex], saved.vertex);
    for (const int32_t w : hops_.moved()) {
      if (hops_.was(w) == kFar || hops_.was(w) < 2) continue;
      const Unsigned part = old(w).part();
      each_neighbor(in_, w, [&](int32_t v) {
        if (d[v] == hops_.was(w) - 1 && !hops_.has_moved(v)) add_share(v, -part);
      });
    }
    for (const Arc& arc : removed_)
      if (hops_.led(arc) && !hops_.has_moved(arc.first)) add_share(arc.first, -old(arc.second).part());
    for (const Arc& arc : inserted_) {
      if (hops_.has_moved(arc.first)) continue;
      if (hops_.has_moved(arc.second) ? hops_.led(arc) : row_.leads(arc.first, arc.second))
        add_share(arc.first, old(arc.second).part());
    }
    levels_.each(false, [&](int32_t w, int32_t level) {
      Paths& at = row_.at[w];
      if (hops_.has_moved(w)) {
        Unsigned share = 0;
        each_neighbor(out_, w, [&](int32_t x) {
          if (d[x] == level + 1) share += row_.at[x].part();
        });
        at.set_share(share);
      }
      const Unsigned difference = at.part() - (hops_.has_moved(w) ? 0 : log_[place_[w]].old.part());
      if (difference == 0 || level < 2) return;  // level 1: nobody asks for the share of the source
      each_ahead(in_, w, level - 1, [&](int32_t v) { add_share(v, difference); });
    });
  }

  const Csr &out_, &in_;
  const Arcs &removed_, &inserted_;
  Row row_{};
  FixedSums* sums_ = nullptr;
  bool is_exact_ = true;
  Settling<Hops> hops_;
  Levels levels_;
  std::vector<int32_t> place_;  // of a vertex in the log, if it says so
  std::vector<int32_t> ahead_;
  std::vector<Saved> log_;
};

}  // namespace torchcent::dynamic
