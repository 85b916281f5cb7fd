// The way down to vertices that may need a row: those with several arcs that may be tight, and those above sources.
#pragma once

#include "hierarchy/cpu/cell_sweep.h"

namespace torchcent::TORCHCENT_ISA {

// A vertex with several arcs that may be tight, or none; the number of links that are kept for the way back.
template <class Number, Added added>
int CellSweep<Number, added>::choose(Frame& frame, int64_t q, int64_t i, int64_t number, bool leaf, int near,
                                     const Arc* arc, int64_t links) {
  const double target = problem_.target[q];
  if (near == 0) {
    frame.own_row[i] = Frame::kNone;
    miss(frame, number);
    return 0;
  }
  Link* const own = frame.links.data() + links;
  int found = link(frame, arc, first_[q], near, own);
  if (!of_one_row(own, found)) {
    const bool ties = single(frame, own, found);
    const bool tied = Reach<Number>::over(frame, own, found, frame.distance(frame.rows), nullptr, tight_.data(), ties);
    found = keep_tight(own, found);
    if (!of_one_row(own, found)) {
      const int32_t row = frame.rows++;
      if constexpr (paths) count_paths(frame, own, found, row, ties && !tied, nullptr, nullptr);
      if constexpr (each_path) add_total(frame, row);
      frame.own_row[i] = row;
      frame.target[row] = target;
      frame.image[number] = {0, row, 1};
      if constexpr (!paths) reach_row(frame, row, target, false);
      return paths ? found : 0;
    }
  }
  frame.own_row[i] = Frame::kNone;
  Number sum = own[0].paths;
  for (int j = 1; j < found; ++j) sum += own[j].paths;
  reach_image(frame, own[0].row, own[0].length, as_target(target, sum));
  set_image(frame, number, {own[0].length, own[0].row, sum});
  if constexpr (!paths) return 0;
  for (int j = 0; j < found; ++j) own[j].flow = found == 1 ? 1 : static_cast<double>(own[j].paths / sum);
  if (!leaf) return found;
  for (int j = 0; j < found; ++j) {
    const double out = to_image(frame, own[0].row, sum) * target * own[j].flow;
    flow_[own[j].arc] += out;
    frame.inflow[own[j].end] += out;
  }
  return 0;
}

template <class Number, Added added>
int CellSweep<Number, added>::descend_to_special(Frame& frame, int64_t q, int64_t i, int64_t number, const Arc* arc,
                                                 int64_t count, int64_t links) {
  const int at = frame.special[i];
  const auto& special = climbs_[at];
  Link* const own = frame.links.data() + links;
  if (climbs_.reference(at)[0] >= L::far) {  // not reached, although it is above a source
    if constexpr (paths) climbs_.pass_none(special);
    frame.special[i] = frame.own_row[i] = Frame::kNone;
    miss(frame, number);
    return 0;
  }
  const Distance limit = within(climbs_.reference(at), frame.spread);
  int found = 0;
  for (int64_t j = 0; j < count; ++j) {
    const Image& upper = frame.image[arc[j].end];
    if (L::bits(L::at_most(frame.reference[arc[j].end] + arc[j].length, limit)) != 0)
      own[found++] = {upper.row,
                      static_cast<Length>(upper.add + arc[j].length),
                      upper.paths * arc[j].paths,
                      first_[q] + j,
                      arc[j].end,
                      1};
  }
  const int shift = special.low - frame.block, registers = special.high - special.low;
  Distance* const start = start_.hold(frame.registers);
  Count* const climbs = climbs_of_.hold(frame.registers);
  for (int r = 0; r < frame.registers; ++r) {
    const bool below = r >= shift && r < shift + registers;
    start[r] = below ? climbs_.climb(special)[r - shift] : L::lengths(L::far);
    if constexpr (paths) climbs[r] = below ? climbs_.climbs(special)[r - shift] : Count{};
  }
  const int32_t row = frame.rows++;
  const bool ties = single(frame, own, found);
  const bool tied = Reach<Number>::over(frame, own, found, frame.distance(row), start, tight_.data(), ties);
  found = keep_tight(own, found);
  if constexpr (paths) {
    count_paths(frame, own, found, row, ties && !tied, start, climbs);
    if constexpr (each_path) add_total(frame, row);
    for (int r = 0; r < registers; ++r) climbs_.distance(special)[r] = frame.distance(row)[shift + r];
  } else {
    reach_row(frame, row, problem_.target[q], special.lane >= 0);
  }
  frame.own_row[i] = row;
  frame.reference[number] = climbs_.reference(at);
  frame.image[number] = {0, row, 1};
  frame.target[row] = paths ? 0 : problem_.target[q];
  return paths ? found : 0;
}

}  // namespace torchcent::TORCHCENT_ISA
