// Zero-filled memory for arrays. Large ones are mapped, with huge pages if the system provides them: rows are gathered
// at random, and with small pages each row would cost a TLB miss. Untouched pages cost nothing. Small ones are from the
// heap, since the system maps and unmaps a page in the time that a small graph is searched in.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace torchcent::TORCHCENT_ISA {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t count) : bytes_(static_cast<size_t>(count) * sizeof(T)) {
    if (bytes_ == 0) return;
    if (bytes_ < kMapped) {
      const size_t whole = (bytes_ + kAlignment - 1) / kAlignment * kAlignment;
      data_ = static_cast<T*>(std::aligned_alloc(kAlignment, whole));
      if (data_ == nullptr) throw std::bad_alloc();
      std::memset(static_cast<void*>(data_), 0, whole);
      return;
    }
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (bytes_ >= (size_t{1} << 22)) madvise(memory, bytes_, MADV_HUGEPAGE);
#endif
    data_ = static_cast<T*>(memory);  // zero-filled by the system
  }
  Buffer(Buffer&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
    other.bytes_ = 0;
  }
  Buffer& operator=(Buffer&&) = delete;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (bytes_ < kMapped) std::free(data_);
    else munmap(data_, bytes_);
  }

  void swap(Buffer& other) {
    T* const data = data_;
    const size_t bytes = bytes_;
    data_ = other.data_;
    bytes_ = other.bytes_;
    other.data_ = data;
    other.bytes_ = bytes;
  }
  T* data() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }

 private:
  static constexpr size_t kMapped = size_t{1} << 16, kAlignment = 64;  // bytes

  T* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace torchcent::TORCHCENT_ISA
