// What the searches of a hierarchy read, from the tensors of the operators `hierarchy` and `hierarchy_cells`.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <tuple>
#include <vector>

#include "hierarchy/hierarchy.h"

namespace torchcent {

constexpr int64_t kLongestSingle = int64_t{1} << 29;  // twice of it is far, and three times of it still an int32

// The hierarchy and its cells, as the operators `hierarchy` and `hierarchy_cells` return them.
struct Contracted {
  const torch::stable::Tensor &vertex, &first, &to, &length, &paths, &powers, &last, &sequence, &split;
  const torch::stable::Tensor &cells, &own, &place, &own_first, &end, &bound, &child, &outermost, &facts;

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
  Swept(const Contracted& given, const torch::stable::Tensor& target_weight, const int64_t* cancel)
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

  // The sum of b of the vertices that a vertex reaches, without itself.
  double others(int64_t vertex) const {
    const int64_t p = position_[vertex];
    return cell_target_[cells_.outermost[p]] - target_[cells_.place[p]];
  }

  // Whether float32 has room for quotients of weights and path counts.
  bool fits_single(const torch::stable::Tensor& weight) const {
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
        const double paths = std::ldexp(hierarchy_.paths[i], 512 * std::min(hierarchy_.powers[i], 4));  // or infinite
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

}  // namespace torchcent
