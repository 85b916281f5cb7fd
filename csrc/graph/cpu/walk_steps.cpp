// PageRank and sums of walks of a small graph by itself, whose steps take less time than calls of operators. A step is
// that of torchcent/walks, with the same sums of rows.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

#include "core/cpu/view.h"
#include "graph/cpu/row_sums.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

const double* numbers_of(const std::optional<Tensor>& values) {
  return values ? values->const_data_ptr<double>() : nullptr;
}

// The vector that iterations have reached, and how many there were; -1 if they ended too soon.
std::tuple<Tensor, Tensor> result_of(const std::vector<double>& x, int64_t steps, const Tensor& like) {
  Tensor scores = empty(like, static_cast<int64_t>(x.size()), ScalarType::Double);
  Tensor number = empty(like, 1, ScalarType::Long);
  std::copy(x.begin(), x.end(), scores.mutable_data_ptr<double>());
  *number.mutable_data_ptr<int64_t>() = steps;
  return {scores, number};
}

}  // namespace

// See the schema.
std::tuple<Tensor, Tensor> restarting_walk(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight,
                                           const Tensor& share, std::optional<Tensor> dangling, const Tensor& restart,
                                           const Tensor& jump, const Tensor& start, double alpha, double enough,
                                           int64_t most) {
  const int64_t n = rowptr.numel() - 1, whole[] = {0, n};
  const double* const per_arc = share.const_data_ptr<double>();
  const double* const stays = numbers_of(dangling);
  const double* const again = restart.const_data_ptr<double>();
  const double* const onward = jump.const_data_ptr<double>();
  const double* const first = start.const_data_ptr<double>();
  std::vector<double> x(first, first + n), flow(n), next(n);
  const RowTerms rows = {rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>(), numbers_of(weight),
                         flow.data(), 1};
  const auto total = [&](const std::vector<double>& values) {
    double sum = 0;
    reduce_rows<AddUp>({whole, nullptr, nullptr, values.data(), 1}, 1, 1, &sum);
    return sum;
  };
  int64_t steps = 0;
  for (bool moves = true; moves && steps < most; ++steps) {
    double mass = 0;
    if (stays) {
      for (int64_t v = 0; v < n; ++v) flow[v] = x[v] * stays[v];
      mass = total(flow);
    }
    for (int64_t v = 0; v < n; ++v) flow[v] = x[v] * per_arc[v];
    reduce_rows<AddUp>(rows, n, 1, next.data());
    for (int64_t v = 0; v < n; ++v) {
      // In statements of their own, products and sums are not fused: batches have the same bits.
      const double jumps = mass * onward[v], restarts = (1 - alpha) * again[v];
      const double moved = (next[v] + jumps) * alpha;
      next[v] = moved + restarts;
      flow[v] = std::abs(next[v] - x[v]);
    }
    x.swap(next);
    moves = total(flow) > enough;
  }
  return result_of(x, steps, start);
}

// See the schema.
std::tuple<Tensor, Tensor> sum_of_walks(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight,
                                        const Tensor& start, double factor, double enough, int64_t most, int64_t late) {
  const int64_t n = start.size(0), width = start.size(1);
  const double* const first = start.const_data_ptr<double>();
  std::vector<double> x(n), term(first, first + n * width), next(n * width);
  for (int64_t v = 0; v < n; ++v) x[v] = term[v * width];
  for (int64_t step = 0; step <= most; ++step) {
    double norm = 0;
    for (int64_t v = 0; v < n; ++v) norm = std::max(norm, term[v * width + width - 1]);
    if (norm <= enough) return result_of(x, step, start);
    if (!(norm < (step < late ? 1e150 : 1))) break;
    const RowTerms rows = {rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>(), numbers_of(weight),
                           term.data(), width};
    reduce_rows<AddUp>(rows, n, 1, next.data());
    for (double& value : next) value *= factor;
    for (int64_t v = 0; v < n; ++v) x[v] += next[v * width];
    term.swap(next);
  }
  return result_of(x, -1, start);
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // PageRank from `start`, float64 [n], on one thread: steps over arcs of share[u] each, and by jump from `dangling`,
  // with probability alpha, else by restart. It ends when a step changes the vector by at most `enough`, or after
  // `most` steps; these are the second result, int64 [1].
  m.def(
      "restarting_walk(Tensor rowptr, Tensor col, Tensor? weight, Tensor share, Tensor? dangling, Tensor restart, "
      "Tensor jump, Tensor start, float alpha, float enough, int most) -> (Tensor scores, Tensor steps)");
  // The sum of M^k start over all k, M = factor A, of the first column of start [n, 1] or [n, 2], on one thread, and
  // the number of steps, int64 [1]. It ends when no entry of the last column is above `enough`. -1 if there are more
  // than `most` steps, or entries are not below 1 after `late` of them.
  m.def(
      "sum_of_walks(Tensor rowptr, Tensor col, Tensor? weight, Tensor start, float factor, float enough, int most, "
      "int late) -> (Tensor scores, Tensor steps)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("restarting_walk", TORCH_BOX(&restarting_walk));
  m.impl("sum_of_walks", TORCH_BOX(&sum_of_walks));
}

}  // namespace torchcent
