// Vertices of any 64-bit ids: the ids in increasing order, and the place of each id among them, on all threads.
//
// Ids of a range not much larger than their number are marked in bits. Others are sorted: spread over buckets by their
// highest bits, and each bucket sorted in the cache. A table finds their places, with as few waits for the memory as
// possible: it holds 4 bytes for each of two entries per vertex, and several ids are looked up together.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "core/cpu/pages.h"
#include "core/cpu/radix.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

constexpr uint64_t kBitsPerId = 32;  // of the range, for each id, up to which ids are marked

// The ids of several arrays, one after the other, less the smallest of them.
struct Ids {
  struct Array {
    const int64_t* id;
    int64_t size;
  };
  std::array<Array, 3> arrays;
  int64_t low = 0, count = 0;
  uint64_t span = 0;  // largest less smallest

  Ids(const Tensor& a, const Tensor& b, const Tensor& c, int64_t threads)
      : arrays{Array{a.const_data_ptr<int64_t>(), a.numel()}, Array{b.const_data_ptr<int64_t>(), b.numel()},
               Array{c.const_data_ptr<int64_t>(), c.numel()}} {
    for (const Array& array : arrays) count += array.size;
    const int64_t parts = threads_for(count, threads);
    std::vector<int64_t> least(parts, std::numeric_limits<int64_t>::max());
    std::vector<int64_t> most(parts, std::numeric_limits<int64_t>::min());
    each_task(parts, parts, [&](int64_t i) {
      int64_t smallest = least[i], largest = most[i];
      const auto [begin, end] = part_of(count, i, parts);
      each(begin, end, [&](uint64_t id) {
        smallest = std::min(smallest, static_cast<int64_t>(id));
        largest = std::max(largest, static_cast<int64_t>(id));
      });
      least[i] = smallest;
      most[i] = largest;
    });
    if (count == 0) return;
    const int64_t high = *std::max_element(most.begin(), most.end());
    low = *std::min_element(least.begin(), least.end());
    span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  }

  // Calls take(id - low) for a range of all ids.
  template <class Take>
  void each(int64_t begin, int64_t end, Take take) const {
    for (const Array& array : arrays) {
      const int64_t last = std::min(end, array.size);
      for (int64_t i = begin; i < last; ++i) take(static_cast<uint64_t>(array.id[i]) - static_cast<uint64_t>(low));
      begin = std::max<int64_t>(begin - array.size, 0);
      end -= array.size;
      if (end <= 0) return;
    }
  }
};

// Words of bits, one for each number of a range.
class Bits {
 public:
  explicit Bits(uint64_t span) : words_(span / 64 + 1, 0) {}
  int64_t words() const { return static_cast<int64_t>(words_.size()); }
  uint64_t word(int64_t i) const { return words_[i]; }
  void mark(uint64_t number) {
    const std::atomic_ref<uint64_t> word(words_[number / 64]);
    const uint64_t bit = uint64_t{1} << number % 64;
    if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
  }

 private:
  std::vector<uint64_t> words_;
};

Tensor marked(const Tensor& like, const Ids& ids, int64_t threads) {
  Bits bits(ids.span);
  each_range(threads_for(ids.count, threads), ids.count,
             [&](int64_t begin, int64_t end) { ids.each(begin, end, [&](uint64_t id) { bits.mark(id); }); });
  const int64_t parts = threads_for(bits.words(), threads);
  std::vector<int64_t> first(parts + 1, 0);
  each_task(parts, parts, [&](int64_t i) {
    const auto [begin, end] = part_of(bits.words(), i, parts);
    for (int64_t w = begin; w < end; ++w) first[i + 1] += std::popcount(bits.word(w));
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  Tensor labels = empty(like, first.back(), ScalarType::Long);
  int64_t* const label = with_huge_pages(labels.mutable_data_ptr<int64_t>(), labels.numel());
  each_task(parts, parts, [&](int64_t i) {
    int64_t* next = label + first[i];
    const auto [begin, end] = part_of(bits.words(), i, parts);
    for (int64_t w = begin; w < end; ++w)
      for (uint64_t word = bits.word(w); word != 0; word &= word - 1)
        *next++ = ids.low + 64 * w + std::countr_zero(word);
  });
  return labels;
}

// Sorts words, in place as long as they are too many for `other`.
void sort_words(uint64_t* word, int64_t count, uint64_t* other, int64_t room) {
  constexpr int kDigit = 8;
  uint64_t varying = 0;
  for (int64_t i = 1; i < count; ++i) varying |= word[i] ^ word[0];
  const int bits = static_cast<int>(std::bit_width(varying));
  if (bits == 0) return;
  if (count <= 64) return std::sort(word, word + count);
  // A pass over all bits that vary: those above them are the same in all words.
  if (count <= room) return radix_sort(word, other, count, bits);
  const int shift = std::max(bits - kDigit, 0);
  const auto digit = [&](uint64_t x) { return x >> shift & ((1 << kDigit) - 1); };
  std::array<int64_t, (1 << kDigit) + 1> first = {};
  for (int64_t i = 0; i < count; ++i) ++first[digit(word[i]) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  auto place = first;
  for (uint64_t d = 0; d < 1 << kDigit; ++d)
    while (place[d] < first[d + 1]) {
      uint64_t carried = word[place[d]];
      for (uint64_t to = digit(carried); to != d; to = digit(carried)) std::swap(carried, word[place[to]++]);
      word[place[d]++] = carried;
    }
  for (int64_t d = 0; d < 1 << kDigit; ++d) sort_words(word + first[d], first[d + 1] - first[d], other, room);
}

Tensor sorted(const Tensor& like, const Ids& ids, int64_t threads) {
  constexpr int64_t kInCache = 12'000, kMost = 2048, kRoom = int64_t{1} << 16;  // words; buckets; words of a thread
  const int bits = static_cast<int>(std::bit_width(ids.span));
  int shift = bits;
  for (int64_t wanted = 1; shift > 0 && wanted < kMost && ids.count / wanted > kInCache; wanted *= 2) --shift;
  const auto bucket = [&](uint64_t word) { return shift == 64 ? 0 : static_cast<int64_t>(word >> shift); };
  const int64_t buckets = bucket(ids.span) + 1, parts = threads_for(ids.count, threads);
  std::vector<int64_t> first(buckets * parts + 1, 0);
  each_task(parts, parts, [&](int64_t part) {
    std::vector<int64_t> count(buckets, 0);
    const auto [begin, end] = part_of(ids.count, part, parts);
    ids.each(begin, end, [&](uint64_t id) { ++count[bucket(id)]; });
    for (int64_t b = 0; b < buckets; ++b) first[b * parts + part + 1] = count[b];
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  const std::unique_ptr<uint64_t[]> word = std::make_unique_for_overwrite<uint64_t[]>(ids.count);
  with_huge_pages(word.get(), ids.count);
  each_task(parts, parts, [&](int64_t part) {
    std::vector<int64_t> place(buckets);
    for (int64_t b = 0; b < buckets; ++b) place[b] = first[b * parts + part];
    const auto [begin, end] = part_of(ids.count, part, parts);
    ids.each(begin, end, [&](uint64_t id) { word[place[bucket(id)]++] = id; });
  });
  std::vector<int64_t> kept(buckets + 1, 0);
  each_range(parts, buckets, [&](int64_t begin, int64_t end) {
    const std::unique_ptr<uint64_t[]> other = std::make_unique_for_overwrite<uint64_t[]>(kRoom);
    for (int64_t b = begin; b < end; ++b) {
      uint64_t *const from = word.get() + first[b * parts], *const to = word.get() + first[(b + 1) * parts];
      sort_words(from, to - from, other.get(), kRoom);
      kept[b + 1] = std::unique(from, to) - from;
    }
  });
  std::partial_sum(kept.begin(), kept.end(), kept.begin());
  Tensor labels = empty(like, kept.back(), ScalarType::Long);
  int64_t* const label = with_huge_pages(labels.mutable_data_ptr<int64_t>(), labels.numel());
  each_range(parts, buckets, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      for (int64_t i = 0; i < kept[b + 1] - kept[b]; ++i)
        label[kept[b] + i] = static_cast<int64_t>(static_cast<uint64_t>(ids.low) + word[first[b * parts] + i]);
  });
  return labels;
}

// The places of marked ids: of each word, the number of those before it.
class MarkedPlaces {
 public:
  MarkedPlaces(const int64_t* label, int64_t n, int64_t threads)
      : low_(static_cast<uint64_t>(label[0])),
        bits_(static_cast<uint64_t>(label[n - 1]) - low_),
        before_(bits_.words()) {
    each_range(threads_for(n, threads), n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) bits_.mark(static_cast<uint64_t>(label[i]) - low_);
    });
    uint32_t sum = 0;
    for (int64_t w = 0; w < bits_.words(); ++w) {
      before_[w] = sum;
      sum += static_cast<uint32_t>(std::popcount(bits_.word(w)));
    }
  }
  void find(const int64_t* id, int64_t count, int64_t* place) const {
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t number = static_cast<uint64_t>(id[i]) - low_;
      const uint64_t below = bits_.word(number / 64) & ((uint64_t{1} << number % 64) - 1);
      place[i] = before_[number / 64] + std::popcount(below);
    }
  }

 private:
  uint64_t low_;
  Bits bits_;
  std::vector<uint32_t> before_;
};

// The places of any ids, by a table with open addressing.
class HashedPlaces {
 public:
  HashedPlaces(const int64_t* label, int64_t n, int64_t threads)
      : label_(label), size_(2 * static_cast<uint64_t>(n)), table_(std::make_unique_for_overwrite<uint32_t[]>(size_)) {
    with_huge_pages(table_.get(), size_);
    each_range(threads_for(size_, threads), size_,
               [&](int64_t begin, int64_t end) { std::fill(table_.get() + begin, table_.get() + end, kFree); });
    each_range(threads_for(n, threads), n, [&](int64_t begin, int64_t end) {
      for (int64_t first = begin; first < end; first += kTogether) {
        const int64_t count = std::min(kTogether, end - first);
        uint64_t slot[kTogether];
        for (int64_t i = 0; i < count; ++i) __builtin_prefetch(&table_[slot[i] = slot_of(label[first + i])], 1);
        for (int64_t i = 0; i < count; ++i) {
          for (uint32_t free = kFree;
               !std::atomic_ref<uint32_t>(table_[slot[i]])
                    .compare_exchange_strong(free, static_cast<uint32_t>(first + i), std::memory_order_relaxed);
               free = kFree)
            slot[i] = next(slot[i]);
        }
      }
    });
  }
  // Every id must be a label.
  void find(const int64_t* id, int64_t count, int64_t* place) const {
    for (int64_t first = 0; first < count; first += kTogether) {
      const int64_t some = std::min(kTogether, count - first);
      uint64_t slot[kTogether];
      uint32_t at[kTogether];
      for (int64_t i = 0; i < some; ++i) __builtin_prefetch(&table_[slot[i] = slot_of(id[first + i])]);
      for (int64_t i = 0; i < some; ++i) __builtin_prefetch(&label_[at[i] = table_[slot[i]]]);
      for (int64_t i = 0; i < some; ++i) {
        while (label_[at[i]] != id[first + i]) at[i] = table_[slot[i] = next(slot[i])];
        place[first + i] = at[i];
      }
    }
  }

 private:
  static constexpr uint32_t kFree = std::numeric_limits<uint32_t>::max();
  static constexpr int64_t kTogether = 32;

  uint64_t next(uint64_t slot) const { return ++slot == size_ ? 0 : slot; }
  uint64_t slot_of(int64_t id) const {
    uint64_t x = static_cast<uint64_t>(id);
    x = (x ^ x >> 32) * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
    return static_cast<uint64_t>(static_cast<unsigned __int128>(x) * size_ >> 64);
  }

  const int64_t* label_;
  uint64_t size_;
  std::unique_ptr<uint32_t[]> table_;
};

}  // namespace

// The distinct ids of three int64 arrays, in increasing order.
Tensor distinct_ids(const Tensor& source, const Tensor& target, const Tensor& also, int64_t threads) {
  const Ids ids(source, target, also, threads);
  if (ids.count == 0) return empty(source, 0, ScalarType::Long);
  return ids.span / kBitsPerId <= static_cast<uint64_t>(ids.count) ? marked(source, ids, threads)
                                                                   : sorted(source, ids, threads);
}

// The places, [2, size], of ids in labels: distinct ids in increasing order, among them all of source and target.
Tensor id_places(const Tensor& labels, const Tensor& source, const Tensor& target, int64_t threads) {
  const int64_t n = labels.numel(), size = source.numel(), workers = threads_for(2 * size, threads);
  Tensor places = torch::stable::new_empty(source, {2, size}, ScalarType::Long);
  if (size == 0) return places;
  const int64_t* const label = labels.const_data_ptr<int64_t>();
  const int64_t* const id[] = {source.const_data_ptr<int64_t>(), target.const_data_ptr<int64_t>()};
  int64_t* const place = places.mutable_data_ptr<int64_t>();
  const auto find_all = [&](auto find) {
    each_range(workers, size, [&](int64_t begin, int64_t end) {
      for (int64_t side = 0; side < 2; ++side) find(id[side] + begin, end - begin, place + side * size + begin);
    });
  };
  const uint64_t span = static_cast<uint64_t>(label[n - 1]) - static_cast<uint64_t>(label[0]);
  if (span == static_cast<uint64_t>(n - 1)) {
    find_all([low = label[0]](const int64_t* from, int64_t count, int64_t* to) {
      for (int64_t i = 0; i < count; ++i) to[i] = from[i] - low;
    });
  } else if (span / kBitsPerId <= static_cast<uint64_t>(2 * size)) {
    find_all([known = std::make_shared<MarkedPlaces>(label, n, threads)](auto... of) { known->find(of...); });
  } else {
    find_all([known = std::make_shared<HashedPlaces>(label, n, threads)](auto... of) { known->find(of...); });
  }
  return places;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // The ids of three arrays, in increasing order; and [2, size], where ids stand among labels.
  m.def("distinct_ids(Tensor source, Tensor target, Tensor also, int threads=1) -> Tensor");
  m.def("id_places(Tensor labels, Tensor source, Tensor target, int threads=1) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("distinct_ids", TORCH_BOX(&distinct_ids));
  m.impl("id_places", TORCH_BOX(&id_places));
}

}  // namespace torchcent
