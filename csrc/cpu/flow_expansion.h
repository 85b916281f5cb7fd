// Expansion, column by column: column j of M^2 is the sum of M's columns k, each times M[k, j], gathered in a dense
// vector. M^2 itself is never stored: a column is pruned and inflated while it is still in the cache.
#pragma once

#include "flow_column.h"

namespace torchcent::TORCHCENT_ISA {

class ColumnExpansion final : public FlowStep {
 public:
  explicit ColumnExpansion(const FlowProblem& problem)
      : problem_(problem),
        column_(problem),
        sum_(problem.flow.num_nodes + FlowColumn::kSpare),
        touched_((problem.flow.num_nodes >> kBlockShift) + 1),
        weight_(problem.expansion > 2 ? sum_size() : 0),
        from_(problem.expansion > 2 ? sum_size() : 0) {}

  bool run(const int32_t* columns, int64_t count, FlowSink& sink, ColumnSummary* summary) override {
    for (int64_t i = 0; i < count; ++i) {
      const int32_t j = columns[i];
      if (!expand(j)) return false;
      measure(summary[j]);
      column_.prune([&](float least) { return list(least, column_.row(), column_.value()); }, summary[j]);
      clear();
      if (!column_.finish(j, sink, summary[j])) return false;
    }
    return true;
  }

 private:
  static constexpr int kBlockShift = 8;
  static constexpr int64_t kCancelEvery = 256;  // columns added between two looks at the cancel flag

  int64_t sum_size() const { return problem_.flow.num_nodes + FlowColumn::kSpare; }

  // M^e e_j = M (M ... (M e_j)).
  bool expand(int32_t j) {
    const Flow& m = problem_.flow;
    const int32_t* from = m.row + m.begin[j];
    const float* weight = m.value + m.begin[j];
    int64_t count = m.length[j];
    for (int64_t step = 1; step < problem_.expansion; ++step) {
      if (step > 1) {
        count = list(0, from_.data(), weight_.data());
        clear();
        from = from_.data(), weight = weight_.data();
      }
      for (int64_t i = 0; i < count; ++i) {
        if (i % kCancelEvery == 0 && cancelled(problem_.cancel)) return false;
        add(from[i], weight[i]);
      }
    }
    if (problem_.expansion == 1)
      for (int64_t i = 0; i < count; ++i) {
        sum_[from[i]] = weight[i];
        touched_[from[i] >> kBlockShift] = 1;
      }
    return true;
  }
  void add(int32_t k, float weight) {
    const Flow& m = problem_.flow;
    const int32_t* const row = m.row + m.begin[k];
    const float* const value = m.value + m.begin[k];
    const int64_t length = m.length[k];
    float* const sum = sum_.data();
    char* const touched = touched_.data();
#pragma GCC unroll 8
    for (int64_t i = 0; i < length; ++i) {
      sum[row[i]] += weight * value[i];
      touched[row[i] >> kBlockShift] = 1;
    }
  }

  template <class Block>
  void each_block(Block block) const {
    const int64_t n = problem_.flow.num_nodes;
    for (int64_t b = 0; b << kBlockShift < n; ++b)
      if (touched_[b] != 0) {
        const int64_t end = (b + 1) << kBlockShift;
        block(b, b << kBlockShift, end < n ? end : n);
      }
  }
  // How many entries the expanded column has, and the sum of their squares.
  void measure(ColumnSummary& summary) const {
    summary.expanded = 0;
    summary.chaos = 0;
    each_block([&](int64_t, int64_t low, int64_t high) {
      int32_t found = 0;
      for (int64_t i = low; i < high; ++i) found += sum_[i] > 0;
      summary.expanded += found;
      const float* const sum = sum_.data() + low;
      summary.chaos += ordered_sum(high - low, [&](int64_t i) { return static_cast<double>(sum[i]) * sum[i]; });
    });
  }
  // Entries > 0 and >= least.
  int64_t list(float least, int32_t* row, float* value) const {
    int64_t count = 0;
    each_block([&](int64_t, int64_t low, int64_t high) {
      for (int64_t i = low; i < high; ++i) {
        row[count] = static_cast<int32_t>(i);
        value[count] = sum_[i];
        count += sum_[i] > 0 && sum_[i] >= least;
      }
    });
    return count;
  }
  void clear() {
    each_block([&](int64_t b, int64_t low, int64_t high) {
      for (int64_t i = low; i < high; ++i) sum_[i] = 0;
      touched_[b] = 0;
    });
  }

  const FlowProblem problem_;
  FlowColumn column_;
  Buffer<float> sum_;     // [n] the column, expanded
  Buffer<char> touched_;  // by block of rows: has it entries?
  Buffer<float> weight_;  // for e > 2: the column so far
  Buffer<int32_t> from_;
};

}  // namespace torchcent::TORCHCENT_ISA
