// Codes of the operators' arguments, and limits, shared by Python and the libraries. torchcent/runtime/_codes.py has
// the same values, the operator `codes` lists them (core/cpu/codes.cpp), and a test compares the two.
#pragma once

#include <cstdint>

#include "core/measures.h"

namespace torchcent {

enum class Simd : int64_t { none = -1, portable = 0, avx2 = 1, avx512 = 2 };

// Whether the weight of a path depends on the depths at its ends.
constexpr bool by_depth(Measure measure) { return measure >= Measure::linear && measure <= Measure::proximal_target; }

enum class Engine : int64_t { lanes = 0, queue = 1 };
enum class WeightedEngine : int64_t { relax = 0, dijkstra = 1 };

// Number types for path counts, from narrow to wide: each rung is tried when the previous one overflows.
enum class Rung : int64_t { float32 = 0, float64 = 1, wide = 2 };

// Mapping of the threads of a CUDA block to a level (paths/cuda/strategies.cuh; with weights
// weighted/cuda/dijkstra.cuh).
// Virtual warps have 4, 8, 16 or 32 threads per vertex, with consecutive codes.
enum class Strategy : int64_t {
  automatic = 0,
  node_parallel = 1,   // a thread per vertex of the graph
  edge_parallel = 2,   // a thread per slot of the graph
  work_efficient = 3,  // a thread per vertex of the level
  warp_4 = 4,          // several threads per vertex of the level
  warp_8 = 5,
  warp_16 = 6,
  warp_32 = 7,
  cooperative = 8,            // idle warps fetch vertices
  node_parallel_warp_4 = 10,  // several threads per vertex of the graph
  node_parallel_warp_8 = 11,
  node_parallel_warp_16 = 12,
  node_parallel_warp_32 = 13,
};
constexpr int64_t kLocked = 16;  // may be added with weights: a lock per vertex; alone with work_efficient

// Launch configuration. The CPU uses `threads`, CUDA the other fields, if the engine has a choice; 0 leaves it to the
// engine.
struct Launch {
  int64_t threads = 0;
  int64_t flight = 0;    // concurrent batches
  int64_t lanes = 0;     // sources per batch
  int64_t strategy = 0;  // a Strategy
  int64_t blocks = 0;    // per multiprocessor
};

// State that an operator shares with other threads of the process while it runs; an int64 tensor on the host.
struct Control {
  int64_t cancel;  // nonzero: stop soon
  int64_t done;    // sources, samples or columns processed so far; read by the progress bar
  int64_t bytes;   // memory limit, <= 0: none; operators that can run in parts set -1 if it is too small
  int64_t work;    // scanned slots, if the engine counts them
};

// Above this value, the reciprocal of a double, or its product with a number of vertices, would leave the normal range.
// Path counts then use a separate exponent.
constexpr double kLargestCount = 1e290;

// Sources that share a private sum on the CPU; for lanes and relax also the sources processed side by side.
constexpr int64_t kLaneBatch = 64, kQueueBatch = 16, kRelaxBatch = 64, kDijkstraBatch = 16;
// Sources up to which each search of the queue and dijkstra engines is a batch of its own on the CPU.
constexpr int64_t kFewSearches = 64;
// Lanes of the bits engine: wide from this number of sources on, even if most lanes stay empty; on CUDA always wide.
constexpr int64_t kWideBits = 512, kNarrowBits = 64, kWideBitsFrom = 129;
// Lanes of the relax engine on CUDA.
constexpr int64_t kRelaxLanesOnCuda = 32;
// Maximum number of vertices per graph of the tiny engine, whose ids have 16 bits; its lanes on the CPU.
constexpr int64_t kTinyNodes = 2048, kTinyLanes = 64;
// Bound on distances of a hierarchy up to which they are int32: twice of it is far, and three times of it still an
// int32.
constexpr int64_t kLongestSingle = int64_t{1} << 29;

// For CUDA, also used to estimate memory (torchcent/engines/plan). Slots of a hub that a warp processes; longer
// chunks are used in graphs of many slots. Long chunks save partial rows, short ones shorten the tail of a level.
constexpr int64_t kChunk = 256, kLongChunk = 512, kManySlots = int64_t{1} << 23;
// Concurrent batches of the lanes and relax engines: until they have this many slots in total, or this many batches.
constexpr int64_t kBusySlots = int64_t{1} << 26, kMostInFlight = 32;
// Levels of the lanes engine for which a batch has masks at first; each further step adds half.
constexpr int64_t kFirstLevels = 8;
// Concurrent batches of the bits engine: until they have this many vertices in total, or this many batches.
constexpr int64_t kBusyRows = int64_t{1} << 22, kMostBitsInFlight = 256;

}  // namespace torchcent
