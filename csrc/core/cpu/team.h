// Threads that work on one task in step, for searches that are fewer than threads.
#pragma once

#include <memory>

namespace torchcent {

// Standard headers of threads stay out of this one: it is compiled for several instruction sets
// (kernels/cpu/scalar_kernels.h).
class Team {
 public:
  // This thread and up to `size` - 1 others: as many as the system grants.
  explicit Team(int size);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // Runs work(rank) for every rank in [0, size), rank 0 in this thread. The work must not throw.
  template <class Work>
  void run(Work work) {
    run([](void* task, int rank) { (*static_cast<Work*>(task))(rank); }, &work);
  }

  // Waits until all ranks have called it; what they wrote before is then seen by all.
  void meet();

 private:
  struct Threads;
  void run(void (*work)(void*, int), void* task);

  int size_ = 1;
  std::unique_ptr<Threads> threads_;
};

}  // namespace torchcent
