// The division of a hierarchy into nested cells.
#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "core/cpu/view.h"
#include "hierarchy/cpu/swept.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

struct MadeCells {
  std::vector<Cell> cells;
  std::vector<int32_t> vertex, place, end, bound, child, outermost;
  std::vector<int64_t> first;
  int64_t most_ends = 0, deepest = 0;
};

// A cell has at least so many vertices, and at most this share of those of the cell around it.
constexpr int64_t kLeastInCell = 64, kShareOfCell = 4;

// Which vertices begin a cell, and of which cell each is one: in the order of positions.
void find_cells(const Hierarchy& h, MadeCells& made, std::vector<int32_t>& cell_of, std::vector<int32_t>& around) {
  std::vector<int32_t> open;
  for (int32_t p = 0; p < h.size; ++p) {
    while (!open.empty() && made.cells[open.back()].end <= p) open.pop_back();
    const int64_t size = h.last[p] - p;
    const bool root = open.empty();
    const Cell* const outer = root ? nullptr : &made.cells[open.back()];
    if (root || (size >= kLeastInCell && size * kShareOfCell <= outer->end - outer->begin)) {
      const int32_t number = static_cast<int32_t>(made.cells.size());
      around.push_back(root ? -1 : open.back());
      made.cells.push_back({p, h.last[p], 0, 0, 0, 0, 0, 0, 0});
      open.push_back(number);
      made.deepest = std::max<int64_t>(made.deepest, open.size());
    }
    cell_of[p] = open.back();
    made.outermost[p] = open.front();
  }
}

// Own vertices: first the upper ends of arcs, by level in the cell, then the others; alike ones side by side.
void order_cells(const Hierarchy& h, MadeCells& made, const std::vector<int32_t>& cell_of) {
  std::vector<int32_t> level(h.size, 0), next;
  std::vector<char> is_upper(h.size, 0);
  for (int64_t p = 0; p < h.size; ++p) {
    ++made.cells[cell_of[p]].own_end;
    for (int64_t i = h.down[p]; i < h.down[p + 1]; ++i) {
      is_upper[h.to[i]] = 1;
      if (cell_of[h.to[i]] == cell_of[p]) level[p] = std::max(level[p], level[h.to[i]] + 1);
    }
  }
  int32_t at = 0;
  for (Cell& cell : made.cells) {
    next.push_back(at);
    cell.own = at;
    at = cell.own_end += at;
  }
  for (int32_t p = 0; p < h.size; ++p) made.vertex[next[cell_of[p]]++] = p;
  const auto degree = [&](int32_t p) { return h.down[p + 1] - h.down[p]; };
  for (Cell& cell : made.cells) {
    std::sort(made.vertex.begin() + cell.own, made.vertex.begin() + cell.own_end, [&](int32_t a, int32_t b) {
      if (is_upper[a] != is_upper[b]) return is_upper[a] > is_upper[b];
      if (is_upper[a] && level[a] != level[b]) return level[a] < level[b];
      return degree(a) != degree(b) ? degree(a) < degree(b) : a < b;
    });
    cell.leaf = cell.own;
    for (int32_t q = cell.own; q < cell.own_end; ++q) {
      made.place[made.vertex[q]] = q;
      cell.leaf += is_upper[made.vertex[q]];
    }
  }
}

// Boundaries, from the innermost cells outwards, as positions.
std::vector<std::vector<int32_t>> find_bounds(const Hierarchy& h, const MadeCells& made,
                                              const std::vector<int32_t>& around) {
  std::vector<std::vector<int32_t>> bounds(made.cells.size());
  std::vector<int32_t> mark(h.size, -1);
  for (int32_t c = static_cast<int32_t>(made.cells.size()) - 1; c >= 0; --c) {
    const Cell& cell = made.cells[c];
    std::vector<int32_t>& list = bounds[c];
    for (const int32_t p : list) mark[p] = c;
    for (int32_t q = cell.own; q < cell.own_end; ++q) {
      const int32_t p = made.vertex[q];
      for (int64_t i = h.down[p]; i < h.down[p + 1]; ++i)
        if (h.to[i] < cell.begin && mark[h.to[i]] != c) {
          mark[h.to[i]] = c;
          list.push_back(h.to[i]);
        }
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (around[c] >= 0)
      for (const int32_t p : list)
        if (p < made.cells[around[c]].begin) bounds[around[c]].push_back(p);
  }
  return bounds;
}

MadeCells make_cells(const Hierarchy& h) {
  MadeCells made;
  made.vertex.resize(h.size), made.place.resize(h.size), made.outermost.resize(h.size);
  made.first.resize(h.size + 1), made.end.resize(h.arcs_down());
  std::vector<int32_t> cell_of(h.size), around;
  find_cells(h, made, cell_of, around);
  order_cells(h, made, cell_of);
  const std::vector<std::vector<int32_t>> bounds = find_bounds(h, made, around);
  std::vector<std::vector<int32_t>> inside(made.cells.size());
  for (size_t c = 0; c < made.cells.size(); ++c)
    if (around[c] >= 0) inside[around[c]].push_back(static_cast<int32_t>(c));
  std::vector<int32_t> number(h.size);  // in the boundary of a cell
  int64_t arc = 0;
  for (size_t c = 0; c < made.cells.size(); ++c) {
    Cell& cell = made.cells[c];
    cell.bound = static_cast<int32_t>(made.bound.size());
    if (around[c] >= 0) {
      const Cell& outer = made.cells[around[c]];
      const std::vector<int32_t>& known = bounds[around[c]];
      for (const int32_t p : bounds[c]) {
        const bool own = p >= outer.begin;
        const int64_t at = own ? static_cast<int64_t>(known.size()) + made.place[p] - outer.own
                               : std::lower_bound(known.begin(), known.end(), p) - known.begin();
        made.bound.push_back(static_cast<int32_t>(at));
      }
    }
    cell.bound_end = static_cast<int32_t>(made.bound.size());
    cell.child = static_cast<int32_t>(made.child.size());
    made.child.insert(made.child.end(), inside[c].begin(), inside[c].end());
    cell.child_end = static_cast<int32_t>(made.child.size());
    const int32_t count = static_cast<int32_t>(bounds[c].size());
    for (int32_t i = 0; i < count; ++i) number[bounds[c][i]] = i;
    made.most_ends = std::max<int64_t>(made.most_ends, count + cell.own_end - cell.own);
    for (int32_t q = cell.own; q < cell.own_end; ++q) {
      const int32_t p = made.vertex[q];
      made.first[q] = arc;
      for (int64_t i = h.down[p]; i < h.down[p + 1]; ++i)
        made.end[arc++] = h.to[i] < cell.begin ? number[h.to[i]] : count + made.place[h.to[i]] - cell.own;
    }
  }
  made.first[h.size] = arc;
  return made;
}

// The most ancestors of a vertex, itself included.
int64_t height_of(const Hierarchy& h) {
  size_t height = 0;
  std::vector<int32_t> open;
  for (int32_t p = 0; p < h.size; ++p) {
    while (!open.empty() && h.last[open.back()] <= p) open.pop_back();
    open.push_back(p);
    height = std::max(height, open.size());
  }
  return static_cast<int64_t>(height);
}

// An upper bound of the lengths that searches compare: a climb, a descent, and an arc. In an undirected graph, climbs
// are no longer than the distance from the root; in a directed one they may have to end before it, and there is the way
// back.
int64_t longest_way(const Hierarchy& h) {
  int64_t longest_arc = 0;
  const auto farthest = [&](const int64_t* first) {
    std::vector<int64_t> distance(h.size, 0);
    int64_t most = 0;
    for (int32_t p = 0; p < h.size; ++p) {
      for (int64_t i = first[p]; i < first[p + 1]; ++i) {
        const int64_t over = distance[h.to[i]] + h.length[i];
        const bool further = h.directed() ? over > distance[p] : i == first[p] || over < distance[p];
        if (further) distance[p] = over;
        longest_arc = std::max(longest_arc, h.length[i]);
      }
      most = std::max(most, distance[p]);
    }
    return most;
  };
  const int64_t climbs = farthest(h.up);
  return h.directed() ? 2 * (climbs + farthest(h.down)) + longest_arc : 2 * climbs + longest_arc;
}

template <class T>
Tensor tensor_of(const Tensor& like, const std::vector<T>& values) {
  Tensor made = empty(like, static_cast<int64_t>(values.size()), sizeof(T) == 4 ? ScalarType::Int : ScalarType::Long);
  std::copy(values.begin(), values.end(), made.mutable_data_ptr<T>());
  return made;
}

}  // namespace

// As in Cells, the cells as rows of int32; and [most_ends, deepest, longest, height].
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> hierarchy_cells(const Tensor& first,
                                                                                                   const Tensor& to,
                                                                                                   const Tensor& length,
                                                                                                   const Tensor& last) {
  const Hierarchy h = hierarchy_of({nullptr, &first, &to, &length, nullptr, nullptr, &last});
  const MadeCells made = make_cells(h);
  constexpr size_t kEntries = sizeof(Cell) / sizeof(int32_t);
  std::vector<int32_t> cells(made.cells.size() * kEntries);
  std::copy_n(reinterpret_cast<const char*>(made.cells.data()), cells.size() * sizeof(int32_t),
              reinterpret_cast<char*>(cells.data()));
  const std::vector<int64_t> facts = {made.most_ends, made.deepest, longest_way(h), height_of(h)};
  return {tensor_of(first, cells),      tensor_of(first, made.vertex),    tensor_of(first, made.place),
          tensor_of(first, made.first), tensor_of(first, made.end),       tensor_of(first, made.bound),
          tensor_of(first, made.child), tensor_of(first, made.outermost), tensor_of(first, facts)};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // What sweeps over a hierarchy read besides (hierarchy/cpu/swept.h).
  m.def(
      "hierarchy_cells(Tensor first, Tensor to, Tensor length, Tensor last) -> (Tensor cells, Tensor own, "
      "Tensor place, Tensor own_first, Tensor end, Tensor bound, Tensor child, Tensor outermost, Tensor facts)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("hierarchy_cells", TORCH_BOX(&hierarchy_cells)); }

}  // namespace torchcent
