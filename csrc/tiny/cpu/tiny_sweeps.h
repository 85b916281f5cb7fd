// The tiny engine by hops for graphs of up to 32 vertices, such as molecules: all vertices side by side as sources.
//
// A vertex holds its distances from all sources in one row of bytes, and the vertices are gone through up and down
// their numbers, each taking what its neighbours have, until a whole sweep changes nothing; then path counts in the
// same way, and what is passed up. That is Bellman and Ford's method with Gauss and Seidel's order: a shortest path is
// done after as many sweeps as it has runs of rising or falling numbers, and a value once final is computed again from
// the same terms in the same order, so that the number of sweeps leaves no trace in the bits. A traversal by levels
// goes over all arcs once for each level, or branches on the graph at every vertex of every source; the numbers of
// a molecule follow its chains, and four sweeps do.
//
// Leaves, a third of a molecule, are left out where all pairs of vertices count: what a vertex next to leaves begins
// or ends counts for them, too, and distances from a leaf are one more than from its neighbour.
#pragma once

#include "tiny/cpu/tiny_search.h"
#include "paths/betweenness.h"
#include "core/cpu/simd.h"

namespace torchcent::TORCHCENT_ISA {

class TinySweeps {
 public:
  static constexpr int kMost = 32;  // vertices

  explicit TinySweeps(const TinyProblem& problem)
      : problem_(problem),
        depth_(kMost * kMost),
        tight_(kSlots * kMost),
        own_(kMost * kMost),
        sigma_(kMost * kMost),
        share_(kMost * kMost),
        passed_up_(kMost * kMost) {
    for (int32_t d = 1; d < kMost; ++d) reciprocal_[d] = 1.0 / d;
  }

  // 32 vertices have no more than 3^10 shortest paths between two of them: float32 counts them exactly.
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
  static constexpr int kSlots = kMost * (kMost - 1);
  static constexpr int8_t kUnreached = 126;  // and one more is not less
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
    // The arcs between the others, by their tails and by their heads.
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

  // parent_: the only neighbour of a leaf, none of other vertices; leaves_: how many of them a vertex has.
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
      if (tail[v] != u || parent_[u] != kNone) continue;  // of two that have only each other one stays
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

  // True if any distance has changed.
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

  // One bit for each lane in which this vertex has the distance d.
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
  // The weight of the sources other than itself that reach a vertex.
  double reached_from(int32_t v) const {
    double weight = 0;
    for (int32_t l = 0; l < lanes_; ++l) {
      const int8_t d = depth_[v * kMost + l];
      if (d != 0 && d != kUnreached) weight += begun_[l];
    }
    return weight;
  }
  // Sources other than itself that reach a vertex.
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
    for (int32_t l = 0; l < lanes; ++l)  // leaves stand for themselves where sources have weights
      begun_[l] = l < lanes_ ? problem_.source_weight(first_ + source_[l]) + leaves_[source_[l]] : 0;
    for (int32_t i = 0; i < n_ * lanes; ++i) sigma_[i] = own_[i];
    // As many sweeps as arcs on the longest path are enough for any numbers.
    int32_t sweeps = 0;
    for (; sweeps < deepest_; ++sweeps)
      if (!sweep_counts<lanes>(sweeps % 2 == 0)) break;
    if (problem_.betweenness != nullptr || problem_.edges != nullptr)
      backward<lanes, Betweenness>(sweeps, problem_.betweenness, problem_.endpoints, problem_.edges);
    if (problem_.stress != nullptr) backward<lanes, Stress>(sweeps, problem_.stress, false, nullptr);
  }

  // sigma(v) is the sum over its predecessors; true if any has changed.
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

  // What a vertex passes up is its share plus the sum over its successors. Paths run the other way round: as many
  // sweeps, from the last to the first, each in the other direction, finish all but sources.
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
    const int32_t last = endpoints ? 0 : 1;  // a source itself takes one more
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
          if (!endpoints) begun *= 1 - to_values(own + u * lanes + r * kValues);  // none passes through a source
          total += begun * (to_values(paths + u * lanes + r * kValues) * sum[r]);
        }
        score[u] = Row<double>::total(total);
      }
    }
    // Through a vertex next to leaves goes what begins or ends at them: to and from the others, and between them.
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
  int32_t kept_ = 0;                                 // vertices that are no leaves
  int32_t count_ = 0, lanes_ = 0;                    // sources; those that are no leaves
  int32_t deepest_ = 0;                              // arcs on the longest shortest path
  uint16_t begin_[kMost + 1], begin_in_[kMost + 1];  // a vertex's slots, as a tail and as a head
  uint8_t tail_[kSlots], head_[kSlots];              // by tails
  uint8_t tail_in_[kSlots];                          // by heads,
  uint16_t slot_in_[kSlots];                         // and their place by tails
  uint8_t source_[kMost + 1];                        // of each lane
  uint8_t vertex_[kMost];                            // those kept, by their numbers
  uint8_t parent_[kMost], leaves_[kMost];
  alignas(64) double begun_[kMost];                // sources that a lane stands for
  int8_t farthest_out_[kMost], reach_out_[kMost];  // of each lane
  double reciprocal_[kMost];                       // 1/d
  Buffer<int8_t> depth_;                           // [n, 32] distances
  Buffer<int8_t> tight_;                           // [slots, 32] -1 where a slot is on a shortest path, else 0
  Buffer<float> own_, sigma_;                      // [n, lanes] 1 at a source itself; path counts
  Buffer<double> share_, passed_up_;               // [n, lanes]
};

}  // namespace torchcent::TORCHCENT_ISA
