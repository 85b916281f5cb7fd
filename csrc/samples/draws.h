// Random numbers and path counts of the samples, identical on all machines. A random number depends only on the seed,
// the number of the sample and its purpose, not on previous draws. Path counts never overflow.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define TORCHCENT_DRAWS __host__ __device__ inline
#else
#define TORCHCENT_DRAWS inline
#endif

namespace torchcent {

// The purpose of a random number. A walk draws one per step, a crossing one per vertex, a part of an arc one per arc.
enum class Purpose : uint32_t { pair = 0, crossing = 1, arc = 2, walk_back = 3, walk_on = 4, part = 5 };

// Philox4x32-10 (Salmon et al. 2011): 64 random bits for a counter of 128.
TORCHCENT_DRAWS uint64_t random_bits(uint64_t seed, uint64_t sample, Purpose purpose, uint32_t index) {
  uint32_t c0 = static_cast<uint32_t>(sample), c1 = static_cast<uint32_t>(sample >> 32);
  uint32_t c2 = index, c3 = static_cast<uint32_t>(purpose);
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * c0, b = uint64_t{0xCD9E8D57u} * c2;
    c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(b);
    c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(a);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return uint64_t{c1} << 32 | c0;
}

// In (0, 1).
TORCHCENT_DRAWS double uniform(uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

// In [0, size): the high half of a product, uniform up to size / 2^64.
TORCHCENT_DRAWS int64_t below(uint64_t bits, uint64_t size) {
  const uint64_t low = (bits & 0xffffffffu) * size;  // size < 2^32
  return static_cast<int64_t>(((bits >> 32) * size + (low >> 32)) >> 32);
}

struct Pair {
  int32_t source, target;
};

// Two distinct vertices of n; every ordered pair is equally likely.
TORCHCENT_DRAWS Pair random_pair(uint64_t seed, uint64_t sample, int64_t n) {
  const int64_t s = below(random_bits(seed, sample, Purpose::pair, 0), static_cast<uint64_t>(n));
  const int64_t t = below(random_bits(seed, sample, Purpose::pair, 1), static_cast<uint64_t>(n - 1));
  return {static_cast<int32_t>(s), static_cast<int32_t>(t + (t >= s))};
}

// A path count, value * 2^(400 scale). Sums of 2^31 counts stay far within the range of double, and omitted terms are
// below 2^-350 of the sum.
struct PathCount {
  static constexpr double kHigh = 0x1p400, kDown = 0x1p-400;
  static constexpr double kLogUnit = 400 * 0.69314718055994530942;

  double value = 0;
  int32_t scale = 0;

  TORCHCENT_DRAWS void add(double other, int32_t other_scale) {
    if (other_scale == scale) {
      value += other;
    } else if (other_scale > scale) {
      value = other + (other_scale == scale + 1 ? value * kDown : 0);
      scale = other_scale;
    } else if (other_scale + 1 == scale) {
      value += other * kDown;
    }
  }
  TORCHCENT_DRAWS void add(const PathCount& other) { add(other.value, other.scale); }
  // To be called after the sum is complete.
  TORCHCENT_DRAWS void normalise() {
    if (value >= kHigh) {
      value *= kDown;
      ++scale;
    }
  }
  // This value in the scale of another count, which must not be smaller.
  TORCHCENT_DRAWS double in_scale(int32_t other) const {
    return scale == other ? value : scale + 1 == other ? value * kDown : 0;
  }
};

// The exponential race: the candidate with the least time is drawn with probability proportional to its weight a * b.
// The outcome does not depend on the order of the candidates.
TORCHCENT_DRAWS double race_time(uint64_t bits, const PathCount& a, const PathCount& b) {
  return log(-log(uniform(bits))) - log(a.value) - log(b.value) - PathCount::kLogUnit * (a.scale + b.scale);
}

}  // namespace torchcent
