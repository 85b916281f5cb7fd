// One iteration of Markov clustering on CUDA: the operator mcl_iterate. The kernels are in mcl/cuda/mcl_*.cuh.

#include <torch/csrc/stable/library.h>

#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>
#include <tuple>

#include "mcl/cuda/mcl_classify.cuh"
#include "mcl/cuda/mcl_dense.cuh"
#include "mcl/cuda/mcl_hash.cuh"
#include "core/cuda/scratch.cuh"

namespace torchcent::cuda {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// For tests and measurements, otherwise 0.
struct Strategy {
  int first;         // stage in which all columns start, + 1
  bool device_sums;  // as if there were too many rows for shared memory
  bool count_first;

  explicit Strategy(int64_t code) {
    first = static_cast<int>(code & 3);
    device_sums = (code & 8) != 0;
    count_first = (code & 16) != 0;
    if (code < 0 || code > 31 || (code & 4) != 0) throw std::invalid_argument("mcl_iterate: no such strategy");
  }
};

unsigned blocks_for(int64_t threads, int size) { return static_cast<unsigned>((threads + size - 1) / size); }

struct Plus {
  __host__ __device__ int64_t operator()(int64_t a, int64_t b) const { return a + b; }
};

double real(unsigned long long bits) { return std::bit_cast<double>(bits); }

constexpr int64_t kSomeTies = 64;

// The state of an iteration on the device, and the launches.
class Iteration {
 public:
  Iteration(const Flow& flow, int64_t n, Range range, const Rules& rules, int64_t strategy, const int64_t* cancel,
            int64_t budget, Scratch& scratch, int32_t device, cudaStream_t stream)
      : range_(range),
        strategy_(strategy),
        cancel_(cancel),
        budget_(budget > 0 ? budget : int64_t{1} << 60),
        scratch_(scratch),
        stream_(stream) {
    processors_ = multiprocessors(device);
    check(cudaDeviceGetAttribute(&shared_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "device");
    job_.n = n;
    job_.flow = flow;
    job_.rules = rules;
    job_.list = scratch.array<int32_t>(kStages * n);
    job_.count = scratch.array<unsigned>(2 * kStages + 1);
    job_.ticket = job_.count + kStages;
    bound_ = reinterpret_cast<int*>(job_.count + 2 * kStages);
    job_.totals = scratch.array<Totals>(1);
    job_.products = scratch.array<unsigned long long>(1);
    const int64_t room = shared_ - static_cast<int64_t>(sizeof(BlockMemory)) - 1024;
    small_ = n <= kExactNodes;
    sums_in_shared_ = padded_rows(n) * sum_bytes() <= room && !strategy_.device_sums;
    taken_ = 4 * kStages * n;
  }

  // Entries that a column of the result can have, with some room for ties with the last selected value.
  int64_t width() {
    classify_columns();
    int bound = read(bound_);
    if (job_.rules.products != 1) bound = static_cast<int>(job_.n);
    const Rules& rules = job_.rules;
    const int64_t most = std::max(rules.select, rules.recover);
    return rules.select > 0 ? std::min<int64_t>(bound, most + most / 16 + kSomeTies) : bound;
  }
  bool count_first() const { return strategy_.count_first; }
  // Whether this many bytes are available for the new flow.
  bool fits(int64_t bytes) const { return taken_ + block_bytes() + bytes <= budget_; }

  // Expands, prunes, measures and inflates all columns. Returns false if cancelled.
  bool run(const NewFlow& out, int64_t new_bytes) {
    if (again_) classify_columns();
    again_ = true;
    job_.out = out;
    new_bytes_ = new_bytes;
    const Totals none = {0, ~0ull};
    check(cudaMemcpyAsync(job_.totals, &none, sizeof none, cudaMemcpyHostToDevice, stream_), "copy");
    warps<kSmallSlots, double>(kSmallExact, kLargeExact);
    warps<kLargeSlots, double>(kLargeExact, kDense);
    if (!small_) {
      warps<kSmallSlots, float>(kSmallTable, kLargeTable);
      warps<kLargeSlots, float>(kLargeTable, kDense);
    }
    const int64_t mark = scratch_.mark();
    if (small_) dense<double>();
    else dense<float>();
    scratch_.release(mark);  // in stream order
    return wait();
  }

  Totals totals() const { return read(job_.totals); }
  double products() const { return job_.rules.products == 0 ? 0 : static_cast<double>(read(job_.products)); }

 private:
  template <class Value>
  Value read(const Value* from) const {
    Value value;
    to_host(&value, from, sizeof value, stream_, "mcl");
    return value;
  }
  // Device memory of a block with a place for every row.
  int64_t block_bytes() const {
    const int64_t marks = mark_count(job_.n), rows = marks * rows_of_mark(job_.n);
    return (sums_in_shared_ ? 0 : sum_bytes() * rows + 4 * marks) + (job_.rules.products > 1 ? 16 * job_.n : 0);
  }
  unsigned affordable(unsigned grid, int64_t bytes) const {
    grid = static_cast<unsigned>(std::min<int64_t>(grid, range_.count()));
    if (bytes == 0) return grid;
    return static_cast<unsigned>(std::clamp<int64_t>((budget_ - taken_ - new_bytes_) / bytes, 1, grid));
  }
  void classify_columns() {
    check(cudaMemsetAsync(job_.count, 0, (2 * kStages + 1) * sizeof(unsigned), stream_), "memset");
    check(cudaMemsetAsync(job_.products, 0, sizeof *job_.products, stream_), "memset");
    const Limits limits = {
        job_.n,
        range_,
        Table<WarpGroup, kSmallSlots, float>::limit,
        Table<WarpGroup, kLargeSlots, float>::limit,
        job_.rules.products != 1 ? 2 : strategy_.first - 1,
        small_                     ? INT64_MAX
        : job_.rules.products == 1 ? kExactProducts
                                   : -1,
    };
    classify<<<blocks_for(range_.count(), 4 * kColumnsOfWarp), 128, 0, stream_>>>(job_.flow, limits, job_.list,
                                                                                  job_.count, bound_, job_.products);
    check_launch("classify");
  }
  // As many blocks as the device can hold concurrently.
  template <class Kernel>
  unsigned resident(Kernel kernel, int threads, int bytes) const {
    int blocks = 0;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "shared memory");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes), "occupancy");
    return static_cast<unsigned>(std::max(1, blocks) * processors_);
  }
  template <int slots, class Sum>
  void warps(Stage stage, Stage next) {
    const int bytes = kWarpsOfBlock * table_bytes<slots, Sum>, threads = 32 * kWarpsOfBlock;
    const unsigned grid =
        std::min(resident(mcl_warps<slots, Sum>, threads, bytes), blocks_for(range_.count(), kWarpsOfBlock));
    mcl_warps<slots, Sum><<<grid, threads, bytes, stream_>>>(job_, stage, next);
    check_launch("mcl_warps");
  }
  int64_t sum_bytes() const { return small_ ? sizeof(double) : sizeof(float); }
  template <class Sum>
  void dense() {
    const int64_t marks = mark_count(job_.n);
    const int bytes =
        static_cast<int>(sums_in_shared_ ? sum_bytes() * padded_rows(job_.n) : 4 * (mark_words(job_.n) + 1));
    const unsigned grid = affordable(sums_in_shared_ ? resident(mcl_dense<true, Sum>, kDenseThreads, bytes)
                                                     : resident(mcl_dense<false, Sum>, kDenseThreads, bytes),
                                     block_bytes());
    if (!sums_in_shared_) {
      job_.dense = scratch_.array<Sum>(grid * marks * rows_of_mark(job_.n));
      job_.marked = scratch_.array<int32_t>(grid * marks);
    }
    if (job_.rules.products > 1) {
      job_.between_row = scratch_.array<int32_t>(2 * grid * job_.n);
      job_.between_value = scratch_.array<float>(2 * grid * job_.n);
    }
    if (sums_in_shared_) mcl_dense<true, Sum><<<grid, kDenseThreads, bytes, stream_>>>(job_);
    else mcl_dense<false, Sum><<<grid, kDenseThreads, bytes, stream_>>>(job_);
    check_launch("mcl_dense");
  }
  // Waits until all is done, or cancelled: then all tickets are withdrawn, from another stream, until nothing is
  // running.
  bool wait() const {
    using std::chrono::microseconds;
    for (int looks = 0;; ++looks) {
      const cudaError_t state = cudaStreamQuery(stream_);
      if (state == cudaSuccess) return !cancelled(cancel_);
      if (state != cudaErrorNotReady) check(state, "mcl");
      if (cancelled(cancel_)) break;
      if (looks > 1000) std::this_thread::sleep_for(microseconds(100));
    }
    unsigned stop[kStages];
    std::fill_n(stop, static_cast<int>(kStages), kStop);
    cudaStream_t side = nullptr;
    check(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking), "stream");
    cudaError_t state = cudaErrorNotReady, copied = cudaSuccess;
    while (state == cudaErrorNotReady && copied == cudaSuccess) {
      copied = cudaMemcpyAsync(job_.ticket, stop, sizeof stop, cudaMemcpyHostToDevice, side);
      if (copied == cudaSuccess) copied = cudaStreamSynchronize(side);
      std::this_thread::sleep_for(microseconds(500));
      state = cudaStreamQuery(stream_);
    }
    cudaStreamDestroy(side);
    check(copied, "copy");
    check(state, "mcl");
    return false;
  }

  const Range range_;
  const Strategy strategy_;
  const int64_t* const cancel_;
  const int64_t budget_;
  Scratch& scratch_;
  const cudaStream_t stream_;
  int processors_ = 0, shared_ = 0;
  Job job_ = {};
  int* bound_ = nullptr;
  bool small_ = false;  // all sums are float64
  bool sums_in_shared_ = false;
  bool again_ = false;
  int64_t taken_ = 0, new_bytes_ = 0;
};

// The starts of packed columns, and the total number of entries.
int64_t pack(const int32_t* length, int64_t* begin, int64_t n, Scratch& scratch, cudaStream_t stream) {
  const int64_t mark = scratch.mark();
  size_t size = 0;
  const auto scan = [&](void* space) {
    check(cub::DeviceScan::ExclusiveScan(space, size, length, begin, Plus{}, int64_t{0}, static_cast<int>(n), stream),
          "scan");
  };
  scan(nullptr);
  scan(scratch.bytes(static_cast<int64_t>(size)));
  int64_t last = 0;
  int32_t own = 0;
  to_host(&last, begin + n - 1, sizeof last, stream, "scan");
  to_host(&own, length + n - 1, sizeof own, stream, "scan");
  scratch.release(mark);
  return last + own;
}

Rules rules_of(int64_t expansion, double inflation, double threshold, int64_t select, int64_t recover, double mass) {
  const auto most = [](int64_t count) { return static_cast<int32_t>(std::clamp<int64_t>(count, 0, 0x7fffffff)); };
  return {std::max(static_cast<float>(threshold), kLeast),
          most(select),
          most(recover),
          limit_in_units(mass),
          inflation,
          static_cast<int>(expansion) - 1};
}

}  // namespace

// See the schema and mcl/cpu/mcl.cpp; the byte limit applies to the new flow and the workspace. Synchronises with the
// device. The flow is returned in ELLPACK-R, as wide as the longest possible column. If that needs too much memory, or
// a column becomes longer because of ties, lengths are counted first, and columns are expanded again and written
// contiguously. Of the flow, only the columns that are computed and those that they refer to are read.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> mcl_iterate(const Tensor& begin, const Tensor& length,
                                                               const Tensor& row, const Tensor& value, Tensor& control,
                                                               int64_t expansion, double inflation, double threshold,
                                                               int64_t select, int64_t recover, double mass, int64_t,
                                                               int64_t strategy, int64_t first, int64_t last,
                                                               int64_t parts) {
  const int32_t device = begin.get_device_index();
  same_device("mcl_iterate", device, {&begin, &length, &row, &value});
  if (expansion < 1 || !(inflation > 0)) throw std::invalid_argument("mcl_iterate: expansion >= 1 and inflation > 0");
  const torch::stable::accelerator::DeviceGuard guard(device);
  const cudaStream_t stream = current_stream(device);
  if (first < 0 || last < first || parts < std::max<int64_t>(last, 1))
    throw std::invalid_argument("mcl_iterate: 0 <= first <= last <= parts");
  const int64_t n = length.numel();
  const Range range = {n * first / parts, n * last / parts};
  Control& shared = control_of(control);
  Tensor new_begin = torch::stable::new_empty(begin, {n});
  Tensor new_length = torch::stable::new_empty(length, {n});
  Tensor new_row = torch::stable::new_empty(row, {0}), new_value = torch::stable::new_empty(value, {0});
  Tensor summary = torch::stable::new_empty(control, {8}, ScalarType::Double);
  double* const figures = summary.mutable_data_ptr<double>();
  const double nothing[8] = {0, 0, 0, 0, 0, 0, 1, 0};
  std::copy_n(nothing, 8, figures);
  int64_t* const begins = new_begin.mutable_data_ptr<int64_t>();
  int32_t* const lengths = new_length.mutable_data_ptr<int32_t>();
  const auto clear_entries = [&] {
    new_row = torch::stable::new_empty(row, {0});
    new_value = torch::stable::new_empty(value, {0});
  };
  const auto clear = [&] {
    clear_entries();
    check(cudaMemsetAsync(begins, 0, n * sizeof(int64_t), stream), "memset");
    check(cudaMemsetAsync(lengths, 0, n * sizeof(int32_t), stream), "memset");
  };
  if (range.count() == 0) {
    if (n > 0) clear();
    return {new_begin, new_length, new_row, new_value, summary};
  }
  TensorScratch scratch(begin);
  const Flow flow = {begin.const_data_ptr<int64_t>(), length.const_data_ptr<int32_t>(), row.const_data_ptr<int32_t>(),
                     value.const_data_ptr<float>()};
  Iteration iteration(flow, n, range, rules_of(expansion, inflation, threshold, select, recover, mass), strategy,
                      &shared.cancel, shared.bytes, scratch, device, stream);
  int64_t room = iteration.width(), count = range.count() * room;
  // Twice: the next iteration also reads the unused part, and must fit next to it.
  if (iteration.count_first() || !iteration.fits(2 * 8 * count)) room = count = 0;
  const auto run = [&] {
    if (!iteration.fits(8 * count)) {
      shared.bytes = -1;
      return false;
    }
    new_row = torch::stable::new_empty(row, {count});
    new_value = torch::stable::new_empty(value, {count});
    return iteration.run(
        {begins, lengths, new_row.mutable_data_ptr<int32_t>(), new_value.mutable_data_ptr<float>(), room}, 8 * count);
  };
  multiples<<<blocks_for(n, 256), 256, 0, stream>>>(begins, n, range.begin, room);
  check_launch("multiples");
  if (range.count() < n) check(cudaMemsetAsync(lengths, 0, n * sizeof(int32_t), stream), "memset");
  bool done = run();
  Totals totals = done ? iteration.totals() : Totals{};
  if (done && totals.longest > static_cast<unsigned long long>(room)) {
    count = pack(lengths, begins, n, scratch, stream);
    room = n;
    clear_entries();
    done = run();
    if (done) totals = iteration.totals();
  }
  if (!done) {
    clear();
    return {new_begin, new_length, new_row, new_value, summary};
  }
  const double all[8] = {real(totals.chaos),
                         iteration.products(),
                         static_cast<double>(totals.kept),
                         static_cast<double>(totals.poor),
                         static_cast<double>(totals.recovered),
                         static_cast<double>(totals.selected),
                         totals.least_mass == ~0ull ? 1 : std::min(1.0, real(totals.least_mass)),
                         static_cast<double>(totals.mass) * 0x1p-32};
  std::copy_n(all, 8, figures);
  finish(shared, range.count());
  return {new_begin, new_length, new_row, new_value, summary};
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) { m.impl("mcl_iterate", TORCH_BOX(&mcl_iterate)); }

}  // namespace torchcent::cuda
