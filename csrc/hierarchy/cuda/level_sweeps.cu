// Sums of distances, and distances, by sweeps over the levels of a hierarchy, on CUDA.
#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/cuda/scratch.cuh"
#include "hierarchy/cuda/level_sweep.cuh"
#include "hierarchy/workspace.h"

namespace torchcent::cuda {

using torch::stable::Tensor;

namespace {

constexpr int64_t kMostGroups = 32;    // at a time: enough to fill any device in most levels
constexpr int64_t kMostBlocks = 1024;  // of a level and group

// What the operators `hierarchy` and `hierarchy_levels` return. facts: the longest distance, the height of the tree,
// and the begin of each level in the order.
struct LevelTensors {
  const Tensor &vertex, &first, &to, &length, &last, &order, &parent, &depth, &facts;

  int32_t device() const { return vertex.get_device_index(); }
  void check(const char* op, std::initializer_list<const Tensor*> others) const {
    same_device(op, device(), {&vertex, &first, &to, &length, &last, &order, &parent, &depth, &facts});
    same_device(op, device(), others);
  }
  std::vector<int64_t> on_host(const Run& run) const {
    std::vector<int64_t> found(facts.numel());
    to_host(found.data(), facts.const_data_ptr<int64_t>(), found.size() * sizeof(int64_t), run.stream, "hierarchy");
    return found;
  }
};

template <class T>
class LevelWaves {
 public:
  static constexpr int64_t lanes = LevelSweep<T>::lanes;

  // num_nodes: of the graph. stored: whether all vertices have rows. parts: whether there are sums.
  LevelWaves(const LevelTensors& given, const std::vector<int64_t>& facts, const Tensor& sources, int64_t num_nodes,
             bool stored, bool parts, const Run& run)
      : run_(run),
        facts_(facts),
        sources_(sources.const_data_ptr<int64_t>()),
        count_(sources.numel()),
        stored_(stored),
        slots_(parts ? sum_slots(given.last.numel()) : 0) {
    const int64_t n = given.last.numel(), height = facts[1];
    const int64_t* const first = given.first.const_data_ptr<int64_t>();
    const int64_t each = sweeps_workspace<T>(n, height, parts).total();
    const int64_t groups = (count_ + lanes - 1) / lanes;
    const int64_t most =
        run.launch.flight > 0 ? run.launch.flight : std::min(kMostGroups, (run.control.bytes - 4 * num_nodes) / each);
    const int64_t waves = (groups + std::max<int64_t>(most, 1) - 1) / std::max<int64_t>(most, 1);
    flight_ = (groups + waves - 1) / waves;
    position_ = run.scratch.array<int32_t>(num_nodes);
    check(cudaMemsetAsync(position_, 0xff, num_nodes * sizeof(int32_t), run.stream), "positions");
    if (n > 0) {
      sweep_place<<<blocks(n), kBlock, 0, run.stream>>>(n, given.vertex.const_data_ptr<int64_t>(), position_);
      check_launch("sweep_place");
    }
    found_ = run.scratch.array<int32_t>(flight_ * lanes);
    parts_ = run.scratch.array<double>(flight_ * slots_ * kSumParts * lanes);
    sweep_ = {n,
              height,
              first,
              first + (given.first.numel() - (n + 1)),  // the last row, where a directed one has two
              given.to.const_data_ptr<int32_t>(),
              given.length.const_data_ptr<int64_t>(),
              given.last.const_data_ptr<int32_t>(),
              given.parent.const_data_ptr<int32_t>(),
              given.depth.const_data_ptr<int32_t>(),
              given.order.const_data_ptr<int32_t>(),
              found_,
              run.scratch.array<T>(flight_ * lanes * height),
              run.scratch.array<RowPart<T>>(flight_ * n * 32)};
  }

  const LevelSweep<T>& sweep() const { return sweep_; }
  const int32_t* position() const { return position_; }
  int64_t slots() const { return slots_; }
  double* parts() const { return parts_; }
  int64_t inner() const { return facts_.back(); }

  // give(first, sources, groups): the rows of these sources are there.
  template <class Give>
  void run(Give give) {
    for (int64_t first = 0; first < count_; first += flight_ * lanes) {
      if (run_.cancelled()) return;
      const int64_t sources = std::min(flight_ * lanes, count_ - first), groups = (sources + lanes - 1) / lanes;
      down(first, sources, groups);
      give(first, sources, static_cast<unsigned>(groups));
      check(cudaStreamSynchronize(run_.stream), "hierarchy");
      finish(run_, sources);
    }
  }

 private:
  void down(int64_t first, int64_t sources, int64_t groups) {
    const int64_t places = groups * lanes;
    sweep_sources<<<blocks(places), kBlock, 0, run_.stream>>>(sources, places, sources_ + first, position_, found_);
    check_launch("sweep_sources");
    sweep_climb<T><<<blocks(32 * sources), kBlock, 0, run_.stream>>>(sweep_, sources);
    check_launch("sweep_climb");
    for (size_t l = 2; l + 1 < facts_.size(); ++l) level(facts_[l], facts_[l + 1], groups);
    if (stored_) level(inner(), sweep_.n, groups);
  }

  void level(int64_t begin, int64_t end, int64_t groups) {
    if (begin == end) return;
    const bool few = (end - begin) * groups <= int64_t{run_.processors} * kSweepWarps;
    const int64_t blocks = few ? end - begin : std::min(kMostBlocks, (end - begin + kSweepWarps - 1) / kSweepWarps);
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(groups));
    if (few) sweep_level<T, kSweepWarps><<<grid, 32 * kSweepWarps, 0, run_.stream>>>(sweep_, begin, end);
    else sweep_level<T, 1><<<grid, 32 * kSweepWarps, 0, run_.stream>>>(sweep_, begin, end);
    check_launch("sweep_level");
  }

  const Run& run_;
  const std::vector<int64_t>& facts_;
  const int64_t* sources_;
  const int64_t count_;
  const bool stored_;
  const int64_t slots_;
  int64_t flight_;
  int32_t *position_, *found_;
  double* parts_;
  LevelSweep<T> sweep_;
};

template <class T>
void level_sums(const LevelTensors& given, const std::vector<int64_t>& facts, const Tensor& sources,
                const Tensor& target, double* sums, double* farthest, bool reciprocals, const Run& run) {
  LevelWaves<T> waves(given, facts, sources, target.numel(), false, true, run);
  waves.run([&](int64_t first, int64_t count, unsigned groups) {
    const dim3 grid(static_cast<unsigned>((waves.slots() + kSweepWarps - 1) / kSweepWarps), groups);
    sweep_sums<T><<<grid, 32 * kSweepWarps, 0, run.stream>>>(
        waves.sweep(), waves.inner(), given.vertex.const_data_ptr<int64_t>(), target.const_data_ptr<double>(),
        reciprocals, waves.slots(), waves.parts());
    check_launch("sweep_sums");
    sweep_add<<<blocks(count), kBlock, 0, run.stream>>>(count, static_cast<int>(waves.lanes), waves.slots(),
                                                        waves.parts(), sums + 3 * first, farthest + first);
    check_launch("sweep_add");
  });
}

template <class T, class Entry>
void level_distances(const LevelTensors& given, const std::vector<int64_t>& facts, const Tensor& sources, Tensor& out,
                     const Run& run) {
  const int64_t num_nodes = out.size(1);
  const int64_t* const source = sources.const_data_ptr<int64_t>();
  Entry* const rows = static_cast<Entry*>(out.mutable_data_ptr());
  LevelWaves<T> waves(given, facts, sources, num_nodes, true, false, run);
  waves.run([&](int64_t first, int64_t count, unsigned groups) {
    const dim3 grid(static_cast<unsigned>((num_nodes + 31) / 32), groups);
    sweep_rows<T, Entry><<<grid, 32 * kSweepWarps, 0, run.stream>>>(waves.sweep(), waves.position(), source + first,
                                                                    count, num_nodes, rows + first * num_nodes);
    check_launch("sweep_rows");
  });
}

}  // namespace

void hierarchy_level_sums(const Tensor& vertex, const Tensor& first, const Tensor& to, const Tensor& length,
                          const Tensor& last, const Tensor& order, const Tensor& parent, const Tensor& depth,
                          const Tensor& facts, const Tensor& sources, const Tensor& target_weight, Tensor& sums,
                          Tensor& farthest, Tensor& control, bool reciprocals, int64_t flight) {
  const LevelTensors given = {vertex, first, to, length, last, order, parent, depth, facts};
  given.check("hierarchy_level_sums", {&sources, &target_weight, &sums, &farthest});
  if (sources.numel() == 0) return;
  const torch::stable::accelerator::DeviceGuard guard(given.device());
  TensorScratch scratch(vertex);
  const Run run = run_on(given.device(), scratch, control, {0, flight});
  const std::vector<int64_t> known = given.on_host(run);
  (known[0] < kLongestSingle ? level_sums<int32_t> : level_sums<int64_t>)(given, known, sources, target_weight,
                                                                          sums.mutable_data_ptr<double>(),
                                                                          farthest.mutable_data_ptr<double>(),
                                                                          reciprocals, run);
}

void hierarchy_level_distances(const Tensor& vertex, const Tensor& first, const Tensor& to, const Tensor& length,
                               const Tensor& last, const Tensor& order, const Tensor& parent, const Tensor& depth,
                               const Tensor& facts, const Tensor& sources, Tensor& out, Tensor& control,
                               int64_t flight) {
  const LevelTensors given = {vertex, first, to, length, last, order, parent, depth, facts};
  given.check("hierarchy_level_distances", {&sources, &out});
  if (out.numel() == 0) return;
  const torch::stable::accelerator::DeviceGuard guard(given.device());
  TensorScratch scratch(vertex);
  const Run run = run_on(given.device(), scratch, control, {0, flight});
  const std::vector<int64_t> known = given.on_host(run);
  const bool whole = out.element_size() == 4;
  if (known[0] < kLongestSingle)
    (whole ? level_distances<int32_t, int32_t> : level_distances<int32_t, double>)(given, known, sources, out, run);
  else (whole ? level_distances<int64_t, int32_t> : level_distances<int64_t, double>)(given, known, sources, out, run);
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) {
  m.impl("hierarchy_level_sums", TORCH_BOX(&hierarchy_level_sums));
  m.impl("hierarchy_level_distances", TORCH_BOX(&hierarchy_level_distances));
}

}  // namespace torchcent::cuda
