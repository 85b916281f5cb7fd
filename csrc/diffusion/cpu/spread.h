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
  // Where the next one is written, if there is room; and up to where they are written then.
  int32_t* next() { return data_.data() + size_; }
  void end_at(const int32_t* end) { size_ = end - data_.data(); }
  void append(int32_t v) {
    reserve(1);
    data_[static_cast<size_t>(size_++)] = v;
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
    place_[source].rest = kAll;
    touched_.append(source);
    now_.append(source);
    for (int64_t step = 0; now_.size() > 0 && steps.has(step); ++step) {
      if (cancelled(problem_.cancel)) return false;
      take(steps.gain[steps.at(step)]);
      if (!steps.has(step + 1)) break;
      const double bound = steps.bound[steps.at(step + 1)];
      if (problem_.weight != nullptr) steps.lasts ? move<true, true>(bound) : move<true, false>(bound);
      else steps.lasts ? move<false, true>(bound) : move<false, false>(bound);
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
    int64_t most;  // that remain, if steps last: their bound is the same; 0: perhaps not known yet
  };
  static constexpr int64_t kAhead = 16;  // slots whose places are fetched before their turn
  static constexpr int64_t kLine = 16;   // slots of a cache line

  void clear() {
    for (const int32_t v : touched_) place_[v].rest = 0;
    for (const int32_t v : reached_) mass_[v] = 0;
    for (const int32_t v : now_) place_[v].rest = 0;
    touched_.clear(), reached_.clear(), now_.clear();
  }

  // Takes the mass of the vertices that move it.
  void take(double gain) {
    amount_.clear();
    for (int64_t i = 0; i < now_.size(); ++i) {
      const int32_t v = now_[i];
      for (int64_t line = 0; line < 4; ++line)
        __builtin_prefetch(problem_.arcs.col + problem_.arcs.rowptr[v] + line * kLine);
      const int64_t amount = std::exchange(place_[v].rest, 0);
      amount_.push_back(amount);
      const int64_t own = staying(amount, gain);
      if (own > 0 && mass_[v] == 0) reached_.append(v);
      mass_[v] += own;
    }
    if (problem_.steps.lasts) return;
    for (const int32_t v : touched_) place_[v].rest = 0;
    touched_.clear();
  }

  // The vertex moves its mass at the next step; what is read of it then is fetched.
  void move_next(int32_t v) {
    next_.append(v);
    __builtin_prefetch(problem_.arcs.rowptr + v);
    __builtin_prefetch(problem_.strength + v);
    __builtin_prefetch(mass_.data() + v, 1);
  }

  // Fetches the first places beside the vertex after the i-th one.
  void fetch(int64_t i) const {
    const Csr& arcs = problem_.arcs;
    if (i + 1 == now_.size()) return;
    const int64_t begin = arcs.rowptr[now_[i + 1]], end = arcs.rowptr[now_[i + 1] + 1];
    for (int64_t slot = begin; slot < std::min(end, begin + kAhead); ++slot)
      __builtin_prefetch(place_.data() + arcs.col[slot], 1);
  }

  template <bool kWeighted, bool kLasts>
  void move(double bound) {
    const Csr& arcs = problem_.arcs;
    const double* const strength = problem_.strength;
    Place* const place_of = place_.data();
    next_.clear();
    for (int64_t i = 0; i < now_.size(); ++i) {
      const int32_t u = now_[i];
      const int64_t begin = arcs.rowptr[u], end = arcs.rowptr[u + 1];
      fetch(i);
      if (begin == end) continue;
      const double each = per_weight(amount_[static_cast<size_t>(i)], problem_.steps.follow, strength[u]);
      const auto whole = static_cast<int64_t>(each);
      work_ += end - begin;
      touched_.reserve(end - begin + 1);
      int32_t* touched = touched_.next();
      for (int64_t slot = begin; slot < end; ++slot) {
        if (slot + kAhead < end) __builtin_prefetch(place_of + arcs.col[slot + kAhead], 1);
        __builtin_prefetch(arcs.col + slot + 4 * kLine);
        const int64_t share = kWeighted ? static_cast<int64_t>(each * problem_.weight[slot]) : whole;
        const int32_t v = arcs.col[slot];
        Place& place = place_of[v];
        const int64_t before = place.rest, after = before + share;
        place.rest = after;
        *touched = v;
        touched += before == 0 && after > 0;  // without a branch: about a half are
        if constexpr (kLasts) {
          if (after <= place.most) continue;
          if (place.most == 0) place.most = most_units(bound, strength[v]);
          if (before <= place.most && after > place.most) move_next(v);
        }
      }
      touched_.end_at(touched);
    }
    if constexpr (!kLasts)
      for (const int32_t v : touched_)
        if (place_of[v].rest > most_units(bound, strength[v])) move_next(v);
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
