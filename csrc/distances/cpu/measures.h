// Visitors of the bits engine, which process the lanes that reach a vertex.
#pragma once

namespace torchcent::TORCHCENT_ISA {

// The sums of the rows of a batch, one per vertex or source. If there are several limits, the sums are kept apart, and
// copied whenever the search passes one: those within each limit then have the bits of a search of their own.
class LimitedSums {
 public:
  explicit LimitedSums(int64_t most) : most_(most) {}

  void begin(const DistanceBatch& batch, int64_t rows) {
    limits_ = batch.limits;
    count_ = batch.cutoffs;
    rows_ = rows;
    result_ = sums_ = batch.sums;
    passed_ = 0;
    if (count_ == 1) return;
    if (own_.data() == nullptr) Buffer<double>(4 * most_).swap(own_);
    sums_ = own_.data();
    std::memset(sums_, 0, 4 * rows * sizeof(double));
  }
  void add(int64_t row, int64_t depth, int64_t pairs) {
    const double d = static_cast<double>(depth), count = static_cast<double>(pairs);
    double* const sums = sums_ + 4 * row;
    sums[0] += count * d;
    sums[1] += count / d;
    sums[2] += count / (d + 1);
    sums[3] += count;
  }
  // To be called after each level. Returns whether deeper ones count.
  bool level(int64_t depth) {
    if (limits_ == nullptr) return true;
    for (; passed_ < count_ && limits_[passed_] <= depth; ++passed_) copy();
    return passed_ < count_;
  }
  // To be called at the end.
  void finish() {
    for (; limits_ != nullptr && passed_ < count_; ++passed_) copy();
  }

 private:
  void copy() {
    if (count_ == 1) return;  // they are in place
    for (int64_t row = 0; row < rows_; ++row)
      for (int64_t k = 0; k < 4; ++k) result_[4 * (row * count_ + passed_) + k] += sums_[4 * row + k];
  }

  int64_t most_, rows_ = 0;
  const int64_t* limits_ = nullptr;
  int64_t count_ = 1, passed_ = 0;
  double *sums_ = nullptr, *result_ = nullptr;
  Buffer<double> own_;
};

// Sums over the sources, per vertex: farness, harmonic centrality, reach, and eccentricity as the last level with a new
// lane. A source also represents the leaves folded onto it, which are one hop farther.
template <int words>
class VertexSums : public DistanceSearch {
 public:
  using Engine = BitSearch<words>;
  using Bits = typename Engine::Bits;

  explicit VertexSums(const DistanceProblem& problem)
      : num_nodes_(problem.out.num_nodes), engine_(problem), sums_(num_nodes_) {}

  DistanceStatus run(const DistanceBatch& batch) override {
    batch_ = &batch;
    used_ = 0;
    for (int64_t lane = 0; lane < batch.count; ++lane)
      for (int bit = 0; batch.leaves[lane] >> bit != 0; ++bit) {
        while (used_ <= bit) leaves_[used_++] = Bits{};
        if (batch.leaves[lane] >> bit & 1) Engine::set(leaves_[bit], lane);
      }
    ended_ = false;
    sums_.begin(batch, num_nodes_);
    const bool done = engine_.run(batch.count, batch.sources, *this) || ended_;
    sums_.finish();
    return done ? DistanceStatus::done : DistanceStatus::cancelled;
  }

  void found(int64_t v, int64_t depth, const Bits& lanes) {
    const int64_t count = Engine::count(lanes);
    int64_t last = depth;
    if (depth > 0) sums_.add(v, depth, count);
    if (used_ > 0) {
      int64_t leaves = 0;
      for (int bit = 0; bit < used_; ++bit) leaves += Engine::count(lanes & leaves_[bit]) << bit;
      if (leaves > 0) {
        sums_.add(v, depth + 1, leaves);
        last = depth + 1;
      }
    }
    if (batch_->eccentricity[v] < last) batch_->eccentricity[v] = static_cast<int32_t>(last);
    if (batch_->levels != nullptr) batch_->levels[depth] += count;
  }
  bool level(int64_t depth) {
    ended_ = !sums_.level(depth);
    return !ended_;
  }

 private:
  int64_t num_nodes_;
  Engine engine_;
  LimitedSums sums_;
  const DistanceBatch* batch_ = nullptr;
  bool ended_ = false;  // where no farther level counts
  Bits leaves_[31];     // bit b of the number of leaves of every lane
  int used_ = 0;
};

// The same sums over the vertices, per source. New bits of a level are counted per lane in bit-sliced counters (one
// plane per bit). Adding a row is a carry propagation that usually ends early.
template <int words>
class SourceSums : public DistanceSearch {
 public:
  using Engine = BitSearch<words>;
  using Bits = typename Engine::Bits;

  explicit SourceSums(const DistanceProblem& problem) : engine_(problem), sums_(Engine::lanes) {}

  DistanceStatus run(const DistanceBatch& batch) override {
    batch_ = &batch;
    used_ = 0;
    ended_ = false;
    sums_.begin(batch, batch.count);
    const bool done = engine_.run(batch.count, batch.sources, *this) || ended_;
    sums_.finish();
    return done ? DistanceStatus::done : DistanceStatus::cancelled;
  }

  void found(int64_t, int64_t, const Bits& lanes) {
    Bits carry = lanes;
    int bit = 0;
    for (; Engine::any(carry); ++bit) {
      if (bit == used_) counter_[used_++] = Bits{};
      const Bits before = counter_[bit];
      counter_[bit] = before ^ carry;
      carry &= before;
    }
  }

  bool level(int64_t depth) {
    for (int64_t lane = 0; depth > 0 && lane < batch_->count; ++lane) {
      int64_t pairs = 0;
      for (int bit = 0; bit < used_; ++bit)
        pairs |= static_cast<int64_t>(Engine::word(counter_[bit], lane / 64) >> (lane % 64) & 1) << bit;
      if (pairs == 0) continue;
      sums_.add(lane, depth, pairs);
      batch_->eccentricity[lane] = static_cast<int32_t>(depth);
    }
    used_ = 0;
    ended_ = !sums_.level(depth);
    return !ended_;
  }

 private:
  Engine engine_;
  LimitedSums sums_;
  const DistanceBatch* batch_ = nullptr;
  bool ended_ = false;
  Bits counter_[32];  // up to 2^31 vertices
  int used_ = 0;
};

// A row of distances per source. Distances are stored by vertex, with adjacent lanes, and transposed at the end.
template <int words, class T>
class DistanceRows : public DistanceSearch {
 public:
  using Engine = BitSearch<words>;
  using Bits = typename Engine::Bits;
  static constexpr int64_t lanes = Engine::lanes;
  static constexpr int64_t kLargest = (int64_t{1} << (8 * sizeof(T) - 1)) - 1;

  explicit DistanceRows(const DistanceProblem& problem)
      : num_nodes_(problem.out.num_nodes), engine_(problem), table_(num_nodes_ * lanes) {}

  DistanceStatus run(const DistanceBatch& batch) override {
    too_deep_ = false;
    if (!engine_.run(batch.count, batch.sources, *this))
      return too_deep_ ? DistanceStatus::too_deep : DistanceStatus::cancelled;
    Bits missing{};
    for (int64_t v = 0; v < num_nodes_; ++v) {
      engine_.unreached(v, missing);
      write(v, missing, -1);
    }
    turn_over(batch);
    return DistanceStatus::done;
  }

  void found(int64_t v, int64_t depth, const Bits& fresh) {
    if (depth > kLargest) {
      too_deep_ = true;
      return;
    }
    write(v, fresh, static_cast<T>(depth));
  }
  bool level(int64_t) { return !too_deep_; }

 private:
  void write(int64_t v, const Bits& fresh, T value) {
    T* const row = table_.data() + v * lanes;
    for (int k = 0; k < words; ++k) {
      const uint64_t word = Engine::word(fresh, k);
      if (word != 0) store(row + 64 * k, word, value);
    }
  }

  static void store(T* row, uint64_t lanes, T value) {
#if defined(TORCHCENT_AVX512)
    if constexpr (sizeof(T) == 1) {
      _mm512_mask_storeu_epi8(row, lanes, _mm512_set1_epi8(value));
    } else if constexpr (sizeof(T) == 2) {
      for (int k = 0; k < 2; ++k)
        _mm512_mask_storeu_epi16(row + 32 * k, static_cast<__mmask32>(lanes >> (32 * k)), _mm512_set1_epi16(value));
    } else {
      for (int k = 0; k < 4; ++k)
        _mm512_mask_storeu_epi32(row + 16 * k, static_cast<__mmask16>(lanes >> (16 * k)), _mm512_set1_epi32(value));
    }
#else
    for (; lanes != 0; lanes &= lanes - 1) row[__builtin_ctzll(lanes)] = value;
#endif
  }

  // Transposes in tiles through a small copy: the rows of the table are a power of two apart and would compete for few
  // cache lines.
  void turn_over(const DistanceBatch& batch) const {
    constexpr int64_t kTile = 64;
    T tile[kTile][kTile + 64 / sizeof(T)];
    for (int64_t first = 0; first < num_nodes_; first += kTile) {
      const int64_t height = num_nodes_ - first < kTile ? num_nodes_ - first : kTile;
      for (int64_t lane = 0; lane < batch.count; lane += kTile) {
        for (int64_t v = 0; v < height; ++v)
          std::memcpy(tile[v], table_.data() + (first + v) * lanes + lane, kTile * sizeof(T));
        const int64_t width = batch.count - lane < kTile ? batch.count - lane : kTile;
        for (int64_t l = 0; l < width; ++l) {
          const int64_t place = batch.place != nullptr ? batch.place[lane + l] : lane + l;
          T* const row = static_cast<T*>(batch.rows) + place * num_nodes_ + first;
          for (int64_t v = 0; v < height; ++v) row[v] = tile[v][l];
        }
      }
    }
  }

  int64_t num_nodes_;
  Engine engine_;
  Buffer<T> table_;  // [n, lanes]
  bool too_deep_ = false;
};

template <int words>
std::unique_ptr<DistanceSearch> make_bits(const DistanceProblem& problem, DistanceOutput output) {
  switch (output) {
    case DistanceOutput::vertex_sums: return std::make_unique<VertexSums<words>>(problem);
    case DistanceOutput::source_sums: return std::make_unique<SourceSums<words>>(problem);
    case DistanceOutput::rows_int8: return std::make_unique<DistanceRows<words, int8_t>>(problem);
    case DistanceOutput::rows_int16: return std::make_unique<DistanceRows<words, int16_t>>(problem);
    case DistanceOutput::rows_int32: return std::make_unique<DistanceRows<words, int32_t>>(problem);
  }
  return nullptr;
}

std::unique_ptr<DistanceSearch> make_distance_search(const DistanceProblem& problem, DistanceOutput output,
                                                     int64_t lanes) {
  return lanes > 64 ? make_bits<8>(problem, output) : make_bits<1>(problem, output);
}

}  // namespace torchcent::TORCHCENT_ISA
