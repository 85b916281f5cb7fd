// All traversal kernels for one instruction set; TORCHCENT_ISA is its namespace. Standard headers come before the
// target pragma of the including file, and all definitions are in that namespace, so that no code for a newer processor
// can be linked into the portable path.
#include "core/cpu/buffer.h"
#include "core/cpu/wide.h"
#include "paths/cpu/lanes.h"
#include "paths/cpu/queue.h"
#include "paths/cpu/team_queue.h"
#include "distances/cpu/bits.h"
#include "distances/cpu/measures.h"
#include "weighted/cpu/dijkstra.h"
#include "weighted/cpu/relax_search.h"
#include "chains/cpu/chain_ends.h"
#include "chains/cpu/chain_sources.h"
#include "mcl/cpu/flow_kernel.h"
#include "tiny/cpu/tiny_lanes.h"
#include "tiny/cpu/tiny_weights.h"

namespace torchcent::TORCHCENT_ISA {

template <class Visitor>
std::unique_ptr<Search> make(const PathProblem& problem, Engine engine, Rung rung) {
  if (rung == Rung::wide) return std::make_unique<QueueSearch<Wide, Visitor>>(problem);
  if (engine == Engine::queue && problem.team > 1) return std::make_unique<TeamSearch<Visitor>>(problem);
  if (engine == Engine::queue) return std::make_unique<QueueSearch<double, Visitor>>(problem);
  if (rung == Rung::float64) return std::make_unique<LaneSearch<double, Visitor>>(problem);
  return std::make_unique<LaneSearch<float, Visitor>>(problem);
}

std::unique_ptr<Search> make_search(const PathProblem& problem, Engine engine, Rung rung) {
  switch (problem.measure) {
    case Measure::betweenness: return make<Betweenness>(problem, engine, rung);
    case Measure::linear:
    case Measure::distance:
    case Measure::proximal_source:
    case Measure::proximal_target: return make<ScaledBetweenness>(problem, engine, rung);
    case Measure::edge_betweenness: return make<EdgeBetweenness>(problem, engine, rung);
    case Measure::stress: return make<Stress>(problem, engine, rung);
  }
  return nullptr;
}

template <int words>
std::unique_ptr<DistanceSearch> make_bits(const DistanceProblem& problem, DistanceOutput output) {
  switch (output) {
    case DistanceOutput::vertex_sums: return std::make_unique<VertexSums<words>>(problem);
    case DistanceOutput::source_sums: return std::make_unique<SourceSums<words>>(problem);
    case DistanceOutput::rows_int8: return std::make_unique<DistanceRows<words, int8_t>>(problem);
    case DistanceOutput::rows_int16: return std::make_unique<DistanceRows<words, int16_t>>(problem);
    case DistanceOutput::rows_int32: return std::make_unique<DistanceRows<words, int32_t>>(problem);
  }
  return nullptr;
}

std::unique_ptr<DistanceSearch> make_distance_search(const DistanceProblem& problem, DistanceOutput output,
                                                     int64_t lanes) {
  return lanes > 64 ? make_bits<8>(problem, output) : make_bits<1>(problem, output);
}

template <class T, class Visitor>
std::unique_ptr<Search> make(const WeightedProblem<T>& problem, WeightedEngine engine, Rung rung) {
  if (rung == Rung::wide) return std::make_unique<DijkstraSearch<T, Wide, Visitor>>(problem);
  if constexpr (!Visitor::by_depth) {  // the relax engine does not provide the depth of a vertex per lane
    if (engine == WeightedEngine::relax && rung == Rung::float32)
      return std::make_unique<RelaxSearch<T, float, Visitor>>(problem);
    if (engine == WeightedEngine::relax) return std::make_unique<RelaxSearch<T, double, Visitor>>(problem);
  }
  return std::make_unique<DijkstraSearch<T, double, Visitor>>(problem);
}

template <class T>
std::unique_ptr<Search> make_search_of(const WeightedProblem<T>& problem, WeightedEngine engine, Rung rung) {
  switch (problem.paths.measure) {
    case Measure::betweenness: return make<T, Betweenness>(problem, engine, rung);
    case Measure::linear:
    case Measure::distance:
    case Measure::proximal_source:
    case Measure::proximal_target: return make<T, ScaledBetweenness>(problem, engine, rung);
    case Measure::edge_betweenness: return make<T, EdgeBetweenness>(problem, engine, rung);
    case Measure::stress: return make<T, Stress>(problem, engine, rung);
  }
  return nullptr;
}

template <class T>
std::unique_ptr<WeightedDistances> make(const WeightedProblem<T>& problem, WeightedEngine engine) {
  if (engine == WeightedEngine::dijkstra) return std::make_unique<DijkstraDistances<T>>(problem);
  return std::make_unique<RelaxDistances<T>>(problem);
}

std::unique_ptr<Search> make_search(const WeightedProblem<int32_t>& problem, WeightedEngine engine, Rung rung) {
  return make_search_of(problem, engine, rung);
}
std::unique_ptr<Search> make_search(const WeightedProblem<double>& problem, WeightedEngine engine, Rung rung) {
  return make_search_of(problem, engine, rung);
}
std::unique_ptr<WeightedDistances> make_distances(const WeightedProblem<int32_t>& problem, WeightedEngine engine) {
  return make(problem, engine);
}
std::unique_ptr<WeightedDistances> make_distances(const WeightedProblem<double>& problem, WeightedEngine engine) {
  return make(problem, engine);
}

template <class T>
std::unique_ptr<Search> make_chains(const ChainProblem<T>& problem, Rung rung) {
  if (problem.together) {
    if (rung == Rung::wide) return std::make_unique<ChainEnds<T, Wide>>(problem);
    return std::make_unique<ChainEnds<T, double>>(problem);
  }
  if (rung == Rung::wide) return std::make_unique<ChainSources<T, Wide>>(problem);
  return std::make_unique<ChainSources<T, double>>(problem);
}

std::unique_ptr<Search> make_search(const ChainProblem<int32_t>& problem, Rung rung) {
  return make_chains(problem, rung);
}
std::unique_ptr<Search> make_search(const ChainProblem<double>& problem, Rung rung) {
  return make_chains(problem, rung);
}

std::unique_ptr<TinySearch> make_tiny(const TinyProblem& problem) {
  if (problem.weight == nullptr) return std::make_unique<TinyLanes>(problem);
  return std::make_unique<TinyWeights>(problem);
}

std::unique_ptr<FlowStep> make_flow_step(const FlowProblem& problem) { return flow_step(problem); }

}  // namespace torchcent::TORCHCENT_ISA
