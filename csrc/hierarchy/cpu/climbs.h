// Climbs of a batch of sources in a hierarchy: from each source to all vertices above it, and back. A vertex that is
// above some source is special: what the sweep finds there begins with the climbs.
#pragma once

#include "hierarchy/cpu/hierarchy_lanes.h"

namespace torchcent::TORCHCENT_ISA {

// Lanes of a batch beyond the number of its sources repeat the last one, with weight 0.
template <class Number>
struct LaneRange {
  static constexpr int width = Lanes<Number>::width;

  explicit LaneRange(const SourceBatches& sources)
      : count(sources.count), registers((sources.count + width - 1) / width) {}
  int source(int lane) const { return lane < count ? lane : count - 1; }
  // The registers with these lanes, and with those that repeat the last one.
  int low(int lane) const { return lane / width; }
  int high(int lane) const { return lane == count ? registers : (lane + width - 1) / width; }

  int count, registers;
};

template <class Number, bool paths>
class Climbs {
 public:
  using L = Lanes<Number>;
  using Distance = typename L::Distance;
  using Count = typename L::Count;
  using Length = typename L::Length;

  struct Special {
    int32_t position;
    int lane;          // of the source that it is; -1 for none
    int low, high;     // registers with the sources below it
    int64_t at;        // rows: see below
    int64_t up, past;  // arcs that may be tight
  };

  Climbs(const HierarchyProblem<Number>& problem, const SourceBatches& sources)
      : hierarchy_(problem.hierarchy), place_(problem.cells.place), problem_(problem), sources_(sources) {}

  const Special& operator[](int i) const { return specials_[i]; }
  // Rows of a special vertex: the climbs from the lanes of its registers and their number; once the sweep has passed,
  // the distance and what it passes back per path.
  Distance* climb(const Special& s) { return reinterpret_cast<Distance*>(&rows_[s.at]); }
  Count* climbs(const Special& s) { return &rows_[s.at + (s.high - s.low)]; }
  Distance* distance(const Special& s) { return reinterpret_cast<Distance*>(&rows_[s.at + 2 * (s.high - s.low)]); }
  Count* passed(const Special& s) { return &rows_[s.at + 3 * (s.high - s.low)]; }
  // Instead of both, for a vertex that no source reaches.
  void pass_none(const Special& s) {
    fill(distance(s), s.high - s.low, L::lengths(L::far));
    fill(passed(s), s.high - s.low, Count{});
  }
  // Distances from the references, which are spread over the lanes: lane z of the register is that of the source in the
  // middle of the z-th part. The spread is the way to a reference and back, for the source farthest from it of those
  // that have it as their nearest. An arc whose reduced cost for each reference exceeds its spread is tight for no
  // source.
  Distance reference(int i) const { return reference_[i]; }
  Distance spread() const { return spread_; }

  void begin() {
    place_rows();
    refer();
    ascend();
  }

  // Paths that climb through a vertex, and flows of arcs upwards.
  void finish(double* flow, double* inside) {
    for (int k = 0; k < sources_.num_above; ++k) {
      const Special& s = specials_[k];
      const int registers = s.high - s.low;
      const Distance *const own = climb(s), *const best = distance(s);
      const Count *const number = climbs(s), *const beyond = passed(s);
      Count* const sums = sums_of(s);
      totals_.hold(s.past - s.up);
      fill(totals_.data(), s.past - s.up, Count{});
      in_tiles(registers, [&](auto size, int r) { descend_arcs<size()>(s, r); });
      for (int64_t i = s.up; i < s.past; ++i) flow[up_[i].arc] += L::total(totals_[i - s.up]);
      Count delta{};
      for (int r = 0; r < registers; ++r) {
        Count x = L::chosen(L::equal(own[r], best[r]), number[r] * sums[r]);
        if (s.lane >= 0 && s.lane / L::width == s.low + r) x[s.lane % L::width] = 0;
        delta += x;
        sums[r] = L::chosen(L::equal(own[r], best[r]), sums[r] + beyond[r]);
      }
      inside[place_[s.position]] += L::total(delta);
    }
  }

 private:
  struct UpArc {
    int upper;
    Length length;
    Number number;
    int64_t arc;  // see HierarchyProblem::up_first
  };
  static constexpr int kRows = paths ? 5 : 3;
  // What is passed back by climbs that end at a vertex or go on from there, in lanes whose climbs are shortest paths.
  Count* sums_of(const Special& s) { return &rows_[s.at + 4 * (s.high - s.low)]; }

  // Visits registers several at a time, so that what belongs to the lower ends of arcs stays in registers of the
  // processor: visit(constant of the number of registers, the first one).
  template <class Visit>
  static void in_tiles(int registers, const Visit& visit) {
    constexpr int kTile = 4;
    int r = 0;
    for (; r + kTile <= registers; r += kTile) visit(std::integral_constant<int, kTile>(), r);
    for (; r < registers; ++r) visit(std::integral_constant<int, 1>(), r);
  }

  // What comes back over arcs up, and flows of these arcs.
  template <int size>
  void descend_arcs(const Special& s, int r) {
    Distance own[size];
    Count number[size], sum[size];
    for (int k = 0; k < size; ++k) {
      own[k] = climb(s)[r + k];
      number[k] = climbs(s)[r + k];
      sum[k] = Count{};
    }
    for (int64_t i = s.up; i < s.past; ++i) {
      const UpArc& arc = up_[i];
      const Special& t = specials_[arc.upper];
      const int at = r + s.low - t.low;
      const Distance* const climbed = climb(t) + at;
      const Count* const passing = sums_of(t) + at;
      const Count each = L::counts(arc.number);
      Count total = totals_[i - s.up];
      for (int k = 0; k < size; ++k) {
        const Count x = L::product(L::equal(own[k] + arc.length, climbed[k]), passing[k], each);
        sum[k] += x;
        total += number[k] * x;
      }
      totals_[i - s.up] = total;
    }
    for (int k = 0; k < size; ++k) sums_of(s)[r + k] = sum[k];
  }

  // Takes climbs further up. Without counts, false if one of them would not be 1.
  template <int size, bool counts>
  bool climb_arcs(const Special& s, int r) {
    Distance own[size];
    Count number[size];
    for (int k = 0; k < size; ++k) {
      own[k] = climb(s)[r + k];
      if constexpr (counts) number[k] = climbs(s)[r + k];
    }
    typename L::Mask tied = L::at_most(Distance{} + 1, Distance{});
    for (int64_t i = s.up; i < s.past; ++i) {
      const UpArc& arc = up_[i];
      const Special& t = specials_[arc.upper];
      const int at = r + s.low - t.low;
      Distance* const climbed = climb(t) + at;
      for (int k = 0; k < size; ++k) {
        const Distance over = own[k] + arc.length;
        if constexpr (counts) {
          Count& sum = climbs(t)[at + k];
          const Count more = number[k] * L::counts(arc.number);
          const auto shorter = L::at_most(over, climbed[k] - 1);
          sum = L::choose(L::equal(over, climbed[k]), sum + more, L::choose(shorter, more, sum));
        } else if constexpr (paths) {
          tied = tied | L::equal(over, climbed[k]);
        }
        climbed[k] = L::smaller(over, climbed[k]);
      }
      if (paths && !counts && arc.number != 1) return false;
    }
    return L::bits(tied) == 0;
  }

  void place_rows() {
    const LaneRange<Number> lanes(sources_);
    specials_.hold(sources_.num_above);
    int64_t at = 0;
    for (int k = 0; k < sources_.num_above; ++k) {
      const Above& above = sources_.above[k];
      Special& s = specials_[k];
      s = {above.position, above.lane, lanes.low(above.low), lanes.high(above.high), at, 0, 0};
      at += kRows * (s.high - s.low);
    }
    rows_.hold(at);
  }

  // Visits the special upper ends of arcs up or down, by number, and which arcs these are, in the order of Cells.
  template <class Visit>
  void each_arc(bool up, int k, Visit visit) const {
    const int32_t p = specials_[k].position;
    const int64_t* const first = up ? hierarchy_.up : hierarchy_.down;
    int64_t j = (up ? problem_.up_first : problem_.cells.first)[place_[p]];
    for (int64_t i = first[p]; i < first[p + 1]; ++i, ++j) visit(sources_.number[hierarchy_.to[i]], j);
  }

  Distance& at_source(DistanceRoom<Number>& distance, int lane) const {
    const LaneRange<Number> lanes(sources_);
    return distance[sources_.number[sources_.position[lanes.source(lane)]]];
  }

  // Of special vertices, from the references or to them.
  int64_t find_distances(DistanceRoom<Number>& distance, bool from) const {
    const LaneRange<Number> lanes(sources_);
    const int size = sources_.num_above;
    const SweepArc<Number>*const out = from ? problem_.up_arcs : problem_.arcs, *const in = from ? problem_.arcs
                                                                                                 : problem_.up_arcs;
    const Distance far = L::lengths(L::far);
    distance.hold(size);
    for (int k = 0; k < size; ++k) distance[k] = far;
    for (int z = 0; z < L::width; ++z) at_source(distance, z * lanes.registers + lanes.registers / 2)[z] = 0;
    int64_t arcs = 0;
    for (int k = size - 1; k >= 0; --k)
      each_arc(from, k, [&](int upper, int64_t j) {
        distance[upper] = L::smaller(distance[upper], distance[k] + out[j].length);
        ++arcs;
      });
    for (int k = 0; k < size; ++k)
      each_arc(!from, k,
               [&](int upper, int64_t j) { distance[k] = L::smaller(distance[k], distance[upper] + in[j].length); });
    return arcs;
  }

  void refer() {
    const LaneRange<Number> lanes(sources_);
    const int size = sources_.num_above;
    const int64_t most = find_distances(reference_, true);
    if (hierarchy_.directed()) find_distances(to_reference_, false);
    spread_ = Distance{};
    for (int i = 0; i < lanes.count; ++i) {
      const Distance d = at_source(reference_, i);
      const Distance both = d + (hierarchy_.directed() ? at_source(to_reference_, i) : d);
      int nearest = 0;
      for (int z = 1; z < L::width; ++z)
        if (both[z] < both[nearest]) nearest = z;
      if (both[nearest] > spread_[nearest]) spread_[nearest] = both[nearest];
    }
    up_.hold(most);
    int64_t kept = 0;
    for (int k = 0; k < size; ++k) {
      specials_[k].up = kept;
      each_arc(true, k, [&](int upper, int64_t j) {
        const auto& arc = problem_.up_arcs[j];
        if (L::bits(L::at_most(reference_[k] + arc.length - reference_[upper], spread_)) != 0)
          up_[kept++] = {upper, arc.length, arc.paths, j};
      });
      specials_[k].past = kept;
    }
  }

  // As long as no two climbs of a source to a vertex tie, they are not counted.
  void ascend() {
    if (single_) {
      single_ = ascend_over<false>();
      if constexpr (!paths) return;
      for (int k = 0; single_ && k < sources_.num_above; ++k) {
        const Special& s = specials_[k];
        fill(climbs(s), s.high - s.low, L::counts(1));
      }
    }
    if (!single_) ascend_over<paths>();
  }

  template <bool counts>
  bool ascend_over() {
    const LaneRange<Number> lanes(sources_);
    for (int k = 0; k < sources_.num_above; ++k) {
      const Special& s = specials_[k];
      fill(climb(s), s.high - s.low, L::lengths(L::far));
      if constexpr (counts) fill(climbs(s), s.high - s.low, Count{});
    }
    for (int i = 0; i < lanes.registers * L::width; ++i) {
      const Special& s = specials_[sources_.number[sources_.position[lanes.source(i)]]];
      climb(s)[i / L::width - s.low][i % L::width] = 0;
      if constexpr (counts) climbs(s)[i / L::width - s.low][i % L::width] = 1;
    }
    bool single = true;
    for (int k = sources_.num_above - 1; k >= 0; --k) {
      const Special& s = specials_[k];
      in_tiles(s.high - s.low, [&](auto size, int r) { single &= climb_arcs<size(), counts>(s, r); });
      if (paths && !counts && !single) return false;
    }
    return true;
  }

  const Hierarchy& hierarchy_;
  const int32_t* place_;  // of Cells
  const HierarchyProblem<Number>& problem_;
  const SourceBatches& sources_;
  bool single_ = true;  // whether all climbs of all batches have been the only shortest ones
  Room<Special> specials_;
  Room<UpArc> up_;
  CountRoom<Number> rows_, totals_;
  DistanceRoom<Number> reference_, to_reference_;
  Distance spread_;
};

}  // namespace torchcent::TORCHCENT_ISA
