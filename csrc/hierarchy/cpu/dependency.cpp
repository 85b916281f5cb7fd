// Betweenness of vertices and edges, by sweeps over a hierarchy.
#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <vector>

#include "core/records.h"
#include "hierarchy/cpu/swept.h"
#include "paths/cpu/path_batches.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

constexpr int64_t kSums = 64;  // that are added up in order, at most

}  // namespace

Tensor hierarchy_dependency(const std::vector<Tensor>& hierarchy, const Tensor& sources, const Tensor& source_weight,
                            const Tensor& target_weight, Tensor& flows, Tensor& control, bool directions,
                            bool each_path, int64_t lanes, int64_t rung, int64_t threads) {
  const Contracted given = record<Contracted, 18>(hierarchy);
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

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // flows [arcs + n], with directions or of a directed graph [arcs down + n + arcs up], are in the order of cells, and
  // each_path adds up paths instead of shares. hierarchy: the tensors of Contracted (hierarchy/cpu/swept.h).
  m.def(
      "hierarchy_dependency(Tensor[] hierarchy, Tensor sources, Tensor source_weight, Tensor target_weight, "
      "Tensor(a!) flows, Tensor(b!) control, bool directions, bool each_path, int lanes, int rung, int threads) "
      "-> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("hierarchy_dependency", TORCH_BOX(&hierarchy_dependency)); }

}  // namespace torchcent
