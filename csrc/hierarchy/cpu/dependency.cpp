// Betweenness of vertices and edges, by sweeps over a hierarchy.
#include <torch/csrc/stable/library.h>

#include <algorithm>

#include "hierarchy/cpu/swept.h"
#include "paths/cpu/path_batches.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

constexpr int64_t kSums = 64;  // that are added up in order, at most

}  // namespace

Tensor hierarchy_dependency(const Tensor& vertex, const Tensor& first, const Tensor& to, const Tensor& length,
                            const Tensor& paths, const Tensor& powers, const Tensor& last, const Tensor& sequence,
                            const Tensor& split, const Tensor& cells, const Tensor& own, const Tensor& place,
                            const Tensor& own_first, const Tensor& end, const Tensor& bound, const Tensor& child,
                            const Tensor& outermost, const Tensor& facts, const Tensor& sources,
                            const Tensor& source_weight, const Tensor& target_weight, Tensor& flows, Tensor& control,
                            bool directions, bool each_path, int64_t lanes, int64_t rung, int64_t threads) {
  const Contracted given = {vertex, first, to,    length,    paths, powers, last,  sequence,  split,
                            cells,  own,   place, own_first, end,   bound,  child, outermost, facts};
  Swept swept(given, target_weight, &control_of(control).cancel);
  const Added added = each_path ? Added::paths : Added::shares;
  const bool single = !each_path && given.longest() < kLongestSingle && swept.fits_single(source_weight);
  const int64_t start = std::max<int64_t>(rung, static_cast<int64_t>(single ? Rung::float32 : Rung::float64));
  const int64_t batches = (sources.numel() + lanes - 1) / lanes;
  const int64_t each = lanes * std::max<int64_t>(1, (batches + kSums - 1) / kSums);
  const PathWeights weights = {source_weight, source_weight, target_weight, target_weight};
  return run_batches(sources, weights, flows, control, each, start, threads, [&](Rung of) -> std::unique_ptr<Search> {
    if (of == Rung::wide)
      return TORCHCENT_CALL_SCALAR(make_wide_sweep(swept.problem<double>(lanes, directions, added)));
    if (of == Rung::float64)
      return TORCHCENT_CALL_LANES(make_hierarchy(swept.problem<double>(lanes, directions, added)));
    return TORCHCENT_CALL_LANES(make_hierarchy(swept.problem<float>(lanes, directions, added)));
  });
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("hierarchy_dependency", TORCH_BOX(&hierarchy_dependency)); }

}  // namespace torchcent
