#include "hierarchy/cpu/neighbourhoods.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/cpu/simd_level.h"
#include "core/cpu/threads.h"
#include "hierarchy/cpu/task_list.h"

namespace torchcent {

namespace {

constexpr int32_t kSharedPart = 4096;  // vertices of a part that another thread may take

struct SequencePart {
  int32_t begin, end;  // in the sequence
  int32_t depth;
};

// What all threads share. The vertices of a part, and they alone, have the same mark.
struct Bisection {
  Bisection(const Csr& of, const int64_t* cancelling)
      : graph(of), cancel(cancelling), mark(of.num_nodes, 0), to_x(of.num_nodes), to_y(of.num_nodes) {}

  Csr graph;
  const int64_t* const cancel;
  Neighbourhoods made;
  std::vector<int32_t> mark, to_x, to_y;
  std::atomic<int32_t> last_mark = 0;
  TaskList<SequencePart> parts;
};

// A part is cut across its longest extent: of two far vertices x and y, found by breadth-first searches inside of it,
// the half with the smallest d(x) - d(y) is separated from the other.
class Bisector {
 public:
  explicit Bisector(Bisection& shared)
      : all_(shared),
        graph_(shared.graph),
        mark_(shared.mark.data()),
        to_x_(shared.to_x.data()),
        to_y_(shared.to_y.data()) {}

  void run() {
    for (SequencePart part; all_.parts.take(part); all_.parts.done()) {
      own_.assign(1, part);
      while (!own_.empty()) {
        part = own_.back();
        own_.pop_back();
        const int32_t size = part.end - part.begin;
        if (size <= kNeighbourhood) {
          std::fill(all_.made.depth.begin() + part.begin + 1, all_.made.depth.begin() + part.end, part.depth);
          continue;
        }
        const int32_t middle = split(all_.made.sequence.data() + part.begin, size) + part.begin;
        if (cancelled(all_.cancel)) return all_.parts.stop();
        all_.made.depth[middle] = part.depth;
        for (const SequencePart half :
             {SequencePart{middle, part.end, part.depth + 1}, SequencePart{part.begin, middle, part.depth + 1}}) {
          if (half.end - half.begin > kSharedPart) all_.parts.push(half);
          else own_.push_back(half);
        }
      }
    }
  }

 private:
  template <class Visit>
  void for_each_neighbour(int32_t v, const Visit& visit) const {
    for (int64_t slot = graph_.rowptr[v]; slot < graph_.rowptr[v + 1]; ++slot) visit(graph_.col[slot]);
  }

  int32_t new_mark() const { return ++all_.last_mark; }
  // Marks of neighbours may be changed by other threads, but not to or from those of the part at hand.
  int32_t mark(int32_t v) const { return __atomic_load_n(mark_ + v, __ATOMIC_RELAXED); }
  void set_mark(int32_t v, int32_t to) const { __atomic_store_n(mark_ + v, to, __ATOMIC_RELAXED); }

  // Orders the vertices of a part by halves, otherwise as before; returns the size of the first. Each search of a large
  // graph takes a second or so: if cancelled, the others are left out.
  int32_t split(int32_t* part, int32_t n) {
    const int32_t x = search(part, n, part[0], to_x_);
    if (cancelled(all_.cancel)) return 0;
    const int32_t y = search(part, n, x, to_x_);
    if (cancelled(all_.cancel)) return 0;
    search(part, n, y, to_y_);
    if (cancelled(all_.cancel)) return 0;
    const int32_t now[2] = {new_mark(), new_mark()};
    halve(part, n, now);
    const int32_t first = move_islands(part, n, now);
    other_.clear();
    int32_t count = 0;
    for (int32_t i = 0; i < n; ++i) {
      if (mark(part[i]) == first) part[count++] = part[i];
      else other_.push_back(part[i]);
    }
    std::copy(other_.begin(), other_.end(), part + count);
    return count;
  }

  // Breadth-first distances inside of the part; what it does not reach is farther away. Returns the last vertex of what
  // it reaches.
  int32_t search(const int32_t* part, int32_t n, int32_t start, int32_t* distance) {
    const int32_t before = mark(start), now = new_mark();
    queue_.clear();
    visit(start, before, now, [&](int32_t w, int32_t v) { distance[w] = v < 0 ? 0 : distance[v] + 1; });
    const int32_t last = queue_.back();
    for (int32_t i = 0; i < n && static_cast<int32_t>(queue_.size()) < n; ++i) {
      if (mark(part[i]) == now) continue;
      const int32_t farther = distance[queue_.back()] + 1;
      visit(part[i], before, now, [&](int32_t w, int32_t v) { distance[w] = v < 0 ? farther : distance[v] + 1; });
    }
    return last;
  }

  // All vertices within reach with the mark `before`; reach(w, v) when w is reached from v, or -1 of the start.
  template <class Reach>
  void visit(int32_t start, int32_t before, int32_t now, const Reach& reach) {
    size_t k = queue_.size();
    set_mark(start, now);
    reach(start, -1);
    for (queue_.push_back(start); k < queue_.size(); ++k) {
      const int32_t v = queue_[k];
      for_each_neighbour(v, [&](int32_t w) {
        if (mark(w) != before) return;
        set_mark(w, now);
        reach(w, v);
        queue_.push_back(w);
      });
    }
  }

  // Marks the halves by d(x) - d(y), and by number where these are equal.
  void halve(const int32_t* part, int32_t n, const int32_t* now) {
    const auto key = [&](int32_t i) { return to_x_[part[i]] - to_y_[part[i]]; };
    int32_t least = key(0), most = least;
    for (int32_t i = 1; i < n; ++i) {
      least = std::min(least, key(i));
      most = std::max(most, key(i));
    }
    count_.assign(most - least + 1, 0);
    for (int32_t i = 0; i < n; ++i) ++count_[key(i) - least];
    int32_t left = n / 2, middle = least;
    while (count_[middle - least] <= left) left -= count_[middle++ - least];
    for (int32_t i = 0; i < n; ++i) {
      const bool first = key(i) < middle || (key(i) == middle && left-- > 0);
      set_mark(part[i], now[first ? 0 : 1]);
    }
  }

  // Islands in a half join the other half, unless there is no mainland. Returns the mark of the first half.
  int32_t move_islands(const int32_t* part, int32_t n, const int32_t* before) {
    const int32_t now[2] = {new_mark(), new_mark()};
    std::vector<std::pair<int32_t, int32_t>> islands[2];  // size and begin in the queue
    int32_t total[2] = {0, 0};
    queue_.clear();
    for (int32_t i = 0; i < n; ++i) {
      const int half = mark(part[i]) == before[0] ? 0 : 1;
      if (mark(part[i]) != before[half]) continue;
      const int32_t begin = static_cast<int32_t>(queue_.size());
      visit(part[i], before[half], now[half], [](int32_t, int32_t) {});
      islands[half].emplace_back(static_cast<int32_t>(queue_.size()) - begin, begin);
      total[half] += islands[half].back().first;
    }
    for (int half = 0; half < 2; ++half) {
      const auto largest = *std::max_element(islands[half].begin(), islands[half].end());
      if (2 * largest.first < total[half]) continue;
      for (const auto& [size, begin] : islands[half])
        for (int32_t k = begin; k < begin + size && begin != largest.second; ++k) set_mark(queue_[k], now[1 - half]);
    }
    return now[0];
  }

  Bisection& all_;
  const Csr graph_;
  int32_t *const mark_, *const to_x_, *const to_y_;
  std::vector<int32_t> queue_, other_, count_;
  std::vector<SequencePart> own_;
};

}  // namespace

Neighbourhoods neighbourhoods(const Csr& graph, int threads, const int64_t* cancel) {
  const int32_t n = static_cast<int32_t>(graph.num_nodes);
  Bisection all(graph, cancel);
  all.made.sequence.resize(n);
  std::iota(all.made.sequence.begin(), all.made.sequence.end(), 0);
  all.made.depth.assign(n, 0);
  std::vector<int32_t> queue;
  for (int32_t begin = 0, end = 0; begin < n; begin = end) {  // components
    const int32_t now = ++all.last_mark;
    queue.assign(1, begin);
    if (cancelled(cancel)) return {};
    for (all.mark[begin] = now; !queue.empty();) {
      const int32_t v = queue.back();
      queue.pop_back();
      for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot) {
        const int32_t w = graph.col[slot];
        if (all.mark[w] == now) continue;
        all.mark[w] = now;
        queue.push_back(w);
      }
    }
    while (end < n && all.mark[end] == now) ++end;
    if (end - begin > kNeighbourhood) all.parts.push({begin, end, 1});
    else std::fill(all.made.depth.begin() + begin + 1, all.made.depth.begin() + end, 1);
  }
  in_threads(n > kSharedPart ? threads : 1, [&] { Bisector(all).run(); }, [&] { all.parts.stop(); });
  return std::move(all.made);
}

}  // namespace torchcent
