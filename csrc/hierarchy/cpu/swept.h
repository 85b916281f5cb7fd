// What the searches of a hierarchy read, from the tensors of the operators `hierarchy` and `hierarchy_cells`.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <tuple>
#include <vector>

#include "hierarchy/hierarchy.h"
#include "hierarchy/workspace.h"

namespace torchcent {

// Tensors of the operator `hierarchy`; null where they are not needed.
struct ArcTensors {
  const torch::stable::Tensor *vertex, *first, *to, *length, *paths, *powers, *last;
};

template <class T>
const T* entries_of(const torch::stable::Tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->const_data_ptr<T>();
}

// first: [size + 1], or of a directed graph [2 (size + 1)], those of the arcs down and of the arcs up.
inline Hierarchy hierarchy_of(const ArcTensors& given) {
  const int64_t size = (given.vertex == nullptr ? given.last : given.vertex)->numel();
  const int64_t* const first = given.first->const_data_ptr<int64_t>();
  return {size,
          entries_of<int64_t>(given.vertex),
          first,
          given.first->numel() == size + 1 ? first : first + size + 1,
          entries_of<int32_t>(given.to),
          entries_of<int64_t>(given.length),
          entries_of<double>(given.paths),
          entries_of<int32_t>(given.powers),
          entries_of<int32_t>(given.last)};
}

// The hierarchy and its cells, as the operators `hierarchy` and `hierarchy_cells` return them.
struct Contracted {
  const torch::stable::Tensor &vertex, &first, &to, &length, &paths, &powers, &last, &sequence, &split;
  const torch::stable::Tensor &cells, &own, &place, &own_first, &end, &bound, &child, &outermost, &facts;

  Hierarchy hierarchy() const { return hierarchy_of({&vertex, &first, &to, &length, &paths, &powers, &last}); }
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
    if (hierarchy_.directed()) {
      up_first_.assign(1, 0);
      for (int64_t q = 0; q < size; ++q) {
        const int32_t p = cells_.vertex[q];
        up_first_.push_back(up_first_.back() + hierarchy_.up[p + 1] - hierarchy_.up[p]);
      }
    }
  }

  // Whether float32 has room for quotients of weights and path counts.
  bool fits_single(const torch::stable::Tensor& weight) const {
    constexpr double kLeast = 0x1p-20, kMost = 0x1p40;
    const auto fits = [](double x) { return x == 0 || (x >= kLeast && x <= kMost); };
    const double* const values = weight.const_data_ptr<double>();
    return std::all_of(values, values + weight.numel(), fits) && std::all_of(target_.begin(), target_.end(), fits);
  }

  template <class Number>
  HierarchyProblem<Number> problem(int64_t lanes, bool directions, Added added) {
    std::lock_guard lock(mutex_);
    Arcs<Number>& arcs = std::get<Arcs<Number>>(arcs_);
    if (arcs.down.empty()) arcs.down = arcs_of<Number>(hierarchy_.down, cells_.first, cells_.end);
    if (hierarchy_.directed() && arcs.up.empty()) arcs.up = arcs_of<Number>(hierarchy_.up, up_first(), nullptr);
    return {hierarchy_,
            cells_,
            arcs.down.data(),
            up_first(),
            hierarchy_.directed() ? arcs.up.data() : arcs.down.data(),
            target_.data(),
            position_.data(),
            sequence_.data(),
            split_,
            lanes,
            directions || hierarchy_.directed(),
            added,
            cancel_};
  }

 private:
  template <class Number>
  struct Arcs {
    std::vector<SweepArc<Number>> down, up;
  };

  const int64_t* up_first() const { return hierarchy_.directed() ? up_first_.data() : cells_.first; }

  // By own vertex.
  template <class Number>
  std::vector<SweepArc<Number>> arcs_of(const int64_t* first, const int64_t* first_of_own, const int32_t* end) const {
    std::vector<SweepArc<Number>> made(first_of_own[hierarchy_.size]);
    for (int64_t q = 0, k = 0; q < hierarchy_.size; ++q)
      for (int64_t i = first[cells_.vertex[q]]; i < first[cells_.vertex[q] + 1]; ++i, ++k) {
        const double paths = std::ldexp(hierarchy_.paths[i], 512 * std::min(hierarchy_.powers[i], 4));  // or infinite
        made[k] = {end == nullptr ? 0 : end[k], static_cast<LengthOf<Number>>(hierarchy_.length[i]),
                   static_cast<Number>(paths)};
      }
    return made;
  }

  const Hierarchy hierarchy_;
  const Cells cells_;
  const int64_t* cancel_;
  const int32_t* split_;
  std::vector<int64_t> position_;
  std::vector<int32_t> sequence_;
  std::vector<double> target_;
  std::vector<int64_t> up_first_;
  std::tuple<Arcs<float>, Arcs<double>> arcs_;
  std::mutex mutex_;
};

}  // namespace torchcent
