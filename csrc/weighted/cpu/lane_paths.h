// Path counts and dependencies of 64 sources side by side over their tight arcs, with a row per vertex as in the lanes
// engine. The forward pass pulls sigma from tails; the backward pass pulls the values that heads pass up.
#pragma once

#include "weighted/cpu/lane_order.h"
#include "paths/cpu/settle.h"

namespace torchcent::TORCHCENT_ISA {

// The forward pass, which is the same for all visitors that are unit, and for all others.
template <class T, bool unit>
class LanePathCounts {
 public:
  static constexpr int kLanes = Row<T>::lanes;  // 64, or 32 for double: lanes are then processed in two halves

  explicit LanePathCounts(const PathProblem& problem) : problem_(problem), sigma_(problem.out.num_nodes * kLanes) {}

  // Counts the paths from the sources of these lanes. Returns false if cancelled.
  [[gnu::noinline]] bool count(const LaneOrder& order, const TightArcs& by_head, const PathBatch& batch, int first) {
    for (int l = 0; l < lanes_of(batch, first); ++l) sigma_[batch.sources[first + l] * kLanes + l] = 1;
    const int64_t entries = order.entries();
    for (int64_t i = 0; i < entries; ++i) {
      if ((i & 0x3ff) == 0 && cancelled(problem_.cancel)) return false;
      if (i + kAhead < entries) by_head.prefetch(order.vertex(i + kAhead));
      const int64_t v = order.vertex(i);
      const uint64_t lanes = order.lanes(i) >> first & kAll;
      if (lanes == 0) continue;
      RowSum<T> sum;
      gather<false, unit>(by_head, v, lanes, first, sigma_.data(), sum, [](auto...) {});
      Row<T> paths = sum.finish();
      if (problem_.copies != nullptr) paths *= static_cast<T>(problem_.copies[v]);
      paths.masked_store(sigma_.data() + v * kLanes, lanes);
    }
    return true;
  }

 protected:
  static constexpr uint64_t kAll = ~uint64_t{0} >> (64 - kLanes);
  static constexpr int64_t kAhead = 4;

  static int lanes_of(const PathBatch& batch, int first) {
    return batch.count - first < kLanes ? static_cast<int>(batch.count) - first : kLanes;
  }

  template <bool WithSlots, bool Unit, class OnHit>
  void gather(const TightArcs& arcs, int64_t v, uint64_t lanes, int first, const T* rows, RowSum<T>& sum,
              OnHit on_hit) const {
    const int64_t end = arcs.begin[v + 1];
    const auto find = [&](int64_t begin, int32_t* hit, uint64_t* hit_mask, int64_t* hit_slot, int& count) {
      return collect_listed<WithSlots>(arcs.vertex.data(), arcs.lanes.data(), arcs.arc.data(), first, begin, end, lanes,
                                       hit, hit_mask, hit_slot, count);
    };
    gather_hits<WithSlots, Unit>(arcs.begin[v], end, rows, sum, find, on_hit);
  }

  PathProblem problem_;
  Buffer<T> sigma_;  // [n][lanes] sigma, and unless it is needed again, what each vertex passes up: rho or lambda
};

template <class T, class Visitor>
class LanePaths : public LanePathCounts<T, Visitor::unit> {
  using Counts = LanePathCounts<T, Visitor::unit>;
  using Counts::problem_, Counts::sigma_, Counts::lanes_of, Counts::kAll, Counts::kAhead;

 public:
  using Counts::kLanes, Counts::count;

  // several: back() is called more than once for the same path counts.
  LanePaths(const PathProblem& problem, bool several)
      : Counts(problem),
        rho_(several ? problem.out.num_nodes * kLanes : 0),
        passed_(several ? rho_.data() : sigma_.data()) {}

  Status run(const LaneOrder& order, const TightArcs& by_head, const TightArcs& by_tail, const PathBatch& batch) {
    for (int first = 0; first < batch.count; first += kLanes) {
      if (!count(order, by_head, batch, first)) return Status::cancelled;
      const Status status = back(order, by_tail, batch, first, nullptr, batch.scores);
      if (status != Status::done) return status;
    }
    return Status::done;
  }

  // Adds the scores. Of each vertex only the lanes in `near` are targets (null: all), to which the tight arcs lead.
  Status back(const LaneOrder& order, const TightArcs& by_tail, const PathBatch& batch, int first, const uint64_t* near,
              double* scores) {
    const int count = lanes_of(batch, first);
    alignas(64) T source_weight[kLanes] = {}, own_weight[kLanes] = {};
    for (int l = 0; l < count; ++l) {
      source_weight[l] = static_cast<T>(batch.source_weight[first + l]);
      own_weight[l] = static_cast<T>(batch.own_weight[first + l]);
    }
    const Status status = backward(order, by_tail, first, near, source_weight, own_weight, scores);
    if (status != Status::done) return status;
    for (int l = 0; l < count; ++l) {
      if (!Visitor::edges && own_weight[l] == 0) continue;
      if (!retire(by_tail, batch.sources[first + l], uint64_t{1} << l, first, true, source_weight, own_weight, scores))
        return Status::overflow;
    }
    return Status::done;
  }

 private:
  [[gnu::noinline]] Status backward(const LaneOrder& order, const TightArcs& by_tail, int first, const uint64_t* near,
                                    const T* source_weight, const T* own_weight, double* scores) {
    for (int64_t i = order.entries() - 1; i >= 0; --i) {
      if ((i & 0x3ff) == 0 && cancelled(problem_.cancel)) return Status::cancelled;
      if (i >= kAhead) by_tail.prefetch(order.vertex(i - kAhead));
      uint64_t lanes = order.lanes(i) >> first & kAll;
      if (near != nullptr) lanes &= near[order.vertex(i)] >> first;
      if (lanes == 0) continue;
      if (!retire(by_tail, order.vertex(i), lanes, first, false, source_weight, own_weight, scores))
        return Status::overflow;
    }
    return Status::done;
  }

  bool retire(const TightArcs& by_tail, int64_t v, uint64_t lanes, int first, bool is_source, const T* source_weight,
              const T* own_weight, double* scores) {
    const T* const row = sigma_.data() + v * kLanes;
    T* const passed = passed_ + v * kLanes;
    return settle<T, Visitor>(problem_, v, lanes, is_source, row, passed, source_weight, own_weight, T(1), T(1), scores,
                              [&](RowSum<T>& sum, const Row<T>& weighted) {
                                this->template gather<Visitor::edges, false>(
                                    by_tail, v, lanes, first, passed_, sum,
                                    [&](int64_t slot, const T* passed_up, uint64_t mask) {
                                      if constexpr (Visitor::edges)
                                        scores[slot] += weighted.masked_dot(passed_up, mask);
                                    });
                              });
  }

  Buffer<T> rho_;  // [n][lanes] else that
  T* passed_;      // one of the two
};

}  // namespace torchcent::TORCHCENT_ISA
