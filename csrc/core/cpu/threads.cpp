#include "core/cpu/threads.h"

#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace torchcent {

void in_threads(int workers, Call work, Call stop) {
  std::exception_ptr error;
  std::mutex mutex;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      std::lock_guard lock(mutex);
      error = std::current_exception();
      stop();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (int t = 1; t < workers; ++t) others.emplace_back(guarded);
    } catch (const std::system_error&) {
      // The system cannot create more threads: the existing ones do the work.
    } catch (const std::bad_alloc&) {
      // No memory for another thread: likewise.
    }
    guarded();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace torchcent
