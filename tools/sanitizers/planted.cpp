// Faults that tools/sanitize.py must find before it believes that there are none elsewhere.
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

extern "C" int address(int beyond) {
  std::vector<int> values(4);
  return values.data()[4 + beyond];
}

extern "C" int undefined(double value) { return static_cast<int>(value * std::numeric_limits<double>::infinity()); }

extern "C" int leak(int count) {
  volatile int* const lost = new int[64 + count];
  lost[0] = count;
  return count;
}

extern "C" int64_t thread(int64_t count) {
  int64_t sum = 0;
  const auto add = [&] {
    for (int64_t i = 0; i < count; ++i) sum += i;
  };
  std::thread other(add);
  add();
  other.join();
  return sum;
}
