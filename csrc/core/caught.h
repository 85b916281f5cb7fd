// Operators of a library that has a C++ run-time library of its own (tools/wheels.py puts this file before each other).
// An exception thrown here is then unknown to PyTorch, so PyTorch throws one with its message instead.
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/library.h>

#include <cstdint>
#include <cstdio>
#include <exception>

namespace torchcent {

using Boxed = void (*)(StableIValue*, uint64_t, uint64_t);

// A function of its own: PyTorch's exception passes through the frame of its caller, which therefore must not catch
// nor destroy anything.
__attribute__((noinline)) inline bool failed(Boxed kernel, StableIValue* stack, uint64_t arguments, uint64_t results,
                                             char* message, size_t room) noexcept {
  try {
    kernel(stack, arguments, results);
    return false;
  } catch (const std::exception& error) {
    std::snprintf(message, room, "%s", error.what());
  } catch (...) {
    std::snprintf(message, room, "an error of an unknown kind");
  }
  return true;
}

template <Boxed kernel>
void boxed(StableIValue* stack, uint64_t arguments, uint64_t results) {
  char message[1024];
  if (failed(kernel, stack, arguments, results, message, sizeof(message)))
    aoti_torch_check(false, "torchcent", "csrc", 0, message);
}

}  // namespace torchcent

#undef TORCH_BOX
#define TORCH_BOX(function)                                                                                         \
  torchcent::boxed<torch::stable::detail::boxer<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>, \
                                                (function)>::boxed_fn>
