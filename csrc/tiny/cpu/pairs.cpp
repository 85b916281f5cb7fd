// Distances of all pairs of vertices of each graph of a batch, as padded matrices or as a list of pairs, with the arcs
// of a shortest path. Rows are tasks: each is written by one thread, so that results do not depend on their number.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "core/control.h"
#include "tiny/cpu/pair_search.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

PairBatch batch_of(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& ptr,
                   const Tensor& limit) {
  return {rowptr.const_data_ptr<int64_t>(),
          col.const_data_ptr<int32_t>(),
          weight.numel() > 0 ? weight.const_data_ptr<double>() : nullptr,
          ptr.const_data_ptr<int64_t>(),
          limit.const_data_ptr<double>(),
          ptr.numel() - 1};
}

// Calls row(search, i, longest) for each i in [0, rows), on several threads; returns the most arcs of a path.
template <class Row>
Tensor each_row(const PairBatch& batch, bool paths, int64_t rows, Tensor& control, int64_t threads, Row row) {
  Control& shared = control_of(control);
  const int64_t run = std::clamp<int64_t>(rows / (16 * std::max<int64_t>(threads, 1)), 1, 1024);
  const int64_t workers = std::max<int64_t>(1, std::min(threads, (rows + run - 1) / run));
  std::atomic<int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  int64_t longest = 0;
  const auto work = [&] {
    PairSearch search(batch, paths);
    int64_t own = 0;
    for (int64_t begin; (begin = next.fetch_add(run)) < rows;) {
      const int64_t end = std::min(begin + run, rows);
      for (int64_t i = begin; i < end; ++i) {
        if (__atomic_load_n(&shared.cancel, __ATOMIC_RELAXED) != 0) {
          next = rows;
          return;
        }
        row(search, i, i == begin, own);
      }
      finish(shared, end - begin);
    }
    std::lock_guard lock(mutex);
    longest = std::max(longest, own);
  };
  // PyTorch's own threads, as in tiny.cpp.
  torch::stable::parallel_for(0, workers, 1, [&](int64_t, int64_t) {
    try {
      work();
    } catch (...) {
      std::lock_guard lock(mutex);
      error = std::current_exception();
      next = rows;
    }
  });
  if (error) std::rethrow_exception(error);
  Tensor result = torch::stable::new_empty(control, {1});
  *result.mutable_data_ptr<int64_t>() = longest;
  return result;
}

// Calls work(T*) with the values of a tensor.
template <class Work>
Tensor with_values(Tensor& values, Work work) {
  switch (values.scalar_type()) {
    case ScalarType::Char: return work(static_cast<int8_t*>(values.data_ptr()));
    case ScalarType::Short: return work(static_cast<int16_t*>(values.data_ptr()));
    case ScalarType::Int: return work(static_cast<int32_t*>(values.data_ptr()));
    case ScalarType::Long: return work(static_cast<int64_t*>(values.data_ptr()));
    case ScalarType::Float: return work(static_cast<float*>(values.data_ptr()));
    case ScalarType::Double: return work(static_cast<double*>(values.data_ptr()));
    default: throw std::invalid_argument("distances have a dtype that the operator does not write");
  }
}

template <class T>
T value(const PairSearch& search, int32_t v, const double* unit, int64_t graph) {
  return unit == nullptr ? static_cast<T>(search.depth(v)) : static_cast<T>(search.distance(v) / unit[graph]);
}

int64_t* ids(Tensor& tensor) { return tensor.numel() > 0 ? tensor.mutable_data_ptr<int64_t>() : nullptr; }

}  // namespace

Tensor pair_matrices(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& unit,
                     const Tensor& ptr, const Tensor& limit, const Tensor& edge, Tensor& out, Tensor& paths,
                     double unreachable, double padding, Tensor& control, int64_t threads) {
  const PairBatch batch = batch_of(rowptr, col, weight, ptr, limit);
  const int64_t width = out.size(1), room = paths.numel() > 0 ? paths.size(3) : 0;
  const double* const per_one = batch.weight == nullptr ? nullptr : unit.const_data_ptr<double>();
  const int64_t* const number = edge.const_data_ptr<int64_t>();
  int64_t* const arcs = ids(paths);
  return with_values(out, [&]<class T>(T* values) {
    return each_row(batch, room > 0, batch.graphs * width, control, threads,
                    [&](PairSearch& search, int64_t i, bool starts, int64_t& longest) {
                      const int64_t graph = i / width, u = i % width;
                      if (starts || u == 0) {
                        search.enter(graph, room > 0);
                        if (room == 0 && search.masks()) longest = std::max<int64_t>(longest, search.levels());
                      }
                      T* const row = values + i * width;
                      int64_t* const own = arcs + i * width * room;
                      if (room > 0) std::fill(own, own + width * room, -1);
                      const int64_t n = u < search.size() ? search.size() : 0;
                      std::fill(row + n, row + width, static_cast<T>(padding));
                      if (n == 0) return;
                      if (room == 0 && search.masks()) {
                        search.row(static_cast<int32_t>(u), row, static_cast<T>(unreachable));
                        return;
                      }
                      std::fill(row, row + n, static_cast<T>(unreachable));
                      search.run(static_cast<int32_t>(u));
                      for (const int32_t v : search.reached()) {
                        row[v] = value<T>(search, v, per_one, graph);
                        longest = std::max<int64_t>(longest, search.depth(v));
                        if (room > 0) search.path(v, number, own + v * room, room);
                      }
                    });
  });
}

namespace {

// Rows are vertices of the union here, all of them or those of `sources`: row(search, i, vertex, graph).
template <class Row>
Tensor each_vertex(const PairBatch& batch, bool paths, const std::optional<Tensor>& sources, Tensor& control,
                   int64_t threads, Row row) {
  const int64_t* const last = batch.ptr + batch.graphs;
  const int64_t* const chosen = sources ? sources->const_data_ptr<int64_t>() : nullptr;
  return each_row(batch, paths, sources ? sources->numel() : *last, control, threads,
                  [&](PairSearch& search, int64_t i, bool starts, int64_t& longest) {
                    const int64_t v = chosen == nullptr ? i : chosen[i];
                    const int64_t graph = std::upper_bound(batch.ptr, last, v) - batch.ptr - 1;
                    if (starts || batch.ptr[graph] != search.first()) search.enter(graph);
                    search.run(static_cast<int32_t>(v - batch.ptr[graph]));
                    for (const int32_t u : search.reached()) longest = std::max<int64_t>(longest, search.depth(u));
                    row(search, i, v, graph);
                  });
}

}  // namespace

// `count`: of each source the number of vertices that it reaches, including itself.
Tensor pair_counts(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& ptr,
                   const Tensor& limit, Tensor& count, Tensor& control, int64_t threads,
                   std::optional<Tensor> sources) {
  int64_t* const counts = count.mutable_data_ptr<int64_t>();
  return each_vertex(batch_of(rowptr, col, weight, ptr, limit), false, sources, control, threads,
                     [&](const PairSearch& search, int64_t i, int64_t, int64_t) {
                       counts[i] = static_cast<int64_t>(search.reached().size());
                     });
}

// `begin`: the first pair of each source.
Tensor pair_list(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& unit, const Tensor& ptr,
                 const Tensor& limit, const Tensor& edge, const Tensor& begin, Tensor& index, Tensor& out,
                 Tensor& paths, Tensor& control, int64_t threads, std::optional<Tensor> sources) {
  const PairBatch batch = batch_of(rowptr, col, weight, ptr, limit);
  const int64_t room = paths.numel() > 0 ? paths.size(1) : 0, pairs = out.numel();
  const double* const per_one = batch.weight == nullptr ? nullptr : unit.const_data_ptr<double>();
  const int64_t* const number = edge.const_data_ptr<int64_t>();
  const int64_t* const first = begin.const_data_ptr<int64_t>();
  int64_t* const ends = ids(index);
  int64_t* const arcs = ids(paths);
  return with_values(out, [&]<class T>(T* values) {
    return each_vertex(batch, room > 0, sources, control, threads,
                       [&](PairSearch& search, int64_t i, int64_t v, int64_t graph) {
                         search.sort();
                         int64_t at = first[i];
                         for (const int32_t u : search.reached()) {
                           ends[at] = v;
                           ends[pairs + at] = batch.ptr[graph] + u;
                           values[at] = value<T>(search, u, per_one, graph);
                           if (room > 0) search.path(u, number, arcs + at * room, room);
                           ++at;
                         }
                       });
  });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Pairs of vertices of each graph of a batch (tiny/cpu/pairs.cpp), at most limit[graph] apart. weight is float64, or
  // empty for hops; distances are divided by unit[graph]. Matrices are [graphs, width, width] of any common dtype, and
  // paths [graphs, width, width, room], or empty: edge[slot] of the first arcs of a shortest path, -1 behind its end.
  // Lists have the pairs of each source, by default of each vertex, from its `begin` on: index [2, pairs], out [pairs],
  // paths [pairs, room]. All return [1], the most arcs of a path.
  m.def(
      "pair_matrices(Tensor rowptr, Tensor col, Tensor weight, Tensor unit, Tensor ptr, Tensor limit, Tensor edge, "
      "Tensor(a!) out, Tensor(b!) paths, float unreachable, float padding, Tensor(c!) control, int threads) -> Tensor");
  m.def(
      "pair_counts(Tensor rowptr, Tensor col, Tensor weight, Tensor ptr, Tensor limit, Tensor(a!) count, "
      "Tensor(b!) control, int threads, Tensor? sources=None) -> Tensor");
  m.def(
      "pair_list(Tensor rowptr, Tensor col, Tensor weight, Tensor unit, Tensor ptr, Tensor limit, Tensor edge, "
      "Tensor begin, Tensor(a!) index, Tensor(b!) out, Tensor(c!) paths, Tensor(d!) control, int threads, "
      "Tensor? sources=None) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("pair_matrices", TORCH_BOX(&pair_matrices));
  m.impl("pair_counts", TORCH_BOX(&pair_counts));
  m.impl("pair_list", TORCH_BOX(&pair_list));
}

}  // namespace torchcent
