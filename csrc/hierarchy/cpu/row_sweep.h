// Sweeps that reach every vertex, for what does not collapse: distances themselves, and sums of their reciprocals. Some
// sources are side by side in registers. All upper ends of arcs are ancestors, so only the distances of the path from
// the root to a vertex are kept.
#pragma once

#include "hierarchy/cpu/hierarchy_lanes.h"
#include "hierarchy/cpu/source_batches.h"

namespace torchcent::TORCHCENT_ISA {

template <class Number, int registers>
class RowSweep {
 public:
  using L = Lanes<Number>;
  using Distance = typename L::Distance;
  using Length = typename L::Length;
  static constexpr int lanes = registers * L::width;

  explicit RowSweep(const RowProblem<Number>& problem) : problem_(problem) { path_.hold(problem.height * registers); }

  // Visits the distances of each vertex of the component, ancestors first: position, registers, number in
  // `sources.above` or -1. Those of vertices that are not reached are far.
  template <class Visit>
  [[gnu::always_inline]] void run(const SourceBatches& sources, Visit visit) {
    climb(sources);
    const int64_t* const first = problem_.hierarchy.down;
    Distance* const path = path_.data();
    const int32_t begin = problem_.root[sources.position[0]], end = problem_.hierarchy.last[begin];
    for (int32_t p = begin; p < end; ++p) {
      const int above = sources.number[p];
      Distance best[registers];
      for (int r = 0; r < registers; ++r)
        best[r] = above < 0 ? L::lengths(L::far) : climbs_[static_cast<int64_t>(above) * registers + r];
      for (int64_t i = first[p]; i < first[p + 1]; ++i) {
        const PathArc<Number>& arc = problem_.arcs[i];
        const Distance* const from = path + static_cast<int64_t>(arc.depth) * registers;
        for (int r = 0; r < registers; ++r) best[r] = L::smaller(best[r], from[r] + arc.length);
      }
      Distance* const own = path + static_cast<int64_t>(problem_.depth[p]) * registers;
      for (int r = 0; r < registers; ++r) own[r] = best[r];
      visit(p, own, above);
    }
  }

 private:
  // From each source to all vertices above it.
  void climb(const SourceBatches& sources) {
    const Hierarchy& h = problem_.hierarchy;
    climbs_.hold(static_cast<int64_t>(sources.num_above) * registers);
    fill(climbs_.data(), static_cast<int64_t>(sources.num_above) * registers, L::lengths(L::far));
    for (int i = 0; i < sources.count; ++i) {
      const int64_t row = static_cast<int64_t>(sources.number[sources.position[i]]) * registers;
      climbs_[row + i / L::width][i % L::width] = 0;
    }
    for (int k = sources.num_above - 1; k >= 0; --k) {
      const int32_t p = sources.above[k].position;
      const Distance* const own = &climbs_[static_cast<int64_t>(k) * registers];
      for (int64_t i = h.up[p]; i < h.up[p + 1]; ++i) {
        Distance* const upper = &climbs_[static_cast<int64_t>(sources.number[h.to[i]]) * registers];
        const Length length = problem_.arcs[i].length;
        for (int r = 0; r < registers; ++r) upper[r] = L::smaller(upper[r], own[r] + length);
      }
    }
  }

  const RowProblem<Number>& problem_;
  DistanceRoom<Number> path_, climbs_;  // by depth; by number in `above`
};

// Sums of distances and of their reciprocals, and the largest distances: of each source, or of each vertex.
template <class Number>
class HierarchyReciprocals : public HierarchyDistances {
  static constexpr int kRegisters = 4;
  using Sweep = RowSweep<Number, kRegisters>;
  using L = Lanes<Number>;
  using Distance = typename L::Distance;
  using Length = typename L::Length;
  using R = Reals<Number>;
  using Real = typename R::Real;
  static constexpr int kReals = kRegisters * R::parts, kWidth = R::width;

 public:
  static constexpr int lanes = Sweep::lanes;

  explicit HierarchyReciprocals(const RowProblem<Number>& problem)
      : problem_(problem),
        sources_(problem_.hierarchy, problem_.position, problem_.sequence, problem_.split, lanes, true),
        sweep_(problem_),
        sums_(problem.num_limits) {}

  bool run(const int64_t* sources, int64_t count, const HierarchyResults& results) override {
    sources_.start(sources, nullptr, count);
    while (sources_.next()) {
      if (cancelled(problem_.cancel)) return false;
      if (results.of_vertices != nullptr) sweep_of_vertices(results);
      else if (problem_.limits != nullptr) sweep_near(results);
      else sweep(results);
    }
    return true;
  }

 private:
  struct Sums {
    Real sum[kReals], reciprocals[kReals], reached[kReals], farthest[kReals];
  };

  // The reciprocals of some distances in a row are one fraction, so that there is one division for all of them.
  static constexpr int kTogether = sizeof(Number) == 4 ? 16 : 8;  // distances to this power are below 2^488

  void sweep(const HierarchyResults& results) {
    Real sum[kReals], total[kReals], above[kReals], below[kReals];
    Distance farthest[kRegisters];
    for (int k = 0; k < kReals; ++k) sum[k] = total[k] = above[k] = Real{}, below[k] = Real{} + 1;
    for (int r = 0; r < kRegisters; ++r) farthest[r] = Distance{};
    const auto divide = [&] {
      for (int k = 0; k < kReals; ++k) {
        total[k] += above[k] / below[k];
        above[k] = Real{}, below[k] = Real{} + 1;
      }
    };
    int together = 0;
    double reached = 0;
    sweep_.run(sources_, [&](int32_t p, const Distance* row, int number) __attribute__((always_inline)) {
      if (row[0][0] >= L::far) return;  // by all sources
      const double target = problem_.target[p];
      reached += target;
      if (target > 0)
        for (int r = 0; r < kRegisters; ++r) farthest[r] = L::larger(farthest[r], row[r]);
      const Length* const distance = reinterpret_cast<const Length*>(row);
      const bool source = number >= 0 && sources_.above[number].lane >= 0;
      if (!source && target == 1) {  // nearly all
        for (int k = 0; k < kReals; ++k) {
          const Real d = R::of(distance + k * kWidth);
          sum[k] += d;
          above[k] = R::fused(above[k], d, below[k]);
          below[k] *= d;
        }
      } else {  // the distance of a source from itself does not count
        for (int k = 0; k < kReals; ++k) {
          const Real d = R::of(distance + k * kWidth);
          const Real other = d > 0 ? d : Real{} + 1, own = d > 0 ? Real{} + target : Real{};
          sum[k] += d * target;
          above[k] = above[k] * other + below[k] * own;
          below[k] *= other;
        }
      }
      if (++together == kTogether) {
        divide();
        together = 0;
      }
    });
    divide();
    for (int i = 0; i < sources_.count; ++i) {
      const int32_t at = sources_.index[i];
      results.reached[at] = reached - problem_.target[sources_.position[i]];
      results.sum[at] = sum[i / kWidth][i % kWidth];
      results.reciprocals[at] = total[i / kWidth][i % kWidth];
      results.farthest[at] = static_cast<double>(farthest[i / L::width][i % L::width]);
    }
  }

  // The same over the vertices within each limit. What a vertex adds to a sum does not depend on the other limits.
  void sweep_near(const HierarchyResults& results) {
    const int64_t limits = problem_.num_limits;
    for (int64_t i = 0; i < limits; ++i) sums_[i] = Sums{};
    const Distance most = L::lengths(problem_.limits[limits - 1]);
    sweep_.run(sources_, [&](int32_t p, const Distance* row, int) __attribute__((always_inline)) {
      const double target = problem_.target[p];
      unsigned near = 0;
      for (int r = 0; r < kRegisters; ++r) near |= L::bits(L::at_most(row[r], most));
      if (near == 0 || target == 0) return;
      const Length* const distance = reinterpret_cast<const Length*>(row);
      for (int k = 0; k < kReals; ++k) {
        const Real d = R::of(distance + k * kWidth), none = {};
        const Real inverse = target / (d > 0 ? d : none + 1);
        for (int64_t i = 0; i < limits; ++i) {
          const auto counts = (d > 0) & (d <= static_cast<double>(problem_.limits[i]));  // not from itself
          Sums& own = sums_[i];
          own.sum[k] += counts ? d * target : none;
          own.reciprocals[k] += counts ? inverse : none;
          own.reached[k] += counts ? none + target : none;
          own.farthest[k] = counts & (d > own.farthest[k]) ? d : own.farthest[k];
        }
      }
    });
    for (int j = 0; j < sources_.count; ++j) {
      const int k = j / kWidth, at = j % kWidth;
      for (int64_t i = 0; i < limits; ++i) {
        const int64_t to = sources_.index[j] * limits + i;
        results.sum[to] = sums_[i].sum[k][at];
        results.reciprocals[to] = sums_[i].reciprocals[k][at];
        results.reached[to] = sums_[i].reached[k][at];
        results.farthest[to] = sums_[i].farthest[k][at];
      }
    }
  }

  // The same of each vertex over the sources, within each limit, added to what is there.
  void sweep_of_vertices(const HierarchyResults& results) {
    const Length far = L::far - 1;
    const Length* const limit = problem_.limits == nullptr ? &far : problem_.limits;
    const int64_t limits = problem_.num_limits;
    const Distance most = L::lengths(limit[limits - 1]);
    sweep_.run(sources_, [&](int32_t p, const Distance* row, int) __attribute__((always_inline)) {
      unsigned near = 0;
      for (int r = 0; r < kRegisters; ++r) near |= L::bits(L::at_most(row[r], most));
      if (near == 0) return;
      const Length* const distance = reinterpret_cast<const Length*>(row);
      const int64_t first = problem_.hierarchy.vertex[p] * limits;
      for (int64_t i = 0; i < limits; ++i) {
        const Real bound = Real{} + static_cast<double>(limit[i]), none = {};
        Real sum = none, reached = none, farthest = none, above = none, below = none + 1;
        for (int k = 0; k < kReals; ++k) {  // of the reciprocals one fraction, as in sweep()
          const Real d = R::of(distance + k * kWidth);
          const auto counts = (d > 0) & (d <= bound);
          const Real own = counts ? d : none, other = counts ? d : none + 1, one = counts ? none + 1 : none;
          sum += own;
          reached += one;
          farthest = own > farthest ? own : farthest;
          above = above * other + below * one;
          below *= other;
        }
        double* const to = results.of_vertices + 3 * (first + i);
        to[0] += Row<double>::total(sum);
        to[1] += Row<double>::total(above / below);
        to[2] += Row<double>::total(reached);
        double largest = results.farthest[first + i];
        for (int at = 0; at < kWidth; ++at) largest = farthest[at] > largest ? farthest[at] : largest;
        results.farthest[first + i] = largest;
      }
    });
  }

  const RowProblem<Number> problem_;
  SourceBatches sources_;
  Sweep sweep_;
  Buffer<Sums> sums_;  // of each limit
};

// Distances of all vertices.
template <class Number, class Entry>
class HierarchyRows : public HierarchyDistances {
  using Sweep = RowSweep<Number, 1>;
  using Distance = typename Lanes<Number>::Distance;
  using Length = typename Lanes<Number>::Length;

 public:
  static constexpr int lanes = Sweep::lanes;

  explicit HierarchyRows(const RowProblem<Number>& problem)
      : problem_(problem),
        sources_(problem_.hierarchy, problem_.position, problem_.sequence, problem_.split, lanes, true),
        sweep_(problem_) {
    found_.hold(problem.hierarchy.size);
    fill(none_, lanes, Lanes<Number>::far);
  }

  bool run(const int64_t* sources, int64_t count, const HierarchyResults& results) override {
    sources_.start(sources, nullptr, count);
    while (sources_.next()) {
      if (cancelled(problem_.cancel)) return false;
      sweep_.run(sources_, [&](int32_t p, const Distance* row, int) { found_[p] = *row; });
      Entry* rows[lanes];
      for (int i = 0; i < sources_.count; ++i) rows[i] = static_cast<Entry*>(results.row[sources_.index[i]]);
      write(rows);
    }
    return true;
  }

 private:
  // From a row for each vertex to one for each source.
  void write(Entry* const* rows) const {
    constexpr int64_t kTile = 16;
    const int32_t begin = problem_.root[sources_.position[0]], end = problem_.hierarchy.last[begin];
    const Length* from[kTile];
    for (int64_t v = 0; v < problem_.num_nodes; v += kTile) {
      const int size = static_cast<int>(v + kTile < problem_.num_nodes ? kTile : problem_.num_nodes - v);
      for (int t = 0; t < size; ++t) {
        const int64_t p = problem_.position[v + t];
        from[t] = p >= begin && p < end ? reinterpret_cast<const Length*>(&found_[p]) : none_;
      }
      for (int i = 0; i < sources_.count; ++i)
        for (int t = 0; t < size; ++t) rows[i][v + t] = entry(from[t][i]);
    }
  }
  static Entry entry(Length x) {
    const bool none = x >= Lanes<Number>::far;
    if constexpr (sizeof(Entry) == 4) return none ? -1 : static_cast<Entry>(x);
    else return none ? __builtin_inf() : static_cast<Entry>(x);
  }

  const RowProblem<Number> problem_;
  SourceBatches sources_;
  Sweep sweep_;
  DistanceRoom<Number> found_;  // by position
  Length none_[lanes];
};

}  // namespace torchcent::TORCHCENT_ISA
