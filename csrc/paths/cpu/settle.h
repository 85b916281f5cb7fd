// Completes a vertex in all lanes of a mask, given the sum over its successors: computes its score, and the value that
// it passes up, which may replace sigma.
#pragma once

#include "paths/cpu/gather.h"
#include "paths/betweenness.h"

namespace torchcent::TORCHCENT_ISA {

// Path counts above this limit move to the next rung. It leaves room for reciprocals and products.
template <class T>
constexpr T kCountLimit = sizeof(T) == 4 ? T(0x1p100) : T(0x1p960);

// gather(sums, weighted) adds up the rows of the successors; weighted is sigma times the weight of the sources, for
// edge scores. The shares multiply the weight of v as a target and that of paths through it. A source of these lanes
// passes nothing up. Returns false if the numbers overflow T. gather is a reference: a closure by value would be copied
// on the stack for each vertex, and reading what was just written in other sizes stalls the processor.
template <class T, class Visitor, class Gather>
inline bool settle(const PathProblem& problem, int64_t v, uint64_t lanes, bool is_source, const T* row, T* passed,
                   const T* source_weight, const T* own_weight, T target_share, T through_share, double* scores,
                   const Gather& gather) {
  const T target = target_share * (problem.plain ? T(1) : static_cast<T>(problem.target_weight[v]));
  const T through = through_share * (problem.plain ? T(0) : static_cast<T>(problem.through_weight[v]));
  const T* const weight = is_source ? own_weight : source_weight;
  const Row<T> sigma = Row<T>::masked_load(row, lanes);
  if (sigma.exceeds(kCountLimit<T>, lanes)) return false;
  Row<T> weighted = sigma;
  weighted *= Row<T>::masked_load(source_weight, lanes);
  RowSum<T> sums;
  gather(sums, weighted);
  const Row<T>& sum = sums.finish();
  typename Row<T>::Vector total{};
  for (int k = 0; k < Row<T>::registers; ++k) {
    const auto bits = Row<T>::submask(lanes, k);
    const auto share =
        is_source ? sum.part[k] : Visitor::score(sigma.part[k], sum.part[k], Row<T>::every_lane(through));
    total += Row<T>::masked(share * Row<T>::load(weight, k), bits);
  }
  if (is_source) {
    if constexpr (!Visitor::edges) scores[v] += Row<T>::total(total);
    return true;
  }
  Row<T> passed_up;
  for (int k = 0; k < Row<T>::registers; ++k) {
    const auto onward = Visitor::onward(problem.measure) ? sum.part[k] : typename Row<T>::Vector{};
    passed_up.part[k] = Visitor::passed_up(Row<T>::every_lane(target), sigma.part[k], onward);
  }
  if (problem.copies != nullptr) passed_up *= static_cast<T>(problem.copies[v]);
  passed_up.masked_store(passed, lanes);
  if constexpr (Visitor::edges) return true;
  const double score = Row<T>::total(total);
  scores[v] += score;
  return score <= double(kCountLimit<T>);
}

// The same for a vertex that is no source, has no successors and no through weight, so that its score is 0.
template <class T, class Visitor>
inline bool settle_leaf(const PathProblem& problem, int64_t v, uint64_t lanes, const T* row, T* passed,
                        T target_share) {
  const T target = target_share * (problem.plain ? T(1) : static_cast<T>(problem.target_weight[v]));
  const Row<T> sigma = Row<T>::masked_load(row, lanes);
  if (sigma.exceeds(kCountLimit<T>, lanes)) return false;
  Row<T> passed_up;
  for (int k = 0; k < Row<T>::registers; ++k)
    passed_up.part[k] = Visitor::passed_up(Row<T>::every_lane(target), sigma.part[k], typename Row<T>::Vector{});
  if (problem.copies != nullptr) passed_up *= static_cast<T>(problem.copies[v]);
  passed_up.masked_store(passed, lanes);
  return true;
}

}  // namespace torchcent::TORCHCENT_ISA
