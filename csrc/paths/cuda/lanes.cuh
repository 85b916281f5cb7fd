// The lanes engine on CUDA: 8, 32, 64 or 128 sources (float) or 32 (double) side by side as on the CPU
// (paths/cpu/lanes.h), with several concurrent batches, so that the short levels of one batch overlap with those of the
// others.
//
// There is no synchronisation between levels: the number of levels of the previous wave is enqueued, and the host
// checks once whether it sufficed.
#pragma once

#include <algorithm>
#include <vector>

#include "paths/cuda/lanes_kernels.cuh"
#include "paths/cuda/queue.cuh"

namespace torchcent::cuda {

template <class Row, class Visitor>
class LaneWaves {
  using T = typename Row::T;
  using Mask = typename Row::Mask;
  static constexpr int kLanes = Row::lanes;
  static_assert(sizeof(Mask) == lane_mask(kLanes));

 public:
  LaneWaves(const Graph& graph, const Tasks& in, const Tasks& out, const Run& run, int64_t batches)
      : graph_(graph), in_(in), out_(out), run_(run) {
    wave_.n = graph.n;
    wave_.copies = graph.copies;
    wave_.measure = graph.measure;
    wave_.scored = Visitor::edges ? graph.m : graph.n;
    wave_.chunks = std::max(in.chunks, out.chunks);
    const int64_t fixed = batch_bytes(graph, wave_.chunks), level = level_bytes(graph.n, kLanes);
    const int64_t wish =
        run.launch.flight > 0 ? run.launch.flight : (kBusySlots + graph.m - 1) / std::max<int64_t>(graph.m, 1);
    const int64_t fit = run.control.bytes / (fixed + kFirstLevels * level);
    flight_ = static_cast<int>(std::max<int64_t>(1, std::min({wish, fit, batches, kMostInFlight})));
    const int64_t waves = (batches + flight_ - 1) / flight_;
    flight_ = static_cast<int>((batches + waves - 1) / waves);  // waves of equal size
    most_levels_ = std::max<int64_t>(kFirstLevels, (run.control.bytes - flight_ * fixed) / (level * flight_));
    Scratch& scratch = run.scratch;
    wave_.rows = scratch.array<T>(flight_ * graph.n * kLanes);
    kept_ = graph.several() ? scratch.array<T>(flight_ * graph.n * kLanes) : nullptr;
    wave_.seen = scratch.array<Mask>(flight_ * graph.n);
    wave_.weight = scratch.array<T>(2 * flight_ * kLanes);
    wave_.own = wave_.weight + flight_ * kLanes;
    wave_.owners = scratch.array<Mask>(flight_);
    wave_.failed = scratch.array<int>(flight_);
    wave_.scores = scratch.array<double>(flight_ * wave_.scored);
    wave_.partial = scratch.array<T>(flight_ * wave_.chunks * kLanes);
    wave_.partial_got = scratch.array<Mask>(flight_ * wave_.chunks);
    wave_.arrived = scratch.array<int>(flight_ * wave_.chunks);
    zero(wave_.arrived, flight_ * wave_.chunks);
  }

  // Excludes the levels, a mask per vertex each.
  static int64_t batch_bytes(const Graph& graph, int64_t chunks) {
    return lanes_workspace<T>(graph.sizes(Visitor::edges), kLanes, chunks).total();
  }
  static bool fits(const Graph& graph, int64_t chunks, const Run& run) {
    return batch_bytes(graph, chunks) + kFirstLevels * level_bytes(graph.n, kLanes) <= run.control.bytes;
  }

  int64_t sources_per_wave() const { return int64_t{flight_} * kLanes; }

  // Adds the scores of the batches that succeed; failed[b] is set for the others.
  void run(const Sources& sources, double* scores, int* failed) {
    wave_.sources = sources.count;
    wave_.batches = static_cast<int>((sources.count + kLanes - 1) / kLanes);
    begin(sources);
    int levels = within(std::max<int64_t>(kFirstLevels, depth_ + 2));
    grow(levels);
    pull(2, levels);
    while ((depth_ = deepest(levels)) == levels - 1 && levels < most_levels_) {
      const int more = within(std::min<int64_t>(most_levels_, levels + levels / 2));
      grow(more);
      pull(levels, more);
      levels = more;
    }
    levels = std::min(levels, depth_ + 2);
    // The largest limit first: a batch that fails within another one fails within it, and nothing of it is added.
    for (int64_t limit = graph_.num_limits - 1; limit >= 0; --limit) {
      if (graph_.several()) copy_rows(limit == graph_.num_limits - 1);
      const int within =
          graph_.limits == nullptr ? levels : static_cast<int>(std::min<int64_t>(levels - 2, graph_.limits[limit])) + 2;
      zero(wave_.scores, wave_.batches * wave_.scored);
      for (int level = within - 2; level >= 0; --level) push_back(level, level == within - 2);
      if (limit == graph_.num_limits - 1) {
        settle<<<1, 32, 0, run_.stream>>>(wave_, levels, failed);
        check_launch("settle");
      }
      add_batches<<<4 * run_.processors, 256, 0, run_.stream>>>(wave_, scores + limit * wave_.scored);
      check_launch("add_batches");
    }
  }

 private:
  template <class Value>
  void zero(Value* values, int64_t count) {
    check(cudaMemsetAsync(values, 0, count * sizeof(Value), run_.stream), "memset");
  }

  void begin(const Sources& sources) {
    grow(kFirstLevels);
    zero(level_[0], wave_.batches * graph_.n);
    zero(level_[1], wave_.batches * graph_.n);
    zero(wave_.owners, wave_.batches);
    zero(wave_.failed, wave_.batches);
    zero(reached_, static_cast<int64_t>(level_.size()) * wave_.batches);
    wave_.reached = reached_;
    const dim3 grid(kLanes, wave_.batches);
    seed<Row><<<grid, 128, 0, run_.stream>>>(graph_.out, sources, wave_, level_[0], level_[1]);
    check_launch("seed");
  }

  // Allocates memory for this many levels and keeps the existing ones.
  void grow(int levels) {
    const int64_t before = static_cast<int64_t>(level_.size());
    if (levels <= before) return;
    Mask* const masks = run_.scratch.template array<Mask>((levels - before) * flight_ * graph_.n);
    for (int64_t level = before; level < levels; ++level)
      level_.push_back(masks + (level - before) * flight_ * graph_.n);
    int* const reached = run_.scratch.template array<int>(int64_t{levels} * flight_);
    zero(reached, int64_t{levels} * flight_);
    if (before > 0)
      check(cudaMemcpyAsync(reached, reached_, before * wave_.batches * sizeof(int), cudaMemcpyDeviceToDevice,
                            run_.stream),
            "copy");
    wave_.reached = reached_ = reached;
  }

  // Levels, of which the last is empty if it is beyond the deepest one.
  int within(int64_t levels) const { return static_cast<int>(std::min(levels - 2, graph_.deepest) + 2); }

  void pull(int first, int levels) {
    for (int level = first; level < levels && level <= graph_.deepest; ++level) pull(level);
  }

  void pull(int level) {
    const dim3 grid(blocks(in_.warps(), kWarps), wave_.batches);
    if (level == 2) {
      auto* const first =
          Visitor::unit || wave_.copies == nullptr ? forward<Row, true, true> : forward<Row, true, false>;
      first<<<grid, 32 * kWarps, 0, run_.stream>>>(
          in_, ForwardLevel<Row, true>{wave_, level_[0], level_[1], level_[2], level});
    } else {
      forward<Row, false, Visitor::unit><<<grid, 32 * kWarps, 0, run_.stream>>>(
          in_, ForwardLevel<Row, false>{wave_, nullptr, level_[level - 1], level_[level], level});
    }
    check_launch("forward");
  }

  // Keeps the path counts, which the backward pass replaces, or brings them back.
  void copy_rows(bool keep) {
    T *const from = keep ? wave_.rows : kept_, *const to = keep ? kept_ : wave_.rows;
    check(
        cudaMemcpyAsync(to, from, wave_.batches * graph_.n * kLanes * sizeof(T), cudaMemcpyDeviceToDevice, run_.stream),
        "copy");
  }

  // last: no deeper level counts.
  void push_back(int level, bool last) {
    const dim3 grid(blocks(out_.warps(), kWarps), wave_.batches);
    backward<Row, Visitor><<<grid, 32 * kWarps, 0, run_.stream>>>(
        out_, BackwardLevel<Row, Visitor>{wave_, graph_.target_weight, graph_.through_weight, level_[level],
                                          level_[level + 1], level, last});
    check_launch("backward");
  }

  // The deepest level reached by any batch. Synchronises with the device.
  int deepest(int levels) {
    std::vector<int> reached(static_cast<size_t>(levels) * wave_.batches);
    to_host(reached.data(), reached_, reached.size() * sizeof(int), run_.stream, "forward");
    int level = levels - 1;
    const auto none = [](int flag) { return flag == 0; };
    while (level > 0 &&
           std::all_of(reached.begin() + level * wave_.batches, reached.begin() + (level + 1) * wave_.batches, none))
      --level;
    return level;
  }

  const Graph& graph_;
  const Tasks& in_;
  const Tasks& out_;
  const Run& run_;
  Wave<Row> wave_ = {};
  T* kept_ = nullptr;  // path counts, if there are several limits
  int* reached_ = nullptr;
  std::vector<Mask*> level_;  // [batches][n] each
  int flight_ = 1;
  int64_t most_levels_ = 0;
  int depth_ = 0;  // of the previous wave
};

using Ranges = std::vector<std::pair<int64_t, int64_t>>;  // of sources: begin, end

inline Sources part(const Sources& all, int64_t begin, int64_t end) {
  return {end - begin, all.vertex + begin, all.weight + begin, all.own + begin};
}

// Runs the ranges with these rows; returns the batches that failed.
template <class Row, class Visitor>
Ranges run_ranges(const Graph& graph, const Sources& all, double* scores, const Tasks& in, const Tasks& out,
                  const Run& run, const Ranges& ranges) {
  constexpr int64_t lanes = Row::lanes;
  Ranges failed;
  for (const auto& [first, last] : ranges) {
    const int64_t batches = (last - first + lanes - 1) / lanes, mark = run.scratch.mark();
    LaneWaves<Row, Visitor> waves(graph, in, out, run, batches);
    int* const device_failed = run.scratch.template array<int>(batches);
    check(cudaMemsetAsync(device_failed, 0, batches * sizeof(int), run.stream), "memset");
    for (int64_t begin = first; begin < last; begin += waves.sources_per_wave()) {
      if (run.cancelled()) return {};
      const int64_t end = std::min(last, begin + waves.sources_per_wave());
      waves.run(part(all, begin, end), scores, device_failed + (begin - first) / lanes);
      finish(run, end - begin);
    }
    std::vector<int> host_failed(static_cast<size_t>(batches));
    to_host(host_failed.data(), device_failed, batches * sizeof(int), run.stream, "wave");
    run.scratch.release(mark);
    for (int64_t b = 0; b < batches; ++b)
      if (host_failed[b] != 0) failed.emplace_back(first + b * lanes, std::min(last, first + (b + 1) * lanes));
  }
  return failed;
}

// The number of lanes determines the order of summation, and thereby the bits of a result; torchcent/engines/plan
// chooses it.
template <class Visitor, class... Rest>
Ranges run_floats(int lanes, const Rest&... rest) {
  switch (lanes) {
    case 8: return run_ranges<Lanes<float, 8>, Visitor>(rest...);
    case 32: return run_ranges<Lanes<float, 32>, Visitor>(rest...);
    case 128: return run_ranges<Lanes<float, 128>, Visitor>(rest...);
    default: return run_ranges<Lanes<float, 64>, Visitor>(rest...);
  }
}

template <class Visitor>
Rung lanes_run(const Graph& graph, const Sources& sources, double* scores, Rung first, const Run& run) {
  if (first == Rung::wide) return queue_run<Visitor>(graph, sources, scores, first, run);
  const Tasks out = make_tasks(graph.out, graph.n, graph.m, run);
  const Tasks in = graph.symmetric() ? out : make_tasks(graph.in, graph.n, graph.m, run);
  Ranges left = {{0, sources.count}};
  Rung highest = first;
  if (first == Rung::float32) {
    left = run_floats<Visitor>(run.launch.lanes, graph, sources, scores, in, out, run, left);
    if (!left.empty()) highest = Rung::float64;
  }
  // If memory suffices only for 32 floats, doubles are left to the queue engine, which needs less.
  using Doubles = Lanes<double, 32>;
  if (LaneWaves<Doubles, Visitor>::fits(graph, std::max(in.chunks, out.chunks), run))
    left = run_ranges<Doubles, Visitor>(graph, sources, scores, in, out, run, left);
  for (const auto& [begin, end] : left)
    highest = std::max(highest, queue_run<Visitor>(graph, part(sources, begin, end), scores, Rung::float64, run));
  return highest;
}

}  // namespace torchcent::cuda
