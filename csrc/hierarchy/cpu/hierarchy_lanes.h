// Registers of lengths and path counts of several sources, for the sweeps of a hierarchy. Both have as many lanes, so
// that one mask serves both. Included once per instruction set.
#pragma once

#include "core/cpu/buffer.h"
#include "core/cpu/simd.h"

namespace torchcent::TORCHCENT_ISA {

template <class Number>
struct Lanes {
  using Count = typename VectorOf<Number>::Type;
  using Distance = typename VectorOf<Number>::Bits;
  using Length = LengthOf<Number>;
  static constexpr bool kSingle = sizeof(Number) == 4;
  static constexpr int width = kVectorBytes / sizeof(Number);
  static constexpr unsigned all = (1u << width) - 1;
  static constexpr Length far = kSingle ? Length(int64_t{1} << 30) : Length(int64_t{1} << 61);
  static constexpr Number most = kSingle ? Number(1e30) : Number(kLargestCount);  // beyond it comes the next rung

  static Distance lengths(Length x) { return Distance{} + x; }
  static Count counts(Number x) { return Count{} + x; }
  static Distance smaller(Distance a, Distance b) { return a < b ? a : b; }
  static Distance larger(Distance a, Distance b) { return a > b ? a : b; }
  static Count larger(Count a, Count b) { return a > b ? a : b; }
  static double total(Count x) { return Row<Number>::total(x); }

#if defined(TORCHCENT_AVX512)
  using Mask = std::conditional_t<kSingle, __mmask16, __mmask8>;
  static Mask equal(Distance a, Distance b) {
    if constexpr (kSingle) return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
    else return _mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b);
  }
  static Mask at_most(Distance a, Distance b) {
    if constexpr (kSingle) return _mm512_cmple_epi32_mask((__m512i)a, (__m512i)b);
    else return _mm512_cmple_epi64_mask((__m512i)a, (__m512i)b);
  }
  static unsigned bits(Mask mask) { return mask; }
  static Count chosen(Mask mask, Count x) {
    if constexpr (kSingle) return (Count)_mm512_maskz_mov_ps(mask, (__m512)x);
    else return (Count)_mm512_maskz_mov_pd(mask, (__m512d)x);
  }
  static Count choose(Mask mask, Count x, Count otherwise) {
    if constexpr (kSingle) return (Count)_mm512_mask_mov_ps((__m512)otherwise, mask, (__m512)x);
    else return (Count)_mm512_mask_mov_pd((__m512d)otherwise, mask, (__m512d)x);
  }
  // sum + a b in the lanes of the mask
  static Count add_product(Mask mask, Count a, Count b, Count sum) {
    if constexpr (kSingle) return (Count)_mm512_mask3_fmadd_ps((__m512)a, (__m512)b, (__m512)sum, mask);
    else return (Count)_mm512_mask3_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)sum, mask);
  }
  // a b in the lanes of the mask, else 0
  static Count product(Mask mask, Count a, Count b) {
    if constexpr (kSingle) return (Count)_mm512_maskz_mul_ps(mask, (__m512)a, (__m512)b);
    else return (Count)_mm512_maskz_mul_pd(mask, (__m512d)a, (__m512d)b);
  }
  static void store(int32_t* to, unsigned lanes, int32_t value) {
    if constexpr (kSingle) _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(lanes), _mm512_set1_epi32(value));
    else _mm256_mask_storeu_epi32(to, static_cast<__mmask8>(lanes), _mm256_set1_epi32(value));
  }
  // row[index[0]], row[index[1]], ... of a row of so many registers
  static Distance pick(const Length* row, const int32_t* index, int registers) {
    if constexpr (kSingle) {
      const __m512i at = _mm512_loadu_si512(index);
      if (registers == 1) return (Distance)_mm512_permutexvar_epi32(at, _mm512_load_si512(row));
      if (registers == 2)
        return (Distance)_mm512_permutex2var_epi32(_mm512_load_si512(row), at, _mm512_load_si512(row + width));
      return (Distance)_mm512_i32gather_epi32(at, row, 4);
    } else {
      const __m256i narrow = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index));
      const __m512i at = _mm512_cvtepi32_epi64(narrow);
      if (registers == 1) return (Distance)_mm512_permutexvar_epi64(at, _mm512_load_si512(row));
      if (registers == 2)
        return (Distance)_mm512_permutex2var_epi64(_mm512_load_si512(row), at, _mm512_load_si512(row + width));
      return (Distance)_mm512_i32gather_epi64(narrow, row, 8);
    }
  }
#else
  using Mask = Distance;
  static Mask equal(Distance a, Distance b) { return a == b; }
  static Mask at_most(Distance a, Distance b) { return a <= b; }
  static unsigned bits(Mask mask) {
#if defined(TORCHCENT_AVX2)
    if constexpr (kSingle) return _mm256_movemask_ps((__m256)mask);
    else return _mm256_movemask_pd((__m256d)mask);
#else
    unsigned found = 0;
    for (int i = 0; i < width; ++i) found |= static_cast<unsigned>(mask[i] & 1) << i;
    return found;
#endif
  }
  static Count chosen(Mask mask, Count x) { return (Count)((Distance)x & mask); }
  static Count choose(Mask mask, Count x, Count otherwise) { return mask ? x : otherwise; }
  static Count add_product(Mask mask, Count a, Count b, Count sum) { return mask ? sum + a * b : sum; }
  static Count product(Mask mask, Count a, Count b) { return chosen(mask, a * b); }
  static void store(int32_t* to, unsigned lanes, int32_t value) {
#if defined(TORCHCENT_AVX2)
    const int set = static_cast<int>(lanes);
    if constexpr (kSingle) {
      const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
      const __m256i mask = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(set), bit), bit);
      __m256i* const at = reinterpret_cast<__m256i*>(to);
      _mm256_storeu_si256(at, _mm256_blendv_epi8(_mm256_loadu_si256(at), _mm256_set1_epi32(value), mask));
    } else {
      const __m128i bit = _mm_setr_epi32(1, 2, 4, 8);
      const __m128i mask = _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32(set), bit), bit);
      __m128i* const at = reinterpret_cast<__m128i*>(to);
      _mm_storeu_si128(at, _mm_blendv_epi8(_mm_loadu_si128(at), _mm_set1_epi32(value), mask));
    }
#else
    for (; lanes != 0; lanes &= lanes - 1) to[__builtin_ctz(lanes)] = value;
#endif
  }
  static Distance pick(const Length* row, const int32_t* index, int) {
    typedef Length Any __attribute__((may_alias));  // rows of path counts come here, too
    const Any* const from = row;
    Distance found;
    for (int i = 0; i < width; ++i) found[i] = from[index[i]];
    return found;
  }
#endif
  static Mask ones(Count x) { return equal((Distance)x, (Distance)counts(1)); }
  static Count pick(const Number* row, const int32_t* index, int registers) {
    return (Count)pick(reinterpret_cast<const Length*>(row), index, registers);
  }
};

// Registers of float64, for sums over lanes.
template <class Number>
struct Reals {
  using Real = typename VectorOf<double>::Type;
  using Length = LengthOf<Number>;
  static constexpr int width = kVectorBytes / sizeof(double);
  static constexpr int parts = static_cast<int>(sizeof(double) / sizeof(Number));  // of a register of distances
  typedef Length Whole __attribute__((vector_size(width * sizeof(Length)), may_alias));

  static Real of(const Length* distance) {
    const Whole x = *reinterpret_cast<const Whole*>(distance);
    // The compiler takes four instructions for int32, and without AVX-512 goes lane by lane for int64.
#if defined(TORCHCENT_AVX512)
    if constexpr (sizeof(Number) == 4) return _mm512_cvtepi32_pd((__m256i)x);
#elif defined(TORCHCENT_AVX2)
    if constexpr (sizeof(Number) == 4) return _mm256_cvtepi32_pd((__m128i)x);
    else return converted(x);
#endif
    return __builtin_convertvector(x, Real);
  }
  // a b + c
  static Real fused(Real a, Real b, Real c) {
#if defined(TORCHCENT_AVX512)
    return _mm512_fmadd_pd(a, b, c);
#elif defined(TORCHCENT_AVX2)
    return _mm256_fmadd_pd(a, b, c);
#else
    return a * b + c;
#endif
  }
  static Real& at(double* p) { return *reinterpret_cast<Real*>(p); }
  static Real at(const double* p) { return *reinterpret_cast<const Real*>(p); }

 private:
#if defined(TORCHCENT_AVX2)
  // int64 to float64, for which there is no instruction: the lowest 48 bits with the exponent of 2^52, and the others,
  // with their sign, with that of 3 * 2^67. Both are exact; their sum is rounded once.
  static Real converted(Whole x) {
    constexpr double kLow = 0x1p52, kHigh = 3 * 0x1p67;
    const __m256i bits = (__m256i)x, lowest = _mm256_castpd_si256(_mm256_set1_pd(kLow));
    const __m256i shifted = _mm256_blend_epi16(_mm256_srai_epi32(bits, 16), _mm256_setzero_si256(), 0x33);
    const __m256i high = _mm256_add_epi64(shifted, _mm256_castpd_si256(_mm256_set1_pd(kHigh)));
    const __m256i low = _mm256_blend_epi16(bits, lowest, 0x88);
    return (Real)_mm256_add_pd(_mm256_sub_pd((__m256d)high, _mm256_set1_pd(kHigh + kLow)), (__m256d)low);
  }
#endif
};

// Two hashes of what each lane holds in several rows: sums of products of halves with keys added, which collide with a
// probability of about 2^-32 each for any two different rows (NH: Black et al. 1999).
template <class Number>
class LaneHash {
  using L = Lanes<Number>;
  using Distance = typename L::Distance;
  typedef uint64_t Whole __attribute__((vector_size(kVectorBytes), may_alias));
  typedef uint32_t Half __attribute__((vector_size(kVectorBytes), may_alias));

 public:
  LaneHash() {
    for (int i = 0; i < 2; ++i) even_[i] = odd_[i] = Whole{};
  }
  void add(Distance x, Distance y, const uint64_t* keys) {
    for (int i = 0; i < 2; ++i) {
      const uint32_t low = static_cast<uint32_t>(keys[i]), high = static_cast<uint32_t>(keys[i] >> 32);
      if constexpr (L::kSingle) {
        const Half a = (Half)x + low, b = (Half)y + high;
        even_[i] += product((Whole)a, (Whole)b);
        odd_[i] += product((Whole)a >> 32, (Whole)b >> 32);
      } else {
        const Half a = (Half)x + low, b = (Half)y + high;  // both halves of a lane with one key each
        const Half c = (Half)x + (low ^ 0x9E3779B9u), d = (Half)y + (high ^ 0x85EBCA6Bu);
        even_[i] += product((Whole)a, (Whole)c >> 32) + product((Whole)b >> 32, (Whole)d);
      }
    }
  }
  Distance value(int i) const {
    if constexpr (L::kSingle) {
      const Whole even = (even_[i] * kOdd) >> 32, odd = (odd_[i] * kOdd) & ~uint64_t{0xFFFFFFFF};
      return (Distance)(even | odd);
    } else {
      return (Distance)even_[i];
    }
  }

 private:
  static constexpr uint64_t kOdd = 0x9E3779B97F4A7C15u;

  // of the low halves
  static Whole product(Whole a, Whole b) {
#if defined(TORCHCENT_AVX512)
    return (Whole)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(TORCHCENT_AVX2)
    return (Whole)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
    return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
#endif
  }

  Whole even_[2], odd_[2];
};

template <class T>
void fill(T* first, int64_t count, T value) {
  for (int64_t i = 0; i < count; ++i) first[i] = value;
}

// Memory that grows, with any contents; what it held is lost then.
template <class T>
class Room {
 public:
  T* hold(int64_t count) {
    if (count > size_) {
      size_ = count + count / 4;
      Buffer<T> larger(size_, false);
      buffer_.swap(larger);
    }
    return buffer_.data();
  }
  T* data() const { return buffer_.data(); }
  T& operator[](int64_t i) const { return buffer_[i]; }
  int64_t size() const { return size_; }
  void swap(Room& other) {
    buffer_.swap(other.buffer_);
    const int64_t size = size_;
    size_ = other.size_;
    other.size_ = size;
  }

 private:
  Buffer<T> buffer_;
  int64_t size_ = 0;
};

// The same for registers, whose types lose their attributes as arguments of templates.
template <class Number>
class CountRoom {
 public:
  using Register = typename Lanes<Number>::Count;
  Register* hold(int64_t count) { return reinterpret_cast<Register*>(bytes_.hold(count * kVectorBytes)); }
  Register* data() const { return reinterpret_cast<Register*>(bytes_.data()); }
  Register& operator[](int64_t i) const { return data()[i]; }

 private:
  Room<char> bytes_;
};
template <class Number>
class DistanceRoom {
 public:
  using Register = typename Lanes<Number>::Distance;
  Register* hold(int64_t count) { return reinterpret_cast<Register*>(bytes_.hold(count * kVectorBytes)); }
  Register* data() const { return reinterpret_cast<Register*>(bytes_.data()); }
  Register& operator[](int64_t i) const { return data()[i]; }

 private:
  Room<char> bytes_;
};

}  // namespace torchcent::TORCHCENT_ISA
