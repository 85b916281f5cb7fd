// The text of the kernels of csrc/hierarchy/cuda/level_sweep.cuh, run on the CPU, a thread for a thread: a library for
// test_level_cuda_text.py.
#include "cuda_text.h"

#include <algorithm>

#include "hierarchy/cuda/level_sweep.cuh"

using namespace torchcent::cuda;

namespace {

template <class T>
void swept(int64_t n, int64_t height, const int64_t* down, const int64_t* up, const int32_t* to, const int64_t* length,
           const int32_t* last, const int32_t* parent, const int32_t* depth, const int32_t* order, const int64_t* begin,
           int64_t levels, const int64_t* vertex, const int64_t* sources, int64_t count, const double* target,
           int64_t slots, double* sums, double* farthest, double* out) {
  static_assert(kBlock == 32 * kSweepWarps);
  constexpr int64_t lanes = LevelSweep<T>::lanes;
  const int64_t groups = (count + lanes - 1) / lanes, places = groups * lanes, inner = begin[levels];
  std::vector<int32_t> position(n, -1), found(places);
  std::vector<T> climb(places * height, 12345);
  std::vector<RowPart<T>> rows(groups * n * 32);
  std::vector<double> parts(groups * slots * 4 * lanes);
  const LevelSweep<T> sweep = {n,      height, down,  up,           to,           length,     last,
                               parent, depth,  order, found.data(), climb.data(), rows.data()};
  launch(blocks(n), 1, kBlock, [&] { sweep_place(n, vertex, position.data()); });
  launch(blocks(places), 1, kBlock, [&] { sweep_sources(count, places, sources, position.data(), found.data()); });
  launch(blocks(32 * count), 1, kBlock, [&] { sweep_climb(sweep, count); });
  const auto level = [&](int64_t from, int64_t end, bool few) {
    if (few)
      launch(std::max<int64_t>(1, (end - from) / 2), groups, kBlock,
             [&] { sweep_level<T, kSweepWarps>(sweep, from, end); });
    else launch(std::max<int64_t>(1, (end - from) / 16), groups, kBlock, [&] { sweep_level<T, 1>(sweep, from, end); });
  };
  for (int64_t l = 0; l < levels; ++l) level(begin[l], begin[l + 1], l % 2 == 0);
  launch((slots + kSweepWarps - 1) / kSweepWarps, groups, kBlock,
         [&] { sweep_sums(sweep, inner, vertex, target, true, slots, parts.data()); });
  launch(blocks(count), 1, kBlock,
         [&] { sweep_add(count, static_cast<int>(lanes), slots, parts.data(), sums, farthest); });
  level(inner, n, false);
  launch((n + 31) / 32, groups, kBlock, [&] { sweep_rows<T, double>(sweep, position.data(), sources, count, n, out); });
}

}  // namespace

extern "C" void level_text(bool whole, int64_t n, int64_t height, const int64_t* down, const int64_t* up,
                           const int32_t* to, const int64_t* length, const int32_t* last, const int32_t* parent,
                           const int32_t* depth, const int32_t* order, const int64_t* begin, int64_t levels,
                           const int64_t* vertex, const int64_t* sources, int64_t count, const double* target,
                           int64_t slots, double* sums, double* farthest, double* out) {
  (whole ? swept<int32_t> : swept<int64_t>)(n, height, down, up, to, length, last, parent, depth, order, begin, levels,
                                            vertex, sources, count, target, slots, sums, farthest, out);
}
