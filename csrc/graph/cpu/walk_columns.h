// Columns of the powers of P, whose rows are those of a CSR divided by their sums: eight columns of a graph at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/control.h"
#include "core/cpu/view.h"

namespace torchcent {

constexpr int64_t kWalks = 8;      // columns that are multiplied together
constexpr int64_t kWalkWorth = 4;  // numbers are added faster than the entries of threads_for are searched

struct WalkGraph {
  Csr arcs;
  const double* weight;  // null: 1
  const double* strength;
  std::vector<double> share;  // 1 / strength, or 0
  int64_t steps;
  const int64_t* cancel;

  WalkGraph(Csr graph, const std::optional<torch::stable::Tensor>& weights, const torch::stable::Tensor& strengths,
            int64_t number, const Control& control)
      : arcs(graph),
        weight(weights ? weights->const_data_ptr<double>() : nullptr),
        strength(strengths.const_data_ptr<double>()),
        share(graph.num_nodes),
        steps(number),
        cancel(&control.cancel) {
    for (int64_t v = 0; v < graph.num_nodes; ++v) share[v] = strength[v] > 0 ? 1 / strength[v] : 0;
  }
};

// Consecutive sources of a graph [begin, end).
struct WalkBlock {
  int64_t begin, end, first, count;
};

// to = P from, of rows [begin, end) with kWalks columns.
template <bool kWeighted>
void walk_step(const WalkGraph& graph, const WalkBlock& block, const double* from, double* to) {
  for (int64_t u = block.begin; u < block.end; ++u) {
    double sum[kWalks] = {};
    for (int64_t slot = graph.arcs.rowptr[u]; slot < graph.arcs.rowptr[u + 1]; ++slot) {
      const double* const value = from + (graph.arcs.col[slot] - block.begin) * kWalks;
      const double weight = kWeighted ? graph.weight[slot] : 1;
      for (int64_t c = 0; c < kWalks; ++c) sum[c] += kWeighted ? weight * value[c] : value[c];
    }
    double* const row = to + (u - block.begin) * kWalks;
    for (int64_t c = 0; c < kWalks; ++c) row[c] = graph.share[u] * sum[c];
  }
}

}  // namespace torchcent
