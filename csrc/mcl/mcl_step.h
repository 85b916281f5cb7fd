// The interface of a kernel of Markov clustering, for the loop over columns (mcl/cpu/mcl.cpp).
//
// Terminology of van Dongen (Graph clustering by flow simulation, 2000): the flow is a column-stochastic matrix M,
// whose column j is the distribution of the walker's next vertex from vertex j. An iteration expands it, M^e, prunes
// every column, and inflates the result: entries ** r, columns rescaled to 1 (equations 1 and 2 of Bustamam, Burrage
// and Hamilton 2010).
#pragma once

#include <cstdint>
#include <memory>

#include "core/cpu/simd_level.h"

namespace torchcent {

// Sums of products are float64 in graphs of at most kExactNodes vertices, and in columns of M^2 with at most
// kExactProducts products, otherwise float32. On CUDA, this number of products gives no more entries than a table
// holds.
constexpr int64_t kExactNodes = 512, kExactProducts = 767;

struct Flow {
  int64_t num_nodes;
  const int64_t* begin;   // [n] start of column j
  const int32_t* length;  // [n] number of its entries,
  const int32_t* row;     // with ascending rows
  const float* value;
};

// The same flow in two other orders, for kernels that omit products that pruning makes irrelevant
// (mcl/cpu/flow_filter.h).
struct FlowEntry {
  int32_t place;  // column or row
  float value;
};
struct FlowIndex {
  // By row: the entries of row i are at [row_begin[i], row_begin[i + 1]), columns ascending.
  const int64_t* row_begin;
  const FlowEntry* by_row;
  // By column, approximately by decreasing value: by classes of powers of two. Column k begins at column_begin[k], and
  // up_to[kValueClasses * k + c] of its entries are in the classes 0 ... c.
  const int64_t* column_begin;
  const FlowEntry* sorted;
  const int32_t* up_to;
};
constexpr int kValueClasses = 32;
constexpr float kLeftOut = 0.25f;  // fraction of the threshold that may be omitted

// The class of values in [2^-c, 2^(1-c)); negative above 1; the last class holds all smaller values.
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
  double inflation;        // r; 1: columns are only rescaled
  // Pruning of an expanded column, following mcl; a number <= 0 disables its step. Entries below `threshold` are cut.
  // If fewer than `recover` are left and their sum is below `mass`, the `recover` largest of the expanded column are
  // kept instead. Otherwise, if more than `select` are left, the `select` largest are kept; if then fewer than
  // `recover` are left and their sum is below `mass`, the `recover` largest of the uncut entries are kept. Entries
  // equal to the smallest kept entry are kept, too. A column is never emptied: its largest entries are kept.
  float threshold;
  int64_t select, recover;
  double mass;
  const int64_t* cancel;  // polled; nonzero: stop
};

// Summary of a column. mcl uses the sum of squares of the whole expanded column, which is larger by less than the
// threshold times the cut mass.
struct ColumnSummary {
  double chaos;  // (largest - sum of squares) * number of the entries kept by pruning, not rescaled
  double mass;   // their sum
  int64_t multiplications;
  int32_t kept;
  int32_t entries;  // of the next flow: some underflow in float32 during inflation
  bool recovered, selected;
};

// Receives the finished columns of a kernel.
class FlowSink {
 public:
  virtual ~FlowSink() = default;
  // Allocates the entries of a column; returns false if there is no room.
  virtual bool room(int32_t column, int32_t entries, int32_t*& row, float*& value) = 0;
};

// A kernel with its workspace; one per thread, reused for all its batches.
class FlowStep {
 public:
  virtual ~FlowStep() = default;
  // Computes the next flow's columns of these vertices; returns false if cancelled or out of room. `summary` is by
  // vertex.
  virtual bool run(const int32_t* columns, int64_t count, FlowSink& sink, ColumnSummary* summary) = 0;
};

TORCHCENT_LANE_KERNEL(std::unique_ptr<FlowStep> make_flow_step(const FlowProblem&))

}  // namespace torchcent
