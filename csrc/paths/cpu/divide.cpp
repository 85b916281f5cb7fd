// Girvan and Newman's division of an undirected graph: removes the edge of highest betweenness until a component falls
// apart, and recomputes only the component that held the edge.
//
// Which of several equal edges goes first depends on the last bits of their scores. They are those of the textbook
// algorithm in NetworkX, so that both remove the same edges: float64 throughout, searches in the order of the vertices,
// vertices in the order of the queue, contributions added to an edge in the order of the sources. Threads search from
// different sources and add their contributions in turn.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "core/control.h"
#include "core/cpu/batches.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")  // a fused product and sum has other bits
#endif

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// Rows that get shorter: the neighbours of v are col[begin[v]] to col[end[v] - 1].
struct Shrinking {
  int64_t num_nodes, num_edges;
  const int64_t* begin;
  int64_t* end;
  int32_t* col;
  int32_t* edge;

  void remove(int32_t u, int64_t slot) {
    std::copy(col + slot + 1, col + end[u], col + slot);
    std::copy(edge + slot + 1, edge + end[u], edge + slot);
    --end[u];
  }
};

// The searches of one thread.
class Searcher {
 public:
  explicit Searcher(const Shrinking& graph)
      : graph_(graph), depth_(graph.num_nodes, -1), sigma_(graph.num_nodes), delta_(graph.num_nodes) {
    queue_.reserve(graph.num_nodes);
  }

  // The vertices that a search from `source` reaches, in the order of its queue.
  const std::vector<int32_t>& reach(int32_t source) {
    for (const int32_t v : queue_) depth_[v] = -1;
    queue_.assign(1, source);
    depth_[source] = 0;
    for (size_t head = 0; head < queue_.size(); ++head) {
      const int32_t v = queue_[head];
      for (int64_t slot = graph_.begin[v]; slot < graph_.end[v]; ++slot) {
        const int32_t w = graph_.col[slot];
        if (depth_[w] >= 0) continue;
        depth_[w] = depth_[v] + 1;
        queue_.push_back(w);
      }
    }
    return queue_;
  }

  // What paths from `source` contribute to each edge.
  const std::vector<std::pair<int32_t, double>>& contributions(int32_t source) {
    reach(source);
    for (const int32_t v : queue_) sigma_[v] = delta_[v] = 0;
    sigma_[source] = 1;
    for (const int32_t v : queue_)
      for (int64_t slot = graph_.begin[v]; slot < graph_.end[v]; ++slot)
        if (const int32_t w = graph_.col[slot]; depth_[w] == depth_[v] + 1) sigma_[w] += sigma_[v];
    found_.clear();
    for (size_t p = queue_.size(); p-- > 0;) {
      const int32_t w = queue_[p];
      const double coefficient = (1 + delta_[w]) / sigma_[w];
      for (int64_t slot = graph_.begin[w]; slot < graph_.end[w]; ++slot) {
        const int32_t v = graph_.col[slot];
        if (depth_[v] != depth_[w] - 1) continue;
        const double part = sigma_[v] * coefficient;
        found_.emplace_back(graph_.edge[slot], part);
        delta_[v] += part;
      }
    }
    return found_;
  }

 private:
  const Shrinking& graph_;
  std::vector<int32_t> depth_, queue_;
  std::vector<double> sigma_, delta_;
  std::vector<std::pair<int32_t, double>> found_;
};

// Adds the contributions of the sources to the scores, in their order.
void add_scores(const Shrinking& graph, const std::vector<int32_t>& sources, double* score, Control& control,
                std::vector<Searcher>& searchers) {
  const auto count = static_cast<int64_t>(sources.size());
  std::mutex mutex;
  std::condition_variable moved;
  int64_t next = 0, turn = 0;
  size_t worker = 0;
  bool stopped = false;
  const auto work = [&] {
    std::unique_lock lock(mutex);
    Searcher& searcher = searchers[worker++];
    while (next < count && !stopped) {
      const int64_t mine = next++;
      lock.unlock();
      if (__atomic_load_n(&control.cancel, __ATOMIC_RELAXED) != 0) {
        lock.lock();
        stopped = true;
        moved.notify_all();
        return;
      }
      const auto& found = searcher.contributions(sources[mine]);
      lock.lock();
      moved.wait(lock, [&] { return turn == mine || stopped; });
      if (stopped) return;
      lock.unlock();  // nobody else has this turn
      for (const auto& [edge, part] : found) score[edge] += part;
      lock.lock();
      ++turn;
      moved.notify_all();
    }
  };
  int64_t slots = 0;
  for (const int32_t v : sources) slots += graph.end[v] - graph.begin[v];
  const int64_t workers = threads_for(count * slots, searchers.size());
  in_threads(static_cast<int>(workers), work, [&] {
    std::lock_guard lock(mutex);
    stopped = true;
    moved.notify_all();
  });
}

}  // namespace

// Removes edges until one of `components` falls in two. begin, end, col, edge: the neighbours of every vertex and the
// numbers of the edges to them, no loops; they and `score` are updated, with -1 for removed edges. `fresh`: there are
// no scores yet, so that all are computed. Scores are compared as products with `scale`, and of equal ones the first
// edge goes. Returns the vertices of the part that holds the first vertex of the removed edge, by number; none if there
// are no edges, or if the run is cancelled, which leaves the graph and its scores undefined.
Tensor divide(const Tensor& begin, Tensor& end, Tensor& col, Tensor& edge, const Tensor& ends, Tensor& score,
              double scale, bool fresh, Tensor& control, int64_t threads) {
  Shrinking graph = {end.numel(),
                     score.numel(),
                     begin.const_data_ptr<int64_t>(),
                     end.mutable_data_ptr<int64_t>(),
                     col.mutable_data_ptr<int32_t>(),
                     edge.mutable_data_ptr<int32_t>()};
  const int32_t* const end_of = ends.const_data_ptr<int32_t>();
  double* const scores = score.mutable_data_ptr<double>();
  Control& state = control_of(control);
  const int64_t most = std::max<int64_t>(1, std::min(threads, graph.num_nodes));
  std::vector<Searcher> searchers(most, Searcher(graph));
  std::vector<int32_t> part;
  const auto cancelled = [&] { return __atomic_load_n(&state.cancel, __ATOMIC_RELAXED) != 0; };
  if (fresh) {
    part.resize(graph.num_nodes);
    for (int64_t v = 0; v < graph.num_nodes; ++v) part[v] = static_cast<int32_t>(v);
    add_scores(graph, part, scores, state, searchers);
  }
  for (part.clear(); !cancelled() && part.empty();) {
    int64_t best = -1;
    for (int64_t e = 0; e < graph.num_edges; ++e)
      if (scores[e] >= 0 && (best < 0 || scores[e] * scale > scores[best] * scale)) best = e;
    if (best < 0) break;
    scores[best] = -1;
    const int32_t u = end_of[2 * best], v = end_of[2 * best + 1];
    for (const int32_t x : {u, v}) {
      int64_t slot = graph.begin[x];
      while (graph.edge[slot] != best) ++slot;
      graph.remove(x, slot);
    }
    std::vector<int32_t> sides[2] = {searchers[0].reach(u), {}};
    const bool apart = std::find(sides[0].begin(), sides[0].end(), v) == sides[0].end();
    if (apart) sides[1] = searchers[0].reach(v);
    for (std::vector<int32_t>& side : sides) {
      std::sort(side.begin(), side.end());
      for (const int32_t x : side)
        for (int64_t slot = graph.begin[x]; slot < graph.end[x]; ++slot) scores[graph.edge[slot]] = 0;
      add_scores(graph, side, scores, state, searchers);
    }
    finish(state, 1);
    if (apart) part = std::move(sides[0]);
  }
  if (cancelled()) part.clear();
  Tensor result = torch::stable::new_empty(begin, {static_cast<int64_t>(part.size())}, ScalarType::Long);
  std::copy(part.begin(), part.end(), result.mutable_data_ptr<int64_t>());
  return result;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Removes the edges of highest betweenness until a component falls apart (paths/cpu/divide.cpp).
  m.def(
      "divide(Tensor begin, Tensor(a!) end, Tensor(b!) col, Tensor(c!) edge, Tensor ends, Tensor(d!) score, "
      "float scale, bool fresh, Tensor(e!) control, int threads) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("divide", TORCH_BOX(&divide)); }

}  // namespace torchcent
