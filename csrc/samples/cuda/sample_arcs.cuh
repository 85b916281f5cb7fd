// The arcs that a search of samples/cuda/sample_hops.cuh scans, and how the threads of a team share them.
#pragma once

#include "core/cuda/run.cuh"

namespace torchcent::cuda {

constexpr int kTogether = 4;
static_assert(kTogether * sizeof(int32_t) == sizeof(int4), "a star is read by one load");

// The arcs of a vertex, 16 bytes that are read by one load: the heads of kTogether arcs at most, as in road networks,
// or where they are. A search waits for loads, each of which needs what the one before has found.
class Star {
 public:
  __device__ Star(const Arcs& arcs, int32_t u) {
    const int64_t begin = arcs.rowptr[u], degree = arcs.rowptr[u + 1] - begin;
    const int32_t* const head = arcs.col + begin;
    if (degree > kTogether)
      word_ = make_int4(kElsewhere, static_cast<int>(degree), static_cast<int>(begin), static_cast<int>(begin >> 32));
    else
      word_ = make_int4(degree > 0 ? head[0] : kNone, degree > 1 ? head[1] : kNone, degree > 2 ? head[2] : kNone,
                        degree > 3 ? head[3] : kNone);
  }
  __device__ explicit Star(const int4& word) : word_(word) {}
  __device__ static Star none() { return Star(make_int4(kNone, kNone, kNone, kNone)); }

  __device__ const int4& word() const { return word_; }
  __device__ bool is_few() const { return word_.x != kElsewhere; }
  __device__ int32_t degree() const {
    return is_few() ? (word_.x >= 0) + (word_.y >= 0) + (word_.z >= 0) + (word_.w >= 0) : word_.y;
  }
  __device__ int32_t few(int k) const { return k == 0 ? word_.x : k == 1 ? word_.y : k == 2 ? word_.z : word_.w; }
  __device__ int64_t begin() const { return static_cast<int64_t>(word_.w) << 32 | static_cast<uint32_t>(word_.z); }

 private:
  static constexpr int kNone = -1, kElsewhere = -2;
  int4 word_;
};

// All arcs in one direction.
struct Stars {
  const int4* star;    // [n]
  const int32_t* col;  // [m]

  __device__ Star operator[](int32_t u) const { return Star(__ldg(star + u)); }
  __device__ int32_t head(const Star& star, int32_t k) const {
    return star.is_few() ? star.few(k) : __ldg(col + star.begin() + k);
  }
};

__global__ void star_kernel(Arcs arcs, int64_t n, int4* stars) {
  const int64_t v = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (v < n) stars[v] = Star(arcs, static_cast<int32_t>(v)).word();
}

// Calls visit(v) for the heads of a star, by `width` threads, 1 or a warp: v are kTogether of them, so that loads can
// overlap, or -1.
template <class Visit>
__device__ void each_few(const Stars& arcs, const Star& star, int width, Visit visit) {
  const int degree = star.degree();
  for (int first = static_cast<int>(threadIdx.x) & (width - 1); first < degree; first += width * kTogether) {
    int32_t v[kTogether];
    if (star.is_few()) {
#pragma unroll
      for (int k = 0; k < kTogether; ++k) v[k] = width == 1 ? star.few(k) : k == 0 ? star.few(first) : -1;
    } else {
      const int32_t* const head = arcs.col + star.begin();
#pragma unroll
      for (int k = 0; k < kTogether; ++k) v[k] = first + width * k < degree ? __ldg(head + first + width * k) : -1;
    }
    visit(v);
  }
}

// The states of these heads; of -1, 0. Other threads may modify a state concurrently.
template <class States>
__device__ void look_up(const States& states, const int32_t (&v)[kTogether],
                        typename States::State (&known)[kTogether]) {
#pragma unroll
  for (int k = 0; k < kTogether; ++k) known[k] = v[k] >= 0 ? states(v[k]) : typename States::State(0);
}

// Calls visit(v, state of v) for the heads of a star.
template <class States, class Visit>
__device__ void each_neighbour(const Stars& arcs, const Star& star, int width, const States& states, Visit visit) {
  each_few(arcs, star, width, [&](const int32_t (&v)[kTogether]) {
    typename States::State known[kTogether];
    look_up(states, v, known);
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (v[k] >= 0) visit(v[k], known[k]);
  });
}

// Threads that work together: a block, or one of its halves.
struct Team {
  int thread, threads, half;

  __device__ static Team block() { return {static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x), 0}; }
  __device__ static Team half_block() {
    const int threads = static_cast<int>(blockDim.x) / 2, thread = static_cast<int>(threadIdx.x);
    return thread < threads ? Team{thread, threads, 0} : Team{thread - threads, threads, 1};
  }
};

// Calls visit(u, its star, width) for entries begin to end - 1, by a team. Each entry is processed by a warp, and idle
// warps fetch the next entry (`taken` is shared, and initially 0). If degrees are mostly small, each is processed by a
// thread, and those with more than kAlone arcs by a warp.
template <bool kByThread, class Entry, class Visit>
__device__ void each_entry(const Team& team, const Stars& arcs, int begin, int end, int& taken, Entry entry,
                           Visit visit) {
  constexpr int kAlone = 32;
  const int lane = threadIdx.x & 31;
  if constexpr (kByThread) {
    for (int first = begin + team.thread - lane; first < end; first += team.threads) {
      const int32_t u = first + lane < end ? entry(first + lane) : -1;
      const Star star = u >= 0 ? arcs[u] : Star::none();
      const bool large = star.degree() > kAlone;
      if (u >= 0 && !large) visit(u, star, 1);
      for (unsigned rest = __ballot_sync(~0u, large); rest != 0; rest &= rest - 1) {
        const int32_t hub = __shfl_sync(~0u, u, __ffs(rest) - 1);
        visit(hub, arcs[hub], 32);
      }
    }
  } else {
    for (;;) {
      int p = 0;
      if (lane == 0) p = begin + atomicAdd(&taken, 1);
      p = __shfl_sync(~0u, p, 0);
      if (p >= end) break;
      const int32_t u = entry(p);
      visit(u, arcs[u], 32);
    }
  }
}

}  // namespace torchcent::cuda
