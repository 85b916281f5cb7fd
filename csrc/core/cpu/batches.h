// Distributes batches of sources over threads and adds their sums in batch order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "core/cpu/threads.h"

namespace torchcent {

// Hands out batches and adds their results in batch order, regardless of which thread finishes first, so that
// floating-point sums do not depend on the number of threads. A batch is handed out together with its buffer; therefore
// the first unfinished batch always has one, and there is no deadlock. With an overflow ladder, the batches of a group
// start on the highest rung that any earlier group reached. Without one (kNoLadder), all batches form a single group
// and none waits for others.
constexpr int64_t kNoLadder = -1;

class OrderedBatches {
 public:
  OrderedBatches(double* target, int64_t size, int64_t batches, int buffers, int64_t rung);

  // Returns the next batch, its rung and a zero-filled buffer; -1 if there is none.
  int64_t take(std::vector<double>& buffer, int64_t& rung);
  void give(int64_t batch, std::vector<double> buffer, int64_t rung);
  void stop();
  int64_t highest() const { return highest_; }

 private:
  bool ready() const;  // a group starts when all previous batches are done

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

}  // namespace torchcent
