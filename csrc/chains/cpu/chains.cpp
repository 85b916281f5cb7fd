// Betweenness of vertices and edges where chains are contracted.
#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "core/records.h"
#include "chains/chains.h"
#include "chains/finish.h"
#include "paths/cpu/path_batches.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// The contraction as the operator `chains` returns it.
struct Contraction {
  const Tensor &kept, &first, &inner, &ends, &along, &rowptr, &head, &arc;
};

// Sums over x_1 .. x_i of each chain, for i = 0 .. k.
template <class T>
std::vector<double> sums_along(const ChainGraph<T>& graph, const std::vector<double>& values) {
  std::vector<double> sums;
  sums.reserve(graph.inner + graph.with_inner);
  for (int64_t c = 0; c < graph.with_inner; ++c) {
    sums.push_back(0);
    for (int64_t i = graph.first[c]; i < graph.first[c + 1]; ++i) sums.push_back(sums.back() + values[i]);
  }
  return sums;
}

// The input of the kernels, and the memory that holds it.
template <class T>
struct Chained {
  ChainProblem<T> problem = {};

  Chained(const Contraction& given, const Tensor& source_weight, const Tensor& target_weight, bool by_hops)
      : vertex(given.kept.const_data_ptr<int64_t>()), inner(given.inner.const_data_ptr<int64_t>()) {
    ChainGraph<T>& graph = problem.graph;
    graph.kept = given.kept.numel();
    graph.inner = given.inner.numel();
    graph.chains = given.first.numel() - 1;
    graph.first = given.first.const_data_ptr<int64_t>();
    while (graph.with_inner < graph.chains && graph.count(graph.with_inner) > 0) ++graph.with_inner;
    graph.ends = given.ends.const_data_ptr<int32_t>();
    graph.along = given.along.const_data_ptr<T>();
    graph.by_hops = by_hops;
    const int64_t* const arc = given.arc.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < given.arc.numel(); ++i) length.push_back(graph.length(arc[i] / 2));
    graph.arcs = {given.rowptr.const_data_ptr<int64_t>(), given.head.const_data_ptr<int32_t>(), length.data(), arc};
    for (int64_t c = 0; c < graph.chains; ++c) {
      const T all = graph.length(c);
      graph.lightest = c == 0 ? all : std::min(graph.lightest, all);
      graph.heaviest = c == 0 ? all : std::max(graph.heaviest, all);
    }
    for (int64_t c = 0; c < graph.with_inner; ++c)
      records.push_back({{graph.ends[2 * c], graph.ends[2 * c + 1]},
                         static_cast<int32_t>(graph.count(c)),
                         graph.length(c),
                         graph.first[c]});
    problem.record = records.data();
    weigh(source_weight.const_data_ptr<double>(), target_weight.const_data_ptr<double>());
    find_components();
  }

  // What one sweep per kept vertex needs, in batches of `ball` of them.
  void put_together(int64_t ball) {
    const ChainGraph<T>& graph = problem.graph;
    problem.together = true;
    at_begin.assign(graph.kept + 1, 0);
    const auto each = [&](auto visit) {
      for (int64_t end = 0; end < 2 * graph.with_inner; ++end) {
        const int64_t c = end / 2, last = graph.first[c] + c + graph.count(c);
        if (sum_source[last] > 0) visit(graph.ends[end], end);
      }
    };
    each([&](int32_t v, int64_t) { ++at_begin[v + 1]; });
    problem.most_at = *std::max_element(at_begin.begin(), at_begin.end());
    std::partial_sum(at_begin.begin(), at_begin.end(), at_begin.begin());
    at.resize(at_begin[graph.kept]);
    std::vector<int64_t> fill(at_begin.begin(), at_begin.end() - 1);
    each([&](int32_t v, int64_t end) { at[fill[v]++] = end; });
    std::vector<int64_t> batch_of(graph.kept, -1);
    for (int64_t begin = 0; begin < graph.kept; begin += ball) {
      int64_t rows = 0;
      const auto need = [&](int64_t v) { rows += std::exchange(batch_of[v], begin) != begin; };
      for (int64_t v = begin; v < std::min(graph.kept, begin + ball); ++v) {
        if (kept_source[v] > 0 || at_begin[v] < at_begin[v + 1]) need(v);
        for (int64_t i = at_begin[v]; i < at_begin[v + 1]; ++i) need(graph.ends[at[i] ^ 1]);
      }
      problem.most_rows = std::max(problem.most_rows, rows);
    }
    problem.at_begin = at_begin.data();
    problem.at = at.data();
  }

  // What a search per source needs.
  void search_alone(int64_t num_nodes) {
    const ChainGraph<T>& graph = problem.graph;
    where.resize(num_nodes);
    chain_of.resize(graph.inner);
    for (int64_t v = 0; v < graph.kept; ++v) where[vertex[v]] = v;
    for (int64_t i = 0; i < graph.inner; ++i) where[inner[i]] = -1 - i;
    for (int64_t c = 0; c < graph.with_inner; ++c)
      std::fill(chain_of.begin() + graph.first[c], chain_of.begin() + graph.first[c + 1], static_cast<int32_t>(c));
    problem.where = where.data();
    problem.chain_of = chain_of.data();
  }

  // Adds the sums of all searches to the scores of vertices, or to those of slots.
  void finish(double* row, double* scores, const int64_t* slots) const {
    const ChainGraph<T>& graph = problem.graph;
    const ChainLayout<T> layout(graph);
    if (slots == nullptr)
      for (int64_t v = 0; v < graph.kept; ++v) scores[vertex[v]] += row[v];
    const int64_t* const forward = slots;
    const int64_t* const back = slots == nullptr ? nullptr : slots + graph.inner + graph.chains;
    for (int64_t c = 0; c < graph.chains; ++c) {
      const double* const pass = row + layout.pass + 2 * c;
      const int64_t step = graph.first[c] + c;
      if (c < graph.with_inner) {
        finish_chain(c, row, pass, scores, forward, back);
      } else if (slots != nullptr) {
        scores[forward[step]] += pass[0];
        scores[back[step]] += pass[1];
      }
    }
  }

 private:
  // begin: IF, IB, FF, FB, BL, BR. The last two are added to the others first.
  void finish_chain(int64_t c, double* row, const double* pass, double* scores, const int64_t* forward,
                    const int64_t* back) const {
    const ChainGraph<T>& graph = problem.graph;
    const ChainLayout<T> layout(graph);
    const int64_t place = ChainLayout<T>::place(graph, c);
    const double* const meet = row + layout.meet + 2 * place;
    const double* const tied = row + layout.tied + 2 * place;
    double* const begin = row + layout.begin + 6 * place;
    const int64_t k = graph.count(c), first = graph.first[c], step = first + c;
    const double* const source = inner_source.data() + first - 1;
    const double* const target = inner_target.data() + first - 1;
    double running = 0;
    for (int64_t h = k; h > 0; --h) {
      running += begin[6 * h + 4];
      begin[6 * h + 3] += source[h] * running;
    }
    running = 0;
    for (int64_t h = 1; h <= k; ++h) {
      running += begin[6 * h + 5];
      begin[6 * h + 2] += source[h] * running;
    }
    const bool slots = forward != nullptr;
    torchcent::finish_chain(
        {k, pass[0], pass[1], meet, tied, begin, 6, target},
        {scores, slots ? nullptr : inner + first - 1, slots ? forward + step : nullptr, slots ? back + step : nullptr});
  }

  void weigh(const double* source, const double* target) {
    const ChainGraph<T>& graph = problem.graph;
    const auto gather = [](const int64_t* at, int64_t count, const double* values) {
      std::vector<double> found(count);
      for (int64_t i = 0; i < count; ++i) found[i] = values[at[i]];
      return found;
    };
    kept_source = gather(vertex, graph.kept, source);
    kept_target = gather(vertex, graph.kept, target);
    inner_source = gather(inner, graph.inner, source);
    inner_target = gather(inner, graph.inner, target);
    sum_source = sums_along(graph, inner_source);
    sum_target = sums_along(graph, inner_target);
    problem.weights = {kept_source.data(),  kept_target.data(), inner_source.data(),
                       inner_target.data(), sum_source.data(),  sum_target.data()};
  }

  // A vertex without an arc to one before it is the first of a component: see the order of `chains`.
  void find_components() {
    const ChainGraph<T>& graph = problem.graph;
    component_begin.resize(graph.kept);
    component_end.resize(graph.kept);
    chains_before.assign(graph.kept + 1, 0);
    for (int64_t c = 0; c < graph.with_inner; ++c) ++chains_before[graph.ends[2 * c] + 1];
    std::partial_sum(chains_before.begin(), chains_before.end(), chains_before.begin());
    for (int32_t v = 0; v < graph.kept; ++v) {
      const int32_t* const begin = graph.arcs.vertex + graph.arcs.ptr[v];
      const bool starts = std::all_of(begin, begin + graph.arcs.degree(v), [v](int32_t u) { return u > v; });
      component_begin[v] = starts ? v : component_begin[v - 1];
    }
    ChainComponents& all = problem.components;
    for (int64_t v = graph.kept - 1; v >= 0; --v) {
      const bool ends = v + 1 == graph.kept || component_begin[v + 1] != component_begin[v];
      component_end[v] = ends ? static_cast<int32_t>(v + 1) : component_end[v + 1];
    }
    for (int64_t v = 0; v < graph.kept; v = component_end[v]) {
      const int64_t end = component_end[v];
      all.most_kept = std::max<int64_t>(all.most_kept, end - v);
      all.most_chains = std::max(all.most_chains, chains_before[end] - chains_before[v]);
      all.most_arcs = std::max(all.most_arcs, (graph.arcs.ptr[end] - graph.arcs.ptr[v]) / 2);
    }
    all.begin = component_begin.data();
    all.end = component_end.data();
    all.chains = chains_before.data();
  }

  const int64_t *vertex, *inner;
  std::vector<T> length;
  std::vector<ChainRecord<T>> records;
  std::vector<double> kept_source, kept_target, inner_source, inner_target, sum_source, sum_target;
  std::vector<int32_t> component_begin, component_end, chain_of;
  std::vector<int64_t> chains_before, at_begin, at, where;
};

// Sources per sum, for searches from one source at a time.
int64_t batch_of_sources(int64_t count) { return std::clamp<int64_t>(count / 64, 1, 256); }

template <class T>
Tensor dependency(const Contraction& contraction, const int64_t* slots, const Tensor& sources,
                  const Tensor& source_weight, const Tensor& target_weight, Tensor& scores, Tensor& control,
                  bool by_hops, bool together, int64_t ball, int64_t rung, int64_t threads) {
  Chained<T> chained(contraction, source_weight, target_weight, by_hops);
  ChainProblem<T>& problem = chained.problem;
  problem.cancel = &control_of(control).cancel;
  if (together) chained.put_together(ball);
  else chained.search_alone(source_weight.numel());

  const int64_t count = together ? problem.graph.kept : sources.numel();
  Tensor from = empty(contraction.kept, count, torch::headeronly::ScalarType::Long);
  Tensor weight = empty(contraction.kept, count, torch::headeronly::ScalarType::Double);
  int64_t* const source = from.mutable_data_ptr<int64_t>();
  double* const of_source = weight.mutable_data_ptr<double>();
  for (int64_t i = 0; i < count; ++i) {
    source[i] = together ? i : sources.const_data_ptr<int64_t>()[i];
    of_source[i] = together ? 0 : source_weight.const_data_ptr<double>()[source[i]];
  }
  const int64_t total = ChainLayout<T>(problem.graph).total;
  Tensor row = empty(contraction.kept, total, torch::headeronly::ScalarType::Double);
  std::fill_n(row.mutable_data_ptr<double>(), total, 0.0);
  const PathWeights weights = {weight, weight, target_weight, target_weight};
  const Tensor reached = run_batches(from, weights, row, control, together ? ball : batch_of_sources(count),
                                     std::max<int64_t>(rung, static_cast<int64_t>(Rung::float64)), threads,
                                     [&](Rung r) { return TORCHCENT_CALL_SCALAR(make_chains(problem, r)); });
  chained.finish(row.mutable_data_ptr<double>(), scores.mutable_data_ptr<double>(), slots);
  return reached;
}

}  // namespace

Tensor chain_dependency(const std::vector<Tensor>& chains, const std::optional<Tensor>& slots, const Tensor& sources,
                        const Tensor& source_weight, const Tensor& target_weight, Tensor& scores, Tensor& control,
                        bool by_hops, bool together, int64_t ball, int64_t rung, int64_t threads) {
  const Contraction contraction = record<Contraction, 8>(chains);
  const int64_t* const of_steps = slots.has_value() ? slots->const_data_ptr<int64_t>() : nullptr;
  const auto run = contraction.along.element_size() == 4 ? dependency<int32_t> : dependency<double>;
  return run(contraction, of_steps, sources, source_weight, target_weight, scores, control, by_hops, together, ball,
             rung, threads);
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Path counting where chains are contracted: betweenness, or with slots that of edges. chains: the results of the
  // operator of that name but slots. Source and target weights are those of all vertices of the graph. together: one
  // sweep per kept vertex, in batches of `ball`, for all sources. CUDA has searches from one source at a time only, and
  // needs `loops`.
  m.def(
      "chain_dependency(Tensor[] chains, Tensor? slots, Tensor sources, Tensor source_weight, Tensor target_weight, "
      "Tensor(a!) scores, Tensor(b!) control, bool by_hops, bool together, int ball, int rung, int threads) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("chain_dependency", TORCH_BOX(&chain_dependency)); }

}  // namespace torchcent
