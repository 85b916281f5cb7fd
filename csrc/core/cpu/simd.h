// A row: the 256 bytes that a vertex stores for all lanes of a batch, in SIMD registers, with the masked operations of
// the lanes kernel. It uses the compiler's vector types, and intrinsics for the mask registers of AVX-512. Included
// once per instruction set.
#pragma once

namespace torchcent::TORCHCENT_ISA {

#if defined(TORCHCENT_AVX512)
constexpr int kVectorBytes = 64;
#elif defined(TORCHCENT_AVX2)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

constexpr int kRowBytes = 256;

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float Type __attribute__((vector_size(kVectorBytes), may_alias));
  typedef int32_t Bits __attribute__((vector_size(kVectorBytes), may_alias));
  using Bit = int32_t;
};
template <>
struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(kVectorBytes), may_alias));
  typedef int64_t Bits __attribute__((vector_size(kVectorBytes), may_alias));
  using Bit = int64_t;
};

template <class T>
struct Row {
  using Vector = typename VectorOf<T>::Type;
  using Bits = typename VectorOf<T>::Bits;
  static constexpr int lanes = kRowBytes / sizeof(T);     // 64 float, 32 double
  static constexpr int width = kVectorBytes / sizeof(T);  // lanes per register
  static constexpr int registers = kRowBytes / kVectorBytes;

  Vector part[registers];

  static uint64_t submask(uint64_t mask, int k) { return mask >> (width * k) & ((uint64_t{1} << width) - 1); }

#if !defined(TORCHCENT_AVX512)
  // One bit per lane -> all ones or all zeros in each lane.
  static Bits spread(uint64_t bits) {
    Bits place, all;
    for (int i = 0; i < width; ++i) {
      place[i] = typename VectorOf<T>::Bit{1} << i;
      all[i] = static_cast<typename VectorOf<T>::Bit>(bits);
    }
    return (all & place) != 0;
  }
#endif
  static Vector every_lane(T value) { return Vector{} + value; }
  static Vector load(const T* p, int k) { return *reinterpret_cast<const Vector*>(p + width * k); }

  // Sets the lanes outside of the mask to zero.
  static Vector masked(Vector x, uint64_t bits) {
#if defined(TORCHCENT_AVX512)
    if constexpr (sizeof(T) == 4) return _mm512_maskz_mov_ps(static_cast<__mmask16>(bits), x);
    else return _mm512_maskz_mov_pd(static_cast<__mmask8>(bits), x);
#else
    return (Vector)((Bits)x & spread(bits));
#endif
  }

  static Row masked_load(const T* p, uint64_t mask) {
    Row row;
    for (int k = 0; k < registers; ++k) row.part[k] = masked(load(p, k), submask(mask, k));
    return row;
  }
  void masked_store(T* p, uint64_t mask) const {
    for (int k = 0; k < registers; ++k) {
      const uint64_t bits = submask(mask, k);
#if defined(TORCHCENT_AVX512)
      if constexpr (sizeof(T) == 4) _mm512_mask_storeu_ps(p + width * k, static_cast<__mmask16>(bits), part[k]);
      else _mm512_mask_storeu_pd(p + width * k, static_cast<__mmask8>(bits), part[k]);
#else
      Vector& target = *reinterpret_cast<Vector*>(p + width * k);
      const Bits keep = ~spread(bits);
      target = (Vector)(((Bits)target & keep) | ((Bits)part[k] & ~keep));
#endif
    }
  }
  // this += the row at p in the lanes of the mask
  void masked_add(const T* p, uint64_t mask) {
    for (int k = 0; k < registers; ++k) {
      const uint64_t bits = submask(mask, k);
#if defined(TORCHCENT_AVX512)
      if constexpr (sizeof(T) == 4)
        part[k] = _mm512_mask_add_ps(part[k], static_cast<__mmask16>(bits), part[k], load(p, k));
      else part[k] = _mm512_mask_add_pd(part[k], static_cast<__mmask8>(bits), part[k], load(p, k));
#else
      part[k] += masked(load(p, k), bits);
#endif
    }
  }
  // this += 1 in the lanes of the mask
  void masked_increment(uint64_t mask) {
    for (int k = 0; k < registers; ++k) part[k] += masked(every_lane(T(1)), submask(mask, k));
  }
  // Dot product with the row at p over the lanes of the mask.
  double masked_dot(const T* p, uint64_t mask) const {
    Vector sum{};
    for (int k = 0; k < registers; ++k) sum += masked(part[k] * load(p, k), submask(mask, k));
    return total(sum);
  }
  void operator*=(T factor) {
    for (int k = 0; k < registers; ++k) part[k] *= every_lane(factor);
  }
  void operator*=(const Row& other) {
    for (int k = 0; k < registers; ++k) part[k] *= other.part[k];
  }
  // Whether any lane of the mask exceeds the limit or is not a number.
  bool exceeds(T limit, uint64_t mask) const {
#if defined(TORCHCENT_AVX512)
    unsigned beyond = 0;
    for (int k = 0; k < registers; ++k) {
      const uint64_t bits = submask(mask, k);
      if constexpr (sizeof(T) == 4)
        beyond |= _mm512_mask_cmp_ps_mask(static_cast<__mmask16>(bits), part[k], _mm512_set1_ps(limit), _CMP_NLE_UQ);
      else beyond |= _mm512_mask_cmp_pd_mask(static_cast<__mmask8>(bits), part[k], _mm512_set1_pd(limit), _CMP_NLE_UQ);
    }
    return beyond != 0;
#else
    Bits within = ~Bits{};
    for (int k = 0; k < registers; ++k) within &= masked(part[k], submask(mask, k)) <= limit;
    for (int i = 0; i < width; ++i)
      if (!within[i]) return true;
    return false;
#endif
  }
  static double total(Vector x) {
#if defined(TORCHCENT_AVX512)
    if constexpr (sizeof(T) == 4) return _mm512_reduce_add_ps(x);
    else return _mm512_reduce_add_pd(x);
#else
    double sum = 0;
    for (int i = 0; i < width; ++i) sum += x[i];
    return sum;
#endif
  }
};

// Accurate sum of rows: up to 64 terms are added naively, and their sum is added to the total by a compensated (Kahan)
// step. The sum of a hub of 10^5 neighbours is then as accurate as that of a leaf.
template <class T>
class RowSum {
 public:
  Row<T> partial;

  // Written explicitly: a defaulted constructor would be compiled without the instruction set of the pragma.
  RowSum() {
    for (int k = 0; k < Row<T>::registers; ++k) partial.part[k] = typename Row<T>::Vector{};
  }

  void flush() {
    if (!flushed_) {
      flushed_ = true;
      for (int k = 0; k < Row<T>::registers; ++k) {
        total_.part[k] = partial.part[k];
        lost_.part[k] = partial.part[k] = typename Row<T>::Vector{};
      }
      return;
    }
    for (int k = 0; k < Row<T>::registers; ++k) {
      const auto term = partial.part[k] - lost_.part[k];
      const auto sum = total_.part[k] + term;
      lost_.part[k] = (sum - total_.part[k]) - term;
      total_.part[k] = sum;
      partial.part[k] = typename Row<T>::Vector{};
    }
  }
  const Row<T>& finish() {
    if (!flushed_) return partial;
    flush();
    return total_;
  }

 private:
  Row<T> total_, lost_;
  bool flushed_ = false;
};

}  // namespace torchcent::TORCHCENT_ISA
