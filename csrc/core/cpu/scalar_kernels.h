// All kernels that take one source at a time, for one instruction set (see core/cpu/lane_kernels.h).
#include "core/cpu/buffer.h"
#include "core/cpu/wide.h"
#include "paths/cpu/queue.h"
#include "paths/cpu/team_queue.h"
#include "weighted/cpu/dijkstra.h"
#include "chains/cpu/chain_ends.h"
#include "chains/cpu/chain_sources.h"
#include "tiny/cpu/tiny_weights.h"
#include "hierarchy/cpu/climb_rows.h"
#include "hierarchy/cpu/wide_sweep.h"

namespace torchcent::TORCHCENT_ISA {

void scalar_kernels() {}

std::unique_ptr<Search> make_queue(const PathProblem& problem, Rung rung) {
  return with_visitor(problem.measure, [&](auto visitor) -> std::unique_ptr<Search> {
    using Visitor = decltype(visitor);
    if (rung == Rung::wide) return std::make_unique<QueueSearch<Wide, Visitor>>(problem);
    if (problem.team > 1) return std::make_unique<TeamSearch<Visitor>>(problem);
    return std::make_unique<QueueSearch<double, Visitor>>(problem);
  });
}

template <class T>
std::unique_ptr<Search> make_dijkstra(const WeightedProblem<T>& problem, Rung rung) {
  return with_visitor(problem.paths.measure, [&](auto visitor) -> std::unique_ptr<Search> {
    using Visitor = decltype(visitor);
    if (rung == Rung::wide) return std::make_unique<DijkstraSearch<T, Wide, Visitor>>(problem);
    return std::make_unique<DijkstraSearch<T, double, Visitor>>(problem);
  });
}
template std::unique_ptr<Search> make_dijkstra(const WeightedProblem<int32_t>&, Rung);
template std::unique_ptr<Search> make_dijkstra(const WeightedProblem<double>&, Rung);

template <class T>
std::unique_ptr<WeightedDistances> make_dijkstra_distances(const WeightedProblem<T>& problem) {
  return std::make_unique<DijkstraDistances<T>>(problem);
}
template std::unique_ptr<WeightedDistances> make_dijkstra_distances(const WeightedProblem<int32_t>&);
template std::unique_ptr<WeightedDistances> make_dijkstra_distances(const WeightedProblem<double>&);

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

std::unique_ptr<Search> make_wide_sweep(const HierarchyProblem<double>& problem) {
  return std::make_unique<WideSweep>(problem);
}

void go_on(int32_t* row, const int32_t* onward, int32_t length, int32_t count) {
  for (int32_t k = 0; k < count; ++k) {
    const int32_t over = length + onward[k];
    row[k] = over < row[k] ? over : row[k];
  }
}

std::unique_ptr<TinySearch> make_tiny_weights(const TinyProblem& problem) {
  return std::make_unique<TinyWeights>(problem);
}

}  // namespace torchcent::TORCHCENT_ISA
