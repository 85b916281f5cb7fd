// Zero-filled memory for arrays. Large ones are mapped, with huge pages if the system provides them: rows are gathered
// at random, and with small pages each row would cost a TLB miss. Untouched pages cost nothing. Small ones are from the
// heap, since the system maps and unmaps a page in the time that a small graph is searched in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "core/cpu/map.h"

namespace torchcent::TORCHCENT_ISA {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t count) : bytes_(static_cast<size_t>(count) * sizeof(T)) {
    if (bytes_ == 0) return;
    if (bytes_ < kMapped) {
      const size_t whole = (bytes_ + kAlignment - 1) / kAlignment * kAlignment;
      data_ = static_cast<T*>(aligned_memory(kAlignment, whole));
      if (data_ == nullptr) throw std::bad_alloc();
      std::memset(static_cast<void*>(data_), 0, whole);
      return;
    }
    void* memory = map_memory(bytes_);
    if (memory == nullptr) throw std::bad_alloc();
    if (bytes_ >= (size_t{1} << 22)) advise_huge_pages(memory, bytes_);
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
    if (bytes_ < kMapped) free_aligned(data_);
    else unmap_memory(data_, bytes_);
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
