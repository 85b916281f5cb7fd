#include "hierarchy/cpu/overlay.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/cpu/simd_level.h"
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
Overlay filled(const ContractedGraph<Weight>& given, const std::vector<int32_t>& vertex, OverlayLimits limits,
               const int64_t* cancel) {
  const Csr& graph = given.graph;
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
    if ((r & 0x3ff) == 0 && cancelled(cancel)) return {};
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
  const auto at = [&](int32_t r, int32_t x) {
    return std::lower_bound(to.begin() + made.first[r], to.begin() + made.first[r + 1], x) - to.begin();
  };
  const auto clear = [&](ArcValues& values) {
    values.length.assign(to.size(), kNoPath);
    values.paths.assign(to.size(), 0);
    values.powers.assign(to.size(), 0);
    values.slot.assign(to.size(), -1);
  };
  const auto set = [&](ArcValues& values, int64_t k, int64_t slot) {
    values.length[k] = given.weight == nullptr ? 1 : static_cast<int64_t>(given.weight[slot]);
    values.paths[k] = 1;
    values.slot[k] = slot;
  };
  clear(made.up);
  if (given.slot != nullptr) clear(made.down);
  for (int32_t r = 0; r < n; ++r) {
    if ((r & 0x3ff) == 0 && cancelled(cancel)) return {};
    const int32_t v = vertex[r];
    for (int64_t i = graph.rowptr[v]; i < graph.rowptr[v + 1]; ++i) {
      const int32_t x = rank[graph.col[i]];
      const int64_t slot = given.slot == nullptr ? i : given.slot[i];
      if (slot < 0) continue;
      if (x > r) set(made.up, at(r, x), slot);
      else if (given.slot != nullptr) set(made.down, at(x, r), slot);
    }
  }
  return made;
}

template Overlay filled(const ContractedGraph<int32_t>&, const std::vector<int32_t>&, OverlayLimits, const int64_t*);
template Overlay filled(const ContractedGraph<double>&, const std::vector<int32_t>&, OverlayLimits, const int64_t*);

namespace {

// Of both arcs of a triangle, first along `one` and then along `other`, or the other way round, becomes a path of the
// arc across.
class Paths {
 public:
  explicit Paths(ArcValues& values)
      : length_(values.length.data()),
        slot_(values.slot.data()),
        paths_(values.paths.data()),
        powers_(values.powers.data()) {}

  int64_t length(int64_t k) const { return length_[k]; }
  Multiplicity number(int64_t k) const { return {paths_[k], powers_[k]}; }
  // A path over two arcs, of which the first is so long and stands for so many.
  void add(int64_t across, int64_t way, const Multiplicity& steps, const Multiplicity& others) const {
    if (way > length_[across] || way >= kNoPath) return;
    Multiplicity count = steps * others;
    if (way == length_[across]) {
      count.add(number(across));
    } else {
      length_[across] = way;
      slot_[across] = -1;
    }
    paths_[across] = count.paths;
    powers_[across] = count.powers;
  }

 private:
  int64_t *const length_, *const slot_;
  double* const paths_;
  int32_t* const powers_;
};

// Ascending: all triangles below an arc come before those that it belongs to. False: cancelled.
template <bool directed>
bool find_paths(Overlay& overlay, const int64_t* cancel) {
  const Paths up(overlay.up), down(directed ? overlay.down : overlay.up);
  int64_t along_down = 0, along_up = 0;
  Multiplicity steps_down, steps_up;
  for (int32_t r = 0; r < overlay.size(); ++r) {
    if (cancelled(cancel)) return false;
    triangles_at(
        overlay, r,
        [&](int64_t one) {
          along_down = down.length(one);
          steps_down = down.number(one);
          if constexpr (directed) {
            along_up = up.length(one);
            steps_up = up.number(one);
          }
        },
        [&](int64_t other, int64_t across) {
          up.add(across, along_down + up.length(other), steps_down, up.number(other));
          if constexpr (directed) down.add(across, down.length(other) + along_up, down.number(other), steps_up);
        },
        [](int64_t) {});
  }
  return true;
}

// Descending, the triangles above an arc turn its length into the distance of its ends. False: cancelled.
template <bool directed>
bool find_distances(const Overlay& overlay, std::vector<int64_t>& upwards, std::vector<int64_t>& downwards,
                    const int64_t* cancel) {
  int64_t *const up = upwards.data(), *const down = directed ? downwards.data() : up;
  int64_t nearest_up = 0, nearest_down = 0;
  for (int32_t r = overlay.size() - 1; r >= 0; --r) {
    if (cancelled(cancel)) return false;
    triangles_at(
        overlay, r,
        [&](int64_t one) {
          nearest_up = up[one];
          if constexpr (directed) nearest_down = down[one];
        },
        [&](int64_t other, int64_t across) {
          const int64_t farther_up = up[other], on_up = up[across], on_down = down[across];
          if constexpr (directed) {
            const int64_t farther_down = down[other];
            down[other] = std::min(farther_down, on_down + nearest_down);
            nearest_down = std::min(nearest_down, on_up + farther_down);
          }
          up[other] = std::min(farther_up, nearest_up + on_up);
          nearest_up = std::min(nearest_up, farther_up + on_down);
        },
        [&](int64_t one) {
          up[one] = nearest_up;
          if constexpr (directed) down[one] = nearest_down;
        });
  }
  return true;
}

// The arcs that are as long as their distance, in the memory of all of them.
OverlayArcs kept(const std::vector<int64_t>& first, std::vector<int32_t>&& to, ArcValues&& all,
                 const std::vector<int64_t>& distance) {
  OverlayArcs made = {{}, std::move(to), std::move(all)};
  ArcValues& values = made.values;
  made.first.reserve(first.size());
  int64_t kept = 0;
  for (size_t r = 0; r + 1 < first.size(); ++r) {
    made.first.push_back(kept);
    for (int64_t k = first[r]; k < first[r + 1]; ++k) {
      if (values.length[k] >= kNoPath || values.length[k] != distance[k]) continue;
      made.to[kept] = made.to[k];
      values.length[kept] = values.length[k];
      values.paths[kept] = values.paths[k];
      values.powers[kept] = values.powers[k];
      values.slot[kept] = values.slot[k];
      ++kept;
    }
  }
  made.first.push_back(kept);
  for (const auto shorten : {&values.length, &values.slot}) shorten->resize(kept);
  for (const auto shorten : {&made.to, &values.powers}) shorten->resize(kept);
  values.paths.resize(kept);
  return made;
}

}  // namespace

std::vector<OverlayArcs> customise(Overlay& overlay, const int64_t* cancel) {
  std::vector<OverlayArcs> made;
  std::vector<int64_t> up, down;
  if (overlay.directed()) {
    if (!find_paths<true>(overlay, cancel)) return {};
    up = overlay.up.length, down = overlay.down.length;
    if (!find_distances<true>(overlay, up, down, cancel)) return {};
    made.push_back(kept(overlay.first, std::vector<int32_t>(overlay.to), std::move(overlay.up), up));
    made.push_back(kept(overlay.first, std::move(overlay.to), std::move(overlay.down), down));
  } else {
    if (!find_paths<false>(overlay, cancel)) return {};
    up = overlay.up.length;
    if (!find_distances<false>(overlay, up, down, cancel)) return {};
    made.push_back(kept(overlay.first, std::move(overlay.to), std::move(overlay.up), up));
  }
  return made;
}

}  // namespace torchcent
