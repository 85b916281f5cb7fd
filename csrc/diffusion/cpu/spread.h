// The diffusion from one source after the other, by one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/codes.h"
#include "core/cpu/buffer.h"
#include "core/cpu/simd_level.h"
#include "diffusion/steps.h"
#include "torchcent/csr.h"

namespace torchcent::diffusion {

struct Problem {
  Csr arcs;
  const double* weight;    // of each slot; null: 1
  const double* strength;  // [n] the sum of the weights out of each vertex
  Steps steps;
  const int64_t* cancel;
};

// Vertices that are appended to without a branch.
class VertexList {
 public:
  void clear() { size_ = 0; }
  void reserve(int64_t more) {
    if (size_ + more > static_cast<int64_t>(data_.size())) data_.resize(static_cast<size_t>(2 * (size_ + more)));
  }
  // There is room for one more.
  void append_if(bool is_one, int32_t v) {
    data_[static_cast<size_t>(size_)] = v;
    size_ += is_one;
  }
  void append(int32_t v) {
    reserve(1);
    append_if(true, v);
  }
  void swap(VertexList& other) {
    data_.swap(other.data_);
    std::swap(size_, other.size_);
  }
  int64_t size() const { return size_; }
  int32_t operator[](int64_t i) const { return data_[static_cast<size_t>(i)]; }
  const int32_t* begin() const { return data_.data(); }
  const int32_t* end() const { return data_.data() + size_; }

 private:
  std::vector<int32_t> data_;
  int64_t size_ = 0;
};

class Spread {
 public:
  explicit Spread(const Problem& problem)
      : problem_(problem), place_(problem.arcs.num_nodes), mass_(problem.arcs.num_nodes) {}

  // Returns false if cancelled.
  bool from(int32_t source) {
    clear();
    const Steps& steps = problem_.steps;
    at(source).rest = kAll;
    touched_.append(source);
    now_.append(source);
    for (int64_t step = 0; now_.size() > 0 && steps.has(step); ++step) {
      if (cancelled(problem_.cancel)) return false;
      take(steps.gain[steps.at(step)]);
      if (!steps.has(step + 1)) break;
      const double bound = steps.bound[steps.at(step + 1)];
      if (problem_.weight != nullptr) move<true>(bound);
      else move<false>(bound);
    }
    return true;
  }

  // The vertices where mass stays, in no order, and how much.
  const VertexList& reached() const { return reached_; }
  int64_t mass(int32_t v) const { return mass_[v]; }
  // Slots along which mass has moved, of all sources.
  int64_t work() const { return work_; }

 private:
  struct Place {
    int64_t rest;
    double strength;  // 0: not known yet
  };
  static constexpr int64_t kAhead = 16, kNext = 3;  // slots and vertices that are fetched before their turn

  Place& at(int32_t v) {
    Place& place = place_[v];
    if (place.strength == 0) place.strength = problem_.strength[v];
    return place;
  }

  void clear() {
    for (const int32_t v : touched_) place_[v].rest = 0;
    for (const int32_t v : reached_) mass_[v] = 0;
    for (const int32_t v : now_) place_[v].rest = 0;
    touched_.clear(), reached_.clear(), now_.clear();
  }

  // Takes the mass of the vertices that move it.
  void take(double gain) {
    amount_.clear();
    reached_.reserve(now_.size());
    for (int64_t i = 0; i < now_.size(); ++i) {
      if (i + kAhead < now_.size()) __builtin_prefetch(&mass_[now_[i + kAhead]], 1);
      const int32_t v = now_[i];
      const int64_t amount = std::exchange(place_[v].rest, 0);
      amount_.push_back(amount);
      const int64_t own = staying(amount, gain);
      reached_.append_if(own > 0 && mass_[v] == 0, v);
      mass_[v] += own;
    }
    if (problem_.steps.lasts) return;
    for (const int32_t v : touched_) place_[v].rest = 0;
    touched_.clear();
  }

  // Fetches what comes after the i-th vertex: its places, and arcs of others.
  void fetch(int64_t i) const {
    const Csr& arcs = problem_.arcs;
    if (i + kNext < now_.size()) __builtin_prefetch(&arcs.rowptr[now_[i + kNext]]);
    if (i + 2 < now_.size()) __builtin_prefetch(&arcs.col[arcs.rowptr[now_[i + 2]]]);
    if (i + 1 == now_.size()) return;
    const int64_t begin = arcs.rowptr[now_[i + 1]], end = arcs.rowptr[now_[i + 1] + 1];
    for (int64_t slot = begin; slot < std::min(end, begin + kAhead); ++slot)
      __builtin_prefetch(&place_[arcs.col[slot]], 1);
  }

  template <bool kWeighted>
  void move(double bound) {
    const Csr& arcs = problem_.arcs;
    next_.clear();
    for (int64_t i = 0; i < now_.size(); ++i) {
      const int32_t u = now_[i];
      const int64_t begin = arcs.rowptr[u], end = arcs.rowptr[u + 1];
      fetch(i);
      if (begin == end) continue;
      const double each = per_weight(amount_[static_cast<size_t>(i)], problem_.steps.follow, place_[u].strength);
      const auto whole = static_cast<int64_t>(each);
      work_ += end - begin;
      touched_.reserve(end - begin + 1), next_.reserve(end - begin + 1);
      for (int64_t slot = begin; slot < end; ++slot) {
        if (slot + kAhead < end) __builtin_prefetch(&place_[arcs.col[slot + kAhead]], 1);
        const int64_t share = kWeighted ? static_cast<int64_t>(each * problem_.weight[slot]) : whole;
        const int32_t v = arcs.col[slot];
        Place& place = at(v);
        const int64_t before = place.rest, after = before + share, most = most_units(bound, place.strength);
        place.rest = after;
        touched_.append_if(before == 0 && after > 0, v);
        next_.append_if(before <= most && after > most, v);
      }
    }
    now_.swap(next_);
  }

  const Problem problem_;
  TORCHCENT_ISA::Buffer<Place> place_;   // [n]
  TORCHCENT_ISA::Buffer<int64_t> mass_;  // [n]
  VertexList touched_;                   // with residual mass, perhaps several times
  VertexList reached_;                   // with mass
  VertexList now_, next_;                // whose mass moves
  std::vector<int64_t> amount_;          // the mass of each of `now_`
  int64_t work_ = 0;
};

}  // namespace torchcent::diffusion
