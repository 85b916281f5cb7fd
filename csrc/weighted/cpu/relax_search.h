// Results computed from the tables of the relax engine: path counts and dependencies, sums of distances, rows.
#pragma once

#include "weighted/cpu/lane_paths.h"
#include "weighted/cpu/relax_bounds.h"

namespace torchcent::TORCHCENT_ISA {

// The tight arcs of up to 64 sources, by both ends, and an order for their path counts: the same for all visitors.
template <class T>
class RelaxPaths {
 public:
  RelaxPaths(const WeightedProblem<T>& problem, bool edges)
      : by_tail(problem.num_nodes(), problem.num_arcs(), edges),
        by_head(problem.num_nodes(), problem.num_arcs(), edges),
        order(problem.num_nodes(), problem.paths.cancel),
        limits_(problem.limits),
        num_limits_(problem.num_limits),
        slot_(problem.in.slot),
        tables_(problem),
        near_(problem.limits == nullptr ? 0 : problem.num_nodes()) {}

  [[gnu::noinline]] LaneOrder::Result find(const int64_t* sources, int64_t count) {
    if (!tables_.run(sources, count) ||
        !tables_.with([&](const auto& table) { return table.write_tight_arcs(by_head, order); }))
      return LaneOrder::Result::cancelled;
    if (limits_ != nullptr) {
      find_near(num_limits_ - 1);
      order.keep(near_.data());
      by_head.filter([&](int64_t v, int64_t) { return near_[v]; });
    }
    const LaneOrder::Result result = order.find(by_head, sources, count);
    if (result == LaneOrder::Result::done) by_tail.turn(by_head, slot_);
    return result;
  }

  // Leaves the arcs by tail that are within a limit, which must not be larger than before.
  [[gnu::noinline]] void narrow(int64_t limit) {
    find_near(limit);
    by_tail.filter([&](int64_t, int64_t place) { return near_[by_tail.vertex[place]]; });
  }

  const uint64_t* near() const { return near_.data(); }  // lanes of each vertex that are within the last limit

  TightArcs by_tail, by_head;
  LaneOrder order;

 private:
  void find_near(int64_t limit) {
    tables_.with([&](const auto& table) {
      for (int64_t v = 0; v < order.num_nodes(); ++v) near_[v] = table.within(v, limits_[limit]);
    });
  }

  const T* limits_;
  int64_t num_limits_;
  const int64_t* slot_;
  RelaxTables<T> tables_;
  Buffer<uint64_t> near_;  // [n]
};

template <class T, class Count, class Visitor>
class RelaxSearch final : public Search {
 public:
  explicit RelaxSearch(const WeightedProblem<T>& problem)
      : limited_(problem.limits != nullptr),
        num_limits_(problem.num_limits),
        size_(Visitor::edges ? problem.paths.out.num_slots() : problem.num_nodes()),
        found_(problem, Visitor::edges),
        paths_(problem.paths, problem.num_limits > 1) {}

  Status run(const PathBatch& batch) override {
    const int64_t most = limited_ ? LanePaths<Count, Visitor>::kLanes : 64;
    for (int64_t begin = 0; begin < batch.count; begin += most) {
      const Status status = run_lanes(part(batch, begin, batch.count - begin < most ? batch.count - begin : most));
      if (status != Status::done) return status;
    }
    return Status::done;
  }

 private:
  static PathBatch part(const PathBatch& batch, int64_t begin, int64_t count) {
    return {count, batch.sources + begin, batch.source_weight + begin, batch.own_weight + begin, batch.scores};
  }

  Status run_lanes(const PathBatch& batch) {
    switch (found_.find(batch.sources, batch.count)) {
      case LaneOrder::Result::cancelled: return Status::cancelled;
      case LaneOrder::Result::endless: return Status::overflow;  // the last rung uses Dijkstra's order
      case LaneOrder::Result::crowded: {
        const int64_t half = batch.count / 2;
        const Status status = run_lanes(part(batch, 0, half));
        return status != Status::done ? status : run_lanes(part(batch, half, batch.count - half));
      }
      case LaneOrder::Result::done: break;
    }
    return limited_ ? run_limits(batch) : paths_.run(found_.order, found_.by_head, found_.by_tail, batch);
  }

  // The largest limit first: the arcs within a smaller one are some of those.
  Status run_limits(const PathBatch& batch) {
    if (!paths_.count(found_.order, found_.by_head, batch, 0)) return Status::cancelled;
    for (int64_t i = num_limits_ - 1; i >= 0; --i) {
      if (i < num_limits_ - 1) found_.narrow(i);
      const Status status =
          paths_.back(found_.order, found_.by_tail, batch, 0, found_.near(), batch.scores + i * size_);
      if (status != Status::done) return status;
    }
    return Status::done;
  }

  bool limited_;
  int64_t num_limits_, size_;
  RelaxPaths<T> found_;
  LanePaths<Count, Visitor> paths_;
};

template <class T>
class RelaxDistances final : public WeightedDistances {
 public:
  explicit RelaxDistances(const WeightedProblem<T>& problem)
      : cancel_(problem.paths.cancel),
        num_nodes_(problem.num_nodes()),
        limits_(problem.limits),
        num_limits_(problem.num_limits),
        tables_(problem, problem.limits == nullptr ? nullptr : problem.limits + problem.num_limits - 1) {}

  bool run(const WeightedDistanceBatch& batch) override {
    for (int64_t begin = 0; begin < batch.count; begin += 64) {
      const int64_t count = batch.count - begin < 64 ? batch.count - begin : 64;
      if (!tables_.run(batch.sources + begin, count)) return false;
      if (batch.rows != nullptr) {
        T* const rows = static_cast<T*>(batch.rows) + begin * num_nodes_;
        tables_.with([&](const auto& table) { turn_over(table, count, rows); });
      }
      for (int64_t i = 0; i < num_limits_ && batch.rows == nullptr; ++i)
        tables_.with([&](const auto& table) {
          if (batch.vertex_sums != nullptr) return add_to_vertices(table, i, batch.vertex_sums, batch.most);
          sum(table, count, i, batch.sums + 3 * begin * num_limits_, batch.farthest + begin * num_limits_);
        });
      if (cancelled(cancel_)) return false;
    }
    return true;
  }

 private:
  // Calls visit(v, lane, d) for the distances > 0 within a limit.
  template <class Table, class Visit>
  void each_distance(const Table& table, int64_t limit, Visit visit) const {
    for (int64_t v = 0; v < num_nodes_; ++v) {
      const auto* const row = table.row(v);
      uint64_t rest = table.reached(v);
      if (limits_ != nullptr && rest != 0) rest &= table.within(v, limits_[limit]);
      for (; rest != 0; rest &= rest - 1) {
        const int l = __builtin_ctzll(rest);
        const double d = static_cast<double>(row[l]);
        if (d != 0) visit(v, l, d);
      }
    }
  }

  template <class Table>
  void sum(const Table& table, int64_t count, int64_t limit, double* sums, double* farthest) const {
    double total[64] = {}, inverse[64] = {}, reached[64] = {}, largest[64] = {};
    each_distance(table, limit, [&](int64_t, int l, double d) {
      total[l] += d;
      inverse[l] += 1 / d;
      reached[l] += 1;
      largest[l] = d > largest[l] ? d : largest[l];
    });
    for (int64_t l = 0; l < count; ++l) {
      const int64_t at = l * num_limits_ + limit;
      sums[3 * at] = total[l];
      sums[3 * at + 1] = inverse[l];
      sums[3 * at + 2] = reached[l];
      farthest[at] = largest[l];
    }
  }

  template <class Table>
  void add_to_vertices(const Table& table, int64_t limit, double* sums, double* most) const {
    each_distance(table, limit, [&](int64_t v, int, double d) {
      const int64_t at = v * num_limits_ + limit;
      sums[3 * at] += d;
      sums[3 * at + 1] += 1 / d;
      sums[3 * at + 2] += 1;
      most[at] = d > most[at] ? d : most[at];
    });
  }

  template <class Table>
  void turn_over(const Table& table, int64_t count, T* rows) const {
    constexpr int64_t kTile = 64;
    const double most = limits_ == nullptr ? __builtin_inf() : static_cast<double>(limits_[num_limits_ - 1]);
    for (int64_t first = 0; first < num_nodes_; first += kTile) {
      const int64_t end = first + kTile < num_nodes_ ? first + kTile : num_nodes_;
      for (int64_t l = 0; l < count; ++l) {
        T* const row = rows + l * num_nodes_;
        for (int64_t v = first; v < end; ++v) {
          const auto d = table.row(v)[l];
          const bool none = d == table.unreached || static_cast<double>(d) > most;
          if constexpr (__is_same(T, int32_t)) row[v] = none ? -1 : static_cast<int32_t>(d);
          else row[v] = none ? __builtin_inf() : d;
        }
      }
    }
  }

  const int64_t* cancel_;
  int64_t num_nodes_;
  const T* limits_;
  int64_t num_limits_;
  RelaxTables<T> tables_;
};

template <class T>
std::unique_ptr<Search> make_relax(const WeightedProblem<T>& problem, Rung rung) {
  return with_visitor(problem.paths.measure, [&](auto visitor) -> std::unique_ptr<Search> {
    using Visitor = decltype(visitor);
    if constexpr (Visitor::by_depth) return nullptr;  // the engine does not have the depth of a vertex in each lane
    else if (rung == Rung::float32) return std::make_unique<RelaxSearch<T, float, Visitor>>(problem);
    else return std::make_unique<RelaxSearch<T, double, Visitor>>(problem);
  });
}
template std::unique_ptr<Search> make_relax(const WeightedProblem<int32_t>&, Rung);
template std::unique_ptr<Search> make_relax(const WeightedProblem<double>&, Rung);

template <class T>
std::unique_ptr<WeightedDistances> make_relax_distances(const WeightedProblem<T>& problem) {
  return std::make_unique<RelaxDistances<T>>(problem);
}
template std::unique_ptr<WeightedDistances> make_relax_distances(const WeightedProblem<int32_t>&);
template std::unique_ptr<WeightedDistances> make_relax_distances(const WeightedProblem<double>&);

}  // namespace torchcent::TORCHCENT_ISA
