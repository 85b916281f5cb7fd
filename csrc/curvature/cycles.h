// Triangles and 4-cycles at an edge, and the balanced Forman curvature that follows from them.
//
// The 4-cycles without a diagonal at the edge i - j are the edges between the neighbours of i alone and those of j
// alone: a bipartite graph. The curvature needs how many of its vertices have an edge, and the largest degree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace torchcent {

struct EdgeCycles {
  int64_t triangles = 0;
  int64_t around = 0;  // vertices next to an end that are on a 4-cycle
  int64_t most = 0;    // the most 4-cycles that pass through one of them
};

// The formula of curvature/_forman.py, with its operations in the same order.
inline double balanced_forman(int64_t degree_i, int64_t degree_j, const EdgeCycles& cycles) {
  const auto least = static_cast<double>(std::min(degree_i, degree_j));
  const auto largest = static_cast<double>(std::max(degree_i, degree_j));
  if (least <= 1) return 0;
  const auto triangles = static_cast<double>(cycles.triangles);
  double value = 2 / least + 2 / largest - 2 + 2 * triangles / largest + triangles / least;
  if (cycles.most > 0) value += static_cast<double>(cycles.around) / (static_cast<double>(cycles.most) * largest);
  return value;
}

// The marks of a thread. Rows has degree(v), and begin(v) and end(v), pointers to its neighbours in ascending order.
class CycleCounter {
 public:
  explicit CycleCounter(int64_t num_nodes) : side_(num_nodes, 0), cycles_(num_nodes, 0) {}

  static constexpr uint8_t kOfI = 1, kOfJ = 2, kOfBoth = 3, kEnd = 4;

  template <class Rows>
  EdgeCycles operator()(const Rows& rows, int32_t i, int32_t j) {
    if (std::min(rows.degree(i), rows.degree(j)) <= 1) return {};  // not for each leaf of a hub
    const EdgeCycles cycles = count(rows, i, j);
    clear(rows, i, j);
    return cycles;
  }

  // Until `clear`, the sides and the cycles of the neighbours of i and j may be asked for.
  template <class Rows>
  EdgeCycles count(const Rows& rows, int32_t i, int32_t j) {
    EdgeCycles cycles;
    for (const int32_t* k = rows.begin(i); k < rows.end(i); ++k) side_[*k] = kOfI;
    for (const int32_t* k = rows.begin(j); k < rows.end(j); ++k) side_[*k] |= kOfJ;
    side_[i] = side_[j] = kEnd;
    int64_t own_i = 0, own_j = 0, work_i = 0, work_j = 0;
    for (const int32_t* k = rows.begin(i); k < rows.end(i); ++k) {
      cycles.triangles += side_[*k] == kOfBoth;
      if (side_[*k] == kOfI) ++own_i, work_i += rows.degree(*k);
    }
    for (const int32_t* k = rows.begin(j); k < rows.end(j); ++k)
      if (side_[*k] == kOfJ) ++own_j, work_j += rows.degree(*k);
    if (own_i == 0 || own_j == 0) return cycles;
    if (work_i <= work_j) join(rows, i, kOfI, j, kOfJ, own_j, cycles);
    else join(rows, j, kOfJ, i, kOfI, own_i, cycles);
    return cycles;
  }

  template <class Rows>
  void clear(const Rows& rows, int32_t i, int32_t j) {
    for (const int32_t end : {i, j}) {
      for (const int32_t* k = rows.begin(end); k < rows.end(end); ++k) side_[*k] = 0, cycles_[*k] = 0;
      side_[end] = 0;
    }
  }

  uint8_t side(int32_t v) const { return side_[v]; }
  int64_t cycles(int32_t v) const { return cycles_[v]; }

 private:
  // Counts the edges between both sides from one of them; `others` is the size of the other side.
  template <class Rows>
  void join(const Rows& rows, int32_t from, uint8_t own, int32_t to, uint8_t other, int64_t others,
            EdgeCycles& cycles) {
    const auto meet = [&](int32_t k, int32_t w) {
      ++cycles_[k];
      cycles.around += cycles_[w] == 0;
      cycles.most = std::max<int64_t>(cycles.most, ++cycles_[w]);
    };
    for (const int32_t* k = rows.begin(from); k < rows.end(from); ++k) {
      if (side_[*k] != own) continue;
      if (rows.degree(*k) > kSearch * others) {  // a hub: the few of the other side are looked up
        for (const int32_t* w = rows.begin(to); w < rows.end(to); ++w)
          if (side_[*w] == other && std::binary_search(rows.begin(*k), rows.end(*k), *w)) meet(*k, *w);
      } else {
        for (const int32_t* w = rows.begin(*k); w < rows.end(*k); ++w)
          if (side_[*w] == other) meet(*k, *w);
      }
      cycles.around += cycles_[*k] > 0;
      cycles.most = std::max<int64_t>(cycles.most, cycles_[*k]);
    }
  }

  static constexpr int64_t kSearch = 16;  // entries that are read in the time of a search

  std::vector<uint8_t> side_;
  std::vector<int32_t> cycles_;
};

}  // namespace torchcent
