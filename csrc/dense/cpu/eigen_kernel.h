// Eigenvalues and eigenvectors of symmetric matrices: Householder's reduction to a tridiagonal matrix and QL steps with
// implicit shifts (Bowdler, Martin, Reinsch and Wilkinson 1968). Small matrices of one size are solved side by
// side, in registers: of one alone, each rotation would wait for a square root and two divisions. No number depends on
// the other matrices, nor on whether there are any: both ways do the same operations.
#pragma once

#include <algorithm>
#include <vector>

#include "core/cpu/simd.h"
#include "dense/eigen.h"

namespace torchcent::TORCHCENT_ISA {

// Doubles side by side, and which of them a condition holds for.
struct Pack {
  using Vector = VectorOf<double>::Type;
  using Bits = VectorOf<double>::Bits;
  static constexpr int width = kVectorBytes / sizeof(double), lanes = kVectorBytes > 32 ? 16 : 8, parts = lanes / width;
  struct Mask {
    Bits part[parts];
  };
  Vector part[parts];

  Pack() = default;
  Pack(double value) {
    for (Vector& own : part) own = Vector{} + value;
  }
};

template <class Operation>
inline Pack by_part(Operation operation) {
  Pack result;
  for (int k = 0; k < Pack::parts; ++k) result.part[k] = operation(k);
  return result;
}
template <class Operation>
inline Pack::Mask mask_by_part(Operation operation) {
  Pack::Mask mask;
  for (int k = 0; k < Pack::parts; ++k) mask.part[k] = operation(k);
  return mask;
}
inline Pack operator+(const Pack& x, const Pack& y) {
  return by_part([&](int k) { return x.part[k] + y.part[k]; });
}
inline Pack operator-(const Pack& x, const Pack& y) {
  return by_part([&](int k) { return x.part[k] - y.part[k]; });
}
inline Pack operator*(const Pack& x, const Pack& y) {
  return by_part([&](int k) { return x.part[k] * y.part[k]; });
}
inline Pack operator/(const Pack& x, const Pack& y) {
  return by_part([&](int k) { return x.part[k] / y.part[k]; });
}
inline Pack::Mask operator>(const Pack& x, const Pack& y) {
  return mask_by_part([&](int k) { return x.part[k] > y.part[k]; });
}
inline Pack::Mask operator==(const Pack& x, const Pack& y) {
  return mask_by_part([&](int k) { return x.part[k] == y.part[k]; });
}
inline Pack::Mask operator&(const Pack::Mask& x, const Pack::Mask& y) {
  return mask_by_part([&](int k) { return x.part[k] & y.part[k]; });
}
inline Pack::Mask operator!(const Pack::Mask& x) {
  return mask_by_part([&](int k) { return ~x.part[k]; });
}
inline Pack select(const Pack::Mask& mask, const Pack& yes, const Pack& no) {
  return by_part([&](int k) {
    return (Pack::Vector)(((Pack::Bits)yes.part[k] & mask.part[k]) | ((Pack::Bits)no.part[k] & ~mask.part[k]));
  });
}
inline bool any(const Pack::Mask& mask) {
  Pack::Bits all{};
  for (const Pack::Bits& part : mask.part) all |= part;
#if defined(TORCHCENT_AVX512)
  return _mm512_test_epi64_mask((__m512i)all, (__m512i)all) != 0;
#elif defined(TORCHCENT_AVX2)
  return _mm256_movemask_pd((__m256d)all) != 0;
#else
  int64_t bits = 0;
  for (int i = 0; i < Pack::width; ++i) bits |= all[i];
  return bits != 0;
#endif
}
inline Pack root(const Pack& x) {
  return by_part([&](int k) {
#if defined(TORCHCENT_AVX512)
    return (Pack::Vector)_mm512_sqrt_pd(x.part[k]);
#elif defined(TORCHCENT_AVX2)
    return (Pack::Vector)_mm256_sqrt_pd(x.part[k]);
#else
    Pack::Vector result;
    for (int i = 0; i < Pack::width; ++i) result[i] = __builtin_sqrt(x.part[k][i]);
    return result;
#endif
  });
}
// x * y + z and z - x * y, rounded once where the processor does that. Written as such, since a compiler may round once
// or twice, and differently for doubles and for packs.
inline Pack fused_add(const Pack& x, const Pack& y, const Pack& z) {
  return by_part([&](int k) {
#if defined(TORCHCENT_AVX512)
    return (Pack::Vector)_mm512_fmadd_pd(x.part[k], y.part[k], z.part[k]);
#elif defined(TORCHCENT_AVX2)
    return (Pack::Vector)_mm256_fmadd_pd(x.part[k], y.part[k], z.part[k]);
#else
    return x.part[k] * y.part[k] + z.part[k];
#endif
  });
}
inline Pack fused_subtract(const Pack& z, const Pack& x, const Pack& y) {
  return by_part([&](int k) {
#if defined(TORCHCENT_AVX512)
    return (Pack::Vector)_mm512_fnmadd_pd(x.part[k], y.part[k], z.part[k]);
#elif defined(TORCHCENT_AVX2)
    return (Pack::Vector)_mm256_fnmadd_pd(x.part[k], y.part[k], z.part[k]);
#else
    return z.part[k] - x.part[k] * y.part[k];
#endif
  });
}
#if defined(TORCHCENT_AVX512) || defined(TORCHCENT_AVX2)
inline double fused_add(double x, double y, double z) { return __builtin_fma(x, y, z); }
inline double fused_subtract(double z, double x, double y) { return __builtin_fma(-x, y, z); }
#else
inline double fused_add(double x, double y, double z) { return x * y + z; }
inline double fused_subtract(double z, double x, double y) { return z - x * y; }
#endif
inline double select(bool mask, double yes, double no) { return mask ? yes : no; }
inline bool any(bool mask) { return mask; }
inline double root(double x) { return __builtin_sqrt(x); }

template <class V>
inline V magnitude(const V& x) {
  return select(x > V(0.0), x, V(0.0) - x);
}

template <int kChains, class V>
inline V dot(const V* x, const V* y, int64_t count) {
  V sum[kChains];  // as many chains of additions
  for (V& own : sum) own = V(0.0);
  int64_t i = 0;
  for (; i + kChains <= count; i += kChains)
    for (int c = 0; c < kChains; ++c) sum[c] = fused_add(x[i + c], y[i + c], sum[c]);
  for (int c = 0; i < count; ++i, ++c) sum[c] = fused_add(x[i], y[i], sum[c]);
  for (int half = kChains / 2; half > 0; half /= 2)
    for (int c = 0; c < half; ++c) sum[c] = sum[c] + sum[c + half];
  return sum[0];
}
template <class V>
inline void add(V* __restrict to, const V* __restrict x, const V& factor, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = fused_add(x[i], factor, to[i]);
}

// Matrices [n, n] of as many lanes as V has.
template <class V>
class QlSolver final : public EigenSolver {
 public:
  explicit QlSolver(int64_t n)
      : n_(n), a_(n * n), d_(n), e_(n + 1), p_(n), block_(n * kWide), value_(n), place_(n * kLanes) {}

  int64_t lanes() const override { return kLanes; }
  double* entries() override { return numbers(a_); }
  const double* values() const override { return numbers(value_); }

  void solve(bool vectors) override {
    if (n_ == 0) return;
    reduce();
    steps_.clear();
    turned_ = 0;
    if (vectors) diagonalise<true>();
    else diagonalise<false>();
    sort();
  }

  double* states(int64_t count) override {
    if (count > capacity_) {
      Buffer<V> more(count * n_);
      states_.swap(more);
      capacity_ = count;
    }
    int64_t j = 0;
    for (; count - j >= kWide; j += kWide) some_states<kWide>(j, kWide, count * n_);
    for (; j < count; j += kNarrow) some_states<kNarrow>(j, std::min<int64_t>(kNarrow, count - j), count * n_);
    return numbers(states_);
  }

 private:
  static constexpr int kLanes = sizeof(V) / sizeof(double);
  static constexpr int kNarrow = kLanes == 1 ? 8 : 1, kWide = 4 * kNarrow;  // vectors that are rotated together
  static constexpr int kMostSteps = 100;                                    // of one eigenvalue; two or three are usual
  static constexpr double kNothing = 0x1p-960;  // squared entries of a matrix of size 1: their reciprocal overflows

  struct Rotation {
    V sine, cosine;
  };
  struct Step {  // turned rows first and first + 1, ..., last - 1 and last, the last ones first
    int64_t first, last, begin;
  };

  static double* numbers(const Buffer<V>& buffer) { return reinterpret_cast<double*>(buffer.data()); }
  V* row(int64_t i) { return a_.data() + i * n_; }

  // Matrices that are never solved side by side need not have the same sums.
  V product(const V* x, const V* y, int64_t count) const {
    if (kLanes == 1 && n_ > kSideBySide) return dot<16>(x, y, count);
    return dot<4>(x, y, count);
  }

  // Tridiagonal matrix: diagonal d_, and e_[i] between i and i + 1. Step k reflects the first k coordinates by
  // I - beta v v^T; v replaces the first k entries of row k, and beta its diagonal.
  void reduce() {
    for (int64_t k = n_ - 1; k > 1; --k) {
      V* const v = row(k);
      const V square = product(v, v, k), last = v[k - 1], length = root(square);
      const V along = select(last > V(0.0), V(0.0) - length, length);
      const V half = fused_subtract(square, along, last);  // of the squared length of v
      const V beta = select(half > V(kNothing), V(1.0) / half, V(0.0));
      d_[k] = v[k];
      e_[k - 1] = along;
      v[k - 1] = last - along;
      v[k] = beta;
      for (int64_t i = 0; i < k; ++i) {
        const V* const own = row(i);
        p_[i] = fused_add(own[i], v[i], product(own, v, i));
        add(p_.data(), own, v[i], i);
      }
      for (int64_t i = 0; i < k; ++i) p_[i] = beta * p_[i];  // before the product: beta^2 may overflow
      const V both = beta * product(p_.data(), v, k) * V(0.5);
      for (int64_t i = 0; i < k; ++i) p_[i] = fused_subtract(p_[i], both, v[i]);
      for (int64_t i = 0; i < k; ++i) {
        V* const own = row(i);
        for (int64_t j = 0; j <= i; ++j) own[j] = fused_subtract(fused_subtract(own[j], v[i], p_[j]), p_[i], v[j]);
      }
    }
    d_[0] = row(0)[0];
    if (n_ > 1) e_[0] = row(1)[0], d_[1] = row(1)[1];
    e_[n_ - 1] = V(0.0);
  }

  // d_ becomes the eigenvalues, and the product of all rotations, the last to the left, has the eigenvectors of the
  // tridiagonal matrix in its rows.
  template <bool kVectors>
  void diagonalise() {
    V least(0.0);
    for (int64_t i = 0; i < n_; ++i) {
      const V size = magnitude(d_[i]) + magnitude(e_[i]);
      least = select(size > least, size, least);
    }
    least = least * V(0x1p-52);
    for (int64_t l = 0; l + 1 < n_; ++l) {
      for (int step = 0;; ++step) {
        // Pack whose block begins at l and ends at their m. All step from the last of these ends.
        auto joined = magnitude(e_[l]) > least;
        if (!any(joined)) break;
        if (step == kMostSteps) {
          d_[l] = select(joined, V(__builtin_nan("")), d_[l]);
          e_[l] = select(joined, V(0.0), e_[l]);
          break;
        }
        V end(0.0);
        int64_t last = l;
        for (auto same = joined; any(same); same = same & (magnitude(e_[last]) > least)) {
          end = select(same, V(static_cast<double>(++last)), end);
          if (last == n_ - 1) break;
        }
        shifted_step<kVectors>(l, last, joined, end);
      }
    }
  }

  // A QL step on rows l to `end` of each active lane, with the eigenvalue of the first two rows that is next to d_[l]
  // as the shift.
  template <bool kVectors, class Mask>
  void shifted_step(int64_t l, int64_t last, Mask active, const V& end) {
    const V one(1.0), none(0.0), shifted = d_[l];
    const V divisor = select(active, e_[l], one);
    const V half = (d_[l + 1] - shifted) / (divisor + divisor), hypotenuse = root(fused_add(half, half, one));
    const V shift = divisor / select(half > none, half + hypotenuse, half - hypotenuse);
    V g(0.0), sine(1.0), cosine(1.0), taken(0.0);
    Rotation* const rotation = kVectors ? rotations_for(l, last) : nullptr;
    for (int64_t i = last - 1; i >= l; --i) {
      const auto first = end == V(static_cast<double>(i + 1));
      const auto inside = active & (end > V(static_cast<double>(i)));
      g = select(first, d_[i + 1] - shifted + shift, g);
      const V f = sine * e_[i], b = cosine * e_[i], square = fused_add(f, f, g * g), length = root(square);
      const auto falls_apart = inside & (square == none);
      if (any(falls_apart)) {  // into two matrices, of which the other one is left to the next step
        d_[i + 1] = select(falls_apart, d_[i + 1] - taken, d_[i + 1]);
        e_[i + 1] = select(falls_apart, none, e_[i + 1]);
        active = active & !falls_apart;
      }
      const auto turned = inside & active;
      e_[i + 1] = select(turned, select(first, none, length), e_[i + 1]);
      const V divided = one / select(turned, length, one);
      sine = select(turned, f * divided, sine);
      cosine = select(turned, g * divided, cosine);
      const V base = d_[i + 1] - taken;
      const V rest = fused_add(d_[i] - base, sine, V(2.0) * cosine * b);
      taken = select(turned, sine * rest, taken);
      d_[i + 1] = select(turned, base + taken, d_[i + 1]);
      g = select(turned, fused_add(cosine, rest, none - b), g);
      if constexpr (kVectors) {
        rotation[i - l].sine = select(turned, sine, none);
        rotation[i - l].cosine = select(turned, cosine, one);
      }
    }
    d_[l] = select(active, d_[l] - taken, d_[l]);
    e_[l] = select(active, g, e_[l]);
  }

  // Room for the rotations of a step, that of rows i and i + 1 at place i - l.
  Rotation* rotations_for(int64_t l, int64_t last) {
    const int64_t needed = turned_ + last - l;
    if (needed > room_) {
      const int64_t more = std::max(2 * needed, n_ * n_);
      Buffer<Rotation> larger(more);
      std::copy_n(rotations_.data(), turned_, larger.data());
      rotations_.swap(larger);
      room_ = more;
    }
    steps_.push_back({l, last, turned_});
    turned_ = needed;
    return rotations_.data() + steps_.back().begin;
  }

  // Eigenvectors first, ..., first + count - 1: unit vectors, to which what was done to the matrix is done in the
  // reverse order. So a few vectors cost a part of all.
  template <int kCount>
  void some_states(int64_t first, int64_t count, int64_t of_lane) {
    V* const x = block_.data();  // [n, kCount]
    for (int64_t i = 0; i < n_ * kCount; ++i) x[i] = V(0.0);
    for (int64_t c = 0; c < count; ++c)
      for (int lane = 0; lane < kLanes; ++lane)
        numbers(block_)[(place_[(first + c) * kLanes + lane] * kCount + c) * kLanes + lane] = 1;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) rotate<kCount>(*step, x);
    for (int64_t k = 2; k < n_; ++k) reflect<kCount>(row(k), k, x);
    double* const to = numbers(states_) + first * n_;
    for (int64_t c = 0; c < count; ++c)
      for (int64_t i = 0; i < n_; ++i)
        for (int lane = 0; lane < kLanes; ++lane)
          to[lane * of_lane + c * n_ + i] = numbers(block_)[(i * kCount + c) * kLanes + lane];
  }

  template <int kCount>
  void rotate(const Step& step, V* x) {
    const Rotation* rotation = rotations_.data() + step.begin;
    V own[kCount];
    for (int c = 0; c < kCount; ++c) own[c] = x[step.first * kCount + c];
    for (int64_t i = step.first; i < step.last; ++i, ++rotation) {
      const V sine = rotation->sine, cosine = rotation->cosine;
      for (int c = 0; c < kCount; ++c) {
        const V next = x[(i + 1) * kCount + c];
        x[i * kCount + c] = fused_add(cosine, own[c], sine * next);
        own[c] = fused_subtract(cosine * next, sine, own[c]);
      }
    }
    for (int c = 0; c < kCount; ++c) x[step.last * kCount + c] = own[c];
  }

  template <int kCount>
  void reflect(const V* v, int64_t k, V* x) {
    V along[kCount];
    for (int c = 0; c < kCount; ++c) along[c] = V(0.0);
    for (int64_t i = 0; i < k; ++i)
      for (int c = 0; c < kCount; ++c) along[c] = fused_add(v[i], x[i * kCount + c], along[c]);
    for (int c = 0; c < kCount; ++c) along[c] = v[k] * along[c];
    for (int64_t i = 0; i < k; ++i)
      for (int c = 0; c < kCount; ++c) x[i * kCount + c] = fused_subtract(x[i * kCount + c], v[i], along[c]);
  }

  // Equal values keep the order of their rows.
  void sort() {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int64_t j = 0; j < n_; ++j) {
        const double own = numbers(d_)[j * kLanes + lane];
        int64_t place = j;
        for (; place > 0 && numbers(value_)[(place - 1) * kLanes + lane] > own; --place) {
          numbers(value_)[place * kLanes + lane] = numbers(value_)[(place - 1) * kLanes + lane];
          place_[place * kLanes + lane] = place_[(place - 1) * kLanes + lane];
        }
        numbers(value_)[place * kLanes + lane] = own;
        place_[place * kLanes + lane] = j;
      }
    }
  }

  int64_t n_, capacity_ = 0, room_ = 0, turned_ = 0;  // of states, of rotations, and how many there are
  Buffer<V> a_, d_, e_, p_, block_, value_, states_;
  Buffer<int64_t> place_;  // [n, lanes]: where the value of each rank is in d_
  std::vector<Step> steps_;
  Buffer<Rotation> rotations_;
};

int64_t matrices_together(int64_t n, int64_t count) {
  constexpr int64_t kFew = 4;  // which alone take less time than a pack
  return n <= kSideBySide && count >= kFew ? std::min<int64_t>(count, Pack::lanes) : 1;
}

std::unique_ptr<EigenSolver> make_eigen_solver(int64_t n, bool together) {
  if (together) return std::unique_ptr<EigenSolver>(new QlSolver<Pack>(n));
  return std::unique_ptr<EigenSolver>(new QlSolver<double>(n));
}

}  // namespace torchcent::TORCHCENT_ISA
