// Stochastic discrete Ricci flow (Topping et al. 2022, algorithm 1): edges are added around the edge of least balanced
// Forman curvature, and those of large curvature are removed. After a change only the curvature of edges near it is
// computed again. Each graph of a batch is a task.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/control.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "curvature/cycles.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// A graph whose edges change, with the curvature of each in both of its rows.
class Rewired {
 public:
  Rewired(const Csr& graph, int64_t first, int64_t last)
      : heads_(last - first), curvature_(last - first), counter_(last - first) {
    for (int64_t v = first; v < last; ++v)
      for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot)
        heads_[v - first].push_back(static_cast<int32_t>(graph.col[slot] - first));
    for (int32_t v = 0; v < last - first; ++v) curvature_[v].resize(heads_[v].size());
    for (int32_t v = 0; v < last - first; ++v)
      for (const int32_t u : heads_[v])
        if (u > v) renew(v, u);
  }

  int64_t degree(int32_t v) const { return static_cast<int64_t>(heads_[v].size()); }
  const int32_t* begin(int32_t v) const { return heads_[v].data(); }
  const int32_t* end(int32_t v) const { return heads_[v].data() + heads_[v].size(); }

  // One step with a random number in [0, 1); false if nothing has changed.
  bool step(double draw, double tau, bool removes, double bound) {
    bool changed = false;
    if (const auto [i, j] = extreme(-1); i >= 0) changed = add_near(i, j, draw, tau);
    if (!removes) return changed;
    const auto [i, j] = extreme(1);
    if (i < 0 || curvature_[i][place(i, j)] <= bound) return changed;
    erase(i, j);
    renew_near(i, j);
    return true;
  }

 private:
  bool adjacent(int32_t u, int32_t v) const { return std::binary_search(begin(u), end(u), v); }
  size_t place(int32_t u, int32_t v) const { return std::lower_bound(begin(u), end(u), v) - begin(u); }
  double curvature(int32_t i, int32_t j) { return balanced_forman(degree(i), degree(j), counter_(*this, i, j)); }
  void renew(int32_t i, int32_t j) { curvature_[i][place(i, j)] = curvature_[j][place(j, i)] = curvature(i, j); }

  void insert(int32_t u, int32_t v) {
    for (const auto& [from, to] : {std::pair{u, v}, std::pair{v, u}}) {
      const auto at = static_cast<int64_t>(place(from, to));
      heads_[from].insert(heads_[from].begin() + at, to);
      curvature_[from].insert(curvature_[from].begin() + at, 0.0);
    }
  }

  void erase(int32_t u, int32_t v) {
    for (const auto& [from, to] : {std::pair{u, v}, std::pair{v, u}}) {
      const auto at = static_cast<int64_t>(place(from, to));
      heads_[from].erase(heads_[from].begin() + at);
      curvature_[from].erase(curvature_[from].begin() + at);
    }
  }

  // The edge of least (sign -1) or largest curvature, the first of several; -1 without edges.
  std::pair<int32_t, int32_t> extreme(int sign) const {
    std::pair<int32_t, int32_t> found = {-1, -1};
    double best = -INFINITY;
    for (int32_t u = 0; u < static_cast<int32_t>(heads_.size()); ++u)
      for (size_t at = 0; at < heads_[u].size(); ++at)
        if (heads_[u][at] > u && sign * curvature_[u][at] > best)
          best = sign * curvature_[u][at], found = {u, heads_[u][at]};
    return found;
  }

  // Curvature depends on the degrees of the ends and on the edges among their neighbours.
  void renew_near(int32_t k, int32_t l) {
    for (const int32_t end : {k, l})
      for (const int32_t other : heads_[end]) renew(end, other);
    for (const int32_t a : heads_[k])
      for (const int32_t b : heads_[l])
        if (a != b && adjacent(a, b)) renew(a, b);
  }

  // The most cycles of a neighbour of one end alone, how many have as many, and the most of the others.
  struct Tops {
    int64_t most = 0, count = 0, second = 0;
  };

  Tops tops(int32_t end, uint8_t side) const {
    Tops found;
    for (const int32_t v : heads_[end]) {
      if (counter_.side(v) != side) continue;
      const int64_t cycles = counter_.cycles(v);
      if (cycles > found.most) found = {cycles, 1, found.most};
      else if (cycles == found.most) ++found.count;
      else found.second = std::max(found.second, cycles);
    }
    return found;
  }

  // The cycles at an edge if v, a neighbour of one end alone, becomes one of both: it is in a triangle and on no
  // 4-cycle.
  EdgeCycles closed(const EdgeCycles& now, int32_t v, const Tops& own, const Tops& other, uint8_t other_side) const {
    int64_t lost = 0, tops = 0;
    for (const int32_t w : heads_[v]) {
      if (counter_.side(w) != other_side) continue;
      lost += counter_.cycles(w) == 1;
      tops += counter_.cycles(w) == other.most;
    }
    const int64_t cycles = counter_.cycles(v);
    const int64_t most_own = cycles == own.most && own.count == 1 ? own.second : own.most;
    const int64_t most_other = other.most > 0 && tops == other.count ? other.most - 1 : other.most;
    return {now.triangles + 1, now.around - (cycles > 0) - lost, std::max(most_own, most_other)};
  }

  bool add_near(int32_t i, int32_t j, double draw, double tau) {
    candidates_.clear(), improvement_.clear();
    const EdgeCycles now = counter_.count(*this, i, j);
    const double before = balanced_forman(degree(i), degree(j), now);
    const auto ball = [&](int32_t v) {
      std::vector<int32_t> members(heads_[v]);
      members.insert(std::lower_bound(members.begin(), members.end(), v), v);
      return members;
    };
    const std::vector<int32_t> ball_i = ball(i), ball_j = ball(j);
    const Tops tops_i = tops(i, CycleCounter::kOfI), tops_j = tops(j, CycleCounter::kOfJ);
    for (const int32_t k : ball_i)
      for (const int32_t l : ball_j) {
        if (k == l || adjacent(k, l)) continue;
        candidates_.emplace_back(k, l);
        double after = before;
        if (k == i) {
          after = balanced_forman(degree(i) + 1, degree(j), closed(now, l, tops_j, tops_i, CycleCounter::kOfI));
        } else if (l == j) {
          after = balanced_forman(degree(i), degree(j) + 1, closed(now, k, tops_i, tops_j, CycleCounter::kOfJ));
        } else if (counter_.side(k) == CycleCounter::kOfI && counter_.side(l) == CycleCounter::kOfJ) {
          EdgeCycles more = now;
          for (const int32_t end : {k, l}) {
            more.around += counter_.cycles(end) == 0;
            more.most = std::max(more.most, counter_.cycles(end) + 1);
          }
          after = balanced_forman(degree(i), degree(j), more);
        }
        improvement_.push_back(after - before);
      }
    counter_.clear(*this, i, j);
    if (candidates_.empty()) return false;
    const auto [k, l] = candidates_[chosen(draw, tau)];
    insert(k, l);
    renew_near(k, l);
    return true;
  }

  // By the softmax of tau times the improvements.
  size_t chosen(double draw, double tau) {
    const double largest = *std::max_element(improvement_.begin(), improvement_.end());
    double total = 0;
    for (double& weight : improvement_) total += weight = std::exp(tau * (weight - largest));
    double sum = 0;
    for (size_t c = 0; c < improvement_.size(); ++c)
      if ((sum += improvement_[c]) > draw * total) return c;
    return improvement_.size() - 1;
  }

  std::vector<std::vector<int32_t>> heads_;
  std::vector<std::vector<double>> curvature_;
  CycleCounter counter_;
  std::vector<std::pair<int32_t, int32_t>> candidates_;
  std::vector<double> improvement_;
};

}  // namespace

Tensor rewired(const Tensor& rowptr, const Tensor& col, const Tensor& ptr, const Tensor& draws, double tau,
               bool removes, double bound, Tensor& control, int64_t threads) {
  const Csr graph = view(rowptr, col);
  const int64_t graphs = ptr.numel() - 1, steps = draws.size(1);
  const int64_t* const first = ptr.const_data_ptr<int64_t>();
  const double* const draw = draws.const_data_ptr<double>();
  Control& shared = control_of(control);
  std::vector<std::vector<int32_t>> edges(graphs);  // pairs of vertices of the union
  std::atomic<int64_t> next = 0;
  const auto work = [&] {
    for (int64_t g; (g = next++) < graphs;) {
      Rewired own(graph, first[g], first[g + 1]);
      for (int64_t step = 0; step < steps; ++step) {
        if (__atomic_load_n(&shared.cancel, __ATOMIC_RELAXED) != 0) return;
        if (!own.step(draw[g * steps + step], tau, removes, bound)) break;
      }
      const auto base = static_cast<int32_t>(first[g]);
      for (int32_t v = 0; v < first[g + 1] - first[g]; ++v)
        for (const int32_t* u = own.begin(v); u < own.end(v); ++u)
          edges[g].push_back(base + v), edges[g].push_back(base + *u);
      finish(shared, 1);
    }
  };
  in_threads(static_cast<int>(std::max<int64_t>(1, std::min(threads, graphs))), work, [&] { next = graphs; });
  int64_t arcs = 0;
  for (const auto& own : edges) arcs += static_cast<int64_t>(own.size()) / 2;
  Tensor result = torch::stable::new_empty(rowptr, {2, arcs}, torch::headeronly::ScalarType::Long);
  int64_t* tail = result.mutable_data_ptr<int64_t>();
  int64_t* head = tail + arcs;
  for (const auto& own : edges)
    for (size_t at = 0; at < own.size(); at += 2) *tail++ = own[at], *head++ = own[at + 1];
  return result;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // int64 [2, arcs], sorted: a symmetric graph after a step for each of its draws [graphs, steps], float64 in [0, 1).
  // ptr has the bounds of the graphs. With `removes` each step also removes an edge whose curvature is above `bound`.
  m.def(
      "rewired(Tensor rowptr, Tensor col, Tensor ptr, Tensor draws, float tau, bool removes, float bound, "
      "Tensor(a!) control, int threads) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("rewired", TORCH_BOX(&rewired)); }

}  // namespace torchcent
