// Expansion, column by column: column j of M^2 is the sum of M's columns k, each times M[k, j], accumulated in a dense
// vector. M^2 is never stored: a column is pruned and inflated while it is in the cache.
#pragma once

#include "mcl/cpu/flow_column.h"

namespace torchcent::TORCHCENT_ISA {

// A dense column of sums that tracks which blocks of its rows were written, and in float64, where most sums are listed,
// which rows.
template <class Sum>
class DenseColumn {
 public:
  explicit DenseColumn(int64_t rows)
      : rows_(rows),
        blocks_((rows >> kShift) + 1),
        sum_(rows + FlowColumn::kSpare),
        touched_(blocks_ + kMarks),
        row_(kByRow ? blocks_ * kWords : 0) {}

  // To be called for an empty column, with the number of entries that will be added. If they are few, rows or blocks of
  // them are marked.
  void expect(int64_t entries) { marking_ = entries < rows_ / kFew; }
  // Adds entries, and prefetches those to be added next.
  void add(const int32_t* row, const float* value, int64_t count, float weight, const int32_t* next_row,
           const float* next_value) {
    if (marking_) add<true>(row, value, count, weight, next_row, next_value);
    else add<false>(row, value, count, weight, next_row, next_value);
  }
  void add(const FlowEntry* entry, int64_t count, float weight) {
    static_assert(!kByRow);
    Sum* const sum = sum_.data();
    if (!marking_) {
#pragma GCC unroll 4
      for (int64_t i = 0; i < count; ++i) sum[entry[i].place] += Sum{weight} * entry[i].value;
    } else {
      char* const touched = touched_.data();
#pragma GCC unroll 4
      for (int64_t i = 0; i < count; ++i) {
        sum[entry[i].place] += Sum{weight} * entry[i].value;
        touched[entry[i].place >> kShift] = 1;
      }
    }
  }
  int64_t list(float least, int32_t* row, float* value) const {
    int64_t count = 0;
    if (kByRow && marking_) {
      each_row([&](int64_t i) {
        row[count] = static_cast<int32_t>(i);
        value[count] = static_cast<float>(sum_[i]);
        count += value[count] >= least;
      });
      return count;
    }
    each_block(
        [&](int64_t, int64_t low, int64_t high) { count = append(sum_.data(), low, high, least, row, value, count); });
    return count;
  }
  void clear() {
    if (kByRow && marking_) {
      each_row([&](int64_t i) { sum_[i] = 0, row_[i >> 6] = 0, touched_[i >> kShift] = 0; });
      return;
    }
    each_block([&](int64_t b, int64_t low, int64_t high) {
      memset(sum_.data() + low, 0, static_cast<size_t>(high - low) * sizeof(Sum));
      touched_[b] = 0;
    });
  }

 private:
  static constexpr bool kByRow = sizeof(Sum) == sizeof(double);
  static constexpr int kShift = 8;
  static constexpr int64_t kWords = (int64_t{1} << kShift) / 64;  // of marks of a block's rows
  static constexpr int64_t kMarks = sizeof(uint64_t);
  static constexpr int64_t kFew = 8;  // rows per entry from which on marking is cheaper than reading all rows
  static constexpr int64_t kLine = 16;

  template <bool marking>
  void add(const int32_t* row, const float* value, int64_t count, float weight, const int32_t* next_row,
           const float* next_value) {
    Sum* const sum = sum_.data();
    char* const touched = touched_.data();
    const auto mark = [touched, rows = row_.data()](int32_t r) {
      if (!marking) return;
      touched[r >> kShift] = 1;
      if (kByRow) rows[r >> 6] |= uint64_t{1} << (r & 63);
    };
    int64_t i = 0;
    for (; i + kLine <= count; i += kLine) {
      __builtin_prefetch(next_row + i);
      __builtin_prefetch(next_value + i);
#pragma GCC unroll 16
      for (int64_t u = i; u < i + kLine; ++u) {
        sum[row[u]] += Sum{weight} * value[u];
        mark(row[u]);
      }
    }
    for (; i < count; ++i) {
      sum[row[i]] += Sum{weight} * value[i];
      mark(row[i]);
    }
  }
  template <class Block>
  void each_block(Block block) const {
    if (!marking_) return block(0, 0, rows_);
    for (int64_t first = 0; first < blocks_; first += kMarks) {
      uint64_t marks;  // 0 or 1 for each of a few blocks
      memcpy(&marks, touched_.data() + first, sizeof(marks));
      for (; marks != 0; marks &= marks - 1) {
        const int64_t b = first + (__builtin_ctzll(marks) >> 3), end = (b + 1) << kShift;
        block(b, b << kShift, end < rows_ ? end : rows_);
      }
    }
  }

  // The marked rows, ascending.
  template <class Each>
  void each_row(Each each) const {
    each_block([&](int64_t b, int64_t, int64_t) {
      for (int64_t w = b * kWords; w < (b + 1) * kWords; ++w)
        for (uint64_t rest = row_[w]; rest != 0; rest &= rest - 1) each(64 * w + __builtin_ctzll(rest));
    });
  }

  int64_t rows_, blocks_;
  bool marking_ = false;
  Buffer<Sum> sum_;
  Buffer<char> touched_;  // by block of rows
  Buffer<uint64_t> row_;  // a bit per row
};

template <class Sum>
class ColumnExpansion {
 public:
  ColumnExpansion(const FlowProblem& problem, FlowColumn& column)
      : problem_(problem),
        column_(column),
        dense_(problem.flow.num_nodes),
        weight_(problem.expansion > 2 ? problem.flow.num_nodes + FlowColumn::kSpare : 0),
        from_(problem.expansion > 2 ? problem.flow.num_nodes + FlowColumn::kSpare : 0) {}

  // Expands and prunes column j; returns false if cancelled.
  bool run(int32_t j, ColumnSummary& summary) {
    const Flow& m = problem_.flow;
    if (problem_.expansion == 2 && m.length[j] == 1) {
      const int32_t k = m.row[m.begin[j]];
      const float weight = m.value[m.begin[j]];
      summary.multiplications = m.length[k];
      column_.prune([&](float least) { return list_scaled(k, weight, least); }, summary);
      return true;
    }
    summary.multiplications = 0;
    if (!expand(j, summary)) return false;
    column_.prune([&](float least) { return dense_.list(least, column_.row(), column_.value()); }, summary);
    dense_.clear();
    return true;
  }
  DenseColumn<Sum>& dense() { return dense_; }

 private:
  static constexpr int64_t kCancelEvery = 256;  // columns added between two checks of the cancel flag

  // The square of a column with one entry is a column times a number.
  int64_t list_scaled(int32_t k, float weight, float least) {
    const Flow& m = problem_.flow;
    const int32_t* const from = m.row + m.begin[k];
    const float* const value = m.value + m.begin[k];
    int32_t* const row = column_.row();
    float* const out = column_.value();
    int64_t count = 0;
    for (int64_t i = 0; i < m.length[k]; ++i) {
      row[count] = from[i];
      out[count] = static_cast<float>(Sum{weight} * value[i]);
      count += out[count] >= least;
    }
    return count;
  }

  // M^e e_j = M (M ... (M e_j)).
  bool expand(int32_t j, ColumnSummary& summary) {
    const Flow& m = problem_.flow;
    const int32_t* from = m.row + m.begin[j];
    const float* weight = m.value + m.begin[j];
    int64_t count = m.length[j];
    if (problem_.expansion == 1) dense_.expect(count), dense_.add(from, weight, count, 1, from, weight);
    for (int64_t step = 1; step < problem_.expansion; ++step) {
      if (step > 1) {
        count = dense_.list(kLeast, from_.data(), weight_.data());
        dense_.clear();
        from = from_.data(), weight = weight_.data();
      }
      int64_t products = 0;
      for (int64_t i = 0; i < count; ++i) products += m.length[from[i]];
      summary.multiplications += products;
      dense_.expect(products);
      for (int64_t i = 0; i < count; ++i) {
        if (i % kCancelEvery == 0 && cancelled(problem_.cancel)) {
          dense_.clear();
          return false;
        }
        const int64_t at = m.begin[from[i]], next = m.begin[from[i + 1 < count ? i + 1 : i]];
        dense_.add(m.row + at, m.value + at, m.length[from[i]], weight[i], m.row + next, m.value + next);
      }
    }
    return true;
  }

  const FlowProblem problem_;
  FlowColumn& column_;
  DenseColumn<Sum> dense_;  // the column, expanded
  Buffer<float> weight_;    // for e > 2: the column so far
  Buffer<int32_t> from_;
};

}  // namespace torchcent::TORCHCENT_ISA
