// The tiny engine by hops for graphs of up to 32 vertices, such as molecules: all vertices side by side as sources.
//
// On every level a loop over all slots, without a branch that depends on the graph, finds the arcs on shortest paths
// and the lanes in which they are. Written down lane by lane, they are a list of (tail, head), places in a table
// [n, lanes], in topological order: path counts and dependencies stream it. With one to three neighbours per vertex a
// loop over these would end where the processor does not expect it, at every vertex of every source.
#pragma once

#include "cpu/tiny_search.h"
#include "measures/betweenness.h"

namespace torchcent::TORCHCENT_ISA {

class TinySlots {
 public:
  static constexpr int kMost = 32;  // vertices

  explicit TinySlots(const TinyProblem& problem)
      : problem_(problem), arc_(kArcs), slot_(kArcs), sigma_(kRows), share_(kRows), sum_(kRows) {}

  TinyStatus run(int64_t first, int32_t n) {
    first_ = first;
    first_slot_ = problem_.rowptr[first];
    n_ = n;
    slots_ = 0;
    for (int32_t v = 0; v < n; ++v)
      for (int64_t i = problem_.rowptr[first + v]; i < problem_.rowptr[first + v + 1]; ++i) {
        tail_[slots_] = static_cast<uint8_t>(v);
        head_[slots_++] = static_cast<uint8_t>(problem_.col[i] - first);
      }
    count_ = 0;
    for (int32_t v = 0; v < n; ++v) {
      const bool begins = problem_.source == nullptr || problem_.source[first + v] != 0;
      own_[v] = begins ? uint32_t{1} << count_ : 0;
      source_[count_] = v;
      count_ += begins;
    }
    search();
    if (problem_.distances != nullptr || problem_.levels != nullptr) count_distances();
    if (!problem_.paths()) return TinyStatus::done;
    count_paths();
    return TinyStatus::done;  // 32 vertices have no more than 3^10 shortest paths between two of them
  }

 private:
  static constexpr int64_t kRows = kMost * kMost;
  static constexpr int64_t kSlots = kMost * (kMost - 1);
  static constexpr int64_t kArcs = kSlots / 2 * kMost + 4;  // of two opposite ones a shortest path takes one

  struct Arc {
    uint16_t tail, head;
  };

  // fresh_[d][v]: lanes that reach v on level d.
  [[gnu::noinline]] void search() {
    uint32_t seen[kMost], next[kMost];
    const bool paths = problem_.paths();
    int32_t arcs = 0;
    for (int32_t v = 0; v < n_; ++v) fresh_[0][v] = seen[v] = own_[v];
    for (levels_ = 1;; ++levels_) {
      const uint32_t* const now = fresh_[levels_ - 1];
      for (int32_t v = 0; v < n_; ++v) next[v] = 0;
      for (int32_t i = 0; i < slots_; ++i) next[head_[i]] |= now[tail_[i]];
      uint32_t any = 0;
      for (int32_t v = 0; v < n_; ++v) {
        const uint32_t fresh = next[v] & ~seen[v];
        fresh_[levels_][v] = fresh;
        seen[v] |= fresh;
        any |= fresh;
      }
      if (any == 0) break;
      if (paths) arcs = write_down(levels_, arcs);
    }
    arcs_ = arcs;
    for (int32_t v = 0; v < n_; ++v) seen_[v] = seen[v];
  }

  [[gnu::noinline]] void count_distances() {
    double harmonic[kMost] = {};
    int32_t farness[kMost] = {}, farthest[kMost] = {}, reached[kMost] = {}, farthest_out[kMost] = {};
    for (int32_t d = 0; d < levels_; ++d) {
      const double each = d == 0 ? 0 : 1.0 / d;
      uint32_t any = 0;
      int32_t pairs = 0;
      for (int32_t v = 0; v < n_; ++v) {
        const uint32_t fresh = fresh_[d][v];
        const int32_t lanes = __builtin_popcount(fresh);
        farness[v] += lanes * d;
        harmonic[v] += lanes * each;
        farthest[v] = fresh != 0 ? d : farthest[v];
        any |= fresh;
        pairs += lanes;
      }
      for (int32_t l = 0; l < count_; ++l) farthest_out[l] = any >> l & 1 ? d : farthest_out[l];
      if (problem_.levels != nullptr) problem_.levels[first_ + d] += pairs;
    }
    if (problem_.distances == nullptr) return;
    double* const out = problem_.distances + first_ * kColumns;
    for (int32_t v = 0; v < n_; ++v) {
      out[v * kColumns + kFarness] = farness[v];
      out[v * kColumns + kHarmonic] = harmonic[v];
      out[v * kColumns + kReach] = __builtin_popcount(seen_[v] & ~own_[v]);
      out[v * kColumns + kFarthest] = farthest[v];
      for (int32_t l = 0; l < count_; ++l) reached[l] += seen_[v] >> l & 1;
    }
    for (int32_t l = 0; l < count_; ++l) {
      out[source_[l] * kColumns + kReachOut] = reached[l] - 1;
      out[source_[l] * kColumns + kFarthestOut] = farthest_out[l];
    }
  }

  // Appends the arcs from the level above to level d, in each lane.
  int32_t write_down(int32_t d, int32_t arcs) {
    const uint32_t *const now = fresh_[d - 1], *const next = fresh_[d];
    Arc* const arc = arc_.data();
    int32_t hits = 0;
    for (int32_t i = 0; i < slots_; ++i) {
      hit_slot_[hits] = static_cast<uint16_t>(i);
      hit_[hits] = now[tail_[i]] & next[head_[i]];
      hits += hit_[hits] != 0;
    }
    for (int32_t h = 0; h < hits; ++h) {
      const int32_t i = hit_slot_[h];
      const int32_t u = tail_[i] * kMost, v = head_[i] * kMost;
      uint32_t left = hit_[h];
      do {  // four at a time, those that are not there to be overwritten
        const int32_t here = arcs;
        arcs += __builtin_popcount(left) < 4 ? __builtin_popcount(left) : 4;
        for (int32_t k = 0; k < 4; ++k) {
          const int32_t lane = __builtin_ctz(left | 1u << 31);
          arc[here + k] = {static_cast<uint16_t>(u + lane), static_cast<uint16_t>(v + lane)};
          if (problem_.edges != nullptr) slot_[here + k] = static_cast<uint16_t>(i);
          left &= left - 1;
        }
      } while (left != 0);
    }
    return arcs;
  }

  [[gnu::noinline]] void count_paths() {
    double* const sigma = sigma_.data();
    const Arc* const arc = arc_.data();
    for (int32_t i = 0; i < n_ * kMost; ++i) sigma[i] = 0;
    for (int32_t l = 0; l < count_; ++l) sigma[source_[l] * kMost + l] = 1;
    for (int32_t e = 0; e < arcs_; ++e) sigma[arc[e].head] += sigma[arc[e].tail];
    if (problem_.betweenness != nullptr || problem_.edges != nullptr) {
      backward<Betweenness>();
      if (problem_.edges != nullptr) add_edges();
      if (problem_.betweenness != nullptr) add_scores(problem_.betweenness + first_, problem_.endpoints);
    }
    if (problem_.stress != nullptr) {
      backward<Stress>();
      add_scores(problem_.stress + first_, false);
    }
  }

  // sum_: over the successors of a vertex, what they pass up: their own share, in share_, and their sum.
  template <class Visitor>
  [[gnu::noinline]] void backward() {
    const double* const sigma = sigma_.data();
    double *const share = share_.data(), *const sum = sum_.data();
    const Arc* const arc = arc_.data();
    for (int32_t v = 0; v < n_; ++v) {
      const double target = problem_.target == nullptr ? 1 : problem_.target[first_ + v];
      for (int32_t i = v * kMost; i < v * kMost + (count_ + 3) / 4 * 4; ++i) {
        share[i] = Visitor::template passed_up<double>(target, sigma[i], 0);
        sum[i] = 0;
      }
    }
    for (int32_t e = arcs_ - 1; e >= 0; --e) sum[arc[e].tail] += share[arc[e].head] + sum[arc[e].head];
  }

  void add_edges() {
    double* const edges = problem_.edges + first_slot_;
    for (int32_t e = 0; e < arcs_; ++e) {
      const Arc arc = arc_[e];
      edges[slot_[e]] += sigma_[arc.tail] * (share_[arc.head] + sum_[arc.head]);
    }
  }

  void add_scores(double* score, bool endpoints) {
    if (!endpoints)  // nothing passes through a source
      for (int32_t l = 0; l < count_; ++l) sum_[source_[l] * kMost + l] = 0;
    for (int32_t v = 0; v < n_; ++v) {
      double total[4] = {};
      const double *const sigma = sigma_.data() + v * kMost, *const sum = sum_.data() + v * kMost;
      for (int32_t l = 0; l < (count_ + 3) / 4 * 4; l += 4)
        for (int32_t k = 0; k < 4; ++k) total[k] += sigma[l + k] * sum[l + k];
      score[v] = (total[0] + total[1]) + (total[2] + total[3]);
      if (!endpoints) continue;
      const double target = problem_.target == nullptr ? 1 : problem_.target[first_ + v];
      score[v] += target * __builtin_popcount(seen_[v] & ~own_[v]);
    }
  }

  TinyProblem problem_;
  int64_t first_ = 0, first_slot_ = 0;
  int32_t n_ = 0, slots_ = 0, count_ = 0, levels_ = 0, arcs_ = 0;
  int32_t source_[kMost + 1];
  uint32_t own_[kMost], seen_[kMost];  // a vertex's own lane; all that reach it
  uint32_t fresh_[kMost + 1][kMost];
  uint8_t tail_[kSlots], head_[kSlots];
  uint16_t hit_slot_[kSlots + 1];       // slots between two levels,
  uint32_t hit_[kSlots + 1];            // and the lanes in which they are on shortest paths
  Buffer<Arc> arc_;                     // the list
  Buffer<uint16_t> slot_;               // and its slots, for edge scores
  Buffer<double> sigma_, share_, sum_;  // [n, lanes]
};

}  // namespace torchcent::TORCHCENT_ISA
