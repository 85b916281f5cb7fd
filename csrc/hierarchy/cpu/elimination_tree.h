// The elimination tree of an order of contraction. The parent of a vertex is the next one that can be an upper end of
// an arc of it, however many arcs there are between; all upper ends of arcs of a vertex are its ancestors.
#pragma once

#include <cstdint>
#include <vector>

namespace torchcent {

// parent[r], or -1 of roots, of the vertices by rank, first contracted first. lower(r, visit) calls visit(rank) for
// each neighbour of lower rank (Liu's algorithm, with compression of paths).
template <class Lower>
std::vector<int32_t> elimination_parents(int32_t n, const Lower& lower) {
  std::vector<int32_t> parent(n, -1), ancestor(n, -1);
  for (int32_t r = 0; r < n; ++r)
    lower(r, [&](int32_t x) {
      while (ancestor[x] != -1 && ancestor[x] != r) {
        const int32_t above = ancestor[x];
        ancestor[x] = r;
        x = above;
      }
      if (ancestor[x] != -1) return;
      ancestor[x] = r;
      parent[x] = r;
    });
  return parent;
}

// A preorder of the tree: at[p] is the rank at position p, and last[p] the end of its subtree.
struct Preorder {
  std::vector<int32_t> at, last;
};

// Small subtrees come before large ones, and leaves first, those with the same number of arcs side by side, so that
// neighbours in this order are alike. arcs(r): the number of arcs of rank r.
Preorder preorder(const std::vector<int32_t>& parent, const std::vector<int32_t>& arcs);

}  // namespace torchcent
