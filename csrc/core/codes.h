// What Python and the libraries must agree on: codes of the operators' arguments, and limits.
// torchcent/runtime/_codes.py has the same, the operator `codes` lists them (core/cpu/codes.cpp) and a test compares
// the two.
#pragma once

#include <cstdint>

namespace torchcent {

enum class Simd : int64_t { portable = 0, avx2 = 1, avx512 = 2 };

// What is made of path counts: a visitor each (paths/betweenness.h).
enum class Measure : int64_t { betweenness = 0, edge_betweenness = 1, stress = 2, linear = 3 };

enum class Engine : int64_t { lanes = 0, queue = 1 };
enum class WeightedEngine : int64_t { relax = 0, dijkstra = 1 };

// The ladder of number types for path counts: each rung is tried when the one before overflows.
enum class Rung : int64_t { float32 = 0, float64 = 1, wide = 2 };

// How the threads of a CUDA block are spread over a level (paths/cuda/strategies.cuh; with weights
// weighted/cuda/dijkstra.cuh).
// Virtual warps are of 4, 8, 16 or 32 threads per vertex: codes that follow each other.
enum class Strategy : int64_t {
  automatic = 0,
  node_parallel = 1,   // a thread per vertex of the graph
  edge_parallel = 2,   // a thread per slot of the graph
  work_efficient = 3,  // a thread per vertex of the level
  warp_4 = 4,          // several threads per vertex of the level
  warp_8 = 5,
  warp_16 = 6,
  warp_32 = 7,
  cooperative = 8,            // warps take vertices when they are free
  node_parallel_warp_4 = 10,  // several threads per vertex of the graph
  node_parallel_warp_8 = 11,
  node_parallel_warp_16 = 12,
  node_parallel_warp_32 = 13,
};
constexpr int64_t kLocked = 16;  // may be added to those of weights: a lock per vertex; alone with work_efficient

// How a run is spread over the device. The CPU takes `threads`, CUDA the others, each where an engine has a choice; 0
// leaves it to the engine.
struct Launch {
  int64_t threads = 0;
  int64_t flight = 0;    // batches at a time
  int64_t lanes = 0;     // sources of a batch
  int64_t strategy = 0;  // a Strategy
  int64_t blocks = 0;    // per multiprocessor
};

// What an operator shares with the other threads of the process while it runs; an int64 tensor on the host.
struct Control {
  int64_t cancel;  // non-zero: stop soon
  int64_t done;    // sources, samples or columns so far; read by the progress bar
  int64_t bytes;   // of memory that may be taken, <= 0: any; what takes part of a job sets -1 if it was too little
  int64_t work;    // slots looked at, by those who count them
};

// Above this a double's reciprocal or a product with a count of vertices would leave the normal range: path counts go
// on with an exponent of their own.
constexpr double kLargestCount = 1e290;

// Sources that share a private sum on the CPU; of lanes and relax also those side by side.
constexpr int64_t kLaneBatch = 64, kQueueBatch = 16, kRelaxBatch = 64, kDijkstraBatch = 16;
// Sources side by side of the bits engine: wide from so many on, even if most lanes stay empty; on CUDA always wide.
constexpr int64_t kWideBits = 512, kNarrowBits = 64, kWideBitsFrom = 129;
// Sources side by side of the relax engine on CUDA.
constexpr int64_t kRelaxLanesOnCuda = 32;
// Vertices of one graph of the tiny engine, whose ids have 16 bits; sources side by side on the CPU.
constexpr int64_t kTinyNodes = 2048, kTinyLanes = 64;

// On CUDA, and the same in the arithmetic of memory (torchcent/engines/_room.py). Slots of a hub that a warp takes, and
// more of them in graphs of many slots: long chunks spare partial rows, short ones keep the ends of levels short.
constexpr int64_t kChunk = 256, kLongChunk = 512, kManySlots = int64_t{1} << 23;
// Batches of the lanes and relax engines in flight have so many slots together, or are so many.
constexpr int64_t kBusySlots = int64_t{1} << 26, kMostInFlight = 32;
// Batches of the bits engine in flight have so many vertices together, or are so many.
constexpr int64_t kBusyRows = int64_t{1} << 22, kMostBitsInFlight = 256;

}  // namespace torchcent
