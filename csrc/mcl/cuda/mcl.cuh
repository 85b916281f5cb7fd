// The interface of the kernels of Markov clustering on CUDA, and sums that do not depend on the order of their terms. A
// column of the flow is expanded, pruned, measured and inflated by one warp or one block (the groups of
// mcl/cuda/mcl_group.cuh) in one of several accumulators (mcl/cuda/mcl_hash.cuh, mcl/cuda/mcl_dense.cuh), and only then
// written: M^2 is never stored (van Dongen 2000; in ELLPACK-R as in Bustamam, Burrage and Hamilton 2010, section
// 4.2.1).
//
// The bits are identical in every run, in every accumulator and (mcl/flow.h) on the CPU:
// - Entries are sums in the order of the walker's first step. Columns of M are added one after the other, and have no
//   duplicate rows, so that threads never conflict and floating-point numbers need no atomics.
// - Mass, sums of squares and the like are integers (units of 2^-60), which can be added in any order.
// - Selection is by value alone: entries equal to the smallest kept entry are kept, too.
#pragma once

#include <cstdint>

#include "mcl/mcl_step.h"
#include "core/cuda/run.cuh"
#include "mcl/flow.h"

namespace torchcent::cuda {

// Columns of the flow: entries of column j are at [begin[j], begin[j] + length[j]).
struct Flow {
  const int64_t* begin;
  const int32_t* length;
  const int32_t* row;
  const float* value;
};

struct NewFlow {
  const int64_t* begin;
  int32_t* length;  // also of columns that do not fit
  int32_t* row;
  float* value;
  int64_t room;  // maximum entries written per column
};

// Pruning and inflation; see mcl/mcl_step.h for the rules of pruning.
struct Rules {
  float threshold;          // entries below are cut; at least kLeast
  int32_t select, recover;  // 0: none
  int64_t mass;             // in units
  double inflation;
  int products;  // number of multiplications by M: expansion - 1
};

// The summary of an iteration, accumulated by the kernels.
struct Totals {
  unsigned long long chaos;                      // bits of a double >= 0, which are ordered as integers
  unsigned long long least_mass;                 // likewise
  unsigned long long kept;                       // entries
  unsigned long long poor, recovered, selected;  // columns; poor: those below Rules::mass
  unsigned long long mass;                       // of all columns, in units of 2^-32
  unsigned long long longest;                    // maximum entries of a new column
};

// Stages: kinds of kernels, from short to long columns. A column that does not fit moves on to another stage. Tables
// have sums of either type; the sums of kDense are float64 in small graphs.
enum Stage : int { kSmallExact, kLargeExact, kSmallTable, kLargeTable, kDense, kStages };

struct Job {
  int64_t n;
  Flow flow;
  NewFlow out;
  Rules rules;
  Totals* totals;
  int32_t* list;                 // [kStages][n] columns
  unsigned* count;               // [kStages] columns listed
  unsigned* ticket;              // [kStages] columns taken; kStop: no more
  unsigned long long* products;  // products of the expansion
  void* dense;                   // [blocks][n] accumulators in device memory
  int32_t* marked;               // [blocks] lists of their stretches in use
  // For intermediate products, [blocks][n]:
  int32_t* between_row;
  float* between_value;
};

constexpr unsigned kStop = 0x80000000u;

__device__ inline unsigned long long as_bits(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value));
}

// Statistics of an expanded column, and of its kept entries.
struct Measure {
  int32_t all = 0;                // entries
  int32_t count = 0;              // of kept entries, as are the following
  int64_t mass = 0, squares = 0;  // in units
  unsigned most = 0;              // bits of the largest value

  __device__ void merge(const Measure& other) {
    mass += other.mass;
    squares += other.squares;
    most = most > other.most ? most : other.most;
    count += other.count;
    all += other.all;
  }
};

struct Units {
  int64_t sum = 0;
  __device__ void merge(const Units& other) { sum += other.sum; }
};

// A sum of products, which are exact in float64.
__device__ inline float multiply_add(float weight, float value, float sum) { return __fmaf_rn(weight, value, sum); }

}  // namespace torchcent::cuda
