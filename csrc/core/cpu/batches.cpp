#include "core/cpu/batches.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace torchcent {

namespace {

// Cumulative batches of the first two groups; then batches per group. The first groups are small, so that a rung that
// overflows is abandoned early. The sizes are fixed, because the rung of a batch determines its bits and must not
// depend on the machine.
constexpr int64_t kGroups[] = {8, 128, 2048};

}  // namespace

OrderedBatches::OrderedBatches(double* target, int64_t size, int64_t batches, int buffers, int64_t rung)
    : target_(target),
      size_(size),
      batches_(batches),
      unused_(buffers),
      rung_(rung),
      highest_(rung),
      group_end_(rung == kNoLadder ? batches : 0) {}

int64_t OrderedBatches::take(std::vector<double>& buffer, int64_t& rung) {
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

void OrderedBatches::give(int64_t batch, std::vector<double> buffer, int64_t rung) {
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

void OrderedBatches::stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  freed_.notify_all();
}

bool OrderedBatches::ready() const { return (unused_ > 0 || !free_.empty()) && (next_ < group_end_ || turn_ == next_); }

}  // namespace torchcent
