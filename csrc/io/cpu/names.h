// Numbers of names in the order in which they first stand, on all threads, and the order of their bytes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "core/cpu/tasks.h"

namespace torchcent {

// Where each distinct name of a part of the hashes first stands: a table of hashes that is at most half full.
class FirstPlaces {
 public:
  // Where the name of place `at` first stands, which may be `at`; kNone if too many names have like hashes, as in a
  // hostile text.
  template <class NameAt>
  uint32_t find(uint32_t at, uint32_t hash, NameAt name_at) {
    constexpr int kMostSteps = 1000;
    if (2 * names_ == table_.size()) grow();
    for (int step = 0; step < kMostSteps; ++step) {
      Slot& slot = table_[(hash + step) & (table_.size() - 1)];
      if (slot.place == kNone) {
        slot = {hash, at};
        ++names_;
      } else if (slot.hash != hash || name_at(slot.place) != name_at(at)) {
        continue;
      }
      return slot.place;
    }
    return kNone;
  }
  // What find() will read: first the slot, then the name that is there.
  void prefetch_slot(uint32_t hash) const { __builtin_prefetch(&table_[hash & (table_.size() - 1)], 1); }
  template <class NameAt>
  void prefetch_name(uint32_t hash, NameAt name_at) const {
    const Slot& slot = table_[hash & (table_.size() - 1)];
    if (slot.place != kNone) __builtin_prefetch(name_at(slot.place).data());
  }

  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

 private:
  struct Slot {
    uint32_t hash = 0, place = kNone;
  };

  void grow() {
    std::vector<Slot> larger(4 * table_.size());
    for (const Slot& slot : table_) {
      if (slot.place == kNone) continue;
      size_t at = slot.hash & (larger.size() - 1);
      while (larger[at].place != kNone) at = (at + 1) & (larger.size() - 1);
      larger[at] = slot;
    }
    table_.swap(larger);
  }

  std::vector<Slot> table_ = std::vector<Slot>(64);
  size_t names_ = 0;
};

// The number of each of `count` names by first appearance, and where each distinct name first stands.
struct NameNumbers {
  std::vector<uint32_t> number, first = {};
  bool complete = true;  // false if there are too many names, or too many of like hashes

  // name_at(i) is the i-th name, a string_view.
  template <class NameAt>
  NameNumbers(int64_t count, int64_t threads, NameAt name_at) {
    complete = count < FirstPlaces::kNone;
    if (!complete) return;
    number.resize(count);
    const int64_t parts = threads_for(count, threads);
    std::vector<uint32_t> hash(count);
    each_task(parts, parts, [&](int64_t part) {
      const auto [begin, end] = part_of(count, part, parts);
      for (int64_t i = begin; i < end; ++i) hash[i] = static_cast<uint32_t>(std::hash<std::string_view>()(name_at(i)));
    });
    std::atomic<bool> alike = false;
    each_task(parts, parts, [&](int64_t part) {
      if (!first_places(part, parts, hash, name_at)) alike = true;
    });
    complete = !alike;
    if (complete) rank(parts, hash);
  }

 private:
  // Sets number[i] to where the name first stands, for the names of this part of the hashes.
  template <class NameAt>
  bool first_places(int64_t part, int64_t parts, const std::vector<uint32_t>& hash, NameAt name_at) {
    constexpr int kTogether = 32;
    FirstPlaces table;
    uint32_t place[kTogether];
    int some = 0;
    const auto find_some = [&] {
      for (int k = 0; k < some; ++k) table.prefetch_name(hash[place[k]], name_at);
      for (int k = 0; k < some; ++k) {
        const uint32_t i = place[k];
        if ((number[i] = table.find(i, hash[i], name_at)) == FirstPlaces::kNone) return false;
      }
      some = 0;
      return true;
    };
    for (size_t i = 0; i < hash.size(); ++i) {
      if (static_cast<int64_t>(uint64_t{hash[i]} * parts >> 32) != part) continue;
      table.prefetch_slot(hash[i]);
      place[some++] = static_cast<uint32_t>(i);
      if (some == kTogether && !find_some()) return false;
    }
    return find_some();
  }

  // From first places to their ranks; `rank_of` is room.
  void rank(int64_t parts, std::vector<uint32_t>& rank_of) {
    for (size_t i = 0; i < number.size(); ++i) {
      if (number[i] != i) continue;
      rank_of[i] = static_cast<uint32_t>(first.size());
      first.push_back(static_cast<uint32_t>(i));
    }
    each_range(parts, static_cast<int64_t>(number.size()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) number[i] = rank_of[number[i]];
    });
  }
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

}  // namespace torchcent
