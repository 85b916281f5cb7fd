// Storage for the columns of the next flow, in the order in which threads finish them, and their packing into one
// matrix.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "core/cpu/pages.h"
#include "mcl/mcl_step.h"

namespace torchcent {

constexpr int64_t kBytesOfEntry = sizeof(int32_t) + sizeof(float);

// The memory limit shared by all threads.
class FlowBudget {
 public:
  explicit FlowBudget(int64_t bytes) : left_(bytes), limited_(bytes > 0) {}
  bool take(int64_t bytes) {
    if (!limited_ || left_.fetch_sub(bytes, std::memory_order_relaxed) >= bytes) return true;
    exceeded_ = true;
    return false;
  }
  // Takes what need not be in memory, unless little would be left.
  bool spare(int64_t bytes) {
    if (!limited_) return true;
    if (bytes > left_ / 2) return false;
    left_ -= bytes;
    return true;
  }
  bool exceeded() const { return exceeded_; }
  // The entries of a chunk: few enough that unused ones do not matter.
  int64_t entries_of_chunk(int workers) const {
    constexpr int64_t kMost = 1 << 19, kLeast = 1 << 8, kUnused = 8;
    if (!limited_) return kMost;
    return std::clamp<int64_t>(left_ / (kBytesOfEntry * kUnused * workers), kLeast, kMost);
  }

 private:
  std::atomic<int64_t> left_;
  const bool limited_;
  std::atomic<bool> exceeded_ = false;
};

// One per thread: chunks that are filled in sequence, and freed one by one as they are packed, so that a flow and its
// copy never exist at the same time.
class FlowChunks final : public FlowSink {
 public:
  FlowChunks(FlowBudget& budget, int64_t entries) : budget_(budget), entries_(entries) {}

  bool room(int32_t column, int32_t entries, int32_t*& row, float*& value) override {
    if (chunks_.empty() || chunks_.back().size - chunks_.back().used < entries) {
      const int64_t size = std::max<int64_t>(entries, entries_);
      if (!budget_.take(size * kBytesOfEntry)) return false;
      chunks_.push_back(
          {size, 0, {}, std::unique_ptr<char[]>(with_huge_pages(new char[size * kBytesOfEntry], size* kBytesOfEntry))});
    }
    Chunk& chunk = chunks_.back();
    row = chunk.row(chunk.used);
    value = chunk.value(chunk.used);
    chunk.used += entries;
    chunk.columns.push_back({column, entries});
    return true;
  }
  // Copies every column to its final position.
  void pack(const int64_t* begin, int32_t* row, float* value) {
    for (Chunk& chunk : chunks_) {
      int64_t place = 0;
      for (const auto [column, entries] : chunk.columns) {
        std::copy_n(chunk.row(place), entries, row + begin[column]);
        std::copy_n(chunk.value(place), entries, value + begin[column]);
        place += entries;
      }
      chunk.memory.reset();
    }
    chunks_.clear();
  }

 private:
  struct Column {
    int32_t column, entries;
  };
  struct Chunk {
    int64_t size, used;
    std::vector<Column> columns;
    std::unique_ptr<char[]> memory;

    int32_t* row(int64_t i) const { return reinterpret_cast<int32_t*>(memory.get()) + i; }
    float* value(int64_t i) const { return reinterpret_cast<float*>(memory.get()) + size + i; }
  };

  FlowBudget& budget_;
  const int64_t entries_;  // of a chunk
  std::vector<Chunk> chunks_;
};

}  // namespace torchcent
