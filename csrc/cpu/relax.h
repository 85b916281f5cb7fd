// The relax engine: 64 sources side by side, for weighted graphs of small diameter.
//
// A vertex has a row of tentative distances, one per lane (distance_rows.h). Rows are relaxed until nothing
// changes (Bellman 1958, over lanes): a vertex pulls from the neighbours that have changed since it looked last,
// or a few changed ones push. In-arcs come lightest first, so that a pull ends where the weight alone exceeds
// all that the vertex has. One more scan compares rows for equality and writes down the tight arcs with masks
// of lanes (tight_arcs.h); no path is counted before distances are final.
#pragma once

#include "distance_rows.h"
#include "tight_arcs.h"

namespace torchcent::TORCHCENT_ISA {

template <class T, class Q>
class RelaxTable {
  using Row = DistanceRow<Q>;
  static constexpr int kLanes = Row::lanes;

 public:
  static constexpr Q unreached = Row::unreached;

  explicit RelaxTable(const WeightedProblem<T>& problem)
      : problem_(problem),
        n_(problem.num_nodes()),
        in_weight_(problem.num_arcs()),
        out_weight_(problem.in.weight == problem.out.weight ? 0 : problem.num_arcs()),
        distance_(n_ * kLanes),
        largest_(n_),
        changed_at_(n_),
        looked_at_(n_),
        listed_(n_),
        changed_(n_),
        next_(n_) {
    for (int64_t i = 0; i < problem.num_arcs(); ++i) in_weight_[i] = static_cast<Q>(problem.in.weight[i]);
    if (problem.in.weight != problem.out.weight)
      for (int64_t i = 0; i < problem.num_arcs(); ++i) out_weight_[i] = static_cast<Q>(problem.out.weight[i]);
  }

  const Q* row(int64_t v) const { return distance_.data() + v * kLanes; }
  uint64_t reached(int64_t v) const { return Row::load(row(v)).reached() & full_; }
  // Did the last run come so near the end of Q that a path may have been taken for none?
  bool saturated() const { return saturated_; }

  // False if cancelled.
  bool run(const int64_t* sources, int64_t count) {
    full_ = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    alignas(64) Q start[kLanes];
    for (int l = 0; l < kLanes; ++l) start[l] = l < count ? Row::unreached : Q(0);  // lanes not in use never change
    const Row empty = Row::load(start);
    for (int64_t v = 0; v < n_; ++v) {
      empty.store(distance_.data() + v * kLanes);
      largest_[v] = Row::unreached;
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
    check_range();
    return true;
  }

  // The tight arcs of the last run. False if cancelled.
  bool write_tight_arcs(TightArcs& tight) const {
    tight.clear();
    const int64_t* const ptr = problem_.in.ptr;
    const int32_t* const vertex = problem_.in.vertex;
    alignas(64) Q limit[kLanes];
    for (int64_t v = 0; v < n_; ++v) {
      if ((v & 0x3ff) == 0 && cancelled(problem_.paths.cancel)) return false;
      const Row mine = Row::load(row(v));
      const uint64_t reached = mine.reached() & full_;
      tight.begin(v, reached);
      if (reached == 0) continue;
      double sum = 0;
      Q farthest = Q(0);
      reached_sum(row(v), reached, sum, farthest);
      tight.set_order(v, sum / __builtin_popcountll(reached));
      if (problem_.tie_tolerance > 0) {
        for (int l = 0; l < kLanes; ++l) limit[l] = tolerated(row(v)[l]);
        const Row allowed = Row::load(limit);
        const Q most = tolerated(farthest);
        for (int64_t i = ptr[v]; i < ptr[v + 1] && in_weight_[i] <= most; ++i) {
          const Q* const other = row(vertex[i]);
          const uint64_t nearer = Row::load(other).below(mine);
          tight.add(vertex[i], allowed.within(other, Row::spread(in_weight_[i])) & nearer & reached, i);
        }
        continue;
      }
      for (int64_t i = ptr[v]; i < ptr[v + 1] && in_weight_[i] <= farthest; ++i)
        tight.add(vertex[i], mine.tight(row(vertex[i]), Row::spread(in_weight_[i])) & reached, i);
    }
    tight.begin(n_, 0);
    return true;
  }

 private:
  // A push reads and writes a row per arc, a pull reads one per changed arc and a stamp per arc.
  static constexpr int64_t kPullAdvantage = 4;

  void list(int64_t v, Vertices& list) {
    changed_at_[v] = ++clock_;
    if (listed_[v]) return;
    listed_[v] = 1;
    list.add(v);
  }

  const Q* out_weight() const {
    return problem_.in.weight == problem_.out.weight ? in_weight_.data() : out_weight_.data();
  }

  void push() {
    const int64_t* const ptr = problem_.out.ptr;
    const int32_t* const vertex = problem_.out.vertex;
    const Q* const weight = out_weight();
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

  void pull() {
    const int64_t* const ptr = problem_.in.ptr;
    const int32_t* const vertex = problem_.in.vertex;
    const Q* const weight = in_weight_.data();
    const uint32_t* const changed_at = changed_at_.data();
    for (int64_t v = 0; v < n_; ++v) {
      if ((v & 0x3ff) == 0 && cancelled(problem_.paths.cancel)) return;  // run() sees it too
      const uint32_t since = looked_at_[v];
      Q* const target = distance_.data() + v * kLanes;
      const Q most = largest_[v];
      Row after;
      bool looked = false;
      for (int64_t i = ptr[v]; i < ptr[v + 1] && weight[i] < most; ++i) {
        const int64_t u = vertex[i];
        if (changed_at[u] <= since) continue;
        if (!looked) after = Row::load(target);
        looked = true;
        after.relax(row(u), Row::spread(weight[i]));
      }
      looked_at_[v] = clock_;
      if (!looked || after.below(Row::load(target)) == 0) continue;
      after.store(target);
      largest_[v] = after.largest();
      list(v, next_);
    }
  }

  // Sum and largest of the reached lanes.
  static void reached_sum(const Q* row, uint64_t reached, double& sum, Q& farthest) {
    for (uint64_t rest = reached; rest != 0; rest &= rest - 1) {
      const Q d = row[__builtin_ctzll(rest)];
      sum += static_cast<double>(d);
      farthest = d > farthest ? d : farthest;
    }
  }

  Q tolerated(Q distance) const {
    if (distance == Row::unreached) return distance;
    const double limit = static_cast<double>(distance) * (1 + problem_.tie_tolerance);
    if constexpr (__is_same(Q, double)) return limit;
    else return limit < DistanceType<Q>::largest ? static_cast<Q>(limit) : static_cast<Q>(DistanceType<Q>::largest);
  }

  void check_range() {
    saturated_ = false;
    if constexpr (!__is_same(Q, double)) {
      int64_t farthest = 0;
      for (int64_t v = 0; v < n_; ++v) {
        const Q here = largest_[v];
        int64_t finite = here;
        if (here == Row::unreached) {
          double sum = 0;
          Q most = 0;
          reached_sum(row(v), reached(v), sum, most);
          finite = most;
        }
        farthest = finite > farthest ? finite : farthest;
      }
      saturated_ = farthest + static_cast<int64_t>(problem_.heaviest) > DistanceType<Q>::largest;
    }
  }

  WeightedProblem<T> problem_;
  int64_t n_;
  Buffer<Q> in_weight_, out_weight_;
  Buffer<Q> distance_;           // [n][lanes]
  Buffer<Q> largest_;            // [n] of each row
  Buffer<uint32_t> changed_at_;  // [n] the clock ticks with every change of a row
  Buffer<uint32_t> looked_at_;   // [n] what it showed when the vertex pulled
  Buffer<uint8_t> listed_;       // [n] is it in next_?
  Vertices changed_, next_;      // in the last round, in this one
  uint64_t full_ = 0;            // lanes in use
  uint32_t clock_ = 0;
  bool saturated_ = false;
};

// The table with the narrowest distances that hold: every width gives the same ones.
template <class T>
class RelaxTables {
 public:
  explicit RelaxTables(const WeightedProblem<T>& problem) : problem_(problem) {}

  bool run(const int64_t* sources, int64_t count) {
    if constexpr (__is_same(T, double)) {
      return run(floats_, sources, count);
    } else {
      if (width_ == 1 && !fits<uint8_t>()) width_ = 2;
      if (width_ == 1) {
        if (!run(bytes_, sources, count)) return false;
        if (!bytes_->saturated()) return true;
        bytes_.reset();
        width_ = 2;
      }
      if (width_ == 2 && !fits<uint16_t>()) width_ = 4;
      if (width_ == 2) {
        if (!run(shorts_, sources, count)) return false;
        if (!shorts_->saturated()) return true;
        shorts_.reset();
        width_ = 4;
      }
      return run(words_, sources, count);
    }
  }

  // Calls use(table) with the one that the last run filled.
  template <class Use>
  auto with(Use use) {
    if constexpr (__is_same(T, double)) return use(*floats_);
    else if (width_ == 1) return use(*bytes_);
    else if (width_ == 2) return use(*shorts_);
    else return use(*words_);
  }

 private:
  template <class Q>
  bool fits() const {
    return 4 * static_cast<int64_t>(problem_.heaviest) < DistanceType<Q>::largest;  // or it would saturate at once
  }
  template <class Q>
  bool run(std::unique_ptr<RelaxTable<T, Q>>& table, const int64_t* sources, int64_t count) {
    if (table == nullptr) table = std::make_unique<RelaxTable<T, Q>>(problem_);
    return table->run(sources, count);
  }

  WeightedProblem<T> problem_;
  int width_ = 1;  // bytes
  std::unique_ptr<RelaxTable<T, uint8_t>> bytes_;
  std::unique_ptr<RelaxTable<T, uint16_t>> shorts_;
  std::unique_ptr<RelaxTable<T, uint32_t>> words_;
  std::unique_ptr<RelaxTable<T, double>> floats_;
};

}  // namespace torchcent::TORCHCENT_ISA
