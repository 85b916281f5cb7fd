// Sums of distances, and distances, by sweeps over a hierarchy.
#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/records.h"
#include "core/control.h"
#include "core/cpu/batches.h"
#include "core/cpu/threads.h"
#include "hierarchy/cpu/source_batches.h"
#include "hierarchy/cpu/swept.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// What row sweeps of all threads read.
template <class Number>
class Rows {
 public:
  Rows(const Hierarchy& hierarchy, const Tensor& sequence, const Tensor& split, int64_t num_nodes,
       const int64_t* cancel)
      : hierarchy_(hierarchy),
        split_(split.const_data_ptr<int32_t>()),
        cancel_(cancel),
        depth_(hierarchy.size),
        root_(hierarchy.size),
        sequence_(hierarchy.size),
        position_(num_nodes, -1) {
    const int32_t* const order = sequence.const_data_ptr<int32_t>();
    std::vector<int32_t> open;
    for (int32_t p = 0; p < hierarchy.size; ++p) {
      while (!open.empty() && hierarchy.last[open.back()] <= p) open.pop_back();
      depth_[p] = static_cast<int32_t>(open.size());
      open.push_back(p);
      root_[p] = open.front();
      height_ = std::max<int64_t>(height_, open.size());
      position_[hierarchy.vertex[p]] = p;
      sequence_[order[p]] = p;
    }
    arcs_.resize(hierarchy.arcs());
    for (size_t i = 0; i < arcs_.size(); ++i)
      arcs_[i] = {depth_[hierarchy.to[i]], static_cast<LengthOf<Number>>(hierarchy.length[i])};
  }

  // Limits beyond all distances become a number that is just not far.
  void set_limits(const Tensor& limits) {
    const auto most = static_cast<double>(sizeof(Number) == 4 ? (int64_t{1} << 30) - 1 : int64_t{1} << 60);
    for (int64_t i = 0; i < limits.numel(); ++i)
      limits_.push_back(static_cast<LengthOf<Number>>(std::min(limits.const_data_ptr<double>()[i], most)));
  }
  void set_targets(const Tensor& weight) {
    target_.resize(hierarchy_.size);
    for (int64_t p = 0; p < hierarchy_.size; ++p) target_[p] = weight.const_data_ptr<double>()[hierarchy_.vertex[p]];
  }
  const int64_t* position() const { return position_.data(); }
  RowProblem<Number> problem() const {
    const int64_t num_nodes = static_cast<int64_t>(position_.size());
    return {hierarchy_,
            arcs_.data(),
            depth_.data(),
            root_.data(),
            target_.data(),
            position_.data(),
            sequence_.data(),
            split_,
            height_,
            num_nodes,
            cancel_,
            limits_.empty() ? nullptr : limits_.data(),
            std::max<int64_t>(1, static_cast<int64_t>(limits_.size()))};
  }

 private:
  const Hierarchy hierarchy_;
  const int32_t* split_;
  const int64_t* cancel_;
  int64_t height_ = 1;
  std::vector<int32_t> depth_, root_, sequence_;
  std::vector<int64_t> position_;
  std::vector<double> target_;
  std::vector<PathArc<Number>> arcs_;
  std::vector<LengthOf<Number>> limits_;
};

struct Job {
  const int64_t* sources;
  int64_t count;
  Control& control;
  int64_t threads;
  int64_t limits = 1;  // results of a source
};

// Runs batches of sources in any order: their results are disjoint. give(source, i, results): results [i] are those of
// this source.
template <class Problem, class Make, class Row, class Give>
void in_batches(const Problem& problem, const Job& job, int64_t lanes, bool whole, Make make, Row row, Give give) {
  SourceBatches all(problem.hierarchy, problem.position, problem.sequence, problem.split, lanes, whole);
  all.start(job.sources, nullptr, job.count);
  const std::vector<std::vector<int32_t>> batches = all.divided();
  const int64_t count = static_cast<int64_t>(batches.size());
  if (count == 0) return;
  std::atomic<int64_t> next = 0;
  const auto work = [&] {
    const auto search = make();
    std::vector<int64_t> sources;
    std::vector<double> sum, reciprocals, reached, farthest;
    std::vector<void*> rows;
    for (int64_t b; (b = next++) < count;) {
      const std::vector<int32_t>& batch = batches[b];
      sources.clear(), rows.clear();
      for (const int32_t i : batch) sources.push_back(job.sources[i]), rows.push_back(row(i));
      for (auto* const each : {&sum, &reciprocals, &reached, &farthest}) each->assign(batch.size() * job.limits, 0);
      const HierarchyResults results = {sum.data(), reciprocals.data(), reached.data(), farthest.data(), rows.data()};
      if (!search->run(sources.data(), static_cast<int64_t>(batch.size()), results)) {
        next = count;
        break;
      }
      for (size_t i = 0; i < batch.size(); ++i) give(batch[i], i, results);
      finish(job.control, static_cast<int64_t>(batch.size()));
    }
  };
  in_threads(static_cast<int>(std::max<int64_t>(1, std::min(job.threads, count))), work, [&] { next = count; });
}

struct Sums {
  double* of_each;  // d, 1 / d, b within each limit
  double* farthest;
  int64_t limits;

  void give(int64_t source, size_t i, const HierarchyResults& results) const {
    for (int64_t k = 0; k < limits; ++k) {
      const int64_t to = source * limits + k, from = static_cast<int64_t>(i) * limits + k;
      of_each[3 * to] = results.sum[from];
      of_each[3 * to + 1] = results.reciprocals[from];
      of_each[3 * to + 2] = results.reached[from];
      farthest[to] = results.farthest[from];
    }
  }
};

void* no_row(int32_t) { return nullptr; }

template <class Number>
void reciprocals(const Hierarchy& hierarchy, const Tensor& sequence, const Tensor& split, const Tensor& target_weight,
                 const Tensor* limits, const Job& job, const Sums& sums) {
  Rows<Number> rows(hierarchy, sequence, split, hierarchy.size, &job.control.cancel);
  rows.set_targets(target_weight);
  if (limits != nullptr) rows.set_limits(*limits);
  const auto give = [&](int64_t source, size_t i, const HierarchyResults& results) { sums.give(source, i, results); };
  const auto make = [&] { return TORCHCENT_CALL_LANES(make_hierarchy_reciprocals(rows.problem())); };
  const int64_t lanes = TORCHCENT_CALL_LANES(reciprocal_lanes(sizeof(Number) == 4));
  in_batches(rows.problem(), job, lanes, true, make, no_row, give);
}

// Sums of each vertex over the sources, added in the order of the batches.
template <class Number>
void vertex_sums(const Hierarchy& hierarchy, const Tensor& sequence, const Tensor& split, const Tensor* limits,
                 const Job& job, Tensor& sums, Tensor& farthest) {
  Rows<Number> rows(hierarchy, sequence, split, hierarchy.size, &job.control.cancel);
  if (limits != nullptr) rows.set_limits(*limits);
  const RowProblem<Number> problem = rows.problem();
  const int64_t lanes = TORCHCENT_CALL_LANES(reciprocal_lanes(sizeof(Number) == 4));
  SourceBatches all(hierarchy, problem.position, problem.sequence, problem.split, lanes, true);
  all.start(job.sources, nullptr, job.count);
  const std::vector<std::vector<int32_t>> batches = all.divided();
  const int64_t count = static_cast<int64_t>(batches.size());
  const int workers = static_cast<int>(std::max<int64_t>(1, std::min(job.threads, count)));
  OrderedBatches ordered(sums.mutable_data_ptr<double>(), sums.numel(), count, 2 * workers, kNoLadder);
  double* const most = farthest.mutable_data_ptr<double>();
  std::mutex mutex;
  const auto work = [&] {
    const auto search = TORCHCENT_CALL_LANES(make_hierarchy_reciprocals(problem));
    std::vector<double> buffer, own(farthest.numel());
    std::vector<int64_t> sources;
    int64_t rung = kNoLadder;
    for (int64_t b; (b = ordered.take(buffer, rung)) >= 0;) {
      sources.clear();
      for (const int32_t i : batches[b]) sources.push_back(job.sources[i]);
      const HierarchyResults results = {nullptr, nullptr, nullptr, own.data(), nullptr, buffer.data()};
      const int64_t size = static_cast<int64_t>(sources.size());
      if (!search->run(sources.data(), size, results)) {
        ordered.stop();
        break;
      }
      ordered.give(b, std::move(buffer), rung);
      finish(job.control, size);
    }
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < own.size(); ++i) most[i] = std::max(most[i], own[i]);
  };
  in_threads(workers, work, [&] { ordered.stop(); });
}

template <class Number, class Entry>
void distances(const Hierarchy& hierarchy, const Tensor& sequence, const Tensor& split, const Tensor& sources,
               Tensor& out, Control& control, int64_t threads, Entry none) {
  const int64_t num_nodes = out.size(1);
  const Rows<Number> rows(hierarchy, sequence, split, num_nodes, &control.cancel);
  Entry* const all = static_cast<Entry*>(out.data_ptr());
  std::vector<int64_t> searched, place;
  for (int64_t i = 0; i < sources.numel(); ++i) {
    const int64_t source = sources.const_data_ptr<int64_t>()[i];
    if (rows.position()[source] >= 0) {
      searched.push_back(source), place.push_back(i);
    } else {
      std::fill_n(all + i * num_nodes, num_nodes, none);
      all[i * num_nodes + source] = 0;
    }
  }
  const Job job = {searched.data(), static_cast<int64_t>(searched.size()), control, threads};
  const auto row = [&](int32_t i) { return static_cast<void*>(all + place[i] * num_nodes); };
  const auto make = [&] { return TORCHCENT_CALL_LANES(make_hierarchy_rows(rows.problem(), sizeof(Entry) == 8)); };
  const int64_t lanes = TORCHCENT_CALL_LANES(row_lanes(sizeof(Number) == 4));
  in_batches(rows.problem(), job, lanes, true, make, row, [](int64_t, size_t, const HierarchyResults&) {});
}

}  // namespace

void hierarchy_sums(const std::vector<Tensor>& hierarchy, const Tensor& sources, const Tensor& target_weight,
                    Tensor& sums, Tensor& farthest, Tensor& control, bool with_reciprocals, int64_t lanes,
                    int64_t threads, std::optional<Tensor> limits, bool with_distances) {
  const Contracted given = record<Contracted, 18>(hierarchy);
  const bool single = given.longest() < kLongestSingle;
  const int64_t num_limits = limits ? limits->numel() : 1;
  const Job job = {sources.const_data_ptr<int64_t>(), sources.numel(), control_of(control), threads, num_limits};
  const Sums found = {sums.mutable_data_ptr<double>(), farthest.mutable_data_ptr<double>(), num_limits};
  Swept swept(given, target_weight, &job.control.cancel);
  const auto collapsed = [&](auto number) {
    using Number = decltype(number);
    HierarchyProblem<Number> problem = swept.problem<Number>(lanes, false, Added::distances);
    problem.distances = with_distances;
    problem.reciprocals = with_reciprocals;
    const auto give = [&](int64_t source, size_t i, const HierarchyResults& results) {
      found.give(source, i, results);
    };
    in_batches(
        problem, job, lanes, false, [&] { return TORCHCENT_CALL_LANES(make_hierarchy_distances(problem)); }, no_row,
        give);
  };
  if (limits || lanes == 0)
    (single ? reciprocals<float> : reciprocals<double>)(given.hierarchy(), given.sequence, given.split, target_weight,
                                                        limits ? &*limits : nullptr, job, found);
  else if (single) collapsed(float{});
  else collapsed(double{});
}

void hierarchy_vertex_sums(const std::vector<Tensor>& hierarchy, const Tensor& sources, Tensor& sums, Tensor& farthest,
                           Tensor& control, int64_t threads, std::optional<Tensor> limits) {
  const Contracted given = record<Contracted, 18>(hierarchy);
  const Job job = {sources.const_data_ptr<int64_t>(), sources.numel(), control_of(control), threads};
  const auto run = given.longest() < kLongestSingle ? vertex_sums<float> : vertex_sums<double>;
  run(given.hierarchy(), given.sequence, given.split, limits ? &*limits : nullptr, job, sums, farthest);
}

void hierarchy_distances(const Tensor& vertex, const Tensor& first, const Tensor& to, const Tensor& length,
                         const Tensor& last, const Tensor& sequence, const Tensor& split, const Tensor& facts,
                         const Tensor& sources, Tensor& out, Tensor& control, int64_t threads) {
  const Hierarchy hierarchy = hierarchy_of({&vertex, &first, &to, &length, nullptr, nullptr, &last});
  Control& shared = control_of(control);
  const auto run = [&](auto number, auto none) {
    distances<decltype(number)>(hierarchy, sequence, split, sources, out, shared, threads, none);
  };
  const auto of_type = [&](auto none) {
    if (facts.const_data_ptr<int64_t>()[2] < kLongestSingle) run(float{}, none);
    else run(double{}, none);
  };
  if (out.element_size() == 4) of_type(int32_t{-1});
  else of_type(std::numeric_limits<double>::infinity());
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Sums over the distances of each source, [sources, 3]: b d, b / d if they are asked for, b; and the largest d with
  // b > 0, by sweeps of so many lanes that collapse, or with 0 lanes, as always with limits, by sweeps that reach every
  // vertex. With limits, float64 and ascending, they are [sources, limits, 3] and [sources, limits], with b / d. Sweeps
  // that collapse give 0 for b d and the largest d unless `distances` are asked for.
  // hierarchy: the tensors of Contracted (hierarchy/cpu/swept.h).
  m.def(
      "hierarchy_sums(Tensor[] hierarchy, Tensor sources, Tensor target_weight, Tensor(a!) sums, Tensor(b!) farthest, "
      "Tensor(c!) control, bool reciprocals, int lanes, int threads, Tensor? limits=None, bool distances=True) -> ()");
  // Sums of each vertex over the sources, [n, 3]: d, 1 / d, 1, added to what is there; and the largest d, compared with
  // it. With limits, they are [n, limits, 3] and [n, limits].
  m.def(
      "hierarchy_vertex_sums(Tensor[] hierarchy, Tensor sources, Tensor(a!) sums, Tensor(b!) farthest, "
      "Tensor(c!) control, int threads, Tensor? limits=None) -> ()");
  // Distances from the sources, [sources, n] for any n vertices that include those of the hierarchy: int32 with -1, or
  // float64 with inf for no path.
  m.def(
      "hierarchy_distances(Tensor vertex, Tensor first, Tensor to, Tensor length, Tensor last, Tensor sequence, "
      "Tensor split, Tensor facts, Tensor sources, Tensor(a!) out, Tensor(b!) control, int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("hierarchy_sums", TORCH_BOX(&hierarchy_sums));
  m.impl("hierarchy_vertex_sums", TORCH_BOX(&hierarchy_vertex_sums));
  m.impl("hierarchy_distances", TORCH_BOX(&hierarchy_distances));
}

}  // namespace torchcent
