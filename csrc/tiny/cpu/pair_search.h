// Searches from single vertices of a batch of graphs, which keep a shortest path to every vertex within a limit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace torchcent {

struct PairBatch {
  const int64_t* rowptr;
  const int32_t* col;
  const double* weight;  // [slots]; null: hops
  const int64_t* ptr;    // first vertex of each graph
  const double* limit;   // largest distance, per graph
  int64_t graphs;
};

// Of each byte, its bits as eight bytes.
struct Spread {
  uint64_t bits[256];
  constexpr Spread() : bits() {
    for (int value = 0; value < 256; ++value)
      for (int i = 0; i < 8; ++i)
        bits[value] |= static_cast<uint64_t>(value >> i & 1)
                       << (std::endian::native == std::endian::little ? 8 * i : 56 - 8 * i);
  }
};
inline constexpr Spread kSpread{};

// The vertices of a graph have numbers from 0 here. Of several shortest paths the one is kept whose last arc has the
// lowest tail, and so on from there.
class PairSearch {
 public:
  PairSearch(const PairBatch& batch, bool paths) : batch_(batch), paths_(paths) {}

  // Searches of this graph follow; those of `levels` need no masks.
  void enter(int64_t graph, bool one_by_one = true) {
    forget();
    first_ = batch_.ptr[graph];
    size_ = batch_.ptr[graph + 1] - first_;
    limit_ = batch_.limit[graph];
    if (static_cast<int64_t>(depth_.size()) < size_) {
      depth_.resize(size_, -1);
      tail_.resize(size_);
      via_.resize(size_);
      if (batch_.weight != nullptr) {
        length_.resize(size_, std::numeric_limits<double>::infinity());
        settled_.resize(size_, 0);
      }
    }
    if (one_by_one && masks()) {
      std::fill(out_, out_ + size_, 0);
      if (paths_) std::fill(in_, in_ + size_, 0);
      for (int64_t u = 0; u < size_; ++u)
        for (int64_t slot = batch_.rowptr[first_ + u]; slot < batch_.rowptr[first_ + u + 1]; ++slot) {
          const int64_t v = batch_.col[slot] - first_;
          out_[u] |= uint64_t{1} << v;
          if (paths_) in_[v] |= uint64_t{1} << u;
        }
    }
  }

  // The first vertex of the graph.
  int64_t first() const { return first_; }

  void run(int32_t source) {
    forget();
    if (batch_.weight != nullptr) by_weights(source);
    else if (masks()) by_masks(source);
    else by_hops(source);
  }

  // Whether `levels` and `row` may take the place of `run`: graphs of at most 64 vertices, by hops.
  bool masks() const { return size_ <= 64 && batch_.weight == nullptr; }

  // Searches from all vertices of the graph at once. Within d + 1 hops, u reaches what its heads reach within d. The
  // distance of a pair is the number of levels on which it is not reached: counters of all pairs of a vertex are added
  // up together, a bit of each in a plane. Returns the largest distance.
  int32_t levels() {
    const int32_t most = most_hops();
    for (int64_t u = 0; u < size_; ++u) seen_[u] = uint64_t{1} << u;
    for (auto& plane : planes_) std::fill(plane, plane + size_, 0);
    int32_t depth = 0;
    for (bool more = true; depth < most; ++depth) {
      more = false;
      for (int64_t u = 0; u < size_; ++u) {
        uint64_t next = seen_[u];
        for (int64_t slot = batch_.rowptr[first_ + u]; slot < batch_.rowptr[first_ + u + 1]; ++slot)
          next |= seen_[batch_.col[slot] - first_];
        next_[u] = next;
        more |= next != seen_[u];
      }
      if (!more) break;
      // Plane by plane, without branches; next_ has what is carried.
      for (int64_t u = 0; u < size_; ++u) {
        const uint64_t next = next_[u];
        next_[u] = every() & ~seen_[u];
        seen_[u] = next;
      }
      const int used = static_cast<int>(std::bit_width(static_cast<uint32_t>(depth + 1)));
      for (int k = 0; k < used; ++k)
        for (int64_t u = 0; u < size_; ++u) {
          const uint64_t both = planes_[k][u] & next_[u];
          planes_[k][u] ^= next_[u];
          next_[u] = both;
        }
    }
    used_ = static_cast<int>(std::bit_width(static_cast<uint32_t>(depth)));
    return depth;
  }

  // Writes the distances from a vertex, after `levels`.
  template <class T>
  void row(int32_t source, T* out, T unreachable) const {
    uint8_t depth[64];
    for (int64_t i = 0; i < size_; i += 8) {
      uint64_t eight = 0;
      for (int k = 0; k < used_; ++k) eight |= kSpread.bits[planes_[k][source] >> i & 255] << k;
      std::memcpy(depth + i, &eight, 8);
    }
    for (int64_t v = 0; v < size_; ++v) out[v] = static_cast<T>(depth[v]);
    if (const uint64_t all = seen_[source]; all != every())
      for (int64_t v = 0; v < size_; ++v)
        if ((all >> v & 1) == 0) out[v] = unreachable;
  }

  int64_t size() const { return size_; }
  const std::vector<int32_t>& reached() const { return reached_; }
  void sort() {
    if (!masks()) std::sort(reached_.begin(), reached_.end());
  }
  int32_t depth(int32_t v) const { return depth_[v]; }  // arcs of the path
  double distance(int32_t v) const { return batch_.weight == nullptr ? depth_[v] : length_[v]; }

  // Writes the first arcs of the path to v, and -1 behind its end.
  void path(int32_t v, const int64_t* edge, int64_t* out, int64_t room) const {
    const int64_t arcs = depth_[v];
    for (int64_t i = arcs; i < room; ++i) out[i] = -1;
    for (int64_t i = arcs - 1; i >= 0; --i, v = tail_[v])
      if (i < room) out[i] = edge[via_[v]];
  }

 private:
  uint64_t every() const { return size_ == 64 ? ~uint64_t{0} : (uint64_t{1} << size_) - 1; }

  void forget() {
    for (const int32_t v : reached_) depth_[v] = -1;
    if (batch_.weight != nullptr)
      for (const int32_t v : reached_) {
        length_[v] = std::numeric_limits<double>::infinity();
        settled_[v] = 0;
      }
    reached_.clear();
  }

  int32_t most_hops() const { return static_cast<int32_t>(std::min(limit_, static_cast<double>(size_))); }

  void by_masks(int32_t source) {
    uint64_t front = uint64_t{1} << source, seen = front;
    depth_[source] = 0;
    const int32_t most = most_hops();
    for (int32_t depth = 1; depth <= most; ++depth) {
      uint64_t next = 0;
      for (uint64_t left = front; left != 0; left &= left - 1) next |= out_[std::countr_zero(left)];
      next &= ~seen;
      if (next == 0) break;
      for (uint64_t left = next; left != 0; left &= left - 1) {
        const int v = std::countr_zero(left);
        depth_[v] = depth;
        if (paths_) enter_by(v, std::countr_zero(in_[v] & front));
      }
      seen |= next;
      front = next;
    }
    for (; seen != 0; seen &= seen - 1) reached_.push_back(std::countr_zero(seen));
  }

  void enter_by(int32_t v, int32_t u) {
    const int32_t* const col = batch_.col;
    tail_[v] = u;
    via_[v] = std::lower_bound(col + batch_.rowptr[first_ + u], col + batch_.rowptr[first_ + u + 1], first_ + v) - col;
  }

  void by_hops(int32_t source) {
    const int32_t most = most_hops();
    depth_[source] = 0;
    reached_.push_back(source);
    for (size_t head = 0; head < reached_.size(); ++head) {
      const int32_t u = reached_[head], depth = depth_[u] + 1;
      if (depth > most) break;
      for (int64_t slot = batch_.rowptr[first_ + u]; slot < batch_.rowptr[first_ + u + 1]; ++slot) {
        const int32_t v = static_cast<int32_t>(batch_.col[slot] - first_);
        if (depth_[v] < 0) {
          depth_[v] = depth;
          reached_.push_back(v);
        } else if (depth_[v] != depth || tail_[v] < u) {
          continue;
        }
        tail_[v] = u;
        via_[v] = slot;
      }
    }
  }

  void by_weights(int32_t source) {
    heap_.clear();
    length_[source] = 0;
    heap_.emplace_back(0.0, source);
    constexpr auto later = std::greater<std::pair<double, int32_t>>();
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const int32_t u = heap_.back().second;
      heap_.pop_back();
      if (settled_[u]) continue;
      settled_[u] = 1;
      reached_.push_back(u);
      depth_[u] = u == source ? 0 : depth_[tail_[u]] + 1;
      for (int64_t slot = batch_.rowptr[first_ + u]; slot < batch_.rowptr[first_ + u + 1]; ++slot) {
        const int32_t v = static_cast<int32_t>(batch_.col[slot] - first_);
        const double length = length_[u] + batch_.weight[slot];
        if (settled_[v] || length > limit_ || length > length_[v]) continue;
        if (length < length_[v]) {
          length_[v] = length;
          heap_.emplace_back(length, v);
          std::push_heap(heap_.begin(), heap_.end(), later);
        } else if (tail_[v] < u) {
          continue;
        }
        tail_[v] = u;
        via_[v] = slot;
      }
    }
  }

  static constexpr int kPlanes = 6;  // distances are below 64

  const PairBatch batch_;
  const bool paths_;
  int64_t first_ = 0, size_ = 0;
  double limit_ = 0;
  uint64_t out_[64], in_[64];     // heads and tails of each vertex, if there are at most 64
  uint64_t seen_[64], next_[64];  // of `levels`: what each vertex reaches, and the bits of the distances
  uint64_t planes_[kPlanes][64];
  int used_ = 0;
  std::vector<int32_t> reached_;       // ascending, or in the order of the search
  std::vector<int32_t> depth_, tail_;  // -1: not reached; the vertex before on the path
  std::vector<int64_t> via_;           // the slot between
  std::vector<double> length_;
  std::vector<char> settled_;
  std::vector<std::pair<double, int32_t>> heap_;
};

}  // namespace torchcent
