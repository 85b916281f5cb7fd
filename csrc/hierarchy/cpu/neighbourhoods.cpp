#include "hierarchy/cpu/neighbourhoods.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace torchcent {

namespace {

// A part is cut across its longest extent: of two far vertices x and y, found by breadth-first searches inside of it,
// the half with the smallest d(x) - d(y) is separated from the other.
class Bisection {
 public:
  explicit Bisection(const Csr& graph)
      : graph_(graph),
        part_(graph.num_nodes, -1),
        seen_(graph.num_nodes, 0),
        to_x_(graph.num_nodes),
        to_y_(graph.num_nodes),
        half_(graph.num_nodes) {}

  Neighbourhoods run() {
    const int32_t n = static_cast<int32_t>(graph_.num_nodes);
    made_.sequence.resize(n);
    std::iota(made_.sequence.begin(), made_.sequence.end(), 0);
    made_.depth.assign(n, 0);
    for (int32_t begin = 0, end; begin < n; begin = end) {
      end = component(begin);
      split(begin, end, 1);
    }
    return std::move(made_);
  }

 private:
  template <class Visit>
  void for_each_neighbour(int32_t v, const Visit& visit) const {
    for (int64_t slot = graph_.rowptr[v]; slot < graph_.rowptr[v + 1]; ++slot) visit(graph_.col[slot]);
  }

  void split(int32_t begin, int32_t end, int32_t depth) {
    int32_t* const part = made_.sequence.data() + begin;
    const int32_t n = end - begin;
    if (n <= kNeighbourhood) {
      std::fill(made_.depth.begin() + begin + 1, made_.depth.begin() + end, depth);
      return;
    }
    const int32_t id = ++num_parts_;
    for (int32_t i = 0; i < n; ++i) part_[part[i]] = id;
    const int32_t x = search(part, n, part[0], to_x_), y = search(part, n, x, to_x_);
    search(part, n, y, to_y_);
    halve(part, n);
    move_islands(part, n);
    other_.clear();
    int32_t count = 0;
    for (int32_t i = 0; i < n; ++i) {
      if (half_[part[i]] == 0) part[count++] = part[i];
      else other_.push_back(part[i]);
    }
    std::copy(other_.begin(), other_.end(), part + count);
    made_.depth[begin + count] = depth;
    split(begin, begin + count, depth + 1);
    split(begin + count, end, depth + 1);
  }

  // The end of the component that begins at a vertex; components stand together.
  int32_t component(int32_t begin) {
    queue_.assign(1, begin);
    for (part_[begin] = 0; !queue_.empty();) {
      const int32_t v = queue_.back();
      queue_.pop_back();
      for_each_neighbour(v, [&](int32_t w) {
        if (part_[w] == 0) return;
        part_[w] = 0;
        queue_.push_back(w);
      });
    }
    int32_t end = begin;
    while (end < graph_.num_nodes && part_[end] == 0) ++end;
    return end;
  }

  // Breadth-first distances inside of the part; what it does not reach is farther away. Returns the last vertex of what
  // it reaches.
  int32_t search(const int32_t* part, int32_t n, int32_t start, std::vector<int32_t>& distance) {
    queue_.clear();
    const int32_t now = ++now_, id = part_[start];
    int32_t farthest = 0;
    const auto from = [&](int32_t s, int32_t at) {
      size_t k = queue_.size();
      seen_[s] = now;
      distance[s] = at;
      for (queue_.push_back(s); k < queue_.size(); ++k) {
        const int32_t next = distance[queue_[k]] + 1;
        for_each_neighbour(queue_[k], [&](int32_t w) {
          if (part_[w] != id || seen_[w] == now) return;
          seen_[w] = now;
          distance[w] = next;
          queue_.push_back(w);
        });
      }
      farthest = distance[queue_.back()];
    };
    from(start, 0);
    const int32_t last = queue_.back();
    for (int32_t i = 0; i < n && static_cast<int32_t>(queue_.size()) < n; ++i)
      if (seen_[part[i]] != now) from(part[i], farthest + 1);
    return last;
  }

  // The first half by d(x) - d(y), and by number where these are equal.
  void halve(const int32_t* part, int32_t n) {
    int32_t least = to_x_[part[0]] - to_y_[part[0]], most = least;
    for (int32_t i = 0; i < n; ++i) {
      const int32_t key = to_x_[part[i]] -= to_y_[part[i]];
      least = std::min(least, key);
      most = std::max(most, key);
    }
    count_.assign(most - least + 1, 0);
    for (int32_t i = 0; i < n; ++i) ++count_[to_x_[part[i]] - least];
    int32_t left = n / 2, middle = least;
    while (count_[middle - least] <= left) left -= count_[middle++ - least];
    for (int32_t i = 0; i < n; ++i) {
      const int32_t key = to_x_[part[i]];
      half_[part[i]] = key > middle || (key == middle && left-- <= 0);
    }
  }

  // Islands in a half join the other half, unless there is no mainland.
  void move_islands(const int32_t* part, int32_t n) {
    const int32_t now = ++now_, id = part_[part[0]];
    queue_.clear();
    std::vector<std::pair<int32_t, int32_t>> islands[2];  // size and begin in the queue
    int32_t total[2] = {0, 0};
    for (int32_t i = 0; i < n; ++i) {
      if (seen_[part[i]] == now) continue;
      const int32_t begin = static_cast<int32_t>(queue_.size());
      const char half = half_[part[i]];
      seen_[part[i]] = now;
      queue_.push_back(part[i]);
      for (size_t k = begin; k < queue_.size(); ++k)
        for_each_neighbour(queue_[k], [&](int32_t w) {
          if (part_[w] != id || seen_[w] == now || half_[w] != half) return;
          seen_[w] = now;
          queue_.push_back(w);
        });
      islands[static_cast<int>(half)].emplace_back(static_cast<int32_t>(queue_.size()) - begin, begin);
      total[static_cast<int>(half)] += static_cast<int32_t>(queue_.size()) - begin;
    }
    for (int half = 0; half < 2; ++half) {
      const auto largest = *std::max_element(islands[half].begin(), islands[half].end());
      if (2 * largest.first < total[half]) continue;
      for (const auto& [size, begin] : islands[half])
        for (int32_t k = begin; k < begin + size && begin != largest.second; ++k)
          half_[queue_[k]] = static_cast<char>(1 - half);
    }
  }

  Csr graph_;
  Neighbourhoods made_;
  std::vector<int32_t> part_, seen_, to_x_, to_y_, queue_, other_, count_;
  std::vector<char> half_;
  int32_t num_parts_ = 0, now_ = 0;
};

}  // namespace

Neighbourhoods neighbourhoods(const Csr& graph) { return Bisection(graph).run(); }

}  // namespace torchcent
