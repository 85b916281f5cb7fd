// Whether stored arrays are a graph: a check in one pass, for files that were mapped and never sorted here.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/cpu/tasks.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// What is wrong, in the order in which faults are looked for (torchcent/graph/_file.py).
enum Fault : int64_t { kNone, kPointers, kHead, kOrder, kLoop, kWeight, kBetween, kAsymmetric };

// A fault and the row or slot where it is; of several threads, the first that finds one reports it.
class Found {
 public:
  void report(Fault fault, int64_t place) {
    int64_t none = kNone;
    if (fault_.compare_exchange_strong(none, fault)) place_ = place;
  }
  bool any() const { return fault_ != kNone; }
  int64_t fault() const { return fault_; }
  int64_t place() const { return place_; }

 private:
  std::atomic<int64_t> fault_{kNone}, place_{0};
};

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
uint64_t finalised(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

struct Stored {
  const int64_t* ptr;
  const int32_t* head;
  const double* weight;        // may be null
  const int64_t* graph_begin;  // of the graphs of a batch, and n; may be null
  int64_t n, slots, graphs;
  uint64_t key;

  uint64_t hash(int64_t tail, int64_t to, double length) const {
    const uint64_t arc = finalised((static_cast<uint64_t>(tail) << 32 | static_cast<uint64_t>(to)) ^ key);
    return finalised(arc + std::bit_cast<uint64_t>(length));
  }

  // Checks the slots begin to end. Returns the sum of the arcs' hashes less those of their reverses, which is 0 over
  // all slots if each arc has its reverse; with a random key it is otherwise 0 with a probability of about 2^-64.
  uint64_t check(int64_t begin, int64_t end, bool symmetric, Found& found) const {
    uint64_t sum = 0;
    int64_t row = std::upper_bound(ptr, ptr + n + 1, begin) - ptr - 1;
    int64_t graph =
        graph_begin == nullptr ? 0 : std::upper_bound(graph_begin, graph_begin + graphs + 1, row) - graph_begin - 1;
    for (int64_t slot = begin; slot < end; ++slot) {
      while (ptr[row + 1] <= slot) ++row;
      const int32_t to = head[slot];
      if (to < 0 || to >= n) return found.report(kHead, slot), 0;
      if (slot > ptr[row] && head[slot - 1] >= to) return found.report(kOrder, slot), 0;
      if (to == row) return found.report(kLoop, slot), 0;
      const double length = weight == nullptr ? 0 : weight[slot];
      if (weight != nullptr && !(length > 0 && std::isfinite(length))) return found.report(kWeight, slot), 0;
      if (graph_begin != nullptr) {
        while (graph_begin[graph + 1] <= row) ++graph;
        if (to < graph_begin[graph] || to >= graph_begin[graph + 1]) return found.report(kBetween, slot), 0;
      }
      if (symmetric) sum += hash(row, to, length) - hash(to, row, length);
    }
    return sum;
  }
};

}  // namespace

// [fault, place]: fault is 0 for a graph, else place is a row or a slot. graph_begin must be ascending from 0 to n.
// With `symmetric`, each arc must have its reverse, of equal weight.
Tensor stored_fault(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight,
                    std::optional<Tensor> graph_begin, bool symmetric, int64_t key, int64_t threads) {
  Stored graph = {};
  graph.ptr = rowptr.const_data_ptr<int64_t>();
  graph.head = col.const_data_ptr<int32_t>();
  graph.weight = weight ? weight->const_data_ptr<double>() : nullptr;
  graph.graph_begin = graph_begin ? graph_begin->const_data_ptr<int64_t>() : nullptr;
  graph.n = rowptr.numel() - 1;
  graph.slots = col.numel();
  graph.graphs = graph_begin ? graph_begin->numel() - 1 : 0;
  graph.key = static_cast<uint64_t>(key);
  Found found;
  each_range(threads_for(graph.n, threads), graph.n, [&](int64_t begin, int64_t end) {
    for (int64_t v = begin; v < end; ++v)
      if (graph.ptr[v] > graph.ptr[v + 1]) return found.report(kPointers, v);
  });
  if (graph.ptr[0] != 0 || graph.ptr[graph.n] != graph.slots) found.report(kPointers, 0);
  if (!found.any()) {
    std::atomic<uint64_t> sum{0};
    each_range(threads_for(graph.slots, threads), graph.slots, [&](int64_t begin, int64_t end) {
      if (!found.any()) sum += graph.check(begin, end, symmetric, found);
    });
    if (symmetric && !found.any() && sum != 0) found.report(kAsymmetric, 0);
  }
  Tensor result = torch::stable::new_empty(rowptr, {2}, ScalarType::Long);
  result.mutable_data_ptr<int64_t>()[0] = found.fault();
  result.mutable_data_ptr<int64_t>()[1] = found.place();
  return result;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  m.def(
      "stored_fault(Tensor rowptr, Tensor col, Tensor? weight, Tensor? graph_begin, bool symmetric, int key, "
      "int threads=1) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("stored_fault", TORCH_BOX(&stored_fault)); }

}  // namespace torchcent
