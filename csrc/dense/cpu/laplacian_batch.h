// The Laplacian matrices of many small graphs, and their eigenvectors. A thread takes as many graphs of one size as the
// solver takes together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "core/control.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "dense/canonical.h"
#include "dense/eigen.h"
#include "dense/laplacian.h"

namespace torchcent {

// Some graphs of a batch.
struct LaplacianGraphs {
  using Tensor = torch::stable::Tensor;

  Csr arcs;
  const double* weight;   // null: 1
  const int64_t* first;   // [graphs + 1]: the first vertex of each graph of the batch
  const int64_t* number;  // of each graph that is solved
  int64_t count;
  Laplacian kind;
  double isolated;  // the diagonal of a vertex without arcs

  LaplacianGraphs(const Tensor& rowptr, const Tensor& col, const std::optional<Tensor>& weights, const Tensor& ptr,
                  const Tensor& numbers, int64_t form, int64_t of_isolated)
      : arcs(view(rowptr, col)),
        weight(weights ? weights->const_data_ptr<double>() : nullptr),
        first(ptr.const_data_ptr<int64_t>()),
        number(numbers.const_data_ptr<int64_t>()),
        count(numbers.numel()),
        kind(static_cast<Laplacian>(form)),
        isolated(static_cast<double>(of_isolated)) {}

  int64_t size(int64_t place) const { return first[number[place] + 1] - first[number[place]]; }
};

// A graph that has been solved.
struct Spectrum {
  int64_t number;          // in the batch
  int64_t first, n;        // its vertices in the batch
  const double* value;     // [n], ascending
  double* state;           // [columns, n], the first eigenvectors, of the symmetric form for Laplacian::walk
  const double* strength;  // [n]
};

// The matrices of graphs of one size, side by side or one by one.
class LaplacianBatch {
 public:
  LaplacianBatch(const LaplacianGraphs& graphs, int64_t n, bool together)
      : graphs_(graphs),
        n_(n),
        together_(together),
        solver_(TORCHCENT_CALL_LANES(make_eigen_solver(n, together))),
        lanes_(solver_->lanes()),
        strength_(lanes_ * n),
        root_(n),
        scale_(lanes_),
        value_(n) {}

  bool is_for(int64_t n, bool together) const { return n_ == n && together_ == together; }

  // Solves graphs place[0], ..., place[count - 1], with at least `columns` eigenvectors and whole eigenspaces, and
  // calls use(spectrum) for each.
  template <class Use>
  void solve(const int64_t* place, int64_t count, int64_t columns, const Use& use) {
    double* const entry = solver_->entries();
    for (int64_t i = 0; i < n_; ++i) std::fill_n(entry + i * n_ * lanes_, (i + 1) * lanes_, 0.0);
    prefetch(place, count);
    for (int64_t lane = 0; lane < count; ++lane) fill(lane, graphs_.first[graphs_.number[place[lane]]], entry);
    solver_->solve(columns > 0);
    const double* const value = solver_->values();
    int64_t most = 0;
    for (int64_t lane = 0; columns > 0 && lane < count; ++lane)
      most = std::max(most, end_of_space(value + lane, lanes_, n_, std::min(columns, n_)));
    double* const state = most == 0 ? nullptr : solver_->states(most);
    for (int64_t lane = 0; lane < count; ++lane) {
      for (int64_t j = 0; j < n_; ++j) value_[j] = value[j * lanes_ + lane] * scale_[lane];
      const int64_t number = graphs_.number[place[lane]];
      use(Spectrum{number, graphs_.first[number], n_, value_.data(), state + lane * most * n_, &strength_[lane * n_]});
    }
  }

 private:
  // Graphs of one size lie anywhere in the batch.
  void prefetch(const int64_t* place, int64_t count) const {
    constexpr int64_t kLine = 64;
    const auto all = [](const void* from, const void* to) {
      for (auto* line = static_cast<const char*>(from); line < to; line += kLine) __builtin_prefetch(line);
    };
    for (const bool columns : {false, true})
      for (int64_t lane = 0; lane < count; ++lane) {
        const int64_t* const row = graphs_.arcs.rowptr + graphs_.first[graphs_.number[place[lane]]];
        if (columns) all(graphs_.arcs.col + row[0], graphs_.arcs.col + row[n_]);
        else all(row, row + n_ + 1);
      }
  }
  double weight(int64_t slot) const { return graphs_.weight == nullptr ? 1 : graphs_.weight[slot]; }

  // The strengths and the matrix of a graph, which is divided by a power of two so that no square of an entry
  // overflows.
  void fill(int64_t lane, int64_t first, double* entry) {
    const bool plain = graphs_.kind == Laplacian::plain;
    double* const strength = &strength_[lane * n_];
    double most = 0;
    for (int64_t i = 0; i < n_; ++i) {
      double sum = 0;
      for (int64_t slot = graphs_.arcs.rowptr[first + i]; slot < graphs_.arcs.rowptr[first + i + 1]; ++slot)
        sum += weight(slot);
      strength[i] = sum;
      root_[i] = std::sqrt(sum);
      most = std::max(most, sum);
    }
    const double unit = plain && most > 0 && std::isfinite(most) ? std::ldexp(1.0, std::ilogb(most)) : 1;
    scale_[lane] = unit;
    for (int64_t i = 0; i < n_; ++i) {
      double* const row = entry + i * n_ * lanes_ + lane;
      row[i * lanes_] = plain ? strength[i] / unit : strength[i] > 0 ? 1 : graphs_.isolated;
      for (int64_t slot = graphs_.arcs.rowptr[first + i]; slot < graphs_.arcs.rowptr[first + i + 1]; ++slot) {
        const int64_t j = graphs_.arcs.col[slot] - first;
        if (j >= i) continue;
        // Two roots: the product of the strengths may overflow.
        row[j * lanes_] = -weight(slot) / (plain ? unit : root_[i] * root_[j]);
      }
    }
  }

  const LaplacianGraphs& graphs_;
  int64_t n_;
  bool together_;
  std::unique_ptr<EigenSolver> solver_;
  int64_t lanes_;
  std::vector<double> strength_, root_, scale_, value_;
};

// Calls use(thread, spectrum) for all graphs, where make() returns what a thread works with. No number depends on the
// threads. Vertices are counted as done.
template <class Make, class Use>
void each_spectrum(const LaplacianGraphs& graphs, int64_t columns, Control& control, int64_t threads, const Make& make,
                   const Use& use) {
  std::vector<int64_t> order(graphs.count), begin;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return graphs.size(i) > graphs.size(j); });
  while (!order.empty() && graphs.size(order.back()) == 0) order.pop_back();
  double work = 0;
  const auto total = static_cast<int64_t>(order.size());
  for (int64_t i = 0, end = 0; i < total;
       i += TORCHCENT_CALL_LANES(matrices_together(graphs.size(order[i]), end - i))) {
    const int64_t n = graphs.size(order[i]);
    for (; end < total && graphs.size(order[end]) == n; ++end)
      work += static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
    begin.push_back(i);
  }
  const auto tasks = static_cast<int64_t>(begin.size());
  begin.push_back(total);
  std::atomic<int64_t> next = 0;
  const auto works = [&] {
    auto own = make();
    std::optional<LaplacianBatch> batch;
    for (int64_t i; (i = next++) < tasks && !cancelled(&control.cancel);) {
      const int64_t n = graphs.size(order[begin[i]]), count = begin[i + 1] - begin[i];
      if (!batch || !batch->is_for(n, count > 1)) batch.emplace(graphs, n, count > 1);
      batch->solve(&order[begin[i]], count, columns, [&](const Spectrum& spectrum) { use(own, spectrum); });
      finish(control, count * n);
    }
  };
  const int64_t team = std::min(threads_for(static_cast<int64_t>(std::min(work, 1e15)), threads), tasks);
  in_threads(static_cast<int>(std::max<int64_t>(1, team)), works, [&] { next = tasks; });
}

}  // namespace torchcent
