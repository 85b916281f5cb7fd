// What a search of samples/cuda/sample_hops.cuh knows of the vertices: which side has reached each, and at which level.
#pragma once

#include "core/cuda/run.cuh"
#include "samples/workspace.h"

namespace torchcent::cuda {

// For each vertex 0, or its level + 1, which is negative from the target. Paths are counted during the search.
class WideStates {
 public:
  using State = int32_t;
  using Word = int32_t;
  static constexpr bool counts_later = false;
  static int64_t words(int64_t n) { return n; }

  __device__ WideStates(int32_t* states, int64_t n) : depth_(states + blockIdx.x * n) {}

  __device__ State operator()(int32_t v) const { return *const_cast<const volatile int32_t*>(depth_ + v); }
  // Sets the state, if it is 0. Returns the word before, in which of() finds the state before.
  __device__ Word claim(int32_t v, int side, int level) const { return atomicCAS(depth_ + v, 0, state(side, level)); }
  __device__ static State of(Word word, int32_t) { return word; }
  __device__ static State state(int side, int level) { return side == 0 ? level + 1 : -level - 1; }
  __device__ static bool is_at(State known, int side, int level) { return known == state(side, level); }
  __device__ static bool is_of_other(State known, int side) { return side == 0 ? known < 0 : known > 0; }
  __device__ void forget(int32_t v) const { depth_[v] = 0; }

 private:
  int32_t* depth_;
};

// Four bits for each vertex, so that 64 of them, often neighbours in a mesh, share a sector of the cache: 0, or 1 +
// level % 3, the side, and whether the vertex is on a shortest path. In an undirected graph the levels of neighbours
// differ by at most one, so that % 3 tells them apart.
class NarrowStates {
 public:
  using State = unsigned;
  using Word = unsigned;
  static constexpr bool counts_later = true;
  static int64_t words(int64_t n) { return narrow_words(n); }

  __device__ NarrowStates(int32_t* states, int64_t n)
      : word_(reinterpret_cast<unsigned*>(states) + blockIdx.x * (n / 8 + 1)) {}

  __device__ State operator()(int32_t v) const { return of(*const_cast<const volatile unsigned*>(word_ + v / 8), v); }
  __device__ static State state(int side, int level) { return level % 3 + 1 + (side == 0 ? 0 : kTarget); }
  // In a level all threads write the same bits.
  __device__ Word claim(int32_t v, int side, int level) const { return add(v, state(side, level)); }
  __device__ static State of(Word word, int32_t v) { return word >> 4 * (v & 7) & 15; }
  __device__ static bool is_at(State known, int side, int level) { return (known & ~kOnPath) == state(side, level); }
  __device__ static bool is_of_other(State known, int side) {
    return known != 0 && ((known & kTarget) != 0) != (side != 0);
  }
  __device__ static bool is_on_path(State known) { return (known & kOnPath) != 0; }
  // Returns the word before.
  __device__ Word put_on_path(int32_t v) const { return add(v, kOnPath); }
  __device__ void forget(int32_t v) const { word_[v / 8] = 0; }  // and its neighbours in the word

 private:
  static constexpr unsigned kTarget = 4, kOnPath = 8;
  __device__ Word add(int32_t v, unsigned bits) const { return atomicOr(word_ + v / 8, bits << 4 * (v & 7)); }
  unsigned* word_;
};

// A list of each side in one array: that of the source upwards, that of the target downwards.
class TwoLists {
 public:
  static int64_t size(int64_t n) { return list_size(n); }
  __device__ TwoLists(int32_t* lists, int64_t n) : data_(lists + blockIdx.x * (n + 2)), last_(n + 1) {}
  __device__ int32_t& at(int side, int32_t i) const { return data_[side == 0 ? i : last_ - i]; }

 private:
  int32_t* data_;
  int64_t last_;
};

}  // namespace torchcent::cuda
