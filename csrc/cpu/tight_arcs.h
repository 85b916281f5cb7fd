// The tight arcs of 64 sources, by head, with masks of lanes; and from them one list of arcs per lane in
// topological order, which DagPass streams.
//
// The order takes no distances: a lane of a vertex is ready when all tails of its tight arcs in that lane are
// done. Vertices are tried in order of their mean distance, which is the order of nearly all lanes, so that few are
// tried twice; and only masks are read, of which a cache holds those of all vertices.
#pragma once

#include "dag.h"

namespace torchcent::TORCHCENT_ISA {

class TightArcs {
 public:
  TightArcs(int64_t nodes, int64_t arcs, bool numbers)
      : n_(nodes),
        numbers_(numbers),
        begin_(nodes + 1),
        tail_(arcs + 1),
        mask_(arcs + 1),
        arc_(numbers ? arcs + 1 : 0),
        reached_(nodes),
        mean_(nodes) {}

  // Vertices in turn, each followed by its arcs; lastly begin(n, 0).
  void clear() { count_ = 0; }
  void begin(int64_t v, uint64_t reached) {
    begin_[v] = count_;
    if (v < n_) reached_[v] = reached;
  }
  void set_order(int64_t v, double mean) { mean_[v] = mean; }
  void add(int32_t tail, uint64_t lanes, int64_t arc) {
    tail_[count_] = tail;
    mask_[count_] = lanes;
    if (numbers_) arc_[count_] = arc;
    count_ += lanes != 0;
  }

  // Tight arcs in every lane.
  void count_lanes(int64_t* lane_arcs) const {
    for (int l = 0; l < 64; ++l) lane_arcs[l] = 0;
    for (int64_t i = 0; i < count_;) {
#if defined(TORCHCENT_AVX512)
      const int64_t end = i + 255 < count_ ? i + 255 : count_;
      __m512i count = _mm512_setzero_si512();
      for (; i < end; ++i) count = _mm512_mask_add_epi8(count, mask_[i], count, _mm512_set1_epi8(1));
      alignas(64) uint8_t lane[64];
      _mm512_store_si512(lane, count);
      for (int l = 0; l < 64; ++l) lane_arcs[l] += lane[l];
#else
      for (uint64_t rest = mask_[i]; rest != 0; rest &= rest - 1) ++lane_arcs[__builtin_ctzll(rest)];
      ++i;
#endif
    }
  }

  int64_t num_nodes() const { return n_; }
  int64_t count() const { return count_; }
  int64_t begin(int64_t v) const { return begin_[v]; }
  int32_t tail(int64_t i) const { return tail_[i]; }
  uint64_t lanes(int64_t i) const { return mask_[i]; }
  int64_t arc(int64_t i) const { return arc_[i]; }
  uint64_t reached(int64_t v) const { return reached_[v]; }
  double mean(int64_t v) const { return mean_[v]; }

 private:
  int64_t n_, count_ = 0;
  bool numbers_;
  Buffer<int64_t> begin_;  // [n + 1]
  Buffer<int32_t> tail_;
  Buffer<uint64_t> mask_;
  Buffer<int64_t> arc_;       // its number among the in-arcs, if asked for
  Buffer<uint64_t> reached_;  // [n] lanes
  Buffer<double> mean_;       // [n] distance over the lanes that reach the vertex
};

template <bool Slots>
class LaneDags {
 public:
  LaneDags(int64_t nodes, int64_t arcs, const int64_t* slot, const int64_t* cancel)
      : slot_of_(slot),
        cancel_(cancel),
        capacity_(arcs + 1 > kEntries ? arcs + 1 : kEntries),
        order_(nodes),
        open_(nodes),
        todo_(nodes),
        done_(nodes),
        arc_(capacity_),
        slot_(Slots ? capacity_ : 0),
        bucket_(kBuckets + 1) {}

  // The order in which vertices are tried, and the number of arcs in every lane.
  void prepare(const TightArcs& tight) {
    const int64_t n = tight.num_nodes();
    double largest = 0;
    for (int64_t v = 0; v < n; ++v)
      if (tight.reached(v) != 0 && tight.mean(v) > largest) largest = tight.mean(v);
    const double scale = largest > 0 ? (kBuckets - 1) / largest : 0;
    const auto bucket = [&](int64_t v) { return static_cast<int64_t>(tight.mean(v) * scale); };
    for (int64_t b = 0; b <= kBuckets; ++b) bucket_[b] = 0;
    for (int64_t v = 0; v < n; ++v)
      if (tight.reached(v) != 0) ++bucket_[bucket(v) + 1];
    for (int64_t b = 0; b < kBuckets; ++b) bucket_[b + 1] += bucket_[b];
    ordered_ = bucket_[kBuckets];
    for (int64_t v = 0; v < n; ++v)
      if (tight.reached(v) != 0) order_[bucket_[bucket(v)]++] = static_cast<int32_t>(v);
    tight.count_lanes(lane_arcs_);
  }

  // Lanes from `first` on whose lists fit, at least one.
  uint64_t group(int first, int count) const {
    uint64_t lanes = 0;
    int64_t arcs = 0;
    for (int l = first; l < count; ++l) {
      arcs += lane_arcs_[l];
      if (arcs > capacity_ && lanes != 0) break;
      lanes |= uint64_t{1} << l;
    }
    return lanes;
  }

  // Writes their lists. Overflow means that there is no order: weights were lost in rounding.
  [[gnu::noinline]] Status write(const TightArcs& tight, uint64_t group, const int64_t* sources) {
    const int64_t n = tight.num_nodes();
    int64_t total = 0;
    for (uint64_t rest = group; rest != 0; rest &= rest - 1) {
      const int l = __builtin_ctzll(rest);
      begin_[l] = end_[l] = total;
      total += lane_arcs_[l];
    }
    for (int64_t v = 0; v < n; ++v) done_[v] = 0;
    for (uint64_t rest = group; rest != 0; rest &= rest - 1) {
      const int l = __builtin_ctzll(rest);
      done_[sources[l]] |= uint64_t{1} << l;
    }
    int64_t open = 0;
    for (int64_t i = 0; i < ordered_; ++i) {
      const int32_t v = order_[i];
      todo_[v] = tight.reached(v) & group & ~done_[v];
      open_[open] = v;
      open += todo_[v] != 0;
    }
    while (open > 0) {
      int64_t kept = 0;
      uint64_t progress = 0;
      for (int64_t i = 0; i < open; ++i) {
        if ((i & 0xfff) == 0 && cancelled(cancel_)) return Status::cancelled;
        const int32_t v = open_[i];
        const uint64_t ready = todo_[v] & ~waiting(tight, v);
        progress |= ready;
        if (ready != 0) {
          write(tight, v, ready);
          done_[v] |= ready;
          todo_[v] &= ~ready;
        }
        open_[kept] = v;
        kept += todo_[v] != 0;
      }
      if (progress == 0) return Status::overflow;
      open = kept;
    }
    return Status::done;
  }

  // A lane's list, of the last group.
  Dag dag(int lane, int64_t nodes, int64_t source) const {
    return {arc_.data() + begin_[lane],  slot_.data() + (Slots ? begin_[lane] : 0),
            end_[lane] - begin_[lane],   nullptr,
            static_cast<int32_t>(nodes), static_cast<int32_t>(source)};
  }

 private:
  static constexpr int64_t kEntries = 1 << 21;  // of the lists: in a cache, if one lane alone has no more
  static constexpr int64_t kBuckets = 4096;

  uint64_t waiting(const TightArcs& tight, int64_t v) const {
    uint64_t lanes = 0;
    for (int64_t i = tight.begin(v); i < tight.begin(v + 1); ++i) lanes |= tight.lanes(i) & ~done_[tight.tail(i)];
    return lanes;
  }

  void write(const TightArcs& tight, int32_t v, uint64_t ready) {
    for (int64_t i = tight.begin(v); i < tight.begin(v + 1); ++i) {
      const DagArc arc = {tight.tail(i), v};
      for (uint64_t rest = tight.lanes(i) & ready; rest != 0; rest &= rest - 1) {
        const int64_t place = end_[__builtin_ctzll(rest)]++;
        arc_[place] = arc;
        if constexpr (Slots) slot_[place] = slot_of_[tight.arc(i)];
      }
    }
  }

  const int64_t* slot_of_;
  const int64_t* cancel_;
  int64_t capacity_;
  int64_t ordered_ = 0;
  int64_t lane_arcs_[64] = {}, begin_[64] = {}, end_[64] = {};
  Buffer<int32_t> order_;  // vertices by mean distance
  Buffer<int32_t> open_;   // those with lanes to do
  Buffer<uint64_t> todo_;  // [n] lanes
  Buffer<uint64_t> done_;  // [n] lanes
  Buffer<DagArc> arc_;     // lane by lane
  Buffer<int64_t> slot_;
  Buffer<int64_t> bucket_;
};

}  // namespace torchcent::TORCHCENT_ISA
