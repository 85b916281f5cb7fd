// Parallel loops over independent tasks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "core/cpu/threads.h"

namespace torchcent {

// Entries below which another thread costs more than it saves.
constexpr int64_t kWorthAThread = int64_t{1} << 15;

// Threads for a pass over `entries`.
inline int64_t threads_for(int64_t entries, int64_t threads) {
  return std::max<int64_t>(1, std::min(threads, entries / kWorthAThread));
}

// Runs task(i) for every i in [0, count) on up to `threads` threads, in any order. Each task runs exactly once, even if
// the system grants fewer threads.
template <class Task>
void each_task(int64_t threads, int64_t count, Task task) {
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t i = next++; i < count; i = next++) task(i);
  };
  in_threads(static_cast<int>(std::min(threads, count)), work, [&] { next = count; });
}

// The i-th of `parts` ranges of [0, size).
inline std::pair<int64_t, int64_t> part_of(int64_t size, int64_t i, int64_t parts) {
  return {size / parts * i + size % parts * i / parts, size / parts * (i + 1) + size % parts * (i + 1) / parts};
}

// Runs task(begin, end) for ranges that cover [0, size), several per thread.
template <class Task>
void each_range(int64_t threads, int64_t size, Task task) {
  const int64_t parts = threads == 1 ? 1 : std::max<int64_t>(1, std::min(8 * threads, size));
  each_task(threads, parts, [&](int64_t i) {
    const auto [begin, end] = part_of(size, i, parts);
    task(begin, end);
  });
}

}  // namespace torchcent
