// Random shortest paths by hops on CUDA: a block per sample, with the random numbers, the order of levels and the
// choices of samples/cpu/sample_hops.h, so that a sample is the same path on both. A sample whose counts overflow
// double is left to the CPU.
//
// Hundreds of searches at a time read memory at random. In sparse undirected graphs their states are narrow, and paths
// are counted after the search, only where they can lead, as on the CPU. In other graphs a search has few levels with
// many arcs, which are not read again: paths are counted on the way, by atomic additions.
#pragma once

#include "samples/cuda/sample_arcs.cuh"
#include "samples/cuda/sample_draws.cuh"
#include "samples/cuda/sample_states.cuh"

namespace torchcent::cuda {

constexpr int kHopThreads = 1024;  // per multiprocessor, as many as its registers allow

// With a workspace for each block.
struct HopSampling {
  Stars out, in;
  int32_t* state;    // [blocks, words] 0 between samples
  double* sigma;     // [blocks, n] 0 between samples, unless paths are counted later
  int32_t* queue;    // [blocks, n + 2]
  int32_t* through;  // [blocks, n + 2] vertices on shortest paths, the deepest level first; if they are counted later
  int32_t* bound;    // [blocks, n + 2] where each of these levels begins
};

// The search of one side; the frontier is queue[begin .. end - 1].
struct SampleSide {
  int32_t begin, end, level;
  unsigned long long degrees;
};

// What a level finds is read after the barrier at its end, while the next one begins: hence three of each.
struct SampleShared {
  static constexpr int kMet = 1, kOverflow = 2;
  int found[3], taken[3], stop[3];
  unsigned long long degrees[3];
  int through[2], ancestors[2][3];
  int tails, overflow;
  unsigned long long sample;
  Crossing part[kMostThreads / 32];
};

__device__ inline int next_turn(int turn) { return turn == 2 ? 0 : turn + 1; }

// The samples of a block, one after the other.
template <class States, bool kByThread>
class HopBlock {
  using State = typename States::State;

 public:
  __device__ HopBlock(const HopSampling& problem, const Samples& samples, SampleShared& shared)
      : problem_(problem),
        samples_(samples),
        shared_(shared),
        states_(problem.state, samples.n),
        sigma_(problem.sigma + blockIdx.x * samples.n),
        queue_(problem.queue, samples.n),
        through_(problem.through, samples.n),
        bound_(problem.bound, samples.n) {}

  // Takes a sample. Returns false if there is none left.
  __device__ bool start() {
    if (threadIdx.x == 0) {
      shared_.sample = samples_.take();
      for (int turn = 0; turn < 3; ++turn) clear(turn);
      shared_.through[0] = shared_.through[1] = shared_.tails = shared_.overflow = 0;
      shared_.ancestors[0][0] = shared_.ancestors[1][0] = 0;
    }
    __syncthreads();
    if (samples_.over(shared_.sample)) return false;
    const torchcent::Pair pair = random_pair(samples_.seed, number(), samples_.n);
    from_source_ = {0, 1, 0, degree(problem_.out[pair.source])};
    from_target_ = {0, 1, 0, degree(problem_.in[pair.target])};
    beyond_ = 0;
    if (threadIdx.x < 2) {
      const int s = static_cast<int>(threadIdx.x);
      const int32_t root = s == 0 ? pair.source : pair.target;
      states_.claim(root, s, 0);
      sigma_[root] = 1;
      queue_.at(s, 0) = root;
    }
    __syncthreads();
    return true;
  }

  // Returns the side from whose frontier arcs lead to the other, or -1 if none do.
  __device__ int search() {
    for (int turn = 0; from_source_.begin < from_source_.end && from_target_.begin < from_target_.end;
         turn = next_turn(turn)) {
      const int s = from_source_.degrees <= from_target_.degrees ? 0 : 1;
      const SampleSide side = s == 0 ? from_source_ : from_target_;
      if (threadIdx.x == 0) {
        clear(next_turn(turn));
        atomicAdd(samples_.arcs, side.degrees);
        if constexpr (kByThread) atomicAdd(samples_.levels, 1ull);  // sizes the blocks of the next launch
      }
      expand(s, side, turn);
      __syncthreads();
      const int stop = shared_.stop[turn], found = shared_.found[turn];
      if (stop != 0) {
        beyond_ = found, last_ = s;
        if ((stop & SampleShared::kOverflow) != 0) shared_.overflow = 1;
        return (stop & SampleShared::kOverflow) != 0 ? -1 : s;
      }
      const SampleSide next = {side.end, side.end + found, side.level + 1, shared_.degrees[turn]};
      if (s == 0) from_source_ = next;
      else from_target_ = next;
    }
    return -1;
  }

  // Draws a path over one of the arcs from the frontier of side s.
  __device__ void draw(int s) {
    const Stars& arcs = onward(s);
    Crossing mine = Crossing::none();
    const auto race = [&](int32_t u, const Star& star, int width) {  // by the tails of the crossing arcs
      double reach = 0;
      each_neighbour(arcs, star, width, states_, [&](int32_t v, State known) {
        if (States::is_of_other(known, s)) reach += sigma_[v];
      });
      for (int step = width / 2; step > 0; step /= 2) reach += __shfl_xor_sync(~0u, reach, step);
      if ((threadIdx.x & (width - 1)) != 0 || reach == 0) return;
      if (reach > kLargestCount) shared_.overflow = 1;
      mine.enter(samples_, number(), u, sigma_[u], reach);
    };
    if constexpr (States::counts_later) {
      find_crossings(s);
      count_paths();
      __syncthreads();
      if (shared_.overflow == 0) each_of(Team::block(), through_, s, arcs, 0, bound_.at(s, 1), race);
    } else {
      each_of(Team::block(), queue_, s, arcs, side(s).begin, side(s).end, race);
    }
    const Crossing crossing = first_of_block(mine, shared_.part);
    const int half = threadIdx.x / 32;  // one warp each
    if (half >= 2 || shared_.overflow != 0) return;
    int32_t u = crossing.tail;
    if (half != s) {
      const double left = uniform(random_bits(samples_.seed, number(), Purpose::arc, 0)) * crossing.reach;
      u = drawn(arcs, u, left, [&](State known) { return States::is_of_other(known, s); });
    }
    walk(half, u);
  }

  __device__ void forget() {
    if (threadIdx.x == 0 && shared_.overflow != 0) samples_.leave(number());
    for (int s = 0; s < 2; ++s) {
      const int end = side(s).end + (s == last_ ? beyond_ : 0), stride = static_cast<int>(blockDim.x);
      for (int first = threadIdx.x; first < end; first += kTogether * stride) {
        int32_t v[kTogether];
#pragma unroll
        for (int k = 0; k < kTogether; ++k) v[k] = first + k * stride < end ? queue_.at(s, first + k * stride) : -1;
#pragma unroll
        for (int k = 0; k < kTogether; ++k) {
          if (v[k] < 0) continue;
          states_.forget(v[k]);
          if constexpr (!States::counts_later) sigma_[v[k]] = 0;
        }
      }
    }
    __syncthreads();
  }

 private:
  __device__ uint64_t number() const { return static_cast<uint64_t>(samples_.first) + shared_.sample; }
  __device__ const Stars& onward(int side) const { return side == 0 ? problem_.out : problem_.in; }
  __device__ SampleSide side(int s) const { return s == 0 ? from_source_ : from_target_; }
  __device__ static unsigned long long degree(const Star& star) {
    return static_cast<unsigned long long>(star.degree());
  }
  __device__ void clear(int turn) {
    shared_.found[turn] = shared_.taken[turn] = shared_.stop[turn] = 0;
    shared_.degrees[turn] = 0;
  }
  __device__ void stop(int turn, int why) {
    int& reasons = shared_.stop[turn];
    if ((*const_cast<volatile int*>(&reasons) & why) == 0) atomicOr(&reasons, why);
  }
  template <class Visit>
  __device__ void each_of(const Team& team, const TwoLists& list, int s, const Stars& arcs, int begin, int end,
                          Visit visit) {
    each_entry<kByThread>(team, arcs, begin, end, shared_.tails, [&](int i) { return list.at(s, i); }, visit);
  }

  // Finds the next level of a side, or that the sides meet.
  __device__ void expand(int s, const SampleSide& side, int turn) {
    const Stars& arcs = onward(s);
    const int level = side.level + 1;
    unsigned long long degrees = 0;  // of the vertices that this thread finds
    const auto entry = [&](int i) { return queue_.at(s, i); };
    const auto visit = [&](int32_t u, const Star& star, int width) {
      const double paths = States::counts_later ? 0 : sigma_[u];
      if (paths > kLargestCount) stop(turn, SampleShared::kOverflow);
      each_few(arcs, star, width, [&](const int32_t (&v)[kTogether]) {
        State known[kTogether];
        unsigned fresh = 0;
        look_up(states_, v, known);
#pragma unroll
        for (int k = 0; k < kTogether; ++k) fresh |= static_cast<unsigned>(v[k] >= 0 && known[k] == 0) << k;
        if (fresh != 0) {  // a state of 0 may be stale: only the first thread to claim a vertex gets 0 back
          typename States::Word before[kTogether];
          Star next[kTogether] = {Star::none(), Star::none(), Star::none(), Star::none()};
#pragma unroll
          for (int k = 0; k < kTogether; ++k) {
            if ((fresh >> k & 1) == 0) continue;
            before[k] = states_.claim(v[k], s, level);
            next[k] = arcs[v[k]];  // for its degree; in the cache when its arcs are searched
          }
#pragma unroll
          for (int k = 0; k < kTogether; ++k) {
            if ((fresh >> k & 1) == 0) continue;
            known[k] = states_.of(before[k], v[k]);
            if (known[k] != 0) continue;
            queue_.at(s, side.end + atomicAdd(&shared_.found[turn], 1)) = v[k];
            if constexpr (kByThread) degrees += degree(next[k]);
            else atomicAdd(&shared_.degrees[turn], degree(next[k]));
            known[k] = States::state(s, level);
          }
        }
#pragma unroll
        for (int k = 0; k < kTogether; ++k) {
          if (v[k] < 0) continue;
          if (States::is_of_other(known[k], s)) stop(turn, SampleShared::kMet);
          else if (!States::counts_later && States::is_at(known[k], s, level)) atomicAdd(sigma_ + v[k], paths);
        }
      });
    };
    each_entry<kByThread>(Team::block(), arcs, side.begin, side.end, shared_.taken[turn], entry, visit);
    if constexpr (kByThread) {
      for (int step = 16; step > 0; step /= 2) degrees += __shfl_xor_sync(~0u, degrees, step);
      if ((threadIdx.x & 31) == 0 && degrees > 0) atomicAdd(&shared_.degrees[turn], degrees);
    }
  }

  // Marks and enters the neighbours for which wanted(state) holds. Returns whether there are any.
  template <class Wanted, class Enter>
  __device__ bool mark(const Stars& arcs, const Star& star, int width, Wanted wanted, Enter enter) {
    bool any = false;
    each_few(arcs, star, width, [&](const int32_t (&v)[kTogether]) {
      State known[kTogether];
      typename States::Word before[kTogether];
      unsigned fresh = 0;
      look_up(states_, v, known);
#pragma unroll
      for (int k = 0; k < kTogether; ++k) {
        if (v[k] < 0 || !wanted(known[k])) continue;
        any = true;
        fresh |= static_cast<unsigned>(!States::is_on_path(known[k])) << k;
      }
      if (fresh == 0) return;
#pragma unroll
      for (int k = 0; k < kTogether; ++k)
        if ((fresh >> k & 1) != 0) before[k] = states_.put_on_path(v[k]);
#pragma unroll
      for (int k = 0; k < kTogether; ++k)
        if ((fresh >> k & 1) != 0 && !States::is_on_path(States::of(before[k], v[k]))) enter(v[k]);
    });
    return any;
  }

  // The ends of the crossing arcs, the deepest vertices on paths of both sides.
  __device__ void find_crossings(int s) {
    const Stars& arcs = onward(s);
    const auto enter = [&](int to, int32_t v) { through_.at(to, atomicAdd(shared_.through + to, 1)) = v; };
    each_of(Team::block(), queue_, s, arcs, side(s).begin, side(s).end, [&](int32_t u, const Star& star, int width) {
      const bool crosses = mark(
          arcs, star, width, [&](State known) { return States::is_of_other(known, s); },
          [&](int32_t v) { enter(1 - s, v); });
      if (crosses && !States::is_on_path(States::of(states_.put_on_path(u), u))) enter(s, u);
    });
    __syncthreads();
  }

  // Their ancestors, level by level up to the root, and the numbers of paths from there; each side by half of the
  // block.
  __device__ void count_paths() {
    const Team team = Team::half_block();
    const int s = team.half, levels = side(s).level, steps = max(side(0).level, side(1).level);
    const Stars& back = onward(1 - s);
    int* const found = shared_.ancestors[s];
    int begin = 0, end = shared_.through[s];
    for (int step = 0, turn = 0; step < steps; ++step, turn = next_turn(turn)) {
      const int level = levels - step;
      if (team.thread == 0) {
        if (level > 0) bound_.at(s, step) = begin;
        found[next_turn(turn)] = 0;
      }
      if (level > 0)
        each_of(team, through_, s, back, begin, end, [&](int32_t, const Star& star, int width) {
          mark(
              back, star, width, [&](State known) { return States::is_at(known, s, level - 1); },
              [&](int32_t v) { through_.at(s, end + atomicAdd(found + turn, 1)) = v; });
        });
      __syncthreads();
      if (level > 0) begin = end, end += found[turn];
    }
    if (team.thread == 0) {
      bound_.at(s, levels) = begin;
      bound_.at(s, levels + 1) = end;
    }
    end = begin;
    begin = levels > 0 ? bound_.at(s, levels - 1) : 0;
    for (int level = 1; level <= steps; ++level) {
      if (level <= levels) {
        const int before = level < levels ? bound_.at(s, levels - level - 1) : 0;  // read ahead
        each_of(team, through_, s, back, begin, end, [&](int32_t u, const Star& star, int width) {
          double paths = 0;
          each_neighbour(back, star, width, states_, [&](int32_t v, State known) {
            if (States::is_at(known, s, level - 1)) paths += sigma_[v];
          });
          for (int lanes = width / 2; lanes > 0; lanes /= 2) paths += __shfl_xor_sync(~0u, paths, lanes);
          if ((threadIdx.x & (width - 1)) != 0) return;
          sigma_[u] = paths;
          if (paths > kLargestCount) shared_.overflow = 1;
        });
        end = begin, begin = before;
      }
      __syncthreads();
    }
  }

  // Called by one warp: counts the inner vertices from u, at the deepest level, back to the root.
  __device__ void walk(int s, int32_t u) {
    const Purpose purpose = s == 0 ? Purpose::walk_back : Purpose::walk_on;
    uint32_t step = 0;
    for (int level = side(s).level; level > 0; --level) {
      if ((threadIdx.x & 31) == 0) atomicAdd(samples_.counts + u, 1ull);
      if (level == 1) break;  // the root is next
      const double left = uniform(random_bits(samples_.seed, number(), purpose, step++)) * sigma_[u];
      u = drawn(onward(1 - s), u, left, [&](State known) { return States::is_at(known, s, level - 1); });
    }
  }
  template <class Wanted>
  __device__ int32_t drawn(const Stars& arcs, int32_t u, double left, Wanted wanted) const {
    const Star star = arcs[u];
    return drawn_vertex<int32_t>(
        star.degree(), [&](int64_t k) { return arcs.head(star, static_cast<int32_t>(k)); }, states_, sigma_, left,
        [&](int32_t, State known) { return wanted(known); });
  }

  const HopSampling& problem_;
  const Samples& samples_;
  SampleShared& shared_;
  const States states_;
  double* const sigma_;
  const TwoLists queue_, through_, bound_;
  SampleSide from_source_, from_target_;  // the same in all threads
  int beyond_ = 0, last_ = 0;             // vertices of a level that is not searched, and its side
};

template <class States, bool kByThread>
__global__ void __launch_bounds__(kMostThreads, kHopThreads / kMostThreads)
    hop_sample_kernel(const __grid_constant__ HopSampling problem, const __grid_constant__ Samples samples) {
  __shared__ SampleShared shared;
  HopBlock<States, kByThread> block(problem, samples, shared);
  while (block.start()) {
    const int side = block.search();
    if (side >= 0) block.draw(side);
    __syncthreads();
    block.forget();
  }
}

}  // namespace torchcent::cuda
