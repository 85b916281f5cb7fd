// Optimal transport by lengths of paths: masses are integers, costs are float64.
//
// Shortest augmenting paths with potentials, one row after the other (Tomizawa 1971; Edmonds and Karp 1972). Each path
// moves a whole number of units, so that rounding of the costs cannot make it go on for ever.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace torchcent {

class LengthTransport {
 public:
  // The least sum of mass times cost [rows, columns]; NaN if `cancelled` says so.
  template <class Cancelled>
  double operator()(std::vector<int64_t> supply, std::vector<int64_t> demand, const std::vector<double>& cost,
                    const Cancelled& cancelled) {
    const size_t rows = supply.size(), columns = demand.size();
    of_row_.assign(rows, 0), of_column_.assign(columns, 0);
    if (flow_.size() < columns) flow_.resize(columns);
    for (size_t y = 0; y < columns; ++y) flow_[y].clear();
    far_.resize(columns), from_.resize(columns), settled_.resize(columns);
    into_.resize(rows), is_reached_.assign(rows, 0), reached_.clear();
    for (size_t root = 0; root < rows; ++root)
      while (supply[root] > 0) {
        if (cancelled()) return std::nan("");
        const size_t sink = search(root, demand, cost, columns);
        supply[root] -= move(root, sink, supply[root], demand);
      }
    double total = 0;
    for (size_t y = 0; y < columns; ++y) {
      std::sort(flow_[y].begin(), flow_[y].end());
      for (const auto& [x, mass] : flow_[y]) total += static_cast<double>(mass) * cost[x * columns + y];
    }
    return total;
  }

 private:
  // The nearest column that has demand, by costs less potentials; these change so that all remain >= 0.
  size_t search(size_t root, const std::vector<int64_t>& demand, const std::vector<double>& cost, size_t columns) {
    std::fill(far_.begin(), far_.begin() + columns, INFINITY);
    std::fill(settled_.begin(), settled_.begin() + columns, 0);
    for (const auto& [x, at] : reached_) is_reached_[x] = 0;
    reached_.assign(1, {root, 0.0});
    is_reached_[root] = 1;
    for (size_t relaxed = 0;;) {
      for (; relaxed < reached_.size(); ++relaxed) {
        const auto [x, at] = reached_[relaxed];
        for (size_t y = 0; y < columns; ++y) {
          if (settled_[y]) continue;
          const double through = at + std::max(0.0, cost[x * columns + y] - of_row_[x] - of_column_[y]);
          if (through < far_[y]) far_[y] = through, from_[y] = x;
        }
      }
      size_t next = columns;
      for (size_t y = 0; y < columns; ++y)
        if (!settled_[y] && (next == columns || far_[y] < far_[next])) next = y;
      if (demand[next] > 0) {
        for (const auto& [x, at] : reached_) of_row_[x] += far_[next] - at;
        for (size_t y = 0; y < columns; ++y)
          if (settled_[y]) of_column_[y] -= far_[next] - far_[y];
        return next;
      }
      settled_[next] = 1;
      for (size_t i = 0; i < flow_[next].size(); ++i)
        if (const auto& [x, mass] = flow_[next][i]; mass > 0 && !is_reached_[x])
          is_reached_[x] = 1, reached_.push_back({x, far_[next]}), into_[x] = {next, i};
    }
  }

  // Moves what the path takes; returns how much that is. An arc may be there several times.
  int64_t move(size_t root, size_t sink, int64_t most, std::vector<int64_t>& demand) {
    const auto before = [&](size_t x) -> int64_t& { return flow_[into_[x].first][into_[x].second].second; };
    int64_t mass = std::min(most, demand[sink]);
    for (size_t x = from_[sink]; x != root; x = from_[into_[x].first]) mass = std::min(mass, before(x));
    for (size_t x = from_[sink], y = sink;; y = into_[x].first, x = from_[y]) {
      flow_[y].push_back({x, mass});
      if (x == root) break;
      before(x) -= mass;
    }
    demand[sink] -= mass;
    return mass;
  }

  std::vector<double> of_row_, of_column_, far_;  // potentials, and distances of columns
  std::vector<size_t> from_;                      // the row before a column
  std::vector<std::pair<size_t, size_t>> into_;   // before that the column that gives back, and which of its arcs
  std::vector<uint8_t> settled_, is_reached_;
  std::vector<std::pair<size_t, double>> reached_;
  std::vector<std::vector<std::pair<size_t, int64_t>>> flow_;
};

// Lengths of shortest paths from a vertex, up to some others.
class LengthSearch {
 public:
  explicit LengthSearch(int64_t num_nodes) : length_(num_nodes, INFINITY), is_target_(num_nodes, 0) {}

  // Writes the lengths from `source` to the targets, none of which is above `limit`.
  template <class Graph>
  void operator()(const Graph& graph, const double* weight, int32_t source, const std::vector<int32_t>& targets,
                  double limit, double* out) {
    limit *= 1 + 1e-12;  // sums in another order
    size_t left = targets.size();
    for (const int32_t v : targets) is_target_[v] = 1;
    queue_ = {};
    set(source, 0);
    while (left > 0 && !queue_.empty()) {
      const auto [at, v] = queue_.top();
      queue_.pop();
      if (at > length_[v]) continue;
      if (is_target_[v]) is_target_[v] = 0, --left;
      if (left == 0) break;
      for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot)
        if (const double length = at + weight[slot]; length <= limit && length < length_[graph.col[slot]])
          set(graph.col[slot], length);
    }
    for (size_t i = 0; i < targets.size(); ++i) out[i] = length_[targets[i]], is_target_[targets[i]] = 0;
    for (const int32_t v : touched_) length_[v] = INFINITY;
    touched_.clear();
  }

 private:
  void set(int32_t v, double length) {
    if (length_[v] == INFINITY) touched_.push_back(v);
    length_[v] = length;
    queue_.push({length, v});
  }

  using Entry = std::pair<double, int32_t>;
  std::vector<double> length_;
  std::vector<uint8_t> is_target_;
  std::vector<int32_t> touched_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue_;
};

}  // namespace torchcent
