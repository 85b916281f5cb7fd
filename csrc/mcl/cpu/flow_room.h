// Memory for the orders of a flow: of the process, or of a temporary file, which the system writes out as it needs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "core/cpu/map.h"
#include "core/cpu/pages.h"

namespace torchcent {

// Uninitialised.
template <class T>
class FlowRoom {
 public:
  FlowRoom(int64_t count, bool in_file) : bytes_(static_cast<size_t>(count) * sizeof(T)), in_file_(in_file) {
    if (bytes_ == 0) return;
    void* const memory = in_file_ ? map_file(bytes_) : map_memory(bytes_);
    if (memory == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(memory);
    if (!in_file_) with_huge_pages(data_, count);
  }
  FlowRoom(const FlowRoom&) = delete;
  FlowRoom& operator=(const FlowRoom&) = delete;
  ~FlowRoom() {
    if (data_ != nullptr) in_file_ ? unmap_file(data_, bytes_) : unmap_memory(data_, bytes_);
  }

  T* get() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  size_t bytes_ = 0;
  bool in_file_ = false;
};

}  // namespace torchcent
