// Expansion that skips entries that pruning would cut, without losing any entry that it would keep.
//
// Nearly all entries of an expanded column are below the threshold, and nearly all products in their sums are tiny.
// Entry i of column j is the sum of the products M[i, k] M[k, j] over the n_j entries k of column j. Omitting the
// products below kLeftOut * threshold / n_j loses less than kLeftOut * threshold. If the others sum to less than (1 -
// kLeftOut) * threshold, the entry would certainly be cut. The remaining entries are candidates, slightly more than
// pruning keeps. Their sums are recomputed in full: row i of M times column j, for 16 columns side by side.
#pragma once

#include "mcl/cpu/flow_lanes.h"

namespace torchcent::TORCHCENT_ISA {

class FilteredExpansion {
 public:
  static constexpr int kLanes = 16;
  // 2 bytes per row stay in the L1 cache.
  using Place = uint16_t;
  static constexpr int64_t kMostPlaces = 65535;
  using Columns = ColumnsByRow<kLanes, float, Place>;

  FilteredExpansion(const FlowProblem& problem, DenseColumn<float>& dense)
      : problem_(problem),
        at_(static_cast<const PlacedProblem&>(problem).at),
        dense_(dense),
        part_(size()),
        candidate_(size()),
        candidate_sum_(size()),
        marked_(size() / 64 + 1),
        union_(size()),
        columns_(size()),
        sum_(size() * kLanes) {}

  // Sums the columns, at most kLanes, for which this pays; returns a mask of them, or -1 if cancelled.
  int32_t run(const int32_t* columns, int64_t count) {
    int32_t lanes = 0;
    int64_t whole = 0, entries = 0;
    for (int64_t l = 0; l < count; ++l) entries += problem_.flow.length[columns[l]];
    if (entries > kMostPlaces) return 0;
    for (int64_t l = 0; l < count; ++l) {
      if (cancelled(problem_.cancel)) {
        collect();
        return -1;
      }
      const int64_t found = candidates(columns[l], multiplications_[l]);
      if (found < 0) continue;
      lanes |= 1 << l;
      whole += multiplications_[l];
      for (int64_t i = 0; i < found; ++i) {
        const int32_t row = at_.row[candidate_[i]];
        marked_[row >> 6] |= uint64_t{1} << (row & 63);
      }
    }
    const int64_t again = collect();
    if (lanes == 0 || again * kLeastGainAgain > whole) return 0;
    Flow placed = problem_.flow;
    placed.row = at_.placed;
    for (int64_t l = 0; l < count; ++l)
      if (lanes >> l & 1) columns_.add(placed, columns[l], l);
    const bool done = sum();
    columns_.clear();
    return done ? lanes : -1;
  }
  // The entries of lane l that are >= least; -1 for a bound below the threshold.
  int64_t list(int64_t l, float least, int32_t* row, float* value) const {
    if (least < problem_.threshold) return -1;
    int64_t count = 0;
    for (int64_t c = 0; c < candidates_; ++c) {
      const float v = sum_[c * kLanes + l];
      row[count] = union_[c];
      value[count] = v;
      count += v >= least;
    }
    return count;
  }
  int64_t multiplications(int64_t l) const { return multiplications_[l]; }

 private:
  static constexpr float kRounding = 0.999f;  // the rounding error of float32 sums is far smaller
  static constexpr int64_t kLeastWork = 4096, kLeastGain = 12, kLeastGainAgain = 2;
  static constexpr int64_t kCancelEvery = 64;  // rows between two checks of the cancel flag

  static constexpr int64_t kAhead = 6;  // prefetch distance in columns
  static constexpr int64_t kLine = 8;   // entries per cache line

  struct Part {
    int64_t at;
    int32_t count;
    float weight;
  };

  int64_t size() const { return problem_.flow.num_nodes + FlowColumn::kSpare; }

  // Writes the places of the candidates of column j; returns their number, or -1 if finding them would need too many
  // products. `multiplications`: the cost of expanding the column otherwise.
  int64_t candidates(int32_t j, int64_t& multiplications) {
    const Flow& m = problem_.flow;
    const FlowIndex& index = *problem_.index;
    const float tiny = kLeftOut * problem_.threshold / static_cast<float>(m.length[j]);
    int64_t parts = 0, products = 0;
    multiplications = 0;
    for (int64_t i = m.begin[j], end = m.begin[j] + m.length[j]; i < end; ++i) {
      const int32_t k = m.row[i];
      const float weight = m.value[i];
      const int smallest = value_class(tiny / weight);
      const int32_t taken = smallest < 0 ? 0 : index.up_to[static_cast<int64_t>(k) * kValueClasses + smallest];
      multiplications += m.length[k];
      products += taken;
      part_[parts] = {index.column_begin[k], taken, weight};
      parts += taken > 0;
    }
    if (multiplications < kLeastWork || products * kLeastGain > multiplications) return -1;
    dense_.expect(products);
    for (int64_t p = 0; p < parts; ++p) {
      const Part& ahead = part_[p + kAhead < parts ? p + kAhead : p];
      const int64_t last = ahead.at + ahead.count - 1;  // most parts are in one or two lines
      __builtin_prefetch(index.sorted + ahead.at);
      __builtin_prefetch(index.sorted + last);
      for (int64_t i = ahead.at + kLine; i < last; i += kLine) __builtin_prefetch(index.sorted + i);
      dense_.add(index.sorted + part_[p].at, part_[p].count, part_[p].weight);
    }
    const float least = (1 - kLeftOut) * kRounding * problem_.threshold;
    const int64_t found = dense_.list(least, candidate_.data(), candidate_sum_.data());
    dense_.clear();
    return found;
  }

  // The union of all candidates, ascending; returns the total number of entries of their rows.
  int64_t collect() {
    const int64_t words = size() / 64 + 1;
    int64_t entries = 0;
    candidates_ = 0;
    for (int64_t w = 0; w < words; ++w) {
      for (uint64_t rest = marked_[w]; rest != 0; rest &= rest - 1) {
        const int64_t i = 64 * w + __builtin_ctzll(rest);
        union_[candidates_++] = static_cast<int32_t>(i);
        entries += problem_.index->row_begin[i + 1] - problem_.index->row_begin[i];
      }
      marked_[w] = 0;
    }
    return entries;
  }

  // Registers of 16 floats, written explicitly: compilers generate poor code for 64-byte vectors without AVX-512.
  typedef float Part16 __attribute__((vector_size(kVectorBytes), may_alias));
  static constexpr int kRegisters = kLanes * sizeof(float) / kVectorBytes;
  static constexpr int kSums = kRegisters <= 2 ? 4 : 2;
  struct Sum {
    Part16 part[kRegisters];

    void add(const float* weight, float value) {
      const Part16* const of = reinterpret_cast<const Part16*>(weight);
#pragma GCC unroll 4
      for (int k = 0; k < kRegisters; ++k) part[k] += of[k] * value;
    }
  };

  bool sum() {
    const FlowIndex& index = *problem_.index;
    const float* const weight = reinterpret_cast<const float*>(columns_.values());
    const Place* const place = columns_.place_of_row();
    const auto row_of = [&](const FlowEntry& entry) { return weight + int64_t{place[entry.place]} * kLanes; };
    for (int64_t c = 0; c < candidates_; ++c) {
      if (c % kCancelEvery == 0 && cancelled(problem_.cancel)) return false;
      const FlowEntry* entry = index.by_row + index.row_begin[union_[c]];
      const FlowEntry* const end = index.by_row + index.row_begin[union_[c] + 1];
      const FlowEntry* ahead = index.by_row + index.row_begin[union_[c + 1 < candidates_ ? c + 1 : c]];
      Sum sums[kSums] = {};  // several, to hide the latency of additions
      for (; entry + kLine <= end; entry += kLine, ahead += kLine) {
        __builtin_prefetch(ahead);
#pragma GCC unroll 8
        for (int u = 0; u < kLine; ++u) sums[u % kSums].add(row_of(entry[u]), entry[u].value);
      }
      for (; entry < end; ++entry) sums[0].add(row_of(*entry), entry->value);
      Part16* const out = reinterpret_cast<Part16*>(sum_.data() + c * kLanes);
      for (int k = 0; k < kRegisters; ++k) {
        out[k] = sums[0].part[k] + sums[1].part[k];
        if constexpr (kSums == 4) out[k] += sums[2].part[k] + sums[3].part[k];
      }
    }
    return true;
  }

  const FlowProblem problem_;
  const PlacedRows at_;
  DenseColumn<float>& dense_;
  int64_t candidates_ = 0;
  int64_t multiplications_[kLanes];
  Buffer<Part> part_;          // [n] the entries of M's columns that column j uses
  Buffer<int32_t> candidate_;  // [n] of one column
  Buffer<float> candidate_sum_;
  Buffer<uint64_t> marked_;  // a bit per row
  Buffer<int32_t> union_;    // of all columns' candidates
  Columns columns_;
  Buffer<float> sum_;  // [candidates, kLanes] the columns of M^2
};

}  // namespace torchcent::TORCHCENT_ISA
