// A search from one vertex of a small graph by one thread, with path counts, by hops or by weights. The tiny engine
// uses it with weights on the CPU, and always on CUDA. Arrays are interleaved: entry v of a lane is at v * stride.
#pragma once

#include "core/codes.h"
#include "paths/betweenness.h"

namespace torchcent::TORCHCENT_ISA {

// A graph with local vertex numbers in [0, n), stored as a range of the vertices and slots of a union.
struct TinyGraph {
  const int64_t* rowptr;  // of its first vertex
  const int32_t* col;
  const double* weight;
  int64_t first;  // its first vertex
  int32_t n;

  TORCHCENT_HD int64_t begin(int32_t v) const { return rowptr[v]; }
  TORCHCENT_HD int32_t head(int64_t slot) const { return static_cast<int32_t>(col[slot] - first); }
};

template <class T, int stride>
struct TinyArray {
  T* data;
  TORCHCENT_HD T& operator[](int64_t v) const { return data[v * stride]; }
};

// Depth: uint16_t hops, or double by weights.
template <class Depth, int stride>
struct TinyPaths {
  static constexpr bool weighted = sizeof(Depth) == 8;

  TinyGraph graph;
  double tie_tolerance;
  TinyArray<Depth, stride> depth;       // [n] distance from the source
  TinyArray<uint16_t, stride> order;    // [n] vertices in the order in which they are reached
  TinyArray<uint16_t, stride> place;    // [n] position in that order; with weights only
  TinyArray<uint16_t, stride> heap;     // [n] the queued vertices, nearest first; with weights only
  TinyArray<double, stride> sigma;      // [n] path counts
  TinyArray<double, stride> passed_up;  // [n] value that a vertex passes to its predecessors
  TinyArray<double, stride> gain;       // [n] contribution to its score; may alias sigma if that is not needed
  int32_t reached;

  TORCHCENT_HD static Depth unreached() {
    if constexpr (weighted) return __builtin_inf();
    else return 0xffff;
  }
  TORCHCENT_HD bool reaches(int32_t v) const { return depth[v] != unreached(); }

  TORCHCENT_HD void search(int32_t source) {
    for (int32_t v = 0; v < graph.n; ++v) depth[v] = unreached();
    depth[source] = 0;
    order[0] = static_cast<uint16_t>(source);
    reached = 1;
    if constexpr (weighted) dijkstra(source);
    else breadth_first();
  }

  // Whether the arc in this slot, from u to v, is on a shortest path from the source (docs/weights.md).
  TORCHCENT_HD bool tight(int32_t u, int64_t slot, int32_t v) const {
    if constexpr (weighted) {
      const double length = depth[u] + graph.weight[slot], known = depth[v];
      // The head must be later in the order: if a weight is lost in rounding, arcs between equal distances would
      // otherwise run both ways.
      if (tie_tolerance == 0) return length == known && place[v] > place[u];
      return length <= known * (1 + tie_tolerance) && depth[u] < known;
    } else {
      return depth[v] == depth[u] + 1;
    }
  }

  // Returns false if a count overflows float64.
  TORCHCENT_HD bool count() {
    for (int32_t p = 0; p < reached; ++p) sigma[order[p]] = 0;
    sigma[order[0]] = 1;
    double largest = 0;
    for (int32_t p = 0; p < reached; ++p) {
      const int32_t u = order[p];
      const double own = sigma[u];
      largest = own > largest ? own : largest;
      for (int64_t i = graph.begin(u); i < graph.begin(u + 1); ++i) {
        const int32_t v = graph.head(i);
        if (tight(u, i, v)) sigma[v] += own;
      }
    }
    return largest < kLargestCount;
  }

  // target [n], or null for 1 everywhere; `weight` of the source. The values passed up are linear in the weights of
  // targets, so that their product with the weight of the source gives weighted scores. The gain of the source is the
  // sum over its successors.
  template <class Visitor>
  TORCHCENT_HD bool backward(const double* target, double weight) {
    double largest = 0;
    for (int32_t p = reached - 1; p >= 0; --p) {
      const int32_t u = order[p];
      double sum = 0;
      for (int64_t i = graph.begin(u); i < graph.begin(u + 1); ++i) {
        const int32_t v = graph.head(i);
        if (tight(u, i, v)) sum += passed_up[v];
      }
      const double own = sigma[u],
                   up = Visitor::template passed_up<double>(target == nullptr ? weight : weight * target[u], own, sum);
      passed_up[u] = up;
      gain[u] = Visitor::template score<double>(own, sum, 0);
      largest = up > largest ? up : largest;
    }
    return largest < kLargestCount;
  }

 private:
  TORCHCENT_HD void breadth_first() {
    for (int32_t p = 0; p < reached; ++p) {
      const int32_t u = order[p];
      const Depth next = static_cast<Depth>(depth[u] + 1);
      for (int64_t i = graph.begin(u); i < graph.begin(u + 1); ++i) {
        const int32_t v = graph.head(i);
        if (depth[v] != unreached()) continue;
        depth[v] = next;
        order[reached++] = static_cast<uint16_t>(v);
      }
    }
  }

  // Uses a binary heap of vertices; `place` is the position in the heap until a vertex is settled.
  TORCHCENT_HD void dijkstra(int32_t source) {
    int32_t waiting = 1;
    heap[0] = static_cast<uint16_t>(source);
    place[source] = 0;
    reached = 0;
    while (waiting > 0) {
      const int32_t u = heap[0];
      const int32_t last = heap[--waiting];
      if (waiting > 0) sink(last, waiting);
      place[u] = static_cast<uint16_t>(reached);
      order[reached++] = static_cast<uint16_t>(u);
      const double own = depth[u];
      for (int64_t i = graph.begin(u); i < graph.begin(u + 1); ++i) {
        const int32_t v = graph.head(i);
        const double length = own + graph.weight[i], known = depth[v];
        if (!(length < known)) continue;
        int32_t at = known == unreached() ? waiting++ : place[v];
        depth[v] = length;
        for (; at > 0; at = (at - 1) / 2) {
          const int32_t parent = heap[(at - 1) / 2];
          if (!(length < depth[parent])) break;
          put(parent, at);
        }
        put(v, at);
      }
    }
  }
  TORCHCENT_HD void put(int32_t v, int32_t at) {
    heap[at] = static_cast<uint16_t>(v);
    place[v] = static_cast<uint16_t>(at);
  }
  TORCHCENT_HD void sink(int32_t v, int32_t waiting) {
    const double own = depth[v];
    int32_t at = 0;
    for (int32_t child = 1; child < waiting; child = 2 * at + 1) {
      if (child + 1 < waiting && depth[heap[child + 1]] < depth[heap[child]]) ++child;
      if (!(depth[heap[child]] < own)) break;
      put(heap[child], at);
      at = child;
    }
    put(v, at);
  }
};

}  // namespace torchcent::TORCHCENT_ISA
