// Multi-search: many breadth-first searches with user-defined hooks (McLaughlin and Bader 2015).
//
// Derive a visitor from torchcent::Visitor, define the hooks that it needs, and call multi_search(). On the CPU, each
// thread runs one search at a time, with a queue; multi_search.cuh runs the same visitors on CUDA, one search per
// block. Each source is processed as follows:
//
//   init(search)                 depth[source] is 0 and the frontier is the source
//   while there is a frontier:
//     prior(search)              before the frontier is expanded; false ends the search
//     visit(search, u, v, slot)  for every arc u -> v out of the frontier, after v is marked as reached: the arc lies
//                                on a shortest path from the source if and only if depth[v] > level
//     post(search)               the frontier is now the new level, which may be empty; level is its depth
//   finalize(search)             queue[0] to queue[end - 1] are the reached vertices, sorted by depth
//
// Every thread has a copy of the visitor, so members can serve as workspace; shared data are accessed through pointers.
// If results are stored by `lane`, they depend neither on the threads nor on their timing. An exception in a hook ends
// the run and is rethrown by multi_search().
//
// Example: the number of vertices within k hops of each source, including the source. docs/multi_search.md compiles it
// to an operator with torch.utils.cpp_extension.load_inline and include_paths=[torchcent.include_path()].
//
//   #include "multi_search.h"
//
//   struct HopCount : torchcent::Visitor {
//     int64_t k;
//     int64_t* count;  // [sources]
//     bool prior(const torchcent::SearchState& search) { return search.level < k; }
//     void finalize(const torchcent::SearchState& search) { count[search.lane] = search.end; }
//   };
//
//   const torchcent::Csr graph = {n, rowptr, col};
//   torchcent::multi_search(graph, sources, number_of_sources, HopCount{{}, k, count}, threads);
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#include "csr.h"

#ifdef __CUDACC__
#define TORCHCENT_HD __host__ __device__
#else
#define TORCHCENT_HD
#endif

namespace torchcent {

// The state of a search, as passed to its hooks.
struct SearchState {
  Csr graph;
  const int32_t* depth = nullptr;   // [n] hops from the source, -1 if not reached
  const int32_t* queue = nullptr;   // [n] the reached vertices; the frontier is queue[begin] to queue[end - 1]
  int32_t begin = 0, end = 0;       // end is also the number of reached vertices
  int32_t level = 0;                // depth of the frontier
  int32_t source = 0;               // a vertex
  int64_t lane = 0;                 // its index among the sources
  int32_t worker = 0;               // index of the thread, or on CUDA of the block, for example for workspace
  int32_t thread = 0, threads = 1;  // index of this thread within the worker; on CUDA threadIdx.x of blockDim.x
};

// Hooks that do nothing. They are not virtual: multi_search() calls those of the class that it receives.
struct Visitor {
  TORCHCENT_HD void init(const SearchState&) {}
  TORCHCENT_HD bool prior(const SearchState&) { return true; }
  TORCHCENT_HD void visit(const SearchState&, int32_t /*u*/, int32_t /*v*/, int64_t /*slot*/) {}
  TORCHCENT_HD void post(const SearchState&) {}
  TORCHCENT_HD void finalize(const SearchState&) {}
};

// The searches of one thread, in sequence.
template <class V>
class QueueSearcher {
 public:
  QueueSearcher(const Csr& graph, const V& visitor, int32_t worker)
      : visitor_(visitor), depth_(graph.num_nodes, -1), queue_(graph.num_nodes + 2 * kAhead) {
    state_ = {graph, depth_.data(), queue_.data()};
    state_.worker = worker;
  }

  // Returns false if stopped: *cancel is nonzero.
  bool run(int64_t lane, int32_t source, const int64_t* cancel) {
    depth_[source] = 0;
    queue_[0] = source;
    state_.begin = 0, state_.end = 1, state_.level = 0;
    state_.source = source, state_.lane = lane;
    visitor_.init(state_);
    while (state_.begin < state_.end && visitor_.prior(state_)) {
      if (cancel != nullptr && __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0) return false;
      const int32_t reached = expand();
      state_.begin = state_.end, state_.end = reached, ++state_.level;
      visitor_.post(state_);
    }
    visitor_.finalize(state_);
    for (int32_t p = 0; p < state_.end; ++p) depth_[queue_[p]] = -1;
    return true;
  }

 private:
  static constexpr int32_t kAhead = 8;  // prefetch distance; past its end, the queue may hold any vertex
  static constexpr bool kVisits = !std::is_same_v<decltype(&V::visit), decltype(&Visitor::visit)>;

  int32_t expand() {
    const int64_t* const rowptr = state_.graph.rowptr;
    const int32_t* const col = state_.graph.col;
    int32_t* const depth = depth_.data();
    int32_t* const queue = queue_.data();
    const int32_t next = state_.level + 1;
    int32_t reached = state_.end;
    for (int32_t p = state_.begin; p < state_.end; ++p) {
      if (!kVisits && reached == state_.graph.num_nodes) break;  // no hook needs the remaining arcs
      __builtin_prefetch(rowptr + queue[p + 2 * kAhead]);
      __builtin_prefetch(col + rowptr[queue[p + kAhead]]);
      const int32_t u = queue[p];
      for (int64_t slot = rowptr[u]; slot < rowptr[u + 1]; ++slot) {
        const int32_t v = col[slot];
        // Without a branch, which would be unpredictable: the last write to the queue is kept only if v is new.
        const int32_t known = depth[v];
        depth[v] = known < 0 ? next : known;
        queue[reached] = v;
        reached += known < 0;
        visitor_.visit(state_, u, v, slot);
      }
    }
    return reached;
  }

  V visitor_;
  SearchState state_;
  std::vector<int32_t> depth_;
  std::vector<int32_t> queue_;
};

// Searches from sources[0] to sources[count - 1]. control, if given, is [cancel, sources done]. Another thread may set
// the first, which ends the run within a level, and read the second.
template <class V>
void multi_search(const Csr& graph, const int64_t* sources, int64_t count, const V& visitor, int64_t threads = 1,
                  int64_t* control = nullptr) {
  static_assert(std::is_base_of_v<Visitor, V>, "a visitor is derived from torchcent::Visitor");
  std::atomic<int64_t> next{0};
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto work = [&](int32_t worker) {
    try {
      QueueSearcher<V> searcher(graph, visitor, worker);
      for (int64_t lane = next++; lane < count; lane = next++) {
        if (!searcher.run(lane, static_cast<int32_t>(sources[lane]), control)) return;
        if (control != nullptr) __atomic_fetch_add(control + 1, 1, __ATOMIC_RELAXED);
      }
    } catch (...) {
      std::lock_guard<std::mutex> lock(error_mutex);
      error = std::current_exception();
      next = count;
    }
  };
  const int64_t workers = std::max<int64_t>(1, std::min(threads, count));
  std::vector<std::thread> others;
  others.reserve(workers - 1);
  try {
    for (int32_t worker = 1; worker < workers; ++worker) others.emplace_back(work, worker);
  } catch (const std::system_error&) {
    // The system cannot create more threads: the existing ones do the work.
  } catch (const std::bad_alloc&) {
    // No memory for another thread: likewise.
  }
  work(0);
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace torchcent
