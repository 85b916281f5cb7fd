// The shortest paths from one source in a graph that changes: distances, path counts and dependencies of a source,
// computed from the start or repaired after a batch of changes (Green et al. 2012, "A fast algorithm for streaming
// betweenness centrality"; distances as of Ramalingam and Reps 1996).
//
// What changes is computed afresh from its neighbours, in the order of their slots, and not by adding differences. So
// the numbers of a row depend on the graph alone, to the bit, whatever its history was.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dynamic/cpu/fixed_sums.h"

#include "torchcent/csr.h"

namespace torchcent::dynamic {

using Arc = std::pair<int32_t, int32_t>;

// Of a source and a vertex: the number of shortest paths, and the dependency of the source on the vertex.
struct Paths {
  double sigma = 0, delta = 0;
};

// What is known of one source: hops to each vertex (-1: not reached), and its paths, which may be null.
struct Row {
  int32_t source;
  int32_t* distance;
  Paths* at;
};

// What one thread needs for a graph of this size. `paths`: whether rows have sigma and delta.
template <bool paths>
class Search {
 public:
  Search(const Csr& forward, const Csr& backward)
      : out_(forward), in_(backward), seen_(forward.num_nodes), orphan_(forward.num_nodes), saved_(forward.num_nodes) {
    if constexpr (paths) queued_ = asked_ = std::vector<uint32_t>(forward.num_nodes);
  }

  // A row that is not kept.
  Row scratch(int32_t source) {
    distance_.resize(out_.num_nodes), at_.resize(paths ? out_.num_nodes : 0);
    return {source, distance_.data(), at_.data()};
  }

  // The row of a source, and its dependencies, with a sign, added to the sums.
  void compute(const Row& row, FixedSums* sums, int sign) {
    std::fill_n(row.distance, out_.num_nodes, -1);
    if constexpr (paths) std::fill_n(row.at, out_.num_nodes, Paths{});
    order_.assign(1, row.source);
    row.distance[row.source] = 0;
    for (size_t next = 0; next < order_.size(); ++next)
      each(out_, order_[next], [&](int32_t w) {
        if (row.distance[w] >= 0) return;
        row.distance[w] = row.distance[order_[next]] + 1;
        order_.push_back(w);
      });
    if constexpr (paths) {
      for (const int32_t v : order_) row.at[v].sigma = count(row, v);
      for (size_t next = order_.size(); next-- > 0;) {
        const int32_t v = order_[next];
        row.at[v].delta = dependency(row, v);
        if (v != row.source) sums->add(v, row.at[v].delta, sign);
      }
    }
  }

  // Takes the dependencies of a row out of the sums.
  void remove(const Row& row, FixedSums& sums) {
    for (int32_t v = 0; v < out_.num_nodes; ++v)
      if (v != row.source) sums.add(v, row.at[v].delta, -1);
  }

  // Whether arcs that come and go are anything to this source: those between equal levels, or to nearer ones, are not.
  static bool touches(const Row& row, const std::vector<Arc>& removed, const std::vector<Arc>& inserted) {
    const int32_t* d = row.distance;
    const auto tight = [&](const Arc& arc) { return d[arc.first] >= 0 && d[arc.second] == d[arc.first] + 1; };
    const auto leads_on = [&](const Arc& arc) {
      return d[arc.first] >= 0 && (d[arc.second] < 0 || d[arc.second] > d[arc.first] + (paths ? 0 : 1));
    };
    return std::any_of(removed.begin(), removed.end(), tight) ||
           std::any_of(inserted.begin(), inserted.end(), leads_on);
  }

  // Repairs a row for the graph of this search, which has lost and gained these arcs. Returns false, with nothing but
  // distances repaired, where so many have changed that the rest should be computed anew.
  bool repair(const Row& row, const std::vector<Arc>& removed, const std::vector<Arc>& inserted, FixedSums* sums) {
    ++stamp_;
    moved_.clear();
    find_orphans(row.distance, removed);
    settle(row.distance, inserted);
    if constexpr (paths) {
      if (static_cast<int64_t>(moved_.size()) > out_.num_nodes / 4) return false;
      repair_counts(row, removed, inserted, *sums);
      repair_dependencies(row, removed, inserted, *sums);
    }
    return true;
  }

  // Whether the last repair has changed a distance.
  bool has_moved(const Row& row) const {
    return std::any_of(moved_.begin(), moved_.end(), [&](int32_t v) { return row.distance[v] != saved_[v]; });
  }

 private:
  static void each(const Csr& graph, int32_t v, auto visit) {
    for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot) visit(graph.col[slot]);
  }

  double count(const Row& row, int32_t v) const {
    if (v == row.source) return 1;
    double paths_to_v = 0;
    each(in_, v, [&](int32_t w) {
      if (row.distance[w] == row.distance[v] - 1) paths_to_v += row.at[w].sigma;
    });
    if (!std::isfinite(paths_to_v)) throw std::overflow_error("too many shortest paths for rows in float64");
    return paths_to_v;
  }

  double dependency(const Row& row, int32_t v) const {
    double sum = 0;
    each(out_, v, [&](int32_t w) {
      if (row.distance[w] == row.distance[v] + 1) sum += (1 + row.at[w].delta) / row.at[w].sigma;
    });
    return row.at[v].sigma * sum;
  }

  int32_t before(const int32_t* distance, int32_t v) const { return seen_[v] == stamp_ ? saved_[v] : distance[v]; }
  void save(const int32_t* distance, int32_t v) {
    if (seen_[v] == stamp_) return;
    seen_[v] = stamp_, saved_[v] = distance[v];
    moved_.push_back(v);
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
  void find_orphans(int32_t* d, const std::vector<Arc>& removed) {
    const auto suspect = [&](int32_t v) {
      if (seen_[v] == stamp_) return;
      seen_[v] = stamp_, saved_[v] = d[v];
      push(d[v], v);
    };
    for (const auto& [u, v] : removed)
      if (d[u] >= 0 && d[v] == d[u] + 1) suspect(v);
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
      each(out_, v, [&](int32_t w) {
        if (d[w] == level + 1) suspect(w);
      });
    });
    for (const int32_t v : kept_) seen_[v] = 0;
    kept_.clear();
    for (const int32_t v : moved_) d[v] = -1;
  }

  // Orphans begin from the best neighbour that kept its distance, heads of new arcs from their tails; then by levels.
  void settle(int32_t* d, const std::vector<Arc>& inserted) {
    const size_t orphans = moved_.size();
    for (size_t i = 0; i < orphans; ++i) {
      int32_t best = INT32_MAX;
      each(in_, moved_[i], [&](int32_t w) {
        if (d[w] >= 0 && orphan_[w] != stamp_) best = std::min(best, d[w] + 1);
      });
      if (best < INT32_MAX) d[moved_[i]] = best, push(best, moved_[i]);
    }
    const auto reach = [&](int32_t v, int32_t level) {
      if (d[v] >= 0 && d[v] <= level) return;
      save(d, v);
      d[v] = level;
      push(level, v);
    };
    for (const auto& [u, v] : inserted)
      if (d[u] >= 0) reach(v, d[u] + 1);
    each_level(true, [&](int32_t v, int32_t level) {
      if (d[v] != level) return;
      each(out_, v, [&](int32_t w) { reach(w, level + 1); });
    });
  }

  void repair_counts(const Row& row, const std::vector<Arc>& removed, const std::vector<Arc>& inserted,
                     FixedSums& sums) {
    int32_t* const d = row.distance;
    changed_.clear();
    const auto ask = [&](int32_t v) {
      if (d[v] < 0 || queued_[v] == stamp_) return;
      queued_[v] = stamp_;
      push(d[v], v);
    };
    for (const int32_t v : moved_) {
      ask(v);
      each(out_, v, [&](int32_t w) {
        if ((d[v] >= 0 && d[w] == d[v] + 1) || (saved_[v] >= 0 && before(d, w) == saved_[v] + 1)) ask(w);
      });
      if (d[v] >= 0) continue;
      sums.add(v, row.at[v].delta, -1);
      row.at[v] = {};
    }
    for (const auto& [u, v] : removed)
      if (before(d, u) >= 0 && before(d, v) == before(d, u) + 1) ask(v);
    for (const auto& [u, v] : inserted)
      if (d[u] >= 0 && d[v] == d[u] + 1) ask(v);
    each_level(true, [&](int32_t v, int32_t level) {
      const double paths_to_v = count(row, v);
      if (paths_to_v == row.at[v].sigma) return;
      row.at[v].sigma = paths_to_v;
      changed_.push_back(v);
      each(out_, v, [&](int32_t w) {
        if (d[w] == level + 1) ask(w);
      });
    });
  }

  void repair_dependencies(const Row& row, const std::vector<Arc>& removed, const std::vector<Arc>& inserted,
                           FixedSums& sums) {
    int32_t* const d = row.distance;
    const auto ask = [&](int32_t v) {
      if (d[v] >= 0 && std::exchange(asked_[v], stamp_) != stamp_) push(d[v], v);
    };
    const auto ask_predecessors = [&](int32_t v) {
      each(in_, v, [&](int32_t w) {
        if (d[w] >= 0 && d[w] == d[v] - 1) ask(w);
      });
    };
    for (const int32_t v : moved_) {
      ask(v);
      if (d[v] >= 0) ask_predecessors(v);
      each(in_, v, [&](int32_t w) {
        if (saved_[v] > 0 && before(d, w) == saved_[v] - 1) ask(w);
      });
    }
    for (const int32_t v : changed_) ask(v), ask_predecessors(v);
    for (const auto& [u, v] : removed)
      if (before(d, u) >= 0 && before(d, v) == before(d, u) + 1) ask(u);
    for (const auto& [u, v] : inserted)
      if (d[u] >= 0 && d[v] == d[u] + 1) ask(u);
    each_level(false, [&](int32_t v, int32_t) {
      const double delta = dependency(row, v);
      if (delta == row.at[v].delta) return;
      if (v != row.source) sums.add(v, row.at[v].delta, -1), sums.add(v, delta, 1);
      row.at[v].delta = delta;
      ask_predecessors(v);
    });
  }

  const Csr &out_, &in_;
  uint32_t stamp_ = 0;
  std::vector<uint32_t> seen_, orphan_, queued_, asked_;  // by the stamp of a repair
  std::vector<int32_t> saved_;                            // distances before, of what was seen
  std::vector<int32_t> order_, moved_, kept_, changed_, distance_;
  std::vector<Paths> at_;
  std::vector<std::vector<int32_t>> levels_;
  int32_t lowest_ = INT32_MAX, highest_ = -1;
};

}  // namespace torchcent::dynamic
