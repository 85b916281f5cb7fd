// Bytes that kernels allocate. The header workspace.h of a family states them once, from the types of its kernels: the
// host code of CUDA divides its memory by them, and an operator of the library of the CPU reports them to Python, which
// plans with them for both.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace torchcent {

template <class T>
constexpr int64_t bytes_of(int64_t count) {
  return count * static_cast<int64_t>(sizeof(T));
}

struct Workspace {
  int64_t fixed = 0;          // of all searches together
  std::vector<int64_t> each;  // of every array of a thread of the CPU, or of a batch or block in flight on CUDA

  int64_t total() const { return std::accumulate(each.begin(), each.end(), int64_t{0}); }
  // As the operators report it.
  std::vector<int64_t> numbers() const {
    std::vector<int64_t> result = {fixed};
    result.insert(result.end(), each.begin(), each.end());
    return result;
  }
};

}  // namespace torchcent
