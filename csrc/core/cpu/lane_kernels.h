// All kernels that compute many values side by side, for one instruction set; TORCHCENT_ISA is its namespace. Standard
// headers come before the target pragma of the including file, and all definitions are in that namespace, so that no
// code for a newer processor can be linked into the portable path.
#include "core/cpu/buffer.h"
#include "paths/cpu/lanes.h"
#include "distances/cpu/bits.h"
#include "distances/cpu/measures.h"
#include "weighted/cpu/relax_search.h"
#include "mcl/cpu/flow_kernel.h"
#include "tiny/cpu/tiny_lanes.h"
#include "hierarchy/cpu/hierarchy_search.h"

namespace torchcent::TORCHCENT_ISA {

void lane_kernels() {}

std::unique_ptr<Search> make_lanes(const PathProblem& problem, Rung rung) {
  return with_visitor(problem.measure, [&](auto visitor) -> std::unique_ptr<Search> {
    using Visitor = decltype(visitor);
    if (rung == Rung::float64) return std::make_unique<LaneSearch<double, Visitor>>(problem);
    return std::make_unique<LaneSearch<float, Visitor>>(problem);
  });
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

template <class T>
std::unique_ptr<Search> make_relax(const WeightedProblem<T>& problem, Rung rung) {
  return with_visitor(problem.paths.measure, [&](auto visitor) -> std::unique_ptr<Search> {
    using Visitor = decltype(visitor);
    if constexpr (Visitor::by_depth) return nullptr;  // the engine does not have the depth of a vertex in each lane
    else if (rung == Rung::float32) return std::make_unique<RelaxSearch<T, float, Visitor>>(problem);
    else return std::make_unique<RelaxSearch<T, double, Visitor>>(problem);
  });
}
template std::unique_ptr<Search> make_relax(const WeightedProblem<int32_t>&, Rung);
template std::unique_ptr<Search> make_relax(const WeightedProblem<double>&, Rung);

template <class T>
std::unique_ptr<WeightedDistances> make_relax_distances(const WeightedProblem<T>& problem) {
  return std::make_unique<RelaxDistances<T>>(problem);
}
template std::unique_ptr<WeightedDistances> make_relax_distances(const WeightedProblem<int32_t>&);
template std::unique_ptr<WeightedDistances> make_relax_distances(const WeightedProblem<double>&);

template <class Number>
std::unique_ptr<Search> make_hierarchy(const HierarchyProblem<Number>& problem) {
  if constexpr (sizeof(Number) == 8)
    if (problem.added == Added::paths) return std::make_unique<HierarchySearch<Number, Added::paths>>(problem);
  return std::make_unique<HierarchySearch<Number, Added::shares>>(problem);
}
template std::unique_ptr<Search> make_hierarchy(const HierarchyProblem<float>&);
template std::unique_ptr<Search> make_hierarchy(const HierarchyProblem<double>&);

template <class Number>
std::unique_ptr<HierarchyDistances> make_hierarchy_distances(const HierarchyProblem<Number>& problem) {
  return std::make_unique<HierarchyDistanceSearch<Number>>(problem);
}
template std::unique_ptr<HierarchyDistances> make_hierarchy_distances(const HierarchyProblem<float>&);
template std::unique_ptr<HierarchyDistances> make_hierarchy_distances(const HierarchyProblem<double>&);

template <class Number>
std::unique_ptr<HierarchyDistances> make_hierarchy_reciprocals(const RowProblem<Number>& problem) {
  return std::make_unique<HierarchyReciprocals<Number>>(problem);
}
template std::unique_ptr<HierarchyDistances> make_hierarchy_reciprocals(const RowProblem<float>&);
template std::unique_ptr<HierarchyDistances> make_hierarchy_reciprocals(const RowProblem<double>&);

template <class Number>
std::unique_ptr<HierarchyDistances> make_hierarchy_rows(const RowProblem<Number>& problem, bool floating) {
  if (floating) return std::make_unique<HierarchyRows<Number, double>>(problem);
  return std::make_unique<HierarchyRows<Number, int32_t>>(problem);
}
template std::unique_ptr<HierarchyDistances> make_hierarchy_rows(const RowProblem<float>&, bool);
template std::unique_ptr<HierarchyDistances> make_hierarchy_rows(const RowProblem<double>&, bool);

int64_t reciprocal_lanes(bool single) {
  return single ? HierarchyReciprocals<float>::lanes : HierarchyReciprocals<double>::lanes;
}
int64_t row_lanes(bool single) {
  return single ? HierarchyRows<float, double>::lanes : HierarchyRows<double, double>::lanes;
}

std::unique_ptr<TinySearch> make_tiny_hops(const TinyProblem& problem) { return std::make_unique<TinyLanes>(problem); }

std::unique_ptr<FlowStep> make_flow_step(const FlowProblem& problem) { return flow_step(problem); }

}  // namespace torchcent::TORCHCENT_ISA
