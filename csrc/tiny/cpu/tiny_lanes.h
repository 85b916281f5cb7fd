// The tiny engine for hops: one graph at a time, up to 64 of its vertices side by side as sources, all measures in one
// traversal.
//
// A vertex has a word with one bit per lane that reaches it at the current level, so that distances are counted 64 at a
// time, and two rows with a double per lane: path counts, and the values that it passes up to its predecessors. Levels
// are lists of (vertex, lanes). All passes use outgoing arcs, so that no transpose is needed.
#pragma once

#include "tiny/cpu/tiny_row.h"
#include "tiny/cpu/tiny_sweeps.h"

namespace torchcent::TORCHCENT_ISA {

class TinyLanes final : public TinySearch {
 public:
  explicit TinyLanes(const TinyProblem& problem)
      : problem_(problem),
        sweeps_(problem),
        most_(problem.most_nodes > TinySweeps::kMost ? problem.most_nodes : 0),
        begin_(most_ + 1),
        head_(most_ > 0 ? problem.most_slots + 1 : 0),
        seen_(most_ + 1),
        now_(most_ + 1),
        source_(most_ + 1),
        level_(most_ + 2),
        vertex_(most_ * kLanes + 1),
        mask_(most_ * kLanes + 1),
        sigma_(problem.paths() ? most_ * kLanes : 0),
        passed_up_(problem.paths() ? most_ * kLanes : 0) {}

  TinyStatus run(int64_t graph) override {
    first_ = problem_.ptr[graph];
    n_ = static_cast<int32_t>(problem_.ptr[graph + 1] - first_);
    if (n_ == 0) return TinyStatus::done;
    if (n_ <= TinySweeps::kMost) {
      sweeps_.run(first_, n_);
      return TinyStatus::done;
    }
    first_slot_ = problem_.rowptr[first_];
    for (int32_t v = 0; v <= n_; ++v) begin_[v] = static_cast<int32_t>(problem_.rowptr[first_ + v] - first_slot_);
    for (int32_t i = 0; i < begin_[n_]; ++i) head_[i] = static_cast<int32_t>(problem_.col[first_slot_ + i] - first_);
    int32_t sources = 0;
    for (int32_t v = 0; v < n_; ++v) {
      source_[sources] = v;
      sources += problem_.source_weight(first_ + v) != 0;
    }
    const int32_t batches = (sources + kLanes - 1) / kLanes;
    for (int32_t b = 0, from = 0; b < batches; ++b) {  // of equal size, up to one
      const int32_t to = static_cast<int32_t>(int64_t{sources} * (b + 1) / batches);
      if (cancelled(problem_.cancel)) return TinyStatus::cancelled;
      if (!run_batch(source_.data() + from, to - from)) return TinyStatus::overflow;
      from = to;
    }
    return TinyStatus::done;
  }

 private:
  static constexpr int kLanes = kTinyLanes;

  bool run_batch(const int32_t* source, int32_t count) {
    search(source, count);
    if (problem_.distances != nullptr || problem_.levels != nullptr) count_distances(source, count);
    if (!problem_.paths()) return true;
    switch ((count + 7) / 8) {
      case 1: return count_paths<8>(source, count);
      case 2: return count_paths<16>(source, count);
      case 3: return count_paths<24>(source, count);
      case 4: return count_paths<32>(source, count);
      case 5: return count_paths<40>(source, count);
      case 6: return count_paths<48>(source, count);
      case 7: return count_paths<56>(source, count);
      default: return count_paths<64>(source, count);
    }
  }

  // Computes the levels, as lists of vertices and the lanes that reach them.
  [[gnu::noinline]] void search(const int32_t* source, int32_t count) {
    for (int32_t v = 0; v < n_; ++v) seen_[v] = now_[v] = 0;
    for (int32_t l = 0; l < count; ++l) {
      vertex_[l] = source[l];
      mask_[l] = seen_[source[l]] = uint64_t{1} << l;
    }
    int32_t from = 0, to = count;
    levels_ = 0;
    level_[0] = 0;
    while (from < to) {
      level_[++levels_] = to;
      for (int32_t e = from; e < to; ++e) {
        const int32_t u = vertex_[e];
        const uint64_t mask = mask_[e];
        for (int32_t i = begin_[u]; i < begin_[u + 1]; ++i) now_[head_[i]] |= mask;
      }
      from = to;
      for (int32_t v = 0; v < n_; ++v) {
        const uint64_t fresh = now_[v] & ~seen_[v];
        vertex_[to] = v;
        mask_[to] = fresh;
        seen_[v] |= fresh;
        now_[v] = 0;
        to += fresh != 0;
      }
    }
  }

  [[gnu::noinline]] void count_distances(const int32_t* source, int32_t count) {
    double* const out = problem_.distances == nullptr ? nullptr : problem_.distances + first_ * kColumns;
    int64_t* const pairs = problem_.levels == nullptr ? nullptr : problem_.levels + first_;
    for (int32_t d = 0; d < levels_; ++d) {
      const double each = d == 0 ? 0 : 1.0 / d;
      uint64_t any = 0;
      int64_t reached = 0;
      for (int32_t e = level_[d]; e < level_[d + 1]; ++e) {
        const int32_t lanes = __builtin_popcountll(mask_[e]);
        any |= mask_[e];
        reached += lanes;
        if (out == nullptr || d == 0) continue;
        double* const sum = out + vertex_[e] * kColumns;
        sum[kFarness] += static_cast<double>(lanes) * d;
        sum[kHarmonic] += lanes * each;
        sum[kReach] += lanes;
        sum[kFarthest] = sum[kFarthest] > d ? sum[kFarthest] : d;
      }
      if (pairs != nullptr) pairs[d] += reached;
      if (out != nullptr)
        for (; any != 0; any &= any - 1) out[source[__builtin_ctzll(any)] * kColumns + kFarthestOut] = d;
    }
    if (out == nullptr) return;
    int32_t reached[kLanes] = {};
    const uint64_t all = ~uint64_t{0} >> (kLanes - count);
    int32_t whole = 0;  // vertices that all lanes reach
    for (int32_t v = 0; v < n_; ++v) {
      whole += seen_[v] == all;
      if (seen_[v] != all)
        for (uint64_t left = seen_[v]; left != 0; left &= left - 1) ++reached[__builtin_ctzll(left)];
    }
    for (int32_t l = 0; l < count; ++l) out[source[l] * kColumns + kReachOut] = whole + reached[l] - 1;
  }

  // Path counts, then, from the deepest level up, the values that vertices pass to their predecessors
  // (docs/betweenness.md).
  template <int lanes>
  [[gnu::noinline]] bool count_paths(const int32_t* source, int32_t count) {
    double* const sigma = sigma_.data();
    for (int64_t i = 0; i < int64_t{n_} * lanes; ++i) sigma[i] = 0;
    for (int32_t l = 0; l < count; ++l) sigma[source[l] * lanes + l] = 1;
    for (int32_t d = 0; d + 1 < levels_; ++d) {
      enter(d + 1);
      for (int32_t e = level_[d]; e < level_[d + 1]; ++e) {
        const int32_t u = vertex_[e];
        const uint64_t mask = mask_[e];
        for (int32_t i = begin_[u]; i < begin_[u + 1]; ++i) {
          const int32_t v = head_[i];
          const uint64_t hit = mask & now_[v];
          if (hit == 0) continue;
          if (few(hit)) {
            for (uint64_t left = hit; left != 0; left &= left - 1) {
              const int l = __builtin_ctzll(left);
              sigma[v * lanes + l] += sigma[u * lanes + l];
            }
          } else {
            TinyRow<lanes>::add_to(sigma + v * lanes, sigma + u * lanes, hit);
          }
        }
      }
      leave(d + 1);
    }
    TinyRow<lanes> largest = TinyRow<lanes>::zero();
    for (int32_t v = 0; v < n_; ++v) largest.raise(sigma + v * lanes);
    if (!largest.within(kLargestCount)) return false;
    if (problem_.betweenness != nullptr || problem_.edges != nullptr) backward<lanes>(source, false);
    return problem_.stress == nullptr || backward<lanes>(source, true);
  }

  template <int lanes>
  [[gnu::noinline]] bool backward(const int32_t* source, bool stress) {
    const double* const sigma = sigma_.data();
    double* const passed_up = passed_up_.data();
    double* const score = stress                            ? problem_.stress + first_
                          : problem_.betweenness != nullptr ? problem_.betweenness + first_
                                                            : nullptr;
    double* const edges = stress || problem_.edges == nullptr ? nullptr : problem_.edges + first_slot_;
    const bool endpoints = !stress && problem_.endpoints;
    double weight[lanes] = {};  // of each source; the values passed up are linear in the weights of targets
    for (int32_t e = 0; e < level_[1]; ++e) weight[e] = problem_.source_weight(first_ + source[e]);
    for (int32_t v = 0; v < n_; ++v) {  // before successors are known; not read in lanes that do not reach the vertex
      const double target = problem_.target_weight(first_ + v);
      for (int l = 0; l < lanes; ++l)
        passed_up[v * lanes + l] = stress ? target * weight[l] : target * weight[l] / sigma[v * lanes + l];
      if (endpoints)
        for (uint64_t left = seen_[v]; left != 0; left &= left - 1) score[v] += target * weight[__builtin_ctzll(left)];
    }
    if (endpoints)  // a source's path to itself has length 0
      for (int32_t e = 0; e < level_[1]; ++e)
        score[source[e]] -= problem_.target_weight(first_ + source[e]) * weight[e];
    TinyRow<lanes> largest = TinyRow<lanes>::zero();
    for (int32_t d = levels_ - 2; d >= (endpoints || edges != nullptr ? 0 : 1); --d) {
      enter(d + 1);
      for (int32_t e = level_[d]; e < level_[d + 1]; ++e) {
        const int32_t u = vertex_[e];
        const uint64_t mask = mask_[e];
        if (few(mask)) {
          for (uint64_t left = mask; left != 0; left &= left - 1) {
            const int l = __builtin_ctzll(left);
            double sum = 0;
            for (int32_t i = begin_[u]; i < begin_[u + 1]; ++i) {
              const int32_t v = head_[i];
              if ((now_[v] >> l & 1) == 0) continue;
              const double up = passed_up[v * lanes + l];
              sum += up;
              if (edges != nullptr) edges[i] += sigma[u * lanes + l] * up;
            }
            if (score != nullptr && (d > 0 || endpoints)) score[u] += sigma[u * lanes + l] * sum;
            passed_up[u * lanes + l] += sum;
          }
          if (stress) largest.raise(passed_up + u * lanes);
          continue;
        }
        TinyRow<lanes> sum = TinyRow<lanes>::zero();
        const TinyRow<lanes> own = TinyRow<lanes>::load_all(sigma + u * lanes);
        for (int32_t i = begin_[u]; i < begin_[u + 1]; ++i) {
          const int32_t v = head_[i];
          const uint64_t hit = mask & now_[v];
          if (hit == 0) continue;
          sum.add(passed_up + v * lanes, hit);
          if (edges != nullptr) edges[i] += own.dot(passed_up + v * lanes, hit);
        }
        if (score != nullptr && (d > 0 || endpoints)) {
          typename TinyRow<lanes>::Vector total{};
          for (int k = 0; k < own.registers; ++k)
            total += Row<double>::masked(own.part[k] * sum.part[k], TinyRow<lanes>::submask(mask, k));
          score[u] += Row<double>::total(total);
        }
        for (int k = 0; k < sum.registers; ++k) sum.part[k] += sum.load(passed_up + u * lanes, k);
        sum.store(passed_up + u * lanes, mask);
        if (stress) largest.raise(passed_up + u * lanes);
      }
      leave(d + 1);
    }
    return largest.within(kLargestCount);
  }

  // Whether processing the lanes one by one is faster than a whole row.
  static bool few(uint64_t mask) {
#if defined(TORCHCENT_AVX512)
    return __builtin_popcountll(mask) <= 2;
#else
    return __builtin_popcountll(mask) <= kVectorBytes / 8;
#endif
  }
  // Sets now_ to the lanes of one level; it is 0 elsewhere.
  void enter(int32_t d) {
    for (int32_t e = level_[d]; e < level_[d + 1]; ++e) now_[vertex_[e]] = mask_[e];
  }
  void leave(int32_t d) {
    for (int32_t e = level_[d]; e < level_[d + 1]; ++e) now_[vertex_[e]] = 0;
  }

  TinyProblem problem_;
  TinySweeps sweeps_;
  int64_t most_;  // vertices; 0 if the sweeps do all graphs
  int64_t first_ = 0, first_slot_ = 0;
  int32_t n_ = 0, levels_ = 0;
  Buffer<int32_t> begin_, head_;  // the graph, with local vertex numbers
  Buffer<uint64_t> seen_, now_;   // [n] lanes that have reached a vertex; lanes of one level
  Buffer<int32_t> source_;        // sources of the search
  Buffer<int32_t> level_;         // start of each level in the lists
  Buffer<int32_t> vertex_;        // [n * 64]
  Buffer<uint64_t> mask_;         // [n * 64]
  Buffer<double> sigma_;          // [n * 64] path counts
  Buffer<double> passed_up_;      // [n * 64] rho, or lambda
};

std::unique_ptr<TinySearch> make_tiny_hops(const TinyProblem& problem) { return std::make_unique<TinyLanes>(problem); }

}  // namespace torchcent::TORCHCENT_ISA
