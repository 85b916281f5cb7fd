// An order for summing the path counts of all lanes: entries (vertex, lanes), each after the tails of its tight arcs in
// those lanes.
//
// It does not use distances: a lane of a vertex is ready when all tails are done. Vertices are tried in order of their
// mean distance, which is the order of nearly all lanes, so that few vertices are tried often. Only masks are read,
// which fit into the cache for all vertices.
#pragma once

#include "weighted/cpu/tight_arcs.h"

namespace torchcent::TORCHCENT_ISA {

// Sorts vertices approximately by a value, into 4096 buckets.
class SortedVertices {
 public:
  static constexpr int64_t kAhead = 8;  // number of entries past the end that are only prefetched

  explicit SortedVertices(int64_t nodes) : vertex_(nodes + kAhead), bucket_(kBuckets + 1) {}

  // Sorts the wanted vertices; returns their number.
  template <class Wanted>
  int64_t sort(int64_t n, const double* number, Wanted wanted) {
    double largest = 0;
    for (int64_t v = 0; v < n; ++v) largest = wanted(v) && number[v] > largest ? number[v] : largest;
    // The reciprocal of a value below 1e-304 may be infinite, which is not a valid bucket.
    constexpr double kMost = 0x1p1023;
    const double wide = largest > 0 ? (kBuckets - 1) / largest : 0;
    const double scale = wide < kMost ? wide : kMost;
    // A mean of distances near 1e308 may be infinite, and its product with 0 is NaN: these come last.
    const auto bucket = [&](int64_t v) {
      const double step = number[v] * scale;
      return step < kBuckets - 1 ? static_cast<int64_t>(step) : kBuckets - 1;
    };
    for (int64_t b = 0; b <= kBuckets; ++b) bucket_[b] = 0;
    for (int64_t v = 0; v < n; ++v)
      if (wanted(v)) ++bucket_[bucket(v) + 1];
    for (int64_t b = 0; b < kBuckets; ++b) bucket_[b + 1] += bucket_[b];
    const int64_t count = bucket_[kBuckets];
    for (int64_t v = 0; v < n; ++v)
      if (wanted(v)) vertex_[bucket_[bucket(v)]++] = static_cast<int32_t>(v);
    for (int64_t i = count; i < count + kAhead; ++i) vertex_[i] = 0;
    return count;
  }
  int32_t& operator[](int64_t i) { return vertex_[i]; }

 private:
  static constexpr int64_t kBuckets = 4096;

  Buffer<int32_t> vertex_;
  Buffer<int64_t> bucket_;
};

class LaneOrder {
 public:
  LaneOrder(int64_t nodes, const int64_t* cancel)
      : n_(nodes),
        cancel_(cancel),
        capacity_(kEntriesPerNode * nodes + 64),
        reached_(nodes),
        mean_(nodes),
        open_(nodes),
        todo_(nodes),
        done_(nodes),
        entry_(capacity_ + 1),
        entry_lanes_(capacity_ + 1) {}

  // To be set for every vertex: the lanes that reach it, and their mean distance.
  void set(int64_t v, uint64_t reached, double mean) {
    reached_[v] = reached;
    mean_[v] = mean;
  }

  // Only these lanes of each vertex.
  void keep(const uint64_t* lanes) {
    for (int64_t v = 0; v < n_; ++v) reached_[v] &= lanes[v];
  }

  // crowded: more entries than the capacity, so that fewer lanes must be used. endless: there is no order, because
  // weights were lost in rounding.
  enum class Result { done, cancelled, crowded, endless };

  [[gnu::noinline]] Result find(const TightArcs& by_head, const int64_t* sources, int64_t count) {
    const int32_t* const tail = by_head.vertex.data();
    const uint64_t* const lanes = by_head.lanes.data();
    for (int64_t v = 0; v < n_; ++v) done_[v] = 0;
    for (int64_t l = 0; l < count; ++l) done_[sources[l]] |= uint64_t{1} << l;
    for (int64_t v = 0; v < n_; ++v) todo_[v] = reached_[v] & ~done_[v];
    int64_t open = open_.sort(n_, mean_.data(), [&](int64_t v) { return todo_[v] != 0; });
    entries_ = 0;
    while (open > 0) {
      int64_t kept = 0;
      uint64_t progress = 0;
      for (int64_t i = 0; i < open; ++i) {
        if ((i & 0xfff) == 0 && cancelled(cancel_)) return Result::cancelled;
        by_head.prefetch(open_[i + open_.kAhead / 2]);
        const int32_t v = open_[i];
        const uint64_t ready = todo_[v] & ~waiting(tail, lanes, by_head.begin[v], by_head.begin[v + 1]);
        progress |= ready;
        entry_[entries_] = v;
        entry_lanes_[entries_] = ready;
        entries_ += ready != 0;
        if (entries_ > capacity_) return Result::crowded;
        done_[v] |= ready;
        todo_[v] &= ~ready;
        open_[kept] = v;
        kept += todo_[v] != 0;
      }
      if (progress == 0) return Result::endless;
      open = kept;
    }
    return Result::done;
  }

  int64_t num_nodes() const { return n_; }
  int64_t entries() const { return entries_; }
  int32_t vertex(int64_t i) const { return entry_[i]; }
  uint64_t lanes(int64_t i) const { return entry_lanes_[i]; }

 private:
  // Lanes in which the tail of one of these arcs is not done.
  uint64_t waiting(const int32_t* tail, const uint64_t* lanes, int64_t begin, int64_t end) const {
#if defined(TORCHCENT_AVX512)
    __m512i all = _mm512_setzero_si512();
    for (int64_t i = begin; i < end; i += 8) {
      const __mmask8 valid = end - i >= 8 ? 0xff : static_cast<__mmask8>((1 << (end - i)) - 1);
      const __m256i index = _mm256_maskz_loadu_epi32(valid, tail + i);
      const __m512i done = _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), valid, index, done_.data(), 8);
      all = _mm512_or_si512(all, _mm512_andnot_si512(done, _mm512_maskz_loadu_epi64(valid, lanes + i)));
    }
    return static_cast<uint64_t>(_mm512_reduce_or_epi64(all));
#else
    uint64_t all = 0;
    for (int64_t i = begin; i < end; ++i) all |= lanes[i] & ~done_[tail[i]];
    return all;
#endif
  }

  int64_t n_;
  const int64_t* cancel_;
  int64_t capacity_;
  int64_t entries_ = 0;
  Buffer<uint64_t> reached_;      // [n] lanes
  Buffer<double> mean_;           // [n] distance over the lanes that reach the vertex
  SortedVertices open_;           // vertices with remaining lanes
  Buffer<uint64_t> todo_, done_;  // [n] lanes
  Buffer<int32_t> entry_;
  Buffer<uint64_t> entry_lanes_;
};

}  // namespace torchcent::TORCHCENT_ISA
