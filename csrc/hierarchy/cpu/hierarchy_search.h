// Searches of a hierarchy: each batch of sources is a sweep.
#pragma once

#include "hierarchy/cpu/cell_ascent.h"
#include "hierarchy/cpu/cell_door.h"
#include "hierarchy/cpu/cell_numbers.h"
#include "hierarchy/cpu/cell_rows.h"
#include "hierarchy/cpu/row_sweep.h"

namespace torchcent::TORCHCENT_ISA {

template <class Number, Added added>
class HierarchySearch : public Search {
 public:
  explicit HierarchySearch(const HierarchyProblem<Number>& problem)
      : problem_(problem),
        sources_(problem_.hierarchy, problem_.position, problem_.sequence, problem_.split, problem_.lanes),
        climbs_(problem_, sources_),
        sweep_(problem_, sources_, climbs_) {}

  Status run(const PathBatch& batch) override {
    double* const flow = batch.scores;
    double* const inside = flow + problem_.hierarchy.arcs_down();
    double* const upwards = problem_.directions ? inside + problem_.hierarchy.size : flow;
    sources_.start(batch.sources, batch.source_weight, batch.count);
    while (sources_.next()) {
      climbs_.begin();
      const bool fits = sweep_.run(flow, inside);
      if (cancelled(problem_.cancel)) return Status::cancelled;
      if (!fits) return Status::overflow;
      climbs_.finish(upwards, inside);
    }
    return Status::done;
  }

 private:
  const HierarchyProblem<Number> problem_;
  SourceBatches sources_;
  Climbs<Number, true> climbs_;
  CellSweep<Number, added> sweep_;
};

template <class Number>
class HierarchyDistanceSearch : public HierarchyDistances {
 public:
  explicit HierarchyDistanceSearch(const HierarchyProblem<Number>& problem)
      : problem_(problem),
        sources_(problem_.hierarchy, problem_.position, problem_.sequence, problem_.split, problem_.lanes),
        climbs_(problem_, sources_),
        sweep_(problem_, sources_, climbs_) {}

  bool run(const int64_t* sources, int64_t count, const HierarchyResults& results) override {
    sources_.start(sources, nullptr, count);
    while (sources_.next()) {
      climbs_.begin();
      sweep_.run(nullptr, nullptr);
      if (cancelled(problem_.cancel)) return false;
      for (int i = 0; i < sources_.count; ++i) {
        const double own = problem_.target[problem_.cells.place[sources_.position[i]]];
        results.sum[sources_.index[i]] = sweep_.sums()[i];
        if (problem_.reciprocals) results.reciprocals[sources_.index[i]] = sweep_.reciprocals()[i];
        results.reached[sources_.index[i]] = sweep_.reached() - own;
        results.farthest[sources_.index[i]] = sweep_.farthest()[i];
      }
    }
    return true;
  }

 private:
  const HierarchyProblem<Number> problem_;
  SourceBatches sources_;
  Climbs<Number, false> climbs_;
  CellSweep<Number, Added::distances> sweep_;
};

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

}  // namespace torchcent::TORCHCENT_ISA
