// The row of one source, in the hands of a block: what its threads share, lists of vertices, and a new search.
#pragma once

#include <cstdint>

#include "dynamic/cuda/cells.cuh"
#include "dynamic/cuda/warps.cuh"
#include "dynamic/workspace.h"

namespace torchcent::cuda {

// Outcomes of a row (dynamic/cpu/dynamic.cpp); the last one: more paths than cells can count.
enum RowOutcome : int8_t { kUntouched, kRepaired, kAnew, kTooFar, kTooMany };

// The graph, the rows, and what a batch has changed.
template <class Hops, class Cell>
struct RowProblem {
  Arcs out, in;
  int64_t n;
  const int64_t* sources;             // [k]
  Hops* distance;                     // [k, n]
  Cell* cells;                        // [k, n]
  Word* sums;                         // [n, 2]
  int8_t* outcome;                    // [k]
  const int64_t *removed, *inserted;  // [2, count]
  int64_t num_removed, num_inserted;
  double unit;      // of shares in narrow cells
  double most;      // paths, so that sums over the arcs of a vertex fit into a word
  int width;        // threads that share a vertex
  bool is_staged;   // whether the distances of a row are in shared memory while a block has it
  char* workspace;  // of all blocks
  int64_t each;     // bytes of a block

  __device__ static constexpr Hops far() { return static_cast<Hops>(sizeof(Hops) == 1 ? 0xff : 0x7fffffff); }
};

// What the threads of a block share. A list of vertices is appended to by `append`.
struct BlockCounters {
  int listed, now, moved;  // lengths of lists
  int next;                // level
  unsigned fault;          // an outcome
  unsigned row;
  int end[kMostThreads];  // of parts of arcs
  int of_warp[32];
};

template <class Hops, class Cell>
class BlockRow {
 public:
  using Share = typename Cell::Share;
  using Problem = RowProblem<Hops, Cell>;
  static constexpr Hops kFar = Problem::far();

  // room: in shared memory, for the distances of a row and 16 bytes more.
  __device__ BlockRow(const Problem& problem, BlockCounters& counters, char* room)
      : problem_(problem), counters_(counters), room_(problem.is_staged ? room : nullptr), n_(problem.n) {
    const int64_t entries = row_entries(n_), words = row_words(n_);
    share_ = reinterpret_cast<Share*>(problem.workspace + blockIdx.x * problem.each);
    count_ = reinterpret_cast<Word*>(share_ + entries);
    list_ = reinterpret_cast<int32_t*>(count_ + entries);
    now_ = list_ + entries;
    moves_ = now_ + entries;
    is_listed_ = reinterpret_cast<unsigned*>(moves_ + entries);
    is_moved_ = is_listed_ + words;
    before_ = reinterpret_cast<Hops*>(is_moved_ + words);
  }

  // The i-th row. All threads call this and what follows.
  __device__ void take(int64_t i) { take(i, problem_.distance + i * n_, problem_.cells + i * n_); }
  // The i-th source, and a row for it.
  __device__ void take(int64_t i, Hops* distance, Cell* cells) {
    source_ = static_cast<int32_t>(problem_.sources[i]);
    row_ = distance;
    distance_ = room_ == nullptr ? distance : reinterpret_cast<Hops*>(room_ + skew());
    cell_ = cells;
  }

  // A new search, whose dependencies are added to the sums with a sign.
  __device__ int8_t compute(int sign) {
    for (int64_t v = threadIdx.x; v < n_; v += blockDim.x) distance_[v] = kFar, cell_[v] = Cell{};
    __syncthreads();
    if (threadIdx.x == 0) {
      distance_[source_] = 0, count_[source_] = 1;
      list_[0] = source_, now_[0] = 0;
      counters_.listed = 1, counters_.fault = 0;
    }
    __syncthreads();
    const int levels = search();
    const unsigned fault = counters_.fault;
    if (fault == 0) add_shares(levels, sign);
    if (room_ != nullptr) copy_row<false>();
    clear_list();
    return fault == 0 ? kAnew : static_cast<int8_t>(fault);
  }

  // Takes the dependencies of a row out of the sums.
  __device__ void remove() {
    for (int64_t v = threadIdx.x; v < n_; v += blockDim.x)
      if (v != source_) add_dependency(static_cast<int32_t>(v), cell_[v].count(), cell_[v].share(), -1);
    __syncthreads();
  }

 protected:
  struct alignas(16) Chunk {
    uint32_t word[4];
  };

  // Where a row begins within a chunk of memory, and in shared memory likewise.
  __device__ int skew() const { return static_cast<int>(reinterpret_cast<uintptr_t>(row_) % sizeof(Chunk)); }

  // Copies the distances of the row into shared memory, or back.
  template <bool kInto>
  __device__ void copy_row() const {
    const int64_t bytes = skew() + n_ * static_cast<int64_t>(sizeof(Hops));
    constexpr auto kChunk = static_cast<int64_t>(sizeof(Chunk));
    char* const from = kInto ? reinterpret_cast<char*>(row_) - skew() : room_;
    char* const to = kInto ? room_ : reinterpret_cast<char*>(row_) - skew();
    const int64_t first = skew() == 0 ? 0 : kChunk, last = bytes / kChunk * kChunk;
    for (int64_t at = first + threadIdx.x * kChunk; at < last; at += blockDim.x * kChunk)
      *reinterpret_cast<Chunk*>(to + at) = *reinterpret_cast<const Chunk*>(from + at);
    for (int64_t at = skew() + static_cast<int64_t>(threadIdx.x); at < first && at < bytes; at += blockDim.x)
      to[at] = from[at];
    for (int64_t at = (last < first ? first : last) + static_cast<int64_t>(threadIdx.x); at < bytes; at += blockDim.x)
      to[at] = from[at];
  }

  // Vertices by distance are in list_, the begin of each level in now_; the number of levels.
  __device__ int search() {
    int level = 0, begin = 0, end = 1;
    while (begin < end) {
      for (int i = begin + static_cast<int>(threadIdx.x); i < end; i += static_cast<int>(blockDim.x)) {
        const int32_t v = list_[i];
        const auto paths = static_cast<double>(count_[v]);
        if (paths > problem_.most) counters_.fault = kTooMany;
        cell_[v].set_count(paths);
        count_[v] = 0;
      }
      if (level >= kFar - 1 && threadIdx.x == 0) counters_.fault = kTooFar;
      __syncthreads();
      if (counters_.fault != 0) break;
      each_arc(
          problem_.out, list_ + begin, end - begin, [&](int32_t v) { return static_cast<Word>(cell_[v].count()); },
          [&](Word paths, int32_t w, Hops known) {
            if (known == kFar && set_bit(is_listed_, w)) {
              distance_[w] = static_cast<Hops>(level + 1);
              list_[atomicAdd(&counters_.listed, 1)] = w;
            }
            if (known == kFar || known == level + 1) atomicAdd(count_ + w, paths);
          });
      ++level;
      begin = end, end = counters_.listed;
      if (threadIdx.x == 0) now_[level] = begin;
      __syncthreads();
    }
    if (threadIdx.x == 0) now_[level + 1] = end;
    __syncthreads();
    return level;
  }

  // share_ holds what each vertex adds to the shares of its predecessors.
  __device__ void add_shares(int levels, int sign) {
    for (int level = levels - 1; level > 0; --level) {
      const int begin = now_[level], size = now_[level + 1] - begin;
      each_vertex(list_ + begin, size, [&](int32_t v) {
        Share share = 0;
        if (level < levels - 1)
          share = warp_sum<Share>(problem_.out, v,
                                  [&](int32_t w) { return distance_[w] == level + 1 ? share_[w] : Share{0}; });
        if (lane() != 0) return;
        const double paths = cell_[v].count();
        cell_[v].set_share(share);
        share_[v] = share + Cell::reciprocal(paths, problem_.unit);
        add_dependency(v, paths, share, sign);
      });
      __syncthreads();
    }
  }

  __device__ void add_dependency(int32_t v, double paths, Share share, int sign) const {
    const double value = Cell::dependency(paths, share, problem_.unit);
    if (value == 0) return;
    const Unsigned whole = dynamic::fixed(value);
    add_to(problem_.sums + 2 * int64_t{v}, sign > 0 ? whole : -whole);
  }

  // What vertices in the list have in the arrays is zero again, and the list empty.
  __device__ void clear_list() {
    __syncthreads();
    const int size = counters_.listed;
    for (int i = static_cast<int>(threadIdx.x); i < size; i += static_cast<int>(blockDim.x)) {
      const int32_t v = list_[i];
      is_listed_[v >> 5] = 0, count_[v] = 0, share_[v] = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) counters_.listed = 0;
    __syncthreads();
  }

  // Calls visit(v) in all threads of a warp, for vertices of a list.
  template <class Visit>
  __device__ void each_vertex(const int32_t* list, int size, Visit visit) {
    for (int i = warp(); i < size; i += warps()) visit(list[i]);
  }

  // Calls visit(state(v), w, distance of w) for the arcs of the vertices in a list, but for those with an empty state.
  // The arcs of a vertex are cut into parts, each for some threads of a warp, so that hubs are shared by all.
  template <class State, class Visit>
  __device__ void each_arc(const Arcs& arcs, const int32_t* list, int size, State state, Visit visit) {
    const int width = problem_.width, groups = static_cast<int>(blockDim.x) / width;
    const int group = static_cast<int>(threadIdx.x) / width, rank = static_cast<int>(threadIdx.x) % width;
    const int each = kAhead * width;  // arcs of a part
    for (int base = 0; base < size; base += static_cast<int>(blockDim.x)) {
      const int own = base + static_cast<int>(threadIdx.x);
      int parts = 0;
      if (own < size) {
        const int32_t v = list[own];
        parts = static_cast<int>((arcs.rowptr[v + 1] - arcs.rowptr[v] + each - 1) / each);
      }
      const int total = block_scan(parts, counters_.end, counters_.of_warp);
      for (int part = group; part < total; part += groups) {
        const int at = first_above(counters_.end, static_cast<int>(blockDim.x), part);
        const int32_t v = list[base + at];
        const int64_t first = arcs.rowptr[v] + (part - (at == 0 ? 0 : counters_.end[at - 1])) * int64_t{each};
        visit_arcs(arcs, v, first + rank, arcs.rowptr[v + 1], width, state, visit);
      }
      __syncthreads();
    }
  }

  // A part of the arcs of v. They are loaded together, since visits are too rare to wait for.
  template <class State, class Visit>
  __device__ void visit_arcs(const Arcs& arcs, int32_t v, int64_t first, int64_t end, int width, State state,
                             Visit visit) {
    const auto own = state(v);
    if (!own) return;
    int32_t w[kAhead];
    Hops distance[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) w[j] = first + j * width < end ? arcs.col[first + j * width] : -1;
#pragma unroll
    for (int j = 0; j < kAhead; ++j) distance[j] = w[j] >= 0 ? distance_[w[j]] : kFar;
#pragma unroll
    for (int j = 0; j < kAhead; ++j)
      if (w[j] >= 0) visit(own, w[j], distance[j]);
  }

  const Problem& problem_;
  BlockCounters& counters_;
  char* const room_;
  const int64_t n_;
  int32_t source_ = 0;
  Hops* row_ = nullptr;       // the distances in memory
  Hops* distance_ = nullptr;  // where they are used
  Cell* cell_ = nullptr;
  // In the workspace, [n] each:
  Share* share_;  // that arrive
  Word* count_;   // paths that arrive
  int32_t *list_, *now_, *moves_;
  unsigned *is_listed_, *is_moved_;  // bits
  Hops* before_;                     // distances before the batch, of vertices that have moved
};

}  // namespace torchcent::cuda
