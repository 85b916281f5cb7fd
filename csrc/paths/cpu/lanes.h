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

#include "paths/cpu/settle.h"

namespace torchcent::TORCHCENT_ISA {

template <class T, class Visitor>
class LaneSearch final : public Search {
  static constexpr int kLanes = Row<T>::lanes;
  // Capacity of the level lists, as a multiple of n. A batch whose lanes diverge too much for it is halved. This bounds
  // the memory to twice that of the rows.
  static constexpr int64_t kEntriesPerNode = 14;
  // Up to this many lanes are processed one by one: a row would move 256 bytes for 8.
  static constexpr int kFew = 2;
  static constexpr T kLimit = kCountLimit<T>;

 public:
  explicit LaneSearch(const PathProblem& problem)
      : problem_(problem),
        n_(problem.out.num_nodes),
        capacity_(kEntriesPerNode * n_ + 4 * kLanes),
        sigma_(n_ * kLanes),
        rho_(problem.num_limits > 1 ? n_ * kLanes : 0),
        passed_(problem.num_limits > 1 ? rho_.data() : sigma_.data()),
        size_(Visitor::edges ? problem.out.num_slots() : n_),
        seen_(n_),
        front_(n_),
        next_(n_),
        open_(n_),
        entry_(capacity_),
        entry_mask_(capacity_),
        above_(problem.num_limits > 1 ? capacity_ : 0),
        active_(problem.num_limits > 1 ? above_.data() : entry_mask_.data()),
        level_(n_ + 2),
        deepest_(problem.limits == nullptr ? n_ : problem.limits[problem.num_limits - 1]) {}

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
    Status status = forward(batch.sources + begin, count);
    if (status == Status::done) {
      alignas(64) T source_weight[kLanes] = {};
      alignas(64) T own_weight[kLanes] = {};
      for (int64_t l = 0; l < count; ++l) {
        source_weight[l] = static_cast<T>(batch.source_weight[begin + l]);
        own_weight[l] = static_cast<T>(batch.own_weight[begin + l]);
      }
      status = within_limits(source_weight, own_weight, batch.scores);
    }
    if (status != Status::done) forget();
    if (status == Status::overflow && crowded_) {  // too many entries, not an overflow of path counts
      crowded_ = false;
      status = run_lanes(batch, begin, count / 2);
      if (status == Status::done) status = run_lanes(batch, begin + count / 2, count - count / 2);
    }
    return status;
  }

  // ---- forward ----------------------------------------------------------------------------------------

  Status forward(const int64_t* sources, int64_t count) {
    full_ = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    for (int64_t v = 0; v < n_; ++v) seen_[v] = 0;
    entries_ = 0;
    levels_ = 0;
    open_count_ = -1;
    for (int64_t l = 0; l < count; ++l) {
      const int64_t s = sources[l];
      if (front_[s] == 0) entry_[entries_++] = static_cast<int32_t>(s);
      front_[s] |= uint64_t{1} << l;
      sigma_[s * kLanes + l] = 1;
    }
    for (int64_t i = 0; i < entries_; ++i) seen_[entry_[i]] = entry_mask_[i] = front_[entry_[i]];
    level_[0] = 0;
    level_[1] = entries_;
    levels_ = 1;
    while (true) {
      if (cancelled(problem_.cancel)) return Status::cancelled;
      const int64_t begin = level_[levels_ - 1], end = level_[levels_];
      if (levels_ > deepest_) {
        for (int64_t i = begin; i < end; ++i) front_[entry_[i]] = 0;
        return Status::done;
      }
      const bool fits = push_is_cheaper(begin, end) ? push(begin, end) : pull();
      for (int64_t i = begin; i < end; ++i) front_[entry_[i]] = 0;
      for (int64_t i = end; i < entries_; ++i) {
        const int32_t v = entry_[i];
        if (problem_.copies != nullptr && problem_.copies[v] != 1) multiply(v, next_[v]);
        entry_mask_[i] = front_[v] = next_[v];
        seen_[v] |= next_[v];
        next_[v] = 0;
      }
      if (!fits) {
        level_[++levels_] = entries_;
        return crowded_ = true, Status::overflow;
      }
      if (entries_ == end) return Status::done;
      level_[++levels_] = entries_;
    }
  }

  // Counts the paths to all twins that v stands for.
  void multiply(int64_t v, uint64_t lanes) {
    T* const row = sigma_.data() + v * kLanes;
    Row<T> paths = Row<T>::masked_load(row, lanes);
    paths *= static_cast<T>(problem_.copies[v]);
    paths.masked_store(row, lanes);
  }

  // Pushing costs a row per arc of the frontier; pulling costs a mask per arc of the unfinished vertices.
  bool push_is_cheaper(int64_t begin, int64_t end) const {
    if (end - begin > kPushEntries) return false;
    int64_t cost = 0;
    for (int64_t i = begin; i < end; ++i) {
      const int lanes = __builtin_popcountll(entry_mask_[i]);
      cost += problem_.out.degree(entry_[i]) * (lanes <= kFew ? lanes : 4);
    }
    return cost < 2 * problem_.out.num_slots();
  }

  bool push(int64_t begin, int64_t end) {
    const int64_t* rowptr = problem_.out.rowptr;
    const int32_t* const col = problem_.out.col;
    T* const rows = sigma_.data();
    const uint64_t* const seen = seen_.data();
    uint64_t* const next = next_.data();
    int32_t* const entry = entry_.data();
    int64_t entries = entries_;  // in a register: stores through the pointers above cannot alias it
    const auto reach = [&](int64_t v, uint64_t lanes) {
      entry[entries] = static_cast<int32_t>(v);
      entries += next[v] == 0;
      next[v] |= lanes;
    };
    for (int64_t i = begin; i < end; ++i) {
      const int64_t u = entry_[i];
      const uint64_t lanes = entry_mask_[i];
      if (capacity_ - entries <= problem_.out.degree(u)) return entries_ = entries, false;
      const T* row = rows + u * kLanes;
      if (__builtin_popcountll(lanes) <= kFew) {
        for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
          const int l = __builtin_ctzll(rest);
          const uint64_t bit = uint64_t{1} << l;
          const T paths = row[l];
          for (int64_t slot = rowptr[u]; slot < rowptr[u + 1]; ++slot) {
            const int64_t v = col[slot];
            if (seen[v] & bit) continue;
            T& sigma = rows[v * kLanes + l];
            sigma = (next[v] & bit ? sigma : T(0)) + paths;
            reach(v, bit);
          }
        }
        continue;
      }
      const Row<T> paths = Row<T>::masked_load(row, lanes);
      for (int64_t slot = rowptr[u]; slot < rowptr[u + 1]; ++slot) {
        const int64_t v = col[slot];
        const uint64_t fresh = lanes & ~seen[v];
        if (fresh == 0) continue;
        T* target = rows + v * kLanes;
        Row<T> sum = paths;
        sum.masked_add(target, next[v]);  // lanes that were not reached before hold values of the previous batch
        sum.masked_store(target, fresh);
        reach(v, fresh);
      }
    }
    entries_ = entries;
    return true;
  }

  bool pull() {
    if (open_count_ < 0) {
      for (int64_t v = 0; v < n_; ++v) open_[v] = static_cast<int32_t>(v);
      open_count_ = n_;
    }
    int64_t kept = 0;
    bool fits = true;
    for (int64_t i = 0; i < open_count_; ++i) {
      const int64_t v = open_[i];
      const uint64_t need = full_ & ~seen_[v];
      if (need == 0) continue;
      if ((i & 0xfff) == 0 && cancelled(problem_.cancel)) return true;  // forward() checks it, too
      open_[kept++] = static_cast<int32_t>(v);
      if (!fits) continue;
      RowSum<T> sum;
      const uint64_t got = gather<false>(problem_.in, v, need, front_.data(), sigma_.data(), sum, [](auto...) {});
      if (got == 0) continue;
      fits = entries_ < capacity_;
      if (!fits) continue;
      sum.finish().masked_store(sigma_.data() + v * kLanes, got);
      entry_[entries_++] = static_cast<int32_t>(v);
      next_[v] = got;
    }
    open_count_ = kept;
    return fits;
  }

  // ---- backward ---------------------------------------------------------------------------------------

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
    return problem_.limits == nullptr || problem_.limits[limit] >= levels_ ? levels_ : problem_.limits[limit] + 1;
  }

  // The first levels, `above` of which have no targets that count.
  Status backward(int64_t above, int64_t levels, const T* source_weight, const T* own_weight, double* scores) {
    bool own = Visitor::edges;
    for (int l = 0; l < kLanes; ++l) own |= own_weight[l] != 0;
    for (int64_t level = levels - 1; level >= (own ? 0 : 1); --level) {
      if (cancelled(problem_.cancel)) return Status::cancelled;
      const int64_t begin = level_[level], end = level_[level + 1];
      const double depth = static_cast<double>(level);
      alignas(64) T weight[kLanes];
      const T factor = static_cast<T>(Visitor::score_factor(depth, problem_.measure));
      for (int l = 0; l < kLanes; ++l) weight[l] = source_weight[l] * factor;
      const bool counts = level >= above;
      target_share_ = counts ? static_cast<T>(Visitor::target_factor(depth, problem_.measure)) : T(0);
      through_share_ = counts ? T(1) : T(0);
      const bool deepest = level == levels - 1;
      const int64_t below = deepest ? end : level_[level + 2];
      for (int64_t i = end; i < below; ++i) front_[entry_[i]] = active_[i];
      // If the level below is small, most vertices have no successor in it. Its incoming arcs mark those that do.
      const bool sparse = kSparse * active_arcs(end, below) < arcs(problem_.out, begin, end);
      if (sparse) mark_predecessors(end, below, [](uint64_t& mark, uint64_t lanes) { mark |= lanes; });
      for (int64_t i = begin; i < end; ++i) {
        if ((i & 0xfff) == 0 && cancelled(problem_.cancel)) return Status::cancelled;
        const bool leaf = sparse && (next_[entry_[i]] & entry_mask_[i]) == 0;
        if (counts) {
          if (!retire(entry_[i], entry_mask_[i], leaf, level == 0, weight, own_weight, scores)) return Status::overflow;
          if (above_.data() != nullptr) above_[i] = entry_mask_[i];
          continue;
        }
        got_ = 0;
        const uint64_t lanes = sparse ? next_[entry_[i]] & entry_mask_[i] : entry_mask_[i];
        if (lanes != 0 && !retire(entry_[i], lanes, false, level == 0, weight, own_weight, scores))
          return Status::overflow;
        above_[i] = got_;
      }
      if (sparse) mark_predecessors(end, below, [](uint64_t& mark, uint64_t) { mark = 0; });
      for (int64_t i = end; i < below; ++i) front_[entry_[i]] = 0;
    }
    return Status::done;
  }

  int64_t arcs(const Csr& graph, int64_t begin, int64_t end) const {
    int64_t sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += graph.degree(entry_[i]);
    return sum;
  }

  int64_t active_arcs(int64_t begin, int64_t end) const {
    int64_t sum = 0;
    for (int64_t i = begin; i < end; ++i)
      if (active_[i] != 0) sum += problem_.in.degree(entry_[i]);
    return sum;
  }

  template <class Mark>
  void mark_predecessors(int64_t begin, int64_t end, Mark mark) {
    uint64_t* const marks = next_.data();  // unused in the backward pass
    for (int64_t i = begin; i < end; ++i) {
      const int64_t w = entry_[i];
      const uint64_t lanes = active_[i];
      if (lanes == 0) continue;
      for (int64_t slot = problem_.in.rowptr[w]; slot < problem_.in.rowptr[w + 1]; ++slot)
        mark(marks[problem_.in.col[slot]], lanes);
    }
  }

  // Processes a vertex in the lanes of the mask: the sum over successors, the score, and the value that it passes up.
  bool retire(int64_t v, uint64_t lanes, bool leaf, bool is_source, const T* source_weight, const T* own_weight,
              double* scores) {
    const T* row = sigma_.data() + v * kLanes;
    T* const passed = passed_ + v * kLanes;
    if (leaf && !is_source && (Visitor::edges || !problem_.through))
      return settle_leaf<T, Visitor>(problem_, v, lanes, row, passed, target_share_);
    if (!Visitor::edges && __builtin_popcountll(lanes) <= kFew)
      return retire_few(v, lanes, leaf, is_source, row, passed, is_source ? own_weight : source_weight, scores);
    return settle<T, Visitor>(problem_, v, lanes, is_source, row, passed, source_weight, own_weight, target_share_,
                              through_share_, scores, [&](RowSum<T>& sums, const Row<T>& weighted) {
                                if (leaf) return;
                                got_ = gather<Visitor::edges>(problem_.out, v, lanes, front_.data(), passed_, sums,
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
          if (front_[w] >> l & 1) sum += passed_[w * kLanes + l];
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

  // Clears the masks that remain if a batch ends early.
  void forget() {
    for (int64_t i = 0; i < entries_; ++i) {
      front_[entry_[i]] = 0;
      next_[entry_[i]] = 0;
    }
  }

  // Marking pays if a level has this many times as many arcs as the level below.
  static constexpr int64_t kSparse = 3;
  // Pushed sums are naive, which is accurate enough for few terms.
  static constexpr int64_t kPushEntries = 4096;

  PathProblem problem_;
  T target_share_ = 1, through_share_ = 1;  // of the current level
  uint64_t got_ = 0;                        // lanes in which the last vertex had successors
  int64_t n_;
  int64_t capacity_;
  Buffer<T> sigma_;              // [n][lanes] sigma, then rho or lambda
  Buffer<T> rho_;                // [n][lanes] rho or lambda, if there are several limits
  T* passed_;                    // sigma or rho
  int64_t size_;                 // of the scores of a limit
  Buffer<uint64_t> seen_;        // [n] lanes that have reached the vertex
  Buffer<uint64_t> front_;       // [n] lanes of the level being read; zero elsewhere
  Buffer<uint64_t> next_;        // [n] lanes of the level being written
  Buffer<int32_t> open_;         // vertices that some lanes have not reached, for pull
  Buffer<int32_t> entry_;        // all levels, concatenated: vertex ...
  Buffer<uint64_t> entry_mask_;  // ... and its lanes at that level
  Buffer<uint64_t> above_;       // by entry: lanes from which a target is reached, if there are several limits
  const uint64_t* active_;       // these, or entry_mask_
  Buffer<int64_t> level_;        // first entry of each level
  int64_t deepest_;              // level that is not searched from
  uint64_t full_ = 0;
  int64_t entries_ = 0, levels_ = 0, open_count_ = -1;
  bool crowded_ = false;
};

}  // namespace torchcent::TORCHCENT_ISA
