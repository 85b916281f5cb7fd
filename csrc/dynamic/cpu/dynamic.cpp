// Operators of graphs that change: rows of sources, and their repair after a batch of changes. Threads take sources.
#include <torch/csrc/stable/library.h>

#include <mutex>

#include "core/control.h"
#include "core/cpu/simd_level.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "core/records.h"
#include "dynamic/cpu/row.h"

namespace torchcent::dynamic {

using torch::stable::Tensor;

namespace {

// The arcs out of each vertex and into it.
struct Graph {
  const Tensor &rowptr, &col, &colptr, &row;
};

std::vector<Arc> arcs_of(const Tensor& columns) {
  const int64_t size = columns.size(1);
  const int64_t* ends = columns.const_data_ptr<int64_t>();
  std::vector<Arc> arcs(size);
  for (int64_t i = 0; i < size; ++i) arcs[i] = {static_cast<int32_t>(ends[i]), static_cast<int32_t>(ends[size + i])};
  return arcs;
}

// The rows of sources, [k, n]; none where they are not kept.
class Rows {
 public:
  Rows(const Tensor& sources, Tensor& distance, Tensor& paths, int64_t n)
      : n_(n),
        sources_(sources.const_data_ptr<int64_t>()),
        distance_(distance.numel() ? distance.mutable_data_ptr<int32_t>() : nullptr),
        paths_(paths.numel() ? reinterpret_cast<Paths*>(paths.mutable_data_ptr<double>()) : nullptr) {}
  Row operator[](int64_t i) const { return {source(i), distance_ + i * n_, paths_ ? paths_ + i * n_ : nullptr}; }
  int32_t source(int64_t i) const { return static_cast<int32_t>(sources_[i]); }
  bool are_kept() const { return distance_ != nullptr; }

 private:
  const int64_t n_;
  const int64_t* sources_;
  int32_t* distance_;
  Paths* paths_;
};

// Calls task(search, sums, i) for each source, on threads that have a search and sums of their own.
template <bool paths>
void each_source(const Graph& graph, int64_t sources, Tensor& sums, Control& control, int64_t threads, auto task) {
  const Csr forward = view(graph.rowptr, graph.col), backward = view(graph.colptr, graph.row);
  Fixed* const total = paths ? reinterpret_cast<Fixed*>(sums.mutable_data_ptr<int64_t>()) : nullptr;
  std::atomic<int64_t> next{0};
  std::mutex adding;
  const auto work = [&] {
    Search<paths> search(forward, backward);
    FixedSums own(paths ? forward.num_nodes : 0);
    for (int64_t i = next++; i < sources && !cancelled(&control.cancel); i = next++) {
      task(search, own, i);
      finish(control, 1);
    }
    if constexpr (paths) {
      const std::lock_guard lock(adding);
      own.add_to(total);
    }
  };
  in_threads(static_cast<int>(std::max<int64_t>(1, std::min(threads, sources))), work, [&] { next = sources; });
}

template <bool paths>
void compute(const Graph& graph, const Rows& rows, int64_t sources, Tensor& sums, Control& control, int64_t sign,
             int64_t threads) {
  each_source<paths>(graph, sources, sums, control, threads, [&](Search<paths>& search, FixedSums& own, int64_t i) {
    search.compute(rows.are_kept() ? rows[i] : search.scratch(rows.source(i)), &own, static_cast<int>(sign));
  });
}

template <bool paths>
void repair(const Graph& graph, const Rows& rows, const std::vector<Arc>& removed, const std::vector<Arc>& inserted,
            Tensor& outcome, Tensor& sums, Control& control, int64_t threads) {
  const int64_t n = graph.rowptr.numel() - 1, changes = static_cast<int64_t>(removed.size() + inserted.size());
  int8_t* const result = outcome.mutable_data_ptr<int8_t>();
  each_source<paths>(graph, outcome.numel(), sums, control, threads,
                     [&](Search<paths>& search, FixedSums& own, int64_t i) {
                       const Row row = rows[i];
                       result[i] = 0;
                       if (!Search<paths>::touches(row, removed, inserted)) return;
                       result[i] = 1;
                       if (changes <= n / 4 && search.repair(row, removed, inserted, &own)) {
                         if (!paths && !search.has_moved(row)) result[i] = 0;
                         return;
                       }
                       result[i] = 2;
                       if constexpr (paths) search.remove(row, own);
                       search.compute(row, &own, 1);
                     });
}

}  // namespace

void dynamic_rows(const std::vector<Tensor>& arcs, const Tensor& sources, Tensor& distance, Tensor& paths, Tensor& sums,
                  Tensor& control, int64_t sign, int64_t threads) {
  const auto graph = record<Graph, 4>(arcs);
  const Rows rows(sources, distance, paths, graph.rowptr.numel() - 1);
  const auto run = sums.numel() ? compute<true> : compute<false>;
  run(graph, rows, sources.numel(), sums, control_of(control), sign, threads);
}

Tensor dynamic_repair(const std::vector<Tensor>& arcs, const Tensor& sources, const Tensor& removed,
                      const Tensor& inserted, Tensor& distance, Tensor& paths, Tensor& sums, Tensor& control,
                      int64_t threads) {
  const auto graph = record<Graph, 4>(arcs);
  const Rows rows(sources, distance, paths, graph.rowptr.numel() - 1);
  Tensor outcome = empty(sources, sources.numel(), torch::headeronly::ScalarType::Char);
  const auto run = sums.numel() ? repair<true> : repair<false>;
  run(graph, rows, arcs_of(removed), arcs_of(inserted), outcome, sums, control_of(control), threads);
  return outcome;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // arcs: rowptr, col, colptr, row. Rows [k, n] of sources: distances (int32, -1: not reached), and paths
  // [k, n, 2] (float64), path counts and dependencies. sums, int64 [n, 2], are 128-bit multiples of 2^-64 of the
  // dependencies of all sources on each vertex, lower half first; without them rows have distances alone. Rows without
  // entries are not kept.
  m.def(
      "dynamic_rows(Tensor[] arcs, Tensor sources, Tensor(a!) distance, Tensor(b!) paths, Tensor(c!) sums, "
      "Tensor(d!) control, int sign, int threads=1) -> ()");
  // The same rows after a batch: arcs are those of the new graph, removed and inserted [2, count] what it has lost and
  // gained. int8 [k]: 0 where nothing has changed, 1 where a row was repaired, 2 where it was computed anew.
  m.def(
      "dynamic_repair(Tensor[] arcs, Tensor sources, Tensor removed, Tensor inserted, Tensor(a!) distance, "
      "Tensor(b!) paths, Tensor(c!) sums, Tensor(d!) control, int threads=1) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("dynamic_rows", TORCH_BOX(&dynamic_rows)).impl("dynamic_repair", TORCH_BOX(&dynamic_repair));
}

}  // namespace torchcent::dynamic
