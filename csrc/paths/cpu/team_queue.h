// The queue engine (queue.h) with a team of threads for each search, where sources are fewer than threads.
//
// The threads share the vertices of a level; small levels are left to one of them. The shortest-path DAG is recorded
// by vertex: its successors come first in the vertex's own slots. The bits are those of one thread: the sums over
// successors are in the order of the slots in both, and path counts are whole numbers, whose sums are exact in any
// order up to 2^53. Where a count is larger, a single thread searches again; and where nearly all levels are small, as
// in a road network, a single thread goes on.
#pragma once

#include "core/cpu/team.h"
#include "paths/cpu/queue.h"

namespace torchcent::TORCHCENT_ISA {

template <class Visitor>
class TeamSearch final : public Search {
 public:
  explicit TeamSearch(const PathProblem& problem)
      : problem_(problem), team_(static_cast<int>(problem.team)), space_(std::make_unique<Space>(problem)) {}

  Status run(const PathBatch& batch) override {
    for (int64_t lane = 0; lane < batch.count; ++lane) {
      PathBatch own = batch;
      own.count = 1;
      own.sources += lane;
      own.source_weight += lane;
      own.own_weight += lane;
      const Status status = alone_ ? alone_->run(own) : together(own);
      if (status != Status::done) return status;
    }
    return Status::done;
  }

 private:
  static constexpr int32_t kUnseen = -1, kClaimed = -2;
  static constexpr double kExact = 0x1p53;
  // Slots of a level from which it is shared, vertices that a thread takes at a time, and vertices that it holds back
  // before it appends them to the queue.
  static constexpr int64_t kShared = 1 << 15, kTaken = 16, kHeld = 512;
  // Levels after which most must have been shared.
  static constexpr int32_t kManyLevels = 64;

  struct Space {
    explicit Space(const PathProblem& problem)
        : place(problem.out.num_nodes),
          queue(problem.out.num_nodes),
          level(problem.out.num_nodes + 2),
          large(problem.out.num_nodes + 1),
          successors(problem.out.num_nodes),
          head(problem.out.num_slots()),
          at(Visitor::edges ? problem.out.num_slots() : 0),
          sigma(problem.out.num_nodes),
          sum(problem.out.num_nodes) {
      for (int64_t v = 0; v < problem.out.num_nodes; ++v) place[v] = kUnseen;
    }

    Buffer<int32_t> place;       // [n] place in the queue, or one of the values above
    Buffer<int32_t> queue;       // [n] by level
    Buffer<int32_t> level;       // first place of each level
    Buffer<bool> large;          // by level: is it shared?
    Buffer<int32_t> successors;  // by place
    Buffer<int32_t> head;        // [slots] the first ones of a vertex hold its successors: vertices, then their places
    Buffer<int32_t> at;          // [slots] which of the vertex's slots leads to them, for edge scores
    Buffer<double> sigma, sum;   // by place, as in QueueSearch
  };

  Status together(const PathBatch& batch) {
    const int32_t source = static_cast<int32_t>(*batch.sources);
    suits_ = fits_ = true;
    stopped_ = false;
    levels_ = shared_levels_ = 0;
    Space& space = *space_;
    space.queue[0] = source;
    space.place[source] = 0;
    space.sigma[0] = 1;
    space.level[0] = 0;
    reached_ = 1;
    next_slots_ = problem_.out.degree(source);
    team_.run([&](int rank) {
      forward(rank);
      if (suits_ && !stopped_) backward(rank, batch);
      forget(rank);
    });
    if (stopped_) return Status::cancelled;
    if (!suits_) {
      space_.reset();
      alone_ = std::make_unique<QueueSearch<double, Visitor>>(problem_);
      return alone_->run(batch);
    }
    return fits_ ? Status::done : Status::overflow;
  }

  // Breadth-first search and path counts, level by level. Rank 0 opens every level and works on small ones alone.
  void forward(int rank) {
    for (;;) {
      if (rank == 0) {
        while (open()) {
          const int32_t begin = space_->level[levels_ - 1], end = space_->level[levels_];
          discover<false>(begin, end, end);
          count<false>(begin, end);
        }
      }
      team_.meet();
      if (ended_) return;
      const int32_t end = space_->level[levels_];
      share(next_, end, [&](int32_t p, int32_t q) { discover<true>(p, q, end); });
      team_.meet();
      share(next_to_count_, end, [&](int32_t p, int32_t q) { count<true>(p, q); });
      team_.meet();
    }
  }

  // Starts the next level. Returns whether rank 0 works on it alone.
  bool open() {
    stopped_ = cancelled(problem_.cancel);
    if (levels_ == kManyLevels && shared_levels_ < kManyLevels / 2) suits_ = false;
    ended_ = stopped_ || !suits_ || space_->level[levels_] == reached_;
    if (ended_) return false;
    const bool large = next_slots_ >= kShared && team_.size() > 1;
    shared_levels_ += large;
    space_->large[levels_] = large;
    space_->level[++levels_] = reached_;
    next_ = next_to_count_ = space_->level[levels_ - 1];
    next_slots_ = 0;
    return !large;
  }

  // Hands out ranges of places up to `end`, from `next` on, until none is left.
  template <class Task>
  static void share(int64_t& next, int32_t end, Task task) {
    for (;;) {
      const int64_t p = __atomic_fetch_add(&next, kTaken, __ATOMIC_RELAXED);
      if (p >= end) return;
      task(static_cast<int32_t>(p), static_cast<int32_t>(p + kTaken < end ? p + kTaken : end));
    }
  }

  // Searches from places [begin, end) of the level that ends at `level_end`.
  template <bool shared>
  [[gnu::noinline]] void discover(int32_t begin, int32_t end, int32_t level_end) {
    const int64_t* const rowptr = problem_.out.rowptr;
    const int32_t* const col = problem_.out.col;
    Space& space = *space_;
    int32_t* const place = space.place.data();
    int32_t held[kHeld];
    int32_t holds = 0;
    for (int32_t p = begin; p < end; ++p) {
      const int32_t u = space.queue[p];
      const int64_t first = rowptr[u], last = rowptr[u + 1];
      int32_t* const head = space.head.data() + first;
      int32_t found = 0;
      for (int64_t slot = first; slot < last; ++slot) {
        const int32_t v = col[slot];
        int32_t known = __atomic_load_n(place + v, __ATOMIC_RELAXED);
        head[found] = v;  // kept only if v is deeper, without a branch that would be unpredictable
        if constexpr (Visitor::edges) space.at[first + found] = static_cast<int32_t>(slot - first);
        found += static_cast<uint32_t>(known) >= static_cast<uint32_t>(level_end);  // the negative ones too
        if (known != kUnseen) continue;
        if constexpr (shared) {
          if (!__atomic_compare_exchange_n(place + v, &known, kClaimed, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        } else {
          place[v] = kClaimed;
        }
        held[holds++] = v;
        if (holds == kHeld) append<shared>(held, holds);
      }
      space.successors[p] = found;
    }
    append<shared>(held, holds);
  }

  template <bool shared>
  void append(const int32_t* held, int32_t& holds) {
    Space& space = *space_;
    int32_t q = shared ? __atomic_fetch_add(&reached_, holds, __ATOMIC_RELAXED) : reached_;
    if constexpr (!shared) reached_ += holds;
    int64_t slots = 0;
    for (int32_t i = 0; i < holds; ++i, ++q) {
      const int32_t v = held[i];
      space.queue[q] = v;
      space.sigma[q] = 0;
      __atomic_store_n(&space.place[v], q, __ATOMIC_RELAXED);
      slots += problem_.out.degree(v);
    }
    __atomic_fetch_add(&next_slots_, slots, __ATOMIC_RELAXED);
    holds = 0;
  }

  // Adds the path counts of places [begin, end) to those of their successors, which have places now.
  template <bool shared>
  [[gnu::noinline]] void count(int32_t begin, int32_t end) {
    Space& space = *space_;
    const int32_t* const place = space.place.data();
    double* const sigma = space.sigma.data();
    double largest = 0;
    for (int32_t p = begin; p < end; ++p) {
      int32_t* const head = space.head.data() + problem_.out.rowptr[space.queue[p]];
      const double paths = carried<Visitor::unit>(sigma[p]);
      largest = paths > largest ? paths : largest;
      for (int32_t i = 0; i < space.successors[p]; ++i) {
        const int32_t q = place[head[i]];
        head[i] = q;
        if constexpr (shared) {
          add(sigma + q, paths);
        } else {
          sigma[q] += paths;
        }
      }
    }
    if (largest > kExact) __atomic_store_n(&suits_, false, __ATOMIC_RELAXED);
  }

  static void add(double* sum, double value) {
    double before, after;
    __atomic_load(sum, &before, __ATOMIC_RELAXED);
    do {
      after = before + value;
    } while (!__atomic_compare_exchange(sum, &before, &after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  }

  // The dependencies, deepest level first (QueueSearch::backward).
  void backward(int rank, const PathBatch& batch) {
    const bool plain = problem_.plain;
    const auto settle = [&](int32_t level, int32_t begin, int32_t end) {
      return plain ? settle_range<true>(level, begin, end, batch) : settle_range<false>(level, begin, end, batch);
    };
    for (int32_t level = levels_ - 1; level >= 0; --level) {
      const int32_t begin = space_->level[level], end = space_->level[level + 1];
      if (!space_->large[level]) {
        if (rank == 0) settle(level, begin, end);
        continue;
      }
      if (rank == 0) next_ = begin;
      team_.meet();
      share(next_, end, [&](int32_t p, int32_t q) { settle(level, p, q); });
      team_.meet();
    }
  }

  template <bool plain>
  [[gnu::noinline]] void settle_range(int32_t level, int32_t begin, int32_t end, const PathBatch& batch) {
    Space& space = *space_;
    const int64_t* const rowptr = problem_.out.rowptr;
    double* const scores = batch.scores;
    const double source_weight = *batch.source_weight;
    const double share = Visitor::target_factor(level, problem_.measure);
    const double weight = source_weight * Visitor::score_factor(level, problem_.measure);
    const bool onward = Visitor::onward(problem_.measure);
    double largest = 0;
    for (int32_t p = begin; p < end; ++p) {
      const int32_t v = space.queue[p];
      const int64_t first = rowptr[v];
      const double sigma = space.sigma[p];
      double sum = 0;
      for (int32_t i = 0; i < space.successors[p]; ++i) {
        const double passed_up = space.sum[space.head[first + i]];
        sum = i == 0 ? passed_up : sum + passed_up;
        if constexpr (Visitor::edges) scores[first + space.at[first + i]] += source_weight * (sigma * passed_up);
      }
      if (level > 0) {
        if constexpr (!Visitor::edges) {
          const double through = plain || !problem_.through ? 0.0 : problem_.through_weight[v];
          scores[v] += weight * Visitor::template score<double>(sigma, sum, through);
        }
        const double target = plain ? share : share * problem_.target_weight[v];
        sum = Visitor::template passed_up<double>(target, sigma, onward ? sum : 0);
        if constexpr (__is_same(Visitor, Stress)) largest = sum > largest ? sum : largest;
      } else if constexpr (!Visitor::edges) {
        if (*batch.own_weight != 0) scores[v] += *batch.own_weight * sum;
      }
      space.sum[p] = sum;
    }
    if (!(largest < kLargestCount)) __atomic_store_n(&fits_, false, __ATOMIC_RELAXED);
  }

  void forget(int rank) {
    const int64_t part = reached_ / team_.size() + 1, begin = part * rank;
    for (int64_t p = begin; p < begin + part && p < reached_; ++p) space_->place[space_->queue[p]] = kUnseen;
  }

  PathProblem problem_;
  Team team_;
  std::unique_ptr<Space> space_;
  std::unique_ptr<Search> alone_;  // once a search does not suit a team; in place of the space
  int32_t reached_ = 0, levels_ = 0, shared_levels_ = 0;
  int64_t next_slots_ = 0;                // of the level that is being discovered
  int64_t next_ = 0, next_to_count_ = 0;  // places to hand out
  bool suits_ = true, fits_ = true, stopped_ = false, ended_ = false;
};

std::unique_ptr<Search> make_queue(const PathProblem& problem, Rung rung) {
  return with_visitor(problem.measure, [&](auto visitor) -> std::unique_ptr<Search> {
    using Visitor = decltype(visitor);
    if (rung == Rung::wide) return std::make_unique<QueueSearch<Wide, Visitor>>(problem);
    if (problem.team > 1) return std::make_unique<TeamSearch<Visitor>>(problem);
    return std::make_unique<QueueSearch<double, Visitor>>(problem);
  });
}

}  // namespace torchcent::TORCHCENT_ISA
