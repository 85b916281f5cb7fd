// What the kernels of Markov clustering on CUDA know of the operator, and sums that do not depend on the order of their
// terms. A column of the flow is expanded, pruned, measured and inflated by one warp or one block (the groups of
// mcl_group.cuh) in one of several accumulators (mcl_hash.cuh, mcl_dense.cuh), and only then written: M^2 is never
// stored (van Dongen 2000; in ELLPACK-R as in Bustamam, Burrage and Hamilton 2010, section 4.2.1).
//
// The same bits in every run, in every accumulator and (mcl/flow.h) on the CPU:
// - entries are sums in the order of the walker's first step: a column of M is added after the other, and has
//   no row twice, so that threads never meet and floating-point numbers need no atomics;
// - mass, sums of squares and the like are integers (units of 2^-60), for which any order will do;
// - selection is by value alone: what equals the smallest that stays, stays as well.
#pragma once

#include <cstdint>

#include "mcl/mcl_step.h"
#include "core/cuda/problem.cuh"
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
  int32_t* length;  // also of columns for which there is no room
  int32_t* row;
  float* value;
  int64_t room;  // entries of a column that are written
};

// Pruning and inflation; what pruning does is said in mcl/mcl_step.h.
struct Rules {
  float threshold;          // entries below are cut; at least kLeast
  int32_t select, recover;  // 0: none
  int64_t mass;             // in units
  double inflation;
  int products;  // M taken times a column so often: expansion - 1
};

// The summary of an iteration, as the kernels add to it.
struct Totals {
  unsigned long long chaos;                      // bits of a double >= 0, whose order is that of integers
  unsigned long long least_mass;                 // likewise
  unsigned long long kept;                       // entries
  unsigned long long poor, recovered, selected;  // columns, the first those of less than Rules::mass
  unsigned long long mass;                       // of all columns, in units of 2^-32
  unsigned long long longest;                    // entries of a new column
};

// Stages: kinds of kernels, from columns of few entries to those of many. What does not fit goes on to another stage.
// Tables have sums of either kind; those of kDense are float64 in small graphs.
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
  unsigned long long* products;  // that expansion is the sum of
  void* dense;                   // [blocks][n] accumulators in device memory
  int32_t* marked;               // [blocks] lists of their stretches that are in use
  // For products between the first and the last, [blocks][n]:
  int32_t* between_row;
  float* between_value;
};

constexpr unsigned kStop = 0x80000000u;

__device__ inline unsigned long long as_bits(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value));
}

// An expanded column, and what is kept of it.
struct Measure {
  int32_t all = 0;                // entries
  int32_t count = 0;              // of those kept, as all that follows
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

// A sum of products: in float64 they are exact.
__device__ inline float multiply_add(float weight, float value, float sum) { return __fmaf_rn(weight, value, sum); }

}  // namespace torchcent::cuda
