// Sums over the rows of a CSR on the device: see graph/cpu/row_sums.cpp. Few lanes add up a short row, a warp a longer
// one, and long rows are cut into pieces of kPiece slots, a warp each, whose sums a block adds up. Which lane adds what
// depends on the length of the row alone, and atomics only list rows, so that the bits are always the same.

#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <optional>

#include "graph/cuda/arcs.cuh"

namespace torchcent::cuda {

namespace {

constexpr int kPiece = 2048;  // slots; longer rows are cut
constexpr int kShort = 48;    // slots of a row for kFewLanes
constexpr int kFewLanes = 8;

struct Rows {
  const int64_t* begin;
  int64_t count;
  const int32_t* col;    // null: slot i has row i of the values
  const double* weight;  // null: 1
  const double* values;
  int64_t width;
  double* out;
};

// What is left to other kernels.
struct Rest {
  int64_t* middle;            // rows for a warp
  int64_t* lengthy;           // rows in pieces: the row, and the place of its first piece
  int64_t* piece;             // of each piece, the row and its number
  double* part;               // [pieces, width]
  unsigned long long* count;  // [3]: middle, lengthy, pieces
};

template <bool kLargest>
__device__ double merge(double a, double b) {
  return kLargest ? (b > a || b != b ? b : a) : a + b;
}

// Of the slots [from, to): kSlots lanes take turns, and kColumns lanes have a column each. All lanes of the group get
// the result; those of columns beyond the last one get that of the last one.
template <bool kLargest, int kSlots, int kColumns>
__device__ double of_piece(const Rows& rows, int64_t from, int64_t to, int64_t first) {
  const int lane = threadIdx.x & (kSlots * kColumns - 1);
  const int64_t column = min(first + lane % kColumns, rows.width - 1);
  const double empty = kLargest ? -INFINITY : 0.0;
  double sum = empty, other = empty;
  const auto term = [&](int64_t slot) {
    const int64_t row = rows.col ? __ldg(rows.col + slot) : slot;
    const double value = __ldg(rows.values + row * rows.width + column);
    return rows.weight ? __ldg(rows.weight + slot) * value : value;
  };
  int64_t slot = from + lane / kColumns;
  for (; slot + kSlots < to; slot += 2 * kSlots) {
    const double one = term(slot), two = term(slot + kSlots);
    sum = merge<kLargest>(sum, one);
    other = merge<kLargest>(other, two);
  }
  if (slot < to) sum = merge<kLargest>(sum, term(slot));
  sum = merge<kLargest>(sum, other);
  // All lanes of a warp come here together: they run the same number of groups.
  for (int distance = kSlots * kColumns / 2; distance >= kColumns; distance /= 2)
    sum = merge<kLargest>(sum, __shfl_xor_sync(kFullWarp, sum, distance));
  return sum;
}

// A group of lanes per row. Rows of more than `most` slots are listed for a warp or, beyond kPiece, in pieces.
template <bool kLargest, int kSlots, int kColumns>
__global__ void short_rows(Rows rows, int64_t most, Rest rest) {
  constexpr int kGroup = kSlots * kColumns;
  const int64_t r = thread() / kGroup;
  const int lane = threadIdx.x & (kGroup - 1), in_warp = threadIdx.x & 31;
  const bool there = r < rows.count;
  const int64_t begin = there ? rows.begin[r] : 0, end = there ? rows.begin[r + 1] : 0;
  const int64_t length = end - begin;
  const int64_t stop = length <= most ? end : begin;  // no lane leaves before the shuffles
  for (int64_t first = 0; first < rows.width; first += kColumns) {
    const double sum = of_piece<kLargest, kSlots, kColumns>(rows, begin, stop, first);
    if (there && length <= most && lane < kColumns && first + lane < rows.width)
      rows.out[r * rows.width + first + lane] = length == 0 ? 0 : sum;
  }
  const bool middle = length > most && length <= kPiece, lengthy = length > kPiece;
  const unsigned wanted = __ballot_sync(kFullWarp, middle && lane == 0);
  if (wanted != 0) {
    unsigned long long at = 0;
    if (in_warp == 0) at = atomicAdd(rest.count, static_cast<unsigned long long>(__popc(wanted)));
    at = __shfl_sync(kFullWarp, at, 0) + __popc(wanted & ((1u << in_warp) - 1));
    if (middle && lane == 0) rest.middle[at] = r;
  }
  for (unsigned left = __ballot_sync(kFullWarp, lengthy && lane == 0); left != 0; left &= left - 1) {
    const int leader = __ffs(left) - 1;
    const int64_t row = __shfl_sync(kFullWarp, r, leader), size = __shfl_sync(kFullWarp, length, leader);
    const int64_t pieces = (size + kPiece - 1) / kPiece;
    unsigned long long at = 0;
    if (in_warp == 0) {
      at = atomicAdd(rest.count + 2, static_cast<unsigned long long>(pieces));
      const unsigned long long place = atomicAdd(rest.count + 1, 1ull);
      rest.lengthy[2 * place] = row;
      rest.lengthy[2 * place + 1] = static_cast<int64_t>(at);
    }
    at = __shfl_sync(kFullWarp, at, 0);
    for (int64_t i = in_warp; i < pieces; i += 32) {
      rest.piece[2 * (at + i)] = row;
      rest.piece[2 * (at + i) + 1] = i;
    }
  }
}

template <bool kLargest, int kSlots, int kColumns>
__global__ void middle_rows(Rows rows, Rest rest) {
  const int lane = threadIdx.x & 31;
  const auto count = static_cast<int64_t>(rest.count[0]);
  for (int64_t i = thread() / 32; i < count; i += int64_t{gridDim.x} * blockDim.x / 32) {
    const int64_t r = rest.middle[i];
    for (int64_t first = 0; first < rows.width; first += kColumns) {
      const double sum = of_piece<kLargest, kSlots, kColumns>(rows, rows.begin[r], rows.begin[r + 1], first);
      if (lane < kColumns && first + lane < rows.width) rows.out[r * rows.width + first + lane] = sum;
    }
  }
}

template <bool kLargest, int kSlots, int kColumns>
__global__ void pieces(Rows rows, Rest rest) {
  const int lane = threadIdx.x & 31;
  const auto count = static_cast<int64_t>(rest.count[2]);
  for (int64_t i = thread() / 32; i < count; i += int64_t{gridDim.x} * blockDim.x / 32) {
    const int64_t r = rest.piece[2 * i], from = rows.begin[r] + rest.piece[2 * i + 1] * kPiece;
    const int64_t to = min(from + kPiece, rows.begin[r + 1]);
    for (int64_t first = 0; first < rows.width; first += kColumns) {
      const double sum = of_piece<kLargest, kSlots, kColumns>(rows, from, to, first);
      if (lane < kColumns && first + lane < rows.width) rest.part[i * rows.width + first + lane] = sum;
    }
  }
}

// A block adds up the pieces of a row.
template <bool kLargest>
__global__ void whole_rows(Rows rows, Rest rest) {
  __shared__ double shared[kBlock];
  const auto count = static_cast<int64_t>(rest.count[1]);
  for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const int64_t r = rest.lengthy[2 * i], at = rest.lengthy[2 * i + 1];
    const int64_t own = (rows.begin[r + 1] - rows.begin[r] + kPiece - 1) / kPiece;
    for (int64_t column = 0; column < rows.width; ++column) {
      double sum = kLargest ? -INFINITY : 0.0;
      for (int64_t j = threadIdx.x; j < own; j += kBlock)
        sum = merge<kLargest>(sum, rest.part[(at + j) * rows.width + column]);
      shared[threadIdx.x] = sum;
      __syncthreads();
      for (int distance = kBlock / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance)
          shared[threadIdx.x] = merge<kLargest>(shared[threadIdx.x], shared[threadIdx.x + distance]);
        __syncthreads();
      }
      if (threadIdx.x == 0) rows.out[r * rows.width + column] = shared[0];
      __syncthreads();  // before the next column is written
    }
  }
}

template <bool kLargest, int kColumns>
void launch(const Rows& rows, const Rest& rest, int64_t slots, int processors, cudaStream_t stream) {
  constexpr int kSlots = 32 / kColumns;
  const int64_t most = kColumns == 1 ? kShort : kPiece;
  if constexpr (kColumns == 1)
    short_rows<kLargest, kFewLanes, 1><<<blocks(rows.count * kFewLanes), kBlock, 0, stream>>>(rows, most, rest);
  else short_rows<kLargest, kSlots, kColumns><<<blocks(rows.count * 32), kBlock, 0, stream>>>(rows, most, rest);
  check_launch("short_rows");
  const auto grid = [&](int64_t warps) {
    return static_cast<unsigned>(std::min<int64_t>(blocks(warps * 32), int64_t{processors} * 32));
  };
  if (most < kPiece && slots > most) {
    middle_rows<kLargest, kSlots, kColumns>
        <<<grid(std::min(rows.count, slots / most)), kBlock, 0, stream>>>(rows, rest);
    check_launch("middle_rows");
  }
  if (slots <= kPiece) return;
  pieces<kLargest, kSlots, kColumns><<<grid(2 * slots / kPiece), kBlock, 0, stream>>>(rows, rest);
  check_launch("pieces");
  const int64_t lengthy = std::min(rows.count, slots / kPiece);
  whole_rows<kLargest>
      <<<static_cast<unsigned>(std::min<int64_t>(lengthy, processors * 8)), kBlock, 0, stream>>>(rows, rest);
  check_launch("whole_rows");
}

template <bool kLargest>
void reduce(const Rows& rows, const Rest& rest, int64_t slots, int processors, cudaStream_t stream) {
  if (rows.width == 1) launch<kLargest, 1>(rows, rest, slots, processors, stream);
  else if (rows.width <= 4) launch<kLargest, 4>(rows, rest, slots, processors, stream);
  else if (rows.width <= 16) launch<kLargest, 16>(rows, rest, slots, processors, stream);
  else launch<kLargest, 32>(rows, rest, slots, processors, stream);
}

}  // namespace

Tensor row_sums(const Tensor& rowptr, std::optional<Tensor> col, std::optional<Tensor> weight, const Tensor& values,
                bool largest, int64_t) {
  const int32_t device = rowptr.get_device_index();
  same_device("row_sums", device, {&values});
  if (col) same_device("row_sums", device, {&*col});
  if (weight) same_device("row_sums", device, {&*weight});
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  const int64_t n = rowptr.numel() - 1, width = values.dim() == 2 ? values.size(1) : 1;
  const int64_t slots = col ? col->numel() : values.size(0);
  Tensor out = values.dim() == 2 ? torch::stable::new_empty(values, {n, width}) : torch::stable::new_empty(values, {n});
  if (n == 0 || width == 0) return out;
  const Rows rows = {rowptr.const_data_ptr<int64_t>(),
                     n,
                     col ? col->const_data_ptr<int32_t>() : nullptr,
                     weight ? weight->const_data_ptr<double>() : nullptr,
                     values.const_data_ptr<double>(),
                     width,
                     out.mutable_data_ptr<double>()};
  TensorScratch scratch(rowptr);
  // A row of more than kPiece slots has fewer than 2 slots / kPiece pieces.
  const int64_t lengthy = std::min(n, slots / kPiece), pieces = 2 * slots / kPiece;
  const Rest rest = {scratch.array<int64_t>(std::min(n, slots / kShort)), scratch.array<int64_t>(2 * lengthy),
                     scratch.array<int64_t>(2 * pieces), scratch.array<double>(pieces * width),
                     scratch.array<unsigned long long>(3)};
  check(cudaMemsetAsync(rest.count, 0, 3 * sizeof(unsigned long long), stream), "memset");
  const int processors = multiprocessors(device);
  if (largest) reduce<true>(rows, rest, slots, processors, stream);
  else reduce<false>(rows, rest, slots, processors, stream);
  return out;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) { m.impl("row_sums", TORCH_BOX(&row_sums)); }

}  // namespace torchcent::cuda
