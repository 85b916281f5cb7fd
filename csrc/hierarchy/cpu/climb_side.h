// What climbs in a hierarchy read (ClimbIndex), and a climb from one end of a path (ClimbSide).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "hierarchy/cpu/climb_rows.h"
#include "hierarchy/cpu/multiplicity.h"

namespace torchcent {

// The upper end of an arc, its number of ancestors, and the length of the arc.
struct ClimbArc {
  int32_t depth, position;
  int64_t length;
};

// What an arc stands for: an edge if there are no choices. With one choice, two arcs from `below`, which lead to its
// lower and to its upper end; -1 stands for an arc that is nothing but an edge. With several choices these are those
// from `lower` on in ClimbIndex::choice; `below` is -1 for the edge itself.
struct ArcParts {
  int32_t lower, upper, below, choices;
};

struct ClimbArcs {
  const int64_t* down;  // of Hierarchy
  const int64_t* up;
  const double* paths;
  const int32_t* powers;
  const int32_t* last;    // of Hierarchy
  const int32_t* depth;   // ancestors of each position
  const ClimbArc* arcs;   // in the order of the hierarchy
  const ArcParts* parts;  // the same
  const ArcParts* choice;
  int64_t height;  // the most ancestors of a position, and 1
  // Of the rows (ClimbIndex).
  const int32_t* top;     // vertices with rows among a position and its ancestors
  const int32_t* branch;  // the lowest ancestor with another child than the one that a position is below, or -1
  const int64_t* row;     // of each vertex that has one, in both kinds of rows
  // The graph: its core is that of the hierarchy, and its other vertices are trees that hang from the core.
  int64_t num_nodes;
  const int32_t* position;  // [num_nodes] in the hierarchy, or -1
  const int32_t* vertex;    // of the graph, by position
  const int32_t* parent;    // [num_nodes] in the tree, or -1

  Multiplicity multiplicity(int64_t arc) const {
    return arc < 0 ? Multiplicity{1, 0} : Multiplicity{paths[arc], powers[arc]};
  }
};

// With rows of the highest vertices, by the number of ancestors of the upper end. No shortest path is longer than
// kLongest; kNone stands for climbs that are.
template <class Length>
struct ClimbIndex : ClimbArcs {
  const Length* up_rows;
  const Length* down_rows;  // of climbs backwards, over arcs down
  GoOn<Length> go_on;
  static constexpr Length kLongest = Length{1} << (8 * sizeof(Length) - 3), kNone = 2 * kLongest - 1;
};

// A climb from one end of a path. Ancestors are known by their numbers of ancestors: there is one of each.
template <class Length>
struct ClimbSide {
  using Index = ClimbIndex<Length>;
  static constexpr int64_t kFar = int64_t{1} << 61;  // sums with lengths fit

  // The last arc of a climb to an ancestor, from one deeper by its number of ancestors, and another such climb or -1.
  struct Step {
    int32_t arc, from, other;
  };
  struct Climbed {
    Multiplicity number;  // of the shortest climbs
    int32_t position, step;
  };

  const int64_t *first, *against;  // arcs that it climbs, and those of the other direction
  const Length* rows;
  std::vector<int64_t> distance;
  std::vector<Climbed> climbed;
  std::vector<Step> steps;
  std::vector<int32_t> trail;  // from the end of the path to the core

  std::vector<Length> row;                 // lengths of the shortest climbs to ancestors that have rows
  int32_t top = 0;                         // their number
  std::vector<int32_t> reached;            // those of them that single arcs lead to
  std::vector<int32_t> seeds;              // those of these that the climb has to start from
  std::vector<const Length*> row_of_seed;  // from each

  void climb_over(const int64_t* arcs, const int64_t* others, const Length* of_arcs) {
    first = arcs, against = others, rows = of_arcs;
  }

  // An ancestor that the climb comes to later.
  void expect(int32_t k, int32_t position, const Index& index) {
    __builtin_prefetch(first + position);
    if (k >= top) return;
    __builtin_prefetch(index.row + position);
    reached.push_back(k);
    std::push_heap(reached.begin(), reached.end());
  }

  void start(int32_t position, int32_t depth, int32_t with_rows) {
    top = with_rows;
    std::fill_n(distance.begin(), depth + 1, kFar);
    distance[depth] = 0;
    climbed[depth] = {{1, 0}, position, -1};
    steps.clear();
    reached.clear();
    if (depth < top) reached.push_back(depth);
  }

  // The row up to `common`, from the ends of the climb at the lowest ancestors that have rows.
  void find_row(const Index& index, int32_t common) {
    constexpr int32_t kLine = 64 / sizeof(Length);  // entries of a cache line
    seeds.clear();
    row_of_seed.clear();
    std::sort(reached.begin(), reached.end(), std::greater());
    for (size_t i = 0; i < reached.size(); ++i) {
      const Length* const from = rows + index.row[climbed[reached[i]].position];
      for (size_t j = i + 1; j < reached.size(); ++j) __builtin_prefetch(from + reached[j]);
    }
    for (const int32_t k : reached) {
      if (distance[k] > Index::kLongest || is_detour(k)) continue;
      const Length* const from = rows + index.row[climbed[k].position];
      seeds.push_back(k);
      row_of_seed.push_back(from);
      for (int32_t i = 0; i < std::min(k, common); i += kLine) __builtin_prefetch(from + i);
    }
    row.assign(top, Index::kNone);
    for (size_t i = 0; i < seeds.size(); ++i) extend(index, i, 0, common);
  }

  // Whether a climb by one of the seeds, which are deeper, is as short. It is then as short to all ancestors.
  bool is_detour(int32_t k) const {
    for (size_t i = 0; i < seeds.size(); ++i)
      if (distance[seeds[i]] + row_of_seed[i][k] <= distance[k]) return true;
    return false;
  }

  // Completes it, as far as climbs lead to one of the ancestors given.
  void complete_row(const Index& index, int32_t common, const std::vector<int32_t>& meets) {
    for (size_t i = 0; i < seeds.size() && seeds[i] >= common; ++i) {
      const auto leads = [&](int32_t meet) { return distance[seeds[i]] + row_of_seed[i][meet] == row[meet]; };
      if (std::any_of(meets.begin(), meets.end(), leads)) extend(index, i, common, top);
    }
  }

  void extend(const Index& index, size_t i, int32_t begin, int32_t end) {
    const int32_t seed = seeds[i];
    const Length* const from = row_of_seed[i];
    const auto length = static_cast<Length>(distance[seed]);
    index.go_on(row.data() + begin, from + begin, length, std::max(std::min(seed, end) - begin, 0));
    if (seed >= begin && seed < end) row[seed] = std::min(row[seed], length);
  }
};

}  // namespace torchcent
