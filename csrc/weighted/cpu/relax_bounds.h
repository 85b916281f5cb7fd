// Exact distances that do not fit one or two bytes: floating-point weights and large integers.
//
// Nearly all relaxation is done with weights rounded down to multiples of a small unit, whose distances L are lower
// bounds of the exact distances d, in units. If no d exceeds its L by more than `error`, an arc on a shortest path has
// L[tail] + weight <= L[head] + error. So the arcs within a margin of L are selected, about as many as are tight.
// Relaxing exact distances on these arcs only gives lengths of existing paths, hence upper bounds of d, and these bound
// the error. If the error is within the margin, no arc was missed; otherwise it becomes the new margin. The choice of
// unit and margin affects only the time, not a single bit of the distances.
#pragma once

#include "weighted/cpu/relax.h"

namespace torchcent::TORCHCENT_ISA {

template <class T>
struct ExactType;
template <>
struct ExactType<int32_t> {
  using Type = uint32_t;
};
template <>
struct ExactType<double> {
  using Type = double;
};

template <class T>
class RelaxBounds {
  using Bound = RelaxBound;
  using Exact = typename ExactType<T>::Type;
  using Row = DistanceRow<Exact>;
  static constexpr int kLanes = Row::lanes;
  static constexpr int64_t kLargest = DistanceType<Bound>::largest;

 public:
  static constexpr Exact unreached = Row::unreached;

  // Distances beyond `limit`, if there is one, need not be right.
  RelaxBounds(const WeightedProblem<T>& problem, const T* limit)
      : problem_(problem),
        n_(problem.num_nodes()),
        limit_(limit),
        scale_(first_scale(static_cast<double>(problem.heaviest))),
        bounds_(problem, scale_, limit),
        near_(n_, problem.num_arcs(), true),
        near_weight_(problem.num_arcs()),
        distance_(n_ * kLanes),
        mean_(n_),
        sorted_(n_),
        changed_at_(n_),
        looked_at_(n_) {}

  const Exact* row(int64_t v) const { return distance_.data() + v * kLanes; }
  uint64_t reached(int64_t v) const { return bounds_.reached(v); }

  // The lanes in which the distance of v is at most `limit`.
  uint64_t within(int64_t v, T limit) const {
    return Row::all(static_cast<Exact>(limit)).within(row(v), Row::spread(Exact(0))) & reached(v);
  }

  // Returns false if cancelled.
  bool run(const int64_t* sources, int64_t count) {
    if (!run_bounds(sources, count)) return false;
    while (true) {
      if (!write_near_arcs() || !refine(sources, count)) return false;
      const int64_t error = largest_error();
      if (error <= margin_ || margin_ >= kLargest) return true;
      margin_ = error < kLargest ? error : kLargest;
    }
  }

  // Records the tight arcs of the last run, and the input of the order. Returns false if cancelled.
  [[gnu::noinline]] bool write_tight_arcs(TightArcs& tight, LaneOrder& order) const {
    const double tolerance = problem_.tie_tolerance;
    alignas(64) Exact limit[kLanes];
    tight.count = 0;
    for (int64_t v = 0; v < n_; ++v) {
      if ((v & 0x3ff) == 0 && cancelled(problem_.paths.cancel)) return false;
      tight.begin[v] = tight.count;
      order.set(v, reached(v), mean_[v]);
      const Row mine = Row::load(row(v));
      for (int l = 0; tolerance > 0 && l < kLanes; ++l)
        limit[l] = static_cast<Exact>(row(v)[l] == unreached ? unreached : row(v)[l] * (1 + tolerance));
      for (int64_t i = near_.begin[v]; i < near_.begin[v + 1]; ++i) {
        const int32_t u = near_.vertex[i];
        const auto weight = Row::spread(near_weight_[i]);
        const uint64_t lanes = tolerance > 0 ? Row::load(limit).within(row(u), weight) & Row::load(row(u)).below(mine)
                                             : mine.tight(row(u), weight);
        tight.add(u, near_.arc[i], lanes & reached(v));
      }
    }
    tight.begin[n_] = tight.count;
    return true;
  }

 private:
  static double first_scale(double heaviest) {
    const double scale = kLargest / (16 * heaviest);
    return scale < 0x1p1000 ? scale : 0x1p1000;
  }

  // Finds a unit for which distances fit: a small one in the first run, gradually increased later.
  bool run_bounds(const int64_t* sources, int64_t count) {
    for (bool first = !calibrated_;; first = false) {
      if (!bounds_.run(sources, count)) return false;
      if (bounds_.saturated()) {
        scale_ /= 4;
      } else if (first) {
        calibrated_ = true;
        Bound farthest = 0;
        for (int64_t v = 0; v < n_; ++v) {
          Bound here;
          bounds_.mean(v, here);
          farthest = here > farthest ? here : farthest;
        }
        if (farthest == 0 || farthest > kLargest / 8) return true;
        double finer = 0.45 * kLargest / farthest;  // symmetric: at most twice another's farthest
        if (limit_ != nullptr && *limit_ > 0) {     // all that counts fits
          const double most = 0.9 * kLargest / (static_cast<double>(*limit_) * scale_);
          finer = most > finer ? most : finer;
        }
        if (!(finer > 1)) return true;
        scale_ *= finer;
      } else {
        return true;
      }
      bounds_.set_scale(scale_);
    }
  }

  bool write_near_arcs() {
    const double allowance = 1 + problem_.tie_tolerance;
    const auto margin = [&](Bound distance) {
      const double most = (static_cast<double>(distance) + static_cast<double>(margin_)) * allowance + 1;
      return most < bounds_.unreached ? static_cast<Bound>(most) : bounds_.unreached;  // an upper bound on all sums
    };
    if (!bounds_.write_arcs(near_, false, margin, [&](int64_t v, double mean) { mean_[v] = mean; })) return false;
    for (int64_t i = 0; i < near_.count; ++i) near_weight_[i] = static_cast<Exact>(problem_.in.weight[near_.arc[i]]);
    return true;
  }

  // Prefetches the data that refine() reads for v: its row, and the rows of a few tails.
  void prefetch_rows(int64_t v) const {
    const int64_t begin = near_.begin[v], end = near_.begin[v + 1] < begin + 3 ? near_.begin[v + 1] : begin + 3;
    for (int64_t i = begin - 1; i < end; ++i) {
      const char* const at = reinterpret_cast<const char*>(row(i < begin ? v : near_.vertex[i]));
      for (size_t line = 0; line < kLanes * sizeof(Exact); line += 64) __builtin_prefetch(at + line);
    }
  }

  // Relaxes exact distances over near arcs, in order of their bounds. Returns false if cancelled.
  [[gnu::noinline]] bool refine(const int64_t* sources, int64_t count) {
    alignas(64) Exact start[kLanes];
    for (int l = 0; l < kLanes; ++l) start[l] = l < count ? unreached : Exact(0);
    const Row empty = Row::load(start);
    for (int64_t v = 0; v < n_; ++v) {
      empty.store(distance_.data() + v * kLanes);
      changed_at_[v] = looked_at_[v] = 0;
    }
    uint32_t clock = 1;
    for (int64_t l = 0; l < count; ++l) {
      distance_[sources[l] * kLanes + l] = Exact(0);
      changed_at_[sources[l]] = clock;
    }
    const int64_t open = sorted_.sort(n_, mean_.data(), [&](int64_t v) { return reached(v) != 0; });
    for (bool changed = true; changed;) {
      changed = false;
      for (int64_t j = 0; j < open; ++j) {
        if ((j & 0x3ff) == 0 && cancelled(problem_.paths.cancel)) return false;
        near_.prefetch(sorted_[j + sorted_.kAhead]);
        prefetch_rows(sorted_[j + 2]);
        const int64_t v = sorted_[j];
        const uint32_t since = looked_at_[v];
        Exact* const target = distance_.data() + v * kLanes;
        Row after;
        bool looked = false;
        for (int64_t i = near_.begin[v]; i < near_.begin[v + 1]; ++i) {
          const int32_t u = near_.vertex[i];
          if (changed_at_[u] <= since) continue;
          if (!looked) after = Row::load(target);
          looked = true;
          after.relax(row(u), Row::spread(near_weight_[i]));
        }
        looked_at_[v] = clock;
        if (!looked || after.below(Row::load(target)) == 0) continue;
        after.store(target);
        changed_at_[v] = ++clock;
        changed = true;
      }
    }
    return true;
  }

  // The largest excess, in units, rounded up, of exact distances over their bounds. Also computes means that do not
  // depend on the unit, because the order of sums must not.
  [[gnu::noinline]] int64_t largest_error() {
    double most = 0;
    for (int64_t v = 0; v < n_; ++v) {
      const Bound* const bound = bounds_.row(v);
      const Exact* const exact = row(v);
      alignas(64) double error[kLanes], sum[kLanes];
      for (int l = 0; l < kLanes; ++l) {
        const bool counts = bound[l] != bounds_.beyond();
        double d = counts ? static_cast<double>(exact[l]) : 0;
        if (limit_ != nullptr && d > static_cast<double>(*limit_)) d = static_cast<double>(*limit_);
        error[l] = counts ? d * scale_ - bound[l] : 0;
        sum[l] = d;
      }
      for (int half = kLanes / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) {
          error[l] = error[l] < error[l + half] ? error[l + half] : error[l];
          sum[l] += sum[l + half];
        }
      most = error[0] > most ? error[0] : most;
      mean_[v] = reached(v) == 0 ? 0 : sum[0] / __builtin_popcountll(reached(v));
    }
    return most < kLargest ? static_cast<int64_t>(most) + 2 : kLargest;  // more than the rounding error
  }

  WeightedProblem<T> problem_;
  int64_t n_;
  const T* limit_;
  double scale_;  // units per 1
  bool calibrated_ = false;
  int64_t margin_ = 16;
  RelaxTable<T, Bound> bounds_;
  TightArcs near_;  // by head
  Buffer<Exact> near_weight_;
  Buffer<Exact> distance_;  // [n][lanes]
  Buffer<double> mean_;     // [n]
  SortedVertices sorted_;
  Buffer<uint32_t> changed_at_, looked_at_;  // [n] as in RelaxTable
};

// Distances in the narrowest type that holds them; all types give the same distances. Those beyond `limit`, if there is
// one, may be missing or too large.
template <class T>
class RelaxTables {
 public:
  explicit RelaxTables(const WeightedProblem<T>& problem, const T* limit = nullptr)
      : problem_(problem), limit_(limit) {}

  // Returns false if cancelled.
  bool run(const int64_t* sources, int64_t count) {
    if constexpr (__is_same(T, int32_t)) {
      if (width_ == 1) {
        if (!run(bytes_, sources, count)) return false;
        if (!bytes_->saturated()) return true;
        bytes_.reset();
        width_ = 2;
      }
      if (width_ == 2) {
        if (!run(shorts_, sources, count)) return false;
        if (!shorts_->saturated()) return true;
        shorts_.reset();
        width_ = 4;
      }
    }
    if (bounds_ == nullptr) bounds_ = std::make_unique<RelaxBounds<T>>(problem_, limit_);
    return bounds_->run(sources, count);
  }

  // Calls use(table) with the table that the last run filled.
  template <class Use>
  auto with(Use use) {
    if constexpr (__is_same(T, int32_t)) {
      if (width_ == 1) return use(*bytes_);
      if (width_ == 2) return use(*shorts_);
    }
    return use(*bounds_);
  }

 private:
  template <class Q>
  bool run(std::unique_ptr<RelaxTable<T, Q>>& table, const int64_t* sources, int64_t count) {
    if (table == nullptr) table = std::make_unique<RelaxTable<T, Q>>(problem_, 1.0, limit_);
    return table->run(sources, count);
  }

  WeightedProblem<T> problem_;
  const T* limit_;
  int width_ = 1;  // bytes
  std::unique_ptr<RelaxTable<T, uint8_t>> bytes_;
  std::unique_ptr<RelaxTable<T, uint16_t>> shorts_;
  std::unique_ptr<RelaxBounds<T>> bounds_;
};

}  // namespace torchcent::TORCHCENT_ISA
