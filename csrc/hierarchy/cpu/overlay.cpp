#include "hierarchy/cpu/overlay.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hierarchy/cpu/multiplicity.h"

namespace torchcent {

namespace {

constexpr int64_t kNoPath = int64_t{1} << 61;  // no path: sums of two fit

// Calls f(one, other, across) for each triangle below: two arcs of r, and the arc between their upper ends. `one` may
// be kept between begin(one) and end(one).
template <class Begin, class Triangle, class End>
inline void triangles_at(const Overlay& overlay, int32_t r, const Begin& begin, const Triangle& f, const End& end) {
  const int64_t *const first = overlay.first.data(), last = first[r + 1];
  const int32_t* const to = overlay.to.data();
  for (int64_t one = first[r]; one + 1 < last; ++one) {
    begin(one);
    int64_t across = first[to[one]];
    for (int64_t other = one + 1; other < last; ++other, ++across) {
      while (to[across] != to[other]) ++across;
      f(other, across);
    }
    end(one);
  }
}

}  // namespace

template <class Weight>
Overlay filled(const Csr& graph, const Weight* weight, const std::vector<int32_t>& vertex, OverlayLimits limits) {
  const int32_t n = static_cast<int32_t>(vertex.size());
  Overlay made;
  made.first.reserve(n + 1);
  made.first.push_back(0);
  std::vector<int32_t> rank(n), stamp(n, -1);
  for (int32_t r = 0; r < n; ++r) rank[vertex[r]] = r;
  // The arcs of a vertex but the nearest go on to the next: lists of such children.
  std::vector<int32_t> child(n, -1), sibling(n, -1);
  std::vector<int32_t>& to = made.to;
  for (int32_t r = 0; r < n; ++r) {
    const size_t begin = to.size();
    const auto lead = [&](int32_t x) {
      if (stamp[x] == r) return;
      stamp[x] = r;
      to.push_back(x);
    };
    stamp[r] = r;
    for (int32_t c = child[r]; c != -1; c = sibling[c])
      for (int64_t k = made.first[c] + 1; k < made.first[c + 1]; ++k) lead(to[k]);
    const int32_t v = vertex[r];
    for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot)
      if (rank[graph.col[slot]] > r) lead(rank[graph.col[slot]]);
    if (!std::is_sorted(to.begin() + begin, to.end())) std::sort(to.begin() + begin, to.end());
    const int64_t arcs = static_cast<int64_t>(to.size() - begin);
    limits.arcs -= arcs;
    limits.pairs -= arcs * (arcs - 1) / 2;
    if (limits.arcs < 0 || limits.pairs < 0) return {};
    made.first.push_back(static_cast<int64_t>(to.size()));
    if (to.size() == begin) continue;
    sibling[r] = child[to[begin]];
    child[to[begin]] = r;
  }
  made.length.assign(to.size(), kNoPath);
  made.paths.assign(to.size(), 0);
  made.powers.assign(to.size(), 0);
  made.slot.assign(to.size(), -1);
  for (int32_t r = 0; r < n; ++r) {
    const int32_t v = vertex[r];
    for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot) {
      const int32_t x = rank[graph.col[slot]];
      if (x < r) continue;
      const auto at = std::lower_bound(to.begin() + made.first[r], to.begin() + made.first[r + 1], x);
      const int64_t k = at - to.begin();
      made.length[k] = weight == nullptr ? 1 : static_cast<int64_t>(weight[slot]);
      made.paths[k] = 1;
      made.slot[k] = slot;
    }
  }
  return made;
}

template Overlay filled(const Csr&, const int32_t*, const std::vector<int32_t>&, OverlayLimits);
template Overlay filled(const Csr&, const double*, const std::vector<int32_t>&, OverlayLimits);

void customise(Overlay& overlay) {
  const int32_t n = overlay.size();
  int64_t *const length = overlay.length.data(), *const slot = overlay.slot.data();
  double* const paths = overlay.paths.data();
  int32_t* const powers = overlay.powers.data();
  int64_t along = 0;
  Multiplicity steps;
  for (int32_t r = 0; r < n; ++r)  // ascending: all triangles below an arc come before those that it belongs to
    triangles_at(
        overlay, r,
        [&](int64_t one) {
          along = length[one];
          steps = {paths[one], powers[one]};
        },
        [&](int64_t other, int64_t across) {
          const int64_t way = along + length[other];
          if (way > length[across] || way >= kNoPath) return;
          Multiplicity count = steps * Multiplicity{paths[other], powers[other]};
          if (way == length[across]) {
            count.add({paths[across], powers[across]});
          } else {
            length[across] = way;
            slot[across] = -1;
          }
          paths[across] = count.paths;
          powers[across] = count.powers;
        },
        [](int64_t) {});
  // Descending, the triangles above an arc turn its length into the distance of its ends.
  std::vector<int64_t> distances = overlay.length;
  int64_t* const distance = distances.data();
  int64_t nearest = 0;
  for (int32_t r = n - 1; r >= 0; --r)
    triangles_at(
        overlay, r, [&](int64_t one) { nearest = distance[one]; },
        [&](int64_t other, int64_t across) {
          const int64_t between = distance[across], farther = distance[other];
          distance[other] = std::min(farther, nearest + between);
          nearest = std::min(nearest, farther + between);
        },
        [&](int64_t one) { distance[one] = nearest; });
  int64_t kept = 0;
  for (int32_t r = 0; r < n; ++r) {
    const int64_t begin = kept;
    for (int64_t k = overlay.first[r]; k < overlay.first[r + 1]; ++k) {
      if (length[k] >= kNoPath || length[k] != distance[k]) continue;
      overlay.to[kept] = overlay.to[k];
      length[kept] = length[k];
      overlay.paths[kept] = overlay.paths[k];
      overlay.powers[kept] = overlay.powers[k];
      overlay.slot[kept] = overlay.slot[k];
      ++kept;
    }
    overlay.first[r] = begin;
  }
  overlay.first[n] = kept;
  for (const auto shorten : {&overlay.length, &overlay.slot}) shorten->resize(kept);
  for (const auto shorten : {&overlay.to, &overlay.powers}) shorten->resize(kept);
  overlay.paths.resize(kept);
}

}  // namespace torchcent
