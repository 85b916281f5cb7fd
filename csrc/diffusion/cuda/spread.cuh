// The diffusion from one source after the other, by a block: the steps of diffusion/cpu/spread.h, with the same bits.
// Sums are atomic sums of integers. tests/diffusion_text.cpp runs this text on the CPU.
#pragma once

#include <cstdint>

#include "core/cuda/threads.cuh"
#include "diffusion/steps.h"

namespace torchcent::cuda {

using diffusion::Steps;
using Mass = unsigned long long;  // units, below 2^63

constexpr int kSpreadThreads = 256;
constexpr unsigned kMany = 64;  // vertices that all threads of a block share the arcs of, at a step
constexpr int kDigit = 8;       // bits of a digit of numbers that are selected

// A vertex, for one source.
struct SpreadCell {
  Mass rest;  // the residual
  Mass mass;  // what stays
};

struct SpreadProblem {
  Arcs arcs;
  int64_t n;
  const double *weight, *strength, *scale;  // weight and scale may be null
  const int64_t* sources;
  int64_t number;
  Steps steps;
  int64_t top;
  int64_t *begin, *count, *target, room;
  void* value;
  bool narrow;        // float32
  Mass* taken;        // sources, and places of rows if top is 0
  char* workspace;    // of all blocks; cells are 0
  int64_t each, cap;  // bytes of a block, and entries of its lists
};

// Bytes of a block: cells of all vertices, `amount`, and four lists.
inline int64_t spread_bytes(int64_t n, int64_t cap) {
  return (n * static_cast<int64_t>(sizeof(SpreadCell)) + cap * (8 + 4 * 4) + 255) / 256 * 256;
}

// What the threads of a block share: lengths of lists, and the state of a selection.
struct SpreadCounters {
  unsigned now, next, touched, reached, written;
  unsigned many;  // vertices of many arcs
  int32_t large[kMany];
  bool full;  // whether a touched vertex is not listed
  int64_t row, first;
  Mass prefix;
  unsigned wanted;
  bool done;
  unsigned bins[1 << kDigit];
};

class BlockSpread {
 public:
  __device__ BlockSpread(const SpreadProblem& problem, SpreadCounters& counters)
      : problem_(problem), counters_(counters) {
    char* const own = problem.workspace + blockIdx.x * problem.each;
    cell_ = reinterpret_cast<SpreadCell*>(own);
    amount_ = reinterpret_cast<Mass*>(cell_ + problem.n);
    now_ = reinterpret_cast<int32_t*>(amount_ + problem.cap);
    next_ = now_ + problem.cap;
    touched_ = next_ + problem.cap;
    reached_ = touched_ + problem.cap;
  }

  __device__ void from(int32_t source) {
    const Steps& steps = problem_.steps;
    if (threadIdx.x == 0) {
      cell_[source].rest = static_cast<Mass>(diffusion::kAll);
      now_[0] = touched_[0] = source;
      counters_.now = counters_.touched = 1;
      counters_.reached = 0;
      counters_.full = false;
    }
    __syncthreads();
    for (int64_t step = 0; counters_.now > 0 && steps.has(step); ++step) {
      take(steps.gain[steps.at(step)]);
      if (!steps.has(step + 1)) break;
      move(steps.bound[steps.at(step + 1)]);
    }
  }

  // Writes the row of the i-th source.
  __device__ void write(int64_t i, int32_t source) {
    const unsigned size = counters_.reached;
    for (unsigned a = threadIdx.x; a < size; a += blockDim.x) {
      const int32_t v = reached_[a];
      const auto mass = static_cast<double>(cell_[v].mass);
      amount_[a] = bits_of(problem_.scale == nullptr ? mass : mass * problem_.scale[v]);
    }
    const auto top = static_cast<unsigned>(problem_.top);
    const bool is_cut = top > 0 && size > top;
    Mass least = 0, last = 0;  // entries of the rank `least` are written if ~vertex is at least `last`
    __syncthreads();
    if (is_cut) {
      const unsigned ties = nth_largest(64, top, least, [&](unsigned a, Mass& key) {
        key = amount_[a];
        return true;
      });
      if (ties > 0)
        nth_largest(32, ties, last, [&](unsigned a, Mass& key) {
          key = ~static_cast<uint32_t>(reached_[a]);
          return amount_[a] == least;
        });
    }
    const int64_t entries = is_cut ? top : size;
    if (threadIdx.x == 0) {
      const int64_t first =
          top > 0 ? i * problem_.top : static_cast<int64_t>(atomicAdd(problem_.taken + 1, Mass{size}));
      problem_.begin[i] = counters_.first = first;
      problem_.count[i] = first + entries <= problem_.room ? entries : -entries - 1;
      counters_.written = 0;
      counters_.done = first + entries > problem_.room;
    }
    __syncthreads();
    if (counters_.done) return;
    const double factor = 1 / diffusion::kWhole / (problem_.scale == nullptr ? 1 : problem_.scale[source]);
    for (unsigned a = threadIdx.x; a < size; a += blockDim.x) {
      const Mass rank = amount_[a];
      const int32_t v = reached_[a];
      if (rank < least || (rank == least && Mass{~static_cast<uint32_t>(v)} < last)) continue;
      const int64_t at = counters_.first + atomicAdd(&counters_.written, 1u);
      const double own = number_of(rank) * factor;
      problem_.target[at] = v;
      if (problem_.narrow) static_cast<float*>(problem_.value)[at] = static_cast<float>(own);
      else static_cast<double*>(problem_.value)[at] = own;
    }
  }

  // All cells are 0 again.
  __device__ void clear() {
    __syncthreads();
    for (unsigned a = threadIdx.x; a < counters_.reached; a += blockDim.x) cell_[reached_[a]] = {0, 0};
    const auto size = counters_.full ? 0 : counters_.touched;
    for (unsigned a = threadIdx.x; a < size; a += blockDim.x) cell_[touched_[a]].rest = 0;
    if (counters_.full)
      for (int64_t v = threadIdx.x; v < problem_.n; v += blockDim.x) cell_[v] = {0, 0};
    __syncthreads();
  }

 private:
  union Bits {
    double number;
    Mass bits;
  };
  __device__ static Mass bits_of(double number) {
    Bits both;
    both.number = number;
    return both.bits;
  }
  __device__ static double number_of(Mass bits) {
    Bits both;
    both.bits = bits;
    return both.number;
  }

  // Takes the mass of the vertices that move it.
  __device__ void take(double gain) {
    const unsigned size = counters_.now;
    for (unsigned a = threadIdx.x; a < size; a += blockDim.x) {
      const int32_t v = now_[a];
      SpreadCell& cell = cell_[v];
      const Mass amount = cell.rest;
      cell.rest = 0;
      amount_[a] = amount;
      const auto own = static_cast<Mass>(diffusion::staying(static_cast<int64_t>(amount), gain));
      if (own > 0 && cell.mass == 0) reached_[atomicAdd(&counters_.reached, 1u)] = v;
      cell.mass += own;
    }
    __syncthreads();
    if (!problem_.steps.lasts)
      for (unsigned a = threadIdx.x; a < counters_.touched; a += blockDim.x) cell_[touched_[a]].rest = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
      if (!problem_.steps.lasts) counters_.touched = 0;
      counters_.next = 0;
      counters_.many = 0;
    }
    __syncthreads();
  }

  // Few vertices have many threads each.
  __device__ void move(double bound) {
    const unsigned size = counters_.now;
    const unsigned width = size >= 64 ? 8 : size >= 4 ? 32 : blockDim.x;
    const int64_t most = width == blockDim.x ? INT64_MAX : 32 * width;
    const unsigned lane = threadIdx.x % width;
    for (unsigned a = threadIdx.x / width; a < size; a += blockDim.x / width)
      if (degree(now_[a]) <= most) along(a, lane, width, bound);
      else if (lane == 0) leave(a, bound);
    __syncthreads();
    const unsigned many = counters_.many < kMany ? counters_.many : kMany;
    for (unsigned k = 0; k < many; ++k)
      along(static_cast<unsigned>(counters_.large[k]), threadIdx.x, blockDim.x, bound);
    __syncthreads();
    if (threadIdx.x == 0) counters_.now = counters_.next;
    int32_t* const list = now_;
    now_ = next_;
    next_ = list;
    __syncthreads();
  }

  __device__ int64_t degree(int32_t u) const { return problem_.arcs.rowptr[u + 1] - problem_.arcs.rowptr[u]; }

  // Leaves a vertex of many arcs to all threads, unless there are too many such vertices.
  __device__ void leave(unsigned a, double bound) {
    const unsigned at = atomicAdd(&counters_.many, 1u);
    if (at < kMany) counters_.large[at] = static_cast<int32_t>(a);
    else along(a, 0, 1, bound);
  }

  // Moves mass along the arcs of the a-th vertex, every `width`-th from `lane` on.
  __device__ void along(unsigned a, unsigned lane, unsigned width, double bound) {
    const int32_t u = now_[a];
    const int64_t begin = problem_.arcs.rowptr[u], end = problem_.arcs.rowptr[u + 1];
    if (begin == end) return;
    const double each =
        diffusion::per_weight(static_cast<int64_t>(amount_[a]), problem_.steps.follow, problem_.strength[u]);
    for (int64_t slot = begin + lane; slot < end; slot += width) {
      const double share = problem_.weight == nullptr ? each : each * problem_.weight[slot];
      const auto units = static_cast<Mass>(static_cast<int64_t>(share));
      if (units != 0) add(problem_.arcs.col[slot], units, bound);
    }
  }

  __device__ void add(int32_t v, Mass units, double bound) {
    SpreadCell& cell = cell_[v];
    const auto most = static_cast<Mass>(diffusion::most_units(bound, problem_.strength[v]));
    const Mass before = atomicAdd(&cell.rest, units);
    // Where mass stays, the vertex is listed already.
    if (before == 0 && (!problem_.steps.lasts || cell.mass == 0)) {
      const unsigned at = atomicAdd(&counters_.touched, 1u);
      if (at < problem_.cap) touched_[at] = v;
      else counters_.full = true;
    }
    if (before <= most && before + units > most) next_[atomicAdd(&counters_.next, 1u)] = v;
  }

  // The `rank`-th largest key of so many bits among the entries that have one, or what no other keys than the largest
  // `rank` are as large as. Returns how many of the entries with that key are among these, 0 for all.
  template <class KeyOf>
  __device__ unsigned nth_largest(int bits, unsigned rank, Mass& least, const KeyOf& key_of) {
    const unsigned size = counters_.reached;
    if (threadIdx.x == 0) counters_.prefix = 0, counters_.wanted = rank, counters_.done = false;
    int shift = bits;
    do {
      shift -= kDigit;
      for (unsigned b = threadIdx.x; b < 1u << kDigit; b += blockDim.x) counters_.bins[b] = 0;
      __syncthreads();
      const Mass prefix = counters_.prefix;
      for (unsigned a = threadIdx.x; a < size; a += blockDim.x) {
        Mass key;
        if (!key_of(a, key)) continue;
        key >>= shift;
        if (key >> kDigit == prefix) atomicAdd(counters_.bins + (key & ((1u << kDigit) - 1)), 1u);
      }
      __syncthreads();
      if (threadIdx.x == 0) {
        unsigned digit = (1u << kDigit) - 1, wanted = counters_.wanted;
        for (; counters_.bins[digit] < wanted; --digit) wanted -= counters_.bins[digit];
        counters_.prefix = prefix << kDigit | digit;
        counters_.wanted = wanted;
        counters_.done = counters_.bins[digit] == wanted;
      }
      __syncthreads();
    } while (!counters_.done && shift > 0);
    least = counters_.prefix << shift;
    const unsigned ties = counters_.done ? 0 : counters_.wanted;
    __syncthreads();
    return ties;
  }

  const SpreadProblem& problem_;
  SpreadCounters& counters_;
  SpreadCell* cell_;                            // [n]
  Mass* amount_;                                // [cap] of `now_`; bits of ranks of `reached_`
  int32_t *now_, *next_, *touched_, *reached_;  // [cap]
};

// Rows of all sources; a block takes one after the other.
__global__ __launch_bounds__(kSpreadThreads) void spread_rows(SpreadProblem problem) {
  __shared__ SpreadCounters counters;
  BlockSpread spread(problem, counters);
  for (;;) {
    if (threadIdx.x == 0) counters.row = static_cast<int64_t>(atomicAdd(problem.taken, Mass{1}));
    __syncthreads();
    const int64_t i = counters.row;
    if (i >= problem.number) return;
    const auto source = static_cast<int32_t>(problem.sources[i]);
    spread.from(source);
    spread.write(i, source);
    spread.clear();
  }
}

}  // namespace torchcent::cuda
