// Expansion of 8 or 16 columns side by side (4 in float64). A column of M that several of them use is read once and
// added to all with one instruction, in the order in which each would use it alone. Columns of one cluster share most
// of the columns that they use.
#pragma once

#include <type_traits>

#include "mcl/cpu/flow_expansion.h"
#include "mcl/cpu/placed_rows.h"

namespace torchcent::TORCHCENT_ISA {

// The entries of a few columns by row: each row that occurs in any of them gets a place, with a value per column.
template <int lanes, class Sum, class Place = int32_t>
class ColumnsByRow {
 public:
  typedef Sum Values __attribute__((vector_size(lanes * sizeof(Sum)), may_alias));

  explicit ColumnsByRow(int64_t rows)
      : words_(rows / 64 + 1), place_(rows), marked_(words_), row_(rows + 1), value_((rows + 1) * lanes) {}

  // All rows of the columns, ascending. Otherwise they are in the order in which they are added.
  void arrange(const Flow& m, const int32_t* columns, int64_t count) {
    for (int64_t l = 0; l < count; ++l)
      for (int64_t i = m.begin[columns[l]], end = i + m.length[columns[l]]; i < end; ++i)
        marked_[m.row[i] >> 6] |= uint64_t{1} << (m.row[i] & 63);
    for (int64_t w = 0; w < words_; ++w) {
      for (uint64_t rest = marked_[w]; rest != 0; rest &= rest - 1)
        place(static_cast<int32_t>(64 * w + __builtin_ctzll(rest)));
      marked_[w] = 0;
    }
  }
  void add(const Flow& m, int32_t column, int64_t lane) {
    for (int64_t i = m.begin[column], end = i + m.length[column]; i < end; ++i) {
      if (place_[m.row[i]] == 0) place(m.row[i]);
      value_[static_cast<int64_t>(place_[m.row[i]]) * lanes + lane] = m.value[i];
    }
  }
  void clear() {
    for (; places_ > 0; --places_) place_[row_[places_]] = 0;
  }
  // Places are 1 ... places(). Rows of none of the columns have place 0, where all values are 0.
  int64_t places() const { return places_; }
  int32_t row(int64_t place) const { return row_[place]; }
  const Place* place_of_row() const { return place_.data(); }
  const Values* values() const { return reinterpret_cast<const Values*>(value_.data()); }

 private:
  void place(int32_t row) {
    row_[++places_] = row;
    place_[row] = static_cast<Place>(places_);
    *reinterpret_cast<Values*>(value_.data() + places_ * lanes) = Values{};
  }

  const int64_t words_;
  int64_t places_ = 0;
  Buffer<Place> place_;      // [n]
  Buffer<uint64_t> marked_;  // a bit per row
  Buffer<int32_t> row_;      // [places]
  Buffer<Sum> value_;        // [places, lanes]
};

template <class Sum, int lanes>
class LaneExpansion {
 public:
  static constexpr int kLanes = lanes;  // at most 16
  using Columns = ColumnsByRow<kLanes, Sum>;
  using Values = typename Columns::Values;
  enum class Outcome { done, not_worthwhile, cancelled };

  explicit LaneExpansion(const FlowProblem& problem)
      : problem_(problem),
        at_(static_cast<const PlacedProblem&>(problem).at),
        columns_(problem.flow.num_nodes),
        sum_(problem.flow.num_nodes * kLanes),
        marked_(problem.flow.num_nodes + kMarks) {}

  // Expands at most kLanes columns, which can then be listed until clear().
  Outcome run(const int32_t* columns, int64_t count) {
    const Flow& m = problem_.flow;
    if (problem_.expansion != 2 || count < 2) return Outcome::not_worthwhile;
    int64_t separate = 0, together = 0;
    for (int64_t l = 0; l < count; ++l) {
      products_[l] = 0;
      for (int64_t i = m.begin[columns[l]], end = i + m.length[columns[l]]; i < end; ++i)
        products_[l] += m.length[m.row[i]];
      separate += products_[l];
    }
    if (separate < kLeastWork * m.num_nodes) return Outcome::not_worthwhile;
    columns_.arrange(m, columns, count);
    for (int64_t l = 0; l < count; ++l) columns_.add(m, columns[l], l);
    for (int64_t p = 1; p <= columns_.places(); ++p) together += m.length[columns_.row(p)];
    Outcome outcome = Outcome::not_worthwhile;
    if (static_cast<double>(together) * kLeastShared < static_cast<double>(separate)) {
      outcome = at_.narrow != nullptr ? sum(at_.narrow) : sum(at_.placed);
      if (outcome == Outcome::cancelled) clear();
    }
    columns_.clear();
    return outcome;
  }
  int64_t list(int64_t lane, float least, int32_t* row, float* value) {
    if (least != marked_least_) mark(least);
    const Sum* const sum = sum_.data() + lane;
    int64_t count = 0;
    const auto take = [&](int64_t i) {
      row[count] = static_cast<int32_t>(i);
      value[count++] = static_cast<float>(sum[int64_t{at_.place[i]} * kLanes]);
    };
    const int64_t rows = problem_.flow.num_nodes;
    for (int64_t first = 0; first < rows; first += kMarks) {
      uint64_t marks;  // of a few rows
      memcpy(&marks, marked_.data() + first, sizeof(marks));
      marks = marks >> lane & kFirstLane;
      for (; marks != 0; marks &= marks - 1) take(first + __builtin_ctzll(marks) / kMarkBits);
    }
    return count;
  }
  int64_t products(int64_t lane) const { return products_[lane]; }
  void clear() {
    memset(sum_.data(), 0, static_cast<size_t>(problem_.flow.num_nodes) * kLanes * sizeof(Sum));
    marked_least_ = -1;
  }

 private:
  static constexpr int64_t kLeastWork = 16;     // products per row
  static constexpr double kLeastShared = 1.25;  // average number of columns that share an entry
  static constexpr int64_t kCancelEvery = 64, kLine = 16;

  using Mark = std::conditional_t<(kLanes > 8), uint16_t, uint8_t>;
  static constexpr int kMarks = sizeof(uint64_t) / sizeof(Mark), kMarkBits = 64 / kMarks;
  static constexpr uint64_t kFirstLane = ~uint64_t{0} / static_cast<Mark>(~Mark{0});

  // For each row, a bit per lane whose sum is >= least.
  void mark(float least) {
    marked_least_ = least;
    for (int64_t p = 0; p < problem_.flow.num_nodes; ++p) {
      const Sum* const sum = sum_.data() + p * kLanes;
      const int32_t i = at_.row[p];
#if defined(TORCHCENT_AVX512)
      if constexpr (std::is_same_v<Sum, float> && kLanes == 16) {
        marked_[i] = _mm512_cmp_ps_mask(_mm512_loadu_ps(sum), _mm512_set1_ps(least), _CMP_GE_OQ);
        continue;
      }
#endif
#if defined(TORCHCENT_AVX2) || defined(TORCHCENT_AVX512)
      if constexpr (std::is_same_v<Sum, float> && kLanes == 8) {
        const __m256 reached = _mm256_cmp_ps(_mm256_loadu_ps(sum), _mm256_set1_ps(least), _CMP_GE_OQ);
        marked_[i] = static_cast<Mark>(_mm256_movemask_ps(reached));
        continue;
      }
#endif
      unsigned bits = 0;
      for (int l = 0; l < kLanes; ++l) bits |= static_cast<unsigned>(static_cast<float>(sum[l]) >= least) << l;
      marked_[i] = static_cast<Mark>(bits);
    }
  }

  template <class Place>
  Outcome sum(const Place* placed) {
    const Flow& m = problem_.flow;
    Values* const sum = reinterpret_cast<Values*>(sum_.data());
    for (int64_t p = 1; p <= columns_.places(); ++p) {
      if (p % kCancelEvery == 1 && cancelled(problem_.cancel)) return Outcome::cancelled;
      const int64_t at = m.begin[columns_.row(p)], length = m.length[columns_.row(p)];
      const int64_t next = m.begin[columns_.row(p < columns_.places() ? p + 1 : p)];
      const Place *row = placed + at, *next_row = placed + next;
      const float *value = m.value + at, *next_value = m.value + next;
      const Values weight = columns_.values()[p];
      int64_t i = 0;
      for (; i + kLine <= length; i += kLine) {
        __builtin_prefetch(next_row + i);
        __builtin_prefetch(next_value + i);
#pragma GCC unroll 16
        for (int64_t u = i; u < i + kLine; ++u) sum[row[u]] += weight * Sum{value[u]};
      }
      for (; i < length; ++i) sum[row[i]] += weight * Sum{value[i]};
    }
    return Outcome::done;
  }

  const FlowProblem problem_;
  const PlacedRows at_;
  int64_t products_[kLanes];
  Columns columns_;
  Buffer<Sum> sum_;      // [n, kLanes] by place: the columns, expanded
  Buffer<Mark> marked_;  // [n] lanes of a row to be listed
  float marked_least_ = -1;
};

}  // namespace torchcent::TORCHCENT_ISA
