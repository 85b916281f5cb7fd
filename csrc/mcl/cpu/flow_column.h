// An expanded column as a list of entries: pruned, measured, inflated.
#pragma once

#include "mcl/flow.h"

namespace torchcent::TORCHCENT_ISA {

// Sums, rounded to float32.
#if defined(TORCHCENT_AVX2) || defined(TORCHCENT_AVX512)
inline __m256 eight(const float* sum) { return _mm256_loadu_ps(sum); }
#endif
#if defined(TORCHCENT_AVX512)
inline __m256 eight(const double* sum) { return _mm512_cvtpd_ps(_mm512_loadu_pd(sum)); }
inline __m512 sixteen(const float* sum) { return _mm512_loadu_ps(sum); }
inline __m512 sixteen(const double* sum) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(eight(sum)), eight(sum + 8), 1);
}
#elif defined(TORCHCENT_AVX2)
inline __m256 eight(const double* sum) {
  return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(sum + 4)), _mm256_cvtpd_ps(_mm256_loadu_pd(sum)));
}
#endif

// Appends the entries >= least of a dense column to a list with `count` entries; returns the new number of entries. The
// column and the list are read and written up to 15 entries past their ends.
template <class Sum>
inline int64_t append(const Sum* column, int64_t low, int64_t high, float least, int32_t* row, float* value,
                      int64_t count) {
#if defined(TORCHCENT_AVX512)
  const __m512 bar = _mm512_set1_ps(least);
  __m512i rows = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int32_t>(low)),
                                  _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  for (int64_t i = low; i < high; i += 16) {
    const __m512 v = sixteen(column + i);
    __mmask16 wanted = _mm512_cmp_ps_mask(v, bar, _CMP_GE_OQ);
    if (high - i < 16) wanted &= static_cast<__mmask16>((1u << (high - i)) - 1);
    if (wanted != 0) {
      _mm512_storeu_ps(value + count, _mm512_maskz_compress_ps(wanted, v));
      _mm512_storeu_si512(row + count, _mm512_maskz_compress_epi32(wanted, rows));
      count += __builtin_popcount(wanted);
    }
    rows = _mm512_add_epi32(rows, _mm512_set1_epi32(16));
  }
#elif defined(TORCHCENT_AVX2)
  const __m256 bar = _mm256_set1_ps(least);
  for (int64_t i = low; i < high; i += 16) {
    const __m256 first = _mm256_cmp_ps(eight(column + i), bar, _CMP_GE_OQ);
    const __m256 second = _mm256_cmp_ps(eight(column + i + 8), bar, _CMP_GE_OQ);
    uint32_t wanted = static_cast<uint32_t>(_mm256_movemask_ps(first) | _mm256_movemask_ps(second) << 8);
    if (high - i < 16) wanted &= (uint32_t{1} << (high - i)) - 1;
    for (; wanted != 0; wanted &= wanted - 1) {
      const int64_t u = i + __builtin_ctz(wanted);
      value[count] = static_cast<float>(column[u]);
      row[count++] = static_cast<int32_t>(u);
    }
  }
#else
  constexpr int64_t kStride = 16;
  for (int64_t i = low; i < high; i += kStride) {
    const int64_t end = i + kStride < high ? i + kStride : high;
    if (end - i == kStride) {
      int32_t any = 0;
      for (int64_t u = 0; u < kStride; ++u) any |= -static_cast<int32_t>(static_cast<float>(column[i + u]) >= least);
      if (any == 0) continue;
    }
    for (int64_t u = i; u < end; ++u) {
      const float entry = static_cast<float>(column[u]);
      value[count] = entry;
      row[count] = static_cast<int32_t>(u);
      count += entry >= least;
    }
  }
#endif
  return count;
}

class FlowColumn {
 public:
  explicit FlowColumn(const FlowProblem& problem)
      : problem_(problem),
        row_(problem.flow.num_nodes + kSpare),
        value_(problem.flow.num_nodes + kSpare),
        other_row_(problem.flow.num_nodes + kSpare),
        other_value_(problem.flow.num_nodes + kSpare),
        bucket_(kBuckets) {}

  static constexpr int64_t kSpare = 64;  // entries that may be written past the last one
  int32_t* row() const { return row_.data(); }
  float* value() const { return value_.data(); }

  // list(least) writes the entries >= least of the expanded column to row() and value(), with ascending rows, and
  // returns their number, or -1 if it does not have the entries below the threshold. Returns false if these were
  // needed.
  template <class List>
  bool prune(List list, ColumnSummary& summary) {
    const FlowProblem& p = problem_;
    const auto take = [&](float least) {
      const int64_t count = list(least);
      if (count >= 0) count_ = count;
      return count >= 0;
    };
    if (!take(p.threshold > kLeast ? p.threshold : kLeast)) return false;
    const int64_t uncut = count_, enough = limit_in_units(p.mass);
    int64_t mass = sum();
    summary.recovered = summary.selected = false;
    if (count_ < p.recover && mass < enough) {
      if (!take(kLeast)) return false;
      keep_largest(p.recover);
      summary.recovered = count_ > uncut;
      mass = sum();
    } else if (p.select > 0 && count_ > p.select) {
      for (int64_t i = 0; i < count_; ++i) other_row_[i] = row_[i], other_value_[i] = value_[i];
      keep_largest(p.select);
      summary.selected = count_ < uncut;
      mass = sum();
      if (count_ < p.recover && mass < enough) {
        row_.swap(other_row_);
        value_.swap(other_value_);
        const int64_t before = count_;
        count_ = uncut;
        keep_largest(p.recover);
        summary.recovered = count_ > before;
        mass = sum();
      }
    }
    if (count_ == 0) {
      if (!take(kLeast)) return false;
      keep_largest(1);
      mass = sum();
    }
    summary.mass = from_units(mass);
    summary.kept = static_cast<int32_t>(count_);
    return true;
  }

  // Measures, inflates, rescales, and passes the column to the sink; returns false if the sink is full.
  bool finish(int32_t column, FlowSink& sink, ColumnSummary& summary) {
    float largest = 0;
    for (int64_t i = 0; i < count_; ++i) largest = value_[i] > largest ? value_[i] : largest;
    if (!(largest > 0)) count_ = 0;
    if (count_ == 0) {
      summary.chaos = summary.mass = summary.kept = summary.entries = 0;
      int32_t* row;
      float* value;
      return sink.room(column, 0, row, value);
    }
    const float* const v = value_.data();
    int64_t squares = 0;
    for (int64_t i = 0; i < count_; ++i) squares += in_units(static_cast<double>(v[i]) * v[i]);
    summary.chaos = (largest - from_units(squares)) * static_cast<double>(count_);
    if (summary.chaos < 0) summary.chaos = 0;
    const double scale = problem_.inflation == 1 ? 1 / from_units(sum()) : inflate(largest);
    summary.entries = static_cast<int32_t>(count_);
    int32_t* row;
    float* value;
    if (!sink.room(column, summary.entries, row, value)) return false;
    for (int64_t i = 0; i < count_; ++i) row[i] = row_[i], value[i] = static_cast<float>(value_[i] * scale);
    return true;
  }

 private:
  static constexpr int kBuckets = 2048;

  // In units.
  int64_t sum() const {
    const float* const v = value_.data();
    int64_t total = 0;
    for (int64_t i = 0; i < count_; ++i) total += in_units(v[i]);
    return total;
  }

  // Shares of the largest entry ** r; entries that underflow are dropped. Returns the factor that makes their sum 1.
  double inflate(float largest) {
    const double r = problem_.inflation, unit = unit_of_powers(static_cast<int32_t>(count_));
    float* const v = value_.data();
    const float share = 1 / largest;
    int64_t total = 0;
    for (int64_t i = 0; i < count_; ++i) v[i] *= share;
    if (r == 2)
      for (int64_t i = 0; i < count_; ++i) v[i] = inflated(v[i], 2);
    else
      for (int64_t i = 0; i < count_; ++i) v[i] = inflated(v[i], r);
    for (int64_t i = 0; i < count_; ++i) total += in_units(v[i], unit);
    filter(kLeast);
    return unit / static_cast<double>(total);
  }

  void filter(float least) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count_; ++i) {
      const float v = value_[i];
      const int32_t r = row_[i];
      value_[kept] = v;
      row_[kept] = r;
      kept += v >= least;
    }
    count_ = kept;
  }

  void keep_largest(int64_t wanted) {
    if (count_ > wanted) filter(largest_value(wanted));
  }

  // The wanted-th largest value, by radix selection: positive floats are ordered as their bits.
  float largest_value(int64_t wanted) {
    uint32_t known = 0;  // bits of the result found so far
    int shift = 32;
    for (int pass = 0; pass < 3; ++pass) {
      const int bits = pass < 2 ? 11 : 10, above = shift;
      shift -= bits;
      const uint32_t mask = (uint32_t{1} << bits) - 1;
      for (int b = 0; b < kBuckets; ++b) bucket_[b] = 0;
      for (int64_t i = 0; i < count_; ++i) {
        uint32_t x;
        memcpy(&x, &value_[i], 4);
        if (above == 32 || x >> above == known >> above) ++bucket_[x >> shift & mask];
      }
      int64_t b = mask;
      while (bucket_[b] < wanted) wanted -= bucket_[b--];
      known |= static_cast<uint32_t>(b) << shift;
    }
    float answer;
    memcpy(&answer, &known, 4);
    return answer;
  }

  const FlowProblem problem_;
  int64_t count_ = 0;
  Buffer<int32_t> row_;
  Buffer<float> value_;
  Buffer<int32_t> other_row_;
  Buffer<float> other_value_;
  Buffer<int32_t> bucket_;
};

}  // namespace torchcent::TORCHCENT_ISA
