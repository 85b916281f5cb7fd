// Random shortest paths: the number of blocks, and their shared state.

#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <chrono>

#include "samples/cuda/sample_hops.cuh"
#include "samples/cuda/sample_weights.cuh"
#include "samples/workspace.h"
#include "weighted/cuda/weighted_tensors.cuh"

namespace torchcent::cuda {

using torch::stable::Tensor;

namespace {

constexpr int64_t kMostTogether = int64_t{1} << 16;  // samples per launch
constexpr double kLaunch = 0.1;                      // seconds per launch, about: limits the delay of a cancellation
constexpr double kGrowth = 8;                        // at most, of the samples of one launch over the one before
constexpr int64_t kWidestBlock = 512;                // threads, unless few samples or little memory leave more room

// A device that can run `threads` threads at a time, in blocks of which each draws a sample. A block has about as many
// threads as a level of a search has vertices: smaller ones take several steps for a level, and the searches of more
// blocks drive each other out of the cache.
class Room {
 public:
  // By default a block has as few threads as possible.
  explicit Room(int64_t threads, int64_t block = kFewestThreads) : threads_(threads), block_(block) {}

  int64_t most_blocks() const { return threads_ / kFewestThreads; }
  // For so many samples. Twice as many of the widest blocks, at half their width, are better than a second round.
  int64_t blocks(int64_t samples) const {
    const int64_t fitting = threads_ / block_, most = block_ == kWidestBlock ? 2 * fitting : fitting;
    return samples <= most ? samples : fitting;
  }
  unsigned block_of(int64_t searches) const {
    int64_t block = kFewestThreads;
    while (block < kMostThreads && 2 * block * searches <= threads_) block *= 2;
    return static_cast<unsigned>(block);
  }
  void fit(double width) {
    block_ = kFewestThreads;
    while (block_ < kWidestBlock && 2 * static_cast<double>(block_) <= width) block_ *= 2;
  }

 private:
  int64_t threads_, block_;
};

template <class T>
T* zeros(Scratch& scratch, int64_t count, cudaStream_t stream) {
  T* const result = scratch.array<T>(count);
  check(cudaMemsetAsync(result, 0, count * sizeof(T), stream), "cudaMemsetAsync");
  return result;
}

// Runs samples first, ..., first + count - 1 by launch(samples, blocks, threads of a block), with at most `most`
// blocks. degree: arcs per vertex, by which each launch adapts the blocks of the next one to the width of levels; 0:
// they stay. Returns the numbers of the samples that are left to the CPU.
template <class Launch>
Tensor run_samples(int64_t n, double degree, int64_t seed, int64_t first, int64_t count, int64_t most, Room room,
                   Tensor& counts, Tensor& control, Scratch& scratch, cudaStream_t stream, Launch launch) {
  Control& shared = control_of(control);
  Samples samples = {};
  samples.n = n;
  samples.seed = static_cast<uint64_t>(seed);
  samples.counts = reinterpret_cast<unsigned long long*>(counts.mutable_data_ptr<int64_t>());
  samples.left = scratch.array<int64_t>(count);
  unsigned long long* const numbers = zeros<unsigned long long>(scratch, 4, stream);
  samples.next = numbers;
  samples.arcs = numbers + 1;
  samples.num_left = numbers + 2;
  samples.levels = numbers + 3;
  unsigned long long host[4] = {};
  int64_t together = 0;  // of the next launch, sized to last about kLaunch seconds
  for (int64_t begin = 0; begin < count && !cancelled(&shared.cancel); begin += samples.count) {
    const auto before = std::chrono::steady_clock::now();
    const int64_t blocks = std::min(most, room.blocks(count - begin));
    samples.first = first + begin;
    samples.count = std::min(std::max(together, blocks), count - begin);
    check(cudaMemsetAsync(numbers, 0, sizeof host[0], stream), "cudaMemsetAsync");
    const int64_t searches = std::min(blocks, samples.count);
    launch(samples, static_cast<unsigned>(searches), room.block_of(searches));
    check_launch("sample_kernel");
    to_host(host, numbers, sizeof host, stream, "sample_kernel");
    finish(shared, samples.count);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
    if (taken.count() < kLaunch / 2)
      together = std::min(
          static_cast<int64_t>(static_cast<double>(samples.count) * std::min(kLaunch / taken.count(), kGrowth)),
          std::max(blocks, kMostTogether));
    else if (taken.count() > 2 * kLaunch) together = samples.count / 2;
    if (degree > 0 && host[3] != 0) room.fit(static_cast<double>(host[1]) / degree / static_cast<double>(host[3]));
  }
  __atomic_fetch_add(&shared.work, static_cast<int64_t>(host[1]), __ATOMIC_RELAXED);
  Tensor left = torch::stable::new_empty(control, {static_cast<int64_t>(host[2])});
  to_host(left.mutable_data_ptr<int64_t>(), samples.left, host[2] * sizeof(int64_t), stream, "sample_kernel");
  return left;
}

Stars stars(const Tensor& rowptr, const Tensor& col, Scratch& scratch, cudaStream_t stream) {
  const int64_t n = rowptr.numel() - 1;
  const Arcs arcs = {rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>()};
  int4* const star = scratch.array<int4>(n);
  constexpr int kThreads = 256;
  star_kernel<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(arcs, n, star);
  check_launch("star_kernel");
  return {star, arcs.col};
}

HopSampling hop_sampling(const Stars& out, const Stars& in, int64_t n, int64_t blocks, bool narrow, Scratch& scratch,
                         cudaStream_t stream) {
  HopSampling sampling = {};
  sampling.out = out;
  sampling.in = in;
  sampling.state = zeros<int32_t>(scratch, (narrow ? NarrowStates::words(n) : WideStates::words(n)) * blocks, stream);
  sampling.sigma = narrow ? scratch.array<double>(n * blocks) : zeros<double>(scratch, n * blocks, stream);
  const int64_t list = TwoLists::size(n) * blocks;
  sampling.queue = scratch.array<int32_t>(list);
  sampling.through = narrow ? scratch.array<int32_t>(list) : nullptr;
  sampling.bound = narrow ? scratch.array<int32_t>(list) : nullptr;
  return sampling;
}

template <class T>
WeightSampling<T> weight_sampling(const WeightedGraph<T>& graph, bool exact, int64_t blocks, const Run& run) {
  WeightSampling<T> sampling = {};
  const int64_t n = graph.paths.n;
  T* const heaviest = run.scratch.array<T>(n);
  sampling.heaviest = heaviest;
  sampling.exact = exact;
  DijkstraProblem<T>&source = sampling.from[0], &target = sampling.from[1];
  source = dijkstra_problem(graph, run, heaviest);
  // In a skewed graph, samples mostly visit hubs.
  if (graph.paths.m >= kWarpPerVertex * n) source.how.shift = 5;
  target = source;
  if (!graph.symmetric()) {
    std::swap(target.out, target.in);
    std::swap(target.out_span, target.in_span);
    target.lightest = extreme_arcs<T>(run, graph.paths.in, graph.in_weight, n, nullptr, nullptr);
  }
  for (DijkstraProblem<T>* side : {&source, &target}) {
    allocate_lists(*side, run, blocks, sizeof(double));
    fill(run, side->distance, blocks * n, unreached<T>);
  }
  return sampling;
}

}  // namespace

// threads: maximum number of blocks (samples/workspace.h).
Tensor sample_paths(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row, int64_t seed,
                    int64_t first, int64_t count, Tensor& counts, Tensor& control, int64_t threads) {
  same_device("sample_paths", rowptr.get_device_index(), {&rowptr, &col, &colptr, &row, &counts});
  const int32_t device = rowptr.get_device_index();
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = rowptr.numel() - 1;
  if (n < 2 || count == 0) return torch::stable::new_empty(control, {0});
  const bool by_thread = col.numel() < kWarpPerVertex * n, symmetric = col.const_data_ptr() == row.const_data_ptr();
  const bool narrow = narrow_states(n, col.numel(), symmetric);
  auto* const kernel = narrow      ? hop_sample_kernel<NarrowStates, true>
                       : by_thread ? hop_sample_kernel<WideStates, true>
                                   : hop_sample_kernel<WideStates, false>;
  const Room room(multiprocessors(device) * int64_t{kHopThreads}, by_thread ? kWidestBlock : kFewestThreads);
  TensorScratch scratch(rowptr);
  const Stars out = stars(rowptr, col, scratch, stream);
  const Stars in = symmetric ? out : stars(colptr, row, scratch, stream);
  const double degree = static_cast<double>(std::max<int64_t>(col.numel(), 1)) / static_cast<double>(n);
  HopSampling sampling = {};
  int64_t mark = 0;    // where the workspaces begin, after the stars
  int64_t blocks = 0;  // for which there are workspaces: those of a launch with more replace them
  const auto launch = [&](const Samples& samples, unsigned grid, unsigned block) {
    if (grid > blocks) {
      if (blocks > 0) scratch.release(mark);
      mark = scratch.mark();
      blocks = grid;
      sampling = hop_sampling(out, in, n, blocks, narrow, scratch, stream);
    }
    kernel<<<grid, block, 0, stream>>>(sampling, samples);
  };
  return run_samples(n, by_thread ? degree : 0, seed, first, count, std::min({threads, room.most_blocks(), count}),
                     room, counts, control, scratch, stream, launch);
}

// threads: maximum number of blocks (samples/workspace.h).
Tensor weighted_sample_paths(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& colptr,
                             const Tensor& row, const Tensor& back_weight, bool exact, int64_t seed, int64_t first,
                             int64_t count, Tensor& counts, Tensor& control, int64_t threads) {
  const WeightedTensors tensors = {rowptr, col, weight, colptr, row, back_weight};
  same_device("weighted_sample_paths", tensors.device(), {&col, &weight, &colptr, &row, &back_weight, &counts});
  const torch::stable::accelerator::DeviceGuard guard(tensors.device());
  const int64_t n = rowptr.numel() - 1;
  if (n < 2 || count == 0) return torch::stable::new_empty(control, {0});
  TensorScratch scratch(rowptr);
  const Run run = run_on(tensors.device(), scratch, control);
  const Room room(kWeightThreads * int64_t{run.processors});
  const int64_t blocks = std::min({threads, room.most_blocks(), count});
  const auto draw = [&]<class T>(const WeightedGraph<T>& graph) {
    const WeightSampling<T> sampling = weight_sampling(graph, exact, blocks, run);
    return run_samples(n, 0, seed, first, count, blocks, room, counts, control, scratch, run.stream,
                       [&](const Samples& samples, unsigned grid, unsigned block) {
                         weight_sample_kernel<T><<<grid, block, 0, run.stream>>>(sampling, samples);
                       });
  };
  return tensors.whole() ? draw(tensors.graph<uint32_t>(nullptr, nullptr, 0))
                         : draw(tensors.graph<double>(nullptr, nullptr, 0));
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) {
  m.impl("sample_paths", TORCH_BOX(&sample_paths));
  m.impl("weighted_sample_paths", TORCH_BOX(&weighted_sample_paths));
}

}  // namespace torchcent::cuda
