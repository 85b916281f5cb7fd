// A flow in the two orders that mcl/cpu/flow_filter.h needs, built by all threads; the processing order of columns.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "mcl/cpu/flow_places.h"
#include "mcl/cpu/flow_room.h"
#include "mcl/mcl_step.h"

namespace torchcent {

// Uninitialised memory.
template <class T>
using Unset = std::unique_ptr<T[]>;
template <class T>
Unset<T> unset(int64_t count) {
  return Unset<T>(new T[static_cast<size_t>(count)]);
}

class FlowOrders {
 public:
  // Rows and columns of the entries are the places of these.
  FlowOrders(const Flow& flow, const PlacedRows& at, int64_t entries, int workers, bool in_file)
      : flow_(flow), at_(at), by_row_(entries, in_file), sorted_(entries, in_file) {
    const int64_t n = flow.num_nodes;
    column_begin_ = unset<int64_t>(n + 1);
    column_begin_[0] = 0;
    for (int64_t j = 0; j < n; ++j) column_begin_[j + 1] = column_begin_[j] + flow.length[j];
    by_row(entries, workers);
    by_value(workers);
  }
  // Reading past the last entry is allowed, for prefetching.
  FlowIndex view() const { return {row_begin_.get(), by_row_.get(), column_begin_.get(), sorted_.get(), up_to_.get()}; }
  static int64_t bytes(int64_t n, int64_t entries) { return 16 * entries + n * (16 + 4 * kValueClasses); }

 private:
  // A counting sort; each thread processes a range of columns.
  void by_row(int64_t entries, int workers) {
    const int64_t n = flow_.num_nodes;
    row_begin_ = unset<int64_t>(n + 1);
    std::vector<int64_t> limit(workers + 1, n);
    limit[0] = 0;
    for (int t = 1; t < workers; ++t)
      limit[t] = std::lower_bound(&column_begin_[0], &column_begin_[n], entries / workers * t) - &column_begin_[0];
    std::vector<std::vector<int64_t>> place(workers, std::vector<int64_t>(n));
    const auto each = [&](auto work) {
      std::atomic<int> next = 0;
      in_threads(
          workers,
          [&] {
            for (int t; (t = next++) < workers;) work(t);
          },
          [&] { next = workers; });
    };
    each([&](int t) {
      for (int64_t j = limit[t]; j < limit[t + 1]; ++j)
        for (int64_t i = flow_.begin[j], end = i + flow_.length[j]; i < end; ++i) ++place[t][flow_.row[i]];
    });
    int64_t total = 0;
    for (int64_t r = 0; r < n; ++r) {
      row_begin_[r] = total;
      for (int t = 0; t < workers; ++t) {
        const int64_t count = place[t][r];
        place[t][r] = total;
        total += count;
      }
    }
    row_begin_[n] = total;
    each([&](int t) {
      for (int64_t j = limit[t]; j < limit[t + 1]; ++j)
        for (int64_t i = flow_.begin[j], end = i + flow_.length[j]; i < end; ++i) {
          const int64_t at = place[t][flow_.row[i]]++;
          by_row_[at] = {at_.place[j], flow_.value[i]};
        }
    });
  }

  void by_value(int workers) {
    up_to_ = unset<int32_t>(flow_.num_nodes * kValueClasses);
    in_ranges(workers, flow_.num_nodes, [&](int64_t first, int64_t last) {
      for (int64_t j = first; j < last; ++j) {
        const int64_t begin = flow_.begin[j], end = begin + flow_.length[j];
        int32_t* const up_to = up_to_.get() + j * kValueClasses;
        int32_t place[kValueClasses] = {};
        const auto of = [&](int64_t i) { return std::max(0, value_class(flow_.value[i])); };
        for (int64_t i = begin; i < end; ++i) ++place[of(i)];
        int32_t before = 0;
        for (int c = 0; c < kValueClasses; ++c) {
          const int32_t count = place[c];
          place[c] = before;
          before += count;
          up_to[c] = before;
        }
        for (int64_t i = begin; i < end; ++i) {
          const int64_t at = column_begin_[j] + place[of(i)]++;
          sorted_[at] = {at_.placed[i], flow_.value[i]};
        }
      }
    });
  }

  const Flow flow_;
  const PlacedRows at_;
  Unset<int64_t> row_begin_, column_begin_;
  Unset<int32_t> up_to_;
  const FlowRoom<FlowEntry> by_row_, sorted_;
};

// The row of the largest entry of each column; the column itself if it has none.
inline std::vector<int32_t> leaders(const Flow& flow, int workers) {
  std::vector<int32_t> leader(flow.num_nodes);
  in_ranges(workers, flow.num_nodes, [&](int64_t first, int64_t last) {
    for (int64_t j = first; j < last; ++j) {
      const float* const value = flow.value + flow.begin[j];
      const auto largest = std::max_element(value, value + flow.length[j]) - value;
      leader[j] = flow.length[j] > 0 ? flow.row[flow.begin[j] + largest] : static_cast<int32_t>(j);
    }
  });
  return leader;
}

// Groups columns whose largest entry is in the same row: they will be in one cluster, and kernels that process several
// columns at a time then share most of their reads. Groups are in the order of the places of these rows, and columns of
// a group in that of their own.
inline std::vector<int32_t> alike_together(const std::vector<int32_t>& leader, const PlacedRows& at) {
  const int64_t n = static_cast<int64_t>(leader.size());
  std::vector<int64_t> begin(n + 1);
  std::vector<int32_t> order(n);
  for (int64_t j = 0; j < n; ++j) ++begin[at.place[leader[j]] + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  for (int64_t p = 0; p < n; ++p) order[begin[at.place[leader[at.row[p]]]]++] = at.row[p];
  return order;
}

// The longest columns first: they share most of their reads, and no thread starts one at the end.
inline std::vector<int32_t> longest_first(const Flow& flow) {
  const int64_t n = flow.num_nodes;
  std::vector<int64_t> place(n + 2);
  for (int64_t j = 0; j < n; ++j) ++place[n - flow.length[j] + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<int32_t> order(n);
  for (int64_t j = 0; j < n; ++j) order[place[n - flow.length[j]]++] = static_cast<int32_t>(j);
  return order;
}

// The entries that columns side by side read, of a sample of them: the fewer, the more they share.
inline int64_t reads_together(const Flow& flow, const std::vector<int32_t>& order) {
  constexpr int64_t kTogether = 8, kSample = 64;
  const int64_t batches = (flow.num_nodes + kTogether - 1) / kTogether, step = std::max<int64_t>(1, batches / kSample);
  std::vector<int64_t> seen(flow.num_nodes, -1);
  int64_t reads = 0;
  for (int64_t b = 0; b < batches; b += step)
    for (int64_t c = b * kTogether; c < std::min(flow.num_nodes, (b + 1) * kTogether); ++c)
      for (int64_t i = flow.begin[order[c]], end = i + flow.length[order[c]]; i < end; ++i) {
        const int32_t k = flow.row[i];
        if (seen[k] != b) reads += flow.length[k];
        seen[k] = b;
      }
  return reads;
}

// The order of columns in which those side by side share most: by places, by leaders or by lengths.
inline std::vector<int32_t> sharing_most(const Flow& flow, const PlacedRows& at, int workers) {
  std::vector<int32_t> orders[] = {longest_first(flow), alike_together(leaders(flow, workers), at),
                                   std::vector<int32_t>(at.row, at.row + flow.num_nodes)};
  int64_t reads[3];
  for (int o = 0; o < 3; ++o) reads[o] = reads_together(flow, orders[o]);
  return std::move(orders[std::min_element(reads, reads + 3) - reads]);
}

}  // namespace torchcent
