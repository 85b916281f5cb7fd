// Random shortest paths between two vertices, by climbs in a hierarchy: every path with the same probability.
//
// Climbs from both ends visit ancestors in the elimination tree, from the deepest up, without a queue. Where both reach
// an ancestor by a shortest path, one half of the path may meet the other; such an ancestor is drawn in proportion to
// the number of paths through it, and the arcs down to either end in proportion to those that go on over them. Arcs are
// then unpacked: each stands for an edge or for two arcs from a lower vertex, which are drawn in the same manner. Arcs
// of one part need no random number, and on roads nearly all are of one.
//
// Most arcs of a climb are those between the highest vertices. For these, the lengths of the shortest climbs to all of
// their ancestors are kept as rows. Climbs then end at the first of them, the rows give the length of the path and
// where its halves meet, and only arcs that lead there by a shortest climb are followed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "hierarchy/cpu/climb_side.h"
#include "hierarchy/cpu/multiplicity.h"
#include "samples/draws.h"

namespace torchcent {

template <class Length>
class PointToPoint {
 public:
  using Index = ClimbIndex<Length>;

  PointToPoint(const Index& index, uint64_t seed) : index_(index), seed_(seed) {
    from_source_.climb_over(index.up, index.down, index.up_rows);
    from_target_.climb_over(index.down, index.up, index.down_rows);
    for (Side* side : {&from_source_, &from_target_}) {
      side->distance.resize(index.height);
      side->climbed.resize(index.height);
      side->row.reserve(index.height);
    }
  }

  // Draws a shortest path between the two, if there is one: sink.found() is called, and sink.vertex(v, purpose) for
  // each inner vertex, from the middle of the path to either end.
  template <class Sink>
  void run(uint64_t sample, Pair pair, Sink& sink) {
    sample_ = sample;
    pair_ = pair;
    for (const auto& [side, end] : {std::pair{&from_source_, pair.source}, std::pair{&from_target_, pair.target}}) {
      side->trail.assign(1, end);
      while (index_.parent[side->trail.back()] >= 0) side->trail.push_back(index_.parent[side->trail.back()]);
    }
    std::vector<int32_t>&back = from_source_.trail, &on = from_target_.trail;
    if (back.back() == on.back()) {
      while (back.size() > 1 && on.size() > 1 && back[back.size() - 2] == on[on.size() - 2]) {
        back.pop_back();
        on.pop_back();
      }
      on.pop_back();  // where they meet
      sink.found();
    } else {
      const int32_t s = index_.position[back.back()], t = index_.position[on.back()];
      if (s < 0 || t < 0) return;
      climb(s, t);
      if (meets_.empty()) return;
      sink.found();
      const int32_t meet = drawn_meet();
      const int32_t middle = from_source_.climbed[meet].position;
      if (middle != s && middle != t) visit(index_.vertex[middle], Purpose::walk_back, sink);
      walk(from_source_, meet, s, Purpose::walk_back, sink);
      walk(from_target_, meet, t, Purpose::walk_on, sink);
    }
    for (size_t i = back.size(); i-- > 0;) visit(back[i], Purpose::walk_back, sink);
    for (size_t i = on.size(); i-- > 0;) visit(on[i], Purpose::walk_on, sink);
  }

  // Fetches what is read first of a pair that comes next.
  void expect(Pair pair) const {
    for (const int32_t v : {pair.source, pair.target}) {
      const int32_t p = index_.position[v];
      if (p < 0) continue;
      __builtin_prefetch(index_.depth + p);
      __builtin_prefetch(index_.top + p);
      __builtin_prefetch(index_.branch + p);
      __builtin_prefetch(index_.last + p);
      __builtin_prefetch(index_.up + p);
    }
  }

  int64_t arcs() const { return scanned_; }  // so far

 private:
  using Side = ClimbSide<Length>;
  using Step = typename Side::Step;
  using Climbed = typename Side::Climbed;
  static constexpr int64_t kFar = Side::kFar;

  void climb(int32_t s, int32_t t) {
    const int32_t low = index_.depth[s], high = index_.depth[t];
    from_source_.start(s, low, index_.top[s]);
    from_target_.start(t, high, index_.top[t]);
    meets_.clear();
    int64_t shortest = kFar;
    for (int32_t k = std::max(low, high), last = std::min(from_source_.top, from_target_.top); k >= last; --k) {
      const int64_t a = k <= low ? from_source_.distance[k] : kFar, b = k <= high ? from_target_.distance[k] : kFar;
      if (a < kFar && b < kFar && from_source_.climbed[k].position == from_target_.climbed[k].position) {
        if (a + b < shortest) {
          shortest = a + b;
          meets_.clear();
        }
        if (a + b == shortest) meets_.push_back(k);
      }
      if (a < shortest && k >= from_source_.top) relax(from_source_, k);
      if (b < shortest && k >= from_target_.top) relax(from_target_, k);
    }
    const int32_t common = std::min({common_ancestors(s, t), from_source_.top, from_target_.top});
    if (common == 0) return;
    for (Side* side : {&from_source_, &from_target_}) side->find_row(index_, common);
    const Length *const there = from_source_.row.data(), *const back = from_target_.row.data();
    Length nearest = Index::kNone;
    for (int32_t k = 0; k < common; ++k) nearest = std::min(nearest, there[k] + back[k]);
    if (nearest > Index::kLongest || nearest > shortest) return;
    if (nearest < shortest) meets_.clear();
    high_meets_.clear();
    for (int32_t k = 0; k < common; ++k)
      if (there[k] + back[k] == nearest) high_meets_.push_back(k);
    meets_.insert(meets_.end(), high_meets_.begin(), high_meets_.end());
    for (Side* side : {&from_source_, &from_target_}) {
      side->complete_row(index_, common, high_meets_);
      std::vector<int32_t>& reached = side->reached;  // the deepest first, and as many more as are found on the way
      while (!reached.empty() && reached.front() > high_meets_.front()) {
        const int32_t k = reached.front();
        std::pop_heap(reached.begin(), reached.end());
        reached.pop_back();
        if (side->distance[k] == side->row[k] && leads_to_meet(*side, side->climbed[k].position, k)) follow(*side, k);
      }
    }
  }

  // How many ancestors two positions share, themselves included.
  int32_t common_ancestors(int32_t s, int32_t t) const {
    if (s > t) std::swap(s, t);
    if (t < index_.last[s]) return index_.depth[s] + 1;
    while (s >= 0 && t >= index_.last[s]) s = index_.branch[s];
    return s < 0 ? 0 : index_.depth[s] + 1;
  }

  // Whether a shortest climb goes on from an ancestor to where the halves meet.
  bool leads_to_meet(const Side& side, int32_t position, int32_t k) const {
    const Length* const row = side.rows + index_.row[position];
    for (const int32_t meet : high_meets_)
      if (meet == k || (meet < k && side.row[k] + row[meet] == side.row[meet])) return true;
    return false;
  }

  // Relaxes the arcs of shortest climbs to where the halves meet.
  void follow(Side& side, int32_t k) {
    const int64_t begin = side.first[side.climbed[k].position], end = side.first[side.climbed[k].position + 1];
    const int32_t highest = high_meets_.front();  // arcs to ancestors above it come last
    scanned_ += end - begin;
    tight_.clear();
    for (int64_t i = begin; i < end; ++i) {
      const ClimbArc& arc = index_.arcs[i];
      if (arc.depth < highest) break;
      if (side.row[k] + arc.length != side.row[arc.depth]) continue;
      tight_.push_back(i);
      __builtin_prefetch(index_.row + arc.position);
    }
    for (const int64_t i : tight_) __builtin_prefetch(side.rows + index_.row[index_.arcs[i].position] + highest);
    for (const int64_t i : tight_)
      if (leads_to_meet(side, index_.arcs[i].position, index_.arcs[i].depth)) reach(side, k, i);
  }

  void relax(Side& side, int32_t k) {
    const int64_t begin = side.first[side.climbed[k].position], end = side.first[side.climbed[k].position + 1];
    const int64_t distance = side.distance[k];
    scanned_ += end - begin;
    // A detour by a vertex above may be shorter; then no shortest path climbs to here.
    const int64_t* const back = side.against + side.climbed[k].position;
    for (int64_t i = back[0]; i < back[1]; ++i)
      if (side.distance[index_.arcs[i].depth] + index_.arcs[i].length < distance) return;
    for (int64_t i = begin; i < end; ++i)
      if (distance + index_.arcs[i].length <= side.distance[index_.arcs[i].depth]) reach(side, k, i);
  }

  // Goes on from an ancestor over an arc, which is not longer than the climbs to its end that are known.
  void reach(Side& side, int32_t k, int64_t i) {
    const ClimbArc& arc = index_.arcs[i];
    const int64_t over = side.distance[k] + arc.length;
    Climbed& to = side.climbed[arc.depth];
    const Multiplicity more = side.climbed[k].number * index_.multiplicity(i);
    const auto step = static_cast<int32_t>(side.steps.size());
    if (over < side.distance[arc.depth]) {
      if (side.distance[arc.depth] == kFar) side.expect(arc.depth, arc.position, index_);
      side.distance[arc.depth] = over;
      to = {more, arc.position, step};
      side.steps.push_back({static_cast<int32_t>(i), k, -1});
    } else {
      to.number.add(more);
      side.steps.push_back({static_cast<int32_t>(i), k, to.step});
      to.step = step;
    }
  }

  // The number of one of the weights, drawn in proportion to them.
  size_t chosen(Purpose purpose, uint32_t number) const {
    int32_t powers = weights_[0].powers;
    for (const Multiplicity& weight : weights_) powers = std::max(powers, weight.powers);
    const auto value = [&](const Multiplicity& weight) {
      return weight.powers == powers ? weight.paths : weight.powers + 1 == powers ? weight.paths * 0x1p-512 : 0;
    };
    double sum = 0;
    for (const Multiplicity& weight : weights_) sum += value(weight);
    double left = uniform(random_bits(seed_, sample_, purpose, number)) * sum;
    size_t last = 0;
    for (size_t i = 0; i < weights_.size(); ++i) {
      const double part = value(weights_[i]);
      if (part == 0) continue;
      last = i;
      if ((left -= part) < 0) break;
    }
    return last;
  }

  int32_t drawn_meet() {
    if (meets_.size() == 1) return meets_[0];
    weights_.clear();
    for (const int32_t k : meets_) weights_.push_back(from_source_.climbed[k].number * from_target_.climbed[k].number);
    return meets_[chosen(Purpose::crossing, 0)];
  }

  // Visits the vertices of a random climb from an end of the path, from the upper end down, but not the upper end.
  template <class Sink>
  void walk(const Side& side, int32_t k, int32_t end, Purpose purpose, Sink& sink) {
    for (uint32_t number = 0; side.climbed[k].step >= 0; ++number) {
      const Step* step = &side.steps[side.climbed[k].step];
      if (step->other >= 0) {
        weights_.clear();
        taken_.clear();
        for (const Step* each = step;; each = &side.steps[each->other]) {
          weights_.push_back(side.climbed[each->from].number * index_.multiplicity(each->arc));
          taken_.push_back(each);
          if (each->other < 0) break;
        }
        step = taken_[chosen(purpose, number)];
      }
      unpack(step->arc, purpose, sink);
      k = step->from;
      if (side.climbed[k].position != end) visit(index_.vertex[side.climbed[k].position], purpose, sink);
    }
  }

  // Visits the inner vertices of an arc, from its upper end down where the order matters.
  template <class Sink>
  void unpack(int32_t arc, Purpose purpose, Sink& sink) {
    waiting_.assign(1, {arc, kDown});
    if constexpr (!Sink::ordered) {
      // First come, first served, so that what is fetched has time to arrive.
      for (size_t i = 0; i < waiting_.size(); ++i) {
        const int32_t next = waiting_[i].arc;
        if (sink.counts_arcs() && index_.paths[next] == 1 && index_.powers[next] == 0) {
          sink.arc(next);
          continue;
        }
        const ArcParts parts = drawn_parts(next);
        if (parts.below < 0) continue;
        for (const int32_t each : {parts.lower, parts.upper}) {
          if (each < 0) continue;
          __builtin_prefetch(index_.parts + each);
          waiting_.push_back({each, kDown});
        }
        visit(index_.vertex[parts.below], purpose, sink);
      }
      return;
    }
    while (!waiting_.empty()) {
      const Waiting next = waiting_.back();
      waiting_.pop_back();
      if (next.way == kVertex) {
        visit(index_.vertex[next.arc], purpose, sink);
        continue;
      }
      const ArcParts parts = drawn_parts(next.arc);
      if (parts.below < 0) continue;
      const int32_t before = next.way == kDown ? parts.upper : parts.lower;
      const int32_t after = next.way == kDown ? parts.lower : parts.upper;
      if (after >= 0) {
        __builtin_prefetch(index_.parts + after);
        waiting_.push_back({after, kUp});
      }
      waiting_.push_back({parts.below, kVertex});
      if (before >= 0) waiting_.push_back({before, kDown});
    }
  }

  // Of one choice, or of an edge; random numbers depend on the arc, not on the order in which arcs are unpacked.
  ArcParts drawn_parts(int32_t arc) {
    const ArcParts& parts = index_.parts[arc];
    if (parts.choices == 1) return parts;
    if (parts.choices == 0) return {-1, -1, -1, 0};
    weights_.clear();
    for (const ArcParts* each = index_.choice + parts.lower; each < index_.choice + parts.lower + parts.choices; ++each)
      weights_.push_back(index_.multiplicity(each->lower) * index_.multiplicity(each->upper));
    return index_.choice[parts.lower + chosen(Purpose::part, static_cast<uint32_t>(arc))];
  }

  template <class Sink>
  void visit(int32_t v, Purpose purpose, Sink& sink) const {
    if (v != pair_.source && v != pair_.target) sink.vertex(v, purpose);
  }

  enum Way : int32_t { kDown, kUp, kVertex };
  struct Waiting {
    int32_t arc;  // or the position of a vertex
    Way way;
  };

  const Index index_;
  const uint64_t seed_;
  uint64_t sample_ = 0;
  Pair pair_ = {};
  Side from_source_, from_target_;
  std::vector<int32_t> meets_, high_meets_;  // the latter among ancestors that have rows
  std::vector<int64_t> tight_;
  std::vector<Multiplicity> weights_;
  std::vector<const Step*> taken_;
  std::vector<Waiting> waiting_;
  int64_t scanned_ = 0;
};

}  // namespace torchcent
