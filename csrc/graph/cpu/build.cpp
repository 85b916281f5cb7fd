// CSR from arcs in any order, on all threads. Arguments are validated in Python (torchcent/check), ids of arcs as
// copies: see vertex_ids.
//
// Arcs are divided into buckets of consecutive rows, each packed into a word (its row within the bucket, its column),
// and sorted bucket by bucket in the cache. The arcs are read twice and moved twice; everything else is proportional to
// the number of vertices. Which column an arc came from is not tracked: `slots` sorts the columns with their numbers
// when it is asked for.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/cpu/radix.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

constexpr int64_t kSmall = int64_t{1} << 15;  // columns

// Copies ids that other threads may modify concurrently: each is read once, and the copy is validated. Ids that do not
// fit int32 are truncated, and are detected by the smallest and the largest id.
template <class Id>
void copy_ids(const Tensor& edge_index, int32_t* copy, int64_t* range, int64_t threads) {
  const int64_t columns = edge_index.size(1), step = edge_index.stride(1);
  const Id* const id[] = {edge_index.const_data_ptr<Id>(), edge_index.const_data_ptr<Id>() + edge_index.stride(0)};
  std::atomic<Id> lowest{std::numeric_limits<Id>::max()}, highest{std::numeric_limits<Id>::min()};
  each_range(threads_for(columns, threads), columns, [&](int64_t begin, int64_t end) {
    Id low = std::numeric_limits<Id>::max(), high = std::numeric_limits<Id>::min();
    for (int64_t side = 0; side < 2; ++side)
      for (int64_t e = begin; e < end; ++e) {
        const Id v = __atomic_load_n(id[side] + e * step, __ATOMIC_RELAXED);
        low = std::min(low, v);
        high = std::max(high, v);
        copy[side * columns + e] = static_cast<int32_t>(v);
      }
    for (Id seen = lowest; low < seen && !lowest.compare_exchange_weak(seen, low);) {
    }
    for (Id seen = highest; high > seen && !highest.compare_exchange_weak(seen, high);) {
    }
  });
  range[0] = lowest;
  range[1] = highest;
}

struct Arcs {
  const int32_t *tail, *head;
  int64_t columns, n;
  bool reverse;  // adds the reverse of each arc

  // Calls take(tail, head, column) for every arc of the columns except self-loops.
  template <class Take>
  void each(int64_t begin, int64_t end, Take take) const {
    for (int64_t e = begin; e < end; ++e) {
      const int32_t u = tail[e], v = head[e];
      if (u == v) continue;
      take(u, v, e);
      if (reverse) take(v, u, e);
    }
  }
};

// Whether the columns are sorted by (tail, head), without loops and duplicates, as is common in data sets.
bool is_csr(const Arcs& arcs, int64_t threads) {
  std::atomic<bool> sorted{true};
  each_range(threads, arcs.columns, [&](int64_t begin, int64_t end) {
    constexpr int64_t kLook = 4096;  // columns between two checks whether another range has failed
    for (int64_t first = begin; first < end && sorted; first += kLook)
      for (int64_t e = first; e < std::min(end, first + kLook); ++e) {
        const int32_t u = arcs.tail[e], v = arcs.head[e];
        const bool after = e == 0 || arcs.tail[e - 1] < u || (arcs.tail[e - 1] == u && arcs.head[e - 1] < v);
        if (!after || u == v) {
          sorted = false;
          break;
        }
      }
  });
  return sorted;
}

std::tuple<Tensor, Tensor> sorted_csr(const Tensor& ids, const Arcs& arcs, int64_t threads) {
  Tensor rowptr = empty(ids, arcs.n + 1, ScalarType::Long);
  Tensor col = empty(ids, arcs.columns, ScalarType::Int);
  int64_t* const ptr = rowptr.mutable_data_ptr<int64_t>();
  int32_t* const head = col.mutable_data_ptr<int32_t>();
  // Each column begins the rows after the tail of the previous one, up to its own.
  each_range(threads, arcs.columns, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e)
      for (int64_t v = e == 0 ? 0 : int64_t{arcs.tail[e - 1]} + 1; v <= arcs.tail[e]; ++v) ptr[v] = e;
    std::copy(arcs.head + begin, arcs.head + end, head + begin);
  });
  for (int64_t v = arcs.columns == 0 ? 0 : int64_t{arcs.tail[arcs.columns - 1]} + 1; v <= arcs.n; ++v)
    ptr[v] = arcs.columns;
  return {rowptr, col};
}

// An arc as a word, and the column that it came from.
struct Numbered {
  uint64_t word;
  int64_t column;
};

using torchcent::word_of;
uint64_t word_of(const Numbered& arc) { return arc.word; }

// The buckets: rows whose numbers agree in all but the lowest `shift` bits.
struct Buckets {
  int bits;   // of a vertex
  int shift;  // of a row within its bucket
  int64_t count;

  Buckets(int64_t n, int64_t arcs)
      : bits(static_cast<int>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(n - 1, 1))))) {
    constexpr int64_t kInCache = 12'000, kMost = 4096;  // words of 8 bytes; buckets
    shift = bits;
    for (int64_t wanted = 1; shift > 0 && wanted < kMost && arcs / wanted > kInCache; wanted *= 2) --shift;
    count = n == 0 ? 0 : ((n - 1) >> shift) + 1;
  }
  // The row within the bucket and the column, in as few bits as possible; and back.
  uint64_t pack(int32_t u, int32_t v) const {
    return (static_cast<uint64_t>(u) & ((uint64_t{1} << shift) - 1)) << bits | static_cast<uint32_t>(v);
  }
  int64_t row(int64_t bucket, uint64_t word) const { return (bucket << shift) + static_cast<int64_t>(word >> bits); }
  int32_t col(uint64_t word) const { return static_cast<int32_t>(word & ((uint64_t{1} << bits) - 1)); }
};

// For graphs that fit into the cache: heads are spread over the rows, and each row is sorted.
std::tuple<Tensor, Tensor> small_csr(const Tensor& ids, const Arcs& arcs) {
  Tensor rowptr = empty(ids, arcs.n + 1, ScalarType::Long);
  int64_t* const ptr = rowptr.mutable_data_ptr<int64_t>();
  std::fill(ptr, ptr + arcs.n + 1, 0);
  arcs.each(0, arcs.columns, [&](int32_t u, int32_t, int64_t) { ++ptr[u + 1]; });
  for (int64_t v = 0; v < arcs.n; ++v) ptr[v + 1] += ptr[v];
  const std::unique_ptr<int32_t[]> head = std::make_unique_for_overwrite<int32_t[]>(ptr[arcs.n]);
  // ptr[v] moves to the end of row v, which is the start of row v + 1.
  arcs.each(0, arcs.columns, [&](int32_t u, int32_t v, int64_t) { head[ptr[u]++] = v; });
  int64_t slots = 0, first = 0;
  for (int64_t v = 0; v < arcs.n; ++v) {
    int32_t* const row = head.get() + std::exchange(first, ptr[v]);
    std::sort(row, head.get() + first);
    const int32_t* const end = std::unique(row, head.get() + first);
    ptr[v] = slots;
    std::copy(static_cast<const int32_t*>(row), end, head.get() + slots);
    slots += end - row;
  }
  ptr[arcs.n] = slots;
  Tensor col = empty(ids, slots, ScalarType::Int);
  std::copy_n(head.get(), slots, col.mutable_data_ptr<int32_t>());
  return {rowptr, col};
}

// The arcs of the columns, in their buckets.
template <class Arc>
struct Bucketed {
  static constexpr int64_t kLine = 64 / sizeof(Arc);  // arcs that are written together: a line of the cache
  Buckets buckets;
  int64_t parts, room;
  std::vector<int64_t> first;  // [bucket * parts + part] where a part of the columns writes its arcs; then the end
  std::unique_ptr<Arc[]> arc;

  // make(word, column) gives what is stored.
  template <class Make>
  Bucketed(const Arcs& arcs, int64_t threads, Make make)
      : buckets(arcs.n, arcs.columns * (arcs.reverse ? 2 : 1)), parts(threads), first(buckets.count * parts + 1, 0) {
    each_task(parts, parts, [&](int64_t part) {
      std::vector<int64_t> count(buckets.count, 0);
      const auto [begin, end] = part_of(arcs.columns, part, parts);
      arcs.each(begin, end, [&](int32_t u, int32_t, int64_t) { ++count[u >> buckets.shift]; });
      for (int64_t b = 0; b < buckets.count; ++b) first[b * parts + part + 1] = count[b];
    });
    for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    // Buckets larger than this are sorted in place, so that the memory of the threads stays small.
    room = std::max<int64_t>(int64_t{1} << 16, first.back() / (32 * parts));
    arc = std::make_unique_for_overwrite<Arc[]>(first.back());
    each_task(parts, parts, [&](int64_t part) {
      std::vector<int64_t> place(buckets.count);
      std::vector<Arc> line(buckets.count * kLine);
      std::vector<uint8_t> filled(buckets.count, 0);
      for (int64_t b = 0; b < buckets.count; ++b) place[b] = first[b * parts + part];
      const auto [begin, end] = part_of(arcs.columns, part, parts);
      arcs.each(begin, end, [&](int32_t u, int32_t v, int64_t column) {
        const int64_t b = u >> buckets.shift;
        line[b * kLine + filled[b]] = make(buckets.pack(u, v), column);
        if (++filled[b] < kLine) return;
        std::memcpy(&arc[place[b]], &line[b * kLine], kLine * sizeof(Arc));
        place[b] += kLine;
        filled[b] = 0;
      });
      for (int64_t b = 0; b < buckets.count; ++b) std::copy_n(&line[b * kLine], filled[b], arc.get() + place[b]);
    });
  }

  std::span<Arc> sorted(int64_t bucket) {
    const std::span<Arc> found(arc.get() + first[bucket * parts], arc.get() + first[(bucket + 1) * parts]);
    const int64_t count = static_cast<int64_t>(found.size());
    if (count < 64 || count > room) {
      std::sort(found.begin(), found.end(), [](const Arc& a, const Arc& b) { return word_of(a) < word_of(b); });
    } else {
      const std::unique_ptr<Arc[]> other = std::make_unique_for_overwrite<Arc[]>(count);
      radix_sort(found.data(), other.get(), count, buckets.shift + buckets.bits);
    }
    return found;
  }
};

std::tuple<Tensor, Tensor> unsorted_csr(const Tensor& ids, const Arcs& arcs, int64_t threads) {
  Bucketed<uint64_t> bucketed(arcs, threads, [](uint64_t word, int64_t) { return word; });
  const Buckets& buckets = bucketed.buckets;
  Tensor rowptr = empty(ids, arcs.n + 1, ScalarType::Long);
  int64_t* const ptr = rowptr.mutable_data_ptr<int64_t>();
  std::vector<int64_t> kept(buckets.count + 1, 0);
  each_task(threads, buckets.count, [&](int64_t b) {
    const std::span<uint64_t> word = bucketed.sorted(b);
    const int64_t left = std::unique(word.begin(), word.end()) - word.begin();
    int64_t row = b << buckets.shift;
    const int64_t end = std::min(arcs.n, (b + 1) << buckets.shift);
    for (int64_t i = 0; i < left; ++i)  // ptr: the start of each row within its bucket, for now
      for (; row <= buckets.row(b, word[i]); ++row) ptr[row] = i;
    for (; row < end; ++row) ptr[row] = left;
    kept[b + 1] = left;
  });
  for (int64_t b = 0; b < buckets.count; ++b) kept[b + 1] += kept[b];
  Tensor col = empty(ids, kept[buckets.count], ScalarType::Int);
  int32_t* const head = col.mutable_data_ptr<int32_t>();
  each_task(threads, buckets.count, [&](int64_t b) {
    const uint64_t* const word = bucketed.arc.get() + bucketed.first[b * bucketed.parts];
    for (int64_t i = 0; i < kept[b + 1] - kept[b]; ++i) head[kept[b] + i] = buckets.col(word[i]);
    for (int64_t row = b << buckets.shift; row < std::min(arcs.n, (b + 1) << buckets.shift); ++row) ptr[row] += kept[b];
  });
  ptr[arcs.n] = kept[buckets.count];
  return {rowptr, col};
}

// Calls take(slot, column) for every arc. Arcs are sorted once more, with their columns: to search for each in its row
// would wait for the memory several times, unless the graph is small.
template <class Take>
void each_slot(const Arcs& arcs, const int64_t* ptr, const int32_t* head, int64_t threads, Take take) {
  if (arcs.columns < kSmall) {
    arcs.each(0, arcs.columns, [&](int32_t u, int32_t v, int64_t column) {
      take(std::lower_bound(head + ptr[u], head + ptr[u + 1], v) - head, column);
    });
    return;
  }
  Bucketed<Numbered> bucketed(arcs, threads, [](uint64_t word, int64_t column) { return Numbered{word, column}; });
  each_task(threads, bucketed.buckets.count, [&](int64_t b) {
    int64_t place = 0, row = -1;
    for (const Numbered& arc : bucketed.sorted(b)) {  // rows may have more slots than these: those of reverse arcs
      if (const int64_t u = bucketed.buckets.row(b, arc.word); u != row) place = ptr[row = u];
      while (head[place] != bucketed.buckets.col(arc.word)) ++place;
      take(place, arc.column);
    }
  });
}

}  // namespace

bool symmetric(const Tensor& rowptr, const Tensor& col, std::optional<Tensor> weight, int64_t threads);

// A copy of the ids of int64 or int32 arcs with any strides, and [smallest, largest] of them.
std::tuple<Tensor, Tensor> vertex_ids(const Tensor& edge_index, int64_t threads) {
  Tensor ids = torch::stable::new_empty(edge_index, {2, edge_index.size(1)}, ScalarType::Int);
  Tensor range = empty(edge_index, 2, ScalarType::Long);
  int32_t* const copy = ids.mutable_data_ptr<int32_t>();
  int64_t* const ends = range.mutable_data_ptr<int64_t>();
  if (edge_index.scalar_type() == ScalarType::Int) copy_ids<int32_t>(edge_index, copy, ends, threads);
  else copy_ids<int64_t>(edge_index, copy, ends, threads);
  return {ids, range};
}

// ids: int32 [2, columns], in [0, n), not shared with other threads. Self-loops are dropped, duplicate arcs merged; the
// result has the reverse of each arc if `both` is set.
std::tuple<Tensor, Tensor> csr(const Tensor& ids, int64_t n, bool both, int64_t threads) {
  const int64_t columns = ids.size(1);
  const int32_t* const tail = ids.const_data_ptr<int32_t>();
  const Arcs arcs = {tail, tail + columns, columns, n, both};
  const int64_t workers = threads_for(columns, threads);
  if (is_csr(arcs, workers)) {
    auto found = sorted_csr(ids, arcs, workers);
    if (!both || symmetric(std::get<0>(found), std::get<1>(found), std::nullopt, threads)) return found;
  }
  return columns < kSmall ? small_csr(ids, arcs) : unsorted_csr(ids, arcs, workers);
}

// The slot of each column, -1 for a self-loop.
Tensor slots(const Tensor& ids, const Tensor& rowptr, const Tensor& col, int64_t threads) {
  const int64_t columns = ids.size(1);
  const int32_t* const tail = ids.const_data_ptr<int32_t>();
  const int64_t* const ptr = rowptr.const_data_ptr<int64_t>();
  const Arcs arcs = {tail, tail + columns, columns, rowptr.numel() - 1, false};
  const int64_t workers = threads_for(columns, threads);
  Tensor slot = empty(ids, columns, ScalarType::Long);
  int64_t* const found = slot.mutable_data_ptr<int64_t>();
  if (columns == col.numel() && is_csr(arcs, workers)) {
    std::iota(found, found + columns, int64_t{0});
    return slot;
  }
  each_range(workers, columns, [&](int64_t begin, int64_t end) { std::fill(found + begin, found + end, -1); });
  each_slot(arcs, ptr, col.const_data_ptr<int32_t>(), workers, [&](int64_t place, int64_t e) { found[e] = place; });
  return slot;
}

// The smallest weight among the columns of each slot; with `both`, a column counts for the slot of its reverse, too.
Tensor slot_weights(const Tensor& ids, const Tensor& weight, const Tensor& rowptr, const Tensor& col, bool both,
                    int64_t threads) {
  const int64_t columns = ids.size(1), slots = col.numel();
  const int32_t* const tail = ids.const_data_ptr<int32_t>();
  const double* const given = weight.const_data_ptr<double>();
  const Arcs arcs = {tail, tail + columns, columns, rowptr.numel() - 1, both};
  const int64_t workers = threads_for(columns, threads);
  Tensor result = empty(ids, slots, ScalarType::Double);
  double* const least = result.mutable_data_ptr<double>();
  if (!both && columns == slots && is_csr(arcs, workers)) {
    std::copy_n(given, columns, least);
    return result;
  }
  each_range(workers, slots, [&](int64_t begin, int64_t end) {
    std::fill(least + begin, least + end, std::numeric_limits<double>::infinity());
  });
  each_slot(arcs, rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>(), workers,
            [&](int64_t place, int64_t e) { least[place] = std::min(least[place], given[e]); });
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("vertex_ids", TORCH_BOX(&vertex_ids));
  m.impl("csr", TORCH_BOX(&csr));
  m.impl("slots", TORCH_BOX(&slots));
  m.impl("slot_weights", TORCH_BOX(&slot_weights));
}

}  // namespace torchcent
