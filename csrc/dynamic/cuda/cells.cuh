// What is known of a source and a vertex: the number of shortest paths, and the share of the vertex, which is its
// dependency over that number (dynamic/cpu/row.h). Both are integers.
#pragma once

#include <cstdint>

#include "dynamic/fixed.h"

namespace torchcent::cuda {

using dynamic::Unsigned;
using Word = unsigned long long;

// Adds to a number of two words, the lower one first.
__device__ inline void add_to(Word* at, Unsigned value) {
  const auto low = static_cast<Word>(value);
  const Word before = atomicAdd(at, low);
  const Word high = static_cast<Word>(value >> 64) + (before + low < before ? 1 : 0);
  if (high != 0) atomicAdd(at + 1, high);
}
__device__ inline void add_to(Unsigned* at, Unsigned value) { add_to(reinterpret_cast<Word*>(at), value); }
__device__ inline void add_to(Word* at, Word value) { atomicAdd(at, value); }

// The 24 bytes of the CPU, of rows that are not rounded. Shares are multiples of 2^-96.
struct WideCell {
  using Share = Unsigned;
  static constexpr double kMost = 0x1p53;  // paths

  double paths;
  Word low, high;

  __device__ double count() const { return paths; }
  __device__ void set_count(double value) { paths = value; }
  __device__ Share share() const { return static_cast<Share>(high) << 64 | low; }
  __device__ void set_share(Share value) { low = static_cast<Word>(value), high = static_cast<Word>(value >> 64); }

  // What a vertex with so many paths adds to the shares of its predecessors, besides its own share.
  __device__ static Share reciprocal(double count, double) { return dynamic::fixed(0x1p32 / count); }
  __device__ static double dependency(double count, Share share, double) {
    return count * (static_cast<double>(static_cast<Word>(share >> 64)) * 0x1p-32 +
                    static_cast<double>(static_cast<Word>(share)) * 0x1p-96);
  }
};
static_assert(sizeof(WideCell) == 24);

// Half of the bytes: paths up to 2^32, and shares as multiples of 1 / unit, which is a power of two such that all
// shares, which are below n, fit.
struct NarrowCell {
  using Share = Word;
  static constexpr double kMost = 0xffffffffp0;

  uint32_t paths, low, high;

  __device__ double count() const { return paths; }
  __device__ void set_count(double value) { paths = static_cast<uint32_t>(value); }
  __device__ Share share() const { return static_cast<Share>(high) << 32 | low; }
  __device__ void set_share(Share value) {
    low = static_cast<uint32_t>(value), high = static_cast<uint32_t>(value >> 32);
  }

  __device__ static Share reciprocal(double count, double unit) { return static_cast<Share>(unit / count + 0.5); }
  __device__ static double dependency(double count, Share share, double unit) {
    return count * (static_cast<double>(share) / unit);
  }
};
static_assert(sizeof(NarrowCell) == 12);

}  // namespace torchcent::cuda
