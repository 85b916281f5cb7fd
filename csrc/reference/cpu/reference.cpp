// The engine "reference", with which the others are compared: measures of paths and sums of distances, a source at a
// time, in the order of U. Brandes, "A faster algorithm for betweenness centrality" (2001): paths from s, their number,
// dependencies. All numbers are float64. Weights are in units of Graph.scale, rounded or not (docs/weights.md).
#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <vector>

#include "core/control.h"
#include "core/cpu/simd_level.h"
#include "core/cpu/view.h"

namespace torchcent::reference {

using torch::stable::Tensor;

// The shortest paths from one source s.
struct ShortestPaths {
  Csr graph;             // the arcs out of v have the slots rowptr[v], ..., rowptr[v + 1] - 1 and the heads col[slot]
  const double* weight;  // [slots] the lengths of arcs; null: 1, so that distances are hops
  double tolerance;      // a path of d (1 + tolerance) or less counts as one of the length d
  std::vector<double> distance = std::vector<double>(graph.num_nodes);  // d(s, v), infinite if s does not reach v
  std::vector<double> sigma = std::vector<double>(graph.num_nodes);     // the number of shortest paths from s to v
  std::vector<int32_t> order = {};                                      // what s reaches, s first, the farthest last

  void search(int32_t s) {
    std::fill(distance.begin(), distance.end(), INFINITY);
    distance[s] = 0;
    order = {s};
    weight == nullptr ? breadth_first() : dijkstra(s);
  }

  // Algorithm 1, with one list for its queue and its stack.
  void breadth_first() {
    for (size_t next = 0; next < order.size(); ++next)
      for_arcs(order[next], [&](int32_t w, int64_t, double length) {
        if (distance[w] == INFINITY) order.push_back(w);
        distance[w] = std::min(distance[w], length);
      });
  }

  // The same for weights (section 4). A vertex is in the queue with each distance that it has had.
  void dijkstra(int32_t s) {
    std::priority_queue<std::pair<double, int32_t>, std::vector<std::pair<double, int32_t>>, std::greater<>> queue;
    for (queue.emplace(0, s); !queue.empty();) {
      const auto [d, v] = queue.top();
      queue.pop();
      if (d > distance[v]) continue;
      if (v != s) order.push_back(v);
      for_arcs(v, [&](int32_t w, int64_t, double length) {
        if (length < distance[w]) queue.emplace(distance[w] = length, w);
      });
    }
  }

  // Lemma 3: the sum over predecessors, the nearest first. unit: their number.
  void count(bool unit) {
    std::fill(sigma.begin(), sigma.end(), 0.0);
    sigma[order[0]] = 1;
    for (const int32_t v : order)
      for_arcs(v, [&](int32_t w, int64_t, double d) { sigma[w] += precedes(v, w, d) ? (unit ? 1 : sigma[v]) : 0; });
    if (!std::all_of(sigma.begin(), sigma.end(), [](double paths) { return std::isfinite(paths); }))
      throw std::overflow_error("engine='reference' counts paths in float64, and here are too many; take another one");
  }

  // Calls visit(w, slot, length) for the arcs (v, w), with the length of a shortest path to v and this arc.
  void for_arcs(int32_t v, auto visit) const {
    for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot)
      visit(graph.col[slot], slot, distance[v] + (weight == nullptr ? 1 : weight[slot]));
  }

  // Whether v is in P_s(w), the predecessors of w on shortest paths, by an arc that makes a path of this length.
  bool precedes(int32_t v, int32_t w, double length) const {
    return distance[v] < distance[w] && length <= distance[w] * (1 + tolerance);
  }
};

// Calls visit(i, s, k, limit) after a search from each source s, number i, for each limit, number k.
void for_sources(ShortestPaths& paths, const Tensor& sources, const Tensor& limits, Control& control, auto visit) {
  for (int64_t i = 0; i < sources.numel() && !cancelled(&control.cancel); ++i) {
    const int32_t s = static_cast<int32_t>(sources.const_data_ptr<int64_t>()[i]);
    paths.search(s);
    for (int64_t k = 0; k < limits.numel(); ++k) visit(i, s, k, limits.const_data_ptr<double>()[k]);
    finish(control, 1);
  }
}

const double* numbers(const Tensor& tensor) { return tensor.numel() ? tensor.const_data_ptr<double>() : nullptr; }

// Theorem 6, farthest vertices first, for pairs (s, t) that count a_s b_t and, at their ends, c_s b_t and a_s h_t
// (docs/betweenness.md): an arc (v, w) on shortest paths has the share sigma_v / sigma_w (b_w + delta_w), and delta_v
// is the sum of those out of v. Stress does not divide, load by the predecessors. A limit has scores of the t within.
void dependency(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& sources,
                const Tensor& of_source, const Tensor& own, const Tensor& of_target, const Tensor& through,
                Tensor& scores, Tensor& control, const Tensor& limits, int64_t measure, double tolerance) {
  const double *a = numbers(of_source), *c = numbers(own), *b = numbers(of_target), *h = numbers(through);
  const Measure kind{measure};
  const bool edges = kind == Measure::edge_betweenness, stress = kind == Measure::stress, load = kind == Measure::load;
  ShortestPaths paths = {view(rowptr, col), numbers(weight), tolerance};
  std::vector<double> delta(paths.graph.num_nodes);  // of s on v
  for_sources(paths, sources, limits, control_of(control), [&](int64_t i, int32_t s, int64_t k, double limit) {
    if (k == 0) paths.count(load);
    double* score = scores.mutable_data_ptr<double>() + k * (scores.numel() / limits.numel());  // [n] or [slots]
    for (auto next = paths.order.rbegin(); next != paths.order.rend(); ++next) {
      const int32_t v = *next;
      delta[v] = 0;
      paths.for_arcs(v, [&](int32_t w, int64_t slot, double length) {
        if (!paths.precedes(v, w, length)) return;
        const double ends = (paths.distance[w] <= limit ? b[w] : 0) + delta[w];
        const double share = stress ? ends : (load ? 1 : paths.sigma[v]) / paths.sigma[w] * ends;
        delta[v] += share;
        if (edges) score[slot] += a[i] * share;
      });
      if (edges || paths.distance[v] > limit) continue;
      score[v] += v == s ? c[i] * delta[v] : a[i] * (stress ? paths.sigma[v] : 1) * (delta[v] + h[v]);
    }
  });
}

// Sums of d, 1 / d and 1 (columns 0, 1, 3) over d = d(s, v), and the largest d, within each limit: of each s or each v.
void sums(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& sources, Tensor& sums,
          Tensor& farthest, Tensor& control, const Tensor& limits, bool of_sources) {
  double *sum = sums.mutable_data_ptr<double>(), *longest = farthest.mutable_data_ptr<double>();
  ShortestPaths paths = {view(rowptr, col), numbers(weight), 0};
  for_sources(paths, sources, limits, control_of(control), [&](int64_t i, int32_t s, int64_t k, double limit) {
    for (const int32_t v : paths.order) {
      const int64_t row = (of_sources ? i : v) * limits.numel() + k, at = 4 * row;
      const double d = paths.distance[v];
      if (v == s || d > limit) continue;
      sum[at] += d, sum[at + 1] += 1 / d, sum[at + 3] += 1, longest[row] = std::max(longest[row], d);
    }
  });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  m.def(
      "reference_dependency(Tensor rowptr, Tensor col, Tensor weight, Tensor sources, Tensor a, Tensor c, Tensor b, "
      "Tensor h, Tensor(a!) scores, Tensor(b!) control, Tensor limits, int measure, float tolerance) -> ()");
  m.def(
      "reference_sums(Tensor rowptr, Tensor col, Tensor weight, Tensor sources, Tensor(a!) sums, Tensor(b!) farthest, "
      "Tensor(c!) control, Tensor limits, bool of_sources) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("reference_dependency", TORCH_BOX(&dependency)).impl("reference_sums", TORCH_BOX(&sums));
}

}  // namespace torchcent::reference
