// The shortest paths from one source in a graph that changes: distances, path counts and dependencies.
//
// Rows are integers as far as they can be, so that differences add up to what a new search gives, to the bit, whatever
// the history was. With R(sigma) = 1 / sigma, the recursion of Brandes 2001 becomes one of sums alone:
//
//   delta(v) = sigma(v) * share(v),   share(v) = sum over successors w of R(sigma(w)) + share(w).
//
// share(v) is at most the number of vertices, and kept as a multiple of 2^-96. R is rounded once, by the same rule
// everywhere; path counts are exact up to 2^53. Beyond, a row is rounded: it holds dependencies as doubles, and is
// computed anew whenever a change touches it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "dynamic/cpu/fixed_sums.h"

#include "torchcent/csr.h"

namespace torchcent::dynamic {

constexpr double kMostPaths = 0x1p53;

// Of a source and a vertex: the number of shortest paths, and the share, or the bits of a dependency.
struct Paths {
  double sigma = 0;
  uint64_t low = 0, high = 0;

  Unsigned share() const { return static_cast<Unsigned>(high) << 64 | low; }
  void set_share(Unsigned value) { low = static_cast<uint64_t>(value), high = static_cast<uint64_t>(value >> 64); }
  // What the vertex adds to the shares of its predecessors.
  Unsigned part() const { return share() + fixed(0x1p32 / sigma); }
  double dependency() const {
    return sigma * (static_cast<double>(high) * 0x1p-32 + static_cast<double>(low) * 0x1p-96);
  }
  double rounded() const {
    double value;
    std::memcpy(&value, &low, sizeof value);
    return value;
  }
  void set_rounded(double value) { std::memcpy(&low, &value, sizeof low); }
};
static_assert(sizeof(Paths) == 24);

// What is known of one source: hops to each vertex (uint8_t or, where these are more than 253, int32_t), and its paths.
// The share of the source itself, of which there is no use, says whether the row is rounded.
template <typename Hops>
struct Row {
  static constexpr Hops kFar = std::numeric_limits<Hops>::max();  // not reached
  int32_t source;
  Hops* distance;
  Paths* at;

  bool is_rounded() const { return at[source].high != 0; }
  bool leads(int32_t v, int32_t w) const { return distance[v] != kFar && distance[w] == distance[v] + 1; }
};

inline void each_neighbor(const Csr& graph, int32_t v, auto visit) {
  for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot) visit(graph.col[slot]);
}

// Searches for one thread.
template <typename Hops>
class Search {
  static constexpr Hops kFar = Row<Hops>::kFar;

 public:
  Search(const Csr& forward, const Csr& backward) : out_(forward), in_(backward) {}

  // A row that is not kept.
  Row<Hops> scratch(int32_t source) {
    distance_.resize(out_.num_nodes), at_.resize(out_.num_nodes);
    return {source, distance_.data(), at_.data()};
  }

  // The row of a source, and its dependencies, with a sign, added to the sums; false, with nothing added, if Hops
  // cannot hold the distances.
  bool compute(const Row<Hops>& row, FixedSums& sums, int sign) {
    const double most = count(row);
    if (most == 0) return false;
    if (!std::isfinite(most)) throw std::overflow_error("too many shortest paths for rows in float64");
    if (most <= kMostPaths) add_shares(row, sums, sign);
    else add_rounded(row, sums, sign);
    return true;
  }

 private:
  // Distances and path counts; the largest of these, or 0 if distances are too large.
  double count(const Row<Hops>& row) {
    std::fill_n(row.distance, out_.num_nodes, kFar);
    std::fill_n(row.at, out_.num_nodes, Paths{});
    order_.assign(1, row.source);
    row.distance[row.source] = 0, row.at[row.source].sigma = 1;
    double most = 1;
    for (size_t next = 0; next < order_.size(); ++next) {
      const int32_t v = order_[next];
      if (row.distance[v] == kFar - 1) return 0;
      const auto level = static_cast<Hops>(row.distance[v] + 1);
      const double paths_to_v = row.at[v].sigma;
      most = std::max(most, paths_to_v);
      each_neighbor(out_, v, [&](int32_t w) {
        if (row.distance[w] == kFar) row.distance[w] = level, order_.push_back(w);
        if (row.distance[w] == level) row.at[w].sigma += paths_to_v;
      });
    }
    return most;
  }

  void each_predecessor(const Row<Hops>& row, int32_t w, auto visit) const {
    if (row.distance[w] < 2) return;  // none, or the source
    each_neighbor(in_, w, [&](int32_t v) {
      if (row.distance[v] == row.distance[w] - 1) visit(row.at[v]);
    });
  }

  void add_shares(const Row<Hops>& row, FixedSums& sums, int sign) const {
    for (size_t next = order_.size(); next-- > 1;) {
      const int32_t w = order_[next];
      const Unsigned part = row.at[w].part();
      each_predecessor(row, w, [&](Paths& at) { at.set_share(at.share() + part); });
      sums.add(w, row.at[w].dependency(), sign);
    }
  }

  void add_rounded(const Row<Hops>& row, FixedSums& sums, int sign) const {
    row.at[row.source].high = 1;
    for (size_t next = order_.size(); next-- > 1;) {
      const int32_t w = order_[next];
      Paths& paths = row.at[w];
      paths.set_rounded(paths.sigma * paths.rounded());  // of the sum that successors have left
      const double part = (1 + paths.rounded()) / paths.sigma;
      each_predecessor(row, w, [&](Paths& at) { at.set_rounded(at.rounded() + part); });
      sums.add(w, paths.rounded(), sign);
    }
  }

  const Csr &out_, &in_;
  std::vector<int32_t> order_;
  std::vector<Hops> distance_;
  std::vector<Paths> at_;
};

}  // namespace torchcent::dynamic
