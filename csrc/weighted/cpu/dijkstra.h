// The dijkstra engine: one source at a time in order of distance, for weighted graphs of large diameter.
//
// As in the queue engine, path counts are stored by place in the order in which vertices are settled. The search
// records candidate arcs, those whose length is at most the current distance of the head; the tight ones are selected
// at the end. They are ordered by their tails, as DagPass requires.
#pragma once

#include "weighted/cpu/bucket_queue.h"
#include "weighted/cpu/dag.h"

namespace torchcent::TORCHCENT_ISA {

// The arc (u, v) is tight, that is, on a shortest path, if distance[u] + weight equals distance[v]. With a tolerance,
// it is also tight if the sum exceeds distance[v] by at most this fraction, provided that u is nearer than v.
template <class T>
inline bool within(T length, T distance, double tolerance) {
  return static_cast<double>(length) <= static_cast<double>(distance) * (1 + tolerance);
}

template <class T>
struct Unreached;
template <>
struct Unreached<int32_t> {
  static constexpr int32_t value = 0x7fffffff;
};
template <>
struct Unreached<double> {
  static constexpr double value = __builtin_inf();
};

// Where a search starts: at one or two vertices, at a distance from a source that need not be among the vertices.
template <class T>
struct Start {
  int32_t vertex[2];
  T distance[2];
  int count;
};

template <class T>
class Dijkstra {
 public:
  Dijkstra(const WeightedProblem<T>& problem, bool arcs, bool slots, bool by_depth)
      : problem_(problem),
        queue_(problem.lightest, problem.heaviest, problem.num_arcs() + 2, problem.tie_tolerance > 0),
        distance_(problem.num_nodes()),
        place_(problem.num_nodes()),
        settled_(problem.num_nodes()),
        candidate_(arcs ? problem.num_arcs() + 1 : 0),
        candidate_slot_(slots ? problem.num_arcs() + 1 : 0),
        arc_(arcs ? problem.num_arcs() + 1 : 0),
        slot_(slots ? problem.num_arcs() + 1 : 0),
        by_depth_(by_depth),
        far_(by_depth ? problem.num_nodes() : 0),
        unreached_(problem.limits == nullptr ? Unreached<T>::value : beyond(problem.limits[problem.num_limits - 1])) {
    forget_all();
  }

  // Computes distances and the order of settled vertices. Arcs and Slots: record candidates for arcs(). Returns false
  // if cancelled.
  template <bool Arcs, bool Slots>
  bool search(int32_t source) {
    return search<Arcs, Slots>(Start<T>{{source, source}, {T(0), T(0)}, 1});
  }
  template <bool Arcs, bool Slots>
  [[gnu::noinline]] bool search(const Start<T>& start) {
    const int64_t* const ptr = problem_.out.ptr;
    const int32_t* const vertex = problem_.out.vertex;
    const T* const weight = problem_.out.weight;
    const double tolerance = problem_.tie_tolerance;
    const bool exact = tolerance == 0;
    T* const distance = distance_.data();
    int32_t* const place = place_.data();
    int32_t* const settled = settled_.data();
    Candidate* const candidate = candidate_.data();
    int64_t candidates = 0;
    int32_t reached = 0;
    bool going = !cancelled(problem_.paths.cancel);
    const auto settle = [&](const typename BucketQueue<T>::Entry& entry) {
      const int32_t u = entry.vertex;
      const T d = entry.key;
      if (distance[u] != d) return;  // a shorter path has been found since
      const int32_t p = reached;
      place[u] = p;
      settled[reached++] = u;
      if ((reached & 0x3ff) == 0 && cancelled(problem_.paths.cancel)) going = false;
      const int64_t end = ptr[u + 1];
      for (int64_t i = ptr[u]; i < end; ++i) {
        const int32_t v = vertex[i];
        const T length = d + weight[i], known = distance[v];
        if (exact ? length > known : !within(length, known, tolerance)) continue;
        if constexpr (Arcs) {
          candidate[candidates] = {p, v, length};
          if constexpr (Slots) candidate_slot_[candidates] = problem_.out.slot[i];
          ++candidates;
        }
        if (length < known) {
          distance[v] = length;
          queue_.push(length, v);
        }
      }
    };
    queue_.restart();
    for (int i = 0; i < start.count; ++i) {
      const int32_t source = start.vertex[i];
      if (!(start.distance[i] < distance[source])) continue;
      distance[source] = start.distance[i];
      queue_.push(start.distance[i], source);
    }
    const auto fetch = [&](int32_t u) {
      __builtin_prefetch(vertex + ptr[u]);
      __builtin_prefetch(weight + ptr[u]);
    };
    while (going && queue_.next_bucket(settle, fetch)) {
    }
    reached_ = reached;
    candidates_ = candidates;
    if (!going) {
      queue_.clear();
      forget_all();
    }
    return going;
  }

  // The tight arcs of the last search.
  template <bool Slots>
  [[gnu::noinline]] Dag arcs() {
    const Candidate* const candidate = candidate_.data();
    const T* const distance = distance_.data();
    const int32_t* const place = place_.data();
    const double tolerance = problem_.tie_tolerance;
    DagArc* const arc = arc_.data();
    int64_t arcs = 0;
    for (int64_t i = 0; i < candidates_; ++i) {
      const Candidate& c = candidate[i];
      const T known = distance[c.head];
      const int32_t q = place[c.head];
      arc[arcs] = {c.tail, q};
      if constexpr (Slots) slot_[arcs] = candidate_slot_[i];
      // The head must be later in the order: if a weight is lost in rounding, arcs between equal distances would
      // otherwise run both ways.
      if (tolerance == 0) arcs += (c.length == known) & (q > c.tail);
      else arcs += q >= 0 && within(c.length, known, tolerance) && distance[settled_[c.tail]] < known;
    }
    if (by_depth_) {
      for (int32_t p = 0; p < reached_; ++p) far_[p] = static_cast<double>(distance[settled_[p]]);
    }
    return {arc, slot_.data(), arcs, settled_.data(), reached_, 0, by_depth_ ? far_.data() : nullptr};
  }

  // Leaves the part of the DAG within a distance, which must not be larger than in earlier calls, and calls out(place)
  // for vertices beyond it that are among its ids.
  template <bool Slots, class Out>
  void narrow(Dag& dag, T limit, Out out) {
    const auto is_within = [&](int32_t p) { return distance_[settled_[p]] <= limit; };
    while (dag.ids > 1 && !is_within(dag.ids - 1)) --dag.ids;
    for (int32_t p = 0; p < dag.ids; ++p)
      if (!is_within(p)) out(p);
    int64_t arcs = 0;
    for (int64_t i = 0; i < dag.arcs; ++i) {
      const DagArc arc = arc_[i];
      arc_[arcs] = arc;
      if constexpr (Slots) slot_[arcs] = slot_[i];
      arcs += arc.head < dag.ids && is_within(arc.head);
    }
    dag.arcs = arcs;
  }

  void forget() {
    if (reached_ > problem_.num_nodes() / 16) return forget_all();
    for (int32_t p = 0; p < reached_; ++p) {
      distance_[settled_[p]] = unreached_;
      place_[settled_[p]] = -1;
    }
  }

  T unreached() const { return unreached_; }
  int32_t reached() const { return reached_; }
  int32_t vertex(int32_t place) const { return settled_[place]; }
  const T* distances() const { return distance_.data(); }
  const int32_t* places() const { return place_.data(); }

 private:
  using Candidate = CandidateArc<T>;

  // The next number after a limit: with this as the distance of unreached vertices, none beyond the limit is settled.
  static T beyond(T limit) {
    if constexpr (__is_same(T, int32_t)) return limit + 1;
    else return __builtin_nextafter(limit, __builtin_inf());
  }

  void forget_all() {
    for (int64_t v = 0; v < problem_.num_nodes(); ++v) distance_[v] = unreached_;
    for (int64_t v = 0; v < problem_.num_nodes(); ++v) place_[v] = -1;
  }

  WeightedProblem<T> problem_;
  BucketQueue<T> queue_;
  Buffer<T> distance_;       // [n]
  Buffer<int32_t> place_;    // [n] in the order of settling, -1 before
  Buffer<int32_t> settled_;  // [n] in that order
  Buffer<Candidate> candidate_;
  Buffer<int64_t> candidate_slot_;
  Buffer<DagArc> arc_;
  Buffer<int64_t> slot_;
  bool by_depth_;
  Buffer<double> far_;  // [n] distances by place, for visitors by depth
  T unreached_;         // the distance of unreached vertices
  int32_t reached_ = 0;
  int64_t candidates_ = 0;
};

template <class T, class Count, class Visitor>
class DijkstraSearch final : public Search {
 public:
  explicit DijkstraSearch(const WeightedProblem<T>& problem)
      : dijkstra_(problem, true, Visitor::edges, Visitor::by_depth),
        pass_(problem.paths),
        limits_(problem.limits),
        num_limits_(problem.num_limits),
        size_(Visitor::edges ? problem.paths.out.num_slots() : problem.num_nodes()) {}

  Status run(const PathBatch& batch) override {
    for (int64_t lane = 0; lane < batch.count; ++lane) {
      if (!dijkstra_.template search<true, Visitor::edges>(static_cast<int32_t>(batch.sources[lane])))
        return Status::cancelled;
      Dag dag = dijkstra_.template arcs<Visitor::edges>();
      Status status = pass_.count(dag);
      for (int64_t i = num_limits_ - 1; i >= 0 && status == Status::done; --i) {
        if (i < num_limits_ - 1)
          dijkstra_.template narrow<Visitor::edges>(dag, limits_[i], [&](int32_t p) { pass_.leave_out(p); });
        status = pass_.back(dag, batch.source_weight[lane], batch.own_weight[lane], batch.scores + i * size_);
      }
      dijkstra_.forget();
      if (status != Status::done) return status;
    }
    return Status::done;
  }

 private:
  Dijkstra<T> dijkstra_;
  DagPass<Count, Visitor> pass_;
  const T* limits_;
  int64_t num_limits_, size_;
};

template <class T>
class DijkstraDistances final : public WeightedDistances {
 public:
  explicit DijkstraDistances(const WeightedProblem<T>& problem)
      : num_nodes_(problem.num_nodes()),
        limits_(problem.limits),
        num_limits_(problem.num_limits),
        dijkstra_(problem, false, false, false) {}

  bool run(const WeightedDistanceBatch& batch) override {
    for (int64_t lane = 0; lane < batch.count; ++lane) {
      if (!dijkstra_.template search<false, false>(static_cast<int32_t>(batch.sources[lane]))) return false;
      if (batch.rows != nullptr) write(static_cast<T*>(batch.rows) + lane * num_nodes_);
      else if (batch.vertex_sums != nullptr) add_to_vertices(batch.vertex_sums, batch.most);
      else add_up(batch.sums + 3 * lane * num_limits_, batch.farthest + lane * num_limits_);
      dijkstra_.forget();
    }
    return true;
  }

 private:
  void write(T* row) const {
    const T* const distance = dijkstra_.distances();
    const T unreached = dijkstra_.unreached();
    for (int64_t v = 0; v < num_nodes_; ++v) {
      if constexpr (__is_same(T, int32_t)) row[v] = distance[v] == unreached ? -1 : distance[v];
      else row[v] = distance[v] == unreached ? __builtin_inf() : distance[v];
    }
  }

  // Calls visit(vertex, d) for all that is reached, but for the source. Entries within a bucket may be unsorted; the
  // order of those within a limit does not depend on the ones beyond it.
  template <class Visit>
  void each_distance(Visit visit) const {
    const T* const distance = dijkstra_.distances();
    for (int32_t p = 1; p < dijkstra_.reached(); ++p) visit(dijkstra_.vertex(p), distance[dijkstra_.vertex(p)]);
  }
  // The first limit that d is within.
  int64_t first_limit(T d) const {
    int64_t i = 0;
    while (i + 1 < num_limits_ && d > limits_[i]) ++i;
    return i;
  }

  void add_up(double* sums, double* farthest) const {
    if (num_limits_ == 1) {  // in registers
      double sum = 0, inverse = 0, most = 0;
      each_distance([&](int32_t, T length) {
        const double d = static_cast<double>(length);
        sum += d;
        inverse += 1 / d;
        most = d > most ? d : most;
      });
      sums[0] = sum, sums[1] = inverse, sums[2] = static_cast<double>(dijkstra_.reached() - 1);
      farthest[0] = most;
      return;
    }
    for (int64_t i = 0; i < num_limits_; ++i) sums[3 * i] = sums[3 * i + 1] = sums[3 * i + 2] = farthest[i] = 0;
    each_distance([&](int32_t, T length) {
      for (int64_t i = first_limit(length); i < num_limits_; ++i)
        add(static_cast<double>(length), sums + 3 * i, farthest[i]);
    });
  }
  void add_to_vertices(double* sums, double* most) const {
    each_distance([&](int32_t v, T length) {
      const int64_t row = v * num_limits_;
      for (int64_t i = first_limit(length); i < num_limits_; ++i)
        add(static_cast<double>(length), sums + 3 * (row + i), most[row + i]);
    });
  }
  static void add(double d, double* sums, double& most) {
    sums[0] += d;
    sums[1] += 1 / d;
    sums[2] += 1;
    most = d > most ? d : most;
  }

  int64_t num_nodes_;
  const T* limits_;
  int64_t num_limits_;
  Dijkstra<T> dijkstra_;
};

template <class T>
std::unique_ptr<Search> make_dijkstra(const WeightedProblem<T>& problem, Rung rung) {
  return with_visitor(problem.paths.measure, [&](auto visitor) -> std::unique_ptr<Search> {
    using Visitor = decltype(visitor);
    if (rung == Rung::wide) return std::make_unique<DijkstraSearch<T, Wide, Visitor>>(problem);
    return std::make_unique<DijkstraSearch<T, double, Visitor>>(problem);
  });
}
template std::unique_ptr<Search> make_dijkstra(const WeightedProblem<int32_t>&, Rung);
template std::unique_ptr<Search> make_dijkstra(const WeightedProblem<double>&, Rung);

template <class T>
std::unique_ptr<WeightedDistances> make_dijkstra_distances(const WeightedProblem<T>& problem) {
  return std::make_unique<DijkstraDistances<T>>(problem);
}
template std::unique_ptr<WeightedDistances> make_dijkstra_distances(const WeightedProblem<int32_t>&);
template std::unique_ptr<WeightedDistances> make_dijkstra_distances(const WeightedProblem<double>&);

}  // namespace torchcent::TORCHCENT_ISA
