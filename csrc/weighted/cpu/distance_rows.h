// Rows of tentative distances: those of one vertex in 64 lanes, in the narrowest type that holds them. Comparing rows
// gives a mask of lanes; with AVX-512 and one-byte distances, this is a single instruction.
#pragma once

namespace torchcent::TORCHCENT_ISA {

// The type of distances in a row. `unreached` is larger than all others and stays so when a weight is added.
template <class Q>
struct DistanceType;
template <>
struct DistanceType<uint8_t> {
  typedef uint8_t Vector __attribute__((vector_size(kVectorBytes), may_alias));
  static constexpr uint8_t unreached = 0xff;
  static constexpr int64_t largest = 0xfe;
};
template <>
struct DistanceType<uint16_t> {
  typedef uint16_t Vector __attribute__((vector_size(kVectorBytes), may_alias));
  static constexpr uint16_t unreached = 0xffff;
  static constexpr int64_t largest = 0xfffe;
};
template <>
struct DistanceType<uint32_t> {
  typedef uint32_t Vector __attribute__((vector_size(kVectorBytes), may_alias));
  static constexpr uint32_t unreached = 0x7fffffff;  // adding a smaller weight does not wrap around
  static constexpr int64_t largest = 0x7ffffffe;
};
template <>
struct DistanceType<double> {
  typedef double Vector __attribute__((vector_size(kVectorBytes), may_alias));
  static constexpr double unreached = __builtin_inf();
};

template <class Q>
struct DistanceRow {
  using Vector = typename DistanceType<Q>::Vector;
  static constexpr int lanes = kRelaxBatch;
  static constexpr int width = kVectorBytes / sizeof(Q);
  static constexpr int registers = lanes / width;
  static constexpr Q unreached = DistanceType<Q>::unreached;

  Vector part[registers];

  static Vector spread(Q value) { return Vector{} + value; }
  static Vector load(const Q* p, int k) { return *reinterpret_cast<const Vector*>(p + width * k); }

  static DistanceRow all(Q value) {
    DistanceRow row;
    for (int k = 0; k < registers; ++k) row.part[k] = spread(value);
    return row;
  }
  static DistanceRow load(const Q* p) {
    DistanceRow row;
    for (int k = 0; k < registers; ++k) row.part[k] = load(p, k);
    return row;
  }
  void store(Q* p) const {
    for (int k = 0; k < registers; ++k) *reinterpret_cast<Vector*>(p + width * k) = part[k];
  }

  // Saturates if unreached + weight would wrap around.
  static Vector plus(Vector a, Vector b) {
#if defined(TORCHCENT_AVX512)
    if constexpr (sizeof(Q) == 1) return (Vector)_mm512_adds_epu8((__m512i)a, (__m512i)b);
    if constexpr (sizeof(Q) == 2) return (Vector)_mm512_adds_epu16((__m512i)a, (__m512i)b);
#elif defined(TORCHCENT_AVX2)
    if constexpr (sizeof(Q) == 1) return (Vector)_mm256_adds_epu8((__m256i)a, (__m256i)b);
    if constexpr (sizeof(Q) == 2) return (Vector)_mm256_adds_epu16((__m256i)a, (__m256i)b);
#else
    if constexpr (sizeof(Q) <= 2) {
      const Vector sum = a + b;
      return sum | (Vector)(sum < a);
    }
#endif
    return a + b;
  }
  static Vector smaller(Vector a, Vector b) { return a < b ? a : b; }
  static Vector larger(Vector a, Vector b) { return a < b ? b : a; }

  // One bit per lane.
  static uint64_t less(Vector a, Vector b) {
#if defined(TORCHCENT_AVX512)
    if constexpr (sizeof(Q) == 1) return _mm512_cmplt_epu8_mask((__m512i)a, (__m512i)b);
    else if constexpr (sizeof(Q) == 2) return _mm512_cmplt_epu16_mask((__m512i)a, (__m512i)b);
    else if constexpr (sizeof(Q) == 4) return _mm512_cmplt_epu32_mask((__m512i)a, (__m512i)b);
    else return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ);
#else
    return bits(a < b);
#endif
  }
  static uint64_t equal(Vector a, Vector b) {
#if defined(TORCHCENT_AVX512)
    if constexpr (sizeof(Q) == 1) return _mm512_cmpeq_epu8_mask((__m512i)a, (__m512i)b);
    else if constexpr (sizeof(Q) == 2) return _mm512_cmpeq_epu16_mask((__m512i)a, (__m512i)b);
    else if constexpr (sizeof(Q) == 4) return _mm512_cmpeq_epu32_mask((__m512i)a, (__m512i)b);
    else return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ);
#else
    return bits(a == b);
#endif
  }
#if !defined(TORCHCENT_AVX512)
  template <class Truth>
  static uint64_t bits(Truth truth) {  // each lane is all ones or all zeros
#if defined(TORCHCENT_AVX2)
    if constexpr (sizeof(Q) == 1) return static_cast<uint32_t>(_mm256_movemask_epi8((__m256i)truth));
    if constexpr (sizeof(Q) == 2) {
      const __m256i x = (__m256i)truth;
      const __m128i both = _mm_packs_epi16(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
      return static_cast<uint32_t>(_mm_movemask_epi8(both));
    }
    if constexpr (sizeof(Q) == 4) return static_cast<uint32_t>(_mm256_movemask_ps((__m256)truth));
    if constexpr (sizeof(Q) == 8) return static_cast<uint32_t>(_mm256_movemask_pd((__m256d)truth));
#endif
    uint64_t bits = 0;
    for (int i = 0; i < width; ++i) bits |= static_cast<uint64_t>(truth[i] & 1) << i;
    return bits;
  }
#endif

  // this = min(this, row + weight)
  void relax(const Q* row, Vector weight) {
    for (int k = 0; k < registers; ++k) part[k] = smaller(part[k], plus(load(row, k), weight));
  }
  uint64_t below(const DistanceRow& other) const {
    uint64_t mask = 0;
    for (int k = 0; k < registers; ++k) mask |= less(part[k], other.part[k]) << (width * k % 64);
    return mask;
  }
  // Lanes in which row + weight equals this.
  uint64_t tight(const Q* row, Vector weight) const {
    uint64_t mask = 0;
    for (int k = 0; k < registers; ++k) mask |= equal(plus(load(row, k), weight), part[k]) << (width * k % 64);
    return mask;
  }
  // Lanes in which row + weight is at most this.
  uint64_t within(const Q* row, Vector weight) const {
    uint64_t mask = 0;
    for (int k = 0; k < registers; ++k) mask |= less(part[k], plus(load(row, k), weight)) << (width * k % 64);
    return ~mask;
  }
  uint64_t reached() const { return below(all(unreached)); }

  Q largest() const {
    return reduce([](auto a, auto b) { return a < b ? b : a; });
  }
  Q smallest() const {
    return reduce([](auto a, auto b) { return a < b ? a : b; });
  }

 private:
  template <class Choice>
  Q reduce(Choice choice) const {
    Vector best = part[0];
    for (int k = 1; k < registers; ++k) best = choice(best, part[k]);
    alignas(64) Q lane[width];
    *reinterpret_cast<Vector*>(lane) = best;
    for (int half = width / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) lane[i] = choice(lane[i], lane[i + half]);
    return lane[0];
  }
};

}  // namespace torchcent::TORCHCENT_ISA
