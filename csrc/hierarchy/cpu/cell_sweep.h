// The sweep of a batch of sources over a hierarchy, cell by cell: down with distances and path counts, and back up with
// what each vertex passes to those above it (docs/hierarchy.md).
//
// Sources of a batch are neighbours, and agree nearly everywhere. A vertex is free if the tight arcs to it come, for
// all lanes, from images of one row: it is another image of that row, needs none itself, and what flows through it is a
// number. Only contested vertices, at which lanes disagree or paths of different rows tie, have rows. At the door of a
// cell, lanes that agree inside become one (lane_classes.h); in a cell that depends on one row, only numbers are left.
#pragma once

#include "hierarchy/cpu/cell_frame.h"
#include "hierarchy/cpu/climbs.h"

namespace torchcent::TORCHCENT_ISA {

template <class Number, Added added>
class CellSweep {
 public:
  static constexpr bool paths = added != Added::distances, each_path = added == Added::paths;
  using L = Lanes<Number>;
  using Distance = typename L::Distance;
  using Count = typename L::Count;
  using Length = typename L::Length;
  using Arc = SweepArc<Number>;
  using Frame = CellFrame<Number, paths>;
  using Link = typename Frame::Link;
  using Image = typename Frame::Image;

  CellSweep(const HierarchyProblem<Number>& problem, const SourceBatches& sources,
            Climbs<Number, added != Added::distances>& climbs)
      : problem_(problem),
        cell_(problem.cells.cells),
        vertex_(problem.cells.vertex),
        first_(problem.cells.first),
        bound_(problem.cells.bound),
        child_(problem.cells.child),
        sources_(sources),
        climbs_(climbs),
        frames_(new Frame[problem.cells.deepest + 1]) {
    int64_t degree = 1;
    for (int64_t q = 0; q < problem.hierarchy.size; ++q) degree = std::max(degree, first_[q + 1] - first_[q]);
    near_.hold(degree + 1);
    tight_.hold(degree + 1);
    const int64_t keys = 2 * (problem.cells.most_ends + 2);
    keys_.hold(keys);
    if (problem.reciprocals) chebyshev_ = std::make_unique<Chebyshev>();
    uint64_t state = 1;
    for (int64_t i = 0; i < keys; ++i) keys_[i] = random(state);
  }

  // After Climbs::begin. Adds to the flow of arcs and to what passes inside of own vertices; false: counts overflow.
  bool run(double* flow, double* inside) {
    const LaneRange<Number> lanes(sources_);
    flow_ = flow;
    inside_ = inside;
    most_ = Count{};
    most_paths_ = 0;
    total_ = 0;
    Frame& frame = frames_[0];
    frame.registers = lanes.registers;
    frame.block = frame.bounds = 0;
    frame.spread = climbs_.spread();
    frame.of_batch = true;
    weight_.hold(lanes.registers * L::width);
    for (int i = 0; i < lanes.registers * L::width; ++i) {
      weight_[i] = i < lanes.count ? static_cast<Number>(sources_.weight[i]) : Number{0};
      if constexpr (!each_path) total_ += i < lanes.count ? sources_.weight[i] : 0;
    }
    const Cell& cell = cell_[problem_.cells.outermost[sources_.position[0]]];
    frame.hold(cell.own_end - cell.own, cell.own_end - cell.own);
    if (problem_.reciprocals) frame.points.begin(lanes.count, lanes.registers * L::width);
    walk(cell, 0, true, weight_.data());
    bool fits = most_paths_ <= L::most;
    for (int i = 0; i < L::width; ++i) fits &= most_[i] <= L::most;
    return fits;
  }
  // By lane, without paths.
  const double* sums() const { return frames_[0].sums.data(); }
  const double* farthest() const { return frames_[0].far.data(); }
  const double* reciprocals() const { return frames_[0].points.value(0); }
  // By all lanes, the sources included.
  double reached() const { return frames_[0].reached; }

 private:
  static uint64_t random(uint64_t& state) {  // splitmix64
    uint64_t x = state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }

  // --- which arcs may be tight

  // Those within the spread of the best one for some reference, to near_; their number, which is 0 if there is no path.
  template <int count>
  int nearest(const Distance* reference, const Arc* arc, Distance spread, Distance& best) {
    Distance over[count];
    for (int j = 0; j < count; ++j) over[j] = reference[arc[j].end] + arc[j].length;
    best = over[0];
    for (int j = 1; j < count; ++j) best = L::smaller(best, over[j]);
    const Distance limit = within(best, spread);
    int found = 0;
    for (int j = 0; j < count; ++j) {
      near_[found] = j;
      found += L::bits(L::at_most(over[j], limit)) != 0;
    }
    return found;
  }
  static Distance within(Distance best, Distance spread) { return L::smaller(best + spread, L::lengths(L::far - 1)); }
  int nearest(const Distance* reference, const Arc* arc, int64_t count, Distance spread, Distance& best) {
    switch (count) {
      case 0: return 0;
      case 1: return nearest<1>(reference, arc, spread, best);
      case 2: return nearest<2>(reference, arc, spread, best);
      case 3: return nearest<3>(reference, arc, spread, best);
      case 4: return nearest<4>(reference, arc, spread, best);
      default: break;
    }
    best = reference[arc[0].end] + arc[0].length;
    for (int64_t j = 1; j < count; ++j) best = L::smaller(best, reference[arc[j].end] + arc[j].length);
    const Distance limit = within(best, spread);
    int found = 0;
    for (int64_t j = 0; j < count; ++j) {
      near_[found] = static_cast<int32_t>(j);
      found += L::bits(L::at_most(reference[arc[j].end] + arc[j].length, limit)) != 0;
    }
    return found;
  }

  // The tight arcs as links, to `links`; of those to images of one row only the shortest count.
  int link(const Frame& frame, const Arc* arc, int64_t first, int near, Link* links) const {
    int found = 0;
    for (int z = 0; z < near; ++z) {
      const Arc& a = arc[near_[z]];
      const Image& upper = frame.image[a.end];
      const Link link = {
          upper.row, static_cast<Length>(upper.add + a.length), upper.paths * a.paths, first + near_[z], a.end, 1};
      bool shortest = true;
      int kept = 0;
      for (int j = 0; j < found; ++j) {
        const bool same = links[j].row == link.row;
        shortest &= !(same && links[j].length < link.length);
        if (!(same && links[j].length > link.length)) links[kept++] = links[j];
      }
      found = kept;
      if (shortest) links[found++] = link;
    }
    return found;
  }
  static bool of_one_row(const Link* links, int count) {
    for (int j = 1; j < count; ++j)
      if (links[j].row != links[0].row) return false;
    return true;
  }
  int keep_tight(Link* links, int count) const {
    int kept = 0;
    for (int j = 0; j < count; ++j)
      if (tight_[j]) links[kept++] = links[j];
    return kept;
  }

  // Of an image: what is added up for paths from all sources to it, if it is a target, times its weight. `times` is the
  // path count of the image by that of its row.
  double to_image(const Frame& frame, int32_t row, Number times) const {
    return each_path ? frame.total[row] * static_cast<double>(times) : total_;
  }
  static double as_target(double target, Number times) {
    return each_path ? target * static_cast<double>(times) : target;
  }
  // What a target passes back per path.
  static Count per_path(Count target, Count number) {
    if constexpr (each_path) return target;
    else return target / number;
  }

  // Whether each link has one path, and so has each lane over it. That is so for most rows of graphs with hardly any
  // ties.
  static bool single(const Frame& frame, const Link* links, int count) {
    if constexpr (!paths) return false;
    for (int j = 0; j < count; ++j)
      if (links[j].paths != 1 || !frame.ones[links[j].row]) return false;
    return true;
  }

  // Path counts of a row over its links, and zeros for what it passes back. ones: whether no lane has more than one
  // path, besides those of climbs.
  void count_paths(const Frame& frame, const Link* links, int count, int32_t row, bool ones, const Distance* start,
                   const Count* climbs) {
    const int registers = frame.registers;
    const Distance* const distance = frame.distance(row);
    fill(frame.passed(row), registers, Count{});
    for (int r = 0; start != nullptr && ones && r < registers; ++r)
      ones = (L::bits(L::equal(distance[r], start[r])) & ~L::bits(L::ones(climbs[r]))) == 0;
    frame.ones[row] = ones;
    if (ones) return;
    Count* const number = frame.count(row);
    for (int r = 0; r < registers; ++r)
      number[r] = start == nullptr ? Count{} : L::chosen(L::equal(distance[r], start[r]), climbs[r]);
    for (int j = 0; j < count; ++j) {
      const Distance* const from = frame.distance(links[j].row);
      const Count each = L::counts(links[j].paths);
      const Distance length = L::lengths(links[j].length);
      frame.with_counts(links[j].row, [&](auto of_row) {
        for (int r = 0; r < registers; ++r)
          number[r] = L::add_product(L::equal(from[r] + length, distance[r]), of_row(r), each, number[r]);
      });
    }
    for (int r = 0; r < registers; ++r) most_ = L::larger(number[r], most_);
  }
  void add_total(const Frame& frame, int32_t row) const {
    Count all{};
    frame.with_counts(row, [&](auto number) {
      for (int r = 0; r < frame.registers; ++r) all += frame.weight[r] * number(r);
    });
    frame.total[row] = L::total(all);
  }

  // --- one cell

  void walk(const Cell& cell, int level, bool with_sources, const Number* weight) {
    Frame& frame = frames_[level];
    const int64_t bounds = cell.bound_end - cell.bound, own = cell.own_end - cell.own;
    frame.rows = frame.bounds;
    frame.constant = frame.reached = 0;
    fill(frame.inflow.data(), bounds + own, 0.0);
    fill(frame.target.data(), frame.bounds, 0.0);
    frame.weight = reinterpret_cast<const Count*>(weight);
    if constexpr (!paths) {
      fill(frame.farthest.data(), frame.bounds, Length{-1});
      frame.images.begin();
    }
    frame.links.hold(first_[cell.own_end] - first_[cell.own] + 1);
    descend(cell, frame, with_sources);
    if constexpr (!paths) {
      frame.sums.hold(frame.registers * L::width), frame.far.hold(frame.registers * L::width);
      fill(frame.sums.data(), frame.registers * L::width, 0.0);
      fill(frame.far.data(), frame.registers * L::width, 0.0);
    }
    for (int32_t c = cell.child; c < cell.child_end && !stopped(); ++c)
      enter(cell_[child_[c]], level, with_sources, weight);
    if constexpr (paths) ascend(cell, frame);
    else add_up(frame);
  }

  // The way down. Nearly all vertices have one arc that may be tight, so this case is the loop itself.
  void descend(const Cell& cell, Frame& frame, bool with_sources) {
    const int64_t bounds = cell.bound_end - cell.bound, own = cell.own_end - cell.own, inner = cell.leaf - cell.own;
    const Distance spread = frame.spread;
    Distance* const reference = frame.reference.data();
    Image* const image = frame.image.data();
    double *const inflow = frame.inflow.data(), *const of_row = frame.target.data(), *const flow = flow_;
    const double* const target = problem_.target + cell.own;
    const int64_t* const first = first_ + cell.own;
    const double total = total_;
    Number most = most_paths_;
    int64_t links = 0;
    const Arc* arc = problem_.arcs + first[0];
    for (int64_t i = 0; i < own; ++i) {
      const int64_t count = first[i + 1] - first[i];
      frame.link[i] = links;
      frame.special[i] = with_sources ? sources_.number[vertex_[cell.own + i]] : Frame::kNone;
      if (frame.special[i] >= 0) {
        links += descend_to_special(frame, cell.own + i, i, bounds + i, arc, count, links);
        arc += count;
        continue;
      }
      Distance best{};
      const int near = nearest(reference, arc, count, spread, best);
      if (i < inner) reference[bounds + i] = best;
      if (near != 1) {
        links += choose(frame, cell.own + i, i, bounds + i, i >= inner, near, arc, links);
        arc += count;
        continue;
      }
      const int32_t j = near_[0];
      const Arc& only = arc[j];
      const Image& upper = image[only.end];
      const Length add = static_cast<Length>(upper.add + only.length);
      frame.own_row[i] = Frame::kNone;
      arc += count;
      if constexpr (!paths) {
        reach_image(frame, upper.row, add, target[i]);
        image[bounds + i] = {add, upper.row, 1};
      } else {
        if constexpr (!each_path) of_row[upper.row] += target[i];
        else of_row[upper.row] += target[i] * static_cast<double>(upper.paths * only.paths);
        if (i >= inner) {
          const double all = each_path ? to_image(frame, upper.row, upper.paths * only.paths) : total;
          const double out = all * target[i];
          flow[first[i] + j] += out;
          inflow[only.end] += out;
        } else {
          const Number number = upper.paths * only.paths;
          most = number <= most ? most : number;
          image[bounds + i] = {add, upper.row, number};
          frame.links[links++] = {0, 0, 0, first[i] + j, only.end, 1};
        }
      }
    }
    frame.link[own] = links;
    note(most);
  }

  // An upper end of arcs that no source reaches.
  static void miss(const Frame& frame, int64_t number) {
    frame.image[number] = {L::far, Frame::kNone, 0};
    frame.reference[number] = L::lengths(L::far);
  }
  void set_image(Frame& frame, int64_t number, const Image& image) {
    frame.image[number] = image;
    note(image.paths);
  }
  void note(Number count) {
    if (!(count <= most_paths_)) most_paths_ = count;
  }
  // A target that is an image of a row.
  void reach_image(Frame& frame, int32_t row, Length add, double target) {
    frame.target[row] += target;
    if constexpr (!paths) {
      frame.reached += target;
      frame.constant += target * static_cast<double>(add);
      if (problem_.reciprocals) add_image(frame, row, add, target);
      if (target > 0 && add > frame.farthest[row]) frame.farthest[row] = add;
    }
  }

  void reach_row(Frame& frame, int32_t row, double target, bool source) {
    frame.reached += target;
    frame.farthest[row] = target > 0 ? 0 : -1;
    if (!problem_.reciprocals) return;
    if (source) frame.images.add_source(frame.distance(row), target);
    else frame.images.add(row, 0, target);
  }
  void add_image(Frame& frame, int32_t row, Length add, double target) {
    if (frame.registers > 0) frame.images.add(row, add, target);
    else images_around_->add(row_around_, add, target);
  }

  // --- vertices that may need a row (cell_rows.h)

  [[gnu::noinline]] int choose(Frame& frame, int64_t q, int64_t i, int64_t number, bool leaf, int near, const Arc* arc,
                               int64_t links);
  [[gnu::noinline]] int descend_to_special(Frame& frame, int64_t q, int64_t i, int64_t number, const Arc* arc,
                                           int64_t count, int64_t links);

  // --- the way back (cell_ascent.h)

  void ascend(const Cell& cell, Frame& frame);
  void ascend_from_special(int64_t q, Frame& frame, const typename Climbs<Number, paths>::Special& special,
                           int32_t row);
  void add_up(Frame& frame);
  template <int size>
  void add_up(Frame& frame, int r);

  // --- the door of a cell (cell_door.h)

  void enter(const Cell& cell, int level, bool with_sources, const Number* weight);
  void merge_lanes(const Frame& around, Frame& frame, int low, int high, const Number* weight);
  void copy_rows(const Frame& around, Frame& frame) const;
  void refer(const Frame& around, Frame& frame, const int32_t* bound, int64_t bounds, bool with_sources);
  Distance spread_of(const Frame& frame) const;
  void pass_out(const Frame& around, Frame& frame) const;
  void add_out(Frame& around, const Frame& frame) const;

  // --- a cell that depends on one row (cell_numbers.h)

  // Sums path counts of the tight arcs, and visits each with its share.
  template <class Visit>
  static Number divide(const Image* image, const Arc* arc, int64_t count, Length best, Visit visit);
  void walk_numbers(const Cell& cell, int level);

  bool stopped() const { return cancelled(problem_.cancel); }

  const HierarchyProblem<Number>& problem_;
  const Cell* cell_;
  const int32_t* vertex_;
  const int64_t* first_;
  const int32_t *bound_, *child_;
  const SourceBatches& sources_;
  Climbs<Number, paths>& climbs_;
  std::unique_ptr<Frame[]> frames_;
  std::unique_ptr<Chebyshev> chebyshev_;  // reciprocals only
  Room<int32_t> near_;
  Room<bool> tight_;
  Room<uint64_t> keys_;
  Room<Number> weight_;
  DistanceRoom<Number> start_, row_reference_;
  CountRoom<Number> climbs_of_;
  double *flow_ = nullptr, *inside_ = nullptr;
  double total_ = 0;
  // In cells that depend on one row, of the cell around that has it.
  CellImages<Number>* images_around_ = nullptr;
  int32_t row_around_ = 0;
  Count most_;
  Number most_paths_ = 0;
};

}  // namespace torchcent::TORCHCENT_ISA
