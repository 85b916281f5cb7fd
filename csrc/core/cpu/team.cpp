#include "core/cpu/team.h"

#include <atomic>
#include <barrier>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace torchcent {

struct Team::Threads {
  std::atomic<bool> complete{false};  // all threads are created, and `together` exists
  std::optional<std::barrier<>> together;
  void (*work)(void*, int) = nullptr;  // null: end
  void* task = nullptr;
  std::vector<std::jthread> others;

  void follow(int rank) {
    complete.wait(false);
    while (true) {
      together->arrive_and_wait();
      if (work == nullptr) return;
      work(task, rank);
      together->arrive_and_wait();
    }
  }
};

Team::Team(int size) : threads_(std::make_unique<Threads>()) {
  Threads& all = *threads_;
  try {
    all.others.reserve(size - 1);
    for (; size_ < size; ++size_) all.others.emplace_back([&all, rank = size_] { all.follow(rank); });
  } catch (const std::system_error&) {
    // The system cannot create more threads: the existing ones do the work.
  } catch (const std::bad_alloc&) {
    // No memory for another thread: likewise.
  }
  all.together.emplace(size_);
  all.complete = true;
  all.complete.notify_all();
}

Team::~Team() { run(nullptr, nullptr); }

void Team::run(void (*work)(void*, int), void* task) {
  threads_->work = work;
  threads_->task = task;
  threads_->together->arrive_and_wait();
  if (work == nullptr) return;  // the threads end; their destructors wait for them
  work(task, 0);
  threads_->together->arrive_and_wait();
}

void Team::meet() { threads_->together->arrive_and_wait(); }

}  // namespace torchcent
