// One backward pass of the lanes engine for several limits, where the pairs (s, t) and (t, s) both count, and alike.
//
// A vertex at depth d of a pair at distance k is at depth k - d of the reverse pair, and its score is the same. So the
// depths d >= k / 2 are enough: their scores count twice, that of the middle once. With j = k - d, it is sigma R_j,
// where R_0 is what a target passes up (1 / sigma) and R_j the sum of R_{j-1} over the successors: Brandes' recursion,
// by number of levels. At depth d only R_1 ... R_min(d, K - d) are needed, K being the largest limit. Their rows are
// read side by side, and each arc is looked up once for all limits.
//
// Whether a search is mirrored must be the same for all batches, since s and t may be in different ones. The ladder
// does not reach its last rung, which has no such pass: paths of kDeepest arcs are fewer than 2^(31 kDeepest).
#pragma once

#include "paths/cpu/lane_levels.h"
#include "paths/cpu/settle.h"

namespace torchcent::TORCHCENT_ISA {

template <class T, class Visitor>
class MirroredPass {
  static constexpr int kLanes = Row<T>::lanes;
  static constexpr int kSums = kMirroredSums;

 public:
  static constexpr int64_t kDeepest = 2 * kSums + 1;
  static constexpr bool exists = !Visitor::edges && !Visitor::by_depth && !Visitor::unit;

  static bool suits(const PathProblem& problem) {
    return exists && problem.mirrored && problem.num_limits > 1 && problem.limits[problem.num_limits - 1] <= kDeepest;
  }

  MirroredPass(const PathProblem& problem, LaneLevels<T, Visitor::unit>& found) : problem_(problem), found_(found) {
    const int64_t sums = problem.limits[problem.num_limits - 1] / 2;
    for (int r = 1; r < kSums && r < sums; ++r) Buffer<T>(problem.out.num_nodes * kLanes).swap(row_[r - 1]);
  }

  // Adds the scores of the pairs between each limit and the one before.
  Status run(double* scores) {
    const int64_t deepest = found_.levels - 1;
    for (int64_t level = deepest; level > 0; --level) {
      const auto pass = [&](auto sums) { return sums_of_level<sums>(level, deepest, scores); };
      Status status;
      switch (level < deepest - level ? level : deepest - level) {
        case 0: status = pass(std::integral_constant<int, 0>()); break;
        case 1: status = pass(std::integral_constant<int, 1>()); break;
        case 2: status = pass(std::integral_constant<int, 2>()); break;
        default: status = pass(std::integral_constant<int, kSums>());
      }
      if (status != Status::done) return status;
    }
    return Status::done;
  }

 private:
  // The rows that a vertex of the level leaves to the level above, besides R_0.
  static int64_t rows_kept(int64_t level, int64_t deepest) {
    const int64_t most = level - 2 < deepest - level ? level - 2 : deepest - level;
    return most > 0 ? most : 0;
  }

  template <int sums>
  Status sums_of_level(int64_t level, int64_t deepest, double* scores) {
    const int64_t begin = found_.level[level], end = found_.level[level + 1];
    const int64_t below = level == deepest ? end : found_.level[level + 2];
    place_scores<sums>(level, scores);
    kept_ = rows_kept(level, deepest);
    for (int64_t i = end; i < below; ++i) found_.front[found_.entry[i]] = found_.entry_mask[i];
    const bool sparse = found_.few_successors(begin, end, below, found_.entry_mask.data());
    if (sparse) found_.mark_predecessors(end, below, found_.entry_mask.data());
    for (int64_t i = begin; i < end; ++i) {
      if ((i & 0xfff) == 0 && cancelled(problem_.cancel)) return Status::cancelled;
      const int64_t v = found_.entry[i];
      const uint64_t lanes = found_.entry_mask[i];
      const bool leaf = sums == 0 || (sparse && (found_.next[v] & lanes) == 0);
      if (!(leaf ? settle<0>(v, lanes) : settle<sums>(v, lanes))) return Status::overflow;
    }
    if (sparse) found_.unmark_predecessors(end, below, found_.entry_mask.data());
    for (int64_t i = end; i < below; ++i) found_.front[found_.entry[i]] = 0;
    return Status::done;
  }

  // The score of R_j at this level belongs to the first limit that is not below their distance.
  template <int sums>
  void place_scores(int64_t level, double* scores) {
    for (int j = 1; j <= sums; ++j) {
      int64_t limit = 0;
      while (problem_.limits[limit] < level + j) ++limit;
      score_[j - 1] = scores + limit * problem_.out.num_nodes;
      times_[j - 1] = level > j ? 2 : 1;
    }
  }

  template <int sums>
  bool settle(int64_t v, uint64_t lanes) {
    if constexpr (sums > 0)
      if (__builtin_popcountll(lanes) <= kFew) return settle_few<sums>(v, lanes);
    T* const row = found_.sigma.data() + v * kLanes;
    const Row<T> sigma = Row<T>::masked_load(row, lanes);
    if (sigma.exceeds(kCountLimit<T>, lanes)) return false;
    if constexpr (sums > 0) {
      RowSum<T> sum[sums];
      const T* from[sums] = {found_.sigma.data()};
      for (int r = 1; r < sums; ++r) from[r] = row_[r - 1].data();
      gather_rows<sums>(problem_.out, v, lanes, found_.front.data(), from, sum);
      for (int j = 0; j < sums; ++j) {
        const Row<T>& of_successors = sum[j].finish();
        typename Row<T>::Vector total{};
        for (int k = 0; k < Row<T>::registers; ++k)
          total += Row<T>::masked(Visitor::score(sigma.part[k], of_successors.part[k], typename Row<T>::Vector{}),
                                  Row<T>::submask(lanes, k));
        const double score = Row<T>::total(total);
        if (!(score <= double(kCountLimit<T>))) return false;
        score_[j][v] += times_[j] * score;
        if (j < kept_) of_successors.masked_store(row_[j].data() + v * kLanes, lanes);
      }
    } else {
      const Row<T> nothing = Row<T>::masked_load(row, 0);
      for (int64_t r = 0; r < kept_; ++r) nothing.masked_store(row_[r].data() + v * kLanes, lanes);
    }
    Row<T> passed_up;
    for (int k = 0; k < Row<T>::registers; ++k)
      passed_up.part[k] = Visitor::passed_up(Row<T>::every_lane(T(1)), sigma.part[k], typename Row<T>::Vector{});
    passed_up.masked_store(row, lanes);
    return true;
  }

  // The same lane by lane.
  template <int sums>
  bool settle_few(int64_t v, uint64_t lanes) {
    const int64_t begin = problem_.out.rowptr[v], end = problem_.out.rowptr[v + 1];
    const int32_t* const col = problem_.out.col;
    const T* from[sums] = {found_.sigma.data()};
    for (int r = 1; r < sums; ++r) from[r] = row_[r - 1].data();
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
      const int l = __builtin_ctzll(rest);
      double sum[sums] = {};
      for (int64_t slot = begin; slot < end; ++slot) {
        const int64_t w = col[slot];
        if ((found_.front[w] >> l & 1) == 0) continue;
        for (int j = 0; j < sums; ++j) sum[j] += from[j][w * kLanes + l];
      }
      T& own = found_.sigma[v * kLanes + l];
      const double sigma = own;
      if (!(sigma <= kCountLimit<T>)) return false;
      for (int j = 0; j < sums; ++j) {
        const double score = Visitor::template score<double>(sigma, sum[j], 0);
        if (!(score <= double(kCountLimit<T>))) return false;
        score_[j][v] += times_[j] * score;
        if (j < kept_) row_[j][v * kLanes + l] = static_cast<T>(sum[j]);
      }
      own = static_cast<T>(Visitor::template passed_up<double>(1, sigma, 0));
    }
    return true;
  }

  const PathProblem problem_;
  LaneLevels<T, Visitor::unit>& found_;  // R_0 replaces sigma
  Buffer<T> row_[kSums - 1];             // [n][lanes] R_1, R_2
  double* score_[kSums];                 // of the current level
  double times_[kSums];
  int64_t kept_ = 0;
};

}  // namespace torchcent::TORCHCENT_ISA
