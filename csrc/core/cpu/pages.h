// Huge pages for large memory that PyTorch or the heap allocates.
#pragma once

#include <cstdint>

#include "core/cpu/map.h"

namespace torchcent {

// With small pages, random access to large memory misses the TLB each time, and the first access to each 4 KiB is a
// fault. Untouched memory stays untouched.
template <class T>
T* with_huge_pages(T* data, int64_t count) {
  constexpr uintptr_t kPage = uintptr_t{1} << 21;
  const uintptr_t from = (reinterpret_cast<uintptr_t>(data) + kPage - 1) & ~(kPage - 1);
  const uintptr_t to = reinterpret_cast<uintptr_t>(data + count) & ~(kPage - 1);
  if (to > from) advise_huge_pages(reinterpret_cast<void*>(from), to - from);
  return data;
}

}  // namespace torchcent
