#include "core/cpu/map.h"

#if defined(_WIN32)
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#undef near  // words of a processor with 16 bits
#undef far
#include <malloc.h>
#else
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <cstdlib>
#include <string>

namespace torchcent {

#if defined(_WIN32)

void* map_memory(size_t bytes) { return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE); }
void unmap_memory(void* memory, size_t) { VirtualFree(memory, 0, MEM_RELEASE); }
void advise_huge_pages(void*, size_t) {}

void* map_file(size_t bytes) {
  wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
  if (GetTempPathW(MAX_PATH + 1, folder) == 0 || GetTempFileNameW(folder, L"tc", 0, name) == 0) return nullptr;
  constexpr DWORD kTemporary = FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE;
  const HANDLE file = CreateFileW(name, GENERIC_READ | GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS, kTemporary, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    DeleteFileW(name);
    return nullptr;
  }
  // Files have all of their space there. A view keeps its file open.
  const auto size = static_cast<unsigned long long>(bytes);
  const HANDLE mapping = CreateFileMappingW(file, nullptr, PAGE_READWRITE, static_cast<DWORD>(size >> 32),
                                            static_cast<DWORD>(size & 0xffffffff), nullptr);
  void* const memory = mapping == nullptr ? nullptr : MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, 0, 0, bytes);
  if (mapping != nullptr) CloseHandle(mapping);
  CloseHandle(file);
  return memory;
}
void unmap_file(void* memory, size_t) { UnmapViewOfFile(memory); }

void* aligned_memory(size_t alignment, size_t bytes) { return _aligned_malloc(bytes, alignment); }
void free_aligned(void* memory) { _aligned_free(memory); }

#else

namespace {

void* mapped(size_t bytes, int flags, int file) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

bool reserved(int file, size_t bytes) {
#if defined(__APPLE__)
  fstore_t room{F_ALLOCATEALL, F_PEOFPOSMODE, 0, static_cast<off_t>(bytes), 0};
  return fcntl(file, F_PREALLOCATE, &room) != -1 && ftruncate(file, static_cast<off_t>(bytes)) == 0;
#else
  return posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0;
#endif
}

}  // namespace

void* map_memory(size_t bytes) { return mapped(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1); }
void unmap_memory(void* memory, size_t bytes) { munmap(memory, bytes); }

void advise_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

void* map_file(size_t bytes) {
  const char* const folder = getenv("TMPDIR");
  std::string name = std::string(folder != nullptr ? folder : "/tmp") + "/torchcent-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return nullptr;
  unlink(name.c_str());
  void* const memory = reserved(file, bytes) ? mapped(bytes, MAP_SHARED, file) : nullptr;
  close(file);
  return memory;
}
void unmap_file(void* memory, size_t bytes) { munmap(memory, bytes); }

void* aligned_memory(size_t alignment, size_t bytes) { return std::aligned_alloc(alignment, bytes); }
void free_aligned(void* memory) { std::free(memory); }

#endif

}  // namespace torchcent
