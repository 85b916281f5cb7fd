// The random shortest paths of one thread, by weights: bidirectional Dijkstra, a bucket at a time, always on the side
// that has scanned fewer arcs, until the settled vertices cover every shortest path.
//
// Let a and b be lower bounds on the next distances to be settled on either side. The search ends when a + b >= d(s,
// t): then all vertices nearer than a to s are settled, and so are the predecessors of all vertices at most d(s, t) - a
// from t. Each shortest path has exactly one arc that leaves the vertices nearer than a; one of these arcs is drawn
// with probability proportional to the number of paths through it.
//
// Sums from t round differently from sums from s, and would find other ties (docs/weights.md). If sums are not exact,
// only s is searched from, until t is next.
#pragma once

#include <algorithm>
#include <vector>

#include "core/cpu/buffer.h"
#include "weighted/weighted_search.h"
#include "weighted/cpu/bucket_queue.h"
#include "torchcent/csr.h"
#include "samples/draws.h"

namespace torchcent::TORCHCENT_ISA {

template <class T>
struct WeightedCsr {
  Csr arcs;
  const T* weight;
};

template <class T>
struct Length;  // type of a path length; sums of three distances fit
template <>
struct Length<int32_t> {
  using type = int64_t;
  static constexpr type none = int64_t{1} << 40;
};
template <>
struct Length<double> {
  using type = double;
  static constexpr type none = __builtin_inf();
};

template <class T>
class WeightSampler {
 public:
  using Sum = typename Length<T>::type;

  WeightSampler(const WeightedCsr<T>& out, const WeightedCsr<T>& in, T lightest, T heaviest, bool exact, uint64_t seed,
                const int64_t* cancel)
      : num_nodes_(out.arcs.num_nodes),
        seed_(seed),
        cancel_(cancel),
        heaviest_(heaviest),
        exact_(exact),
        from_source_(out, in, lightest, heaviest),
        from_target_(in, out, lightest, heaviest) {}

  // See HopSampler.
  template <class Sink>
  bool run(uint64_t sample, Sink& sink) {
    sample_ = sample;
    const Pair pair = random_pair(seed_, sample, num_nodes_);
    shortest_ = kNone;
    start(from_source_, pair.source);
    start(from_target_, pair.target);
    advance(from_source_, from_target_);
    bool going = true;
    while (from_source_.next + from_target_.next < shortest_) {
      if (__atomic_load_n(cancel_, __ATOMIC_RELAXED) != 0) {
        going = false;
        break;
      }
      const bool forward = !exact_ || from_source_.scanned <= from_target_.scanned;
      if (forward) advance(from_source_, from_target_);
      else advance(from_target_, from_source_);
    }
    if (going && shortest_ < kNone) draw(sink);
    forget(from_source_);
    forget(from_target_);
    return going;
  }

  int64_t arcs() const { return arcs_; }

 private:
  static constexpr Sum kNone = Length<T>::none;

  struct Vertex : PathCount {
    Sum distance;
  };
  using Entry = typename BucketQueue<T>::Entry;
  struct Side {
    Side(const WeightedCsr<T>& out, const WeightedCsr<T>& in, T lightest, T heaviest)
        : onward(out),
          backward(in),
          vertex(out.arcs.num_nodes),
          queue(lightest, heaviest, out.arcs.num_slots() + 1, false) {
      for (int64_t v = 0; v < out.arcs.num_nodes; ++v) vertex[v].distance = kNone;
      queue.clear();
    }

    WeightedCsr<T> onward, backward;
    Buffer<Vertex> vertex;         // [n]
    std::vector<int32_t> touched;  // vertices with a distance
    std::vector<int32_t> settled;  // by distance, unsorted within a bucket
    BucketQueue<T> queue;          // vertices may occur twice
    Sum next = 0;                  // the least distance in the queue
    int32_t root = 0;
    int64_t scanned = 0;
  };

  void start(Side& side, int32_t root) {
    side.root = root;
    side.next = 0;
    side.scanned = 0;
    side.vertex[root] = {{1, 0}, 0};
    side.touched.push_back(root);
    side.queue.push(0, root);
  }

  void advance(Side& side, const Side& other) {
    const Csr& arcs = side.onward.arcs;
    const auto settle = [&](const Entry& entry) {
      const int32_t u = entry.vertex;
      if (side.vertex[u].distance < entry.key) return;  // a shorter path has been found since
      side.settled.push_back(u);
      side.vertex[u].normalise();
      const Vertex from = side.vertex[u];
      for (int64_t slot = arcs.rowptr[u]; slot < arcs.rowptr[u + 1]; ++slot) {
        const int32_t v = arcs.col[slot];
        const Sum length = from.distance + side.onward.weight[slot];
        Vertex& to = side.vertex[v];
        if (length < to.distance) {
          if (to.distance == kNone) side.touched.push_back(v);
          to = {{from.value, from.scale}, length};
          side.queue.push(static_cast<T>(length), v);
          shortest_ = std::min(shortest_, length + other.vertex[v].distance);
        } else if (length == to.distance) {
          to.add(from.value, from.scale);
        }
      }
      side.scanned += arcs.degree(u);
    };
    const int64_t before = side.scanned;
    side.queue.next_bucket(settle, [&](int32_t u) { __builtin_prefetch(arcs.rowptr + u); });
    side.next = side.queue.least(kNone);
    arcs_ += side.scanned - before;
  }

  template <class Sink>
  void draw(Sink& sink) const {
    sink.found();
    const Sum border = std::min(from_source_.next, shortest_);
    const double disorder = from_source_.queue.disorder();
    const Csr& arcs = from_source_.onward.arcs;
    // Whether a shortest path leaves the vertices nearer than `border` by this arc.
    const auto crosses = [&](int32_t u, int64_t slot) {
      const Sum length = from_source_.vertex[u].distance + from_source_.onward.weight[slot];
      return length >= border && length + from_target_.vertex[arcs.col[slot]].distance == shortest_;
    };
    int32_t tail = -1;
    double first = 0;
    PathCount reach;
    for (auto p = from_source_.settled.rbegin(); p != from_source_.settled.rend(); ++p) {
      const int32_t u = *p;
      const Vertex& from = from_source_.vertex[u];
      if (static_cast<double>(from.distance + heaviest_) + disorder < static_cast<double>(border)) break;
      if (from.distance >= border) continue;
      PathCount onward;
      for (int64_t slot = arcs.rowptr[u]; slot < arcs.rowptr[u + 1]; ++slot)
        if (crosses(u, slot)) {
          const PathCount& to = from_target_.vertex[arcs.col[slot]];
          onward.add(to.value, to.scale);
        }
      if (onward.value == 0) continue;
      const uint64_t bits = random_bits(seed_, sample_, Purpose::crossing, static_cast<uint32_t>(u));
      const double time = race_time(bits, from, onward);
      if (tail < 0 || time < first || (time == first && u < tail)) {
        tail = u;
        first = time;
        reach = onward;
      }
    }
    const double left = uniform(random_bits(seed_, sample_, Purpose::arc, 0)) * reach.value;
    const int32_t head =
        drawn(arcs, tail, from_target_, left, reach.scale, [&](int64_t slot) { return crosses(tail, slot); });
    walk(from_source_, tail, Purpose::walk_back, sink);
    walk(from_target_, head, Purpose::walk_on, sink);
  }

  template <class Sink>
  void walk(const Side& side, int32_t u, Purpose purpose, Sink& sink) const {
    const Csr& arcs = side.backward.arcs;
    for (uint32_t step = 0; u != side.root; ++step) {
      sink.vertex(u, purpose);
      const Vertex& to = side.vertex[u];
      const double left = uniform(random_bits(seed_, sample_, purpose, step)) * to.value;
      u = drawn(arcs, u, side, left, to.scale, [&](int64_t slot) {
        return side.vertex[arcs.col[slot]].distance + side.backward.weight[slot] == to.distance;
      });
    }
  }

  // See HopSampler.
  template <class Wanted>
  int32_t drawn(const Csr& arcs, int32_t u, const Side& counted, double left, int32_t scale, Wanted wanted) const {
    int32_t last = -1;
    for (int64_t slot = arcs.rowptr[u]; slot < arcs.rowptr[u + 1]; ++slot) {
      if (!wanted(slot)) continue;
      last = arcs.col[slot];
      left -= counted.vertex[last].in_scale(scale);
      if (left < 0) break;
    }
    return last;
  }

  void forget(Side& side) {
    for (const int32_t v : side.touched) side.vertex[v].distance = kNone;
    side.touched.clear();
    side.settled.clear();
    side.queue.clear();
  }

  int64_t num_nodes_;
  uint64_t seed_, sample_ = 0;
  const int64_t* cancel_;
  T heaviest_;
  bool exact_;
  Side from_source_, from_target_;
  Sum shortest_ = kNone;
  int64_t arcs_ = 0;
};

}  // namespace torchcent::TORCHCENT_ISA
