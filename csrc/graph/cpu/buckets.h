// Arcs in any order, sorted bucket by bucket: buckets are consecutive rows, whose arcs fit into the cache.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "core/cpu/radix.h"
#include "core/cpu/tasks.h"

namespace torchcent {

constexpr int64_t kFewColumns = int64_t{1} << 15;  // below which a graph is built without buckets

struct Arcs {
  const int32_t *tail, *head;
  int64_t columns, n;
  bool reverse;  // adds the reverse of each arc

  // Calls take(tail, head, mark) for every arc of the columns except self-loops; mark is twice the column, and 1 more
  // for the reverse of the arc.
  template <class Take>
  void each(int64_t begin, int64_t end, Take take) const {
    for (int64_t e = begin; e < end; ++e) {
      const int32_t u = tail[e], v = head[e];
      if (u == v) continue;
      take(u, v, 2 * e);
      if (reverse) take(v, u, 2 * e + 1);
    }
  }
};

// Whether the columns are sorted by (tail, head), without loops and duplicates, as is common in data sets. Without
// branches, so that several columns are compared at once.
inline bool is_csr(const Arcs& arcs, int64_t threads) {
  std::atomic<bool> sorted{true};
  const int32_t *const tail = arcs.tail, *const head = arcs.head;
  if (arcs.columns > 0 && tail[0] == head[0]) return false;
  each_range(threads, arcs.columns - 1, [&](int64_t begin, int64_t end) {
    constexpr int64_t kLook = 4096;  // columns between two checks whether another range has failed
    for (int64_t first = begin; first < end && sorted; first += kLook) {
      int32_t good = 1;
      for (int64_t e = first; e < std::min(end, first + kLook); ++e) {
        const int32_t after = (tail[e] == tail[e + 1]) & (head[e] < head[e + 1]);
        good &= ((tail[e] < tail[e + 1]) | after) & (tail[e + 1] != head[e + 1]);
      }
      if (!good) sorted = false;
    }
  });
  return sorted;
}

// An arc as a word, and its mark: the column that it came from, and whether it is the reverse.
struct Numbered {
  uint64_t word;
  int64_t mark;
};

// A word whose lowest bit tells an arc from its reverse, and does not count for the order.
struct Sided {
  uint64_t word;

  uint64_t arc() const { return word >> 1; }
};

inline uint64_t word_of(const Numbered& arc) { return arc.word; }
inline uint64_t word_of(const Sided& arc) { return arc.arc(); }

inline bool earlier(const Numbered& a, const Numbered& b) {
  return a.word != b.word ? a.word < b.word : a.mark < b.mark;
}
inline bool earlier(const Sided& a, const Sided& b) { return a.word < b.word; }

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

// The arcs of the columns, in their buckets.
template <class Arc>
struct Bucketed {
  static constexpr int64_t kLine = 64 / sizeof(Arc);  // arcs that are written together: a line of the cache
  Buckets buckets;
  int64_t parts, room;
  std::vector<int64_t> first;  // [bucket * parts + part] where a part of the columns writes its arcs; then the end
  std::unique_ptr<Arc[]> arc;

  // make(word, mark) gives what is stored.
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
      arcs.each(begin, end, [&](int32_t u, int32_t v, int64_t mark) {
        const int64_t b = u >> buckets.shift;
        line[b * kLine + filled[b]] = make(buckets.pack(u, v), mark);
        if (++filled[b] < kLine) return;
        std::memcpy(&arc[place[b]], &line[b * kLine], kLine * sizeof(Arc));
        place[b] += kLine;
        filled[b] = 0;
      });
      for (int64_t b = 0; b < buckets.count; ++b) std::copy_n(&line[b * kLine], filled[b], arc.get() + place[b]);
    });
  }

  // Equal words stay in the order of the columns.
  std::span<Arc> sorted(int64_t bucket) {
    const std::span<Arc> found(arc.get() + first[bucket * parts], arc.get() + first[(bucket + 1) * parts]);
    const int64_t count = static_cast<int64_t>(found.size());
    if (count < 64 || count > room) {
      std::sort(found.begin(), found.end(), [](const Arc& a, const Arc& b) { return earlier(a, b); });
    } else {
      const std::unique_ptr<Arc[]> other = std::make_unique_for_overwrite<Arc[]>(count);
      radix_sort(found.data(), other.get(), count, buckets.shift + buckets.bits);
    }
    return found;
  }
};

}  // namespace torchcent
