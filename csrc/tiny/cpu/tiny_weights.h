// The tiny engine for weights: one graph at a time, and one source at a time (tiny/measures.h).
#pragma once

#include "tiny/cpu/tiny_search.h"
#include "tiny/measures.h"

namespace torchcent::TORCHCENT_ISA {

class TinyWeights final : public TinySearch {
 public:
  explicit TinyWeights(const TinyProblem& problem)
      : problem_(problem),
        depth_(problem.most_nodes + 1),
        index_(3 * (problem.most_nodes + 1)),
        counts_(problem.paths() ? 3 * (problem.most_nodes + 1) : 0) {
    const int64_t n = problem.most_nodes + 1;
    paths_.depth.data = depth_.data();
    paths_.order.data = index_.data();
    paths_.place.data = index_.data() + n;
    paths_.heap.data = index_.data() + 2 * n;
    paths_.sigma.data = counts_.data();
    paths_.passed_up.data = counts_.data() + n;
    paths_.gain.data = counts_.data() + 2 * n;
    paths_.tie_tolerance = problem.tie_tolerance;
  }

  TinyStatus run(int64_t graph) override {
    const int64_t first = problem_.ptr[graph];
    const int32_t n = static_cast<int32_t>(problem_.ptr[graph + 1] - first);
    paths_.graph = {problem_.rowptr + first, problem_.col, problem_.weight, first, n};
    const double* const target = problem_.target == nullptr ? nullptr : problem_.target + first;
    for (int32_t s = 0; s < n; ++s) {
      const double weight = problem_.source_weight(first + s);
      if (weight == 0) continue;
      if (cancelled(problem_.cancel)) return TinyStatus::cancelled;
      paths_.search(s);
      if (problem_.distances != nullptr) add_distances(problem_.distances + first * kColumns, s);
      if (!problem_.paths()) continue;
      if (!paths_.count()) return TinyStatus::overflow;
      if (problem_.betweenness != nullptr || problem_.edges != nullptr) {
        paths_.backward<Betweenness>(target, weight);
        if (problem_.betweenness != nullptr) add(problem_.betweenness + first, target, problem_.endpoints ? weight : 0);
        if (problem_.edges != nullptr) add_edges();
      }
      if (problem_.stress != nullptr) {
        if (!paths_.backward<Stress>(target, weight)) return TinyStatus::overflow;
        add(problem_.stress + first, target, 0);
      }
    }
    return TinyStatus::done;
  }

 private:
  void add_distances(double* out, int32_t source) {
    double farthest = 0;
    for (int32_t p = 1; p < paths_.reached; ++p) {
      const int32_t v = paths_.order[p];
      const double d = paths_.depth[v];
      double* const sum = out + v * kColumns;
      sum[kFarness] += d;
      sum[kHarmonic] += 1 / d;
      sum[kReach] += 1;
      sum[kFarthest] = d > sum[kFarthest] ? d : sum[kFarthest];
      farthest = d;
    }
    out[source * kColumns + kReachOut] = paths_.reached - 1;
    out[source * kColumns + kFarthestOut] = farthest;
  }

  // `ends`: the contribution of a path to its ends.
  void add(double* score, const double* target, double ends) {
    if (ends != 0) score[paths_.order[0]] += paths_.gain[paths_.order[0]];
    for (int32_t p = 1; p < paths_.reached; ++p) {
      const int32_t v = paths_.order[p];
      score[v] += paths_.gain[v] + (target == nullptr ? ends : ends * target[v]);
    }
  }

  void add_edges() {
    for (int32_t p = 0; p < paths_.reached; ++p) {
      const int32_t u = paths_.order[p];
      for (int64_t i = paths_.graph.begin(u); i < paths_.graph.begin(u + 1); ++i) {
        const int32_t v = paths_.graph.head(i);
        if (paths_.tight(u, i, v)) problem_.edges[i] += paths_.sigma[u] * paths_.passed_up[v];
      }
    }
  }

  TinyProblem problem_;
  Buffer<double> depth_;
  Buffer<uint16_t> index_;
  Buffer<double> counts_;
  TinyPaths<double, 1> paths_ = {};
};

std::unique_ptr<TinySearch> make_tiny_weights(const TinyProblem& problem) {
  return std::make_unique<TinyWeights>(problem);
}

}  // namespace torchcent::TORCHCENT_ISA
