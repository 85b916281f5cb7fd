// What searches for patterns share: the graphs of a batch, the counts of their vertices or slots, and how the threads
// divide the work. A pattern has 3 to 8 vertices, a star so many leaves.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/control.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent::patterns {

using torch::stable::Tensor;

constexpr int64_t kSmallest = 3, kLargest = 8;

// A number for each size of a pattern.
struct Sizes {
  int64_t of[kLargest + 1] = {};
  bool any = false;  // whether one of them is not 0

  void add(int64_t size, int64_t number, bool& overflow) {
    if (number == 0) return;
    overflow |= __builtin_add_overflow(of[size], number, of + size);
    any = true;
  }
  void add(const Sizes& other, bool& overflow) {
    if (!other.any) return;
    for (int64_t size = kSmallest; size <= kLargest; ++size) add(size, other.of[size], overflow);
  }
};

// The graphs and the result of a call.
struct Counts {
  Csr graph;
  const int64_t* ptr;  // the first vertex of each graph, and n
  int64_t graphs;
  int64_t size;  // of the largest pattern
  bool induced;
  bool of_slots;  // rows are slots, of which each pattern counts at one of both of its edge; else vertices
  int64_t* row;
  int64_t width;
  Control* control;
  std::atomic<bool> too_large = false;

  int64_t slots(int64_t number) const { return graph.rowptr[ptr[number + 1]] - graph.rowptr[ptr[number]]; }
};

// A thread that searches patterns of one root after the other; subclasses know which.
class Search {
 public:
  explicit Search(Counts& counts) : counts_(counts), graph_(counts.graph) {}

  // Whether other threads add to the rows of the same graph.
  void share(bool shared) { shared_ = shared; }

 protected:
  void add(int64_t row, int64_t column, int64_t number) {
    int64_t* const entry = counts_.row + row * counts_.width + column;
    int64_t before = *entry, after;
    if (shared_) before = __atomic_fetch_add(entry, number, __ATOMIC_RELAXED);
    else *entry = static_cast<int64_t>(static_cast<uint64_t>(before) + static_cast<uint64_t>(number));
    overflow_ |= __builtin_add_overflow(before, number, &after);
  }

  // A column for each size.
  void add(int64_t row, const Sizes& number) {
    for (int64_t size = kSmallest; size <= counts_.size; ++size)
      if (number.of[size] != 0) add(row, size - kSmallest, number.of[size]);
  }

  // Whether to give up; asked at every step of a search.
  bool stops() {
    if ((++steps_ & 0xfff) == 0 || overflow_) {
      if (overflow_) counts_.too_large = true;
      stopped_ |= counts_.too_large || __atomic_load_n(&counts_.control->cancel, __ATOMIC_RELAXED) != 0;
    }
    return stopped_;
  }

  Counts& counts_;
  const Csr& graph_;
  bool overflow_ = false;

 private:
  bool shared_ = false, stopped_ = false;
  uint64_t steps_ = 0;
};

// The vertices from which patterns are searched; without a list all of them.
struct Roots {
  std::vector<int32_t> vertex;  // [n], those of each graph from its first vertex on
  std::vector<int64_t> number;  // of each graph

  int64_t count(const Counts& counts, int64_t graph) const {
    return number.empty() ? counts.ptr[graph + 1] - counts.ptr[graph] : number[graph];
  }
  int64_t at(int64_t first, int64_t i) const { return vertex.empty() ? first + i : vertex[first + i]; }
};

constexpr int64_t kTogether = int64_t{1} << 12;  // slots of small graphs that a thread takes at a time
constexpr int64_t kApart = int64_t{1} << 14;     // slots from which threads share a graph
constexpr int64_t kRun = 16;                     // roots of it that a thread takes at a time
constexpr int64_t kWorth = 16;                   // a search takes so much longer than a look at its slots

// Runs make().root(first vertex, root) for all roots; returns 1 if a count is too large. Counts are integers, so that
// they do not depend on the order.
template <class Make>
Tensor search_all(Counts& counts, const Roots& roots, int64_t threads, const Tensor& like, Make make) {
  struct Task {
    int64_t graph, end, from, to;  // graphs [graph, end), or with from < to these roots of one
  };
  std::vector<Task> tasks;
  for (int64_t graph = 0; graph < counts.graphs;) {
    if (counts.slots(graph) >= kApart) {
      const int64_t size = roots.count(counts, graph);
      for (int64_t from = 0; from < size; from += kRun)
        tasks.push_back({graph, graph + 1, from, std::min(from + kRun, size)});
      ++graph;
      continue;
    }
    Task task = {graph, graph, 0, 0};
    for (int64_t slots = 0; task.end < counts.graphs && slots < kTogether && counts.slots(task.end) < kApart;)
      slots += counts.slots(task.end++);
    graph = task.end;
    tasks.push_back(task);
  }
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    auto search = make();
    for (size_t i; (i = next++) < tasks.size();) {
      const Task task = tasks[i];
      search.share(task.from < task.to);
      for (int64_t graph = task.graph; graph < task.end; ++graph) {
        const int64_t first = counts.ptr[graph];
        const int64_t to = task.from < task.to ? task.to : roots.count(counts, graph);
        for (int64_t r = task.from; r < to; ++r)
          if (!search.root(first, roots.at(first, r))) return;
        finish(*counts.control, task.from < task.to ? to - task.from : counts.ptr[graph + 1] - first);
      }
    }
  };
  const int64_t team = threads_for(counts.graph.rowptr[counts.graph.num_nodes] * kWorth, threads);
  in_threads(static_cast<int>(std::max<int64_t>(1, std::min(team, static_cast<int64_t>(tasks.size())))), work,
             [&] { next = tasks.size(); });
  Tensor flag = empty(like, 1, torch::headeronly::ScalarType::Long);
  *flag.mutable_data_ptr<int64_t>() = counts.too_large ? 1 : 0;
  return flag;
}

inline int64_t largest_graph(const Counts& counts) {
  int64_t largest = 0;
  for (int64_t graph = 0; graph < counts.graphs; ++graph)
    largest = std::max(largest, counts.ptr[graph + 1] - counts.ptr[graph]);
  return largest;
}

}  // namespace torchcent::patterns
