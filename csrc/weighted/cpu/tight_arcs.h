// Arcs with the lanes, of 64 sources, in which they are tight: a list per head, and its transpose, a list per tail.
#pragma once

#include "core/cpu/buffer.h"

namespace torchcent::TORCHCENT_ISA {

struct TightArcs {
  int64_t num_nodes = 0, count = 0;
  Buffer<int64_t> begin;   // [n + 1]
  Buffer<int32_t> vertex;  // the other end
  Buffer<uint64_t> lanes;  // in which the arc is tight
  Buffer<int64_t> arc;     // its number among the in-arcs, or the index of its score; optional

  TightArcs(int64_t nodes, int64_t arcs, bool numbers)
      : num_nodes(nodes), begin(nodes + 2), vertex(arcs + 1), lanes(arcs + 1), arc(numbers ? arcs + 1 : 0) {}

  // If the arc is tight in no lane, the next one overwrites it.
  void add(int32_t other, int64_t number, uint64_t in_lanes) {
    vertex[count] = other;
    lanes[count] = in_lanes;
    if (arc.data() != nullptr) arc[count] = number;
    count += in_lanes != 0;
  }

  void prefetch(int64_t v) const {
    const int64_t place = begin[v];
    __builtin_prefetch(vertex.data() + place);
    __builtin_prefetch(lanes.data() + place);
    __builtin_prefetch(lanes.data() + place + 8);
  }

  // For each arc, keeps the lanes that lanes_of(v, place) allows.
  template <class Lanes>
  void filter(Lanes lanes_of) {
    int64_t kept = 0, place = 0;
    for (int64_t v = 0; v < num_nodes; ++v) {
      begin[v] = kept;
      for (const int64_t end = begin[v + 1]; place < end; ++place) {
        vertex[kept] = vertex[place];
        if (arc.data() != nullptr) arc[kept] = arc[place];
        lanes[kept] = lanes[place] & lanes_of(v, place);
        kept += lanes[kept] != 0;
      }
    }
    begin[num_nodes] = count = kept;
  }

  // Sets this to the transpose of `other`; arc becomes the slot of the arc.
  [[gnu::noinline]] void turn(const TightArcs& other, const int64_t* slot) {
    int64_t* const place = begin.data() + 1;  // a vertex's next place; its start moves up when all are placed
    for (int64_t v = -1; v <= num_nodes; ++v) place[v] = 0;
    for (int64_t i = 0; i < other.count; ++i) ++place[other.vertex[i] + 1];
    for (int64_t v = 0; v < num_nodes; ++v) place[v + 1] += place[v];
    for (int64_t v = 0; v < num_nodes; ++v)
      for (int64_t i = other.begin[v]; i < other.begin[v + 1]; ++i) {
        const int64_t to = place[other.vertex[i]]++;
        vertex[to] = static_cast<int32_t>(v);
        lanes[to] = other.lanes[i];
        if (arc.data() != nullptr) arc[to] = slot[other.arc[i]];
      }
    count = other.count;
  }
};

}  // namespace torchcent::TORCHCENT_ISA
