// The tiny engine for hops in graphs of up to 32 vertices, such as molecules: all vertices side by side as sources.
//
// A vertex stores its distances from all sources in one row of bytes. Sweeps visit the vertices in increasing and
// decreasing order of their numbers, and each vertex is relaxed from its neighbours, until a whole sweep changes
// nothing. Path counts and the values passed up are computed in the same way. This is the Bellman-Ford method in
// Gauss-Seidel order: a shortest path needs as many sweeps as it has monotone runs of vertex numbers. Final values are
// recomputed from the same terms in the same order, so that the number of sweeps does not affect the bits. A traversal
// by levels would scan all arcs once per level, or branch at every vertex of every source. The vertex numbers of a
// molecule follow its chains, and four sweeps suffice.
//
// If all pairs of vertices count, leaves, a third of a molecule, are omitted: a neighbour of leaves also represents
// them as a source and target, and distances from a leaf are one more than from its neighbour.
#pragma once

#include <algorithm>

#include "tiny/cpu/tiny_search.h"
#include "paths/betweenness.h"
#include "core/cpu/simd.h"

namespace torchcent::TORCHCENT_ISA {

class TinySweeps {
 public:
  static constexpr int kMost = 32;  // vertices

  explicit TinySweeps(const TinyProblem& problem)
      : problem_(problem),
        depth_(most_nodes(problem) * kMost),
        tight_(std::min<int64_t>(problem.most_slots, kSlots) * kMost),
        own_(problem.paths() ? most_nodes(problem) * kMost : 0),
        sigma_(problem.paths() ? most_nodes(problem) * kMost : 0),
        share_(problem.paths() ? most_nodes(problem) * kMost : 0),
        passed_up_(problem.paths() ? most_nodes(problem) * kMost : 0) {
    for (int32_t d = 1; d < kMost; ++d) reciprocal_[d] = 1.0 / d;
  }

  // With 32 vertices, there are at most 3^10 shortest paths between two of them, which float32 counts exactly.
  void run(int64_t first, int32_t n) {
    load(first, n);
    if (count_ == 0) return;
    search();
    if (problem_.distances != nullptr || problem_.levels != nullptr) count_distances();
    if (!problem_.paths()) return;
    switch ((lanes_ + 7) / 8) {
      case 1: return count_paths<8>();
      case 2: return count_paths<16>();
      case 3: return count_paths<24>();
      default: return count_paths<32>();
    }
  }

 private:
  static int64_t most_nodes(const TinyProblem& problem) { return std::min<int64_t>(problem.most_nodes, kMost); }

  static constexpr int kSlots = kMost * (kMost - 1);
  static constexpr int8_t kUnreached = 126;  // adding 1 does not overflow
  static constexpr uint8_t kNone = 255;

  typedef int8_t Depths __attribute__((vector_size(kMost), may_alias));
  typedef float Counts __attribute__((vector_size(kVectorBytes < 32 ? kVectorBytes : 32), may_alias));
  typedef int32_t CountBits __attribute__((vector_size(sizeof(Counts)), may_alias));
  using Values = Row<double>::Vector;
  using ValueBits = Row<double>::Bits;
  static constexpr int kCounts = sizeof(Counts) / 4, kValues = sizeof(Values) / 8;  // lanes per register

  void load(int64_t first, int32_t n) {
    first_ = first;
    first_slot_ = problem_.rowptr[first];
    n_ = n;
    find_leaves();
    // The arcs between the other vertices, by tail and by head.
    kept_ = slots_ = 0;
    uint16_t place[kMost + 1] = {};
    for (int32_t u = 0; u < n; ++u) {
      begin_[u] = static_cast<uint16_t>(slots_);
      if (parent_[u] != kNone) continue;
      vertex_[kept_++] = static_cast<uint8_t>(u);
      for (int64_t i = problem_.rowptr[first + u]; i < problem_.rowptr[first + u + 1]; ++i) {
        const int64_t v = problem_.col[i] - first;
        tail_[slots_] = static_cast<uint8_t>(u);
        head_[slots_] = static_cast<uint8_t>(v);
        slots_ += parent_[v] == kNone;
        place[v + 1] += parent_[v] == kNone;
      }
    }
    begin_[n] = static_cast<uint16_t>(slots_);
    for (int32_t v = 0; v < n; ++v) place[v + 1] = static_cast<uint16_t>(place[v + 1] + place[v]);
    for (int32_t v = 0; v <= n; ++v) begin_in_[v] = place[v];
    for (int32_t i = 0; i < slots_; ++i) {
      const int32_t at = place[head_[i]]++;
      tail_in_[at] = tail_[i];
      slot_in_[at] = static_cast<uint16_t>(i);
    }
    // Leaves have the last lanes.
    count_ = 0;
    for (int32_t k = 0; k < kept_; ++k) {
      source_[count_] = vertex_[k];
      count_ += problem_.source_weight(first + vertex_[k]) != 0;
    }
    lanes_ = count_;
    for (int32_t v = 0; v < n; ++v) {
      source_[count_] = static_cast<uint8_t>(v);
      count_ += parent_[v] != kNone;
    }
  }

  // parent_: the only neighbour of a leaf, kNone for other vertices; leaves_: the number of leaves of a vertex.
  void find_leaves() {
    for (int32_t v = 0; v < n_; ++v) {
      parent_[v] = kNone;
      leaves_[v] = 0;
    }
    if (problem_.source != nullptr || problem_.target != nullptr || problem_.stress != nullptr ||
        problem_.edges != nullptr || problem_.endpoints)
      return;
    const int64_t* const row = problem_.rowptr + first_;
    uint8_t degree_in[kMost] = {}, tail[kMost];
    for (int32_t u = 0; u < n_; ++u)
      for (int64_t i = row[u]; i < row[u + 1]; ++i) {
        const int64_t v = problem_.col[i] - first_;
        ++degree_in[v];
        tail[v] = static_cast<uint8_t>(u);
      }
    for (int32_t v = 0; v < n_; ++v) {
      if (row[v + 1] - row[v] != 1 || degree_in[v] != 1) continue;
      const int64_t u = problem_.col[row[v]] - first_;
      if (tail[v] != u || parent_[u] != kNone) continue;  // of an isolated pair, one vertex is kept
      parent_[v] = static_cast<uint8_t>(u);
      ++leaves_[u];
    }
  }

  Depths& depth(int32_t v) const { return reinterpret_cast<Depths*>(depth_.data())[v]; }
  Depths& tight(int32_t slot) const { return reinterpret_cast<Depths*>(tight_.data())[slot]; }

  [[gnu::noinline]] void search() {
    for (int32_t v = 0; v < n_; ++v) depth(v) = Depths{} + kUnreached;
    for (int32_t l = 0; l < lanes_; ++l) depth_[source_[l] * kMost + l] = 0;
    for (int32_t l = lanes_; l < count_; ++l) depth_[parent_[source_[l]] * kMost + l] = 1;
    for (bool down = true; sweep_depths(down); down = !down) {
    }
    for (int32_t l = lanes_; l < count_; ++l) {
      const Depths next = depth(parent_[source_[l]]) + 1;
      depth(source_[l]) = next > kUnreached ? Depths{} + kUnreached : next;
      depth_[source_[l] * kMost + l] = 0;
    }
    Depths farthest{}, reached{};  // of each source
    for (int32_t v = 0; v < n_; ++v) {
      const Depths is_reached = depth(v) != kUnreached, far = depth(v) & is_reached;
      farthest = far > farthest ? far : farthest;
      reached -= is_reached;
    }
    deepest_ = 0;
    for (int32_t l = 0; l < count_; ++l) {
      farthest_out_[l] = farthest[l];
      reach_out_[l] = static_cast<int8_t>(reached[l] - 1);
      deepest_ = farthest[l] > deepest_ ? farthest[l] : deepest_;
    }
  }

  // Returns whether any distance has changed.
  bool sweep_depths(bool down) {
    Depths changed{};
    for (int32_t k = 0; k < kept_; ++k) {
      const int32_t v = vertex_[down ? kept_ - 1 - k : k];
      Depths least = Depths{} + kUnreached;
      for (int32_t i = begin_in_[v]; i < begin_in_[v + 1]; ++i) {
        const Depths other = depth(tail_in_[i]);
        least = other < least ? other : least;
      }
      least += 1;
      const Depths known = depth(v);
      least = least < known ? least : known;
      changed |= least ^ known;
      depth(v) = least;
    }
    return any(changed);
  }

  static bool any(const Depths& row) {
    uint64_t word[4];
    __builtin_memcpy(word, &row, sizeof word);
    return (word[0] | word[1] | word[2] | word[3]) != 0;
  }

  // One bit per lane in which this vertex has the distance d.
  uint32_t lanes_at(int32_t v, int32_t d) const {
    const Depths equal = depth(v) == static_cast<int8_t>(d);
#if defined(TORCHCENT_AVX2) || defined(TORCHCENT_AVX512)
    return static_cast<uint32_t>(_mm256_movemask_epi8((__m256i)equal));
#else
    uint32_t bits = 0;
    for (int l = 0; l < kMost; ++l) bits |= static_cast<uint32_t>(equal[l] & 1) << l;
    return bits;
#endif
  }
  // The weight of the sources other than the vertex itself that reach it.
  double reached_from(int32_t v) const {
    double weight = 0;
    for (int32_t l = 0; l < lanes_; ++l) {
      const int8_t d = depth_[v * kMost + l];
      if (d != 0 && d != kUnreached) weight += begun_[l];
    }
    return weight;
  }
  // The number of sources other than the vertex itself that reach it.
  int32_t reach(int32_t v) const {
    return count_ - __builtin_popcount(lanes_at(v, kUnreached) & lanes()) - __builtin_popcount(lanes_at(v, 0));
  }
  uint32_t lanes() const { return ~uint32_t{0} >> (kMost - count_); }

  [[gnu::noinline]] void count_distances() {
    double* const out = problem_.distances == nullptr ? nullptr : problem_.distances + first_ * kColumns;
    int32_t pairs[kMost] = {count_};
    for (int32_t v = 0; v < n_; ++v) {
      int32_t farness = 0, farthest = 0, all = 0;
      double harmonic = 0;
      for (int32_t d = 1; d <= deepest_; ++d) {
        const int32_t here = __builtin_popcount(lanes_at(v, d));
        farness += here * d;
        harmonic += here * reciprocal_[d];
        all += here;
        farthest = here > 0 ? d : farthest;
        pairs[d] += here;
      }
      if (out == nullptr) continue;
      out[v * kColumns + kFarness] = farness;
      out[v * kColumns + kHarmonic] = harmonic;
      out[v * kColumns + kReach] = all;
      out[v * kColumns + kFarthest] = farthest;
    }
    if (problem_.levels != nullptr)
      for (int32_t d = 0; d <= deepest_; ++d) problem_.levels[first_ + d] += pairs[d];
    if (out == nullptr) return;
    for (int32_t l = 0; l < count_; ++l) {
      out[source_[l] * kColumns + kReachOut] = reach_out_[l];
      out[source_[l] * kColumns + kFarthestOut] = farthest_out_[l];
    }
  }

  // All ones in the lanes in which a slot is on a shortest path.
  static CountBits tight_counts(const int8_t* row) {
#if defined(TORCHCENT_AVX2) || defined(TORCHCENT_AVX512)
    return (CountBits)_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(row)));
#else
    CountBits wide;
    for (int k = 0; k < kCounts; ++k) wide[k] = row[k];
    return wide;
#endif
  }
  static ValueBits tight_values(const int8_t* row) {
#if defined(TORCHCENT_AVX512)
    return (ValueBits)_mm512_cvtepi8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(row)));
#elif defined(TORCHCENT_AVX2)
    int32_t four;
    __builtin_memcpy(&four, row, 4);
    return (ValueBits)_mm256_cvtepi8_epi64(_mm_cvtsi32_si128(four));
#else
    ValueBits wide;
    for (int k = 0; k < kValues; ++k) wide[k] = row[k];
    return wide;
#endif
  }
  static Values to_values(const float* row) {
    Values wide;
    for (int k = 0; k < kValues; ++k) wide[k] = row[k];
    return wide;
  }

  template <int lanes>
  [[gnu::noinline]] void count_paths() {
    Depths taken{};  // lanes, without those of leaves
    for (int32_t l = 0; l < lanes_; ++l) taken[l] = -1;
    for (int32_t i = 0; i < slots_; ++i) tight(i) = (depth(tail_[i]) + 1 == depth(head_[i])) & taken;
    for (int32_t i = 0; i < n_ * lanes; ++i) own_[i] = 0;
    for (int32_t l = 0; l < lanes_; ++l) own_[source_[l] * lanes + l] = 1;
    for (int32_t l = 0; l < lanes; ++l)  // leaves represent themselves if sources have weights
      begun_[l] = l < lanes_ ? problem_.source_weight(first_ + source_[l]) + leaves_[source_[l]] : 0;
    for (int32_t i = 0; i < n_ * lanes; ++i) sigma_[i] = own_[i];
    // As many sweeps as the longest path has arcs suffice for any numbering.
    int32_t sweeps = 0;
    for (; sweeps < deepest_; ++sweeps)
      if (!sweep_counts<lanes>(sweeps % 2 == 0)) break;
    if (problem_.betweenness != nullptr || problem_.edges != nullptr)
      backward<lanes, Betweenness>(sweeps, problem_.betweenness, problem_.endpoints, problem_.edges);
    if (problem_.stress != nullptr) backward<lanes, Stress>(sweeps, problem_.stress, false, nullptr);
  }

  // sigma(v) is the sum over its predecessors; returns whether any has changed.
  template <int lanes>
  bool sweep_counts(bool down) {
    constexpr int registers = lanes / kCounts;
    float* const own = own_.data();
    float* const sigma = sigma_.data();
    const int8_t* const tight = tight_.data();
    CountBits changed{};
    for (int32_t k = 0; k < kept_; ++k) {
      const int32_t v = vertex_[down ? kept_ - 1 - k : k];
      Counts sum[registers];
      for (int r = 0; r < registers; ++r) sum[r] = counts<lanes>(own, v, r);
      for (int32_t i = begin_in_[v]; i < begin_in_[v + 1]; ++i) {
        const int32_t u = tail_in_[i];
        const int8_t* const mask = tight + slot_in_[i] * kMost;
        for (int r = 0; r < registers; ++r)
          sum[r] += (Counts)((CountBits)counts<lanes>(sigma, u, r) & tight_counts(mask + r * kCounts));
      }
      for (int r = 0; r < registers; ++r) {
        Counts& known = counts<lanes>(sigma, v, r);
        changed |= (CountBits)known ^ (CountBits)sum[r];
        known = sum[r];
      }
    }
    for (int k = 0; k < kCounts; ++k)
      if (changed[k] != 0) return true;
    return false;
  }
  template <int lanes>
  static Counts& counts(float* rows, int32_t v, int r) {
    return reinterpret_cast<Counts*>(rows + v * lanes)[r];
  }
  template <int lanes>
  static Values& values(double* rows, int32_t v, int r) {
    return reinterpret_cast<Values*>(rows + v * lanes)[r];
  }

  // The value that a vertex passes up is its share plus the sum over its successors. The paths are traversed backwards:
  // the same number of sweeps, in reverse order and in opposite directions, completes all vertices except sources.
  template <int lanes, class Visitor>
  [[gnu::noinline]] void backward(int32_t sweeps, double* scores, bool endpoints, double* edges) {
    constexpr int registers = lanes / kValues;
    float *const own = own_.data(), *const paths = sigma_.data();
    double *const share = share_.data(), *const passed_up = passed_up_.data();
    const int8_t* const tight = tight_.data();
    for (int32_t k = 0; k < kept_; ++k) {
      const int32_t v = vertex_[k];
      const double target = problem_.target_weight(first_ + v) + leaves_[v];
      for (int r = 0; r < registers; ++r) {
        const Values sigma = to_values(paths + v * lanes + r * kValues);
        values<lanes>(share, v, r) = values<lanes>(passed_up, v, r) =
            Visitor::template passed_up<Values>(Values{} + target, sigma, Values{});
      }
    }
    const int32_t last = endpoints ? 0 : 1;  // a source needs one more
    for (int32_t left = sweeps; left >= last; --left) {
      const bool down = left % 2 == 0;
      double* const score = left == last && scores != nullptr ? scores + first_ : nullptr;
      for (int32_t k = 0; k < kept_; ++k) {
        const int32_t u = vertex_[down ? kept_ - 1 - k : k];
        Values sum[registers];
        for (int r = 0; r < registers; ++r) sum[r] = Values{};
        for (int32_t i = begin_[u]; i < begin_[u + 1]; ++i) {
          const int32_t v = head_[i];
          const int8_t* const mask = tight + i * kMost;
          for (int r = 0; r < registers; ++r)
            sum[r] += (Values)((ValueBits)values<lanes>(passed_up, v, r) & tight_values(mask + r * kValues));
        }
        for (int r = 0; r < registers; ++r) values<lanes>(passed_up, u, r) = values<lanes>(share, u, r) + sum[r];
        if (score == nullptr) continue;
        Values total{};
        for (int r = 0; r < registers; ++r) {
          Values begun = *reinterpret_cast<const Values*>(begun_ + r * kValues);
          if (!endpoints) begun *= 1 - to_values(own + u * lanes + r * kValues);  // no path passes through its source
          total += begun * (to_values(paths + u * lanes + r * kValues) * sum[r]);
        }
        score[u] = Row<double>::total(total);
      }
    }
    // Paths through a vertex next to leaves that begin or end at them: to and from other vertices, and between leaves.
    for (int32_t l = 0; l < lanes_; ++l)
      if (const int32_t v = source_[l], leaves = leaves_[v]; leaves > 0)
        scores[first_ + v] += leaves * (reach(v) + reach_out_[l] - leaves - 1);
    if (endpoints)
      for (int32_t v = 0; v < n_; ++v) scores[first_ + v] += problem_.target_weight(first_ + v) * reached_from(v);
    if (edges == nullptr) return;
    for (int32_t i = 0; i < slots_; ++i) {
      const int8_t* const mask = tight + i * kMost;
      Values total{};
      for (int r = 0; r < registers; ++r)
        total += *reinterpret_cast<const Values*>(begun_ + r * kValues) *
                 to_values(paths + tail_[i] * lanes + r * kValues) *
                 (Values)((ValueBits)values<lanes>(passed_up, head_[i], r) & tight_values(mask + r * kValues));
      edges[first_slot_ + i] = Row<double>::total(total);
    }
  }

  TinyProblem problem_;
  int64_t first_ = 0, first_slot_ = 0;
  int32_t n_ = 0, slots_ = 0;
  int32_t kept_ = 0;                                 // vertices that are not leaves
  int32_t count_ = 0, lanes_ = 0;                    // number of sources; of those that are not leaves
  int32_t deepest_ = 0;                              // arcs on the longest shortest path
  uint16_t begin_[kMost + 1], begin_in_[kMost + 1];  // a vertex's slots, as a tail and as a head
  uint8_t tail_[kSlots], head_[kSlots];              // by tail
  uint8_t tail_in_[kSlots];                          // by head,
  uint16_t slot_in_[kSlots];                         // and their position by tail
  uint8_t source_[kMost + 1];                        // of each lane
  uint8_t vertex_[kMost];                            // the kept vertices, in order
  uint8_t parent_[kMost], leaves_[kMost];
  alignas(64) double begun_[kMost];                // number of sources that a lane represents
  int8_t farthest_out_[kMost], reach_out_[kMost];  // of each lane
  double reciprocal_[kMost];                       // 1/d
  Buffer<int8_t> depth_;                           // [n, 32] distances
  Buffer<int8_t> tight_;                           // [slots, 32] -1 where a slot is on a shortest path, else 0
  Buffer<float> own_, sigma_;                      // [n, lanes] 1 at a source itself; path counts
  Buffer<double> share_, passed_up_;               // [n, lanes]
};

}  // namespace torchcent::TORCHCENT_ISA
