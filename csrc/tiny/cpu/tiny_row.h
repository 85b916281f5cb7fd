// A row of the tiny engine: a double per lane, up to 64 lanes.
#pragma once

#include "tiny/cpu/tiny_search.h"
#include "core/cpu/simd.h"

namespace torchcent::TORCHCENT_ISA {

// A row of `lanes` doubles from memory, in registers.
template <int lanes>
struct TinyRow {
  using Wide = Row<double>;
  using Vector = typename Wide::Vector;
  static constexpr int width = Wide::width, registers = lanes / width;

  Vector part[registers];

  static Vector load(const double* p, int k) { return *reinterpret_cast<const Vector*>(p + width * k); }
  static uint64_t submask(uint64_t mask, int k) { return mask >> (width * k) & ((uint64_t{1} << width) - 1); }

  static TinyRow zero() {
    TinyRow row;
    for (int k = 0; k < registers; ++k) row.part[k] = Vector{};
    return row;
  }
  void add(const double* p, uint64_t mask) {
    for (int k = 0; k < registers; ++k) {
#if defined(TORCHCENT_AVX512)
      part[k] = _mm512_mask_add_pd(part[k], static_cast<__mmask8>(submask(mask, k)), part[k], load(p, k));
#else
      part[k] += Wide::masked(load(p, k), submask(mask, k));
#endif
    }
  }
  void store(double* p, uint64_t mask) const {
    for (int k = 0; k < registers; ++k) {
#if defined(TORCHCENT_AVX512)
      _mm512_mask_storeu_pd(p + width * k, static_cast<__mmask8>(submask(mask, k)), part[k]);
#else
      Vector& to = *reinterpret_cast<Vector*>(p + width * k);
      const auto all = Wide::spread(submask(mask, k));
      to = (Vector)(((typename Wide::Bits)to & ~all) | ((typename Wide::Bits)part[k] & all));
#endif
    }
  }
  static TinyRow load_all(const double* p) {
    TinyRow row;
    for (int k = 0; k < registers; ++k) row.part[k] = load(p, k);
    return row;
  }
  static TinyRow sum_of(const double* p, const double* q) {
    TinyRow row;
    for (int k = 0; k < registers; ++k) row.part[k] = load(p, k) + load(q, k);
    return row;
  }
  // Adds this to the row at p in the lanes of the mask; the others are unchanged.
  void add_to(double* p, uint64_t mask) const {
    for (int k = 0; k < registers; ++k) {
      Vector& to = *reinterpret_cast<Vector*>(p + width * k);
#if defined(TORCHCENT_AVX512)
      to = _mm512_mask_add_pd(to, static_cast<__mmask8>(submask(mask, k)), to, part[k]);
#else
      to += Wide::masked(part[k], submask(mask, k));
#endif
    }
  }
  static void add_to(double* p, const double* q, uint64_t mask) { load_all(q).add_to(p, mask); }
  // The maximum in each lane.
  void raise(const double* p) {
    for (int k = 0; k < registers; ++k) part[k] = load(p, k) > part[k] ? load(p, k) : part[k];
  }
  bool within(double limit) const {
    for (int i = 0; i < lanes; ++i)
      if (!(part[i / width][i % width] < limit)) return false;
    return true;
  }
  // Dot product with the row at p over the lanes of the mask.
  double dot(const double* p, uint64_t mask) const {
    Vector sum{};
    for (int k = 0; k < registers; ++k) sum += Wide::masked(part[k] * load(p, k), submask(mask, k));
    return Wide::total(sum);
  }
};

}  // namespace torchcent::TORCHCENT_ISA
