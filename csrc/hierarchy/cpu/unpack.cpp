// Flows of the arcs of a hierarchy, unpacked: a flow is divided among the paths that an arc stands for.
#include <torch/csrc/stable/library.h>

#include <cmath>
#include <optional>
#include <vector>

#include "core/cpu/view.h"
#include "hierarchy/cpu/parts.h"
#include "hierarchy/cpu/swept.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// In the order of the hierarchy. Flows of arcs are in `down`, but those up of arcs of both directions in `up`, if they
// are told apart.
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
void unpack_arcs(const Hierarchy& h, bool directions, Flows& flows) {
  double *const down = flows.down.data(), *const up = flows.up.empty() ? down : flows.up.data();
  each_part(h, directions, nullptr, [&](int64_t k, int64_t i, int64_t j, int64_t p, bool upwards) {
    const double flow = (upwards ? up : down)[k] * quotient(h, i, j, k);
    flows.inside[p] += flow;
    (upwards ? down : up)[i] += flow;
    (upwards ? up : down)[j] += flow;
  });
}

}  // namespace

// Scores from the sums of hierarchy_dependency: of vertices, or with `reverse` those of slots. It has an entry for
// each, the slot of its reverse unless the hierarchy is directed.
Tensor hierarchy_scores(const Tensor& vertex, const Tensor& first, const Tensor& to, const Tensor& length,
                        const Tensor& paths, const Tensor& powers, const Tensor& slot, const Tensor& own,
                        const Tensor& flows, const std::optional<Tensor>& reverse) {
  const Hierarchy h = hierarchy_of({&vertex, &first, &to, &length, &paths, &powers, nullptr});
  const bool per_slot = reverse.has_value(), directions = per_slot || h.directed();
  const double *const flow = flows.const_data_ptr<double>(), *const passed = flow + h.arcs_down();
  Flows found = {std::vector<double>(h.arcs()), std::vector<double>(per_slot && !h.directed() ? h.arcs() : 0),
                 std::vector<double>(h.size)};
  std::vector<double>& upwards = h.directed() ? found.down : found.up;
  int64_t down = 0, up = h.arcs_down() + h.size;
  for (int64_t q = 0; q < h.size; ++q) {
    const int32_t p = own.const_data_ptr<int32_t>()[q];
    found.inside[p] = passed[q];
    for (int64_t i = h.down[p]; i < h.down[p + 1]; ++i) found.down[i] = flow[down++];
    for (int64_t i = h.up[p]; directions && i < h.up[p + 1]; ++i) upwards[i] = flow[up++];
  }
  unpack_arcs(h, directions, found);
  Tensor scores = empty(vertex, per_slot ? reverse->numel() : h.size, ScalarType::Double);
  double* const score = scores.mutable_data_ptr<double>();
  if (!per_slot) {
    for (int64_t p = 0; p < h.size; ++p) score[h.vertex[p]] = found.inside[p];
    return scores;
  }
  std::fill_n(score, scores.numel(), 0.0);
  const int64_t* const of = slot.const_data_ptr<int64_t>();
  const auto share = [&](int64_t i) { return std::ldexp(1 / h.paths[i], -512 * h.powers[i]); };
  for (int64_t i = h.up[0]; i < h.up[h.size]; ++i)
    if (of[i] >= 0) score[of[i]] = upwards[i] * share(i);
  for (int64_t i = h.down[0]; i < h.down[h.size]; ++i)
    if (of[i] >= 0) score[h.directed() ? of[i] : reverse->const_data_ptr<int64_t>()[of[i]]] = found.down[i] * share(i);
  return scores;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Of flows of hierarchy_dependency the scores of vertices, or with the slot of the reverse of each slot those of
  // slots. Of a directed graph, reverse only says how many slots there are.
  m.def(
      "hierarchy_scores(Tensor vertex, Tensor first, Tensor to, Tensor length, Tensor paths, Tensor powers, "
      "Tensor slot, Tensor own, Tensor flows, Tensor? reverse=None) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("hierarchy_scores", TORCH_BOX(&hierarchy_scores)); }

}  // namespace torchcent
