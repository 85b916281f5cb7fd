// Distributes batches of sources over threads and adds their sums in batch order.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace torchcent {

// Cumulative batches of the first two groups; then batches per group. The first groups are small, so that a rung that
// overflows is abandoned early. The sizes are fixed, because the rung of a batch determines its bits and must not
// depend on the machine.
constexpr int64_t kGroups[] = {8, 128, 2048};

// Hands out batches and adds their results in batch order, regardless of which thread finishes first, so that
// floating-point sums do not depend on the number of threads. A batch is handed out together with its buffer; therefore
// the first unfinished batch always has one, and there is no deadlock. With an overflow ladder, the batches of a group
// start on the highest rung that any earlier group reached. Without one (kNoLadder), all batches form a single group
// and none waits for others.
constexpr int64_t kNoLadder = -1;

class OrderedBatches {
 public:
  OrderedBatches(double* target, int64_t size, int64_t batches, int buffers, int64_t rung)
      : target_(target),
        size_(size),
        batches_(batches),
        unused_(buffers),
        rung_(rung),
        highest_(rung),
        group_end_(rung == kNoLadder ? batches : 0) {}

  // Returns the next batch, its rung and a zero-filled buffer; -1 if there is none.
  int64_t take(std::vector<double>& buffer, int64_t& rung) {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return stopped_ || next_ == batches_ || ready(); });
    if (stopped_ || next_ == batches_) return -1;
    if (next_ == group_end_) {
      rung_ = highest_;
      group_end_ += kGroups[std::min<size_t>(group_++, std::size(kGroups) - 1)];
    }
    rung = rung_;
    const int64_t batch = next_++;
    if (!free_.empty()) {
      buffer = std::move(free_.back());
      free_.pop_back();
    } else {
      --unused_;
      lock.unlock();
      buffer.assign(size_, 0.0);
    }
    return batch;
  }
  void give(int64_t batch, std::vector<double> buffer, int64_t rung) {
    std::lock_guard lock(mutex_);
    highest_ = std::max(highest_, rung);
    waiting_.emplace(batch, std::move(buffer));
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == turn_; first = waiting_.begin()) {
      std::vector<double>& sum = first->second;
      for (int64_t i = 0; i < size_; ++i) {
        target_[i] += sum[i];
        sum[i] = 0;
      }
      free_.push_back(std::move(sum));
      waiting_.erase(first);
      ++turn_;
    }
    freed_.notify_all();
  }
  void stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    freed_.notify_all();
  }
  int64_t highest() const { return highest_; }

 private:
  // A group starts when all previous batches are done.
  bool ready() const { return (unused_ > 0 || !free_.empty()) && (next_ < group_end_ || turn_ == next_); }

  double* target_;
  int64_t size_, batches_;
  int unused_;
  int64_t rung_, highest_;
  int64_t group_end_;
  int64_t next_ = 0, turn_ = 0;
  size_t group_ = 0;
  bool stopped_ = false;
  std::map<int64_t, std::vector<double>> waiting_;
  std::vector<std::vector<double>> free_;
  std::mutex mutex_;
  std::condition_variable freed_;
};

// Runs work() in this thread and in others, `workers` in total, and rethrows the first exception; stop() must make the
// others return soon.
template <class Work, class Stop>
void in_threads(int workers, Work work, Stop stop) {
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
