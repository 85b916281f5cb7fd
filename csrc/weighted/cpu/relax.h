// The relax engine: 64 sources side by side, for weighted graphs of small diameter.
//
// A vertex has a row of tentative distances, one per lane (weighted/cpu/distance_rows.h). Rows are relaxed until
// nothing changes (Bellman 1958, over lanes): a vertex pulls from the neighbours that have changed since its last pull,
// or a few changed vertices push. In-arcs are sorted by weight, so that a pull ends where the weight alone exceeds all
// distances of the vertex. A final scan compares rows and records the tight arcs with masks of lanes. Paths are counted
// only when distances are final.
#pragma once

#include "weighted/cpu/distance_rows.h"
#include "weighted/cpu/lane_order.h"

namespace torchcent::TORCHCENT_ISA {

// Distances of type Q, an unsigned type of one or two bytes: those of the graph if scale is 1, otherwise those of a
// graph whose weights are rounded down to multiples of 1 / scale (weighted/cpu/relax_bounds.h).
template <class T, class Q>
class RelaxTable {
  using Row = DistanceRow<Q>;
  static constexpr int kLanes = Row::lanes;

 public:
  static constexpr Q unreached = Row::unreached;

  // Paths are not followed beyond `limit`, if there is one and Q can hold it.
  RelaxTable(const WeightedProblem<T>& problem, double scale, const T* limit = nullptr)
      : problem_(problem),
        n_(problem.num_nodes()),
        limit_(limit),
        exact_(scale == 1),
        symmetric_(problem.in.weight == problem.out.weight),
        in_weight_(problem.num_arcs()),
        out_weight_(symmetric_ ? 0 : problem.num_arcs()),
        distance_(n_ * kLanes),
        largest_(n_),
        changed_at_(n_),
        looked_at_(n_),
        reached_(n_),
        listed_(n_),
        changed_(n_),
        next_(n_) {
    set_scale(scale);
  }

  void set_scale(double scale) {
    const double most = limit_ == nullptr ? unreached : static_cast<double>(*limit_) * scale;
    beyond_ = most < unreached ? static_cast<Q>(static_cast<Q>(most) + 1) : unreached;
    const auto rounded = [&](T weight) {
      const double units = static_cast<double>(weight) * scale;
      return units < unreached ? static_cast<Q>(units) : unreached;  // no path that fits uses a heavier arc
    };
    for (int64_t i = 0; i < problem_.num_arcs(); ++i) in_weight_[i] = rounded(problem_.in.weight[i]);
    for (int64_t i = 0; !symmetric_ && i < problem_.num_arcs(); ++i) out_weight_[i] = rounded(problem_.out.weight[i]);
  }

  const Q* row(int64_t v) const { return distance_.data() + v * kLanes; }
  uint64_t reached(int64_t v) const { return reached_[v]; }
  // The distance in lanes that do not reach a vertex: `unreached`, or the next one after the limit.
  Q beyond() const { return beyond_; }

  // Whether the last run missed a path, or a tolerated one, because Q cannot hold its length. Finite distances are
  // correct nevertheless, because every prefix of such a path fits.
  [[gnu::noinline]] bool saturated() const {
    if (beyond_ < unreached) return false;
    for (int64_t v = 0; v < n_; ++v) {
      if (exact_ && problem_.tie_tolerance > 0) {
        Q farthest;
        mean(v, farthest);
        if (static_cast<double>(farthest) * (1 + problem_.tie_tolerance) >= unreached) return true;
      }
      if (reached_[v] == full_) continue;
      for (int64_t i = problem_.in.ptr[v]; i < problem_.in.ptr[v + 1]; ++i)
        if ((reached_[problem_.in.vertex[i]] & ~reached_[v]) != 0) return true;
    }
    return false;
  }

  // Returns false if cancelled.
  [[gnu::noinline]] bool run(const int64_t* sources, int64_t count) {
    full_ = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    alignas(64) Q start[kLanes];
    for (int l = 0; l < kLanes; ++l) start[l] = l < count ? beyond_ : Q(0);  // unused lanes never change
    const Row empty = Row::load(start);
    for (int64_t v = 0; v < n_; ++v) {
      empty.store(distance_.data() + v * kLanes);
      largest_[v] = beyond_;
      changed_at_[v] = looked_at_[v] = 0;
    }
    clock_ = 1;
    changed_.count = 0;
    for (int64_t l = 0; l < count; ++l) {
      const int64_t s = sources[l];
      distance_[s * kLanes + l] = Q(0);
      largest_[s] = Row::load(row(s)).largest();
      list(s, changed_);
    }
    for (const int32_t s : changed_) listed_[s] = 0;
    while (changed_.count > 0) {
      if (cancelled(problem_.paths.cancel)) return false;
      int64_t arcs = 0;
      for (const int32_t u : changed_) arcs += problem_.out.degree(u);
      if (kPullAdvantage * arcs < problem_.num_arcs()) push();
      else pull();
      for (const int32_t v : next_) listed_[v] = 0;
      changed_.swap(next_);
      next_.count = 0;
    }
    for (int64_t v = 0; v < n_; ++v)
      reached_[v] = largest_[v] < beyond_ ? full_ : Row::load(row(v)).below(Row::all(beyond_)) & full_;
    return true;
  }

  // The lanes in which the distance of v is at most `limit`.
  uint64_t within(int64_t v, T limit) const {
    const Q most = static_cast<int64_t>(limit) < unreached ? static_cast<Q>(limit) : unreached;
    return Row::all(most).within(row(v), Row::spread(Q(0))) & reached_[v];
  }

  // Mean and largest distance over the lanes that reach v; 0 if none does.
  double mean(int64_t v, Q& farthest) const {
    const Q* const mine = row(v);
    uint32_t sum = 0, most = 0;
    for (int l = 0; l < kLanes; ++l) {  // unused lanes are 0
      const uint32_t d = mine[l] == beyond_ ? 0 : mine[l];
      sum += d;
      most = d > most ? d : most;
    }
    farthest = static_cast<Q>(most);
    return reached_[v] == 0 ? 0 : static_cast<double>(sum) / __builtin_popcountll(reached_[v]);
  }

  // Records arcs, by head, with the lanes in which the distance of the head equals that of the tail plus the weight, or
  // is exceeded by less than `margin` allows, which returns the maximum sum for a distance. Calls visit(v, mean).
  // Returns false if cancelled.
  template <class Margin, class Visit>
  bool write_arcs(TightArcs& tight, bool exact, Margin margin, Visit visit) const {
    const int64_t* const ptr = problem_.in.ptr;
    const int32_t* const vertex = problem_.in.vertex;
    alignas(64) Q limit[kLanes];
    tight.count = 0;
    for (int64_t v = 0; v < n_; ++v) {
      if ((v & 0x3ff) == 0 && cancelled(problem_.paths.cancel)) return false;
      tight.begin[v] = tight.count;
      const uint64_t reached = reached_[v];
      Q farthest;
      visit(v, mean(v, farthest));
      if (reached == 0) continue;
      const Row mine = Row::load(row(v));
      if (exact) {
        for (int64_t i = ptr[v]; i < ptr[v + 1] && in_weight_[i] <= farthest; ++i)
          tight.add(vertex[i], i, mine.tight(row(vertex[i]), Row::spread(in_weight_[i])) & reached);
        continue;
      }
      for (int l = 0; l < kLanes; ++l) limit[l] = margin(row(v)[l]);
      const Row most = Row::load(limit);
      farthest = margin(farthest);
      for (int64_t i = ptr[v]; i < ptr[v + 1] && in_weight_[i] <= farthest; ++i)
        tight.add(vertex[i], i, most.within(row(vertex[i]), Row::spread(in_weight_[i])) & reached);
    }
    tight.begin[n_] = tight.count;
    return true;
  }

  // Records the tight arcs of the last run, and the input of the order. Returns false if cancelled.
  [[gnu::noinline]] bool write_tight_arcs(TightArcs& tight, LaneOrder& order) const {
    const auto visit = [&](int64_t v, double mean) { order.set(v, reached_[v], mean); };
    const auto margin = [&](Q distance) {
      if (distance == unreached) return unreached;
      const double most = static_cast<double>(distance) * (1 + problem_.tie_tolerance);
      return most < unreached ? static_cast<Q>(most) : static_cast<Q>(unreached - 1);
    };
    const bool exact = problem_.tie_tolerance == 0;
    if (!write_arcs(tight, exact, margin, visit)) return false;
    if (!exact) {  // the tail must be nearer than the head
      tight.filter([&](int64_t v, int64_t i) { return Row::load(row(tight.vertex[i])).below(Row::load(row(v))); });
    }
    return true;
  }

 private:
  // A push reads and writes a row per arc; a pull reads a row per changed arc and a stamp per arc.
  static constexpr int64_t kPullAdvantage = 4;

  void list(int64_t v, Vertices& list) {
    changed_at_[v] = ++clock_;
    if (listed_[v]) return;
    listed_[v] = 1;
    list.add(v);
  }

  [[gnu::noinline]] void push() {
    const int64_t* const ptr = problem_.out.ptr;
    const int32_t* const vertex = problem_.out.vertex;
    const Q* const weight = symmetric_ ? in_weight_.data() : out_weight_.data();
    for (const int32_t u : changed_) {
      for (int64_t i = ptr[u]; i < ptr[u + 1]; ++i) {
        const int64_t v = vertex[i];
        if (weight[i] >= largest_[v]) continue;
        Q* const target = distance_.data() + v * kLanes;
        const Row before = Row::load(target);
        Row after = before;
        after.relax(row(u), Row::spread(weight[i]));
        if (after.below(before) == 0) continue;
        after.store(target);
        largest_[v] = after.largest();
        list(v, next_);
      }
    }
  }

  [[gnu::noinline]] void pull() {
    const int64_t* const ptr = problem_.in.ptr;
    const int32_t* const vertex = problem_.in.vertex;
    const Q* const weight = in_weight_.data();
    const uint32_t* const changed_at = changed_at_.data();
    for (int64_t v = 0; v < n_; ++v) {
      if ((v & 0x3ff) == 0 && cancelled(problem_.paths.cancel)) return;  // run() checks it, too
      const uint32_t since = looked_at_[v];
      Q* const target = distance_.data() + v * kLanes;
      const Q most = largest_[v];
      const Row before = Row::load(target);
      Row after = before;
      for (int64_t i = ptr[v]; i < ptr[v + 1] && weight[i] < most; ++i) {
        const int64_t u = vertex[i];
        if (changed_at[u] > since) after.relax(row(u), Row::spread(weight[i]));
      }
      looked_at_[v] = clock_;
      if (after.below(before) == 0) continue;
      after.store(target);
      largest_[v] = after.largest();
      list(v, next_);
    }
  }

  WeightedProblem<T> problem_;
  int64_t n_;
  const T* limit_;
  Q beyond_ = unreached;
  bool exact_, symmetric_;
  Buffer<Q> in_weight_, out_weight_;
  Buffer<Q> distance_;           // [n][lanes]
  Buffer<Q> largest_;            // [n] maximum of each row
  Buffer<uint32_t> changed_at_;  // [n] time stamp; the clock advances with every change of a row
  Buffer<uint32_t> looked_at_;   // [n] the time of the vertex's last pull
  Buffer<uint64_t> reached_;     // [n] lanes
  Buffer<uint8_t> listed_;       // [n] whether it is in next_
  Vertices changed_, next_;      // in the previous round, in this one
  uint64_t full_ = 0;            // lanes in use
  uint32_t clock_ = 0;
};

}  // namespace torchcent::TORCHCENT_ISA
