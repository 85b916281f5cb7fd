// Masks with one bit per lane of a batch, in one integer (a byte for up to 8 lanes), or two for 128 lanes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/cuda/threads.cuh"

namespace torchcent::cuda {

struct alignas(16) Mask128 {
  unsigned long long low, high;

  __device__ Mask128 operator~() const { return {~low, ~high}; }
  __device__ Mask128 operator&(Mask128 other) const { return {low & other.low, high & other.high}; }
  __device__ Mask128 operator|(Mask128 other) const { return {low | other.low, high | other.high}; }
  __device__ void operator&=(Mask128 other) { *this = *this & other; }
  __device__ void operator|=(Mask128 other) { *this = *this | other; }
};

template <int lanes>
using MaskOf = std::conditional_t<
    lanes <= 8, uint8_t,
    std::conditional_t<lanes == 32, unsigned, std::conditional_t<lanes == 64, unsigned long long, Mask128>>>;

__device__ inline bool any(uint8_t mask) { return mask != 0; }
__device__ inline bool any(unsigned mask) { return mask != 0; }
__device__ inline bool any(unsigned long long mask) { return mask != 0; }
__device__ inline bool any(Mask128 mask) { return (mask.low | mask.high) != 0; }

// The first `count` lanes, or all if there are fewer.
template <class Mask>
__device__ Mask first_lanes(int64_t count) {
  const auto ones = [](int64_t bits) { return bits >= 64 ? ~0ull : bits <= 0 ? 0ull : (1ull << bits) - 1; };
  if constexpr (sizeof(Mask) == 16) return {ones(count), ones(count - 64)};
  else return static_cast<Mask>(ones(count));
}

// Sets a bit atomically.
template <class Mask>
__device__ void set_lane(Mask* mask, int lane) {
  if constexpr (sizeof(Mask) < sizeof(unsigned)) {  // in the word that holds it
    const auto at = reinterpret_cast<uintptr_t>(mask), place = at % sizeof(unsigned);
    atomicOr(reinterpret_cast<unsigned*>(at - place), 1u << (8 * place + lane));
    return;
  }
  atomicOr(reinterpret_cast<unsigned*>(mask) + lane / 32, 1u << lane % 32);
}

template <class Mask>
__device__ Mask shuffle(Mask mask, int thread) {
  if constexpr (sizeof(Mask) == 16)
    return {__shfl_sync(kFullWarp, mask.low, thread), __shfl_sync(kFullWarp, mask.high, thread)};
  else if constexpr (sizeof(Mask) < sizeof(unsigned))
    return static_cast<Mask>(__shfl_sync(kFullWarp, unsigned{mask}, thread));
  else return __shfl_sync(kFullWarp, mask, thread);
}

// The union of the masks of these threads of a warp.
template <class Mask>
__device__ Mask any_of(unsigned threads, Mask mask) {
  if constexpr (sizeof(Mask) < sizeof(unsigned)) return static_cast<Mask>(__reduce_or_sync(threads, unsigned{mask}));
  unsigned words[(sizeof(Mask) + 3) / 4] = {};
  memcpy(words, &mask, sizeof mask);
#pragma unroll
  for (unsigned& word : words) word = __reduce_or_sync(threads, word);
  memcpy(&mask, words, sizeof mask);
  return mask;
}

// Bypasses L1, for values written by other blocks of the launch.
template <class Mask>
__device__ Mask load_mask(const Mask* address) {
  if constexpr (sizeof(Mask) == 16) {
    const ulonglong2 raw = __ldcg(reinterpret_cast<const ulonglong2*>(address));
    return {raw.x, raw.y};
  } else {
    return __ldcg(address);
  }
}

}  // namespace torchcent::cuda
