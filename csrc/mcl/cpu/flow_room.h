// Memory for the orders of a flow: of the process, or of a temporary file, which the system writes out as it needs to.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "core/cpu/pages.h"

namespace torchcent {

// Uninitialised.
template <class T>
class FlowRoom {
 public:
  FlowRoom(int64_t count, bool in_file) : bytes_(static_cast<size_t>(count) * sizeof(T)) {
    if (bytes_ == 0) return;
    const int file = in_file ? unnamed_file(bytes_) : -1;
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
    if (in_file) close(file);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<T*>(memory);
    if (!in_file) with_huge_pages(data_, count);
  }
  FlowRoom(const FlowRoom&) = delete;
  FlowRoom& operator=(const FlowRoom&) = delete;
  ~FlowRoom() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }

  T* get() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }

 private:
  // Its space is reserved, so that no write fails later.
  static int unnamed_file(size_t bytes) {
    const char* const folder = getenv("TMPDIR");
    std::string name = std::string(folder != nullptr ? folder : "/tmp") + "/torchcent-XXXXXX";
    const int file = mkstemp(name.data());
    if (file < 0) throw std::bad_alloc();
    unlink(name.c_str());
    if (posix_fallocate(file, 0, static_cast<off_t>(bytes)) != 0) {
      close(file);
      throw std::bad_alloc();
    }
    return file;
  }

  T* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace torchcent
