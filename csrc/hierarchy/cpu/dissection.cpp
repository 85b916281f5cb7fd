#include "hierarchy/cpu/dissection.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace torchcent {

namespace {

constexpr int32_t kSmallCell = 32;  // vertices; at most the bits of a word
constexpr int32_t kUnreached = -1;

}  // namespace

bool Dissection::run(Piece piece) {
  std::iota(piece.vertex.begin(), piece.vertex.end(), 0);
  order_.clear();
  order_.reserve(piece.size());
  degree_.resize(piece.size());
  for (int32_t v = 0; v < piece.size(); ++v) degree_[v] = static_cast<int32_t>(piece.first[v + 1] - piece.first[v]);
  std::vector<Piece> cells;
  std::vector<char> out(piece.size(), 0);
  scatter(piece, out, cells);
  piece = {};
  while (!cells.empty()) {
    const Piece cell = std::move(cells.back());
    cells.pop_back();
    if (cell.size() <= kSmallCell) {
      small(cell);
      continue;
    }
    if (!divide(cell, out)) return false;
    for (int32_t v = 0; v < cell.size(); ++v)
      if (out[v] != 0) order_.push_back(cell.vertex[v]);
    scatter(cell, out, cells);
  }
  std::reverse(order_.begin(), order_.end());
  return true;
}

// The connected pieces of the vertices that are not out.
void Dissection::scatter(const Piece& piece, const std::vector<char>& out, std::vector<Piece>& cells) {
  const int32_t n = piece.size();
  std::vector<int32_t>& number = to_x_;
  number.assign(n, kUnreached);
  for (int32_t s = 0; s < n; ++s) {
    if (out[s] != 0 || number[s] != kUnreached) continue;
    queue_.assign(1, s);
    number[s] = 0;
    Piece cell;
    for (size_t k = 0; k < queue_.size(); ++k) {
      const int32_t v = queue_[k];
      cell.vertex.push_back(piece.vertex[v]);
      for (int64_t e = piece.first[v]; e < piece.first[v + 1]; ++e) {
        const int32_t w = piece.to[e];
        if (out[w] != 0) continue;
        if (number[w] == kUnreached) {
          number[w] = static_cast<int32_t>(queue_.size());
          queue_.push_back(w);
        }
        cell.to.push_back(number[w]);
      }
      cell.first.push_back(static_cast<int64_t>(cell.to.size()));
    }
    cells.push_back(std::move(cell));
  }
}

bool Dissection::divide(const Piece& cell, std::vector<char>& out) {
  constexpr int32_t kLargeCell = 4000;
  constexpr double kOuter = 0.25, kBalance = 0.3;
  const int32_t n = cell.size(), outer = std::max<int32_t>(1, static_cast<int32_t>(kOuter * n));
  const int64_t most = static_cast<int64_t>(std::sqrt(2 * static_cast<double>(most_arcs_)));
  std::vector<int32_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < (n > kLargeCell ? 2 : 4); ++attempt) {
    by_ends(cell, attempt);
    if (!cut_.find(cell, sorted_, place_, outer, most)) continue;
    const double share = static_cast<double>(cut_.smaller_side) / n;
    const double value = static_cast<double>(cut_.cut.size()) / std::pow(share, kBalance);
    if (value >= least) continue;
    least = value;
    best.swap(cut_.cut);
  }
  if (best.empty()) return false;
  const int64_t size = static_cast<int64_t>(best.size());
  most_arcs_ -= size * (size - 1) / 2;
  out.assign(n, 0);
  for (const int32_t v : best) out[v] = 1;
  return most_arcs_ >= 0;
}

// Breadth-first distances from a vertex; returns the last one reached.
int32_t Dissection::search(const Piece& cell, int32_t start, std::vector<int32_t>& distance) {
  distance.assign(cell.size(), kUnreached);
  queue_.assign(1, start);
  distance[start] = 0;
  for (size_t k = 0; k < queue_.size(); ++k) {
    const int32_t v = queue_[k];
    for (int64_t e = cell.first[v]; e < cell.first[v + 1]; ++e) {
      const int32_t w = cell.to[e];
      if (distance[w] != kUnreached) continue;
      distance[w] = distance[v] + 1;
      queue_.push_back(w);
    }
  }
  return queue_.back();
}

// Sorts the vertices between two far ends, in odd attempts across the line between the first two found.
void Dissection::by_ends(const Piece& cell, int attempt) {
  const int32_t n = cell.size();
  int32_t x = search(cell, static_cast<int32_t>(int64_t{attempt} * 829402351 % n), to_x_);
  int32_t y = search(cell, x, to_x_);
  search(cell, y, to_y_);
  if (attempt % 2 == 1) {
    int32_t farthest = -1;
    for (int32_t v = 0; v < n; ++v) {
      const int32_t far = std::min(to_x_[v], to_y_[v]);
      if (far <= farthest) continue;
      farthest = far;
      x = v;
    }
    y = search(cell, x, to_x_);
    search(cell, y, to_y_);
  }
  // Keys are between -d(x, y) and d(x, y).
  const int32_t apart = to_x_[y];
  std::vector<int32_t> begin(2 * apart + 2, 0);
  for (int32_t v = 0; v < n; ++v) ++begin[to_x_[v] - to_y_[v] + apart + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  sorted_.resize(n);
  place_.resize(n);
  for (int32_t v = 0; v < n; ++v) {
    place_[v] = begin[to_x_[v] - to_y_[v] + apart]++;
    sorted_[place_[v]] = v;
  }
}

// Least degree first, in a cell whose vertices fit into the bits of a word. Of the neighbours outside, only the number
// is known: a vertex has as many as any that was contracted next to it.
void Dissection::small(const Piece& cell) {
  const int32_t n = cell.size();
  std::vector<uint64_t> adjacent(n, 0);
  std::vector<int32_t> outside(n);
  for (int32_t v = 0; v < n; ++v) {
    outside[v] = degree_[cell.vertex[v]] - static_cast<int32_t>(cell.first[v + 1] - cell.first[v]);
    for (int64_t e = cell.first[v]; e < cell.first[v + 1]; ++e) adjacent[v] |= uint64_t{1} << cell.to[e];
  }
  std::vector<int32_t> order;
  for (uint64_t left = n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; left != 0;) {
    int32_t best = -1, least = std::numeric_limits<int32_t>::max();
    for (uint64_t rest = left; rest != 0; rest &= rest - 1) {
      const int32_t v = __builtin_ctzll(rest), degree = outside[v] + __builtin_popcountll(adjacent[v]);
      if (degree < least) {
        least = degree;
        best = v;
      }
    }
    left ^= uint64_t{1} << best;
    order.push_back(cell.vertex[best]);
    for (uint64_t rest = adjacent[best]; rest != 0; rest &= rest - 1) {
      const int32_t u = __builtin_ctzll(rest);
      outside[u] = std::max(outside[u], outside[best]);
      adjacent[u] = (adjacent[u] | adjacent[best]) & ~(uint64_t{1} << best) & ~(uint64_t{1} << u);
    }
  }
  order_.insert(order_.end(), order.rbegin(), order.rend());
}

}  // namespace torchcent
