#include "hierarchy/cpu/elimination_tree.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

namespace torchcent {

Preorder preorder(const std::vector<int32_t>& parent, const std::vector<int32_t>& arcs) {
  const int32_t n = static_cast<int32_t>(parent.size());
  std::vector<int32_t> size(n, 1), first(n + 1, 0), child(n);
  for (int32_t r = 0; r < n; ++r) {  // children come before their parents
    if (parent[r] == -1) continue;
    size[parent[r]] += size[r];
    ++first[parent[r] + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<int32_t> fill(first.begin(), first.end() - 1);
  for (int32_t r = 0; r < n; ++r)
    if (parent[r] != -1) child[fill[parent[r]]++] = r;
  Preorder made;
  made.at.reserve(n);
  made.last.resize(n);
  std::vector<int32_t> stack;
  for (int32_t root = n - 1; root >= 0; --root) {
    if (parent[root] != -1) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const int32_t r = stack.back(), p = static_cast<int32_t>(made.at.size());
      stack.pop_back();
      made.at.push_back(r);
      made.last[p] = p + size[r];
      int32_t *const begin = child.data() + first[r], *const end = child.data() + first[r + 1];
      std::sort(begin, end, [&](int32_t a, int32_t b) {  // the last is visited first
        const auto key = [&](int32_t c) { return std::tuple(size[c], size[c] == 1 ? arcs[c] : 0, -c); };
        return key(a) > key(b);
      });
      stack.insert(stack.end(), begin, end);
    }
  }
  return made;
}

}  // namespace torchcent
