// Betweenness by chains on CUDA, a sweep per kept vertex for itself and all sources inside the chains that end there,
// as on the CPU (chains/cpu/chain_ends.h; docs/chains.md has the algebra).
//
// Distances and path counts from every end of a chain come first. Then a block searches from a root once more, and
// between the two passes a thread counts the targets inside a chain for all of its sources. What these pass up is
// pulled, as in chain_kernel.cuh. The weights of targets that several threads add up for the sources inside of a chain
// are rounded to multiples of one unit, so that the bits do not depend on the schedule.
#pragma once

#include "chains/cuda/chain_kernel.cuh"

namespace torchcent::cuda {

template <class T>
struct ChainSweeps {
  ChainSearches<T> chains;                  // begin is of pairs inside one chain
  const double* source;                     // [kept] weights
  const double *inner_source, *sum_source;  // [inner], [inner + with_inner]
  const ChainsAt* at;                       // [kept]
  const double* units;                      // per weight of 1
  ChainBooks* books;                        // [inner]
  // What searches from the ends of chains found.
  T* distance;  // [kept, kept]
  void* sigma;  // [kept, kept]
  // Workspace, one part per block.
  double*
      weight;  // [kept] of all sources that take the way of the root, by target; in the end, times that of the target
  double* group;  // [slots] of the targets inside a chain that take the way of the tail of its arc
};

template <class T, class Count>
__global__ void __launch_bounds__(kDijkstraThreads, 2)
    chain_rows(const __grid_constant__ DijkstraProblem<T> problem, const __grid_constant__ ChainSweeps<T> sweeps) {
  __shared__ DijkstraState<T> state;
  DijkstraBlock<T, Count> search(problem, state);
  const T* const distance = problem.distance + blockIdx.x * problem.n;
  const Count* const sigma = static_cast<Count*>(problem.sigma) + blockIdx.x * problem.n;
  for (int64_t i = blockIdx.x; i < problem.count; i += gridDim.x) {
    const int64_t from = problem.vertex[i];
    if (sweeps.at[from].count == 0) continue;
    if (!search.forward(static_cast<int32_t>(from))) return;  // retried with wider counts
    for (int p = threadIdx.x; p < search.place().reached; p += blockDim.x) {
      const int32_t v = search.settled(p);
      sweeps.distance[from * problem.n + v] = distance[v];
      static_cast<Count*>(sweeps.sigma)[from * problem.n + v] = sigma[v];
    }
    search.forget();
  }
}

// The sweeps of a block, in sequence.
template <class T, class Count>
class ChainSweep {
  using Watch = ChainWatch<T, Count>;
  using Search = DijkstraBlock<T, Count, Watch>;

 public:
  __device__ ChainSweep(const DijkstraProblem<T>& problem, const ChainSweeps<T>& sweeps, DijkstraState<T>& state,
                        int& lowest)
      : p_(problem),
        s_(sweeps),
        graph_(sweeps.chains.graph),
        state_(state),
        lowest_(lowest),
        block_(problem, sweeps.chains),
        weight_(sweeps.weight + blockIdx.x * problem.n),
        group_(sweeps.group + blockIdx.x * problem.m),
        units_(*sweeps.units) {
    for (int64_t j = threadIdx.x; j < p_.m; j += blockDim.x) group_[j] = 0;  // without inner vertices
  }

  // Returns false if a count (of any block) overflows float64.
  __device__ bool sweep(int32_t root) {
    at_ = s_.at + root;
    root_ = root;
    if (s_.source[root] == 0 && at_->count == 0) return true;
    const ChainSource<T> from(s_.chains, root);
    Search search(p_, state_, {}, Watch(from, block_.share, block_.row + s_.chains.row.score, weight_));
    if (threadIdx.x == 0) lowest_ = INT32_MAX;
    if (!search.forward(from)) return false;
    find_lowest(search, lowest_);
    const int32_t first = lowest_, last = first + search.place().reached;
    for (int32_t v = first + threadIdx.x; v < last; v += blockDim.x) weight_[v] = all_weights(v);
    __syncthreads();
    passing_ = 0;
    for (int64_t c = s_.chains.before[first] + threadIdx.x; c < s_.chains.before[last]; c += blockDim.x)
      targets_inside(c);
    __syncthreads();
    for (int32_t v = first + threadIdx.x; v < last; v += blockDim.x) target(v);
    const double passing = total_passing();  // a barrier
    search.template backward<EdgeBetweenness>(1, 0);
    if (threadIdx.x == 0) block_.row[s_.chains.row.score + root] += passing;
    search.forget();
    return true;
  }

 private:
  // The sources inside a chain at the root that take the way of the root to a target.
  struct Share {
    Meeting at;
    double tied;    // the share of x_{last + 1}, if tied
    double weight;  // of them all
  };
  // here, there: the distances of the target from the root and from the other end of the chain.
  __device__ Share share(uint32_t end, T here, Count sigma_here, T there, Count sigma_there) const {
    const int64_t c = end / 2, first = graph_.first[c];
    const double* const sum = s_.sum_source + first + c;
    const bool from_right = end % 2 != 0;
    const Meeting at = from_right ? meet(c, there, here) : meet(c, here, there);
    Share found = {at, 0, from_right ? sum[graph_.count(c)] - sum[at.right() - 1] : sum[at.last]};
    if (at.tie) {
      found.tied = double(sigma_here / (sigma_here + sigma_there));
      found.weight += found.tied * s_.inner_source[first + at.last];
    }
    return found;
  }
  __device__ Share share_at(uint32_t end, int32_t v) const {
    return share(end, block_.distance[v], block_.sigma[v], there(end)[v], sigma_there(end)[v]);
  }
  // From the other end of a chain at the root.
  __device__ const T* there(uint32_t end) const { return s_.distance + graph_.ends[end ^ 1] * p_.n; }
  __device__ const Count* sigma_there(uint32_t end) const {
    return static_cast<const Count*>(s_.sigma) + graph_.ends[end ^ 1] * p_.n;
  }
  // Of all inner vertices of a chain, from distances of its ends.
  __device__ Meeting meet(int64_t c, T left, T right) const {
    using Sum = Doubled<T>;
    const Sum sum = static_cast<Sum>(graph_.length(c)) + (static_cast<Sum>(right) - static_cast<Sum>(left));
    return meeting(graph_.position(c), graph_.by_hops, sum, 0, graph_.count(c) + 1);
  }

  __device__ double all_weights(int32_t v) const {
    double weight = s_.source[root_];
    for (int i = 0; i < at_->count; ++i) weight += share_at(at_->end[i], v).weight;
    return weight;
  }

  __device__ ChainBooks::Whole whole(double value) const {
    return static_cast<ChainBooks::Whole>(__double2ll_rn(value * units_));
  }
  // Targets of weight `target` for a share of the sources inside a chain at the root.
  __device__ void book(uint32_t end, const Share& found, double target) {
    const int64_t c = end / 2, place = end % 2 != 0 ? found.at.right() : found.at.last;
    ChainBooks* const books = s_.books + graph_.first[c] - 1;
    if (place > 0 && place <= graph_.count(c))
      atomicAdd(end % 2 != 0 ? &books[place].from_right : &books[place].from_left, whole(target));
    if (!found.at.tie) return;
    ChainBooks& tied = books[found.at.last + 1];
    atomicAdd(end % 2 != 0 ? &tied.tied_right : &tied.tied_left, whole(found.tied * target));
  }
  __device__ void pass(uint32_t end, const Share& found, double target) {
    book(end, found, target);
    passing_ += found.weight * target;
  }

  // The targets inside a chain: x_j up to `low` are reached by the left end from the root and from the other end of
  // every chain at it, those from `high` on by the right end. The sources inside this chain do not take part.
  __device__ void targets_inside(int64_t c) {
    const int32_t y = graph_.ends[2 * c], z = graph_.ends[2 * c + 1];
    const bool at_root = y == root_ || z == root_;
    const Meeting mine = meet(c, block_.distance[y], block_.distance[z]);
    double to_left = at_root ? s_.source[root_] : weight_[y], to_right = at_root ? to_left : weight_[z];
    int32_t least = mine.packed(), most = least;
    for (int i = 0; i < at_->count; ++i) {
      const uint32_t end = at_->end[i];
      if (end / 2 == c) continue;
      const int32_t other = meet(c, there(end)[y], there(end)[z]).packed();
      least = min(least, other);
      most = max(most, other);
      if (!at_root) continue;
      to_left += share_at(end, y).weight;
      to_right += share_at(end, z).weight;
    }
    const int64_t low = Meeting::last_of(least), high = Meeting::right_of(most);
    const double* const sum = s_.chains.sum + graph_.first[c] + c;
    const double of_left = sum[low], of_right = sum[graph_.count(c)] - sum[high - 1];
    const Traffic<T, Count> to(s_.chains, block_.row, c);
    to.meets_left(low, to_left);
    to.meets_right(high, to_right);
    Count left = Count(to_left * of_left) / block_.sigma[y], right = Count(to_right * of_right) / block_.sigma[z];
    for (int64_t j = low + 1; j < high; ++j) target_between(c, j, mine, to, left, right);
    if (at_root) {
      for (int i = 0; i < at_->count; ++i) {
        const uint32_t end = at_->end[i];
        if (end / 2 == c) {
          const bool from_right = end % 2 != 0;
          const double out = around(c, from_right, to);
          Count& arriving = from_right ? left : right;
          if (y != z) arriving = arriving + Count(out) / block_.sigma[from_right ? y : z];
          passing_ += out;
        } else {
          pass(end, share_at(end, y), of_left);
          pass(end, share_at(end, z), of_right);
        }
      }
    }
    const uint32_t* const slot = s_.chains.slot + 2 * c;
    group_[slot[0]] = at_root ? 0 : of_left;
    group_[slot[1]] = at_root ? 0 : of_right;
    block_.share[slot[0]] = stored(left);
    block_.share[slot[1]] = stored(right);
  }

  // A target x_j that not all of these sources reach by the same end.
  __device__ void target_between(int64_t c, int64_t j, const Meeting& mine, const Traffic<T, Count>& to, Count& left,
                                 Count& right) {
    const int32_t y = graph_.ends[2 * c], z = graph_.ends[2 * c + 1];
    const double target = s_.chains.target[graph_.first[c] + j - 1];
    double weight = s_.source[root_];
    for (int i = 0; i < at_->count; ++i) {
      const uint32_t end = at_->end[i];
      if (end / 2 == c) continue;
      const T* const distance = there(end);
      const Count* const sigma = sigma_there(end);
      const Meeting other = meet(c, distance[y], distance[z]);
      const auto here = inside(c, j, mine, block_.distance[y], block_.sigma[y], block_.distance[z], block_.sigma[z]);
      const auto from = inside(c, j, other, distance[y], sigma[y], distance[z], sigma[z]);
      const Share found = share(end, here.distance, here.sigma, from.distance, from.sigma);
      pass(end, found, target);
      weight += found.weight;
    }
    const bool by_left = j<mine.right(), by_right = j> mine.last;
    const Count none(0.0), of_left = by_left ? block_.sigma[y] : none, of_right = by_right ? block_.sigma[z] : none;
    const Count each = Count(weight * target) / (of_left + of_right);
    if (by_left) left = left + each;
    if (by_right) right = right + each;
    to.ties(j, double(each * of_left), double(each * of_right));
  }

  // x_j of a chain, seen from anywhere else.
  __device__ SegmentEnd<T, Count> inside(int64_t c, int64_t j, const Meeting& at, T left, Count sigma_left, T right,
                                         Count sigma_right) const {
    const T position = graph_.position(c)[j], by_left = left + position;
    if (j <= at.last) return {by_left, sigma_left};
    if (j >= at.right()) return {static_cast<T>(right + (graph_.length(c) - position)), sigma_right};
    return {by_left, sigma_left + sigma_right};
  }

  // A kept vertex as a target, with the targets inside chains that take its way.
  __device__ void target(int32_t v) {
    const double own = p_.target_weight[v];
    const Span span = p_.out_span[v];
    double inside = 0;
    for (uint32_t j = span.begin; j < span.begin + span.degree; ++j) inside += group_[j];
    for (int i = 0; i < at_->count; ++i) {
      const Share found = share_at(at_->end[i], v);
      book(at_->end[i], found, own + inside);
      passing_ += found.weight * (v == root_ ? inside : own + inside);
    }
    weight_[v] *= own;
  }

  // Pairs inside a chain at the root, whose paths run along it or around through both ends: their traffic that leaves
  // by the root. From x_0, their sums are added.
  __device__ double around(int64_t c, bool from_right, const Traffic<T, Count>& to) {
    const int32_t y = graph_.ends[2 * c], z = graph_.ends[2 * c + 1], other = from_right ? y : z;
    const T distance = y == z ? T(0) : block_.distance[other];
    const Count sigma = y == z ? Count(1.0) : block_.sigma[other];
    const int64_t k = graph_.count(c), first = graph_.first[c];
    const T* const position = graph_.position(c);
    const double* const source = s_.inner_source + first - 1;
    const double* const target = s_.chains.target + first - 1;
    const double* const sum = s_.chains.sum + first + c;
    using Sum = Doubled<T>;
    const Sum whole = static_cast<Sum>(graph_.length(c)) + static_cast<Sum>(distance);
    double out = 0;
    for (int64_t h = 1; h <= k; ++h) {
      const double weight = source[h];
      if (weight == 0) continue;
      const Sum twice = 2 * static_cast<Sum>(position[h]);
      const auto divided = [&](Sum at) {
        return PairsInside(meeting(position, graph_.by_hops, at, 0, k + 1), target, sigma);
      };
      // Forwards up to `there.at.last`, and backwards, around, to the others.
      const PairsInside there = divided(twice + whole);
      const double out_back = weight * (sum[k] - sum[there.at.right() - 1] + there.around);
      // Backwards down to `back.at.right()`, and forwards, around, to the others.
      const PairsInside back = divided(twice - whole);
      const double out_forward = weight * (sum[back.at.last] + back.around);
      out += from_right ? out_forward : out_back;
      if (from_right) continue;
      to.meets_left(there.at.last, weight);
      to.meets_left(h, -weight);
      to.meets_right(there.at.right(), weight);
      to.meets_right(back.at.right(), weight);
      to.meets_right(h, -weight);
      to.meets_left(back.at.last, weight);
      if (there.at.tie) to.ties(there.at.last + 1, weight * there.along, weight * there.around);
      if (back.at.tie) to.ties(back.at.last + 1, weight * back.around, weight * back.along);
      s_.chains.begin[first + h - 1] = {weight * (sum[there.at.last] - sum[h] + there.along),
                                        weight * (sum[h - 1] - sum[back.at.right() - 1] + back.along), out_forward,
                                        out_back};
    }
    return out;
  }
  // Where paths along the chain and around meet, and the target of a tie divided among them.
  struct PairsInside {
    Meeting at;
    double along = 0, around = 0;

    __device__ PairsInside(const Meeting& meeting, const double* target, Count sigma) : at(meeting) {
      if (!at.tie) return;
      const Count once = Count(target[at.last + 1]) / (Count(1.0) + sigma);
      along = double(once);
      around = double(once * sigma);
    }
  };

  __device__ double total_passing() const {
    __shared__ double part[kDijkstraThreads / 32];
    double sum = passing_;
    for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(~0u, sum, other);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int warp = 0; warp < static_cast<int>(blockDim.x / 32); ++warp) sum += part[warp];
    return sum;
  }

  const DijkstraProblem<T>& p_;
  const ChainSweeps<T>& s_;
  const ChainGraph<T>& graph_;
  DijkstraState<T>& state_;
  int& lowest_;
  const ChainMemory<T, Count> block_;
  double *weight_, *group_;
  double units_;
  const ChainsAt* at_ = nullptr;
  int32_t root_ = 0;
  double passing_ = 0;  // what this thread found of the sources inside chains at the root that leave by it
};

template <class T, class Count>
__global__ void __launch_bounds__(kDijkstraThreads, 2)
    chain_sweeps(const __grid_constant__ DijkstraProblem<T> problem, const __grid_constant__ ChainSweeps<T> sweeps) {
  __shared__ DijkstraState<T> state;
  __shared__ int lowest;
  ChainSweep<T, Count> block(problem, sweeps, state, lowest);
  for (int64_t i = blockIdx.x; i < problem.count; i += gridDim.x)
    if (!block.sweep(static_cast<int32_t>(problem.vertex[i]))) return;  // retried with wider counts
}

}  // namespace torchcent::cuda
