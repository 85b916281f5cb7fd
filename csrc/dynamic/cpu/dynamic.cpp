// Operators of graphs that change: rows of sources, and their repair after a batch of changes. Threads take sources.
#include <torch/csrc/stable/library.h>

#include <mutex>

#include "core/control.h"
#include "core/cpu/pages.h"
#include "core/cpu/simd_level.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "core/records.h"
#include "dynamic/cpu/lengths.h"
#include "dynamic/cpu/repair.h"

#define TORCHCENT_ISA portable
#include "dynamic/cpu/touched.h"

namespace torchcent::dynamic {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// The arcs out of each vertex and into it.
struct Graph {
  const Tensor &rowptr, &col, &colptr, &row;
};

Arcs arcs_of(const Tensor& columns) {
  const int64_t size = columns.size(1);
  const int64_t* ends = columns.const_data_ptr<int64_t>();
  Arcs arcs(size);
  for (int64_t i = 0; i < size; ++i) arcs[i] = {static_cast<int32_t>(ends[i]), static_cast<int32_t>(ends[size + i])};
  return arcs;
}

// The rows of sources, [k, n]; none where they are not kept.
template <typename Hops>
class Rows {
 public:
  Rows(const Tensor& sources, Tensor& distance, Tensor& paths, int64_t n)
      : n_(n), sources_(sources.const_data_ptr<int64_t>()) {
    if (!paths.numel()) return;
    distance_ = with_huge_pages(static_cast<Hops*>(distance.mutable_data_ptr()), distance.numel());
    paths_ = with_huge_pages(reinterpret_cast<Paths*>(paths.mutable_data_ptr<int64_t>()), distance.numel());
  }
  Row<Hops> operator[](int64_t i) const { return {source(i), distance_ + i * n_, paths_ + i * n_}; }
  int32_t source(int64_t i) const { return static_cast<int32_t>(sources_[i]); }
  bool are_kept() const { return paths_ != nullptr; }

 private:
  const int64_t n_;
  const int64_t* const sources_;
  Hops* distance_ = nullptr;
  Paths* paths_ = nullptr;
};

// Calls run(Hops{}) with the type of distances.
void with_hops(const Tensor& distance, auto run) {
  if (distance.scalar_type() == ScalarType::Byte) run(uint8_t{});
  else run(int32_t{});
}

// What became of a row.
enum Outcome : int8_t { kUntouched, kRepaired, kAnew, kTooFar };

template <typename Hops>
Outcome computed(Search<Hops>& search, const Row<Hops>& row, FixedSums& sums, int64_t sign) {
  return search.compute(row, sums, static_cast<int>(sign)) ? kAnew : kTooFar;
}

constexpr size_t kFewArcs = 64;   // whose ends' rows are read first
constexpr int64_t kSources = 32;  // that a thread takes at a time

// Calls work(own, sums, begin, end) for ranges of sources, on threads that have what `state()` gives, and sums.
void each_range_of(int64_t sources, Tensor& sums, Control& control, int64_t threads, auto state, auto work) {
  Fixed* const total = reinterpret_cast<Fixed*>(sums.mutable_data_ptr<int64_t>());
  std::atomic<int64_t> next{0};
  std::mutex adding;
  const auto on_thread = [&] {
    auto own = state();
    FixedSums added(sums.size(0));
    for (int64_t i = next.fetch_add(kSources); i < sources && !cancelled(&control.cancel);
         i = next.fetch_add(kSources)) {
      const int64_t end = std::min(sources, i + kSources);
      work(own, added, i, end);
      finish(control, end - i);
    }
    const std::lock_guard lock(adding);
    added.add_to(total);
  };
  const int64_t ranges = (sources + kSources - 1) / kSources;
  in_threads(static_cast<int>(std::max<int64_t>(1, std::min(threads, ranges))), on_thread, [&] { next = sources; });
}

}  // namespace

Tensor dynamic_rows(const std::vector<Tensor>& arcs, const Tensor& sources, Tensor& distance, Tensor& paths,
                    Tensor& sums, Tensor& control, Tensor&, int64_t sign, int64_t threads) {
  const auto graph = record<Graph, 4>(arcs);
  const int64_t n = graph.rowptr.numel() - 1;
  Tensor outcome = empty(sources, sources.numel(), ScalarType::Char);
  int8_t* const result = outcome.mutable_data_ptr<int8_t>();
  const Csr forward = view(graph.rowptr, graph.col), backward = view(graph.colptr, graph.row);
  with_hops(distance, [&]<typename Hops>(Hops) {
    const Rows<Hops> rows(sources, distance, paths, n);
    each_range_of(
        sources.numel(), sums, control_of(control), threads, [&] { return Search<Hops>(forward, backward); },
        [&](Search<Hops>& search, FixedSums& own, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            result[i] = computed(search, rows.are_kept() ? rows[i] : search.scratch(rows.source(i)), own, sign);
        });
  });
  return outcome;
}

Tensor dynamic_repair(const std::vector<Tensor>& arcs, const Tensor& sources, const Tensor& removed,
                      const Tensor& inserted, Tensor& distance, Tensor& paths, Tensor& sums, Tensor& control, Tensor&,
                      int64_t threads) {
  const auto graph = record<Graph, 4>(arcs);
  const int64_t n = graph.rowptr.numel() - 1;
  const Csr forward = view(graph.rowptr, graph.col), backward = view(graph.colptr, graph.row);
  const Arcs lost = arcs_of(removed), won = arcs_of(inserted);
  Tensor outcome = empty(sources, sources.numel(), ScalarType::Char);
  int8_t* const result = outcome.mutable_data_ptr<int8_t>();
  with_hops(distance, [&]<typename Hops>(Hops) {
    struct State {
      Search<Hops> search;
      Repair<Hops> repair;
    };
    const Rows<Hops> rows(sources, distance, paths, n);
    each_range_of(
        sources.numel(), sums, control_of(control), threads,
        [&] { return State{{forward, backward}, {forward, backward, lost, won}}; },
        [&](State& state, FixedSums& own, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) state.repair.prefetch(rows[i]);
          for (int64_t i = begin; i < end; ++i) {
            result[i] = state.repair.touches(rows[i]) ? kRepaired : kUntouched;
            if (result[i] == kRepaired && !state.repair(rows[i], own))
              result[i] = computed(state.search, rows[i], own, 1);
          }
        });
  });
  return outcome;
}

Tensor dynamic_lengths(const std::vector<Tensor>& arcs, const Tensor& sources, const Tensor& removed,
                       const Tensor& inserted, Tensor& distance, Tensor& lengths, Tensor& control, bool anew,
                       int64_t threads) {
  const auto graph = record<Graph, 4>(arcs);
  const int64_t n = graph.rowptr.numel() - 1;
  const Csr forward = view(graph.rowptr, graph.col), backward = view(graph.colptr, graph.row);
  const Arcs lost = arcs_of(removed), won = arcs_of(inserted);
  Tensor outcome = empty(sources, sources.numel(), ScalarType::Char), no_sums = empty(sources, 0, ScalarType::Long);
  int8_t* const result = outcome.mutable_data_ptr<int8_t>();
  const int64_t* const source = sources.const_data_ptr<int64_t>();
  auto* const totals = reinterpret_cast<Lengths*>(lengths.mutable_data_ptr<int64_t>());
  with_hops(distance, [&]<typename Hops>(Hops) {
    auto* const hops = with_huge_pages(static_cast<Hops*>(distance.mutable_data_ptr()), distance.numel());
    const auto row = [&](int64_t i) { return Row<Hops>{static_cast<int32_t>(source[i]), hops + i * n, nullptr}; };
    const bool is_mirrored =
        !anew && forward.rowptr == backward.rowptr && sources.numel() == n && lost.size() + won.size() <= kFewArcs;
    const TouchedRows<Hops> touched(hops, is_mirrored ? n : 0, is_mirrored ? lost : Arcs{}, is_mirrored ? won : Arcs{});
    each_range_of(
        sources.numel(), no_sums, control_of(control), threads,
        [&] { return LengthSearch<Hops>(forward, backward, lost, won); },
        [&](LengthSearch<Hops>& search, FixedSums&, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end && !anew && !is_mirrored; ++i) search.prefetch(row(i));
          for (int64_t i = begin; i < end; ++i) {
            bool moves = true;
            result[i] = kUntouched;
            if (!anew && !(is_mirrored ? touched[i] : search.touches(row(i)))) continue;
            if (!anew && search.repair(row(i), totals[i], moves)) result[i] = moves ? kRepaired : kUntouched;
            else result[i] = search.compute(row(i), totals[i]) ? kAnew : kTooFar;
          }
        });
  });
  return outcome;
}

void dynamic_touched(const std::vector<Tensor>& arcs, const Tensor& changed, const Tensor& pairs,
                     const Tensor& distance, Tensor& touched, Tensor& control, bool mirrored, int64_t each,
                     int64_t threads) {
  const auto graph = record<Graph, 4>(arcs);
  const int64_t count = distance.numel(), *const source = pairs.const_data_ptr<int64_t>();
  const SampledPairs sampled = {source, source + count, distance.const_data_ptr<int32_t>(), each};
  mark_touched(view(graph.rowptr, graph.col), view(graph.colptr, graph.row), arcs_of(changed), sampled, count, mirrored,
               touched.mutable_data_ptr<int8_t>(), control_of(control), threads);
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // arcs: rowptr, col, colptr, row. Rows of sources: distances [k, n] (uint8, or int32 where these are not enough; the
  // largest: not reached), and paths int64 [k, n, 3] (the 24 bytes of a Paths, row.h) or, on CUDA, int32 [k, n, 3] (of
  // a NarrowCell, cells.cuh); without entries, they are not kept. sums, int64 [n, 2], are 128-bit multiples of 2^-64 of
  // the dependencies of all sources on each vertex, lower half first. workspace, on CUDA: uint8, what some blocks need
  // (dynamic_workspace), all 0 at first, and to be passed again with rows of the same size and types.
  // int8 [k]: 2, or 3 where distances are beyond uint8, or 4 where there are too many paths for CUDA. Then this row is
  // of no use; one of 3 is not in the sums.
  m.def(
      "dynamic_rows(Tensor[] arcs, Tensor sources, Tensor(a!) distance, Tensor(b!) paths, Tensor(c!) sums, "
      "Tensor(d!) control, Tensor(e!) workspace, int sign, int threads=1) -> Tensor");
  // The same rows after a batch: arcs are those of the new graph, removed and inserted [2, count] what it has lost and
  // gained. int8 [k]: 0 where nothing has changed, 1 where a row was repaired, else as above.
  m.def(
      "dynamic_repair(Tensor[] arcs, Tensor sources, Tensor removed, Tensor inserted, Tensor(a!) distance, "
      "Tensor(b!) paths, Tensor(c!) sums, Tensor(d!) control, Tensor(e!) workspace, int threads=1) -> Tensor");
  // Rows of distances alone, [k, n] as above, and int64 [k, 5] for each: the number of vertices reached besides the
  // source, the sum of their distances, the largest, and the sum of 1 / distance in multiples of 2^-64, lower half
  // first. `anew`: computed, else repaired. The same int8 [k]. Of n sources, the i-th is vertex i.
  m.def(
      "dynamic_lengths(Tensor[] arcs, Tensor sources, Tensor removed, Tensor inserted, Tensor(a!) distance, "
      "Tensor(b!) lengths, Tensor(c!) control, bool anew, int threads=1) -> Tensor");
  // Marks in touched, int8 [k], pairs [2, k] of vertices of a graph: those for which a way from one to the other by one
  // of the changed arcs [2, count] is no longer than distance, int32 [k], and those that it would take longer to find
  // out about than to draw a path, of `each` arcs. Pairs with a mark or a negative distance are left out. mirrored: the
  // graph is undirected, and arcs are used in both directions.
  m.def(
      "dynamic_touched(Tensor[] arcs, Tensor changed, Tensor pairs, Tensor distance, Tensor(a!) touched, "
      "Tensor(b!) control, bool mirrored, int each, int threads=1) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("dynamic_lengths", TORCH_BOX(&dynamic_lengths));
  m.impl("dynamic_rows", TORCH_BOX(&dynamic_rows)).impl("dynamic_repair", TORCH_BOX(&dynamic_repair));
  m.impl("dynamic_touched", TORCH_BOX(&dynamic_touched));
}

}  // namespace torchcent::dynamic
