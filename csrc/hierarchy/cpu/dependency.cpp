// Betweenness of vertices and edges, and sums of distances, by sweeps over a hierarchy.
#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <mutex>
#include <tuple>
#include <vector>

#include "hierarchy/hierarchy.h"
#include "paths/cpu/path_batches.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// The hierarchy and its cells, as the operators `hierarchy` and `hierarchy_cells` return them.
struct Contracted {
  const Tensor &vertex, &first, &to, &length, &paths, &powers, &last, &sequence, &split;
  const Tensor &cells, &own, &place, &own_first, &end, &bound, &child, &outermost, &facts;

  Hierarchy hierarchy() const {
    return {vertex.numel(),
            vertex.const_data_ptr<int64_t>(),
            first.const_data_ptr<int64_t>(),
            to.const_data_ptr<int32_t>(),
            length.const_data_ptr<int64_t>(),
            paths.const_data_ptr<double>(),
            powers.const_data_ptr<int32_t>(),
            last.const_data_ptr<int32_t>()};
  }
  Cells divided() const {
    const int64_t* const known = facts.const_data_ptr<int64_t>();
    return {reinterpret_cast<const Cell*>(cells.const_data_ptr<int32_t>()),
            own.const_data_ptr<int32_t>(),
            place.const_data_ptr<int32_t>(),
            own_first.const_data_ptr<int64_t>(),
            end.const_data_ptr<int32_t>(),
            bound.const_data_ptr<int32_t>(),
            child.const_data_ptr<int32_t>(),
            outermost.const_data_ptr<int32_t>(),
            known[0],
            known[1]};
  }
  int64_t num_cells() const { return cells.numel() / static_cast<int64_t>(sizeof(Cell) / sizeof(int32_t)); }
  int64_t longest() const { return facts.const_data_ptr<int64_t>()[2]; }
};

// What the searches of all threads read.
class Swept {
 public:
  Swept(const Contracted& given, const Tensor& target_weight, const int64_t* cancel)
      : hierarchy_(given.hierarchy()),
        cells_(given.divided()),
        cancel_(cancel),
        split_(given.split.const_data_ptr<int32_t>()) {
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
    cell_target_.resize(given.num_cells());
    for (size_t c = cell_target_.size(); c-- > 0;) {
      const Cell& cell = cells_.cells[c];
      for (int32_t q = cell.own; q < cell.own_end; ++q) cell_target_[c] += target_[q];
      for (int32_t i = cell.child; i < cell.child_end; ++i) cell_target_[c] += cell_target_[cells_.child[i]];
    }
  }

  const Hierarchy& hierarchy() const { return hierarchy_; }

  // Whether float32 has room for quotients of weights and path counts.
  bool fits_single(const Tensor& weight) const {
    constexpr double kLeast = 0x1p-20, kMost = 0x1p40;
    const auto fits = [](double x) { return x == 0 || (x >= kLeast && x <= kMost); };
    const double* const values = weight.const_data_ptr<double>();
    return std::all_of(values, values + weight.numel(), fits) && std::all_of(target_.begin(), target_.end(), fits);
  }

  template <class Number>
  HierarchyProblem<Number> problem(int64_t lanes, bool directions) {
    return {hierarchy_, cells_, arcs<Number>(), target_.data(), cell_target_.data(), position_.data(), sequence_.data(),
            split_,     lanes,  directions,     cancel_};
  }

 private:
  template <class Number>
  const SweepArc<Number>* arcs() {
    std::lock_guard lock(mutex_);
    std::vector<SweepArc<Number>>& made = std::get<std::vector<SweepArc<Number>>>(arcs_);
    if (!made.empty()) return made.data();
    made.resize(hierarchy_.arcs());
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

}  // namespace

Tensor hierarchy_dependency(const Tensor& vertex, const Tensor& first, const Tensor& to, const Tensor& length,
                            const Tensor& paths, const Tensor& powers, const Tensor& last, const Tensor& sequence,
                            const Tensor& split, const Tensor& cells, const Tensor& own, const Tensor& place,
                            const Tensor& own_first, const Tensor& end, const Tensor& bound, const Tensor& child,
                            const Tensor& outermost, const Tensor& facts, const Tensor& sources,
                            const Tensor& source_weight, const Tensor& target_weight, Tensor& flows, Tensor& control,
                            bool directions, int64_t lanes, int64_t rung, int64_t threads) {
  const Contracted given = {vertex, first, to,    length,    paths, powers, last,  sequence,  split,
                            cells,  own,   place, own_first, end,   bound,  child, outermost, facts};
  Swept swept(given, target_weight, &control_of(control).cancel);
  const bool single = given.longest() < kLongestSingle && swept.fits_single(source_weight);
  const int64_t start = std::max<int64_t>(rung, static_cast<int64_t>(single ? Rung::float32 : Rung::float64));
  const int64_t batches = (sources.numel() + lanes - 1) / lanes;
  const int64_t each = lanes * std::max<int64_t>(1, (batches + kSums - 1) / kSums);
  const PathWeights weights = {source_weight, source_weight, target_weight, target_weight};
  return run_batches(sources, weights, flows, control, each, start, threads, [&](Rung of) -> std::unique_ptr<Search> {
    if (of == Rung::wide) return TORCHCENT_CALL_SCALAR(make_wide_sweep(swept.problem<double>(lanes, directions)));
    if (of == Rung::float64) return TORCHCENT_CALL_LANES(make_hierarchy(swept.problem<double>(lanes, directions)));
    return TORCHCENT_CALL_LANES(make_hierarchy(swept.problem<float>(lanes, directions)));
  });
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("hierarchy_dependency", TORCH_BOX(&hierarchy_dependency)); }

}  // namespace torchcent
