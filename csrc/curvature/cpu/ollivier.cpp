// Ollivier-Ricci curvature of the edges of a symmetric graph. Each edge is a transport problem between the neighbours
// of both ends, of which only the difference of the masses is moved. Hops come from lists of neighbours, lengths from
// searches that end at the last vertex that matters.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/control.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "curvature/lengths.h"
#include "curvature/transport.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

constexpr int64_t kEdges = 16;                // that a thread takes at a time
constexpr int64_t kUnits = int64_t{1} << 54;  // of mass in a unit, about, where masses are rounded

// What one end of an edge has more than the other, and where that may go.
class EdgeProblem {
 protected:
  EdgeProblem(const Csr& graph, double alpha, const int64_t* cancel)
      : graph_(graph), alpha_(alpha), cancel_(cancel), mass_(graph.num_nodes, 0) {}

  const int32_t* begin(int32_t v) const { return graph_.col + graph_.rowptr[v]; }
  const int32_t* end(int32_t v) const { return graph_.col + graph_.rowptr[v + 1]; }
  bool cancelled() const { return __atomic_load_n(cancel_, __ATOMIC_RELAXED) != 0; }

  // From the shares of the neighbours of both ends, and of the ends themselves.
  void masses(int32_t first, int32_t second, int64_t of_first, int64_t of_second, int64_t own_first,
              int64_t own_second) {
    for (const int32_t* k = begin(first); k < end(first); ++k) mass_[*k] += of_first;
    for (const int32_t* k = begin(second); k < end(second); ++k) mass_[*k] -= of_second;
    mass_[first] += own_first, mass_[second] -= own_second;
    rows_.clear(), columns_.clear(), supply_.clear(), demand_.clear();
    const auto take = [&](int32_t v) {  // each once
      if (mass_[v] > 0) rows_.push_back(v), supply_.push_back(mass_[v]);
      if (mass_[v] < 0) columns_.push_back(v), demand_.push_back(-mass_[v]);
      mass_[v] = 0;
    };
    take(first), take(second);
    for (const int32_t* k = begin(first); k < end(first); ++k) take(*k);
    for (const int32_t* k = begin(second); k < end(second); ++k) take(*k);
    if (columns_.size() > rows_.size()) std::swap(rows_, columns_), std::swap(supply_, demand_);
  }

  // The units in the mass of all neighbours of an end, and in that of the end for an idleness below 1.
  int64_t units_of(int32_t first, int32_t second) const {
    const int64_t multiple = std::lcm(graph_.degree(first), graph_.degree(second));
    return multiple * std::max<int64_t>(1, kUnits / multiple);
  }
  static int64_t idle_units(int64_t units, double idle) {
    return std::llround(idle / (1 - idle) * static_cast<double>(units));
  }

  // The masses for an idleness below 1.
  void rounded_masses(int32_t first, int32_t second, int64_t units, double idle) {
    const int64_t own = idle_units(units, idle);
    masses(first, second, units / graph_.degree(first), units / graph_.degree(second), own, own);
  }

  Csr graph_;
  double alpha_;
  const int64_t* cancel_;
  std::vector<int64_t> mass_;
  std::vector<int32_t> rows_, columns_;
  std::vector<int64_t> supply_, demand_;
};

class HopCurvature : EdgeProblem {
 public:
  HopCurvature(const Csr& graph, double alpha, const int64_t* cancel)
      : EdgeProblem(graph, alpha, cancel), bits_(graph.num_nodes, 0) {}

  // Of the edge u - v; NaN if cancelled.
  double operator()(int32_t u, int32_t v) {
    if (graph_.degree(u) < graph_.degree(v)) std::swap(u, v);
    const int64_t most = graph_.degree(u), least = graph_.degree(v);
    // From alpha = 1 / (most + 1) on, curvature is proportional to 1 - alpha (Bourne et al. 2018). Masses there are
    // multiples of 1 / ((most + 1) least).
    const bool is_linear = alpha_ * static_cast<double>(most + 1) >= 1;
    const int64_t units = is_linear ? (most + 1) * least : units_of(u, v);
    int64_t cost = 0;
    if (least == 1) {  // all that moves goes over one edge: a hub of leaves is quick
      cost = units - (is_linear ? 2 : idle_units(units, alpha_));
    } else {
      if (is_linear) masses(u, v, least, most, least, least);
      else rounded_masses(u, v, units, alpha_);
      cost = transport();
    }
    if (cost < 0) return std::nan("");
    if (!is_linear) return 1 - (1 - alpha_) * (static_cast<double>(cost) / static_cast<double>(units));
    return (1 - alpha_) * (static_cast<double>(units - cost) / static_cast<double>(most * least));
  }

 private:
  int64_t transport() {
    const size_t words = (columns_.size() + 63) / 64;
    near_.assign(rows_.size() * words, 0), next_.assign(rows_.size() * words, 0);
    for (size_t w = 0; w < words; ++w) {  // 64 columns at a time
      for (size_t y = w * 64; y < std::min(columns_.size(), w * 64 + 64); ++y)
        for (const int32_t* z = begin(columns_[y]); z < end(columns_[y]); ++z) {
          if (bits_[*z] == 0) reached_.push_back(*z);
          bits_[*z] |= uint64_t{1} << (y % 64);
        }
      for (size_t x = 0; x < rows_.size(); ++x) {
        uint64_t next = 0;
        for (const int32_t* z = begin(rows_[x]); z < end(rows_[x]); ++z) next |= bits_[*z];
        const uint64_t near = bits_[rows_[x]];
        near_[x * words + w] = near;
        next_[x * words + w] = next & ~near;
      }
      for (const int32_t z : reached_) bits_[z] = 0;
      reached_.clear();
    }
    return solve_(supply_, demand_, near_, next_, [&] { return cancelled(); });
  }

  std::vector<uint64_t> bits_;  // the columns that a vertex is adjacent to
  std::vector<int32_t> reached_;
  std::vector<uint64_t> near_, next_;
  HopTransport solve_;
};

class LengthCurvature : EdgeProblem {
 public:
  LengthCurvature(const Csr& graph, const double* weight, double alpha, const int64_t* cancel)
      : EdgeProblem(graph, alpha, cancel), weight_(weight), search_(graph.num_nodes) {}

  double operator()(int32_t u, int32_t v) {
    if (graph_.degree(u) < graph_.degree(v)) std::swap(u, v);
    // From alpha = 1/2 on, curvature is proportional to 1 - alpha, whatever the lengths.
    const double idle = std::min(alpha_, 0.5);
    const int64_t units = units_of(u, v);
    rounded_masses(u, v, units, idle);
    cost_.resize(rows_.size() * columns_.size());
    // All are near u, which bounds the lengths between them.
    ends_ = rows_;
    ends_.insert(ends_.end(), columns_.begin(), columns_.end());
    near_.resize(ends_.size());
    search_(graph_, weight_, u, ends_, INFINITY, near_.data());
    const auto first = near_.begin() + static_cast<int64_t>(rows_.size());
    const double farthest = first == near_.end() ? 0 : *std::max_element(first, near_.end());
    for (size_t x = 0; x < rows_.size(); ++x) {
      if (cancelled()) return std::nan("");
      double* const out = cost_.data() + x * columns_.size();
      search_(graph_, weight_, rows_[x], columns_, near_[x] + farthest, out);
    }
    const double cost = solve_(supply_, demand_, cost_, [&] { return cancelled(); });
    double length = 0;
    search_(graph_, weight_, u, {v}, INFINITY, &length);
    return (1 - alpha_) / (1 - idle) * (1 - (1 - idle) * (cost / static_cast<double>(units)) / length);
  }

 private:
  const double* weight_;
  std::vector<int32_t> ends_;
  std::vector<double> cost_, near_;  // lengths from rows to columns, and from an end to both
  LengthSearch search_;
  LengthTransport solve_;
};

// Fills in the slots u -> v with u < v; `make` makes what computes them, for each thread.
template <class Make>
void each_edge(const Csr& graph, const Make& make, double* out, Control& shared, int64_t threads) {
  const int64_t n = graph.num_nodes, slots = graph.rowptr[n];
  std::atomic<int64_t> next = 0;
  const auto work = [&] {
    auto curvature = make();
    for (int64_t from; (from = next.fetch_add(kEdges)) < slots;) {
      const int64_t to = std::min(from + kEdges, slots);
      const int64_t* row = std::upper_bound(graph.rowptr, graph.rowptr + n + 1, from) - 1;
      for (int64_t slot = from; slot < to; ++slot) {
        while (row[1] <= slot) ++row;
        const auto u = static_cast<int32_t>(row - graph.rowptr);
        if (graph.col[slot] < u) continue;
        out[slot] = curvature(u, graph.col[slot]);
        if (__atomic_load_n(&shared.cancel, __ATOMIC_RELAXED) != 0) return;
      }
      finish(shared, to - from);
    }
  };
  in_threads(static_cast<int>(threads_for(64 * slots, threads)), work, [&] { next = slots; });
}

}  // namespace

void ollivier(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight, double alpha, Tensor& out,
              Tensor& control, int64_t threads) {
  const Csr graph = view(rowptr, col);
  double* const result = out.mutable_data_ptr<double>();
  Control& shared = control_of(control);
  if (!weight)
    return each_edge(graph, [&] { return HopCurvature(graph, alpha, &shared.cancel); }, result, shared, threads);
  const double* const length = weight->const_data_ptr<double>();
  each_edge(graph, [&] { return LengthCurvature(graph, length, alpha, &shared.cancel); }, result, shared, threads);
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // float64 [slots], at the slots u -> v with u < v of a symmetric graph: the Ollivier-Ricci curvature by hops or
  // lengths, where a vertex has the mass alpha in [0, 1] and its neighbours share the rest. Others are left as they
  // are.
  m.def(
      "ollivier(Tensor rowptr, Tensor col, Tensor? weight, float alpha, Tensor(a!) out, Tensor(b!) control, "
      "int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("ollivier", TORCH_BOX(&ollivier)); }

}  // namespace torchcent
