// What is computed from the relax engine's tables: path counts and dependencies, sums of distances, rows.
#pragma once

#include "relax.h"

namespace torchcent::TORCHCENT_ISA {

template <class T, class Visitor>
class RelaxSearch final : public Search {
 public:
  explicit RelaxSearch(const WeightedProblem<T>& problem)
      : problem_(problem),
        tables_(problem),
        tight_(problem.num_nodes(), problem.num_arcs(), Visitor::edges),
        dags_(problem.num_nodes(), problem.num_arcs(), problem.in.slot, problem.paths.cancel),
        pass_(problem.paths) {}

  Status run(const PathBatch& batch) override {
    for (int64_t begin = 0; begin < batch.count; begin += 64) {
      const int64_t count = batch.count - begin < 64 ? batch.count - begin : 64;
      const int64_t* const sources = batch.sources + begin;
      if (!tables_.run(sources, count)) return Status::cancelled;
      if (!tables_.with([&](const auto& table) { return table.write_tight_arcs(tight_); })) return Status::cancelled;
      dags_.prepare(tight_);
      for (int lane = 0; lane < count;) {
        const uint64_t group = dags_.group(lane, static_cast<int>(count));
        Status status = dags_.write(tight_, group, sources);
        for (; lane < 64 && group >> lane & 1 && status == Status::done; ++lane)
          status = pass_.run(dags_.dag(lane, problem_.num_nodes(), sources[lane]), batch.source_weight[begin + lane],
                             batch.own_weight[begin + lane], batch.scores);
        if (status != Status::done) return status;
      }
    }
    return Status::done;
  }

 private:
  WeightedProblem<T> problem_;
  RelaxTables<T> tables_;
  TightArcs tight_;
  LaneDags<Visitor::edges> dags_;
  DagPass<double, Visitor> pass_;
};

template <class T>
class RelaxDistances final : public WeightedDistances {
 public:
  explicit RelaxDistances(const WeightedProblem<T>& problem)
      : cancel_(problem.paths.cancel), num_nodes_(problem.num_nodes()), tables_(problem) {}

  bool run(const WeightedDistanceBatch& batch) override {
    for (int64_t begin = 0; begin < batch.count; begin += 64) {
      const int64_t count = batch.count - begin < 64 ? batch.count - begin : 64;
      if (!tables_.run(batch.sources + begin, count)) return false;
      if (batch.rows != nullptr) {
        T* const rows = static_cast<T*>(batch.rows) + begin * num_nodes_;
        tables_.with([&](const auto& table) { turn_over(table, count, rows); });
      } else {
        tables_.with([&](const auto& table) { sum(table, count, batch.sums + 3 * begin, batch.farthest + begin); });
      }
      if (cancelled(cancel_)) return false;
    }
    return true;
  }

 private:
  template <class Table>
  void sum(const Table& table, int64_t count, double* sums, double* farthest) const {
    double total[64] = {}, inverse[64] = {}, reached[64] = {}, largest[64] = {};
    for (int64_t v = 0; v < num_nodes_; ++v) {
      const auto* const row = table.row(v);
      for (uint64_t rest = table.reached(v); rest != 0; rest &= rest - 1) {
        const int l = __builtin_ctzll(rest);
        const double d = static_cast<double>(row[l]);
        if (d == 0) continue;
        total[l] += d;
        inverse[l] += 1 / d;
        reached[l] += 1;
        largest[l] = d > largest[l] ? d : largest[l];
      }
    }
    for (int64_t l = 0; l < count; ++l) {
      sums[3 * l] = total[l];
      sums[3 * l + 1] = inverse[l];
      sums[3 * l + 2] = reached[l];
      farthest[l] = largest[l];
    }
  }

  template <class Table>
  void turn_over(const Table& table, int64_t count, T* rows) const {
    constexpr int64_t kTile = 64;
    for (int64_t first = 0; first < num_nodes_; first += kTile) {
      const int64_t end = first + kTile < num_nodes_ ? first + kTile : num_nodes_;
      for (int64_t l = 0; l < count; ++l) {
        T* const row = rows + l * num_nodes_;
        for (int64_t v = first; v < end; ++v) {
          const auto d = table.row(v)[l];
          if constexpr (__is_same(T, int32_t)) row[v] = d == table.unreached ? -1 : static_cast<int32_t>(d);
          else row[v] = d;
        }
      }
    }
  }

  const int64_t* cancel_;
  int64_t num_nodes_;
  RelaxTables<T> tables_;
};

}  // namespace torchcent::TORCHCENT_ISA
