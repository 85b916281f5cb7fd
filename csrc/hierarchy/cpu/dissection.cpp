#include "hierarchy/cpu/dissection.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/cpu/threads.h"
#include "hierarchy/cpu/task_list.h"
#include "hierarchy/cpu/vertex_cut.h"

namespace torchcent {

namespace {

constexpr int32_t kSmallCoreCell = 32;     // vertices; at most the bits of a word
constexpr int32_t kSharedCoreCell = 2048;  // vertices of a cell that another thread may take
// The arcs of all cells, in cliques of the first separator, are assumed to be at least so many. In three dimensions
// they are about five times as many, and on grids more, because there each level of the division has as many as the
// first. So a graph with too many arcs is given up at its first separators, before the rest is divided in vain.
constexpr int64_t kLeastCliques = 4;

// Its vertices are contracted one after the other, as numbers `begin` and following.
struct CoreCell {
  Piece piece;
  int32_t begin = 0;
};

// What all threads share. arcs_left is negative if it has been given up.
struct Dissection {
  explicit Dissection(const int64_t* cancelling) : cancel(cancelling) {}

  const int64_t* const cancel;
  std::vector<int32_t> degree, order;
  int64_t most_separator = 0;
  std::atomic<int64_t> arcs_left = 0;
  TaskList<CoreCell> cells;
};

// The separator of a cell is the best of four minimum cuts. Two far vertices x, y of the cell are found by
// breadth-first searches, the vertices are sorted by d(x) - d(y), and one cut is that between the outer quarters. The
// others are across this line and in between.
class Dissector {
 public:
  explicit Dissector(Dissection& shared) : all_(shared), cut_(shared.cancel) {}

  void run() {
    for (CoreCell cell; all_.cells.take(cell); all_.cells.done()) {
      own_.push_back(std::move(cell));
      while (!own_.empty()) {
        const CoreCell now = std::move(own_.back());
        own_.pop_back();
        if (now.piece.size() <= kSmallCoreCell) {
          contract_small(now);
        } else if (!divide(now)) {
          all_.cells.stop();
          return;
        }
      }
    }
  }

  // The connected pieces of the vertices that are not out.
  void scatter(const Piece& piece, int32_t begin, const std::vector<char>& out) {
    const int32_t n = piece.size();
    std::vector<int32_t>& number = distance_;
    number.assign(n, kUnreached);
    for (int32_t s = 0; s < n; ++s) {
      if (out[s] != 0 || number[s] != kUnreached) continue;
      queue_.assign(1, s);
      number[s] = 0;
      CoreCell cell;
      cell.begin = begin;
      for (size_t k = 0; k < queue_.size(); ++k) {
        const int32_t v = queue_[k];
        cell.piece.vertex.push_back(piece.vertex[v]);
        for (int64_t e = piece.first[v]; e < piece.first[v + 1]; ++e) {
          const int32_t w = piece.to[e];
          if (out[w] != 0) continue;
          if (number[w] == kUnreached) {
            number[w] = static_cast<int32_t>(queue_.size());
            queue_.push_back(w);
          }
          cell.piece.to.push_back(number[w]);
        }
        cell.piece.first.push_back(static_cast<int64_t>(cell.piece.to.size()));
      }
      begin += cell.piece.size();
      if (cell.piece.size() > kSharedCoreCell) all_.cells.push(std::move(cell));
      else own_.push_back(std::move(cell));
    }
  }

  std::vector<CoreCell> own_;

 private:
  static constexpr int32_t kUnreached = -1;

  bool divide(const CoreCell& cell) {
    constexpr double kOuter = 0.25, kBalance = 0.6;
    const int32_t n = cell.piece.size(), outer = std::max<int32_t>(1, static_cast<int32_t>(kOuter * n));
    const double even = std::pow(0.5, kBalance);
    double least = std::numeric_limits<double>::infinity();
    std::vector<int32_t> best;
    find_ends(cell.piece);
    for (int direction = 0; direction < 4; ++direction) {
      sort(direction);
      const int64_t most = static_cast<int64_t>(std::min(static_cast<double>(all_.most_separator), least * even));
      if (!cut_.find(cell.piece, sorted_, place_, outer, most)) continue;
      const double share = static_cast<double>(cut_.smaller_side) / n;
      const double value = static_cast<double>(cut_.cut.size()) / std::pow(share, kBalance);
      if (value >= least) continue;
      least = value;
      best.swap(cut_.cut);
    }
    const int64_t size = static_cast<int64_t>(best.size()), arcs = size * (size - 1) / 2;
    if (best.empty()) all_.arcs_left = -1;
    if (all_.arcs_left.fetch_sub(arcs) < arcs) return false;
    std::vector<char> out(n, 0);
    int32_t end = cell.begin + n;
    for (const int32_t v : best) {
      out[v] = 1;
      all_.order[--end] = cell.piece.vertex[v];
    }
    scatter(cell.piece, cell.begin, out);
    return true;
  }

  // Breadth-first distances from a vertex; returns the last one reached.
  int32_t search(const Piece& piece, int32_t start, std::vector<int32_t>& distance) {
    distance.assign(piece.size(), kUnreached);
    queue_.assign(1, start);
    distance[start] = 0;
    for (size_t k = 0; k < queue_.size(); ++k) {
      const int32_t v = queue_[k];
      for (int64_t e = piece.first[v]; e < piece.first[v + 1]; ++e) {
        const int32_t w = piece.to[e];
        if (distance[w] != kUnreached) continue;
        distance[w] = distance[v] + 1;
        queue_.push_back(w);
      }
    }
    return queue_.back();
  }

  // Finds x and y far from each other, and then u and v across the line between them.
  void find_ends(const Piece& piece) {
    const int32_t n = piece.size();
    const int32_t x = search(piece, 0, distance_), y = search(piece, x, along_);
    search(piece, y, distance_);
    int32_t u = 0, farthest = -1;
    for (int32_t i = 0; i < n; ++i) {
      const int32_t far = std::min(along_[i], distance_[i]);
      if (far > farthest) {
        farthest = far;
        u = i;
      }
      along_[i] -= distance_[i];
    }
    const int32_t v = search(piece, u, across_);
    search(piece, v, distance_);
    for (int32_t i = 0; i < n; ++i) across_[i] -= distance_[i];
  }

  // Sorts the vertices along, across, or in between.
  void sort(int direction) {
    constexpr int32_t kAlong[] = {1, 0, 1, 1}, kAcross[] = {0, 1, 1, -1};
    const int32_t n = static_cast<int32_t>(along_.size()), a = kAlong[direction], b = kAcross[direction];
    std::vector<int32_t>& key = distance_;
    for (int32_t i = 0; i < n; ++i) key[i] = a * along_[i] + b * across_[i];
    const auto [least, most] = std::minmax_element(key.begin(), key.end());
    const int32_t lowest = *least;
    std::vector<int32_t> begin(*most - lowest + 2, 0);
    for (int32_t i = 0; i < n; ++i) ++begin[key[i] - lowest + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    sorted_.resize(n);
    place_.resize(n);
    for (int32_t i = 0; i < n; ++i) {
      place_[i] = begin[key[i] - lowest]++;
      sorted_[place_[i]] = i;
    }
  }

  // Least degree first, in a cell whose vertices fit into the bits of a word. Of the neighbours outside, only the
  // number is known: a vertex has as many as any that was contracted next to it.
  void contract_small(const CoreCell& cell) {
    const Piece& piece = cell.piece;
    const int32_t n = piece.size();
    uint64_t adjacent[kSmallCoreCell] = {};
    int32_t outside[kSmallCoreCell];
    for (int32_t v = 0; v < n; ++v) {
      outside[v] = all_.degree[piece.vertex[v]] - static_cast<int32_t>(piece.first[v + 1] - piece.first[v]);
      for (int64_t e = piece.first[v]; e < piece.first[v + 1]; ++e) adjacent[v] |= uint64_t{1} << piece.to[e];
    }
    uint64_t left = (uint64_t{1} << n) - 1;
    for (int32_t number = cell.begin; left != 0; ++number) {
      int32_t best = -1, least = std::numeric_limits<int32_t>::max();
      for (uint64_t rest = left; rest != 0; rest &= rest - 1) {
        const int32_t v = __builtin_ctzll(rest), degree = outside[v] + __builtin_popcountll(adjacent[v]);
        if (degree >= least) continue;
        least = degree;
        best = v;
      }
      left ^= uint64_t{1} << best;
      all_.order[number] = piece.vertex[best];
      for (uint64_t rest = adjacent[best]; rest != 0; rest &= rest - 1) {
        const int32_t u = __builtin_ctzll(rest);
        outside[u] = std::max(outside[u], outside[best]);
        adjacent[u] = (adjacent[u] | adjacent[best]) & ~(uint64_t{1} << best) & ~(uint64_t{1} << u);
      }
    }
  }

  Dissection& all_;
  // Of the cell at hand:
  std::vector<int32_t> queue_, distance_;
  std::vector<int32_t> along_, across_;  // d(x) - d(y), d(u) - d(v)
  std::vector<int32_t> sorted_, place_;
  VertexCut cut_;
};

}  // namespace

std::vector<int32_t> dissection(Piece piece, int64_t most_arcs, int threads, const int64_t* cancel) {
  const int32_t n = piece.size();
  Dissection all(cancel);
  all.order.resize(n);
  all.degree.resize(n);
  for (int32_t v = 0; v < n; ++v) all.degree[v] = static_cast<int32_t>(piece.first[v + 1] - piece.first[v]);
  std::iota(piece.vertex.begin(), piece.vertex.end(), 0);
  all.most_separator = static_cast<int64_t>(std::sqrt(2 * static_cast<double>(most_arcs / kLeastCliques)));
  all.arcs_left = most_arcs;
  Dissector first(all);
  first.scatter(piece, 0, std::vector<char>(n, 0));
  piece = {};
  for (CoreCell& cell : first.own_) all.cells.push(std::move(cell));
  in_threads(n > kSharedCoreCell ? threads : 1, [&] { Dissector(all).run(); }, [&] { all.cells.stop(); });
  if (all.arcs_left < 0) all.order.clear();
  return std::move(all.order);
}

}  // namespace torchcent
