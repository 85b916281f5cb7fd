// The kernels of Markov clustering: batches of columns, with the best method of expansion for each column.
#pragma once

#include "mcl/cpu/flow_filter.h"

namespace torchcent::TORCHCENT_ISA {

// Columns side by side, or else one by one.
template <class Sum, int lanes>
class ColumnsTogether {
 public:
  ColumnsTogether(const FlowProblem& problem, FlowColumn& column)
      : column_(column), plain_(problem, column), side_by_side_(problem) {}

  bool run(const int32_t* columns, int64_t count, FlowSink& sink, ColumnSummary* summary) {
    for (int64_t first = 0; first < count; first += Lanes::kLanes) {
      const int64_t some = count - first < Lanes::kLanes ? count - first : Lanes::kLanes;
      if (!together(columns + first, some, sink, summary)) return false;
    }
    return true;
  }
  ColumnExpansion<Sum>& plain() { return plain_; }

 private:
  using Lanes = LaneExpansion<Sum, lanes>;

  bool together(const int32_t* columns, int64_t count, FlowSink& sink, ColumnSummary* summary) {
    const auto outcome = side_by_side_.run(columns, count);
    if (outcome == Lanes::Outcome::cancelled) return false;
    bool room = true;
    for (int64_t l = 0; l < count && room; ++l) {
      const int32_t j = columns[l];
      if (outcome == Lanes::Outcome::done) {
        summary[j].multiplications = side_by_side_.products(l);
        column_.prune([&](float least) { return side_by_side_.list(l, least, column_.row(), column_.value()); },
                      summary[j]);
      } else if (!plain_.run(j, summary[j])) {
        return false;
      }
      room = column_.finish(j, sink, summary[j]);
    }
    if (outcome == Lanes::Outcome::done) side_by_side_.clear();
    return room;
  }

  FlowColumn& column_;
  ColumnExpansion<Sum> plain_;
  Lanes side_by_side_;
};

// For small graphs, in float64.
class SmallStep final : public FlowStep {
 public:
  explicit SmallStep(const FlowProblem& problem) : column_(problem), together_(problem, column_) {}

  bool run(const int32_t* columns, int64_t count, FlowSink& sink, ColumnSummary* summary) override {
    return together_.run(columns, count, sink, summary);
  }

 private:
  FlowColumn column_;
  ColumnsTogether<double, 4> together_;
};

// With `lanes` columns side by side. Their number does not change a bit.
template <int lanes>
class ColumnStep final : public FlowStep {
 public:
  explicit ColumnStep(const FlowProblem& problem)
      : problem_(problem),
        column_(problem),
        exact_(problem, column_),
        together_(problem, column_),
        at_(static_cast<const PlacedProblem&>(problem).at),
        later_(problem.flow.num_nodes / 64 + 1),
        some_(kBatch) {
    if (problem.index != nullptr) filtered_.emplace(problem, together_.plain().dense());
  }

  // Puts some columns off, to have more of them side by side, until it is called without columns.
  bool run(const int32_t* columns, int64_t count, FlowSink& sink, ColumnSummary* summary) override {
    if (count == 0) return finish_later(sink, summary);
    for (; count > 0; columns += kBatch, count -= kBatch)
      if (!batch(columns, count < kBatch ? count : kBatch, sink, summary)) return false;
    return true;
  }

 private:
  static constexpr int64_t kBatch = FilteredExpansion::kLanes, kLater = 1024;

  // Processes the columns put off, those of near places together.
  bool finish_later(FlowSink& sink, ColumnSummary* summary) {
    int64_t count = 0;
    const auto process = [&] {
      const int64_t some = count;
      count = 0;
      return together_.run(some_.data(), some, sink, summary);
    };
    for (int64_t w = 0; later_count_ > 0; ++w) {
      for (uint64_t rest = later_[w]; rest != 0; rest &= rest - 1, --later_count_) {
        some_[count++] = at_.row[64 * w + __builtin_ctzll(rest)];
        if (count == kBatch && !process()) return false;
      }
      later_[w] = 0;
    }
    return process();
  }

  bool batch(const int32_t* columns, int64_t count, FlowSink& sink, ColumnSummary* summary) {
    const int32_t summed = filtered_ ? filtered_->run(columns, count) : 0;
    if (summed < 0) return false;
    int64_t left = 0;
    for (int64_t l = 0; l < count; ++l) {
      const int32_t j = columns[l];
      const auto list = [&](float least) { return filtered_->list(l, least, column_.row(), column_.value()); };
      if ((summed >> l & 1) != 0 && column_.prune(list, summary[j])) {
        summary[j].multiplications = filtered_->multiplications(l);
      } else if (!is_short(j)) {
        some_[left++] = j;
        continue;
      } else if (!exact_.run(j, summary[j])) {
        return false;
      }
      if (!column_.finish(j, sink, summary[j])) return false;
    }
    if (!filtered_) return together_.run(some_.data(), left, sink, summary);
    for (int64_t l = 0; l < left; ++l) later_[at_.place[some_[l]] >> 6] |= uint64_t{1} << (at_.place[some_[l]] & 63);
    later_count_ += left;
    return later_count_ < kLater || finish_later(sink, summary);
  }

  // Whether the column has so few products that they are summed in float64.
  bool is_short(int32_t j) const {
    const Flow& m = problem_.flow;
    int64_t products = 0;
    if (problem_.expansion != 2) return false;
    for (int64_t i = m.begin[j], end = i + m.length[j]; i < end && products <= kExactProducts; ++i)
      products += m.length[m.row[i]];
    return products <= kExactProducts;
  }

  const FlowProblem problem_;
  FlowColumn column_;
  ColumnExpansion<double> exact_;
  ColumnsTogether<float, lanes> together_;
  std::optional<FilteredExpansion> filtered_;
  const PlacedRows at_;
  Buffer<uint64_t> later_;  // columns put off: a bit per place
  int64_t later_count_ = 0;
  Buffer<int32_t> some_;
};

std::unique_ptr<FlowStep> make_flow_step(const FlowProblem& problem) {
  // 16 columns read less of the flow than 8, but pay only in registers of 16 and while their sums stay in the L2 cache.
  constexpr int64_t kFewLanes = 8, kManyLanes = kVectorBytes / sizeof(float), kSumBytes = int64_t{1} << 19;
  if (problem.flow.num_nodes <= kExactNodes) return std::make_unique<SmallStep>(problem);
  if constexpr (kManyLanes > kFewLanes)
    if (problem.flow.num_nodes * kVectorBytes <= kSumBytes) return std::make_unique<ColumnStep<kManyLanes>>(problem);
  return std::make_unique<ColumnStep<kFewLanes>>(problem);
}

}  // namespace torchcent::TORCHCENT_ISA
