// Repairs the row of a source after a batch of changes, by a block: see dynamic/cpu/settling.h for distances and
// dynamic/cpu/repair.h for paths, whose steps these are, with the vertices of a level side by side. What arrives at a
// vertex is added up in the workspace and not in the row, so that the row is as it was until its level has its turn.
#pragma once

#include <cstdint>

#include "dynamic/cuda/block_row.cuh"

namespace torchcent::cuda {

template <class Hops, class Cell>
class BlockRepair : BlockRow<Hops, Cell> {
  using Base = BlockRow<Hops, Cell>;
  using Base::cell_;
  using Base::count_;
  using Base::counters_;
  using Base::distance_;
  using Base::kFar;
  using Base::n_;
  using Base::problem_;
  using Base::share_;
  using Base::source_;
  using typename Base::Problem;
  using typename Base::Share;
  static constexpr int kNone = 0x7fffffff;

 public:
  using Base::Base;
  using Base::take;

  // Brings the row and the sums up to date. All threads call this.
  __device__ int8_t repair() {
    const int64_t most = n_ / 4;
    if (threadIdx.x == 0) counters_.listed = counters_.moved = 0, counters_.fault = 0;
    if (this->room_ != nullptr) this->template copy_row<true>();
    __syncthreads();
    const bool few = problem_.num_removed + problem_.num_inserted <= most;
    if (few) {
      find_orphans();
      settle();
    }
    int8_t outcome = kRepaired;
    if (counters_.fault != 0) {
      outcome = static_cast<int8_t>(counters_.fault);
    } else if (!few || counters_.moved > most) {
      forget_moves();
      this->remove();
      return this->compute(1);
    } else {
      repair_counts();
      if (counters_.fault == 0) repair_shares();
      outcome = counters_.fault == 0 ? kRepaired : static_cast<int8_t>(counters_.fault);
    }
    this->clear_list();
    if (this->room_ != nullptr)
      for (int i = static_cast<int>(threadIdx.x); i < counters_.moved; i += static_cast<int>(blockDim.x))
        this->row_[this->moves_[i]] = distance_[this->moves_[i]];
    forget_moves();
    return outcome;
  }

 private:
  struct Arc {
    int32_t tail, head;
  };
  __device__ static Arc arc_of(const int64_t* ends, int64_t count, int64_t i) {
    return {static_cast<int32_t>(ends[i]), static_cast<int32_t>(ends[count + i])};
  }
  // Calls visit(arc) for changed arcs, in one thread each.
  template <class Visit>
  __device__ static void each_changed(const int64_t* ends, int64_t count, Visit visit) {
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) visit(arc_of(ends, count, i));
  }
  template <class Visit>
  __device__ void each_removed(Visit visit) const {
    each_changed(problem_.removed, problem_.num_removed, visit);
  }
  template <class Visit>
  __device__ void each_inserted(Visit visit) const {
    each_changed(problem_.inserted, problem_.num_inserted, visit);
  }

  __device__ bool has_moved(int32_t v) const { return has_bit(this->is_moved_, v); }
  __device__ Hops before(int32_t v) const { return has_moved(v) ? this->before_[v] : distance_[v]; }
  // Whether an arc is on shortest paths, and whether it was.
  __device__ bool leads(Arc arc) const {
    return distance_[arc.tail] != kFar && distance_[arc.head] == distance_[arc.tail] + 1;
  }
  __device__ bool led(Arc arc) const {
    const Hops from = before(arc.tail);
    return from != kFar && before(arc.head) == from + 1;
  }
  // Has the level looked at, or one that is nearer: upwards by itself, downwards by its negative.
  __device__ void nearer(int key) {
    if (*static_cast<volatile int*>(&counters_.next) > key) atomicMin(&counters_.next, key);
  }
  // Puts a vertex into the list, once; key: of its level.
  __device__ void enlist(int32_t v, int key) {
    if (!set_bit(this->is_listed_, v)) return;
    this->list_[atomicAdd(&counters_.listed, 1)] = v;
    nearer(key);
  }
  __device__ void move(int32_t v, Hops from) {
    if (!set_bit(this->is_moved_, v)) return;
    this->before_[v] = from;
    this->moves_[atomicAdd(&counters_.moved, 1)] = v;
  }
  __device__ void forget_moves() {
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < counters_.moved; i += static_cast<int>(blockDim.x))
      this->is_moved_[this->moves_[i] >> 5] = 0;
    __syncthreads();
    if (threadIdx.x == 0) counters_.moved = 0;
    __syncthreads();
  }

  // Calls work(level, count) for the levels of what is listed, and of what is listed on the way: the nearest level
  // first or, with upwards = false, the farthest. The vertices on it are in now_. look(level) has further levels
  // looked at.
  template <class Look, class Work>
  __device__ void each_level(bool upwards, const int32_t* list, const int& length, Look look, Work work) {
    int level = upwards ? -1 : kNone;
    for (;;) {
      __syncthreads();
      const int listed = length;  // what is added from here on says where to look
      if (threadIdx.x == 0) counters_.next = kNone, counters_.now = 0;
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < listed; i += static_cast<int>(blockDim.x)) {
        const int32_t v = list[i];
        const int at = distance_[v];
        if (at == kFar) continue;  // which may be kNone
        if (at == level) this->now_[atomicAdd(&counters_.now, 1)] = v;
        else if (upwards ? at > level : at < level) nearer(upwards ? at : -at);
      }
      look(level);
      __syncthreads();
      if (counters_.now > 0) work(level, counters_.now);
      __syncthreads();
      if (counters_.next == kNone) return;
      level = upwards ? counters_.next : -counters_.next;
    }
  }

  // Vertices without a predecessor are farther away now; who they are is known level by level.
  __device__ void find_orphans() {
    each_removed([&](Arc arc) {
      if (leads(arc)) enlist(arc.head, distance_[arc.head]);
    });
    __syncthreads();
    if (counters_.listed == 0) return;
    each_level(
        true, this->list_, counters_.listed, [](int) {},
        [&](int level, int count) {
          this->each_vertex(this->now_, count, [&](int32_t v) {
            const bool stays =
                warp_any(problem_.in, v, [&](int32_t w) { return distance_[w] == level - 1 && !has_moved(w); });
            if (!stays && lane() == 0) move(v, distance_[v]);
          });
          __syncthreads();
          this->each_arc(
              problem_.out, this->now_, count, [&](int32_t v) { return has_moved(v); },
              [&](bool, int32_t w, Hops at) {
                if (at == level + 1) enlist(w, level + 1);
              });
        });
    this->clear_list();
  }

  __device__ void lower(int32_t v, int level) {
    const Hops from = distance_[v];
    if (from <= level) return;
    if (level >= kFar - 1) {
      counters_.fault = kTooFar;
      return;
    }
    move(v, from);
    distance_[v] = static_cast<Hops>(level);
    nearer(level);
  }

  // Orphans begin from the best neighbour that kept its distance, heads of new arcs from their tails; then by levels.
  __device__ void settle() {
    const int orphans = counters_.moved;
    for (int i = static_cast<int>(threadIdx.x); i < orphans; i += static_cast<int>(blockDim.x))
      distance_[this->moves_[i]] = kFar;
    __syncthreads();
    this->each_vertex(this->moves_, orphans, [&](int32_t v) {
      const int nearest = warp_least(problem_.in, v, kFar, [&](int32_t w) {
        return has_moved(w) ? static_cast<int>(kFar) : static_cast<int>(distance_[w]);
      });
      if (lane() != 0 || nearest == kFar) return;
      if (nearest >= kFar - 2) counters_.fault = kTooFar;
      else distance_[v] = static_cast<Hops>(nearest + 1);
    });
    each_level(
        true, this->moves_, counters_.moved,
        [&](int level) {
          each_inserted([&](Arc arc) {
            const int from = distance_[arc.tail];
            if (from == kFar || distance_[arc.head] <= from + 1) return;
            if (from == level) lower(arc.head, level + 1);
            else if (from > level) nearer(from);
          });
        },
        [&](int level, int count) {
          this->each_arc(
              problem_.out, this->now_, count, [](int32_t) { return true; },
              [&](bool, int32_t w, Hops at) {
                if (at > level + 1) lower(w, level + 1);
              });
        });
  }

  __device__ void add_count(int32_t v, Word difference, int key) {
    atomicAdd(count_ + v, difference);
    enlist(v, key);
  }
  __device__ Word count_at(int32_t v) const { return static_cast<Word>(cell_[v].count()); }

  // What a moved vertex was to its neighbours: to those on a level.
  template <class T>
  struct Former {
    int level;
    T value;
    __device__ explicit operator bool() const { return value != 0; }
  };

  // Path counts. Vertices that have moved count afresh, the others by differences: of arcs that are gone, of arcs that
  // are new, and along those that were and are on shortest paths.
  __device__ void repair_counts() {
    const int moved = counters_.moved;
    for (int i = static_cast<int>(threadIdx.x); i < moved; i += static_cast<int>(blockDim.x))
      enlist(this->moves_[i], kNone);
    this->each_arc(
        problem_.out, this->moves_, moved,
        [&](int32_t v) {
          const Hops was = this->before_[v];
          return was == kFar ? Former<Word>{0, 0} : Former<Word>{was + 1, count_at(v)};
        },
        [&](Former<Word> former, int32_t w, Hops at) {
          if (at == former.level && !has_moved(w)) add_count(w, -former.value, kNone);
        });
    each_removed([&](Arc arc) {
      if (led(arc) && !has_moved(arc.head)) add_count(arc.head, -count_at(arc.tail), kNone);
    });
    each_inserted([&](Arc arc) {
      if (has_moved(arc.head)) return;
      // What the loop above has taken from an arc that was not there, or what the one below does not add.
      if (has_moved(arc.tail) ? led(arc) : leads(arc)) add_count(arc.head, count_at(arc.tail), kNone);
    });
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < moved; i += static_cast<int>(blockDim.x)) {
      const int32_t v = this->moves_[i];
      if (distance_[v] == kFar) count_[v] = -count_at(v), cell_[v].set_count(0);
    }
    each_level(
        true, this->list_, counters_.listed, [](int) {},
        [&](int level, int count) {
          each_on_level(count, moved > 0, [&](int32_t v, bool afresh) {
            Word paths = 0;
            if (afresh)
              paths = warp_sum<Word>(problem_.in, v,
                                     [&](int32_t w) { return distance_[w] == level - 1 ? count_at(w) : 0; });
            if (afresh && lane() != 0) return;
            const Word old = count_at(v);
            if (!afresh) paths = old + count_[v];
            if (static_cast<double>(paths) > problem_.most) counters_.fault = kTooMany;
            count_[v] = paths - old;
            cell_[v].set_count(static_cast<double>(paths));
          });
          this->each_arc(
              problem_.out, this->now_, count, [&](int32_t v) { return has_moved(v) ? count_at(v) : count_[v]; },
              [&](Word difference, int32_t w, Hops at) {
                if (at == level + 1 && !has_moved(w)) add_count(w, difference, level + 1);
              });
        });
  }

  // Calls work(v, false) in one thread for each vertex in now_ that has not moved, and work(v, true) in a warp for each
  // that has.
  template <class Work>
  __device__ void each_on_level(int count, bool any_moved, Work work) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
      const int32_t v = this->now_[i];
      if (!any_moved || !has_moved(v)) work(v, false);
    }
    if (any_moved)
      this->each_vertex(this->now_, count, [&](int32_t v) {
        if (has_moved(v)) work(v, true);
      });
    __syncthreads();
  }

  __device__ double old_count(int32_t v) const {
    return cell_[v].count() - static_cast<double>(static_cast<long long>(count_[v]));
  }
  __device__ Share old_part(int32_t v) const {
    return cell_[v].share() + Cell::reciprocal(old_count(v), problem_.unit);
  }
  __device__ Share part(int32_t v) const {
    return cell_[v].share() + Cell::reciprocal(cell_[v].count(), problem_.unit);
  }
  __device__ void add_share(int32_t v, Share difference, int key) {
    if (v == source_) return;
    add_to(share_ + v, difference);
    enlist(v, key);
  }

  // Shares, by differences in the same way.
  __device__ void repair_shares() {
    const int moved = counters_.moved;
    this->each_arc(
        problem_.in, this->moves_, moved,
        [&](int32_t w) {
          const Hops was = this->before_[w];
          return was == kFar || was < 2 ? Former<Share>{0, 0} : Former<Share>{was - 1, old_part(w)};
        },
        [&](const Former<Share>& former, int32_t v, Hops at) {
          if (at == former.level && !has_moved(v)) add_share(v, -former.value, kNone);
        });
    each_removed([&](Arc arc) {
      if (led(arc) && !has_moved(arc.tail)) add_share(arc.tail, -old_part(arc.head), kNone);
    });
    each_inserted([&](Arc arc) {
      if (has_moved(arc.tail)) return;
      if (has_moved(arc.head) ? led(arc) : leads(arc)) add_share(arc.tail, old_part(arc.head), kNone);
    });
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < moved; i += static_cast<int>(blockDim.x)) {
      const int32_t v = this->moves_[i];
      if (distance_[v] != kFar) continue;
      this->add_dependency(v, old_count(v), cell_[v].share(), -1);
      cell_[v] = Cell{};
    }
    each_level(
        false, this->list_, counters_.listed, [](int) {},
        [&](int level, int count) {
          each_on_level(count, moved > 0, [&](int32_t v, bool afresh) {
            Share share = 0;
            if (afresh)
              share = warp_sum<Share>(problem_.out, v,
                                      [&](int32_t w) { return distance_[w] == level + 1 ? part(w) : Share{0}; });
            if (afresh && lane() != 0) return;
            const Share old = cell_[v].share(), former = afresh ? Share{0} : old_part(v);
            if (!afresh) share = old + share_[v];
            this->add_dependency(v, old_count(v), old, -1);
            this->add_dependency(v, cell_[v].count(), share, 1);
            cell_[v].set_share(share);
            share_[v] = part(v) - former;
          });
          if (level < 2) return;  // nobody asks for the share of the source
          this->each_arc(
              problem_.in, this->now_, count, [&](int32_t v) { return share_[v]; },
              [&](Share difference, int32_t v, Hops at) {
                if (at == level - 1 && !has_moved(v)) add_share(v, difference, 1 - level);
              });
        });
  }
};

}  // namespace torchcent::cuda
