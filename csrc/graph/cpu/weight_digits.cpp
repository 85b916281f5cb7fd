// The digits of weights, which decide the arithmetic of their sums (torchcent/graph/_weights.py), in one pass.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

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

// Whether each weight is the double, or float if all are floats, next to a decimal with units of 1/per_one. Of the
// decimals that the type tells apart, at most one is next to a number.
template <class Number>
bool are_decimals(const double* first, const double* end, double per_one) {
  const double most = std::pow(10.0, std::numeric_limits<Number>::digits10);
  return std::all_of(first, end, [&](double value) {
    const double units = std::nearbyint(value * per_one);
    return units < most && static_cast<Number>(units / per_one) == static_cast<Number>(value);
  });
}

}  // namespace

// [e, largest, digits]: the largest e such that all weights are multiples of 2^e; the largest weight; the least number
// of digits behind the point, up to `most`, with which all weights are written as decimals. It is 0 if there is no such
// number, and if e is -most or more. There is at least one weight.
Tensor weight_digits(const Tensor& weight, int64_t most) {
  const double* const first = weight.const_data_ptr<double>();
  const double* const end = first + weight.numel();
  int64_t last = last_digit(*first);
  double largest = *first;
  for (const double* value = first; value < end; ++value) {
    last = std::min(last, last_digit(*value));
    largest = std::max(largest, *value);
  }
  int64_t digits = 0;
  if (last < -most) {
    const bool single = std::all_of(first, end, [](double value) { return static_cast<float>(value) == value; });
    double per_one = 1;
    for (int64_t number = 1; number <= most && digits == 0; ++number) {
      per_one *= 10;
      const bool found = single ? are_decimals<float>(first, end, per_one) : are_decimals<double>(first, end, per_one);
      digits = found ? number : 0;
    }
  }
  Tensor result = torch::stable::new_empty(weight, {3});
  result.mutable_data_ptr<double>()[0] = static_cast<double>(last);
  result.mutable_data_ptr<double>()[1] = largest;
  result.mutable_data_ptr<double>()[2] = static_cast<double>(digits);
  return result;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) { m.def("weight_digits(Tensor weight, int most=0) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("weight_digits", TORCH_BOX(&weight_digits)); }

}  // namespace torchcent
