// The lanes engine: 64 sources (float) or 32 (double) side by side, for graphs of small diameter.
//
// Each vertex has a row of 256 bytes with sigma of every lane; masks select the affected lanes. There are no depths,
// predecessor lists or queues per source. One pass over a vertex's arcs serves all lanes whose frontier contains it
// (masks: Then et al. 2014), so each cache line that is loaded serves 16 sources.
//   Forward, level by level: sigma_v[l] = sum of sigma_u[l] over in-neighbours u in the frontier of lane l. Values are
//     pulled by vertices that some lanes have not reached, or pushed by a small frontier (Beamer et al. 2012).
//   Backward, deepest level first: each vertex pulls the values that its successors pass up, and overwrites sigma by
//     rho (or lambda).
#pragma once

#include "paths/cpu/mirrored_pass.h"

namespace torchcent::TORCHCENT_ISA {

template <class T, class Visitor>
class LaneSearch final : public Search {
  static constexpr int kLanes = Row<T>::lanes;
  static constexpr T kLimit = kCountLimit<T>;
  using Mirrored = MirroredPass<T, Visitor>;

 public:
  explicit LaneSearch(const PathProblem& problem)
      : problem_(problem), size_(Visitor::edges ? problem.out.num_slots() : problem.out.num_nodes), found_(problem) {
    if (Mirrored::suits(problem)) {
      mirrored_.emplace(problem, found_);
    } else if (problem.num_limits > 1) {
      Buffer<T>(problem.out.num_nodes * kLanes).swap(rho_);
      Buffer<uint64_t>(found_.capacity).swap(above_);
    }
    passed_ = rho_.data() != nullptr ? rho_.data() : found_.sigma.data();
    active_ = above_.data() != nullptr ? above_.data() : found_.entry_mask.data();
  }

  Status run(const PathBatch& batch) override {
    for (int64_t begin = 0; begin < batch.count; begin += kLanes) {
      const int64_t count = batch.count - begin < kLanes ? batch.count - begin : kLanes;
      const Status status = run_lanes(batch, begin, count);
      if (status != Status::done) return status;
    }
    for (int64_t i = size_; i < problem_.num_limits * size_; ++i) batch.scores[i] += batch.scores[i - size_];
    return Status::done;
  }

 private:
  Status run_lanes(const PathBatch& batch, int64_t begin, int64_t count) {
    Status status = found_.find(batch.sources + begin, count);
    if (status == Status::done) status = score(batch, begin, count);
    if (status != Status::done) found_.forget();
    if (status == Status::overflow && found_.crowded) {  // too many entries, not an overflow of path counts
      found_.crowded = false;
      status = run_lanes(batch, begin, count / 2);
      if (status == Status::done) status = run_lanes(batch, begin + count / 2, count - count / 2);
    }
    return status;
  }

  [[gnu::noinline]] Status score(const PathBatch& batch, int64_t begin, int64_t count) {
    if constexpr (Mirrored::exists)
      if (mirrored_) return mirrored_->run(batch.scores);
    alignas(64) T source_weight[kLanes] = {};
    alignas(64) T own_weight[kLanes] = {};
    for (int64_t l = 0; l < count; ++l) {
      source_weight[l] = static_cast<T>(batch.source_weight[begin + l]);
      own_weight[l] = static_cast<T>(batch.own_weight[begin + l]);
    }
    return within_limits(source_weight, own_weight, batch.scores);
  }

  // A backward pass for the targets between each limit and the one before; run() adds them up. Passes that would meet
  // no target are left out, and vertices from which no target is reached are skipped.
  Status within_limits(const T* source_weight, const T* own_weight, double* scores) {
    int64_t above = 0;
    for (int64_t i = 0; i < problem_.num_limits; ++i) {
      const int64_t levels = levels_within(i);
      if (levels > above) {
        const Status status = backward(above, levels, source_weight, own_weight, scores + i * size_);
        if (status != Status::done) return status;
      }
      above = levels;
    }
    return Status::done;
  }

  int64_t levels_within(int64_t limit) const {
    return problem_.limits == nullptr || problem_.limits[limit] >= found_.levels ? found_.levels
                                                                                 : problem_.limits[limit] + 1;
  }

  // The first levels, `above` of which have no targets that count.
  Status backward(int64_t above, int64_t levels, const T* source_weight, const T* own_weight, double* scores) {
    bool own = Visitor::edges;
    for (int l = 0; l < kLanes; ++l) own |= own_weight[l] != 0;
    for (int64_t level = levels - 1; level >= (own ? 0 : 1); --level) {
      if (cancelled(problem_.cancel)) return Status::cancelled;
      const int64_t begin = found_.level[level], end = found_.level[level + 1];
      const double depth = static_cast<double>(level);
      alignas(64) T weight[kLanes];
      const T factor = static_cast<T>(Visitor::score_factor(depth, problem_.measure));
      for (int l = 0; l < kLanes; ++l) weight[l] = source_weight[l] * factor;
      const bool counts = level >= above;
      target_share_ = counts ? static_cast<T>(Visitor::target_factor(depth, problem_.measure)) : T(0);
      through_share_ = counts ? T(1) : T(0);
      const bool deepest = level == levels - 1;
      const int64_t below = deepest ? end : found_.level[level + 2];
      for (int64_t i = end; i < below; ++i) found_.front[found_.entry[i]] = active_[i];
      const bool sparse = found_.few_successors(begin, end, below, active_);
      if (sparse) found_.mark_predecessors(end, below, active_);
      for (int64_t i = begin; i < end; ++i) {
        if ((i & 0xfff) == 0 && cancelled(problem_.cancel)) return Status::cancelled;
        const bool leaf = sparse && (found_.next[found_.entry[i]] & found_.entry_mask[i]) == 0;
        if (counts) {
          if (!retire(found_.entry[i], found_.entry_mask[i], leaf, level == 0, weight, own_weight, scores))
            return Status::overflow;
          if (above_.data() != nullptr) above_[i] = found_.entry_mask[i];
          continue;
        }
        got_ = 0;
        const uint64_t lanes = sparse ? found_.next[found_.entry[i]] & found_.entry_mask[i] : found_.entry_mask[i];
        if (lanes != 0 && !retire(found_.entry[i], lanes, false, level == 0, weight, own_weight, scores))
          return Status::overflow;
        above_[i] = got_;
      }
      if (sparse) found_.unmark_predecessors(end, below, active_);
      for (int64_t i = end; i < below; ++i) found_.front[found_.entry[i]] = 0;
    }
    return Status::done;
  }

  // Processes a vertex in the lanes of the mask: the sum over successors, the score, and the value that it passes up.
  bool retire(int64_t v, uint64_t lanes, bool leaf, bool is_source, const T* source_weight, const T* own_weight,
              double* scores) {
    const T* row = found_.sigma.data() + v * kLanes;
    T* const passed = passed_ + v * kLanes;
    if (leaf && !is_source && (Visitor::edges || !problem_.through))
      return settle_leaf<T, Visitor>(problem_, v, lanes, row, passed, target_share_);
    if (!Visitor::edges && __builtin_popcountll(lanes) <= kFew)
      return retire_few(v, lanes, leaf, is_source, row, passed, is_source ? own_weight : source_weight, scores);
    return settle<T, Visitor>(problem_, v, lanes, is_source, row, passed, source_weight, own_weight, target_share_,
                              through_share_, scores, [&](RowSum<T>& sums, const Row<T>& weighted) {
                                if (leaf) return;
                                got_ =
                                    gather<Visitor::edges>(problem_.out, v, lanes, found_.front.data(), passed_, sums,
                                                           [&](int64_t slot, const T* passed_up, uint64_t mask) {
                                                             if constexpr (Visitor::edges)
                                                               scores[slot] += weighted.masked_dot(passed_up, mask);
                                                           });
                              });
  }

  bool retire_few(int64_t v, uint64_t lanes, bool leaf, bool is_source, const T* row, T* passed, const T* weight,
                  double* scores) {
    const T target = target_share_ * (problem_.plain ? T(1) : static_cast<T>(problem_.target_weight[v]));
    const T through = through_share_ * (problem_.plain ? T(0) : static_cast<T>(problem_.through_weight[v]));
    const int64_t begin = problem_.out.rowptr[v], end = problem_.out.rowptr[v + 1];
    const int32_t* col = problem_.out.col;
    double score = 0;
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
      const int l = __builtin_ctzll(rest);
      double sum = 0;
      if (!leaf) {
        for (int64_t slot = begin; slot < end; ++slot) {
          const int64_t w = col[slot];
          if (found_.front[w] >> l & 1) sum += passed_[w * kLanes + l];
        }
      }
      if (is_source) {
        score += weight[l] * sum;
        continue;
      }
      if (sum != 0) got_ |= uint64_t{1} << l;
      const double sigma = row[l];
      if (!(sigma <= kLimit)) return false;
      score += weight[l] * Visitor::template score<double>(sigma, sum, through);
      const double copies = problem_.copies == nullptr ? 1 : problem_.copies[v];
      const double onward = Visitor::onward(problem_.measure) ? sum : 0;
      passed[l] = static_cast<T>(copies * Visitor::template passed_up<double>(target, sigma, onward));
    }
    scores[v] += score;
    return score <= double(kLimit);
  }

  PathProblem problem_;
  T target_share_ = 1, through_share_ = 1;  // of the current level
  uint64_t got_ = 0;                        // lanes in which the last vertex had successors
  int64_t size_;                            // of the scores of a limit
  LaneLevels<T, Visitor::unit> found_;      // sigma; then rho or lambda
  Buffer<T> rho_;                           // [n][lanes] rho or lambda, if there are several limits
  T* passed_;                               // sigma or rho
  Buffer<uint64_t> above_;  // by entry: lanes from which a target is reached, if there are several limits
  const uint64_t* active_;  // these, or the lanes of the entries
  std::optional<Mirrored> mirrored_;
};

std::unique_ptr<Search> make_lanes(const PathProblem& problem, Rung rung) {
  return with_visitor(problem.measure, [&](auto visitor) -> std::unique_ptr<Search> {
    using Visitor = decltype(visitor);
    if (rung == Rung::float64) return std::make_unique<LaneSearch<double, Visitor>>(problem);
    return std::make_unique<LaneSearch<float, Visitor>>(problem);
  });
}

}  // namespace torchcent::TORCHCENT_ISA
