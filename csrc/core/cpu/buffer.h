// Memory for arrays, zero-filled unless it need not be. Large ones are mapped, with huge pages if the system provides
// them: rows are gathered at random, and with small pages each row would cost a TLB miss. Untouched pages cost nothing.
// Small ones are from the heap, since the system maps and unmaps a page in the time that a small graph is searched in,
// and so are those of up to huge pages that need no zeros: the heap has pages that earlier calls have touched.
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
  explicit Buffer(int64_t count, bool zeros = true)
      : bytes_(static_cast<size_t>(count) * sizeof(T)), mapped_(bytes_ >= (zeros ? kMapped : kHuge)) {
    if (bytes_ == 0) return;
    if (!mapped_) {
      const size_t whole = (bytes_ + kAlignment - 1) / kAlignment * kAlignment;
      data_ = static_cast<T*>(aligned_memory(kAlignment, whole));
      if (data_ == nullptr) throw std::bad_alloc();
      if (zeros) std::memset(static_cast<void*>(data_), 0, whole);
      return;
    }
    void* memory = map_memory(bytes_);
    if (memory == nullptr) throw std::bad_alloc();
    if (bytes_ >= kHuge) advise_huge_pages(memory, bytes_);
    data_ = static_cast<T*>(memory);  // zero-filled by the system
  }
  Buffer(Buffer&& other) noexcept : data_(other.data_), bytes_(other.bytes_), mapped_(other.mapped_) {
    other.data_ = nullptr;
    other.bytes_ = 0;
    other.mapped_ = false;
  }
  Buffer& operator=(Buffer&&) = delete;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (mapped_) unmap_memory(data_, bytes_);
    else free_aligned(data_);
  }

  void swap(Buffer& other) {
    T* const data = data_;
    const size_t bytes = bytes_;
    const bool mapped = mapped_;
    data_ = other.data_;
    bytes_ = other.bytes_;
    mapped_ = other.mapped_;
    other.data_ = data;
    other.bytes_ = bytes;
    other.mapped_ = mapped;
  }
  T* data() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }

 private:
  static constexpr size_t kMapped = size_t{1} << 16, kHuge = size_t{1} << 22, kAlignment = 64;  // bytes

  T* data_ = nullptr;
  size_t bytes_ = 0;
  bool mapped_ = false;
};

}  // namespace torchcent::TORCHCENT_ISA
