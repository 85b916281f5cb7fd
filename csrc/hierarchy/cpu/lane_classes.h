// Classes of lanes at the door of a cell. All paths into a cell lead over its boundary. Lanes whose distances to the
// boundary differ by one constant, and whose path counts differ by one factor, therefore agree inside of the cell, and
// one lane stands for them.
#pragma once

#include "hierarchy/cpu/hierarchy_lanes.h"

namespace torchcent::TORCHCENT_ISA {

template <class Number>
class LaneClasses {
  using L = Lanes<Number>;
  using Distance = typename L::Distance;
  using Count = typename L::Count;
  using Length = typename L::Length;

 public:
  int32_t* of_lane() const { return class_.data(); }        // class of each outer lane
  int32_t* lane() const { return representative_.data(); }  // an outer lane of each class
  Number* share() const { return share_.data(); }           // of what a class passes back per path, by outer lane
  Number* weight() const { return weight_.data(); }         // of the sources of each class
  int registers() const { return registers_; }
  int count() const { return classes_; }

  // Renumbers: lane(k) is the first of those that class k becomes, of(i) the class that lane i was.
  void arrange(const int32_t* lane, const int32_t* of, int lanes, int outer) {
    for (int i = 0; i < outer; ++i) class_[i] = lane[class_[i]];
    earlier_.hold(lanes);
    for (int i = 0; i < lanes; ++i) earlier_[i] = representative_[of[i]];
    earlier_.swap(representative_);
  }

  // `row(j)` has the distances and `paths_row(j)` the path counts of boundary row j < rows, or null if all are 1;
  // registers low .. high of the outer lanes keep their places: all of them if there are no rows.
  template <Added added, class Row, class PathsRow>
  void find(int outer, int rows, int low, int high, const uint64_t* keys, const Number* outer_weight, Row row,
            PathsRow paths_row) {
    constexpr bool paths = added != Added::distances;
    const int lanes = outer * L::width;
    class_.hold(lanes), representative_.hold(lanes + L::width);
    first_.hold(outer), second_.hold(outer), open_.hold(outer);
    int classes = (high - low) * L::width;
    for (int i = 0; i < classes; ++i) {
      class_[low * L::width + i] = i;
      representative_[i] = low * L::width + i;
    }
    for (const auto& [begin, end] : {std::pair{0, low}, std::pair{high, outer}}) {
      int r = begin;
      for (; r + kTile <= end; r += kTile) hash<kTile, paths>(r, rows, keys, row, paths_row);
      for (; r < end; ++r) hash<1, paths>(r, rows, keys, row, paths_row);
    }
    for (int r = 0; r < outer; ++r) open_[r] = r >= low && r < high ? 0 : L::all;
    classes = spread(outer, classes);
    classes_ = classes;
    registers_ = (classes + L::width - 1) / L::width;
    for (int i = classes; i < registers_ * L::width; ++i) representative_[i] = representative_[classes - 1];
    if constexpr (paths) weigh<added>(outer, outer_weight, rows > 0, rows == 0 ? nullptr : paths_row(0));
  }

 private:
  static constexpr int kPeeled = L::width;  // classes that are looked for one by one
  static constexpr int kTile = 4;           // registers that are hashed side by side
  static constexpr int kClassBits = 20;
  static constexpr uint32_t kSearches = uint32_t{1} << (32 - kClassBits);

  // Registers from r on.
  template <int size, bool paths, class Row, class PathsRow>
  void hash(int r, int rows, const uint64_t* keys, const Row& row, const PathsRow& paths_row) {
    LaneHash<Number> hashes[size];
    Distance base[size];
    for (int k = 0; k < size; ++k) base[k] = row(0)[r + k];
    const Count* const base_paths = paths ? paths_row(0) : nullptr;
    Count inverse[size];
    for (int k = 0; k < size; ++k) inverse[k] = base_paths == nullptr ? L::counts(1) : 1 / base_paths[r + k];
    const Distance* waiting = nullptr;  // of a row without quotients, for the next one of those
    int last = 0;
    for (int j = 1; j < rows; ++j) {
      const Distance* const distance = row(j) + r;
      const Count* const number = paths ? paths_row(j) : nullptr;
      if (base_paths != nullptr || number != nullptr) {
        for (int k = 0; k < size; ++k) {
          const Count quotient = number == nullptr ? inverse[k] : number[r + k] * inverse[k];
          hashes[k].add(distance[k] - base[k], (Distance)quotient, keys + 2 * j);
        }
      } else if (waiting == nullptr) {
        waiting = distance;
        last = j;
      } else {
        for (int k = 0; k < size; ++k) hashes[k].add(waiting[k] - base[k], distance[k] - base[k], keys + 2 * j);
        waiting = nullptr;
      }
    }
    if (waiting != nullptr)
      for (int k = 0; k < size; ++k) hashes[k].add(waiting[k] - base[k], Distance{}, keys + 2 * last);
    for (int k = 0; k < size; ++k) {
      first_[r + k] = hashes[k].value(0);
      second_[r + k] = hashes[k].value(1);
    }
  }

  int spread(int outer, int classes) {
    for (int start = 0, peeled = 0;; ++peeled) {
      while (start < outer && open_[start] == 0) ++start;
      if (start == outer) return classes;
      if (peeled == kPeeled) return look_up(start, outer, classes);
      const int lane = __builtin_ctz(open_[start]);
      const Distance a = L::lengths(first_[start][lane]), b = L::lengths(second_[start][lane]);
      representative_[classes] = start * L::width + lane;
      for (int r = start; r < outer; ++r) {
        const unsigned same = open_[r] & L::bits(L::equal(first_[r], a) & L::equal(second_[r], b));
        open_[r] &= ~same;
        L::store(class_.data() + r * L::width, same, classes);
      }
      ++classes;
    }
  }

  // The table has no hashes of its own, so that up to 2,048 lanes fit into the L1 cache: those of the lane that stands
  // for a class are compared. Entries of earlier calls count as empty.
  int look_up(int start, int outer, int classes) {
    size_t size = 1024;
    while (size < static_cast<size_t>(outer) * L::width * 2) size *= 2;
    if (static_cast<int64_t>(size) > table_.size() || ++search_ == kSearches) {
      table_.hold(size);
      fill(table_.data(), table_.size(), uint32_t{0});
      search_ = 1;
    }
    const Length* const hash_a = reinterpret_cast<const Length*>(first_.data());
    const Length* const hash_b = reinterpret_cast<const Length*>(second_.data());
    const uint32_t current = search_ << kClassBits;
    for (int r = start; r < outer; ++r)
      for (unsigned left = open_[r]; left != 0; left &= left - 1) {
        const int i = r * L::width + __builtin_ctz(left);
        const Length first = hash_a[i], second = hash_b[i];
        const uint64_t key =
            static_cast<uint64_t>(first) * 0x9E3779B97F4A7C15u ^ static_cast<uint64_t>(second) * 0xC2B2AE3D27D4EB4Fu;
        for (size_t at = key >> 20;; ++at) {
          uint32_t& entry = table_[at & (size - 1)];
          if (entry < current) {
            entry = current + static_cast<uint32_t>(classes);
            class_[i] = classes;
            representative_[classes++] = i;
            break;
          }
          const int32_t k = static_cast<int32_t>(entry - current), lane = representative_[k];
          if (hash_a[lane] == first && hash_b[lane] == second) {
            class_[i] = k;
            break;
          }
        }
      }
    return classes;
  }

  // Without counts, those are 1. If each path is added up, so are those of a lane to the boundary, by those of the lane
  // that stands for it.
  template <Added added>
  void weigh(int outer, const Number* outer_weight, bool shared, const Count* counts) {
    const int lanes = outer * L::width, inner = registers_ * L::width;
    Number* const weight = weight_.hold(inner);
    fill(weight, inner, Number{0});
    const Number* const count = reinterpret_cast<const Number*>(counts);
    Number* const of_class = count_.hold(inner);
    for (int i = 0; i < inner && counts != nullptr; ++i) of_class[i] = count[representative_[i]];
    for (int i = 0; i < lanes; ++i) {
      const bool scaled = added == Added::paths && counts != nullptr;
      weight[class_[i]] += scaled ? outer_weight[i] * (count[i] / of_class[class_[i]]) : outer_weight[i];
    }
    if (!shared) return;
    share_.hold(lanes);
    for (int r = 0; r < outer; ++r) {
      const int32_t* const index = class_.data() + r * L::width;
      const Count all = L::pick(weight, index, registers_), own = reinterpret_cast<const Count*>(outer_weight)[r];
      Count x = own / all;
      if (added == Added::shares && counts != nullptr) x *= L::pick(of_class, index, registers_) / counts[r];
      reinterpret_cast<Count*>(share_.data())[r] = all > 0 ? x : Count{};
    }
  }

  int registers_ = 0, classes_ = 0;
  Room<int32_t> class_, representative_, earlier_;
  Room<Number> share_, weight_, count_;
  DistanceRoom<Number> first_, second_;
  Room<unsigned> open_;
  Room<uint32_t> table_;  // the number of a call of look_up, from bit kClassBits on, and a class
  uint32_t search_ = 0;
};

}  // namespace torchcent::TORCHCENT_ISA
