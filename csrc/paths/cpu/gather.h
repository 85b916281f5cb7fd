// The inner loop of the lanes engine: finds the neighbours that share lanes with a vertex, and sums their rows in those
// lanes.
#pragma once

#include "core/cpu/simd.h"

namespace torchcent::TORCHCENT_ISA {

constexpr int kChunk = 64;    // hits between two flushes of the sum
constexpr int kPrefetch = 4;  // rows fetched ahead

template <class T>
inline void prefetch_row(const T* rows, int64_t v) {
  const char* row = reinterpret_cast<const char*>(rows + v * Row<T>::lanes);
  for (int line = 0; line < kRowBytes; line += 64) __builtin_prefetch(row + line);
}

// Collects neighbours in slots [begin, end) whose mask intersects `need`, at most kChunk of them, and returns the next
// slot. Slots are stored only for edge scores.
template <bool WithSlots>
inline int64_t collect(const int32_t* col, int64_t begin, int64_t end, uint64_t need, const uint64_t* masks,
                       int32_t* hit, uint64_t* hit_mask, int64_t* hit_slot, int& count) {
  count = 0;
#if defined(TORCHCENT_AVX512)
  const __m512i wanted = _mm512_set1_epi64(static_cast<int64_t>(need));
  const __m512i step = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  for (; begin < end && count < kChunk; begin += 8) {
    const __mmask8 valid = end - begin >= 8 ? 0xff : static_cast<__mmask8>((1 << (end - begin)) - 1);
    const __m256i index = _mm256_maskz_loadu_epi32(valid, col + begin);
    const __m512i mask =
        _mm512_and_si512(_mm512_mask_i32gather_epi64(_mm512_setzero_si512(), valid, index, masks, 8), wanted);
    const __mmask8 hits = _mm512_test_epi64_mask(mask, mask);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(hit + count), _mm256_maskz_compress_epi32(hits, index));
    _mm512_storeu_si512(hit_mask + count, _mm512_maskz_compress_epi64(hits, mask));
    if constexpr (WithSlots) {
      const __m512i slot = _mm512_add_epi64(_mm512_set1_epi64(begin), step);
      _mm512_storeu_si512(hit_slot + count, _mm512_maskz_compress_epi64(hits, slot));
    }
    count += __builtin_popcount(hits);
  }
#else
  for (; begin < end && count < kChunk; ++begin) {
    const int32_t u = col[begin];
    const uint64_t mask = masks[u] & need;
    hit[count] = u;
    hit_mask[count] = mask;
    if constexpr (WithSlots) hit_slot[count] = begin;
    count += mask != 0;
  }
#endif
  return begin;
}

// The same for arcs that have their own masks, shifted by `shift` lanes; begin counts arcs of that list.
template <bool WithSlots>
inline int64_t collect_listed(const int32_t* vertex, const uint64_t* lanes, const int64_t* slots, int shift,
                              int64_t begin, int64_t end, uint64_t need, int32_t* hit, uint64_t* hit_mask,
                              int64_t* hit_slot, int& count) {
  count = 0;
#if defined(TORCHCENT_AVX512)
  const __m512i wanted = _mm512_set1_epi64(static_cast<int64_t>(need));
  const __m128i places = _mm_cvtsi32_si128(shift);
  for (; begin < end && count < kChunk; begin += 8) {
    const __mmask8 valid = end - begin >= 8 ? 0xff : static_cast<__mmask8>((1 << (end - begin)) - 1);
    const __m256i index = _mm256_maskz_loadu_epi32(valid, vertex + begin);
    const __m512i all = _mm512_srl_epi64(_mm512_maskz_loadu_epi64(valid, lanes + begin), places);
    const __m512i mask = _mm512_and_si512(all, wanted);
    const __mmask8 hits = _mm512_test_epi64_mask(mask, mask);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(hit + count), _mm256_maskz_compress_epi32(hits, index));
    _mm512_storeu_si512(hit_mask + count, _mm512_maskz_compress_epi64(hits, mask));
    if constexpr (WithSlots)
      _mm512_storeu_si512(hit_slot + count,
                          _mm512_maskz_compress_epi64(hits, _mm512_maskz_loadu_epi64(valid, slots + begin)));
    count += __builtin_popcount(hits);
  }
#else
  for (; begin < end && count < kChunk; ++begin) {
    const uint64_t mask = lanes[begin] >> shift & need;
    hit[count] = vertex[begin];
    hit_mask[count] = mask;
    if constexpr (WithSlots) hit_slot[count] = slots[begin];
    count += mask != 0;
  }
#endif
  return begin < end ? begin : end;
}

// sum += rows of the vertices found by collect(begin, hit, hit_mask, hit_slot, count) from `begin` to `end`. Returns
// the lanes that received a term. If WithSlots, on_hit(slot, row, mask) is called for each hit. Unit: 1 is taken
// for every entry of a row.
template <bool WithSlots, bool Unit, class T, class Collect, class OnHit>
inline uint64_t gather_hits(int64_t begin, int64_t end, const T* rows, RowSum<T>& sum, Collect collect, OnHit on_hit) {
  int32_t hit[kChunk + 8];
  uint64_t hit_mask[kChunk + 8];
  int64_t hit_slot[WithSlots ? kChunk + 8 : 1];
  uint64_t got = 0;
  while (begin < end) {
    int count;
    begin = collect(begin, hit, hit_mask, hit_slot, count);
    for (int j = 0; j < kPrefetch && j < count && !Unit; ++j) prefetch_row(rows, hit[j]);
    Row<T> partial = sum.partial;
    for (int j = 0; j < count; ++j) {
      if (j + kPrefetch < count && !Unit) prefetch_row(rows, hit[j + kPrefetch]);
      const T* row = rows + int64_t{hit[j]} * Row<T>::lanes;
      if constexpr (Unit) partial.masked_increment(hit_mask[j]);
      else partial.masked_add(row, hit_mask[j]);
      if constexpr (WithSlots) on_hit(hit_slot[j], row, hit_mask[j]);
      got |= hit_mask[j];
    }
    sum.partial = partial;
    if (begin < end) sum.flush();
  }
  return got;
}

// The same for several rows of each neighbour, without slots.
template <int rows, class T>
inline void gather_rows(const Csr& graph, int64_t v, uint64_t need, const uint64_t* masks, const T* const (&from)[rows],
                        RowSum<T> (&sum)[rows]) {
  int32_t hit[kChunk + 8];
  uint64_t hit_mask[kChunk + 8];
  const int64_t end = graph.rowptr[v + 1];
  for (int64_t begin = graph.rowptr[v]; begin < end;) {
    int count;
    begin = collect<false>(graph.col, begin, end, need, masks, hit, hit_mask, nullptr, count);
    for (int j = 0; j < kPrefetch && j < count; ++j)
      for (int r = 0; r < rows; ++r) prefetch_row(from[r], hit[j]);
    Row<T> partial[rows];
    for (int r = 0; r < rows; ++r) partial[r] = sum[r].partial;
    for (int j = 0; j < count; ++j) {
      for (int r = 0; r < rows; ++r) {
        if (j + kPrefetch < count) prefetch_row(from[r], hit[j + kPrefetch]);
        partial[r].masked_add(from[r] + int64_t{hit[j]} * Row<T>::lanes, hit_mask[j]);
      }
    }
    for (int r = 0; r < rows; ++r) {
      sum[r].partial = partial[r];
      if (begin < end) sum[r].flush();
    }
  }
}

// sum += rows of the neighbours of v in the lanes that they share with `need`.
template <bool WithSlots, bool Unit = false, class T, class OnHit>
inline uint64_t gather(const Csr& graph, int64_t v, uint64_t need, const uint64_t* masks, const T* rows, RowSum<T>& sum,
                       OnHit on_hit) {
  const int64_t end = graph.rowptr[v + 1];
  const auto find = [&](int64_t begin, int32_t* hit, uint64_t* hit_mask, int64_t* hit_slot, int& count) {
    return collect<WithSlots>(graph.col, begin, end, need, masks, hit, hit_mask, hit_slot, count);
  };
  return gather_hits<WithSlots, Unit>(graph.rowptr[v], end, rows, sum, find, on_hit);
}

}  // namespace torchcent::TORCHCENT_ISA
