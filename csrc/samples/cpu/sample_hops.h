// The random shortest paths of one thread, by hops: a bidirectional breadth-first search that always advances the side
// whose frontier has fewer arcs, until the sides meet (Borassi and Natale 2016, KADABRA).
//
// A vertex belongs to the side that reaches it first. When a side scans the arcs of its last level and finds vertices
// of the other side, all of these are on the other side's last level, because an earlier level would have been met
// before. Therefore each shortest path crosses exactly one of these arcs. Paths are counted only at this point, and
// only where they can lead: backwards from the ends of these arcs. One of the arcs is drawn with probability
// proportional to the number of paths through it, and both halves are found by backtracking.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/cpu/buffer.h"
#include "torchcent/csr.h"
#include "samples/draws.h"

namespace torchcent::TORCHCENT_ISA {

class HopSampler {
 public:
  HopSampler(const Csr& out, const Csr& in, uint64_t seed, const int64_t* cancel)
      : num_nodes_(out.num_nodes),
        seed_(seed),
        cancel_(cancel),
        depth_(out.num_nodes),
        paths_(out.num_nodes),
        from_source_(out, in),
        from_target_(in, out) {}

  // Draws a random shortest path between a random pair, if there is one: sink.found() is called, and sink.vertex(v,
  // purpose) for each inner vertex, from the middle of the path to either end. Returns false if cancelled.
  template <class Sink>
  bool run(uint64_t sample, Sink& sink) {
    return run(sample, random_pair(seed_, sample, num_nodes_), sink);
  }

  // The same between two vertices that differ.
  template <class Sink>
  bool run(uint64_t sample, const Pair& pair, Sink& sink) {
    sample_ = sample;
    start(from_source_, pair.source, 1);
    start(from_target_, pair.target, -1);
    bool going = true, met = false;
    while (!met && from_source_.begin < from_source_.end && from_target_.begin < from_target_.end) {
      if (__atomic_load_n(cancel_, __ATOMIC_RELAXED) != 0) {
        going = false;
        break;
      }
      met = from_source_.next_arcs() <= from_target_.next_arcs() ? advance<1>(from_source_, from_target_, sink)
                                                                 : advance<-1>(from_target_, from_source_, sink);
    }
    forget(from_source_);
    forget(from_target_);
    return going;
  }

  int64_t arcs() const { return arcs_; }  // scanned so far

 private:
  // For vertices of such low degree, as in road networks, the arcs are copied to a buffer, about kHeads at a time.
  static constexpr int32_t kFew = 4, kHeads = 32;
  static constexpr int32_t kAhead = 8;  // prefetch distance; entries past the end are harmless

  struct Side {
    Csr onward, backward;
    Buffer<int32_t> queue;
    int32_t root = 0, begin = 0, end = 0;  // the frontier in the queue
    int32_t level = 0;                     // its depth
    std::vector<int32_t> begins = {};      // of all levels, and the end
    std::vector<int64_t> degrees = {};     // arcs of all levels
    // Vertices on shortest paths, the deepest first, and the arcs that lead to them.
    std::vector<int32_t> through = {}, tail = {};
    std::vector<int64_t> first_arc = {};  // of through[i] in tail, and the end
    std::vector<PathCount> count = {};    // paths from the root to through[i]

    int64_t next_arcs() const { return degrees.back(); }

    Side(const Csr& onward, const Csr& backward)
        : onward(onward), backward(backward), queue(onward.num_nodes + 1 + 2 * kAhead) {}
  };

  void start(Side& side, int32_t root, int32_t sign) {
    side.root = root;
    side.queue[0] = root;
    side.begin = 0, side.end = 1, side.level = 0;
    side.begins.assign({0, 1});
    side.degrees.assign(1, side.onward.degree(root));
    depth_[root] = sign;
  }

  struct Arc {
    int32_t tail, head;
  };

  template <int Sign, class Sink>
  bool advance(Side& side, Side& other, Sink& sink) {
    across_.clear();
    expand<Sign>(side);
    if (across_.empty()) return false;
    draw<Sign>(side, other, sink);
    return true;
  }

  // Expands one level, or finds the arcs from it to the other side. Depths are stored as Sign * (depth + 1), and 0 for
  // unreached vertices.
  template <int Sign>
  [[gnu::noinline]] void expand(Side& side) {
    const int64_t* const rowptr = side.onward.rowptr;
    const int32_t* const col = side.onward.col;
    int32_t* const depth = depth_.data();
    int32_t* const queue = side.queue.data();
    const int32_t next = Sign * (side.level + 2);
    const auto cross = [&](int32_t u) {
      for (int64_t slot = rowptr[u]; slot < rowptr[u + 1]; ++slot)
        if (Sign * depth[col[slot]] < 0) across_.push_back({u, col[slot]});
    };
    int32_t end = side.end, p = side.begin;
    // Without a branch, which would be unpredictable: the last write to the queue is kept only if v is new.
    const auto absorb = [&](const int32_t* heads, int64_t count) {
      int32_t seen = 0;
      for (int64_t i = 0; i < count; ++i) {
        const int32_t v = heads[i], known = depth[v], fresh = known == 0;
        depth[v] = known | (next & -fresh);
        queue[end] = v;
        end += fresh;
        seen |= Sign * known;
      }
      return seen < 0;
    };
    arcs_ += side.next_arcs();
    int32_t heads[kHeads + kFew];
    const int64_t last_copied = side.onward.num_slots() - kFew;
    while (p < side.end) {
      const int32_t first = p;
      int32_t filled = 0;
      bool met = false;
      for (; p < side.end && filled < kHeads && !met; ++p) {
        __builtin_prefetch(rowptr + queue[p + 2 * kAhead]);
        __builtin_prefetch(col + rowptr[queue[p + kAhead]]);
        const int64_t begin = rowptr[queue[p]], degree = rowptr[queue[p] + 1] - begin;
        if (degree > kFew || begin > last_copied) {
          met = absorb(col + begin, degree);
        } else {
          std::memcpy(heads + filled, col + begin, sizeof(int32_t) * kFew);
          for (int32_t k = 0; k < kFew; ++k) __builtin_prefetch(depth + heads[filled + k]);
          filled += static_cast<int32_t>(degree);
        }
      }
      if (met || absorb(heads, filled)) {
        for (p = first; p < side.end; ++p) cross(queue[p]);  // the next level is not needed any more
      }
    }
    side.begin = side.end, side.end = end, ++side.level;
    side.begins.push_back(end);
    int64_t degrees = 0;
    if (across_.empty())
      for (p = side.begin; p < end; ++p) degrees += rowptr[queue[p] + 1] - rowptr[queue[p]];
    side.degrees.push_back(degrees);
  }

  // Draws a path: a crossing arc, and a path back from either end.
  template <int Sign, class Sink>
  [[gnu::noinline]] void draw(Side& side, Side& other, Sink& sink) {
    sink.found();
    for (Side* each : {&side, &other}) {
      each->through.clear();
      each->tail.clear();
      each->first_arc.clear();
    }
    for (const Arc& arc : across_) {
      if (paths_[arc.tail] == 0) enter(side, arc.tail);
      if (paths_[arc.head] == 0) enter(other, arc.head);
    }
    count_paths<Sign>(side);
    count_paths<-Sign>(other);
    size_t drawn = 0;
    double first = 0;
    PathCount reach;
    for (size_t i = 0; i < across_.size();) {  // arcs with the same tail are adjacent
      const size_t begin = i;
      const int32_t u = across_[begin].tail;
      PathCount onward;
      for (; i < across_.size() && across_[i].tail == u; ++i) onward.add(counted(other, across_[i].head));
      const uint64_t bits = random_bits(seed_, sample_, Purpose::crossing, static_cast<uint32_t>(u));
      const double time = race_time(bits, counted(side, u), onward);
      if (begin == 0 || time < first || (time == first && u < across_[drawn].tail)) {
        drawn = begin;
        first = time;
        reach = onward;
      }
    }
    const int32_t tail = across_[drawn].tail;
    double left = uniform(random_bits(seed_, sample_, Purpose::arc, 0)) * reach.value;
    for (;; ++drawn) {
      left -= counted(other, across_[drawn].head).in_scale(reach.scale);
      if (left < 0 || drawn + 1 == across_.size() || across_[drawn + 1].tail != tail) break;
    }
    walk(side, tail, Sign > 0 ? Purpose::walk_back : Purpose::walk_on, sink);
    walk(other, across_[drawn].head, Sign > 0 ? Purpose::walk_on : Purpose::walk_back, sink);
    for (const Side* each : {&side, &other})
      for (const int32_t v : each->through) paths_[v] = 0;
  }

  void enter(Side& side, int32_t v) {
    side.through.push_back(v);
    paths_[v] = static_cast<int32_t>(side.through.size());
  }

  // Counts the paths from the root to the entered vertices, which are on one level, and to all vertices in between.
  template <int Sign>
  void count_paths(Side& side) {
    size_t begin = 0;
    for (int32_t level = Sign * depth_[side.through[0]] - 1; level > 0; --level) {
      const size_t end = side.through.size();
      int64_t back = 0;
      for (size_t i = begin; i < end; ++i) back += side.backward.degree(side.through[i]);
      if (level == 1) from_root(side, begin, end);
      else if (back <= side.degrees[level - 1]) look_back(side, begin, end, Sign * level);
      else look_ahead(side, begin, end, Sign * (level + 1), level - 1);
      begin = end;
    }
    side.first_arc.push_back(static_cast<int64_t>(side.tail.size()));  // the root has none
    side.first_arc.push_back(static_cast<int64_t>(side.tail.size()));
    side.count.resize(side.through.size());
    side.count.back() = {1, 0};
    for (int64_t i = static_cast<int64_t>(side.through.size()) - 2; i >= 0; --i) {
      PathCount sum;
      for (int64_t a = side.first_arc[i]; a < side.first_arc[i + 1]; ++a) sum.add(counted(side, side.tail[a]));
      sum.normalise();
      side.count[i] = sum;
    }
  }

  void from_root(Side& side, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      side.first_arc.push_back(static_cast<int64_t>(side.tail.size()));
      side.tail.push_back(side.root);
    }
    enter(side, side.root);
  }

  // Finds the arcs to through[begin] to through[end - 1], by scanning their neighbours for vertices of this depth.
  void look_back(Side& side, size_t begin, size_t end, int32_t depth) {
    const Csr& arcs = side.backward;
    for (size_t i = begin; i < end; ++i) {
      const int32_t u = side.through[i];
      side.first_arc.push_back(static_cast<int64_t>(side.tail.size()));
      arcs_ += arcs.degree(u);
      for (int64_t slot = arcs.rowptr[u]; slot < arcs.rowptr[u + 1]; ++slot) {
        const int32_t v = arcs.col[slot];
        if (depth_[v] != depth) continue;
        if (paths_[v] == 0) enter(side, v);
        side.tail.push_back(v);
      }
    }
  }

  // The same, by scanning the level above again, if that has fewer arcs: its vertices have this depth.
  void look_ahead(Side& side, size_t begin, size_t end, int32_t depth, int32_t above) {
    const Csr& arcs = side.onward;
    found_.clear();
    offset_.assign(end - begin + 1, 0);
    arcs_ += side.degrees[above];
    for (int32_t p = side.begins[above]; p < side.begins[above + 1]; ++p) {
      const int32_t v = side.queue[p];
      for (int64_t slot = arcs.rowptr[v]; slot < arcs.rowptr[v + 1]; ++slot) {
        const int32_t u = arcs.col[slot];
        if (depth_[u] != depth || paths_[u] == 0) continue;
        if (paths_[v] == 0) enter(side, v);
        const int32_t place = paths_[u] - 1 - static_cast<int32_t>(begin);
        found_.push_back({v, place});
        ++offset_[place + 1];
      }
    }
    const int64_t base = static_cast<int64_t>(side.tail.size());
    for (size_t i = 0; i < end - begin; ++i) {
      side.first_arc.push_back(base + offset_[i]);
      offset_[i + 1] += offset_[i];
    }
    side.tail.resize(side.tail.size() + found_.size());
    for (const Arc& arc : found_) side.tail[base + offset_[arc.head]++] = arc.tail;
    for (size_t i = begin; i < end; ++i)  // in the order of look_back, so that the same path is drawn on every machine
      std::sort(side.tail.begin() + side.first_arc[i],
                i + 1 < end ? side.tail.begin() + side.first_arc[i + 1] : side.tail.end());
  }

  const PathCount& counted(const Side& side, int32_t v) const { return side.count[paths_[v] - 1]; }

  // Visits u and the vertices of a random shortest path from there back to the root, but not the root.
  template <class Sink>
  void walk(const Side& side, int32_t u, Purpose purpose, Sink& sink) const {
    for (uint32_t step = 0; u != side.root; ++step) {
      sink.vertex(u, purpose);
      const int32_t place = paths_[u] - 1;
      const int64_t last = side.first_arc[place + 1];
      int64_t arc = side.first_arc[place];
      if (last - arc > 1) {
        const PathCount& all = side.count[place];
        double left = uniform(random_bits(seed_, sample_, purpose, step)) * all.value;
        for (;; ++arc) {
          left -= counted(side, side.tail[arc]).in_scale(all.scale);
          if (left < 0 || arc + 1 == last) break;
        }
      }
      u = side.tail[arc];
    }
  }

  void forget(const Side& side) {
    for (int32_t p = 0; p < side.end; ++p) depth_[side.queue[p]] = 0;
  }

  int64_t num_nodes_;
  uint64_t seed_, sample_ = 0;
  const int64_t* cancel_;
  Buffer<int32_t> depth_;  // [n]
  Buffer<int32_t> paths_;  // [n] 1 + the position in `through` of a side, or 0
  Side from_source_, from_target_;
  std::vector<Arc> across_;      // from one side to the other
  std::vector<Arc> found_;       // of look_ahead, before they are sorted
  std::vector<int64_t> offset_;  // for sorting
  int64_t arcs_ = 0;
};

}  // namespace torchcent::TORCHCENT_ISA
