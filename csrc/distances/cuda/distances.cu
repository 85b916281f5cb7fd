// Operators of the bits engine on CUDA: sums per vertex, sums per source, rows of distances.

#include <torch/csrc/stable/library.h>

#include <optional>
#include <stdexcept>

#include "distances/cuda/bits.cuh"
#include "distances/cuda/searches.cuh"
#include "core/cuda/scratch.cuh"

namespace torchcent::cuda {

using torch::stable::Tensor;

namespace {

// Splits the sources into waves of batches that fit into memory, and runs them.
class Search {
 public:
  // sums: whether a batch has sums of every vertex.
  Search(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row, const Tensor& sources,
         Tensor& control, bool sums)
      : n_(rowptr.numel() - 1),
        slots_(row.numel()),
        out_{rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>()},
        count_(n_ > 0 ? sources.numel() : 0),
        sources_(sources.const_data_ptr<int64_t>()),
        guard_(rowptr.get_device_index()),
        scratch_(rowptr),
        run_(run_on(rowptr.get_device_index(), scratch_, control)) {
    if (count_ == 0) return;
    tasks_ = make_tasks({colptr.const_data_ptr<int64_t>(), row.const_data_ptr<int32_t>()}, n_, slots_, run_);
    const int64_t bytes = bits_workspace(n_, slots_, sums).total();
    const int64_t batches = (count_ + kBitLanes - 1) / kBitLanes;
    const int64_t busy = (kBusyRows + n_ - 1) / n_, fit = std::max<int64_t>(1, run_.control.bytes / bytes);
    flight_ = static_cast<int>(std::min({busy, batches, kMostBitsInFlight, fit}));
  }

  int64_t n() const { return n_; }
  int64_t count() const { return count_; }
  int flight() const { return flight_; }
  const Run& run() const { return run_; }
  template <class T>
  T* zeros(int64_t size) {
    T* const values = scratch_.array<T>(size);
    zero(values, size);
    return values;
  }
  template <class T>
  void zero(T* values, int64_t size) {
    check(cudaMemsetAsync(values, 0, size * sizeof(T), run_.stream), "memset");
  }

  // wave(waves, first source, number of sources) searches one wave and returns whether to continue.
  template <class Wave>
  void each_wave(Wave wave) {
    if (count_ == 0) return;
    BitWaves waves(n_, slots_, out_, tasks_, run_, flight_);
    const int64_t size = int64_t{flight_} * kBitLanes;
    for (int64_t first = 0; first < count_; first += size) {
      const int64_t count = std::min(size, count_ - first);
      if (run_.cancelled() || !wave(waves, first, count)) return;
      finish(run_, count);
    }
  }
  const int64_t* sources(int64_t first) const { return sources_ + first; }

 private:
  int64_t n_, slots_;
  Arcs out_;
  int64_t count_;
  const int64_t* sources_;
  torch::stable::accelerator::DeviceGuard guard_;
  TensorScratch scratch_;
  Run run_;
  Tasks tasks_ = {};
  int flight_ = 1;
};

// leaves [sources] -> planes [planes][batches][4]: bit p of the number of leaves of every lane.
__global__ void leaf_planes(const int32_t* leaves, int64_t count, int planes, int batches, Mask* out) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  const int64_t batch = i / kBitLanes, lane = i % kBitLanes;
  for (int p = 0; p < planes; ++p)
    if (leaves[i] >> p & 1) atomicOr(out + (p * batches + batch) * 8 + lane / 64, Mask{1} << (lane % 64));
}

__global__ void largest(const int32_t* values, int64_t count, int32_t* result) {
  int32_t most = 0;
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < count; i += int64_t{gridDim.x} * blockDim.x)
    most = max(most, values[i]);
  if (most > 0) atomicMax(result, most);
}

// Synchronises with the device.
int32_t most_leaves(const int32_t* leaves, int64_t count, bool has_limits, const Run& run) {
  int32_t* const device_most = run.scratch.array<int32_t>(1);
  check(cudaMemsetAsync(device_most, 0, sizeof(int32_t), run.stream), "memset");
  largest<<<2 * run.processors, 256, 0, run.stream>>>(leaves, count, device_most);
  check_launch("largest");
  int32_t most = 0;
  to_host(&most, device_most, sizeof most, run.stream, "largest");
  if (most > 0 && has_limits) throw std::invalid_argument("distance_sums: leaves have no limits");
  return most;
}

const auto nothing = [](const BitWave&, int64_t) {};

// What searches one by one need of the arguments of the operators.
struct OneByOne {
  torch::stable::accelerator::DeviceGuard guard;
  TensorScratch scratch;
  Run run;
  int64_t n, slots, count;
  Arcs out;
  const int64_t* sources;

  OneByOne(const Tensor& rowptr, const Tensor& col, const Tensor& sources, Tensor& control)
      : guard(rowptr.get_device_index()),
        scratch(rowptr),
        run(run_on(rowptr.get_device_index(), scratch, control)),
        n(rowptr.numel() - 1),
        slots(col.numel()),
        count(n > 0 ? sources.numel() : 0),
        out{rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>()},
        sources(sources.const_data_ptr<int64_t>()) {}

  // On the device; null: none.
  const int64_t* copied(const std::optional<Tensor>& limits) {
    if (!limits) return nullptr;
    int64_t* const result = scratch.array<int64_t>(limits->numel());
    check(cudaMemcpyAsync(result, limits->const_data_ptr<int64_t>(), limits->numel() * sizeof(int64_t),
                          cudaMemcpyHostToDevice, run.stream),
          "limits");
    return result;
  }
};

// The last level that counts.
int64_t last_of(const std::optional<Tensor>& limits) {
  return limits ? limits->const_data_ptr<int64_t>()[limits->numel() - 1] : Limits::kNoLevel;
}

void vertex_sums_one_by_one(OneByOne& by, const int32_t* leaves, Tensor& sums, Tensor& eccentricity, Tensor& levels,
                            const std::optional<Tensor>& within) {
  most_leaves(leaves, by.count, within.has_value(), by.run);
  BlockSearches searches(by.n, by.slots, by.out, by.count, true, by.run);
  const int64_t size = searches.blocks(), *const limits = by.copied(within);
  int32_t* const rows = by.scratch.array<int32_t>(size * by.n);
  Mask* const pairs = levels.numel() > 0 ? reinterpret_cast<Mask*>(levels.mutable_data_ptr<int64_t>()) : nullptr;
  double* const total = sums.mutable_data_ptr<double>();
  int32_t* const farthest = eccentricity.mutable_data_ptr<int32_t>();
  const auto visitor = [&](int64_t, int64_t count) {
    check(cudaMemsetAsync(rows, 0xff, count * by.n * sizeof(int32_t), by.run.stream), "memset");
    return RowOfSearch<int32_t>{by.n, rows, nullptr, pairs};
  };
  searches.run(by.sources, by.count, size, last_of(within), visitor, [&](int64_t first, int64_t count) {
    add_rows<<<blocks(by.n, 256), 256, 0, by.run.stream>>>(rows, by.n, static_cast<int>(count), leaves + first, limits,
                                                           within ? within->numel() : 1, total, farthest);
    check_launch("add_rows");
  });
}

void source_sums_one_by_one(OneByOne& by, Tensor& sums, Tensor& eccentricity, const std::optional<Tensor>& within) {
  BlockSearches searches(by.n, by.slots, by.out, by.count, false, by.run);
  const int64_t* const limits = by.copied(within);
  const int64_t num_limits = within ? within->numel() : 1;
  double* const total = sums.mutable_data_ptr<double>();
  int32_t* const farthest = eccentricity.mutable_data_ptr<int32_t>();
  const auto visitor = [&](int64_t first, int64_t) {
    return SumsOfSearch{limits, num_limits, total + 4 * num_limits * first, farthest + first};
  };
  searches.run(by.sources, by.count, kRounds * searches.blocks(), last_of(within), visitor, [](int64_t, int64_t) {});
}

// Whether a distance did not fit.
template <class T>
int64_t rows_one_by_one(OneByOne& by, T* out) {
  BlockSearches searches(by.n, by.slots, by.out, by.count, false, by.run);
  int* const too_deep = by.scratch.array<int>(1);
  check(cudaMemsetAsync(too_deep, 0, sizeof(int), by.run.stream), "memset");
  check(cudaMemsetAsync(out, 0xff, by.count * by.n * sizeof(T), by.run.stream), "memset");  // -1 everywhere
  const auto visitor = [&](int64_t first, int64_t) {
    return RowOfSearch<T>{by.n, out + first * by.n, too_deep, nullptr};
  };
  searches.run(by.sources, by.count, kRounds * searches.blocks(), Limits::kNoLevel, visitor, [](int64_t, int64_t) {});
  int failed = 0;
  to_host(&failed, too_deep, sizeof failed, by.run.stream, "distances");
  return failed;
}

Limits limits_of(const std::optional<Tensor>& limits, Tensor& sums) {
  double* const target = sums.mutable_data_ptr<double>();
  return limits ? Limits(limits->const_data_ptr<int64_t>(), limits->numel(), target) : Limits(nullptr, 1, target);
}

}  // namespace

void distance_sums(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row,
                   const Tensor& sources, const Tensor& leaves, Tensor& sums, Tensor& eccentricity, Tensor& levels,
                   Tensor& control, int64_t, std::optional<Tensor> within, bool one_by_one) {
  same_device("distance_sums", rowptr.get_device_index(),
              {&col, &colptr, &row, &sources, &leaves, &sums, &eccentricity, &levels});
  const int64_t n = rowptr.numel() - 1;
  if (one_by_one) {
    OneByOne by(rowptr, col, sources, control);
    if (by.count > 0) vertex_sums_one_by_one(by, leaves.const_data_ptr<int32_t>(), sums, eccentricity, levels, within);
    return;
  }
  Search search(rowptr, col, colptr, row, sources, control, true);
  if (search.count() == 0) return;
  const cudaStream_t stream = search.run().stream;
  const int32_t* const hanging = leaves.const_data_ptr<int32_t>();
  const int32_t most = most_leaves(hanging, search.count(), within.has_value(), search.run());
  int planes = 0;
  while (most >> planes != 0) ++planes;
  Limits limits = limits_of(within, sums);

  const int64_t table = kDistanceSums * n;
  double* const part = search.run().scratch.array<double>(search.flight() * table);
  Mask* const plane = search.run().scratch.array<Mask>(int64_t{planes} * search.flight() * 8);
  Mask* const pairs = levels.numel() > 0 ? reinterpret_cast<Mask*>(levels.mutable_data_ptr<int64_t>()) : nullptr;
  search.each_wave([&](BitWaves& waves, int64_t first, int64_t count) {
    const int batches = static_cast<int>((count + kBitLanes - 1) / kBitLanes);
    search.zero(part, batches * table);
    if (planes > 0) {
      search.zero(plane, int64_t{planes} * batches * 8);
      leaf_planes<<<blocks(count, 256), 256, 0, stream>>>(hanging + first, count, planes, batches, plane);
      check_launch("leaf_planes");
    }
    const auto add = [&](const Column& column) {
      add_sums<<<8 * search.run().processors, 256, 0, stream>>>(table, batches, part, column);
      check_launch("add_sums");
    };
    const VertexSums visitor = {n,    reinterpret_cast<const Quarter*>(plane),  planes, batches,
                                part, eccentricity.mutable_data_ptr<int32_t>(), pairs};
    limits.begin();
    const auto pass = [&](const BitWave&, int64_t level) { limits.pass(level, 0, add); };
    if (!waves.run(count, search.sources(first), visitor, pass, limits.last())) return false;
    limits.pass(Limits::kNoLevel, 0, add);
    return true;
  });
}

void source_sums(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row,
                 const Tensor& sources, Tensor& sums, Tensor& eccentricity, Tensor& control, int64_t,
                 std::optional<Tensor> within, bool one_by_one) {
  same_device("source_sums", rowptr.get_device_index(), {&col, &colptr, &row, &sources, &sums, &eccentricity});
  if (one_by_one) {
    OneByOne by(rowptr, col, sources, control);
    if (by.count > 0) source_sums_one_by_one(by, sums, eccentricity, within);
    return;
  }
  Search search(rowptr, col, colptr, row, sources, control, false);
  if (search.count() == 0) return;
  const cudaStream_t stream = search.run().stream;
  int32_t* const pairs = search.zeros<int32_t>(int64_t{search.flight()} * kBitLanes);
  Limits limits = limits_of(within, sums);
  double* const apart =
      limits.none() ? nullptr : search.run().scratch.array<double>(4 * int64_t{search.flight()} * kBitLanes);
  search.each_wave([&](BitWaves& waves, int64_t first, int64_t count) {
    double* const own_sums = apart == nullptr ? sums.mutable_data_ptr<double>() + 4 * first : apart;
    if (apart != nullptr) search.zero(apart, 4 * count);
    const auto copy = [&](const Column& column) {
      if (apart == nullptr) return;
      add_sums<<<blocks(4 * count, 256), 256, 0, stream>>>(4 * count, 1, apart, column);
      check_launch("add_sums");
    };
    limits.begin();
    int32_t* const farthest = eccentricity.mutable_data_ptr<int32_t>() + first;
    const auto add = [&](const BitWave& wave, int64_t level) {
      count_lanes<<<dim3(blocks(wave.n, kSlab), static_cast<unsigned>(wave.batches)), kBitLanes, 0, stream>>>(
          wave, level, pairs);
      check_launch("count_lanes");
      add_level<<<blocks(count, 256), 256, 0, stream>>>(wave, level, pairs, own_sums, farthest);
      check_launch("add_level");
      limits.pass(level, first, copy);
    };
    if (!waves.run(count, search.sources(first), SourceSums{}, add, limits.last())) return false;
    limits.pass(Limits::kNoLevel, first, copy);
    return true;
  });
}

template <class T>
int64_t rows_of(Search& search, T* out) {
  int* const too_deep = search.zeros<int>(1);
  const cudaStream_t stream = search.run().stream;
  check(cudaMemsetAsync(out, 0xff, search.count() * search.n() * sizeof(T), stream), "memset");  // -1 everywhere
  search.each_wave([&](BitWaves& waves, int64_t first, int64_t count) {
    const DistanceRows<T> visitor = {search.n(), out + first * search.n(), too_deep};
    return waves.run(count, search.sources(first), visitor, nothing);
  });
  int failed = 0;
  to_host(&failed, too_deep, sizeof failed, stream, "distances");
  return failed;
}

Tensor distances(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row,
                 const Tensor& sources, Tensor& out, Tensor& control, int64_t, std::optional<Tensor> place,
                 bool one_by_one) {
  if (place) throw std::invalid_argument("distances writes rows on CUDA in the order of the sources");
  same_device("distances", rowptr.get_device_index(), {&col, &colptr, &row, &sources, &out});
  Tensor result = torch::stable::new_empty(control, {1});
  int64_t* const failed = result.mutable_data_ptr<int64_t>();
  *failed = 0;
  const auto find = [&](auto rows) {
    void* const data = out.mutable_data_ptr();
    switch (out.element_size()) {
      case 1: *failed = rows(static_cast<int8_t*>(data)); break;
      case 2: *failed = rows(static_cast<int16_t*>(data)); break;
      default: *failed = rows(static_cast<int32_t*>(data));
    }
  };
  if (one_by_one) {
    OneByOne by(rowptr, col, sources, control);
    if (by.count > 0) find([&](auto* data) { return rows_one_by_one(by, data); });
  } else {
    Search search(rowptr, col, colptr, row, sources, control, false);
    if (search.count() > 0) find([&](auto* data) { return rows_of(search, data); });
  }
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) {
  m.impl("distance_sums", TORCH_BOX(&distance_sums));
  m.impl("source_sums", TORCH_BOX(&source_sums));
  m.impl("distances", TORCH_BOX(&distances));
}

}  // namespace torchcent::cuda
