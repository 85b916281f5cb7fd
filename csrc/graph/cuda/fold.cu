// Folding of leaves on the device: the trees attached to a graph, and the pairs that they determine.

#include <torch/csrc/stable/library.h>

#include <tuple>

#include "core/cuda/exact_sums.cuh"
#include "graph/cuda/arcs.cuh"
#include "graph/folded_pairs.h"

namespace torchcent::cuda {

namespace {

// Rounds after which the rest of a long, thin tree is left to the search: each takes two launches, however little it
// folds.
constexpr int kMostRounds = 128;

// The leaves of a round are candidates begin to end; those of the next one are end to tail. `folded` vertices are in
// order.
struct Round {
  int32_t begin, end, tail, folded;
  unsigned blocks_done;
};

struct Folding {
  Arcs graph;
  int32_t* degree;     // arcs to vertices that are left
  int32_t* candidate;  // vertices whose degree has become 1
  int32_t* onto;       // per candidate: its neighbour if it is folded in this round, else -1
  int32_t* order;      // folded vertices, each before its parent
  int64_t* parent;     // [n]
  Round* round;
};

__global__ void first_leaves(Folding f, int64_t n) {
  const int64_t v = thread();
  const bool inside = v < n;
  const int64_t degree = inside ? f.graph.rowptr[v + 1] - f.graph.rowptr[v] : 0;
  if (inside) {
    f.degree[v] = static_cast<int32_t>(degree);
    f.parent[v] = -1;
  }
  const unsigned votes = __ballot_sync(kFullWarp, degree == 1);
  if (votes == 0) return;
  const int lane = threadIdx.x & 31;
  int place = lane == 0 ? atomicAdd(&f.round->tail, __popc(votes)) : 0;
  place = __shfl_sync(kFullWarp, place, 0) + __popc(votes & ((1u << lane) - 1));
  if (degree == 1) f.candidate[place] = static_cast<int32_t>(v);
}

__global__ void next_round(Folding f) { *f.round = {f.round->end, f.round->tail, f.round->tail, f.round->folded, 0}; }

// Finds the neighbour that each leaf has left, with a warp per leaf. Of two adjacent leaves the larger stays.
__global__ void find_parents(Folding f) {
  const int lane = threadIdx.x & 31;
  const int64_t step = int64_t{gridDim.x} * blockDim.x / 32;
  for (int64_t i = f.round->begin + thread() / 32; i < f.round->end; i += step) {
    const int32_t leaf = f.candidate[i];
    int32_t found = -1;
    if (f.degree[leaf] == 1) {
      const int64_t end = f.graph.rowptr[leaf + 1];
      for (int64_t slot = f.graph.rowptr[leaf]; slot < end && found < 0; slot += 32) {
        const int32_t u = slot + lane < end ? f.graph.col[slot + lane] : -1;
        const unsigned left = __ballot_sync(kFullWarp, u >= 0 && f.parent[u] < 0);
        if (left != 0) found = __shfl_sync(kFullWarp, u, __ffs(left) - 1);
      }
      if (f.degree[found] == 1 && found < leaf) found = -1;
    }
    if (lane == 0) f.onto[i] = found;
  }
}

// Folds them; the last block goes on to the next round.
__global__ void fold_leaves(Folding f) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  const int32_t begin = f.round->begin, end = f.round->end;
  for (int64_t i = begin + thread(); i < end; i += step) {
    const int32_t u = f.onto[i];
    if (u < 0) continue;
    const int32_t leaf = f.candidate[i];
    f.parent[leaf] = u;
    f.degree[leaf] = 0;
    f.order[atomicAdd(&f.round->folded, 1)] = leaf;
    if (atomicSub(f.degree + u, 1) == 2) f.candidate[atomicAdd(&f.round->tail, 1)] = u;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&f.round->blocks_done, 1u) != gridDim.x - 1) return;
  const int32_t tail = atomicAdd(&f.round->tail, 0);
  f.round->begin = end, f.round->end = tail, f.round->blocks_done = 0;
}

__global__ void widen(const int32_t* vertex, int64_t count, int64_t* result) {
  if (thread() < count) result[thread()] = vertex[thread()];
}

// Adds the value of a vertex to it and to all vertices that it hangs from.
template <bool kMeasure>
__global__ void climb(const int64_t* parent, int64_t n, Column value, ExactSums sums) {
  if (thread() >= n) return;
  const double own = value[thread()];
  if (own == 0) return;
  for (int64_t v = thread(); v >= 0; v = parent[v]) sums.pass<kMeasure>(v, own);
}

// Sums per label. Most vertices have the same one, so that each block first reduces those of the label that its first
// thread begins with.
__global__ void measure_by_label(const int64_t* label, int64_t n, Column value, ExactSums sums) {
  __shared__ int largest;
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  const int64_t step = int64_t{gridDim.x} * blockDim.x, first = int64_t{blockIdx.x} * blockDim.x;
  const int64_t common = first < n ? label[first] : -1;
  int mine = 0;
  for (int64_t v = thread(); v < n; v += step) {
    const int own = ExactSums::measured(value[v]);
    if (label[v] == common) mine = max(mine, own);
    else if (own != 0) sums.measure(label[v], own);
  }
  mine = __reduce_max_sync(kFullWarp, mine);
  if ((threadIdx.x & 31) == 0 && mine != 0) atomicMax(&largest, mine);
  __syncthreads();
  if (threadIdx.x == 0 && largest != 0) sums.measure(common, largest);
}

__global__ void add_by_label(const int64_t* label, int64_t n, Column value, ExactSums sums) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x, first = int64_t{blockIdx.x} * blockDim.x;
  const int64_t common = first < n ? label[first] : -1;
  const int exponent = common < 0 ? 0 : sums.exponent_at(common);
  int64_t mine[kParts] = {};
  for (int64_t v = thread(); v < n; v += step) {
    if (value[v] == 0) continue;
    if (label[v] == common) split_into_parts(value[v], exponent, [&](int k, int64_t whole) { mine[k] += whole; });
    else sums.pass<false>(label[v], value[v]);
  }
  for (int k = 0; k < kParts; ++k) {
    for (int distance = 16; distance > 0; distance /= 2) mine[k] += __shfl_xor_sync(kFullWarp, mine[k], distance);
    if ((threadIdx.x & 31) == 0 && mine[k] != 0) sums.add_part(common, k, mine[k]);
  }
}

// The sum at each vertex, or at its label.
__global__ void totals_of(ExactSums sums, const int64_t* label, int64_t n, double* total) {
  if (thread() < n) total[thread()] = sums.total(label == nullptr ? thread() : label[thread()]);
}

struct BranchSums {
  ExactSums a, b, product;
};

template <bool kMeasure>
__global__ void add_branches(const int64_t* order, int64_t count, const int64_t* parent, FoldedPairs pairs,
                             BranchSums sums) {
  if (thread() >= count) return;
  const int64_t v = order[thread()], onto = parent[v];
  const double hanging_a = pairs.hanging_a[v], hanging_b = pairs.hanging_b[v];
  sums.a.pass<kMeasure>(onto, hanging_a);
  sums.b.pass<kMeasure>(onto, hanging_b);
  sums.product.pass<kMeasure>(onto, rounded_product(hanging_a, hanging_b));
}

__global__ void count_pairs(FoldedPairs pairs, int64_t n, bool folded, BranchSums sums, double* known) {
  const int64_t v = thread();
  if (v >= n) return;
  known[v] = pairs(v, folded ? Branches{sums.a.total(v), sums.b.total(v), sums.product.total(v)} : Branches{});
}

// Sums over the trees folded onto each vertex.
void enqueue_climb(const Tensor& parent, Column value, Scratch& scratch, double* total, cudaStream_t stream) {
  const int64_t n = parent.numel();
  const int64_t* const onto = parent.const_data_ptr<int64_t>();
  const ExactSums sums = ExactSums::of(scratch, n, stream);
  climb<true><<<blocks(n), kBlock, 0, stream>>>(onto, n, value, sums);
  climb<false><<<blocks(n), kBlock, 0, stream>>>(onto, n, value, sums);
  totals_of<<<blocks(n), kBlock, 0, stream>>>(sums, nullptr, n, total);
}

void enqueue_totals(const Tensor& label, Column value, Scratch& scratch, double* total, cudaStream_t stream) {
  const int64_t n = label.numel();
  const int64_t* const of = label.const_data_ptr<int64_t>();
  const ExactSums sums = ExactSums::of(scratch, n, stream);
  const unsigned grid = std::min(blocks(n), 8u * multiprocessors(label.get_device_index()));
  measure_by_label<<<grid, kBlock, 0, stream>>>(of, n, value, sums);
  add_by_label<<<grid, kBlock, 0, stream>>>(of, n, value, sums);
  totals_of<<<blocks(n), kBlock, 0, stream>>>(sums, of, n, total);
}

}  // namespace

// Removes vertices of degree 1 of a symmetric graph, once or in rounds. order: the removed vertices, each before its
// parent; parent [n]: the neighbour that each was folded onto, -1 for the others.
std::tuple<Tensor, Tensor> fold(const Tensor& rowptr, const Tensor& col, bool recursive) {
  const int32_t device = rowptr.get_device_index();
  same_device("fold", device, {&col});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = rowptr.numel() - 1;
  Tensor parent = words(rowptr, n);
  if (n == 0) return {words(rowptr, 0), parent};
  TensorScratch scratch(rowptr);
  int32_t* const arrays = scratch.array<int32_t>(4 * n);
  const Folding f = {arcs(rowptr, col),      arrays,         arrays + n,
                     arrays + 2 * n,         arrays + 3 * n, parent.mutable_data_ptr<int64_t>(),
                     scratch.array<Round>(1)};
  Round round = {};
  const auto look = [&] { to_host(&round, f.round, sizeof round, stream, "fold"); };
  check(cudaMemsetAsync(f.round, 0, sizeof round, stream), "memset");
  first_leaves<<<blocks(n), kBlock, 0, stream>>>(f, n);
  next_round<<<1, 1, 0, stream>>>(f);
  check_launch("first_leaves");
  look();
  const unsigned grid = 8 * multiprocessors(device);
  const int most = recursive ? kMostRounds : 1;
  constexpr int kRounds = 4;  // enqueued before the host looks again
  for (int done = 0; done < most && round.begin < round.end; look())
    for (const int until = std::min(done + kRounds, most); done < until; ++done) {
      find_parents<<<grid, kBlock, 0, stream>>>(f);
      fold_leaves<<<grid, kBlock, 0, stream>>>(f);
      check_launch("fold");
    }
  Tensor order = words(rowptr, round.folded);
  if (round.folded > 0) {
    widen<<<blocks(round.folded), kBlock, 0, stream>>>(f.order, round.folded, order.mutable_data_ptr<int64_t>());
    check_launch("widen");
  }
  return {order, parent};
}

// Sums of values over the vertices folded onto each vertex, itself included. Trees are at most as high as there are
// rounds.
Tensor tree_sum(const Tensor& order, const Tensor& parent, const Tensor& values) {
  const int32_t device = values.get_device_index();
  same_device("tree_sum", device, {&order, &parent});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = values.numel();
  Tensor result = numbers(parent, n);
  if (n == 0) return result;
  TensorScratch scratch(parent);
  enqueue_climb(parent, column(values), scratch, result.mutable_data_ptr<double>(), stream);
  check_launch("tree_sum");
  return result;
}

// The sum of the values of the component of each vertex.
Tensor component_totals(const Tensor& label, const Tensor& values, int64_t) {
  const int32_t device = label.get_device_index();
  same_device("component_totals", device, {&values});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = label.numel();
  Tensor result = numbers(label, n);
  if (n == 0) return result;
  TensorScratch scratch(label);
  enqueue_totals(label, column(values), scratch, result.mutable_data_ptr<double>(), stream);
  check_launch("component_totals");
  return result;
}

// Both of the sums above.
std::tuple<Tensor, Tensor> folded_sums(const Tensor& order, const Tensor& parent, const Tensor& label,
                                       const Tensor& values, int64_t) {
  const int32_t device = label.get_device_index();
  same_device("folded_sums", device, {&order, &parent, &values});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = label.numel();
  Tensor hanging = numbers(label, n), total = numbers(label, n);
  if (n == 0) return {hanging, total};
  TensorScratch scratch(label);
  enqueue_totals(label, column(values), scratch, total.mutable_data_ptr<double>(), stream);
  scratch.release(0);
  enqueue_climb(parent, column(values), scratch, hanging.mutable_data_ptr<double>(), stream);
  check_launch("folded_sums");
  return {hanging, total};
}

// See graph/folded_pairs.h; per vertex.
Tensor folded_pairs(const Tensor& order, const Tensor& parent, const Tensor& a, const Tensor& b,
                    const Tensor& hanging_a, const Tensor& hanging_b, const Tensor& total_a, const Tensor& total_b,
                    bool counts, bool endpoints, int64_t) {
  const int32_t device = parent.get_device_index();
  same_device("folded_pairs", device, {&order, &a, &b, &hanging_a, &hanging_b, &total_a, &total_b});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = parent.numel(), count = order.numel();
  Tensor result = numbers(parent, n);
  if (n == 0) return result;
  const FoldedPairs pairs = {column(a),       column(b), column(hanging_a), column(hanging_b), column(total_a),
                             column(total_b), counts,    endpoints};
  TensorScratch scratch(parent);
  BranchSums sums = {};
  if (count > 0) {
    const int64_t* const leaf = order.const_data_ptr<int64_t>();
    const int64_t* const onto = parent.const_data_ptr<int64_t>();
    for (ExactSums* each : {&sums.a, &sums.b, &sums.product}) *each = ExactSums::of(scratch, n, stream);
    add_branches<true><<<blocks(count), kBlock, 0, stream>>>(leaf, count, onto, pairs, sums);
    add_branches<false><<<blocks(count), kBlock, 0, stream>>>(leaf, count, onto, pairs, sums);
  }
  count_pairs<<<blocks(n), kBlock, 0, stream>>>(pairs, n, count > 0, sums, result.mutable_data_ptr<double>());
  check_launch("folded_pairs");
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) {
  m.impl("fold", TORCH_BOX(&fold));
  m.impl("tree_sum", TORCH_BOX(&tree_sum));
  m.impl("component_totals", TORCH_BOX(&component_totals));
  m.impl("folded_sums", TORCH_BOX(&folded_sums));
  m.impl("folded_pairs", TORCH_BOX(&folded_pairs));
}

}  // namespace torchcent::cuda
