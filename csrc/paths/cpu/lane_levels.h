// The forward pass of the lanes engine: the levels of a batch of sources, and their path counts.
#pragma once

#include "paths/cpu/gather.h"
#include "paths/search.h"

namespace torchcent::TORCHCENT_ISA {

// Up to this many lanes are processed one by one: a row would move 256 bytes for 8.
constexpr int kFew = 2;

// All levels, concatenated: entries (vertex, lanes). Values are pulled by vertices that some lanes have not reached, or
// pushed by a small frontier (Beamer et al. 2012). unit: as in a visitor (paths/betweenness.h).
template <class T, bool unit>
class LaneLevels {
 public:
  static constexpr int kLanes = Row<T>::lanes;

  explicit LaneLevels(const PathProblem& problem)
      : sigma(problem.out.num_nodes * kLanes),
        front(problem.out.num_nodes),
        next(problem.out.num_nodes),
        capacity(kEntriesPerNode * problem.out.num_nodes + 4 * kLanes),
        entry(capacity),
        entry_mask(capacity),
        level(problem.out.num_nodes + 2),
        problem_(problem),
        n_(problem.out.num_nodes),
        seen_(n_),
        open_(n_),
        deepest_(problem.limits == nullptr ? n_ : problem.limits[problem.num_limits - 1]) {}

  // Counts the paths from the sources. Returns overflow if there are more entries than the capacity. Not inlined: it is
  // the same for nearly all visitors.
  [[gnu::noinline]] Status find(const int64_t* sources, int64_t count) {
    full_ = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    for (int64_t v = 0; v < n_; ++v) seen_[v] = 0;
    entries = 0;
    levels = 0;
    open_count_ = -1;
    for (int64_t l = 0; l < count; ++l) {
      const int64_t s = sources[l];
      if (front[s] == 0) entry[entries++] = static_cast<int32_t>(s);
      front[s] |= uint64_t{1} << l;
      sigma[s * kLanes + l] = 1;
    }
    for (int64_t i = 0; i < entries; ++i) seen_[entry[i]] = entry_mask[i] = front[entry[i]];
    level[0] = 0;
    level[1] = entries;
    levels = 1;
    while (true) {
      if (cancelled(problem_.cancel)) return Status::cancelled;
      const int64_t begin = level[levels - 1], end = level[levels];
      if (levels > deepest_) {
        for (int64_t i = begin; i < end; ++i) front[entry[i]] = 0;
        return Status::done;
      }
      const bool fits = push_is_cheaper(begin, end) ? push(begin, end) : pull();
      for (int64_t i = begin; i < end; ++i) front[entry[i]] = 0;
      for (int64_t i = end; i < entries; ++i) {
        const int32_t v = entry[i];
        if (problem_.copies != nullptr && problem_.copies[v] != 1) multiply(v, next[v]);
        entry_mask[i] = front[v] = next[v];
        seen_[v] |= next[v];
        next[v] = 0;
      }
      if (!fits) {
        level[++levels] = entries;
        return crowded = true, Status::overflow;
      }
      if (entries == end) return Status::done;
      level[++levels] = entries;
    }
  }

  int64_t degrees(const Csr& graph, int64_t begin, int64_t end) const {
    int64_t sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += graph.degree(entry[i]);
    return sum;
  }

  // Whether so few arcs lead to the entries [end, below) in active lanes that most of [begin, end), the level above,
  // have no successor among them. It then pays to mark those that do.
  bool few_successors(int64_t begin, int64_t end, int64_t below, const uint64_t* active) const {
    constexpr int64_t kSparse = 3;  // times as many arcs
    int64_t into = 0, out = 0;
    for (int64_t i = end; i < below; ++i)
      if (active[i] != 0) into += problem_.in.degree(entry[i]);
    for (int64_t i = begin; i < end; ++i) out += problem_.out.degree(entry[i]);
    return kSparse * into < out;
  }

  // Marks the predecessors of entries in next, with their active lanes.
  void mark_predecessors(int64_t begin, int64_t end, const uint64_t* active) const {
    for_predecessors(begin, end, active, [](uint64_t& mark, uint64_t lanes) { mark |= lanes; });
  }
  void unmark_predecessors(int64_t begin, int64_t end, const uint64_t* active) const {
    for_predecessors(begin, end, active, [](uint64_t& mark, uint64_t) { mark = 0; });
  }

  // Clears the masks that remain if a batch ends early.
  void forget() {
    for (int64_t i = 0; i < entries; ++i) {
      front[entry[i]] = 0;
      next[entry[i]] = 0;
    }
  }

  Buffer<T> sigma;              // [n][lanes] path counts; the backward pass may overwrite them
  Buffer<uint64_t> front;       // [n] lanes of the level being read; zero elsewhere
  Buffer<uint64_t> next;        // [n] lanes of the level being written
  int64_t capacity;             // of entries
  Buffer<int32_t> entry;        // vertex ...
  Buffer<uint64_t> entry_mask;  // ... and its lanes at that level
  Buffer<int64_t> level;        // first entry of each level
  int64_t entries = 0, levels = 0;
  bool crowded = false;  // more entries than the capacity

 private:
  static_assert(sizeof(T) * kLanes == kLaneRow);
  // Pushed sums are naive, which is accurate enough for few terms.
  static constexpr int64_t kPushEntries = 4096;

  template <class Mark>
  void for_predecessors(int64_t begin, int64_t end, const uint64_t* active, Mark mark) const {
    uint64_t* const marks = next.data();  // unused in the backward pass
    for (int64_t i = begin; i < end; ++i) {
      if (active[i] == 0) continue;
      const int64_t w = entry[i];
      for (int64_t slot = problem_.in.rowptr[w]; slot < problem_.in.rowptr[w + 1]; ++slot)
        mark(marks[problem_.in.col[slot]], active[i]);
    }
  }

  // Counts the paths to all twins that v stands for.
  void multiply(int64_t v, uint64_t lanes) {
    T* const row = sigma.data() + v * kLanes;
    Row<T> paths = Row<T>::masked_load(row, lanes);
    paths *= static_cast<T>(problem_.copies[v]);
    paths.masked_store(row, lanes);
  }

  // Pushing costs a row per arc of the frontier; pulling costs a mask per arc of the unfinished vertices.
  bool push_is_cheaper(int64_t begin, int64_t end) const {
    if (end - begin > kPushEntries) return false;
    int64_t cost = 0;
    for (int64_t i = begin; i < end; ++i) {
      const int lanes = __builtin_popcountll(entry_mask[i]);
      cost += problem_.out.degree(entry[i]) * (lanes <= kFew ? lanes : 4);
    }
    return cost < 2 * problem_.out.num_slots();
  }

  bool push(int64_t begin, int64_t end) {
    const int64_t* rowptr = problem_.out.rowptr;
    const int32_t* const col = problem_.out.col;
    T* const rows = sigma.data();
    const uint64_t* const seen = seen_.data();
    uint64_t* const reached = next.data();
    int32_t* const list = entry.data();
    int64_t listed = entries;  // in a register: stores through the pointers above cannot alias it
    const auto reach = [&](int64_t v, uint64_t lanes) {
      list[listed] = static_cast<int32_t>(v);
      listed += reached[v] == 0;
      reached[v] |= lanes;
    };
    for (int64_t i = begin; i < end; ++i) {
      const int64_t u = list[i];
      const uint64_t lanes = entry_mask[i];
      if (capacity - listed <= problem_.out.degree(u)) return entries = listed, false;
      const T* row = rows + u * kLanes;
      if (__builtin_popcountll(lanes) <= kFew) {
        for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
          const int l = __builtin_ctzll(rest);
          const uint64_t bit = uint64_t{1} << l;
          const T paths = unit ? T(1) : row[l];
          for (int64_t slot = rowptr[u]; slot < rowptr[u + 1]; ++slot) {
            const int64_t v = col[slot];
            if (seen[v] & bit) continue;
            T& sum = rows[v * kLanes + l];
            sum = (reached[v] & bit ? sum : T(0)) + paths;
            reach(v, bit);
          }
        }
        continue;
      }
      Row<T> paths = Row<T>::masked_load(row, unit ? 0 : lanes);
      if constexpr (unit) paths.masked_increment(lanes);
      for (int64_t slot = rowptr[u]; slot < rowptr[u + 1]; ++slot) {
        const int64_t v = col[slot];
        const uint64_t fresh = lanes & ~seen[v];
        if (fresh == 0) continue;
        T* target = rows + v * kLanes;
        Row<T> sum = paths;
        sum.masked_add(target, reached[v]);  // lanes that were not reached before hold values of the previous batch
        sum.masked_store(target, fresh);
        reach(v, fresh);
      }
    }
    entries = listed;
    return true;
  }

  bool pull() {
    if (open_count_ < 0) {
      for (int64_t v = 0; v < n_; ++v) open_[v] = static_cast<int32_t>(v);
      open_count_ = n_;
    }
    int64_t kept = 0;
    bool fits = true;
    for (int64_t i = 0; i < open_count_; ++i) {
      const int64_t v = open_[i];
      const uint64_t need = full_ & ~seen_[v];
      if (need == 0) continue;
      if ((i & 0xfff) == 0 && cancelled(problem_.cancel)) return true;  // forward() checks it, too
      open_[kept++] = static_cast<int32_t>(v);
      if (!fits) continue;
      RowSum<T> sum;
      const uint64_t got = gather<false, unit>(problem_.in, v, need, front.data(), sigma.data(), sum, [](auto...) {});
      if (got == 0) continue;
      fits = entries < capacity;
      if (!fits) continue;
      sum.finish().masked_store(sigma.data() + v * kLanes, got);
      entry[entries++] = static_cast<int32_t>(v);
      next[v] = got;
    }
    open_count_ = kept;
    return fits;
  }

  PathProblem problem_;
  int64_t n_;
  Buffer<uint64_t> seen_;  // [n] lanes that have reached the vertex
  Buffer<int32_t> open_;   // vertices that some lanes have not reached, for pull
  int64_t deepest_;        // level that is not searched from
  uint64_t full_ = 0;
  int64_t open_count_ = -1;
};

}  // namespace torchcent::TORCHCENT_ISA
