#include "hierarchy/cpu/source_batches.h"

#include <algorithm>

namespace torchcent {

SourceBatches::SourceBatches(const Hierarchy& hierarchy, const int64_t* position, const int32_t* sequence,
                             const int32_t* split, int64_t lanes, bool whole)
    : hierarchy_(hierarchy),
      position_of_(position),
      sequence_(sequence),
      split_of_(split),
      least_(whole ? lanes : std::max<int64_t>(1, lanes * 3 / 4)),
      most_(whole ? lanes : lanes * 5 / 4),
      number_(hierarchy.size, -1) {
  number = number_.data();
}

void SourceBatches::start(const int64_t* sources, const double* weights, int64_t count) {
  sources_ = sources;
  weights_ = weights;
  begin_ = 0;
  ordered_.resize(count);
  splits_.assign(count, 0);
  for (int64_t i = 0; i < count; ++i) ordered_[i] = {sequence_[position_of_[sources[i]]], static_cast<int32_t>(i)};
  std::sort(ordered_.begin(), ordered_.end());
  for (int64_t i = 1; i < count; ++i)
    splits_[i] = *std::min_element(split_of_ + ordered_[i - 1].first + 1, split_of_ + ordered_[i].first + 1);
}

bool SourceBatches::next() {
  for (const int32_t p : list_) number_[p] = -1;
  list_.clear();
  if (begin_ == static_cast<int64_t>(ordered_.size())) return false;
  const int64_t end = cut();
  indices_.clear();
  for (int64_t i = begin_; i < end; ++i) indices_.push_back(ordered_[i].second);
  begin_ = end;
  const auto place = [&](int32_t i) { return static_cast<int32_t>(position_of_[sources_[i]]); };
  std::sort(indices_.begin(), indices_.end(), [&](int32_t a, int32_t b) { return place(a) < place(b); });
  positions_.clear();
  batch_weights_.clear();
  for (const int32_t i : indices_) {
    positions_.push_back(place(i));
    batch_weights_.push_back(weights_ == nullptr ? 1 : weights_[i]);
  }
  count = static_cast<int>(positions_.size());
  position = positions_.data();
  weight = batch_weights_.data();
  index = indices_.data();
  close();
  return true;
}

std::vector<std::vector<int32_t>> SourceBatches::divided() {
  std::vector<std::vector<int32_t>> batches;
  while (begin_ < static_cast<int64_t>(ordered_.size())) {
    const int64_t end = cut();
    batches.emplace_back();
    for (; begin_ < end; ++begin_) batches.back().push_back(ordered_[begin_].second);
  }
  return batches;
}

// Where the order of neighbours was cut first.
int64_t SourceBatches::cut() const {
  const int64_t total = static_cast<int64_t>(ordered_.size());
  const int64_t least = begin_ + least_, most = begin_ + most_;
  int64_t best = -1;
  for (int64_t i = begin_ + 1; i < std::min(total, most + 1); ++i) {
    if (splits_[i] == 0) return i;  // another component
    if (i >= least && (best < 0 || splits_[i] < splits_[best])) best = i;
  }
  return total <= most ? total : best;
}

void SourceBatches::close() {
  list_ = positions_;
  for (const int32_t p : list_) number_[p] = 0;
  const auto reach = [&](const int64_t* first, int32_t p) {
    for (int64_t i = first[p]; i < first[p + 1]; ++i)
      if (number_[hierarchy_.to[i]] < 0) {
        number_[hierarchy_.to[i]] = 0;
        list_.push_back(hierarchy_.to[i]);
      }
  };
  for (size_t k = 0; k < list_.size(); ++k) {
    reach(hierarchy_.up, list_[k]);
    if (hierarchy_.directed()) reach(hierarchy_.down, list_[k]);
  }
  std::sort(list_.begin(), list_.end());
  above_.clear();
  for (const int32_t p : list_) {
    const auto [low, high] = below(p, hierarchy_.last[p]);
    number_[p] = static_cast<int32_t>(above_.size());
    above_.push_back({p, positions_[low] == p ? low : -1, low, high});
  }
  num_above = static_cast<int>(above_.size());
  above = above_.data();
}

std::pair<int32_t, int32_t> SourceBatches::below(int32_t begin, int32_t end) const {
  const auto low = std::lower_bound(positions_.begin(), positions_.end(), begin);
  const auto high = std::lower_bound(low, positions_.end(), end);
  return {static_cast<int32_t>(low - positions_.begin()), static_cast<int32_t>(high - positions_.begin())};
}

}  // namespace torchcent
