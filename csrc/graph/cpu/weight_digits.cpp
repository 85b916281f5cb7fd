// The digits of weights, which decide the arithmetic of their sums (torchcent/graph/_weights.py), in one pass.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace torchcent {

using torch::stable::Tensor;

namespace {

// The e for which the last binary digit that is set in a finite value > 0 stands for 2^e.
int64_t last_digit(double value) {
  constexpr int kMantissa = 52, kBias = 1075;  // of a double, with the mantissa as an integer
  const uint64_t bits = std::bit_cast<uint64_t>(value), digits = bits & ((uint64_t{1} << kMantissa) - 1);
  const int64_t exponent = static_cast<int64_t>(bits >> kMantissa);
  if (exponent == 0) return 1 - kBias + std::countr_zero(digits);  // subnormal: no leading one
  return exponent - kBias + std::countr_zero(digits | uint64_t{1} << kMantissa);
}

}  // namespace

// [e, largest]: the largest e such that all weights are multiples of 2^e, and the largest weight. There is one at least.
Tensor weight_digits(const Tensor& weight) {
  const double* const first = weight.const_data_ptr<double>();
  int64_t last = last_digit(first[0]);
  double largest = first[0];
  for (int64_t i = 1; i < weight.numel(); ++i) {
    last = std::min(last, last_digit(first[i]));
    largest = std::max(largest, first[i]);
  }
  Tensor result = torch::stable::new_empty(weight, {2});
  result.mutable_data_ptr<double>()[0] = static_cast<double>(last);
  result.mutable_data_ptr<double>()[1] = largest;
  return result;
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("weight_digits", TORCH_BOX(&weight_digits)); }

}  // namespace torchcent
