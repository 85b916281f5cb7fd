// Which pairs of vertices a changed arc may be anything to, without a search of the whole graph: two balls grow around
// the ends of the arc until their radii decide about all pairs, or until it is cheaper to draw the paths of the rest
// anew.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/control.h"
#include "core/cpu/buffer.h"
#include "core/cpu/simd_level.h"
#include "core/cpu/threads.h"
#include "torchcent/csr.h"

namespace torchcent::dynamic {

// A breadth-first search from one vertex, a level at a time.
class Ball {
 public:
  static constexpr int64_t kFar = int64_t{1} << 40;

  explicit Ball(const Csr& arcs) : arcs_(arcs), reached_(arcs.num_nodes / 64 + 1), depth_(arcs.num_nodes) {}

  void start(int32_t root) {
    for (const int32_t v : queue_) reached_[v / 64] = 0;
    queue_.clear();
    add(root, 0);
    begin_ = 0, radius_ = 0;
    next_ = arcs_.degree(root);
  }
  // Arcs out of the last level, and whether there is none: all distances are known then.
  int64_t next_arcs() const { return next_; }
  bool has_ended() const { return next_ == 0; }
  void expand() {
    const size_t end = queue_.size();
    ++radius_;
    next_ = 0;
    for (; begin_ < end; ++begin_)
      for (int64_t slot = arcs_.rowptr[queue_[begin_]], last = arcs_.rowptr[queue_[begin_] + 1]; slot < last; ++slot) {
        const int32_t v = arcs_.col[slot];
        if (reaches(v)) continue;
        add(v, radius_);
        next_ += arcs_.degree(v);
      }
  }

  bool reaches(int64_t v) const { return (reached_[static_cast<uint64_t>(v) / 64] >> (v & 63) & 1) != 0; }
  bool knows(int64_t v) const { return reaches(v) || has_ended(); }
  // The distance to v, or a lower bound where it is not known.
  int64_t at_least(int64_t v) const { return reaches(v) ? depth_[v] : beyond(); }
  // The same for all that are not reached.
  int64_t beyond() const { return has_ended() ? kFar : radius_ + 1; }

 private:
  void add(int32_t v, int32_t depth) {
    reached_[v / 64] |= uint64_t{1} << (v % 64);
    depth_[v] = depth;
    queue_.push_back(v);
  }

  const Csr arcs_;
  std::vector<uint64_t> reached_;         // a bit per vertex: most are asked about without being reached
  TORCHCENT_ISA::Buffer<int32_t> depth_;  // [n] of those that are reached
  std::vector<int32_t> queue_;
  size_t begin_ = 0;  // of the last level
  int32_t radius_ = 0;
  int64_t next_ = 0;
};

// Pairs [2, count], the length of a path from one to the other, and the work of drawing one, in arcs.
struct SampledPairs {
  const int64_t *source, *target;
  const int32_t* distance;
  int64_t each;
};

class PairSearch {
 public:
  // mirrored: of an undirected graph, where paths may use an edge in both directions.
  PairSearch(const Csr& forward, const Csr& backward, const SampledPairs& pairs, bool mirrored)
      : pairs_(pairs), mirrored_(mirrored), to_tail_(backward), from_head_(forward) {}

  // Appends the pairs of `among` to which a way by this arc may be no longer than their distance: all to which one is,
  // and those that it would take longer to find out about than to draw a path. Returns the arcs that were scanned. It
  // depends on the arguments alone.
  int64_t touched(int32_t tail, int32_t head, const std::vector<int32_t>& among, std::vector<int32_t>& result) {
    to_tail_.start(tail), from_head_.start(head);
    int64_t work = 0, scanned = 0, patience = static_cast<int64_t>(among.size()) / 4;
    const std::vector<int32_t>* rest = &among;
    for (;;) {
      Ball* next = &to_tail_;
      if (to_tail_.has_ended() || (!from_head_.has_ended() && from_head_.next_arcs() < to_tail_.next_arcs()))
        next = &from_head_;
      const int64_t arcs = next->next_arcs();
      if (arcs == 0 || arcs > patience) {
        work += static_cast<int64_t>(rest->size());
        decide(*rest, result);
        rest = &open_;
        if (open_.empty()) return work + scanned;
        patience = static_cast<int64_t>(open_.size());
        if (scanned + arcs > patience * pairs_.each) {
          result.insert(result.end(), open_.begin(), open_.end());
          return work + scanned;
        }
      }
      patience -= arcs;
      scanned += arcs;
      next->expand();
    }
  }

 private:
  // Sorts pairs into those that are touched and those about which nothing is known yet.
  void decide(const std::vector<int32_t>& rest, std::vector<int32_t>& result) {
    still_open_.clear();
    const int64_t beyond = to_tail_.beyond() + 1 + from_head_.beyond();
    for (const int32_t i : rest) {
      const int64_t from = pairs_.source[i], to = pairs_.target[i];
      // Most pairs are far from the arc.
      if (beyond > pairs_.distance[i] && !to_tail_.reaches(from) && !from_head_.reaches(to) &&
          !(mirrored_ && (to_tail_.reaches(to) || from_head_.reaches(from))))
        continue;
      bool open = false, is_touched = false;
      const auto look = [&](int64_t s, int64_t t) {
        if (to_tail_.at_least(s) + 1 + from_head_.at_least(t) > pairs_.distance[i]) return;
        (to_tail_.knows(s) && from_head_.knows(t) ? is_touched : open) = true;
      };
      look(from, to);
      if (mirrored_) look(to, from);
      if (is_touched) result.push_back(i);
      else if (open) still_open_.push_back(i);
    }
    open_.swap(still_open_);
  }

  const SampledPairs pairs_;
  const bool mirrored_;
  Ball to_tail_, from_head_;
  std::vector<int32_t> open_, still_open_;
};

// Marks the pairs that these arcs touch. Arcs are taken some at a time, on several threads, and each looks at the pairs
// that those before have left: marks do not depend on the threads. If arcs have taken as long as drawing the paths of
// all pairs would, all are marked.
inline void mark_touched(const Csr& forward, const Csr& backward, const std::vector<std::pair<int32_t, int32_t>>& arcs,
                         const SampledPairs& pairs, int64_t count, bool mirrored, int8_t* marks, Control& control,
                         int64_t threads) {
  constexpr size_t kTogether = 16;
  std::vector<int32_t> among;
  for (int64_t i = 0; i < count; ++i)
    if (marks[i] == 0 && pairs.distance[i] >= 0) among.push_back(static_cast<int32_t>(i));
  const int64_t most = static_cast<int64_t>(among.size()) * pairs.each;
  int64_t work = 0;
  std::vector<PairSearch> searches;
  for (size_t begin = 0; begin < arcs.size() && !among.empty() && !cancelled(&control.cancel); begin += kTogether) {
    const size_t size = std::min(kTogether, arcs.size() - begin);
    const size_t workers = std::max<size_t>(1, std::min(size, static_cast<size_t>(threads)));
    while (searches.size() < workers) searches.emplace_back(forward, backward, pairs, mirrored);
    std::vector<std::vector<int32_t>> results(size);
    std::atomic<size_t> next{0}, worker{0};
    std::atomic<int64_t> scanned{0};
    const auto look = [&] {
      PairSearch& search = searches[worker++];
      for (size_t i; (i = next++) < size;) {
        const auto [tail, head] = arcs[begin + i];
        scanned += search.touched(tail, head, among, results[i]);
      }
    };
    in_threads(static_cast<int>(workers), look, [&] { next = size; });
    for (const auto& each : results)
      for (const int32_t i : each) marks[i] = 1;
    std::erase_if(among, [&](int32_t i) { return marks[i] != 0; });
    work += scanned;
    finish(control, static_cast<int64_t>(size));
    if (work > most)
      for (const int32_t i : among) marks[i] = 1;
    if (work > most) return;
  }
}

}  // namespace torchcent::dynamic
