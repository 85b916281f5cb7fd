// Transitive closure of an acyclic graph: the row of a vertex is the OR of its successors' rows.
//
// The columns are divided into blocks of 512 bits, and each block is completed, row by row, before the next begins. Its
// rows of 64 bytes are contiguous and stay in the cache, whereas whole rows would be loaded from memory once per arc.
// Blocks are independent: each is processed by one thread, without synchronisation.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/cpu/threads.h"
#include "core/control.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

constexpr int64_t kColumns = 512;  // columns of a block
constexpr int kWords = kColumns / 64;
constexpr int64_t kCancelRows = 1024;  // rows between two checks of the cancel flag

// Vertices are numbered in reverse topological order: every arc leads to a smaller number, and rows of the graph are
// sorted. The first `sinks` vertices have no arcs and no rows. Those from `columns` on are not reached by any other
// vertex and have no columns. Bit t of row p is bit t % 64 of words[base[t / 512] + 8 p + t % 512 / 64].
struct Closure {
  Csr graph;
  const int64_t* size;  // [vertices] number of vertices that each represents
  int64_t sinks, columns;
  const int64_t* base;  // [blocks]
  uint64_t* words;
  const int64_t* cancel;

  uint64_t* row(int64_t block, int64_t p) const { return words + (base[block] + kWords * p); }
};

// Writes the rows of a block and adds the reached sizes to `reached`; returns false if cancelled.
bool fill(const Closure& c, int64_t block, int64_t* reached) {
  const int64_t low = block * kColumns, high = std::min(low + kColumns, c.columns);
  const int64_t first = std::max(low, c.sinks);
  uint64_t several[kWords] = {};  // columns with a size above 1
  for (int64_t t = low; t < high; ++t)
    if (c.size[t] != 1) several[(t - low) / 64] |= uint64_t{1} << (t - low) % 64;

  for (int64_t p = first; p < c.graph.num_nodes; ++p) {
    if ((p - first) % kCancelRows == 0 && __atomic_load_n(c.cancel, __ATOMIC_RELAXED) != 0) return false;
    uint64_t row[kWords] = {};
    // Successors below `low` reach nothing in this block.
    for (int64_t s = c.graph.rowptr[p + 1] - 1; s >= c.graph.rowptr[p] && c.graph.col[s] >= low; --s) {
      const int64_t q = c.graph.col[s];
      if (q >= first) {
        const uint64_t* below = c.row(block, q);
        for (int w = 0; w < kWords; ++w) row[w] |= below[w];
      }
      if (q < high) row[(q - low) / 64] |= uint64_t{1} << (q - low) % 64;
    }
    int64_t count = 0;
    std::copy_n(row, kWords, c.row(block, p));
    for (int w = 0; w < kWords; ++w) {
      count += __builtin_popcountll(row[w]);
      for (uint64_t rest = row[w] & several[w]; rest != 0; rest &= rest - 1)
        count += c.size[low + 64 * w + __builtin_ctzll(rest)] - 1;
    }
    reached[p] += count;
  }
  return true;
}

}  // namespace

// Fills words, and adds to reached [vertices] the total size of what each vertex reaches.
void closure(const Tensor& rowptr, const Tensor& col, const Tensor& size, const Tensor& base, int64_t sinks,
             int64_t columns, Tensor& words, Tensor& reached, Tensor& control, int64_t threads) {
  Control& shared = control_of(control);
  const int64_t n = rowptr.numel() - 1, blocks = base.numel();
  const Closure problem = {
      view(rowptr, col), size.const_data_ptr<int64_t>(), sinks,
      columns,           base.const_data_ptr<int64_t>(), reinterpret_cast<uint64_t*>(words.mutable_data_ptr<int64_t>()),
      &shared.cancel};
  int64_t* const total = reached.mutable_data_ptr<int64_t>();
  std::atomic<int64_t> next = 0;  // the first blocks have the most rows
  std::mutex mutex;
  const auto work = [&] {
    std::vector<int64_t> own(n);
    for (int64_t block; (block = next++) < blocks;) {
      if (!fill(problem, block, own.data())) return;
      finish(shared, std::min(kColumns, columns - block * kColumns));
    }
    std::lock_guard lock(mutex);  // integers: the order of summation does not matter
    for (int64_t p = 0; p < n; ++p) total[p] += own[p];
  };
  in_threads(static_cast<int>(std::max<int64_t>(1, std::min(threads, blocks))), work, [&] { next = blocks; });
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Transitive closure of an acyclic graph whose arcs lead to smaller numbers. Sets the bits of words [base of a block
  // + 8 row + word], and reached to the total size of what each vertex reaches.
  m.def(
      "closure(Tensor rowptr, Tensor col, Tensor size, Tensor base, int sinks, int columns, Tensor(a!) words, "
      "Tensor(b!) reached, Tensor(c!) control, int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("closure", TORCH_BOX(&closure)); }

}  // namespace torchcent
