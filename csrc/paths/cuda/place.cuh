// Finds the place of a vertex in the queue of its source. Two implementations share one interface.
#pragma once

#include <cstdint>

namespace torchcent::cuda {

// Counters in shared memory, one set per block. Three counters rotate: one is incremented, one is read, one is reset.
struct Counters {
  int claimed[3];  // vertices of the next level found so far
  int taken[3];    // vertices of this level handed out (cooperative strategy)
  int full;        // a level did not fit
};

// Results of find() other than a place.
constexpr int kBeside = -1, kBelow = -2, kNew = -3;

// Hash tables of the last levels in shared memory. In an undirected graph, the neighbours of level L are in the levels
// L - 1, L and L + 1, so that a search needs only these three (frontier search: Korf and Zhang 2000). On a mesh, a
// level is a thousandth of the graph. A table holds keys (vertices) and places in the level. Four keys form a bucket,
// read by one 16-byte load, so that nearly every lookup takes a single step; with single probes, a warp waits for its
// longest chain.
class LevelTables {
 public:
  static constexpr bool by_vertex = false;
  static constexpr int kBytesPerEntry = 3 * (sizeof(int32_t) + sizeof(uint16_t));

  __device__ LevelTables(char* shared, int capacity, int32_t*, int32_t* queue, Counters& counters)
      : buckets_(capacity / 4), most_(capacity / 16 * 13), queue_(queue), counters_(counters) {
    keys_ = reinterpret_cast<int32_t*>(shared);
    places_ = reinterpret_cast<uint16_t*>(keys_ + 3 * capacity);
  }

  __device__ void start(int32_t source) {
    upper_ = 0, own_ = buckets_, lower_ = 2 * buckets_;
    clear(upper_), clear(own_), clear(lower_);
    __syncthreads();
    if (threadIdx.x == 0) put(own_, source, 0);
  }
  // The current level ends at `end`; the level above begins at upper_begin.
  __device__ void level(int upper_begin, int, int end, int* claimed) {
    upper_begin_ = upper_begin, end_ = end, claimed_ = claimed;
  }
  // Looks up a neighbour of this level: its place if it is above, otherwise kBeside, kBelow, or kNew.
  __device__ int find(int32_t v) const {
    const int home = hash(v);
    const int4 upper = bucket(upper_ + home), own = bucket(own_ + home), lower = bucket(lower_ + home);
    const int i = match(upper, v);
    int answer = i >= 0 ? upper_begin_ + places_[(upper_ + home) * 4 + i] : kNew;
    if (holds(own, v)) answer = kBeside;
    if (holds(lower, v)) answer = kBelow;
    if (answer == kNew && (upper.w != kEmpty || own.w != kEmpty)) {  // full: v may be in the following buckets
      const int found = upper.w != kEmpty ? slot(upper_, home, v) : -1;
      if (found >= 0) answer = upper_begin_ + places_[found];
      else if (own.w != kEmpty && slot(own_, home, v) >= 0) answer = kBeside;
    }
    return answer;
  }
  __device__ void claim(int32_t v) {
    if (*static_cast<volatile int*>(claimed_) > most_) {
      counters_.full = 1;
      return;
    }
    for (int b = hash(v), i = 0;;) {
      const int at = (lower_ + b) * 4 + i, key = atomicCAS(keys_ + at, kEmpty, v);
      if (key == v) return;
      if (key == kEmpty) {
        const int place = atomicAdd(claimed_, 1);
        places_[at] = place;
        queue_[end_ + place] = v;
        return;
      }
      if (++i == 4) i = 0, b = after(b);
    }
  }
  // The level is finished: its tables move up by one.
  __device__ void descend() {
    const int old = upper_;
    upper_ = own_, own_ = lower_, lower_ = old;
    clear(old);
    __syncthreads();
  }

  // Backward pass: `lower` holds the level below, `own` is filled, `upper` is cleared for the next step.
  __device__ void turn() { clear(upper_), clear(own_), clear(lower_); }
  __device__ int below(int32_t v, int lower_begin, int) const {
    const int home = hash(v);
    const int4 lower = bucket(lower_ + home);
    const int i = match(lower, v);
    if (i >= 0) return lower_begin + places_[(lower_ + home) * 4 + i];
    if (lower.w == kEmpty) return -1;
    const int found = slot(lower_, home, v);
    return found < 0 ? -1 : lower_begin + places_[found];
  }
  __device__ void leave(int32_t v, int place) { put(own_, v, place); }
  __device__ void ascend_begin() { clear(upper_); }
  __device__ void ascend() {
    const int old = lower_;
    lower_ = own_, own_ = upper_, upper_ = old;
  }
  __device__ void forget(int) {}

 private:
  static constexpr int32_t kEmpty = -1;

  __device__ int hash(int32_t v) const {
    return __umulhi(static_cast<uint32_t>(v) * 2654435769u, static_cast<uint32_t>(buckets_));
  }
  __device__ int4 bucket(int b) const {  // others may be filling it; atomicCAS finds what is not yet visible
    int4 k;
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(keys_ + b * 4));
    asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(k.x), "=r"(k.y), "=r"(k.z), "=r"(k.w)
                 : "r"(address));
    return k;
  }
  __device__ static int match(int4 k, int32_t v) {
    return k.x == v ? 0 : k.y == v ? 1 : k.z == v ? 2 : k.w == v ? 3 : -1;
  }
  __device__ static bool holds(int4 k, int32_t v) { return k.x == v || k.y == v || k.z == v || k.w == v; }
  __device__ int after(int b) const { return b + 1 == buckets_ ? 0 : b + 1; }
  // The slot of v in the buckets after its full home bucket, or -1.
  __device__ int slot(int table, int home, int32_t v) const {
    for (int b = after(home);; b = after(b)) {
      const int4 keys = bucket(table + b);
      const int i = match(keys, v);
      if (i >= 0) return (table + b) * 4 + i;
      if (keys.w == kEmpty) return -1;
    }
  }
  __device__ void put(int table, int32_t v, int place) {
    for (int b = hash(v), i = 0;;) {
      const int at = (table + b) * 4 + i;
      if (atomicCAS(keys_ + at, kEmpty, v) == kEmpty) {
        places_[at] = place;
        return;
      }
      if (++i == 4) i = 0, b = after(b);
    }
  }
  __device__ void clear(int table) {
    int4* const keys = reinterpret_cast<int4*>(keys_) + table;
    for (int i = threadIdx.x; i < buckets_; i += blockDim.x) keys[i] = make_int4(kEmpty, kEmpty, kEmpty, kEmpty);
  }

  int32_t* keys_;     // [3][capacity]
  uint16_t* places_;  // [3][capacity]
  int buckets_, most_;
  int upper_ = 0, own_ = 0, lower_ = 0;  // first buckets of the tables
  int upper_begin_ = 0, end_ = 0;
  int* claimed_ = nullptr;
  int32_t* queue_;
  Counters& counters_;
};

// The place of every vertex in device memory, for any graph and levels of any size.
class PlaceArray {
 public:
  static constexpr bool by_vertex = true;

  __device__ PlaceArray(char*, int, int32_t* place, int32_t* queue, Counters&) : place_(place), queue_(queue) {}

  __device__ void start(int32_t source) {
    if (threadIdx.x == 0) place_[source] = 0;
  }
  __device__ void level(int upper_begin, int begin, int end, int* claimed) {
    upper_begin_ = upper_begin, begin_ = begin, end_ = end, claimed_ = claimed;
  }
  __device__ int find(int32_t v) const {  // others may be writing it: a relaxed load, which may hit in L1
    int place;
    asm volatile("ld.relaxed.cta.global.s32 %0, [%1];" : "=r"(place) : "l"(place_ + v));
    if (place == -1) return kNew;
    if (place < 0 || place >= end_) return kBelow;
    return place >= upper_begin_ && place < begin_ ? place : kBeside;
  }
  __device__ void claim(int32_t v) {
    if (atomicCAS(place_ + v, -1, kClaimed) != -1) return;
    const int own = end_ + atomicAdd(claimed_, 1);
    *const_cast<volatile int32_t*>(place_ + v) = own;
    queue_[own] = v;
  }
  __device__ void descend() {}
  __device__ void turn() {}
  __device__ int below(int32_t v, int lower_begin, int lower_end) const {
    const int place = place_[v];
    return place >= lower_begin && place < lower_end ? place : -1;
  }
  __device__ void leave(int32_t, int) {}
  __device__ void ascend_begin() {}
  __device__ void ascend() {}
  __device__ void forget(int reached) {
    for (int p = threadIdx.x; p < reached; p += blockDim.x) place_[queue_[p]] = -1;
  }

 private:
  static constexpr int32_t kClaimed = -2;  // claimed, without a place yet

  int32_t* place_;  // [n], -1 if not reached
  int32_t* queue_;
  int upper_begin_ = 0, begin_ = 0, end_ = 0;
  int* claimed_ = nullptr;
};

}  // namespace torchcent::cuda
