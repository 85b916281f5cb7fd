// Betweenness by chains, a search per source: it runs on the contracted graph, and the targets inside a chain are
// counted from its two ends.
#pragma once

#include "chains/cpu/chain_paths.h"
#include "chains/cpu/chain_ends.h"

namespace torchcent::TORCHCENT_ISA {

template <class T, class Count>
class ChainSources final : public Search {
 public:
  explicit ChainSources(const ChainProblem<T>& problem)
      : problem_(problem),
        dijkstra_(contracted(problem), true, true, false),
        sigma_(graph_.kept),
        sum_(graph_.kept),
        target_(graph_.kept) {}

  Status run(const PathBatch& batch) override {
    const ChainSums<T> sums(graph_, batch.scores);
    for (int64_t lane = 0; lane < batch.count; ++lane) {
      const int64_t at = problem_.where[batch.sources[lane]];
      const Start<T> from = at >= 0 ? at_kept(at) : at_inner(-1 - at);
      if (!dijkstra_.template search<true, true>(from)) return Status::cancelled;
      const bool fits = count(from, batch.source_weight[lane], sums);
      dijkstra_.forget();
      if (!fits) return Status::overflow;
    }
    return Status::done;
  }

 private:
  Start<T> at_kept(int64_t v) {
    chain_ = -1;
    return {{static_cast<int32_t>(v), static_cast<int32_t>(v)}, {T(0), T(0)}, 1};
  }
  Start<T> at_inner(int64_t i) {
    chain_ = problem_.chain_of[i];
    index_ = i - graph_.first[chain_] + 1;
    const T left = graph_.position(chain_)[index_];
    const int32_t* const ends = graph_.ends + 2 * chain_;
    return {{ends[0], ends[1]}, {left, static_cast<T>(graph_.length(chain_) - left)}, 2};
  }

  bool count(const Start<T>& from, double weight, const ChainSums<T>& sums) {
    const Dag dag = dijkstra_.template arcs<true>();
    const T* const distance = dijkstra_.distances();
    const int32_t* const place = dijkstra_.places();
    Count* const sigma = sigma_.data();
    Count* const sum = sum_.data();
    for (int32_t p = 0; p < dag.ids; ++p) sigma[p] = sum[p] = Count(0.0);
    for (int i = 0; i < from.count; ++i)
      if (distance[from.vertex[i]] == from.distance[i]) sigma[place[from.vertex[i]]] += Count(1.0);
    if (!count_paths(dag, sigma)) return false;

    const int64_t begin = problem_.components.begin[dag.vertex[0]], end = problem_.components.end[dag.vertex[0]];
    const int64_t last = problem_.components.chains[end];
    for (int64_t c = problem_.components.chains[begin]; c < last; ++c) {
      const int32_t y = graph_.ends[2 * c], z = graph_.ends[2 * c + 1];
      const int32_t left = place[y], right = place[z];
      if (c != chain_) {
        segment(c, 0, graph_.count(c) + 1, {distance[y], sigma[left], &sum[left]},
                {distance[z], sigma[right], &sum[right]}, weight, sums);
      } else {
        Count dropped(0.0);
        const End source = {T(0), Count(1.0), &dropped};
        segment(c, 0, index_, {distance[y], sigma[left], &sum[left]}, source, weight, sums);
        segment(c, index_, graph_.count(c) + 1, source, {distance[z], sigma[right], &sum[right]}, weight, sums);
      }
    }
    backward(dag, weight, sums);
    if (chain_ >= 0) leave(from, weight, sums);
    return true;
  }

  // An end of a segment: x_low or x_high.
  struct End {
    T distance;
    Count sigma;
    Count* sum;
  };

  // The targets strictly between x_low and x_high.
  void segment(int64_t chain, int64_t low, int64_t high, const End& left, const End& right, double weight,
               const ChainSums<T>& sums) {
    const int64_t first = graph_.first[chain];
    const ChainTargets<T> targets = {graph_.position(chain), problem_.weights.sum_target + first + chain,
                                     problem_.weights.inner_target + first - 1, graph_.by_hops};
    const Segment<Count> found(targets, low, high, SegmentEnd<T, Count>{left.distance, left.sigma},
                               SegmentEnd<T, Count>{right.distance, right.sigma});
    MeetSums* const meet = sums.meet(chain);
    meet[found.at.last].left += weight;
    meet[found.at.right()].right += weight;
    if (found.at.tie) {
      MeetSums& tied = sums.tied(chain)[found.at.last + 1];
      tied.left += weight * found.tied_left;
      tied.right += weight * found.tied_right;
    }
    if (low > 0) {
      meet[low].left -= weight;
      sums.begin(chain)[low].inside_forward += weight * (found.of_left + found.tied_left);
    }
    if (high <= graph_.count(chain)) {
      meet[high].right -= weight;
      sums.begin(chain)[high].inside_back += weight * (found.of_right + found.tied_right);
    }
    *left.sum += found.left;
    *right.sum += found.right;
  }

  // rho_v = sum_v + b_v / sigma_v, where sum_v adds up the targets inside chains and rho of the successors.
  void backward(const Dag& dag, double weight, const ChainSums<T>& sums) {
    Count* const sigma = sigma_.data();
    Count* const sum = sum_.data();
    Count* const target = target_.data();
    for (int32_t p = 0; p < dag.ids; ++p) target[p] = Count(problem_.weights.target[dag.vertex[p]]) / sigma[p];
    for (int64_t i = dag.arcs - 1; i >= 0; --i) {
      const DagArc arc = dag.arc[i];
      const Count passed = sum[arc.head] + target[arc.head];
      sum[arc.tail] += passed;
      sums.pass[dag.slot[i]] += weight * double(sigma[arc.tail] * passed);
    }
    for (int32_t p = chain_ < 0; p < dag.ids; ++p) sums.score[dag.vertex[p]] += weight * double(sigma[p] * sum[p]);
  }

  // What leaves the chain of the source by its ends.
  void leave(const Start<T>& from, double weight, const ChainSums<T>& sums) {
    BeginSums& at = sums.begin(chain_)[index_];
    for (int i = 0; i < 2; ++i) {
      if (dijkstra_.distances()[from.vertex[i]] != from.distance[i]) continue;
      const int32_t p = dijkstra_.places()[from.vertex[i]];
      (i == 0 ? at.out_back : at.out_forward) += weight * double(sum_[p] + target_[p]);
    }
  }

  ChainProblem<T> problem_;
  const ChainGraph<T>& graph_ = problem_.graph;
  Dijkstra<T> dijkstra_;
  Buffer<Count> sigma_, sum_, target_;  // by place
  int64_t chain_ = -1, index_ = 0;      // of the source, if it is inside a chain
};

template <class T>
std::unique_ptr<Search> make_chains(const ChainProblem<T>& problem, Rung rung) {
  if (problem.together) {
    if (rung == Rung::wide) return std::make_unique<ChainEnds<T, Wide>>(problem);
    return std::make_unique<ChainEnds<T, double>>(problem);
  }
  if (rung == Rung::wide) return std::make_unique<ChainSources<T, Wide>>(problem);
  return std::make_unique<ChainSources<T, double>>(problem);
}
template std::unique_ptr<Search> make_chains(const ChainProblem<int32_t>&, Rung);
template std::unique_ptr<Search> make_chains(const ChainProblem<double>&, Rung);

}  // namespace torchcent::TORCHCENT_ISA
