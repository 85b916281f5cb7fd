// Rows of sources of a graph that changes, and their repair, on CUDA. Blocks take sources.
#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <cmath>

#include "core/cuda/scratch.cuh"
#include "core/records.h"

namespace torchcent::cuda {
extern __shared__ int4 shared_row[];
}

#include "dynamic/cuda/row_kernels.cuh"

namespace torchcent::cuda {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

constexpr int kThreadsPerProcessor = 1024;  // by the registers of a thread
constexpr int kBlocksPerProcessor = 8;      // at most
constexpr int64_t kOwnShared = 6144;        // bytes of a block that are not for its row
constexpr int64_t kSharedAnyway = 48 * 1024;
constexpr int64_t kTogether = 8192;  // sources between two looks at Ctrl-C

struct GraphTensors {
  const Tensor &rowptr, &col, &colptr, &row;
};

// The rows of a call, and how its blocks are launched.
template <class Hops, class Cell>
class Rows {
 public:
  Rows(const GraphTensors& graph, const Tensor& sources, Tensor& distance, Tensor& paths, Tensor& sums,
       Tensor& workspace, Tensor& outcome, const Run& run)
      : run_(run) {
    const int64_t n = graph.rowptr.numel() - 1;
    problem_.out = {graph.rowptr.const_data_ptr<int64_t>(), graph.col.const_data_ptr<int32_t>()};
    problem_.in = {graph.colptr.const_data_ptr<int64_t>(), graph.row.const_data_ptr<int32_t>()};
    problem_.n = n;
    problem_.sources = sources.const_data_ptr<int64_t>();
    problem_.distance = paths.numel() > 0 ? static_cast<Hops*>(distance.mutable_data_ptr()) : nullptr;
    problem_.cells = paths.numel() > 0 ? static_cast<Cell*>(paths.mutable_data_ptr()) : nullptr;
    problem_.sums = reinterpret_cast<Word*>(sums.mutable_data_ptr<int64_t>());
    problem_.outcome = outcome.mutable_data_ptr<int8_t>();
    problem_.removed = problem_.inserted = nullptr;
    problem_.num_removed = problem_.num_inserted = 0;
    int bits = 0;
    while (int64_t{1} << bits <= n) ++bits;
    problem_.unit = std::ldexp(1.0, 62 - bits);
    problem_.most = std::min(Cell::kMost, 0x1p62 / static_cast<double>(n + 1));
    problem_.workspace = static_cast<char*>(workspace.mutable_data_ptr());
    problem_.each = block_row_workspace(n, sizeof(typename Cell::Share), static_cast<int64_t>(sizeof(Hops))).total();
    blocks_ = std::min<int64_t>(workspace.numel() / problem_.each, int64_t{run.processors} * kBlocksPerProcessor);
    if (blocks_ < 1) throw std::invalid_argument("workspace is too small for a row");
    const int64_t bytes = n * static_cast<int64_t>(sizeof(Hops)) + 16;
    problem_.is_staged = bytes <= shared_bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin) - kOwnShared;
    staged_ = problem_.is_staged ? bytes : 0;
    next_ = run.scratch.array<unsigned>(3);
    const int64_t degree = graph.col.numel() / std::max<int64_t>(n, 1);
    problem_.width = degree < 8 ? 8 : degree < 32 ? 16 : 32;
  }

  void compute(int64_t begin, int64_t end, int sign) {
    Hops* distance = nullptr;
    Cell* cells = nullptr;
    if (problem_.cells == nullptr) {
      distance = run_.scratch.array<Hops>(blocks_ * problem_.n);
      cells = run_.scratch.array<Cell>(blocks_ * problem_.n);
    }
    in_parts(begin, end, true, compute_rows<Hops, Cell>, [&](int64_t from, int64_t to, unsigned grid, int threads) {
      compute_rows<Hops, Cell>
          <<<grid, threads, staged_, run_.stream>>>(problem_, from, to, next_, distance, cells, sign);
      check_launch("compute_rows");
    });
  }

  void repair(int64_t k, const Tensor& removed, const Tensor& inserted) {
    problem_.removed = removed.const_data_ptr<int64_t>(), problem_.num_removed = removed.size(1);
    problem_.inserted = inserted.const_data_ptr<int64_t>(), problem_.num_inserted = inserted.size(1);
    int32_t* const list = run_.scratch.array<int32_t>(k);
    check(cudaMemsetAsync(next_, 0, 3 * sizeof(unsigned), run_.stream), "memset");
    touched_rows<Hops, Cell><<<cuda::blocks(k), kBlock, 0, run_.stream>>>(problem_, k, list, next_ + 1);
    check_launch("touched_rows");
    unsigned count[2] = {};
    to_host(count, next_ + 1, sizeof count, run_.stream, "touched_rows");
    const auto repair = [&](int64_t begin, int64_t end, bool many) {
      in_parts(begin, end, many, repair_rows<Hops, Cell>, [&](int64_t from, int64_t to, unsigned grid, int threads) {
        repair_rows<Hops, Cell><<<grid, threads, staged_, run_.stream>>>(problem_, list, from, to, next_);
        check_launch("repair_rows");
      });
    };
    repair(0, count[0], false);
    repair(k - count[1], k, true);
  }

 private:
  // Calls launch(from, to, blocks, threads) for parts of the rows: many small blocks if there are many rows.
  template <class Kernel, class Launch>
  void in_parts(int64_t begin, int64_t end, bool many, Kernel kernel, Launch launch) {
    if (begin >= end) return;
    if (staged_ + kOwnShared > kSharedAnyway)
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(staged_)),
            "shared memory");
    int64_t each = many ? kBlocksPerProcessor : 1;  // blocks of a processor
    const int64_t room = shared_bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    while (each > 1 && (each * (staged_ + kOwnShared) > room || each * run_.processors > blocks_)) each /= 2;
    const int threads = static_cast<int>(kThreadsPerProcessor / each);
    for (int64_t from = begin; from < end && !run_.cancelled(); from += kTogether) {
      const int64_t to = std::min(end, from + kTogether);
      check(cudaMemsetAsync(next_, 0, sizeof(unsigned), run_.stream), "memset");
      launch(from, to, static_cast<unsigned>(std::min({blocks_, each * run_.processors, to - from})), threads);
      if (end - begin > kTogether) check(cudaStreamSynchronize(run_.stream), "rows");
      finish(run_, to - from);
    }
  }

  static int64_t shared_bytes(cudaDeviceAttr which) {
    int device = 0, bytes = 0;
    check(cudaGetDevice(&device), "device");
    check(cudaDeviceGetAttribute(&bytes, which, device), "device");
    return bytes;
  }

  const Run& run_;
  RowProblem<Hops, Cell> problem_;
  int64_t blocks_, staged_;  // at most; bytes of shared memory for a row
  unsigned* next_;
};

// Calls work(rows) with rows of the types of distances and of paths, which are narrow in int32.
template <class Work>
void with_rows(const std::vector<Tensor>& arcs, const Tensor& sources, Tensor& distance, Tensor& paths, Tensor& sums,
               Tensor& control, Tensor& workspace, Tensor& outcome, Work work) {
  const auto graph = record<GraphTensors, 4>(arcs);
  same_device("dynamic_rows", graph.rowptr.get_device_index(),
              {&graph.rowptr, &graph.col, &graph.colptr, &graph.row, &sources, &distance, &paths, &sums, &workspace});
  const torch::stable::accelerator::DeviceGuard guard(graph.rowptr.get_device_index());
  TensorScratch scratch(sources);
  const Run run = run_on(graph.rowptr.get_device_index(), scratch, control);
  const auto call = [&]<class Hops, class Cell>(Hops, Cell) {
    Rows<Hops, Cell> rows(graph, sources, distance, paths, sums, workspace, outcome, run);
    work(rows);
  };
  const bool wide = paths.scalar_type() == ScalarType::Long;
  if (distance.scalar_type() == ScalarType::Byte) {
    if (wide) call(uint8_t{}, WideCell{});
    else call(uint8_t{}, NarrowCell{});
  } else if (wide) {
    call(int32_t{}, WideCell{});
  } else {
    call(int32_t{}, NarrowCell{});
  }
}

Tensor outcomes(const Tensor& sources) {
  return torch::stable::new_empty(sources, {sources.numel()}, ScalarType::Char);
}

}  // namespace

Tensor dynamic_rows(const std::vector<Tensor>& arcs, const Tensor& sources, Tensor& distance, Tensor& paths,
                    Tensor& sums, Tensor& control, Tensor& workspace, int64_t sign, int64_t) {
  Tensor outcome = outcomes(sources);
  if (sources.numel() == 0) return outcome;
  with_rows(arcs, sources, distance, paths, sums, control, workspace, outcome,
            [&](auto& rows) { rows.compute(0, sources.numel(), static_cast<int>(sign)); });
  return outcome;
}

Tensor dynamic_repair(const std::vector<Tensor>& arcs, const Tensor& sources, const Tensor& removed,
                      const Tensor& inserted, Tensor& distance, Tensor& paths, Tensor& sums, Tensor& control,
                      Tensor& workspace, int64_t) {
  Tensor outcome = outcomes(sources);
  if (sources.numel() == 0) return outcome;
  with_rows(arcs, sources, distance, paths, sums, control, workspace, outcome,
            [&](auto& rows) { rows.repair(sources.numel(), removed, inserted); });
  return outcome;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CUDA, m) {
  m.impl("dynamic_rows", TORCH_BOX(&dynamic_rows));
  m.impl("dynamic_repair", TORCH_BOX(&dynamic_repair));
}

}  // namespace torchcent::cuda
