// Operators that report how this library was compiled.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <iterator>

#include "core/codes.h"
#include "core/cpu/simd_level.h"

namespace torchcent {

namespace {

// In the order of torchcent/runtime/_codes.py. Those of kMeasures follow.
constexpr double kCodes[] = {
    static_cast<double>(Engine::lanes), static_cast<double>(Engine::queue), static_cast<double>(WeightedEngine::relax),
    static_cast<double>(WeightedEngine::dijkstra),
    //
    static_cast<double>(Rung::float32), static_cast<double>(Rung::float64), static_cast<double>(Rung::wide),
    //
    static_cast<double>(Strategy::automatic), static_cast<double>(Strategy::node_parallel),
    static_cast<double>(Strategy::edge_parallel), static_cast<double>(Strategy::work_efficient),
    static_cast<double>(Strategy::warp_4), static_cast<double>(Strategy::cooperative),
    static_cast<double>(Strategy::node_parallel_warp_4), static_cast<double>(kLocked),
    //
    sizeof(Control) / sizeof(int64_t), sizeof(Launch) / sizeof(int64_t), kLargestCount, kLaneBatch, kQueueBatch,
    kRelaxBatch, kDijkstraBatch, kFewSearches, kWideBits, kNarrowBits, kWideBitsFrom, kRelaxLanesOnCuda, kTinyNodes,
    kTinyLanes, kLongestSingle, kChunk, kLongChunk, kManySlots, kBusySlots, kMostInFlight, kFirstLevels, kBusyRows,
    kMostBitsInFlight};

torch::stable::Tensor codes(const torch::stable::Tensor& like) {
  torch::stable::Tensor result = torch::stable::new_empty(like, {std::ssize(kCodes) + std::ssize(kMeasures)});
  double* next = result.mutable_data_ptr<double>();
  for (const double code : kCodes) *next++ = code;
  for (const Measure measure : kMeasures) *next++ = static_cast<double>(measure);
  return result;
}

int64_t simd() { return static_cast<int64_t>(simd_in_use()); }

}  // namespace

// The only one that is no fragment: a second library of the same operators is refused when it is loaded.
STABLE_TORCH_LIBRARY(torchcent, m) {
  // See core/codes.h: the instruction set of the CPU kernels in use, and all codes and limits as float64.
  m.def("simd() -> int");
  m.def("codes(Tensor like) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) { m.impl("simd", TORCH_BOX(&simd)); }
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("codes", TORCH_BOX(&codes)); }

}  // namespace torchcent
