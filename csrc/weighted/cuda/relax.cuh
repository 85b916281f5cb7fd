// Host code of the relax engine: waves of batches of 32 sources, for weighted graphs of small diameter.
#pragma once

#include <algorithm>
#include <vector>

#include "weighted/cuda/dijkstra.cuh"
#include "weighted/cuda/relax_kernels.cuh"

namespace torchcent::cuda {

template <class T>
class RelaxWaves {
 public:
  // scored: scores per batch; 0: distances only.
  RelaxWaves(const WeightedGraph<T>& graph, const Tasks& in, const Tasks& out, const Run& run, int64_t sources,
             int64_t scored, bool edges)
      : graph_(graph), in_(in), out_(out), run_(run), edges_(edges) {
    const int64_t n = graph.paths.n, m = graph.paths.m, chunks = std::max(in.chunks, out.chunks);
    const int64_t batches = (sources + kRelaxLanes - 1) / kRelaxLanes;
    const int64_t wish = run.launch.flight > 0 ? run.launch.flight : (kBusySlots + m - 1) / std::max<int64_t>(m, 1);
    const int64_t fit = run.control.bytes / batch_bytes(graph, chunks, scored, edges);
    const int64_t f = std::max<int64_t>(1, std::min({wish, fit, batches, kMostInFlight}));
    flight_ = static_cast<int>((batches + (batches + f - 1) / f - 1) / ((batches + f - 1) / f));  // waves of equal size
    Scratch& scratch = run.scratch;
    wave_.n = n;
    wave_.m = m;
    wave_.chunks = chunks;
    wave_.scored = scored;
    wave_.copies = graph.paths.copies;
    wave_.beyond = graph.beyond;
    wave_.distance = scratch.array<T>(flight_ * n * kRelaxLanes);
    for (T*& least : wave_.least) least = scratch.array<T>(flight_ * n);
    flags_ = scratch.array<int>((kMostLaunches + 1) * flight_);
    if (scored == 0) return;
    wave_.tails = lists(false);
    wave_.heads = lists(edges);
    wave_.absent = scratch.array<unsigned>(flight_ * n);
    wave_.start = scratch.array<unsigned>(flight_ * n);
    wave_.nearest = wave_.least[0];  // not needed any more at that point
    wave_.farthest = wave_.least[1];
    for (unsigned*& done : wave_.done) done = scratch.array<unsigned>(flight_ * n);
    wave_.sigma = scratch.array<double>(flight_ * n * kRelaxLanes);
    wave_.rho = edges || graph.paths.several() ? scratch.array<double>(flight_ * n * kRelaxLanes) : wave_.sigma;
    wave_.weight = scratch.array<double>(2 * flight_ * kRelaxLanes);
    wave_.own = wave_.weight + flight_ * kRelaxLanes;
    wave_.failed = scratch.array<int>(flight_);
    wave_.scores = scratch.array<double>(flight_ * scored);
    wave_.partial = scratch.array<double>(flight_ * chunks * kRelaxLanes);
    wave_.blocked = scratch.array<unsigned>(flight_ * chunks);
    wave_.arrived = scratch.array<int>(flight_ * chunks);
    zero(wave_.arrived, flight_ * chunks);
  }

  static int64_t batch_bytes(const WeightedGraph<T>& graph, int64_t chunks, int64_t scored, bool edges) {
    return relax_workspace<T>({graph.sizes(edges), scored > 0}, chunks).total();
  }

  int64_t sources_per_wave() const { return int64_t{flight_} * kRelaxLanes; }
  int batches() const { return batches_; }
  const RelaxWave<T>& wave() const { return wave_; }

  // Computes the distances of a wave of sources. Returns false if cancelled.
  bool search(const Sources& sources) {
    wave_.sources = sources.count;
    batches_ = static_cast<int>((sources.count + kRelaxLanes - 1) / kRelaxLanes);
    const int64_t rows = batches_ * graph_.paths.n;
    fill(run_, wave_.distance, rows * kRelaxLanes, unreached<T>);
    fill(run_, wave_.least[0], rows, unreached<T>);
    relax_seed<T><<<batches_, kRelaxLanes, 0, run_.stream>>>(sources, wave_, flags_);
    check_launch("relax_seed");
    rounds_ = repeat(rounds_, [&](int round, const int* before, int* after) {
      fill(run_, wave_.least[(round & 1) ^ 1], rows, unreached<T>);
      relax_pull<T><<<grid(in_), 32 * kWarps, 0, run_.stream>>>(in_, graph_.in_weight, wave_, round, before, after);
      check_launch("relax_pull");
    });
    return rounds_ > 0;
  }

  // After search(): counts the paths of every batch. Returns false if cancelled.
  template <class Visitor>
  bool count() {
    const int64_t rows = batches_ * graph_.paths.n;
    const Ties ties = {1 + graph_.tie_tolerance};
    const bool both = graph_.symmetric();
    relax_begin_paths<T><<<grid_for(run_, 32 * rows), 256, 0, run_.stream>>>(wave_, rows);
    check_launch("relax_begin_paths");
    extract(in_, graph_.in_weight, ties, true, both);
    if (!both) extract(out_, graph_.out_weight, ties, false, true);
    zero(wave_.failed, batches_);
    open_all();
    passes_ = repeat(passes_, [&](int pass, const int* before, int* after) {
      relax_count<T, Visitor><<<grid(in_), 32 * kWarps, 0, run_.stream>>>(in_, wave_, pass, before, after);
      check_launch("relax_count");
    });
    return passes_ > 0;
  }

  // After count(): computes the scores of every batch within a limit, and which batches overflow float64. Returns false
  // if cancelled.
  template <class Visitor>
  bool depend(int64_t limit, std::vector<int>& failed) {
    const int64_t rows = batches_ * graph_.paths.n;
    zero(wave_.scores, batches_ * wave_.scored);
    if (graph_.beyond_limit == nullptr) {
      check(
          cudaMemcpyAsync(wave_.done[0], wave_.absent, rows * sizeof(unsigned), cudaMemcpyDeviceToDevice, run_.stream),
          "copy");
    } else {
      relax_within<T><<<grid_for(run_, 32 * rows), 256, 0, run_.stream>>>(wave_, graph_.beyond_limit[limit], rows);
      check_launch("relax_within");
    }
    open_all();
    // As many as the counts took for the longest chain, and one for its source.
    const int back = repeat(passes_ + 1, [&](int pass, const int* before, int* after) {
      relax_depend<T, Visitor><<<grid(out_), 32 * kWarps, 0, run_.stream>>>(
          out_, wave_, graph_.paths.target_weight, graph_.paths.through_weight, pass, before, after);
      check_launch("relax_depend");
    });
    if (back == 0) return false;
    if constexpr (Visitor::edges) {
      relax_edges<T><<<grid(out_), 32 * kWarps, 0, run_.stream>>>(out_, wave_);
      check_launch("relax_edges");
    }
    failed.resize(static_cast<size_t>(batches_));
    to_host(failed.data(), wave_.failed, failed.size() * sizeof(int), run_.stream, "relax");
    return true;
  }

 private:
  template <class Value>
  void zero(Value* values, int64_t count) {
    check(cudaMemsetAsync(values, 0, count * sizeof(Value), run_.stream), "memset");
  }
  LaneArcs lists(bool slots) {
    const int64_t m = flight_ * wave_.m;
    return {run_.scratch.template array<LaneArc>(m), slots ? run_.scratch.template array<int32_t>(m) : nullptr,
            run_.scratch.template array<int32_t>(flight_ * (wave_.n + wave_.chunks))};
  }
  dim3 grid(const Tasks& tasks) const { return dim3(blocks(tasks.warps(), kWarps), static_cast<unsigned>(batches_)); }
  void extract(const Tasks& tasks, const T* weight, Ties ties, bool tails, bool heads) {
    relax_extract<T><<<grid(tasks), 32 * kWarps, 0, run_.stream>>>(tasks, weight, wave_, ties, tails, heads);
    check_launch("relax_extract");
  }
  void open_all() { check(cudaMemsetAsync(flags_, 1, batches_ * sizeof(int), run_.stream), "memset"); }

  // Calls launch(k, before, after) for k = 0, 1, ... until no batch has work left. A launch processes the batches whose
  // flag is set in `before`, and sets in `after` those that need another one. The number of launches of the previous
  // wave is enqueued at a time. Returns the number of launches; 0 if cancelled.
  template <class Launch>
  int repeat(int expected, Launch launch) {
    std::vector<int> host;
    int step = std::min(std::max(expected, 1), kMostLaunches);
    for (int total = 0;;) {
      if (run_.cancelled()) return 0;
      zero(flags_ + batches_, int64_t{step} * batches_);
      for (int k = 0; k < step; ++k) launch(total + k, flags_ + k * batches_, flags_ + (k + 1) * batches_);
      host.resize(static_cast<size_t>((step + 1) * batches_));
      to_host(host.data(), flags_, host.size() * sizeof(int), run_.stream, "relax");
      const auto busy = [&](int k) {
        return std::any_of(host.begin() + k * batches_, host.begin() + (k + 1) * batches_,
                           [](int flag) { return flag != 0; });
      };
      int last = step;
      while (last > 0 && !busy(last)) --last;
      if (last < step) return total + last + 1;
      check(cudaMemcpyAsync(flags_, flags_ + step * batches_, batches_ * sizeof(int), cudaMemcpyDeviceToDevice,
                            run_.stream),
            "copy");
      total += step;
      step = std::min(std::max(2, total / 2), kMostLaunches);
    }
  }

  const WeightedGraph<T>& graph_;
  const Tasks& in_;
  const Tasks& out_;
  const Run& run_;
  const bool edges_;
  RelaxWave<T> wave_ = {};
  int* flags_ = nullptr;
  int flight_ = 1, batches_ = 0;
  int rounds_ = 8, passes_ = 8;  // of the previous wave
};

// The slots that are relaxed, and those of outgoing arcs.
template <class T>
struct RelaxTasks {
  Tasks out, in;
  RelaxTasks(const WeightedGraph<T>& graph, const Run& run)
      : out(make_tasks(graph.paths.out, graph.paths.n, graph.paths.m, run)),
        in(graph.symmetric() ? out : make_tasks(graph.paths.in, graph.paths.n, graph.paths.m, run)) {}
  int64_t chunks() const { return std::max(in.chunks, out.chunks); }
};

// Calls wave(waves, first source, sources) for all waves in order, until it returns false.
template <class T, class Wave>
void each_relax_wave(const Sources& sources, const Run& run, RelaxWaves<T>& waves, Wave wave) {
  for (int64_t first = 0; first < sources.count; first += waves.sources_per_wave()) {
    const int64_t count = std::min(waves.sources_per_wave(), sources.count - first);
    if (run.cancelled() || !wave(first, Sources{count, sources.vertex + first,
                                                sources.weight == nullptr ? nullptr : sources.weight + first,
                                                sources.own == nullptr ? nullptr : sources.own + first}))
      return;
  }
}

// Batches that overflow float64 are left to Dijkstra's algorithm, as are all batches if not even one fits into memory.
template <class T, class Visitor>
Rung relax_run(const WeightedGraph<T>& graph, const Sources& sources, double* scores, Rung first, const Run& run) {
  const int64_t scored = Visitor::edges ? graph.paths.m : graph.paths.n;
  const Run dijkstra = {run.stream, run.scratch, run.processors, run.control, {}};
  const auto rest = [&](const Sources& part, Rung rung) {
    return dijkstra_run<T, Visitor>(graph, part, scores, rung, dijkstra);
  };
  if (first == Rung::wide || scored == 0) return rest(sources, first);
  const int64_t mark = run.scratch.mark();
  const RelaxTasks<T> tasks(graph, run);
  if (RelaxWaves<T>::batch_bytes(graph, tasks.chunks(), scored, Visitor::edges) > run.control.bytes) {
    run.scratch.release(mark);
    return rest(sources, first);
  }
  std::vector<Sources> left;
  {
    RelaxWaves<T> waves(graph, tasks.in, tasks.out, run, sources.count, scored, Visitor::edges);
    each_relax_wave<T>(sources, run, waves, [&](int64_t, const Sources& part) {
      if (!waves.search(part) || !waves.template count<Visitor>()) return false;
      std::vector<int> failed;
      // The largest limit first: a batch that fails within another one fails within it, and nothing of it is added.
      for (int64_t limit = graph.paths.num_limits - 1; limit >= 0; --limit) {
        if (!waves.template depend<Visitor>(limit, failed)) return false;
        for (int b = 0; b < waves.batches(); ++b) {  // one by one: the bits do not depend on the size of a wave
          if (failed[b] != 0) continue;
          add_rows_kernel<<<grid_for(run, scored), 256, 0, run.stream>>>(waves.wave().scores + b * scored, 1, scored,
                                                                         scores + limit * scored);
          check_launch("add_rows_kernel");
        }
      }
      int64_t done = 0;
      for (int b = 0; b < waves.batches(); ++b) {
        const int64_t begin = int64_t{b} * kRelaxLanes, count = std::min<int64_t>(kRelaxLanes, part.count - begin);
        if (failed[b] != 0) left.push_back({count, part.vertex + begin, part.weight + begin, part.own + begin});
        else done += count;
      }
      finish(run, done);
      return true;
    });
  }
  check(cudaStreamSynchronize(run.stream), "relax");
  run.scratch.release(mark);
  for (const Sources& part : left) {
    if (run.cancelled()) break;
    rest(part, Rung::wide);
  }
  return left.empty() ? std::max(first, Rung::float64) : Rung::wide;
}

}  // namespace torchcent::cuda
