// What the loop over columns (mcl.cpp) knows of a kernel of Markov clustering.
//
// Words of van Dongen (Graph clustering by flow simulation, 2000): the flow is a column-stochastic matrix M, whose
// column j says where a walker goes from vertex j. An iteration expands it, M^e, prunes every column, and inflates
// what is left: entries ** r, columns rescaled to 1 (equations 1 and 2 of Bustamam, Burrage and Hamilton 2010).
#pragma once

#include <cstdint>
#include <memory>

#include "core/cpu/simd_level.h"

namespace torchcent {

// Sums of products are float64 in graphs of up to so many vertices, and in columns of M^2 of up to so many products,
// else float32; also on CUDA, where so few products make no more entries than a table holds.
constexpr int64_t kExactNodes = 512, kExactProducts = 767;

struct Flow {
  int64_t num_nodes;
  const int64_t* begin;   // [n] column j lies at begin[j] ...
  const int32_t* length;  // [n] ... and has so many entries,
  const int32_t* row;     // rows ascending
  const float* value;
};

// The same flow in two other orders, for kernels that leave out what pruning would cut (flow_filter.h).
struct FlowEntry {
  int32_t place;  // column or row
  float value;
};
struct FlowIndex {
  // By row: the entries of row i are at [row_begin[i], row_begin[i + 1]), columns ascending.
  const int64_t* row_begin;
  const FlowEntry* by_row;
  // By column, the largest values first, roughly: by classes of powers of two. Column k begins at column_begin[k],
  // and up_to[kValueClasses * k + c] of its entries are of the classes 0 ... c.
  const int64_t* column_begin;
  const FlowEntry* sorted;
  const int32_t* up_to;
};
constexpr int kValueClasses = 32;
constexpr float kLeftOut = 0.25f;  // share of the threshold that may be left out

// The class of values of [2^-c, 2^(1-c)); negative above 1, and the last one holds all that is smaller.
inline int value_class(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  const int c = 127 - static_cast<int>(bits >> 23);
  return c < kValueClasses ? c : kValueClasses - 1;
}

struct FlowProblem {
  Flow flow;
  const FlowIndex* index;  // or nullptr
  int64_t expansion;       // e
  double inflation;        // r; 1: columns are rescaled and that is all
  // Pruning of an expanded column, as mcl does it; a number <= 0 switches its step off. Entries below `threshold`
  // are cut. If fewer than `recover` are left and their sum is below `mass`, the `recover` largest of the expanded
  // column are taken instead. Else, if more than `select` are left, the `select` largest stay; and if then fewer
  // than `recover` are left and their sum is below `mass`, the `recover` largest of those not cut. What equals the
  // smallest that stays, stays as well. A column is never emptied: its largest entries stay.
  float threshold;
  int64_t select, recover;
  double mass;
  const int64_t* cancel;  // read now and then; non-zero: stop
};

// What became of a column. mcl takes the sum of squares of the whole expanded column, which is larger by less than the
// threshold times what was cut.
struct ColumnSummary {
  double chaos;  // (largest - sum of squares) * number of the entries that pruning left, not rescaled
  double mass;   // their sum
  int64_t multiplications;
  int32_t kept;
  int32_t entries;  // of the next flow: inflation makes some too small for float32
  bool recovered, selected;
};

// Takes the columns that a kernel has finished.
class FlowSink {
 public:
  virtual ~FlowSink() = default;
  // Room for the entries of a column; false if there is none left.
  virtual bool room(int32_t column, int32_t entries, int32_t*& row, float*& value) = 0;
};

// A kernel with its workspace; one per thread, run batch after batch.
class FlowStep {
 public:
  virtual ~FlowStep() = default;
  // The next flow's columns of these vertices; false if cancelled or out of room. `summary` is by vertex.
  virtual bool run(const int32_t* columns, int64_t count, FlowSink& sink, ColumnSummary* summary) = 0;
};

// One per instruction set, all compiled from kernels.h.
namespace portable {
std::unique_ptr<FlowStep> make_flow_step(const FlowProblem&);
}
#if defined(__x86_64__)
namespace avx2 {
std::unique_ptr<FlowStep> make_flow_step(const FlowProblem&);
}
namespace avx512 {
std::unique_ptr<FlowStep> make_flow_step(const FlowProblem&);
}
#endif

}  // namespace torchcent
