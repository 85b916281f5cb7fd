// The text of the kernels of csrc/dynamic/cuda, run on the CPU: a library for test_dynamic_cuda_text.py.
#include "cuda_text.h"

#include <cmath>
#include <cstring>

namespace torchcent::cuda {
alignas(16) char shared_row[1 << 16];
}

#include "dynamic/cuda/row_kernels.cuh"

using namespace torchcent::cuda;

namespace {

constexpr unsigned kThreads = 64;
constexpr int64_t kBlocks = 2;

template <class Hops, class Cell>
struct Call {
  RowProblem<Hops, Cell> problem;
  std::vector<char> workspace;

  Call(const int64_t* const* graph, int64_t n, const int64_t* sources, void* distance, void* paths, int64_t* sums,
       int8_t* outcome) {
    problem.out = {graph[0], reinterpret_cast<const int32_t*>(graph[1])};
    problem.in = {graph[2], reinterpret_cast<const int32_t*>(graph[3])};
    problem.n = n;
    problem.sources = sources;
    problem.distance = static_cast<Hops*>(distance);
    problem.cells = static_cast<Cell*>(paths);
    problem.sums = reinterpret_cast<Word*>(sums);
    problem.outcome = outcome;
    problem.is_staged = n % 3 != 0;
    problem.width = n % 2 == 0 ? 8 : 32;
    problem.unit = std::ldexp(1.0, 40);
    problem.most = std::min(Cell::kMost, 0x1p62 / static_cast<double>(n + 1));
    problem.each = torchcent::cuda::block_row_workspace(n, sizeof(typename Cell::Share), sizeof(Hops)).total();
    workspace.assign(kBlocks * problem.each + 16, 0);
    problem.workspace = workspace.data() + (16 - reinterpret_cast<uintptr_t>(workspace.data()) % 16);
  }
  // Whether all that has to be is zero again.
  bool is_clean() const {
    bool clean = true;
    for (int64_t block = 0; block < kBlocks; ++block) {
      const auto sizes = block_row_workspace(problem.n, sizeof(typename Cell::Share), sizeof(Hops)).each;
      const char* at = problem.workspace + block * problem.each;
      for (size_t i = 0; i < sizes.size(); at += sizes[i++])
        if (i != 2 && i != 4)
          for (int64_t byte = 0; byte < sizes[i]; ++byte) clean &= at[byte] == 0;
    }
    return clean;
  }
};

// Calls work(Hops{}, Cell{}).
template <class Work>
bool with_types(bool byte, bool wide, Work work) {
  if (byte) return wide ? work(uint8_t{}, WideCell{}) : work(uint8_t{}, NarrowCell{});
  return wide ? work(int32_t{}, WideCell{}) : work(int32_t{}, NarrowCell{});
}

}  // namespace

extern "C" bool text_rows(bool byte, bool wide, const int64_t* const* graph, int64_t n, int64_t k,
                          const int64_t* sources, void* distance, void* paths, int64_t* sums, int8_t* outcome,
                          int sign) {
  return with_types(byte, wide, [&]<class Hops, class Cell>(Hops, Cell) {
    Call<Hops, Cell> call(graph, n, sources, distance, paths, sums, outcome);
    std::vector<Hops> hops(kBlocks * n);
    std::vector<Cell> cells(kBlocks * n);
    unsigned next = 0;
    launch(kBlocks, 1, kThreads, [&] {
      compute_rows<Hops, Cell>(call.problem, 0, k, &next, hops.data(), paths ? nullptr : cells.data(), sign);
    });
    return call.is_clean();
  });
}

extern "C" bool text_repair(bool byte, bool wide, const int64_t* const* graph, int64_t n, int64_t k,
                            const int64_t* sources, void* distance, void* paths, int64_t* sums, int8_t* outcome,
                            const int64_t* removed, int64_t num_removed, const int64_t* inserted,
                            int64_t num_inserted) {
  return with_types(byte, wide, [&]<class Hops, class Cell>(Hops, Cell) {
    Call<Hops, Cell> call(graph, n, sources, distance, paths, sums, outcome);
    call.problem.removed = removed, call.problem.num_removed = num_removed;
    call.problem.inserted = inserted, call.problem.num_inserted = num_inserted;
    std::vector<int32_t> list(k);
    unsigned count[2] = {}, next = 0;
    launch((k + kThreads - 1) / kThreads, 1, kThreads,
           [&] { touched_rows<Hops, Cell>(call.problem, k, list.data(), count); });
    const auto repair = [&](int64_t begin, int64_t end) {
      next = 0;
      launch(kBlocks, 1, kThreads, [&] { repair_rows<Hops, Cell>(call.problem, list.data(), begin, end, &next); });
    };
    repair(0, count[0]);
    repair(k - count[1], k);
    return call.is_clean();
  });
}
