// The places of rows (mcl/cpu/placed_rows.h) and work on ranges.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "core/cpu/batches.h"
#include "mcl/cpu/placed_rows.h"

namespace torchcent {

// Runs work(begin, end) over ranges of [0, n).
template <class Work>
void in_ranges(int workers, int64_t n, Work work) {
  const int64_t step = std::max<int64_t>(256, n / (8 * workers) + 1);
  std::atomic<int64_t> next = 0;
  in_threads(
      workers,
      [&] {
        for (int64_t first; (first = next.fetch_add(step)) < n;) work(first, std::min(n, first + step));
      },
      [&] { next = n; });
}

// The places of rows, in a given order of these. Without an order, the place of a row is its number.
class FlowPlaces {
 public:
  explicit FlowPlaces(const Flow& flow) : flow_(flow), place_(flow.num_nodes), placed_(nullptr) {
    std::iota(place_.begin(), place_.end(), 0);
    row_ = place_;
  }
  // `size`: the entries of Flow::row, gaps between columns included.
  FlowPlaces(const Flow& flow, const std::vector<int32_t>& order, int64_t size, int workers)
      : flow_(flow), place_(flow.num_nodes), row_(order), placed_(new int32_t[static_cast<size_t>(size)]) {
    for (int64_t p = 0; p < flow.num_nodes; ++p) place_[row_[p]] = static_cast<int32_t>(p);
    in_ranges(workers, flow.num_nodes, [&](int64_t first, int64_t last) {
      for (int64_t j = first; j < last; ++j)
        for (int64_t i = flow.begin[j], end = i + flow.length[j]; i < end; ++i) placed_[i] = place_[flow.row[i]];
    });
  }
  PlacedRows view() const { return {place_.data(), row_.data(), placed_ ? placed_.get() : flow_.row}; }
  static int64_t bytes(int64_t size) { return static_cast<int64_t>(sizeof(int32_t)) * size; }

 private:
  const Flow flow_;
  std::vector<int32_t> place_, row_;
  const std::unique_ptr<int32_t[]> placed_;
};

}  // namespace torchcent
