// Betweenness of vertices and edges, and sums of distances, by sweeps over a hierarchy.
#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "hierarchy/cpu/unpack.h"
#include "hierarchy/hierarchy.h"
#include "paths/cpu/path_batches.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// The hierarchy as the operator `hierarchy` returns it.
struct Contracted {
  const Tensor &vertex, &first, &to, &length, &paths, &powers, &last, &sequence, &split;

  Hierarchy view() const {
    return {vertex.numel(),
            vertex.const_data_ptr<int64_t>(),
            first.const_data_ptr<int64_t>(),
            to.const_data_ptr<int32_t>(),
            length.const_data_ptr<int64_t>(),
            paths.const_data_ptr<double>(),
            powers.const_data_ptr<int32_t>(),
            last.const_data_ptr<int32_t>()};
  }
};

// What the searches of all threads read.
class Swept {
 public:
  Swept(const Contracted& given, const Tensor& target_weight, const int64_t* cancel)
      : hierarchy_(given.view()), cells_(hierarchy_), cancel_(cancel), split_(given.split.const_data_ptr<int32_t>()) {
    const int64_t size = hierarchy_.size;
    position_.resize(size);
    sequence_.resize(size);
    target_.resize(size);
    const double* const target = target_weight.const_data_ptr<double>();
    const int32_t* const order = given.sequence.const_data_ptr<int32_t>();
    for (int64_t p = 0; p < size; ++p) {
      position_[hierarchy_.vertex[p]] = p;
      sequence_[order[p]] = static_cast<int32_t>(p);
      target_[cells_.place[p]] = target[hierarchy_.vertex[p]];
    }
    cell_target_.resize(cells_.cells.size());
    for (size_t c = cells_.cells.size(); c-- > 0;) {
      const Cell& cell = cells_.cells[c];
      for (int32_t q = cell.own; q < cell.own_end; ++q) cell_target_[c] += target_[q];
      for (int32_t i = cell.child; i < cell.child_end; ++i) cell_target_[c] += cell_target_[cells_.child[i]];
    }
  }

  const Hierarchy& hierarchy() const { return hierarchy_; }
  const Cells& cells() const { return cells_; }

  // An upper bound of the sums of lengths that are compared: twice the distance from a root, and an arc.
  int64_t longest() const {
    int64_t farthest = 0, arc = 0;
    std::vector<int64_t> distance(hierarchy_.size, 0);
    for (int64_t p = 0; p < hierarchy_.size; ++p) {
      int64_t best = hierarchy_.first[p] == hierarchy_.first[p + 1] ? 0 : INT64_MAX;
      for (int64_t i = hierarchy_.first[p]; i < hierarchy_.first[p + 1]; ++i) {
        best = std::min(best, distance[hierarchy_.to[i]] + hierarchy_.length[i]);
        arc = std::max(arc, hierarchy_.length[i]);
      }
      distance[p] = best;
      farthest = std::max(farthest, best);
    }
    return 2 * farthest + arc;
  }

  // Whether float32 has room for quotients of weights and path counts.
  bool fits_single(const Tensor& weight) const {
    constexpr double kLeast = 0x1p-20, kMost = 0x1p40;
    const auto fits = [](double x) { return x == 0 || (x >= kLeast && x <= kMost); };
    const double* const values = weight.const_data_ptr<double>();
    return std::all_of(values, values + weight.numel(), fits) && std::all_of(target_.begin(), target_.end(), fits);
  }

  template <class Number>
  HierarchyProblem<Number> problem(int64_t lanes, bool directions) {
    return {hierarchy_,      &cells_,          arcs<Number>(), target_.data(), cell_target_.data(),
            position_.data(), sequence_.data(), split_,         lanes,          directions, cancel_};
  }

 private:
  template <class Number>
  const SweepArc<Number>* arcs() {
    std::lock_guard lock(mutex_);
    std::vector<SweepArc<Number>>& made = std::get<std::vector<SweepArc<Number>>>(arcs_);
    if (!made.empty()) return made.data();
    made.resize(cells_.end.size());
    for (int64_t q = 0, k = 0; q < hierarchy_.size; ++q)
      for (int64_t i = hierarchy_.first[cells_.vertex[q]]; i < hierarchy_.first[cells_.vertex[q] + 1]; ++i, ++k) {
        const double paths = hierarchy_.powers[i] == 0 ? hierarchy_.paths[i] : HUGE_VAL;
        made[k] = {cells_.end[k], static_cast<LengthOf<Number>>(hierarchy_.length[i]), static_cast<Number>(paths)};
      }
    return made.data();
  }

  const Hierarchy hierarchy_;
  const Cells cells_;
  const int64_t* cancel_;
  const int32_t* split_;
  std::vector<int64_t> position_;
  std::vector<int32_t> sequence_;
  std::vector<double> target_, cell_target_;
  std::tuple<std::vector<SweepArc<float>>, std::vector<SweepArc<double>>> arcs_;
  std::mutex mutex_;
};

constexpr int64_t kLongestSingle = int64_t{1} << 29;  // twice of it is far, and three times of it still an int32
constexpr int64_t kSums = 64;                         // that are added up in order, at most

// In the order of the hierarchy: flows, of which there are arcs, or vertices.
void finish(const Swept& swept, const double* row, bool directions, const Tensor& slot, const Tensor& back,
            bool by_slot, double* scores) {
  const Hierarchy& h = swept.hierarchy();
  const Cells& cells = swept.cells();
  const double* const passed = row + h.arcs();
  std::vector<double> down(h.arcs()), up(directions ? h.arcs() : 0), inside(h.size);
  for (int64_t q = 0, k = 0; q < h.size; ++q) {
    const int32_t p = cells.vertex[q];
    inside[p] = passed[q];
    for (int64_t i = h.first[p]; i < h.first[p + 1]; ++i, ++k) {
      down[i] = row[k];
      if (directions) up[i] = passed[h.size + k];
    }
  }
  unpack(h, down.data(), directions ? up.data() : nullptr, inside.data());
  if (!by_slot) {
    for (int64_t p = 0; p < h.size; ++p) scores[h.vertex[p]] += inside[p];
    return;
  }
  const int64_t* const forward = slot.const_data_ptr<int64_t>();
  const int64_t* const reverse = back.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < h.arcs(); ++i) {
    if (forward[i] < 0) continue;
    const double each = h.powers[i] == 0 ? 1 / h.paths[i] : 0;
    scores[forward[i]] += up[i] * each;
    scores[reverse[forward[i]]] += down[i] * each;
  }
}

}  // namespace

Tensor hierarchy_dependency(const Tensor& vertex, const Tensor& first, const Tensor& to, const Tensor& length,
                            const Tensor& paths, const Tensor& powers, const Tensor& slot, const Tensor& last,
                            const Tensor& sequence, const Tensor& split, const std::optional<Tensor>& reverse,
                            const Tensor& sources, const Tensor& source_weight, const Tensor& target_weight,
                            Tensor& scores, Tensor& control, int64_t lanes, int64_t rung, int64_t threads) {
  const Contracted given = {vertex, first, to, length, paths, powers, last, sequence, split};
  Swept swept(given, target_weight, &control_of(control).cancel);
  const Hierarchy& h = swept.hierarchy();
  const bool directions = reverse.has_value();
  const int64_t entries = (directions ? 2 : 1) * h.arcs() + h.size;
  Tensor row = empty(vertex, entries, ScalarType::Double);
  std::fill_n(row.mutable_data_ptr<double>(), entries, 0.0);
  const bool single = swept.longest() < kLongestSingle && swept.fits_single(source_weight);
  const int64_t start = std::max<int64_t>(rung, static_cast<int64_t>(single ? Rung::float32 : Rung::float64));
  const int64_t batches = (sources.numel() + lanes - 1) / lanes;
  const int64_t each = lanes * std::max<int64_t>(1, (batches + kSums - 1) / kSums);
  const PathWeights weights = {source_weight, source_weight, target_weight, target_weight};
  const Tensor reached = run_batches(
      sources, weights, row, control, each, start, threads, [&](Rung of) -> std::unique_ptr<Search> {
        if (of == Rung::wide) return TORCHCENT_CALL_SCALAR(make_wide_sweep(swept.problem<double>(lanes, directions)));
        if (of == Rung::float64) return TORCHCENT_CALL_LANES(make_hierarchy(swept.problem<double>(lanes, directions)));
        return TORCHCENT_CALL_LANES(make_hierarchy(swept.problem<float>(lanes, directions)));
      });
  finish(swept, row.const_data_ptr<double>(), directions, slot, directions ? *reverse : slot, directions,
         scores.mutable_data_ptr<double>());
  return reached;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("hierarchy_dependency", TORCH_BOX(&hierarchy_dependency));
}

}  // namespace torchcent
