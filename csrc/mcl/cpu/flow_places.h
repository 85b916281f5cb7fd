// The places of rows (mcl/cpu/placed_rows.h) and work on ranges.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "core/cpu/threads.h"
#include "core/cpu/pages.h"
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

// The places of rows: their numbers, or those in a given order.
class FlowPlaces {
 public:
  explicit FlowPlaces(const Flow& flow) : flow_(flow), place_(flow.num_nodes) {
    std::iota(place_.begin(), place_.end(), 0);
    row_ = place_;
  }
  FlowPlaces(const Flow& flow, const std::vector<int32_t>& order) : flow_(flow), place_(flow.num_nodes), row_(order) {
    for (int64_t p = 0; p < flow.num_nodes; ++p) place_[row_[p]] = static_cast<int32_t>(p);
  }
  // Copies the flow's rows; `size`: the entries of Flow::row, gaps between columns included.
  void copy(int64_t size, int workers) {
    placed_.reset(with_huge_pages(new int32_t[static_cast<size_t>(size)], size));
    if (flow_.num_nodes <= kMostNarrow) narrow_.reset(with_huge_pages(new uint16_t[static_cast<size_t>(size)], size));
    in_ranges(workers, flow_.num_nodes, [&](int64_t first, int64_t last) {
      for (int64_t j = first; j < last; ++j)
        for (int64_t i = flow_.begin[j], end = i + flow_.length[j]; i < end; ++i) {
          placed_[i] = place_[flow_.row[i]];
          if (narrow_) narrow_[i] = static_cast<uint16_t>(placed_[i]);
        }
    });
  }
  // For kernels only after copy(), unless places are numbers.
  PlacedRows view() const { return {place_.data(), row_.data(), placed_ ? placed_.get() : flow_.row, narrow_.get()}; }
  int64_t bytes(int64_t size) const {
    const size_t narrow = flow_.num_nodes <= kMostNarrow ? sizeof(uint16_t) : 0;
    return static_cast<int64_t>(sizeof(int32_t) + narrow) * size;
  }

 private:
  static constexpr int64_t kMostNarrow = int64_t{1} << 16;

  const Flow flow_;
  std::vector<int32_t> place_, row_;
  std::unique_ptr<int32_t[]> placed_;
  std::unique_ptr<uint16_t[]> narrow_;
};

}  // namespace torchcent
