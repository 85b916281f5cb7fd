// Optimal transport between two sets of vertices that are at most three hops apart, with masses that are integers.
//
// The Hungarian method in a form for few different costs: potentials a and b with a_x + b_y <= c(x, y), and a largest
// flow along the arcs for which this is an equation (Dinic 1970). Where it ends, the potentials of what is reached
// change by 1. As costs are 1 to 3, that happens twice at most. All numbers are integers, so that the result is exact.
// Each augmentation empties an arc, a source or a sink, so that none is repeated.
//
// The columns of a row are bits: those at distance 1, and those at distance 2. A search looks at 64 arcs at once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace torchcent {

class HopTransport {
 public:
  // `supply` of the rows and `demand` of the columns have the same sum. Rows of near and next are bits of the columns
  // at distance 1 and 2; all others are at distance 3. Returns the least sum of mass times distance, or -1 if
  // `cancelled` says so.
  template <class Cancelled>
  int64_t operator()(const std::vector<int64_t>& supply, const std::vector<int64_t>& demand,
                     const std::vector<uint64_t>& near, const std::vector<uint64_t>& next, const Cancelled& cancelled) {
    rows_ = supply.size(), columns_ = demand.size(), words_ = (columns_ + 63) / 64;
    near_ = near.data(), next_ = next.data();
    supply_ = supply, demand_ = demand;
    begin();
    while (true) {
      if (cancelled()) return -1;
      if (search()) augment();
      else if (!raise()) break;
    }
    int64_t cost = 0;
    for (size_t x = 0; x < rows_; ++x) cost += potential_[x] * supply[x];
    for (size_t y = 0; y < columns_; ++y) cost -= price_[y] * demand[y];
    return cost;
  }

 private:
  using Word = uint64_t;
  static constexpr int kPrices = 4;  // potentials of columns are 0 to -2
  static constexpr int32_t kNever = -1;

  void begin() {
    potential_.assign(rows_, 3);
    for (size_t x = 0; x < rows_; ++x)
      for (size_t w = 0; w < words_; ++w) {
        if (next_[x * words_ + w] != 0) potential_[x] = std::min(potential_[x], 2);
        if (near_[x * words_ + w] != 0) potential_[x] = 1;
      }
    price_.assign(columns_, 0);
    priced_.assign(kPrices * words_, 0);
    for (size_t y = 0; y < columns_; ++y) priced_[y / 64] |= Word{1} << (y % 64);
    if (flow_.size() < columns_) flow_.resize(columns_);
    for (size_t y = 0; y < columns_; ++y) flow_[y].clear();
    row_level_.resize(rows_), column_level_.resize(columns_), at_.resize(columns_);
  }

  // The columns of a word along whose arcs from x mass may flow: price = potential - cost.
  Word admissible(size_t x, size_t w) const {
    const Word one = near_[x * words_ + w], two = next_[x * words_ + w];
    const int potential = potential_[x];
    Word found = 0;
    if (potential - 1 < kPrices) found |= one & priced_[(potential - 1) * words_ + w];
    if (potential >= 2 && potential - 2 < kPrices) found |= two & priced_[(potential - 2) * words_ + w];
    if (potential >= 3) found |= ~(one | two) & priced_[(potential - 3) * words_ + w];
    return found;
  }

  // Levels from the rows that have supply left; whether a column that has demand left is reached.
  bool search() {
    std::fill(row_level_.begin(), row_level_.begin() + rows_, kNever);
    std::fill(column_level_.begin(), column_level_.begin() + columns_, kNever);
    layers_.clear(), queue_.clear();
    for (size_t y = 0; y < columns_; ++y) {
      auto& arcs = flow_[y];
      arcs.erase(std::remove_if(arcs.begin(), arcs.end(), [](const auto& arc) { return arc.second == 0; }), arcs.end());
      at_[y] = 0;
    }
    for (size_t x = 0; x < rows_; ++x)
      if (supply_[x] > 0) row_level_[x] = 0, queue_.push_back(static_cast<int32_t>(x));
    unseen_.assign(words_, ~Word{0});
    bool found = false;
    for (size_t first = 0; first < queue_.size() && !found;) {  // a level at a time
      const size_t last = queue_.size(), layer = layers_.size();
      layers_.resize(layer + words_, 0);
      for (; first < last; ++first) {
        const int32_t x = queue_[first];
        for (size_t w = 0; w < words_; ++w) {
          Word reached = admissible(x, w) & unseen_[w];
          unseen_[w] &= ~reached;
          layers_[layer + w] |= reached;
          for (; reached != 0; reached &= reached - 1) {
            const size_t y = w * 64 + std::countr_zero(reached);
            column_level_[y] = row_level_[x];
            if (demand_[y] > 0) found = true;
            for (const auto& [back, mass] : flow_[y])
              if (row_level_[back] == kNever) row_level_[back] = row_level_[x] + 1, queue_.push_back(back);
          }
        }
      }
    }
    return found;
  }

  // A largest flow along arcs from each level to the next.
  void augment() {
    for (size_t root = 0; root < rows_; ++root)
      while (supply_[root] > 0 && path_from(static_cast<int32_t>(root))) {
      }
  }

  // Finds a path from a row, and moves as much mass along it as it takes; false if there is none.
  bool path_from(int32_t root) {
    path_.clear();
    path_.push_back({root, kNever});
    while (!path_.empty()) {
      auto& [x, y] = path_.back();
      if (y == kNever) {
        y = first_of(x);
        if (y == kNever) {  // x leads nowhere
          row_level_[x] = kNever;
          path_.pop_back();
          continue;
        }
      }
      if (demand_[y] > 0) {
        move();
        return true;
      }
      int32_t back = kNever;
      for (auto& at = at_[y]; at < flow_[y].size(); ++at) {
        const auto& [other, mass] = flow_[y][at];
        if (mass > 0 && row_level_[other] == column_level_[y] + 1) {
          back = other;
          break;
        }
      }
      if (back != kNever) {
        path_.push_back({back, kNever});
      } else {
        layers_[column_level_[y] * words_ + y / 64] &= ~(Word{1} << (y % 64));
        y = kNever;
      }
    }
    return false;
  }

  int32_t first_of(int32_t x) const {
    const int32_t level = row_level_[x];
    if (level == kNever || (level + 1) * words_ > layers_.size()) return kNever;
    for (size_t w = 0; w < words_; ++w)
      if (const Word found = admissible(x, w) & layers_[level * words_ + w]; found != 0)
        return static_cast<int32_t>(w * 64 + std::countr_zero(found));
    return kNever;
  }

  // Along the path x0 -> y0 -> x1 -> y1 ...: the arcs y -> x give back what flowed from x to y.
  void move() {
    const int32_t root = path_.front().first, sink = path_.back().second;
    int64_t mass = std::min(supply_[root], demand_[sink]);
    for (size_t i = 0; i + 1 < path_.size(); ++i)
      mass = std::min(mass, flow_[path_[i].second][at_[path_[i].second]].second);
    for (size_t i = 0; i < path_.size(); ++i) {
      const auto [x, y] = path_[i];
      if (i + 1 < path_.size()) flow_[y][at_[y]].second -= mass;
      auto& arcs = flow_[y];  // an arc may be there several times: no search for it
      if (!arcs.empty() && arcs.back().first == x && i + 1 == path_.size()) arcs.back().second += mass;
      else arcs.push_back({x, mass});
    }
    supply_[root] -= mass, demand_[sink] -= mass;
  }

  // Where no column with demand is reached: the potentials of what is. False if no supply is left.
  bool raise() {
    if (queue_.empty()) return false;
    for (const int32_t x : queue_) ++potential_[x];
    for (size_t y = 0; y < columns_; ++y) {
      if (column_level_[y] == kNever) continue;
      const Word bit = Word{1} << (y % 64);
      priced_[price_[y] * words_ + y / 64] &= ~bit;
      ++price_[y];
      priced_[price_[y] * words_ + y / 64] |= bit;
    }
    return true;
  }

  size_t rows_ = 0, columns_ = 0, words_ = 0;
  const Word *near_ = nullptr, *next_ = nullptr;
  std::vector<int64_t> supply_, demand_;
  std::vector<int> potential_, price_;                          // of rows, and minus those of columns
  std::vector<Word> priced_;                                    // the columns of each price
  std::vector<std::vector<std::pair<int32_t, int64_t>>> flow_;  // into each column: the row, and the mass
  std::vector<int32_t> row_level_, column_level_, queue_;
  std::vector<Word> layers_, unseen_;  // the columns of each level that may still lead to demand
  std::vector<size_t> at_;             // the arc of each column that is looked at
  std::vector<std::pair<int32_t, int32_t>> path_;
};

}  // namespace torchcent
