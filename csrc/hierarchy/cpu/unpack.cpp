// Flows of the arcs of a hierarchy, unpacked: a flow is divided among the paths that an arc stands for.
#include <torch/csrc/stable/library.h>

#include <cmath>
#include <optional>
#include <vector>

#include "core/cpu/view.h"
#include "hierarchy/cpu/parts.h"
#include "hierarchy/hierarchy.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// Flows in the order of the hierarchy; without directions, all are in `down`.
struct Flows {
  std::vector<double> down, up, inside;
};

// a b / c of multiplicities
double quotient(const Hierarchy& h, int64_t a, int64_t b, int64_t c) {
  const double fraction = h.paths[a] * h.paths[b] / h.paths[c];
  const int64_t power = int64_t{h.powers[a]} + h.powers[b] - h.powers[c];
  return power == 0 ? fraction : std::ldexp(fraction, static_cast<int>(512 * power));
}

// Adds the flow of each arc to its parts, those of arcs between higher vertices first, and to what passes inside of the
// vertex between them. What remains is the part of an arc that is an edge.
void unpack_arcs(const Hierarchy& h, Flows& flows) {
  const bool directions = !flows.up.empty();
  each_part(h, [&](int64_t k, int64_t i, int64_t j, int64_t p) {
    const double share = quotient(h, i, j, k), down = flows.down[k] * share;
    flows.inside[p] += down;
    flows.down[j] += down;
    if (!directions) {
      flows.down[i] += down;
      return;
    }
    const double up = flows.up[k] * share;
    flows.inside[p] += up;
    flows.up[i] += down;  // from p to the lower end of the arc
    flows.down[i] += up;
    flows.up[j] += up;
  });
}

}  // namespace

// Scores from the sums of hierarchy_dependency: of vertices, or with the slot of the reverse of each slot those of
// slots.
Tensor hierarchy_scores(const Tensor& vertex, const Tensor& first, const Tensor& to, const Tensor& length,
                        const Tensor& paths, const Tensor& powers, const Tensor& slot, const Tensor& own,
                        const Tensor& flows, const std::optional<Tensor>& reverse) {
  const Hierarchy h = {vertex.numel(),
                       vertex.const_data_ptr<int64_t>(),
                       first.const_data_ptr<int64_t>(),
                       to.const_data_ptr<int32_t>(),
                       length.const_data_ptr<int64_t>(),
                       paths.const_data_ptr<double>(),
                       powers.const_data_ptr<int32_t>(),
                       nullptr};
  const bool directions = reverse.has_value();
  const double *const flow = flows.const_data_ptr<double>(), *const passed = flow + h.arcs();
  Flows found = {std::vector<double>(h.arcs()), std::vector<double>(directions ? h.arcs() : 0),
                 std::vector<double>(h.size)};
  for (int64_t q = 0, k = 0; q < h.size; ++q) {
    const int32_t p = own.const_data_ptr<int32_t>()[q];
    found.inside[p] = passed[q];
    for (int64_t i = h.first[p]; i < h.first[p + 1]; ++i, ++k) {
      found.down[i] = flow[k];
      if (directions) found.up[i] = passed[h.size + k];
    }
  }
  unpack_arcs(h, found);
  Tensor scores = empty(vertex, directions ? reverse->numel() : h.size, ScalarType::Double);
  double* const score = scores.mutable_data_ptr<double>();
  if (!directions) {
    for (int64_t p = 0; p < h.size; ++p) score[h.vertex[p]] = found.inside[p];
    return scores;
  }
  std::fill_n(score, scores.numel(), 0.0);
  const int64_t *const up = slot.const_data_ptr<int64_t>(), *const down = reverse->const_data_ptr<int64_t>();
  for (int64_t i = 0; i < h.arcs(); ++i) {
    if (up[i] < 0) continue;
    const double share = h.powers[i] == 0 ? 1 / h.paths[i] : std::ldexp(1 / h.paths[i], -512 * h.powers[i]);
    score[up[i]] = found.up[i] * share;
    score[down[up[i]]] = found.down[i] * share;
  }
  return scores;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("hierarchy_scores", TORCH_BOX(&hierarchy_scores)); }

}  // namespace torchcent
