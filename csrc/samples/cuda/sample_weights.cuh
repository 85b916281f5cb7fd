// Random shortest paths by weights on CUDA: a block per sample, which searches from both ends by levels of the dijkstra
// engine (weighted/cuda/dijkstra_frontier.cuh), always on the side that has scanned fewer arcs.
//
// It ends as on the CPU (samples/cpu/sample_weights.h), when the next distances a and b of both sides add up to at
// least d(s, t): then each shortest path has one arc that leaves the vertices nearer than a to s. Counts are pulled
// when a level is settled; the heads of such arcs at distance b from t are not settled, and their counts are computed
// separately. Levels differ from the CPU's order, and a different a may select a different path, with the same
// probabilities.
#pragma once

#include "weighted/cuda/dijkstra.cuh"
#include "samples/cuda/sample_draws.cuh"

namespace torchcent::cuda {

constexpr int kWeightThreads = 1024;  // per multiprocessor: as many as its registers allow

template <class T>
struct WeightSampling {
  DijkstraProblem<T> from[2];  // the source, along the arcs; the target, against them
  const T* heaviest;           // [n] weight of the heaviest arc out of a vertex
  bool exact;                  // whether sums of weights are exact; if not, only s is searched from
};

// Records the length of the shortest path on which the sides meet, and counts arcs.
template <class T>
struct MeetingWatch : NoWatch {
  static constexpr T kNone = std::numeric_limits<T>::max();
  const T* other;  // distances from the other side
  T shortest = kNone;
  uint32_t arcs = 0;

  __device__ explicit MeetingWatch(const T* distances) : other(distances) {}
  __device__ void relaxed(int32_t v, T length) {
    const T rest = other[v];
    if (rest < unreached<T>) shortest = min(shortest, length + rest);
  }
  __device__ void settled(uint32_t degree) { arcs += degree; }
};

template <class T>
struct SamplerState {  // per block, in shared memory
  DijkstraState<T> state[2];
  DijkstraPlace<T> place[2];
  bool done[2];  // all vertices are settled
  T shortest;
  unsigned long long arcs[2], sample;
  int overflow;
  Crossing part[kMostThreads / 32];
};

// The searches of a block, in sequence.
template <class T>
class WeightSampler {
  using Search = DijkstraBlock<T, double, MeetingWatch<T>>;

 public:
  __device__ WeightSampler(const WeightSampling<T>& sampling, const Samples& samples, SamplerState<T>& shared)
      : sampling_(sampling), samples_(samples), shared_(shared) {}

  __device__ void run(uint64_t sample) {
    const torchcent::Pair ends = random_pair(samples_.seed, sample, samples_.n);
    begin(0, ends.source);
    begin(1, ends.target);
    __syncthreads();
    T next[2];
    for (;;) {
      for (int s = 0; s < 2; ++s)
        next[s] = shared_.done[s] ? unreached<T> : Search::next(shared_.state[s], shared_.place[s]);
      if (shared_.done[0] || shared_.done[1] || overflow() || !(next[0] + next[1] < shared_.shortest)) break;
      advance(sampling_.exact && shared_.arcs[1] < shared_.arcs[0] ? 1 : 0);
    }
    if (shared_.shortest < MeetingWatch<T>::kNone && !overflow())
      draw(sample, ends, min(next[0], shared_.shortest), next[1]);
    __syncthreads();
    if (threadIdx.x == 0) {
      if (overflow()) samples_.leave(sample);
      atomicAdd(samples_.arcs, shared_.arcs[0] + shared_.arcs[1]);
    }
    for (int s = 0; s < 2; ++s) search(s).abandon();
  }

 private:
  __device__ bool overflow() const { return shared_.state[0].stop || shared_.state[1].stop || shared_.overflow; }
  __device__ T* distance(int s) const { return sampling_.from[s].distance + blockIdx.x * samples_.n; }
  __device__ double* sigma(int s) const {
    return static_cast<double*>(sampling_.from[s].sigma) + blockIdx.x * samples_.n;
  }
  __device__ Search search(int s) const {
    return Search(sampling_.from[s], shared_.state[s], shared_.place[s], MeetingWatch<T>(distance(1 - s)));
  }

  __device__ void begin(int s, int32_t root) {
    Search side(sampling_.from[s], shared_.state[s], {}, MeetingWatch<T>(distance(1 - s)));
    side.restart();
    if (threadIdx.x != 0) return;
    side.start(DijkstraStart<T>(root));
    shared_.place[s] = side.place();
    shared_.state[s].stop = shared_.overflow = 0;
    shared_.done[s] = false;
    shared_.arcs[s] = 0;
    shared_.shortest = MeetingWatch<T>::kNone;
  }

  // Settles a level of side s.
  __device__ void advance(int s) {
    Search side = search(s);
    const bool more = side.advance();
    const T shortest = least_of_warp(side.watch().shortest);
    const uint32_t arcs = __reduce_add_sync(~0u, side.watch().arcs);
    if ((threadIdx.x & 31) == 0) {
      if (shortest < MeetingWatch<T>::kNone) atomic_min(&shared_.shortest, shortest);
      if (arcs != 0) atomicAdd(&shared_.arcs[s], static_cast<unsigned long long>(arcs));
    }
    if (threadIdx.x == 0) {
      shared_.place[s] = side.place();
      shared_.done[s] = !more;
    }
    __syncthreads();
  }

  // border: all vertices nearer to s are settled; next: the same for t.
  __device__ void draw(uint64_t sample, const torchcent::Pair& ends, T border, T next) {
    const T *const from = distance(0), *const to = distance(1), shortest = shared_.shortest;
    const double *const ways = sigma(0), *const ways_on = sigma(1);
    if (!(shortest - border < next))
      search(1).count_next([&](int32_t v) { return from[v] < unreached<T> && from[v] + to[v] == shortest; });
    if (threadIdx.x == 0) shared_.state[0].taken[0] = 0;
    __syncthreads();
    // Whether an arc is on a shortest path and leaves the vertices nearer than `border`. `rest` is the distance of its
    // head to t.
    const auto across = [&](T d, const Arc<T>& arc, T rest) {
      const T length = d + arc.weight;
      return !(length < border) && rest < unreached<T> && length + rest == shortest;
    };
    Crossing mine = Crossing::none();
    const DijkstraProblem<T>& on = sampling_.from[0];
    Search side = search(0);
    side.hand_out(shared_.place[0].reached, shared_.state[0].taken, [&](bool valid, int i, int lane) {
      const int32_t u = valid ? side.settled(i) : 0;
      const T d = valid ? from[u] : T(0);
      double sum = 0;
      if (valid && d < border && !(d + sampling_.heaviest[u] < border))
        side.arcs(on.out_span[u], on.out, lane, to, [&](uint32_t, const Arc<T>& arc, T rest) {
          if (across(d, arc, rest)) sum += ways_on[arc.vertex];
        });
      sum = side.total(sum);
      if (lane != 0 || sum == 0 || ways[u] == 0) return;
      if (sum > kLargestCount) shared_.overflow = 1;
      mine.enter(samples_, sample, u, ways[u], sum);
    });
    const Crossing crossing = first_of_block(mine, shared_.part);
    const int s = threadIdx.x / 32;  // one warp per side
    if (s > 1 || overflow() || crossing.tail < 0) return;
    int32_t u = crossing.tail;
    if (s == 1) {
      const double left = uniform(random_bits(samples_.seed, sample, Purpose::arc, 0)) * crossing.reach;
      const T d = from[u];
      u = drawn(on.out_span[u], on.out, to, ways_on, left,
                [&](const Arc<T>& arc, T rest) { return across(d, arc, rest); });
    }
    walk(sample, s, u, s == 0 ? ends.source : ends.target);
  }

  template <class Wanted>
  __device__ static int32_t drawn(const Span& span, const Arc<T>* arcs, const T* known, const double* ways, double left,
                                  Wanted wanted) {
    const auto of = [&](int32_t v) { return known[v]; };
    const auto arc_at = [&](int64_t k) { return arcs[span.begin + k]; };
    return drawn_vertex<Arc<T>>(span.degree, arc_at, of, ways, left, wanted);
  }

  // Follows a shortest path from u back to the root of side s. Called by one warp.
  __device__ void walk(uint64_t sample, int s, int32_t u, int32_t root) const {
    const DijkstraProblem<T>& side = sampling_.from[s];
    const Purpose purpose = s == 0 ? Purpose::walk_back : Purpose::walk_on;
    const T* const known = distance(s);
    const double* const ways = sigma(s);
    for (uint32_t step = 0; u >= 0 && u != root; ++step) {
      if ((threadIdx.x & 31) == 0) atomicAdd(samples_.counts + u, 1ull);
      const T d = known[u];
      const double left = uniform(random_bits(samples_.seed, sample, purpose, step)) * ways[u];
      u = drawn(side.in_span[u], side.in, known, ways, left,
                [&](const Arc<T>& arc, T other) { return side.ties.tight(other, arc.weight, d); });
    }
  }

  const WeightSampling<T>& sampling_;
  const Samples& samples_;
  SamplerState<T>& shared_;
};

template <class T>
__global__ void __launch_bounds__(kMostThreads, kWeightThreads / kMostThreads)
    weight_sample_kernel(const __grid_constant__ WeightSampling<T> sampling, const __grid_constant__ Samples samples) {
  __shared__ SamplerState<T> shared;
  WeightSampler<T> sampler(sampling, samples, shared);
  for (;;) {
    if (threadIdx.x == 0) shared.sample = samples.take();
    __syncthreads();
    if (samples.over(shared.sample)) return;
    sampler.run(static_cast<uint64_t>(samples.first) + shared.sample);  // ends with a barrier
  }
}

}  // namespace torchcent::cuda
