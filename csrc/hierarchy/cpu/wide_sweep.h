// The sweeps of a hierarchy from one source at a time, for path counts of any size.
#pragma once

#include "hierarchy/cpu/source_batches.h"
#include "hierarchy/cpu/climb_rows.h"

namespace torchcent::TORCHCENT_ISA {

class WideSweep : public Search {
 public:
  explicit WideSweep(const HierarchyProblem<double>& problem)
      : problem_(problem),
        h_(problem_.hierarchy),
        sources_(h_, problem_.position, problem_.sequence, problem_.split, 1),
        paths_(h_.arcs()),
        climb_(h_.size),
        distance_(h_.size),
        climbs_(h_.size),
        count_(h_.size),
        passed_(h_.size),
        beyond_(h_.size) {
    for (int64_t i = 0; i < h_.arcs(); ++i) {
      paths_[i].fraction = h_.paths[i];
      paths_[i].exponent = h_.powers[i];
    }
    for (int64_t p = 0; p < h_.size; ++p) climb_[p] = kFar;
  }

  Status run(const PathBatch& batch) override {
    double* const flow = batch.scores;
    double* const inside = flow + h_.arcs_down();
    double* const upwards = problem_.directions ? inside + h_.size : flow;
    sources_.start(batch.sources, batch.source_weight, batch.count);
    while (sources_.next()) {
      if (cancelled(problem_.cancel)) return Status::cancelled;
      sweep(sources_.position[0], sources_.weight[0], flow, inside, upwards);
    }
    return Status::done;
  }

 private:
  static constexpr int64_t kFar = int64_t{1} << 61;

  template <class Visit>
  void each_arc_up(int32_t p, Visit visit) const {
    for (int64_t i = h_.up[p]; i < h_.up[p + 1]; ++i) visit(i, h_.to[i]);
  }
  template <class Visit>
  void each_arc_down(int32_t p, Visit visit) const {
    for (int64_t i = h_.down[p]; i < h_.down[p + 1]; ++i) visit(i, h_.to[i]);
  }

  void sweep(int32_t source, double weight, double* flow, double* inside, double* upwards) {
    const int32_t* const place = problem_.cells.place;
    const int64_t* const first_arc = problem_.cells.first;
    climb_[source] = 0;
    climbs_[source] = Wide(1);
    for (int k = sources_.num_above - 1; k >= 0; --k) {
      const int32_t p = sources_.above[k].position;
      each_arc_up(p, [&](int64_t i, int32_t upper) {
        const int64_t over = climb_[p] + h_.length[i];
        if (over < climb_[upper]) {
          climb_[upper] = over;
          climbs_[upper] = climbs_[p] * paths_[i];
        } else if (over == climb_[upper]) {
          climbs_[upper] += climbs_[p] * paths_[i];
        }
      });
    }
    const Cell& all = problem_.cells.cells[problem_.cells.outermost[source]];
    const int32_t begin = all.begin, end = all.end;
    for (int32_t p = begin; p < end; ++p) {
      int64_t best = climb_[p];
      each_arc_down(p, [&](int64_t i, int32_t upper) { best = std::min(best, distance_[upper] + h_.length[i]); });
      Wide count = best == climb_[p] ? climbs_[p] : Wide();
      each_arc_down(p, [&](int64_t i, int32_t upper) {
        if (distance_[upper] + h_.length[i] == best) count += count_[upper] * paths_[i];
      });
      distance_[p] = std::min(best, kFar);
      count_[p] = count;
      passed_[p] = Wide();
    }
    for (int32_t p = end; p-- > begin;) {
      if (distance_[p] == kFar) continue;
      const double target = problem_.target[place[p]];
      if (p != source) {
        inside[place[p]] += static_cast<double>(count_[p] * passed_[p]);
        const bool each_path = problem_.added == Added::paths;
        passed_[p] += each_path ? Wide(weight * target) : Wide(weight * target) / count_[p];
      }
      const int64_t first = first_arc[place[p]];
      each_arc_down(p, [&](int64_t i, int32_t upper) {
        if (distance_[upper] + h_.length[i] != distance_[p]) return;
        const Wide x = passed_[p] * paths_[i];
        flow[first + i - h_.down[p]] += static_cast<double>(count_[upper] * x);
        passed_[upper] += x;
      });
    }
    finish(source, inside, upwards);
  }

  // Climbs backwards, from the top. Paths that climb through a vertex pass it besides those counted above, which came
  // from it or from above: count_ includes climbs.
  void finish(int32_t source, double* inside, double* upwards) {
    const int32_t* const place = problem_.cells.place;
    const int64_t* const first_arc = problem_.up_first;
    for (int k = 0; k < sources_.num_above; ++k) {
      const int32_t p = sources_.above[k].position;
      Wide sum;
      const int64_t first = first_arc[place[p]];
      each_arc_up(p, [&](int64_t i, int32_t upper) {
        if (climb_[p] + h_.length[i] != climb_[upper] || climb_[upper] != distance_[upper]) return;
        const Wide x = beyond_[upper] * paths_[i];
        upwards[first + i - h_.up[p]] += static_cast<double>(climbs_[p] * x);
        sum += x;
      });
      if (climb_[p] == distance_[p] && p != source) inside[place[p]] += static_cast<double>(climbs_[p] * sum);
      beyond_[p] = passed_[p] + sum;
    }
    for (int k = 0; k < sources_.num_above; ++k) climb_[sources_.above[k].position] = kFar;
  }

  const HierarchyProblem<double> problem_;
  const Hierarchy& h_;
  SourceBatches sources_;  // one at a time
  Buffer<Wide> paths_;
  Buffer<int64_t> climb_, distance_;
  Buffer<Wide> climbs_, count_, passed_, beyond_;
};

std::unique_ptr<Search> make_wide_sweep(const HierarchyProblem<double>& problem) {
  return std::make_unique<WideSweep>(problem);
}

template <class Length>
void go_on(Length* row, const Length* onward, Length length, int32_t count) {
  for (int32_t k = 0; k < count; ++k) {
    const Length over = length + onward[k];
    row[k] = over < row[k] ? over : row[k];
  }
}
template void go_on(int32_t*, const int32_t*, int32_t, int32_t);
template void go_on(int64_t*, const int64_t*, int64_t, int32_t);

}  // namespace torchcent::TORCHCENT_ISA
