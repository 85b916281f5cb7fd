// The operator of diffusions: rows of sources, sparse, or the largest entries of each. Threads take sources.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/control.h"
#include "core/cpu/simd_level.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

#ifndef TORCHCENT_ISA
#define TORCHCENT_ISA portable
#endif
#include "diffusion/cpu/spread.h"

namespace torchcent::diffusion {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// An entry of a row, and what rows are selected by.
struct Entry {
  double rank;
  int32_t vertex;
};

// Where rows are written.
struct Rows {
  int64_t top;          // entries of a row, which has a place of its own; 0: rows follow each other, all of them
  const double* scale;  // null: 1. An entry is divided by that of the source, and multiplied by that of the target.
  int64_t *begin, *count, *target, room;
  void* value;
  bool narrow;                     // float32
  std::atomic<int64_t> taken = 0;  // places, if top is 0

  // Writes the row of the i-th source.
  void write(int64_t i, int64_t source, Spread& spread, std::vector<Entry>& entries) {
    entries.clear();
    for (const int32_t v : spread.reached()) {
      const auto mass = static_cast<double>(spread.mass(v));
      entries.push_back({scale == nullptr ? mass : mass * scale[v], v});
    }
    auto size = static_cast<int64_t>(entries.size());
    if (top > 0 && size > top) {
      const auto before = [](const Entry& a, const Entry& b) {
        return a.rank > b.rank || (a.rank == b.rank && a.vertex < b.vertex);
      };
      std::nth_element(entries.begin(), entries.begin() + top, entries.end(), before);
      entries.resize(static_cast<size_t>(size = top));
    }
    const int64_t first = top > 0 ? i * top : taken.fetch_add(size);
    begin[i] = first;
    count[i] = first + size <= room ? size : -size - 1;
    if (count[i] < 0) return;
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.vertex < b.vertex; });
    const double factor = 1 / kWhole / (scale == nullptr ? 1 : scale[source]);
    for (int64_t k = 0; k < size; ++k) {
      const double own = entries[k].rank * factor;
      target[first + k] = entries[k].vertex;
      if (narrow) static_cast<float*>(value)[first + k] = static_cast<float>(own);
      else static_cast<double*>(value)[first + k] = own;
    }
  }
};

constexpr int64_t kTogether = 16;  // sources that a thread takes at a time

}  // namespace

// See below. With `top` 0 the count of a row of k entries without room is -k - 1.
void diffusion_rows(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight, const Tensor& strength,
                    std::optional<Tensor> scale, const Tensor& sources, const Tensor& steps, double follow, bool lasts,
                    int64_t top, Tensor& begin, Tensor& count, Tensor& target, Tensor& value, Tensor& control,
                    int64_t threads) {
  Control& shared = control_of(control);
  const double* const table = steps.const_data_ptr<double>();
  const int64_t size = steps.size(1), number = sources.numel();
  const Problem problem = {view(rowptr, col),
                           weight ? weight->const_data_ptr<double>() : nullptr,
                           strength.const_data_ptr<double>(),
                           {table, table + size, size, follow, lasts},
                           &shared.cancel};
  Rows rows = {top,
               scale ? scale->const_data_ptr<double>() : nullptr,
               begin.mutable_data_ptr<int64_t>(),
               count.mutable_data_ptr<int64_t>(),
               target.mutable_data_ptr<int64_t>(),
               target.numel(),
               value.mutable_data_ptr(),
               value.scalar_type() == ScalarType::Float};
  const int64_t* const source = sources.const_data_ptr<int64_t>();
  std::atomic<int64_t> next = 0;
  const auto works = [&] {
    Spread spread(problem);
    std::vector<Entry> entries;
    for (int64_t first; (first = next.fetch_add(kTogether)) < number;) {
      const int64_t end = std::min(first + kTogether, number), before = spread.work();
      for (int64_t i = first; i < end; ++i) {
        if (!spread.from(static_cast<int32_t>(source[i]))) return;
        rows.write(i, source[i], spread, entries);
      }
      finish(shared, end - first);
      __atomic_fetch_add(&shared.work, spread.work() - before, __ATOMIC_RELAXED);
    }
  };
  const int64_t team = std::min(threads, (number + kTogether - 1) / kTogether);
  in_threads(static_cast<int>(std::max<int64_t>(1, team)), works, [&] { next = number; });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Diffusion from each of the sources: row i has count[i] entries from begin[i] on, of target, int64, in ascending
  // order (on CUDA in any) and value, float32 or float64. With `top` these are the largest ones, at i * top; else all,
  // where there is room, and a count of -k - 1 says that there is none for k entries. strength has the sums of the
  // weights of each vertex. steps [2, k], float64 on the host, has the bound and the gain of each step (steps.h).
  m.def(
      "diffusion_rows(Tensor rowptr, Tensor col, Tensor? weight, Tensor strength, Tensor? scale, Tensor sources, "
      "Tensor steps, float follow, bool lasts, int top, Tensor(a!) begin, Tensor(b!) count, Tensor(c!) target, "
      "Tensor(d!) value, Tensor(e!) control, int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("diffusion_rows", TORCH_BOX(&diffusion_rows)); }

}  // namespace torchcent::diffusion
