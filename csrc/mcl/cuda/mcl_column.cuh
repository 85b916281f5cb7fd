// The processing of a column by a group: expansion into an accumulator, then pruning, chaos, inflation and writing.
//
// An accumulator has
//   start(group)                        empties it
//   locate(group, row, at) -> bool      places for kAhead rows of each thread (row < 0: none); false if it is full
//   add(at, weight, value)              adds weight x value there
//   each(group, visit(value))           visits all entries, each by one thread
//   order(group, bar)                   drops entries less than bar; after that,
//   ordered(), entry(i, row)            the number of places, and the value in place i, or 0, with ascending rows
//   finish(group)
#pragma once

#include "mcl/cuda/mcl_group.cuh"

namespace torchcent::cuda {

constexpr int kAhead = 4;  // entries that a thread loads before it waits for the first

// Adds M times the vector (row, value)[size] to the accumulator. Columns are added in sequence, each by all threads in
// parallel: entries are summed in the order of `row`.
template <class Group, class Accumulator>
__device__ bool expand(Group& group, const Flow& flow, const int32_t* row, const float* value, int size,
                       Accumulator& sums) {
  const int rank = group.rank();
  for (int first = 0; first < size; first += Group::steps_ahead) {
    const int count = min(Group::steps_ahead, size - first);
    group.sync();
    for (int i = rank; i < count; i += group.size()) {
      const int32_t k = row[first + i];
      group.steps[i] = {flow.begin[k], flow.length[k], value[first + i]};
    }
    group.sync();
    int32_t next_row[kAhead];
    float next_value[kAhead];
    const auto load = [&](int step) {
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        next_row[u] = -1;
        if (step + u >= count) continue;
        const Step from = group.steps[step + u];
        if (rank >= from.length) continue;
        next_row[u] = flow.row[from.begin + rank];
        next_value[u] = flow.value[from.begin + rank];
      }
    };
    load(0);
    for (int step = 0; step < count; step += kAhead) {
      int32_t at[kAhead];
      float entry[kAhead];
#pragma unroll
      for (int u = 0; u < kAhead; ++u) at[u] = next_row[u], entry[u] = next_value[u];
      if (step + kAhead < count) load(step + kAhead);
      if (!sums.locate(group, at)) return false;
#pragma unroll
      for (int u = 0; u < kAhead; ++u) {
        if (step + u >= count) break;
        const Step from = group.steps[step + u];
        if (at[u] >= 0) sums.add(at[u], from.weight, entry[u]);
        for (int i = group.size() + rank; i - rank < from.length; i += kAhead * group.size()) {
          int32_t more[kAhead];
          float values[kAhead];
#pragma unroll
          for (int a = 0; a < kAhead; ++a) {
            const int place = i + a * group.size();
            more[a] = -1;
            if (place >= from.length) continue;
            more[a] = flow.row[from.begin + place];
            values[a] = flow.value[from.begin + place];
          }
          if (!sums.locate(group, more)) return false;
#pragma unroll
          for (int a = 0; a < kAhead; ++a)
            if (more[a] >= 0) sums.add(more[a], from.weight, values[a]);
        }
        group.sync();
      }
    }
  }
  return true;
}

// The rank-th largest value, digit by digit of its bits, which are ordered as the values, from the top, until all
// entries that share the digits so far are wanted. The result is at most that value, and more than the next smaller
// one.
template <class Group, class Accumulator>
__device__ float nth_largest(Group& group, const Accumulator& sums, int rank) {
  unsigned prefix = 0;
  for (int open = 31, wanted = rank;;) {
    const int width = min(open, 8), shift = open - width;
    for (int i = group.rank(); i < kDigits; i += group.size()) group.bins[i] = 0;
    group.sync();
    sums.each(group, [&](float value) {
      const unsigned bits = __float_as_uint(value);
      if (bits >> open == prefix) atomicAdd(group.bins + (bits >> shift & ((1u << width) - 1)), 1u);
    });
    group.sync();
    // Every warp searches for the digit: a thread sums eight bins, the first thread those of the largest digits.
    const int lane = threadIdx.x & 31, top = kDigits - 1 - 8 * lane;
    int own = 0;
    for (int i = 0; i < 8; ++i) own += static_cast<int>(group.bins[top - i]);
    int up_to = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(kWholeWarp, up_to, distance);
      if (lane >= distance) up_to += other;
    }
    int digit = top, before = up_to - own, inside = 0;
    for (int i = 0; i < 8; ++i) {
      inside = static_cast<int>(group.bins[top - i]);
      digit = top - i;
      if (before + inside >= wanted) break;
      before += inside;
    }
    const int found = __ffs(static_cast<int>(__ballot_sync(kWholeWarp, up_to >= wanted))) - 1;
    digit = __shfl_sync(kWholeWarp, digit, found);
    before = __shfl_sync(kWholeWarp, before, found);
    inside = __shfl_sync(kWholeWarp, inside, found);
    group.sync();
    prefix = prefix << width | static_cast<unsigned>(digit);
    wanted -= before;
    if (inside == wanted || shift == 0) return __uint_as_float(prefix << shift);
    open = shift;
  }
}

template <class Group, class Accumulator>
__device__ Measure measure(Group& group, const Accumulator& sums, float bar) {
  Measure mine;
  sums.each(group, [&](float value) {
    ++mine.all;
    if (value < bar) return;
    ++mine.count;
    mine.mass += in_units(value);
    mine.squares += in_units(static_cast<double>(value) * value);
    const unsigned bits = __float_as_uint(value);
    mine.most = mine.most > bits ? mine.most : bits;
  });
  return group.merge(mine);
}

struct Pruned {
  Measure kept;
  float bar;  // the kept entries are always the largest
  bool recovered = false, selected = false;
};

template <class Group, class Accumulator>
__device__ Pruned prune(Group& group, const Accumulator& sums, const Rules& rules) {
  Pruned column = {measure(group, sums, rules.threshold), rules.threshold};
  Measure& kept = column.kept;
  const int all = kept.all, above = kept.count;
  const auto only = [&](int wanted) {
    column.bar = fmaxf(kLeast, nth_largest(group, sums, wanted));
    kept = measure(group, sums, column.bar);
  };
  if (above < rules.recover && kept.mass < rules.mass && above < all) {
    if (all > rules.recover) {
      only(rules.recover);
    } else {
      column.bar = kLeast;
      kept = measure(group, sums, kLeast);
    }
    column.recovered = true;
  } else if (rules.select > 0 && above > rules.select) {
    only(rules.select);
    column.selected = kept.count < above;
    if (kept.count < rules.recover && kept.mass < rules.mass) {
      only(min(rules.recover, above));  // the smallest of those above the threshold
      column.recovered = true;
    }
  }
  if (kept.count == 0 && all > 0) only(1);
  return column;
}

// 1 / the sum of the inflated shares of the largest value, so that the sum of powers does not underflow.
template <class Group, class Accumulator>
__device__ double scale_of_powers(Group& group, const Accumulator& sums, const Measure& kept, float bar, float share,
                                  double inflation) {
  const double unit = unit_of_powers(kept.count);
  Units mine;
  sums.each(group, [&](float value) {
    if (value >= bar) mine.sum += in_units(inflated(value * share, inflation), unit);
  });
  return unit / static_cast<double>(group.merge(mine).sum);
}

// Prunes, measures, inflates and writes an expanded column. Chaos is that of mcl: (largest - sum of squares) x number
// of the remaining entries, not rescaled. The ratio in equation 3 of Bustamam et al. tends to 1.
template <class Group, class Accumulator>
__device__ void finish(Group& group, Accumulator& sums, const Job& job, int32_t column) {
  const Pruned pruned = prune(group, sums, job.rules);
  const Measure& kept = pruned.kept;
  const float most = __uint_as_float(kept.most), share = kept.count > 0 ? 1 / most : 0;
  const double inflation = job.rules.inflation;
  double scale = 0;
  if (kept.count > 0)
    scale =
        inflation == 1 ? 1 / from_units(kept.mass) : scale_of_powers(group, sums, kept, pruned.bar, share, inflation);
  sums.order(group, pruned.bar);
  const int64_t begin = job.out.begin[column];
  int length = 0;
  for (int first = 0; first < sums.ordered(); first += group.size()) {
    const int i = first + group.rank();
    int32_t row = 0;
    float value = i < sums.ordered() ? sums.entry(i, row) : 0;
    if (inflation != 1 && value > 0) value = inflated(value * share, inflation);
    const bool stays = value >= kLeast;
    int total = 0;
    const int at = length + group.place(stays, total);
    if (stays && at < job.out.room) {
      job.out.row[begin + at] = row;
      job.out.value[begin + at] = static_cast<float>(value * scale);
    }
    length += total;
  }
  sums.finish(group);
  if (group.rank() != 0) return;
  job.out.length[column] = length;
  const double chaos = fmax(0.0, (most - from_units(kept.squares)) * static_cast<double>(kept.count));
  Totals& totals = *group.totals;
  totals.chaos = max(totals.chaos, as_bits(chaos));
  if (kept.count > 0) {
    totals.least_mass = min(totals.least_mass, as_bits(from_units(kept.mass)));
    totals.poor += kept.mass < job.rules.mass;
  }
  totals.kept += kept.count;
  totals.recovered += pruned.recovered;
  totals.selected += pruned.selected;
  totals.mass += static_cast<unsigned long long>(kept.mass) >> 28;
  totals.longest = max(totals.longest, static_cast<unsigned long long>(length));
}

__device__ inline void add_totals(Totals* all, const Totals& mine) {
  atomicMax(&all->chaos, mine.chaos);
  atomicMin(&all->least_mass, mine.least_mass);
  atomicAdd(&all->kept, mine.kept);
  atomicAdd(&all->poor, mine.poor);
  atomicAdd(&all->recovered, mine.recovered);
  atomicAdd(&all->selected, mine.selected);
  atomicAdd(&all->mass, mine.mass);
  atomicMax(&all->longest, mine.longest);
}

// Calls work(column) for columns of the stage's list until none are left. If it returns false, the column moves to
// `next`.
template <class Group, class Work>
__device__ void take_columns(Group& group, const Job& job, Stage stage, Stage next, Work work) {
  if (group.rank() == 0) *group.totals = {0, ~0ull, 0, 0, 0, 0, 0, 0};
  const unsigned count = job.count[stage];
  for (unsigned ticket; (ticket = group.take(job.ticket + stage)) < count;) {
    const int32_t column = job.list[stage * job.n + ticket];
    const bool done = work(column);
    group.sync();
    if (!done && group.rank() == 0) job.list[next * job.n + atomicAdd(job.count + next, 1u)] = column;
  }
  if (group.rank() == 0) add_totals(job.totals, *group.totals);
}

// Adds M times column j to the accumulator.
template <class Group, class Accumulator>
__device__ bool square(Group& group, const Flow& flow, int32_t j, Accumulator& sums) {
  sums.start(group);
  return expand(group, flow, flow.row + flow.begin[j], flow.value + flow.begin[j], flow.length[j], sums);
}

}  // namespace torchcent::cuda
