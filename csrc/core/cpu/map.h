// Memory that the system maps: mmap, or its like on Windows. Null where there is none.
#pragma once

#include <cstddef>

namespace torchcent {

void* map_memory(size_t bytes);  // zero-filled
void unmap_memory(void* memory, size_t bytes);
void advise_huge_pages(void* memory, size_t bytes);

// Of a temporary file without a name, whose space is reserved, so that no write fails later.
void* map_file(size_t bytes);
void unmap_file(void* memory, size_t bytes);

// Of the heap.
void* aligned_memory(size_t alignment, size_t bytes);
void free_aligned(void* memory);

}  // namespace torchcent
