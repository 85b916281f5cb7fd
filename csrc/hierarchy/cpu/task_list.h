// Tasks that come from tasks, for several threads.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

namespace torchcent {

template <class Task>
class TaskList {
 public:
  void push(Task task) {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }

  // Waits for a task; false once none is left and none is being done that could push more. A task ends with done().
  bool take(Task& task) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || !tasks_.empty() || running_ == 0; });
    if (stopped_ || tasks_.empty()) return false;
    task = std::move(tasks_.back());
    tasks_.pop_back();
    ++running_;
    return true;
  }
  void done() {
    std::lock_guard lock(mutex_);
    if (--running_ == 0) changed_.notify_all();
  }
  void stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  std::vector<Task> tasks_;
  int running_ = 0;
  bool stopped_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace torchcent
