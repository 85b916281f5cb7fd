// Sorting of words in the cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace torchcent {

inline uint64_t word_of(uint64_t word) { return word; }

// Sorts by the lowest `bits` bits of words, in passes of up to 11. `other` has room for as many.
template <class Item>
void radix_sort(Item* item, Item* other, int64_t count, int bits) {
  constexpr int kMostBits = 11;
  const int passes = (bits + kMostBits - 1) / kMostBits, digit = (bits + passes - 1) / passes;
  const uint64_t mask = (uint64_t{1} << digit) - 1;
  std::array<int64_t, (1 << kMostBits) + 1> place;
  Item *from = item, *to = other;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = pass * digit;
    std::fill_n(place.begin(), mask + 2, 0);
    for (int64_t i = 0; i < count; ++i) ++place[(word_of(from[i]) >> shift & mask) + 1];
    for (size_t d = 0; d <= mask; ++d) place[d + 1] += place[d];
    for (int64_t i = 0; i < count; ++i) to[place[word_of(from[i]) >> shift & mask]++] = from[i];
    std::swap(from, to);
  }
  if (from != item) std::copy(from, from + count, item);
}

}  // namespace torchcent
