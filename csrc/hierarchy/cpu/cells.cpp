// The division of a hierarchy into nested cells.
#include <algorithm>
#include <stdexcept>

#include "hierarchy/hierarchy.h"

namespace torchcent {

namespace {

// A cell has at least so many vertices, and at most this share of those of the cell around it.
constexpr int64_t kLeastInCell = 64, kShareOfCell = 4;

// Which vertices begin a cell, and of which cell each is one: in the order of positions.
void find_cells(const Hierarchy& h, Cells& made, std::vector<int32_t>& cell_of, std::vector<int32_t>& around) {
  std::vector<int32_t> open;
  for (int32_t p = 0; p < h.size; ++p) {
    while (!open.empty() && made.cells[open.back()].end <= p) open.pop_back();
    const int64_t size = h.last[p] - p;
    const bool root = open.empty();
    const Cell* const outer = root ? nullptr : &made.cells[open.back()];
    if (root || (size >= kLeastInCell && size * kShareOfCell <= outer->end - outer->begin)) {
      const int32_t number = static_cast<int32_t>(made.cells.size());
      if (root) made.at_root[p] = number;
      around.push_back(root ? -1 : open.back());
      made.cells.push_back({p, h.last[p], 0, 0, 0, 0, 0, 0, 0});
      open.push_back(number);
      made.deepest = std::max<int64_t>(made.deepest, open.size());
    }
    cell_of[p] = open.back();
    made.root[p] = made.cells[open.front()].begin;
  }
}

// Own vertices: first the upper ends of arcs, by level in the cell, then the others; alike ones side by side.
void order_cells(const Hierarchy& h, Cells& made, const std::vector<int32_t>& cell_of) {
  std::vector<int32_t> level(h.size, 0), next;
  std::vector<char> is_upper(h.size, 0);
  for (int64_t p = 0; p < h.size; ++p) {
    ++made.cells[cell_of[p]].own_end;
    for (int64_t i = h.first[p]; i < h.first[p + 1]; ++i) {
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
  const auto degree = [&](int32_t p) { return h.first[p + 1] - h.first[p]; };
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
std::vector<std::vector<int32_t>> find_bounds(const Hierarchy& h, const Cells& made,
                                              const std::vector<int32_t>& around) {
  std::vector<std::vector<int32_t>> bounds(made.cells.size());
  std::vector<int32_t> mark(h.size, -1);
  for (int32_t c = static_cast<int32_t>(made.cells.size()) - 1; c >= 0; --c) {
    const Cell& cell = made.cells[c];
    std::vector<int32_t>& list = bounds[c];
    for (const int32_t p : list) mark[p] = c;
    for (int32_t q = cell.own; q < cell.own_end; ++q) {
      const int32_t p = made.vertex[q];
      for (int64_t i = h.first[p]; i < h.first[p + 1]; ++i)
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

}  // namespace

Cells::Cells(const Hierarchy& h)
    : vertex(h.size), place(h.size), first(h.size + 1), end(h.arcs()), at_root(h.size, -1), root(h.size) {
  std::vector<int32_t> cell_of(h.size), around;
  find_cells(h, *this, cell_of, around);
  order_cells(h, *this, cell_of);
  const std::vector<std::vector<int32_t>> bounds = find_bounds(h, *this, around);
  std::vector<std::vector<int32_t>> inside(cells.size());
  for (size_t c = 0; c < cells.size(); ++c)
    if (around[c] >= 0) inside[around[c]].push_back(static_cast<int32_t>(c));
  std::vector<int32_t> number(h.size);  // of the boundary of a cell
  int64_t arc = 0;
  for (size_t c = 0; c < cells.size(); ++c) {
    Cell& cell = cells[c];
    const auto in = [&](const Cell& of, const std::vector<int32_t>& bound, int32_t p) {
      if (p >= of.begin) return static_cast<int32_t>(bound.size()) + place[p] - of.own;
      return static_cast<int32_t>(std::lower_bound(bound.begin(), bound.end(), p) - bound.begin());
    };
    cell.bound = static_cast<int32_t>(bound.size());
    if (around[c] >= 0)
      for (const int32_t p : bounds[c]) bound.push_back(in(cells[around[c]], bounds[around[c]], p));
    cell.bound_end = static_cast<int32_t>(bound.size());
    cell.child = static_cast<int32_t>(child.size());
    child.insert(child.end(), inside[c].begin(), inside[c].end());
    cell.child_end = static_cast<int32_t>(child.size());
    const int32_t count = static_cast<int32_t>(bounds[c].size());
    for (int32_t i = 0; i < count; ++i) number[bounds[c][i]] = i;
    most_ends = std::max<int64_t>(most_ends, count + cell.own_end - cell.own);
    for (int32_t q = cell.own; q < cell.own_end; ++q) {
      const int32_t p = vertex[q];
      first[q] = arc;
      for (int64_t i = h.first[p]; i < h.first[p + 1]; ++i)
        end[arc++] = h.to[i] < cell.begin ? number[h.to[i]] : count + place[h.to[i]] - cell.own;
    }
  }
  first[h.size] = arc;
}

}  // namespace torchcent
