// Numbers of names in the order in which they first stand, on all threads, or in that of their bytes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "core/cpu/tasks.h"

namespace torchcent {

// A name, and numbers by which it is compared at once: all of a short one, the hash of a longer one.
struct NameKey {
  static constexpr size_t kShort = 2 * sizeof(uint64_t);
  uint64_t a = 0, b = 0;
  const char* text;
  uint32_t size;
  uint32_t at;  // where the name stands

  NameKey(std::string_view name, uint32_t where)
      : text(name.data()), size(static_cast<uint32_t>(name.size())), at(where) {
    const char* const end = text + name.size();
    if (name.size() > kShort) {
      a = std::hash<std::string_view>()(name);
    } else if (name.size() >= 8) {
      a = load<uint64_t>(text);
      b = load<uint64_t>(end - 8);
    } else if (name.size() >= 4) {
      a = uint64_t{load<uint32_t>(text)} << 32 | load<uint32_t>(end - 4);
    } else if (!name.empty()) {
      a = uint64_t{load<uint8_t>(text)} << 16 | uint64_t{load<uint8_t>(text + name.size() / 2)} << 8 |
          load<uint8_t>(end - 1);
    }
  }
  std::string_view name() const { return {text, size}; }
  bool operator==(const NameKey& other) const {
    return a == other.a && b == other.b && size == other.size && (size <= kShort || name() == other.name());
  }
  uint64_t hash() const {
    uint64_t mixed = (a ^ 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9 + std::rotl(b, 29) + size;
    mixed = (mixed ^ mixed >> 32) * 0x94d049bb133111eb;
    mixed = (mixed ^ mixed >> 29) * 0xd6e8feb86659fd93;
    return mixed ^ mixed >> 32;
  }

 private:
  template <class Word>
  static Word load(const char* from) {
    Word word;
    std::memcpy(&word, from, sizeof(word));
    return word;
  }
};

// The distinct names of a part of the hashes, numbered as they come: a table that is at most half full.
class NameTable {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<NameKey> keys;     // of the names, where each first stands
  std::vector<uint32_t> number;  // of each name among all parts

  // The place of a name in this table; kNone if too many names have like hashes, as in a hostile text.
  uint32_t find(const NameKey& key) {
    constexpr int kMostSteps = 1000;
    if (2 * keys.size() == slots_.size()) grow();
    const uint64_t hash = key.hash();
    for (int step = 0; step < kMostSteps; ++step) {
      Slot& slot = slot_of(hash + step);
      if (slot.place == kNone) {
        slot = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(keys.size())};
        keys.push_back(key);
        return slot.place;
      }
      if (slot.tag == static_cast<uint32_t>(hash >> 32) && keys[slot.place] == key) return slot.place;
    }
    return kNone;
  }
  // What find() will read: first the slot, then the name that is there.
  void prefetch_slot(const NameKey& key) { __builtin_prefetch(&slot_of(key.hash()), 1); }
  void prefetch_key(const NameKey& key) {
    const Slot& slot = slot_of(key.hash());
    if (slot.place != kNone) __builtin_prefetch(&keys[slot.place]);
  }

 private:
  struct Slot {
    uint32_t tag = 0, place = kNone;
  };
  Slot& slot_of(uint64_t hash) { return slots_[hash & (slots_.size() - 1)]; }

  void grow() {
    slots_.assign(2 * slots_.size(), {});
    for (size_t place = 0; place < keys.size(); ++place) {
      uint64_t hash = keys[place].hash();
      const uint32_t tag = static_cast<uint32_t>(hash >> 32);
      while (slot_of(hash).place != kNone) ++hash;
      slot_of(hash) = {tag, static_cast<uint32_t>(place)};
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);
};

// Eight bytes of a name as a number that orders them. Names have no zeros, so that those behind its end are unique.
inline uint64_t bytes_of(std::string_view name, size_t from) {
  uint64_t bytes = 0;
  for (size_t i = from; i < from + sizeof(bytes); ++i)
    bytes = bytes << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0);
  return bytes;
}

// The places of distinct names in increasing order of their bytes, which in UTF-8 is that of their characters.
inline std::vector<int64_t> order_of(const std::vector<std::string_view>& names) {
  struct Key {
    uint64_t bytes;
    int64_t place;
  };
  struct Alike {
    int64_t begin, end;  // of a range of keys
    size_t depth;        // how many first bytes their names share
  };
  std::vector<Key> keys(names.size());
  for (size_t i = 0; i < keys.size(); ++i) keys[i].place = static_cast<int64_t>(i);
  std::vector<Alike> ranges = {{0, static_cast<int64_t>(keys.size()), 0}};
  while (!ranges.empty()) {
    const auto [begin, end, depth] = ranges.back();
    ranges.pop_back();
    for (int64_t i = begin; i < end; ++i) keys[i].bytes = bytes_of(names[keys[i].place], depth);
    std::sort(keys.data() + begin, keys.data() + end, [](const Key& a, const Key& b) { return a.bytes < b.bytes; });
    for (int64_t first = begin, last = begin; first < end; first = last) {
      while (last < end && keys[last].bytes == keys[first].bytes) ++last;
      if (last - first > 1) ranges.push_back({first, last, depth + sizeof(uint64_t)});
    }
  }
  std::vector<int64_t> places(keys.size());
  std::transform(keys.begin(), keys.end(), places.begin(), [](const Key& key) { return key.place; });
  return places;
}

// Numbers names by first appearance, a block of them after the other. Threads first share out the names of a block,
// each of which goes to a part by its hash, then the parts, whose tables are small and of one thread each.
class NameNumbers {
 public:
  std::vector<std::string_view> names;  // the distinct ones, in the order in which they first stand
  std::vector<int64_t> first;           // where that is
  bool complete = true;                 // false if too many names have like hashes, or there are too many

  // name_at(i) is the i-th name, a string_view, which put(i, number) may overwrite.
  template <class NameAt, class Put>
  NameNumbers(int64_t count, int64_t threads, NameAt name_at, Put put)
      : is_first_(std::min(count, kBlock) / 64 + 1), before_(is_first_.size()) {
    const int64_t shares = threads_for(std::min(count, kBlock), threads);
    std::vector<Share> share(shares);
    std::vector<uint8_t> part_of_name(std::min(count, kBlock));
    for (int64_t begin = 0; begin < count && complete; begin += kBlock) {
      const int64_t size = std::min(kBlock, count - begin);
      each_task(shares, shares, [&](int64_t k) {
        for (Some& some : share[k]) some.keys.clear();
        const auto [from, to] = part_of(size, k, shares);
        for (int64_t i = from; i < to; ++i) {
          const NameKey key(name_at(begin + i), static_cast<uint32_t>(i));
          part_of_name[i] = static_cast<uint8_t>(key.hash() >> 56) % kParts;
          share[k][part_of_name[i]].keys.push_back(key);
        }
      });
      std::atomic<bool> alike = false;
      each_task(shares, kParts, [&](int64_t part) {
        if (!find(part, share)) alike = true;
      });
      complete = !alike && names.size() + size < NameTable::kNone;
      if (!complete) return;
      append(begin);
      each_task(shares, shares, [&](int64_t k) {
        std::array<const uint32_t*, kParts> place;
        for (int64_t part = 0; part < kParts; ++part) place[part] = share[k][part].places.data();
        const auto [from, to] = part_of(size, k, shares);
        for (int64_t i = from; i < to; ++i) {
          const int64_t part = part_of_name[i];
          put(begin + i, table_[part].number[*place[part]++]);
        }
      });
    }
  }

  // Sorts the names by their bytes, and returns the new number of each; none of them holds a NUL.
  std::vector<int64_t> sort() {
    const std::vector<int64_t> order = order_of(names);
    const std::vector<std::string_view> names_before = names;
    const std::vector<int64_t> first_before = first;
    std::vector<int64_t> rank(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      names[i] = names_before[order[i]];
      first[i] = first_before[order[i]];
      rank[order[i]] = static_cast<int64_t>(i);
    }
    return rank;
  }

 private:
  static constexpr int64_t kParts = 16, kBlock = int64_t{1} << 21;
  struct Some {
    std::vector<NameKey> keys;
    std::vector<uint32_t> places;  // of their names in the table
  };
  using Share = std::array<Some, kParts>;

  // The places of the names of a part of the hashes in its table.
  bool find(int64_t part, std::vector<Share>& share) {
    constexpr size_t kAhead = 8;
    NameTable& table = table_[part];
    for (Share& each : share) {
      auto& [keys, places] = each[part];
      places.resize(keys.size());
      for (size_t k = 0; k < keys.size(); ++k) {
        if (k + 2 * kAhead < keys.size()) table.prefetch_slot(keys[k + 2 * kAhead]);
        if (k + kAhead < keys.size()) table.prefetch_key(keys[k + kAhead]);
        places[k] = table.find(keys[k]);
        if (places[k] == NameTable::kNone) return false;
      }
    }
    for (size_t place = table.number.size(); place < table.keys.size(); ++place) {
      const uint32_t at = table.keys[place].at;
      is_first_[at / 64].fetch_or(uint64_t{1} << at % 64, std::memory_order_relaxed);
    }
    return true;
  }

  // Numbers the names that are new in the block.
  void append(int64_t begin) {
    int64_t total = static_cast<int64_t>(names.size());
    for (size_t word = 0; word < is_first_.size(); ++word) {
      before_[word] = total;
      total += std::popcount(is_first_[word].load(std::memory_order_relaxed));
    }
    names.resize(total);
    first.resize(total);
    for (NameTable& table : table_) {
      for (size_t place = table.number.size(); place < table.keys.size(); ++place) {
        const uint32_t at = table.keys[place].at;
        const uint64_t lower = is_first_[at / 64] & ((uint64_t{1} << at % 64) - 1);
        const int64_t number = before_[at / 64] + std::popcount(lower);
        names[number] = table.keys[place].name();
        first[number] = begin + at;
        table.number.push_back(static_cast<uint32_t>(number));
      }
    }
    for (auto& word : is_first_) word.store(0, std::memory_order_relaxed);
  }

  std::array<NameTable, kParts> table_;
  // Where names of the block first stand that are new.
  std::vector<std::atomic<uint64_t>> is_first_;
  std::vector<int64_t> before_;  // names that stand before each word of it
};

}  // namespace torchcent
