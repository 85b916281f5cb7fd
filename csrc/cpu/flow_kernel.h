// The kernel of Markov clustering: batches of columns, each column expanded in the way that is best for it.
#pragma once

#include "flow_filter.h"

namespace torchcent::TORCHCENT_ISA {

class ColumnStep final : public FlowStep {
 public:
  explicit ColumnStep(const FlowProblem& problem)
      : column_(problem),
        plain_(problem, column_),
        side_by_side_(problem),
        filtered_(problem, plain_.dense()),
        filter_(problem.index != nullptr) {}

  bool run(const int32_t* columns, int64_t count, FlowSink& sink, ColumnSummary* summary) override {
    for (; count > 0; columns += kBatch, count -= kBatch)
      if (!batch(columns, count < kBatch ? count : kBatch, sink, summary)) return false;
    return true;
  }

 private:
  static constexpr int64_t kBatch = FilteredExpansion::kLanes;

  bool batch(const int32_t* columns, int64_t count, FlowSink& sink, ColumnSummary* summary) {
    const int32_t summed = filter_ ? filtered_.run(columns, count) : 0;
    if (summed < 0) return false;
    int32_t rest[kBatch];
    int64_t left = 0;
    for (int64_t l = 0; l < count; ++l) {
      const int32_t j = columns[l];
      const auto list = [&](float least) { return filtered_.list(l, least, column_.row(), column_.value()); };
      if ((summed >> l & 1) == 0 || !column_.prune(list, summary[j])) {
        rest[left++] = j;
        continue;
      }
      summary[j].multiplications = filtered_.multiplications(l);
      if (!column_.finish(j, sink, summary[j])) return false;
    }
    for (int64_t first = 0; first < left; first += LaneExpansion::kLanes) {
      const int64_t some = left - first < LaneExpansion::kLanes ? left - first : LaneExpansion::kLanes;
      if (!together(rest + first, some, sink, summary)) return false;
    }
    return true;
  }

  bool together(const int32_t* columns, int64_t count, FlowSink& sink, ColumnSummary* summary) {
    const auto outcome = side_by_side_.run(columns, count);
    if (outcome == LaneExpansion::Outcome::cancelled) return false;
    bool room = true;
    for (int64_t l = 0; l < count && room; ++l) {
      const int32_t j = columns[l];
      if (outcome == LaneExpansion::Outcome::done) {
        summary[j].multiplications = side_by_side_.products(l);
        column_.prune([&](float least) { return side_by_side_.list(l, least, column_.row(), column_.value()); },
                      summary[j]);
      } else if (!plain_.run(j, summary[j])) {
        return false;
      }
      room = column_.finish(j, sink, summary[j]);
    }
    if (outcome == LaneExpansion::Outcome::done) side_by_side_.clear();
    return room;
  }

  FlowColumn column_;
  ColumnExpansion plain_;
  LaneExpansion side_by_side_;
  FilteredExpansion filtered_;
  bool filter_;
};

}  // namespace torchcent::TORCHCENT_ISA
