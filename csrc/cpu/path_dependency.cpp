// The loop over batches of sources: threads, the overflow ladder, and sums whose order is that of the batches.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "cpu/search.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

// The best that the processor has, or at most what TORCHCENT_SIMD names.
Simd best_simd() {
  const char* wish = std::getenv("TORCHCENT_SIMD");
  const std::string_view limit = wish == nullptr ? "" : wish;
#if defined(__x86_64__)
  if (limit == "portable") return Simd::portable;
  if (limit != "avx2" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return Simd::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    return Simd::avx2;
#endif
  return Simd::portable;
}

const Simd kSimd = best_simd();

std::unique_ptr<Search> make_search(const PathProblem& problem, Measure measure, Engine engine, Rung rung) {
#if defined(__x86_64__)
  if (kSimd == Simd::avx512) return avx512::make_search(problem, measure, engine, rung);
  if (kSimd == Simd::avx2) return avx2::make_search(problem, measure, engine, rung);
#endif
  return portable::make_search(problem, measure, engine, rung);
}

// Batches in the first two groups; then in each. Small first, so that a rung that overflows is left soon.
// Fixed, because the rung of a batch decides its bits and must not depend on the machine.
constexpr int64_t kGroups[] = {8, 128, 2048};

// Hands out batches, and adds what they computed into the result in their order, whichever thread ends
// first: floating-point sums then do not depend on the number of threads. A batch is handed out together
// with its buffer, so that the first unfinished batch always has one and nobody waits for ever. The
// batches of a group start on the highest rung that any earlier group came to.
class OrderedBatches {
 public:
  OrderedBatches(double* target, int64_t size, int64_t batches, int buffers, int64_t rung)
      : target_(target), size_(size), batches_(batches), unused_(buffers), rung_(rung), highest_(rung) {}

  // The next batch, its rung and a zero-filled buffer; -1 when there is none.
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
  // A group begins when all batches before it are done.
  bool ready() const { return (unused_ > 0 || !free_.empty()) && (next_ < group_end_ || turn_ == next_); }

  double* target_;
  int64_t size_, batches_;
  int unused_;
  int64_t rung_, highest_;
  int64_t next_ = 0, turn_ = 0, group_end_ = 0;
  size_t group_ = 0;
  bool stopped_ = false;
  std::map<int64_t, std::vector<double>> waiting_;
  std::vector<std::vector<double>> free_;
  std::mutex mutex_;
  std::condition_variable freed_;
};

// Sources that share one private sum. Fixed, so that results do not depend on the number of threads.
int64_t batch_size(Engine engine) { return engine == Engine::lanes ? 64 : 16; }

Csr view(const Tensor& rowptr, const Tensor& col) {
  return {rowptr.numel() - 1, rowptr.const_data_ptr<int64_t>(), col.const_data_ptr<int32_t>()};
}

bool all_equal(const double* values, int64_t count, double value) {
  for (int64_t i = 0; i < count; ++i)
    if (values[i] != value) return false;
  return true;
}

}  // namespace

Tensor path_dependency(const Tensor& rowptr, const Tensor& col, const Tensor& colptr, const Tensor& row,
                       const Tensor& sources, const Tensor& source_weight, const Tensor& own_weight,
                       const Tensor& target_weight, const Tensor& through_weight, Tensor& scores, Tensor& control,
                       int64_t measure, int64_t engine, int64_t rung, int64_t threads) {
  const int64_t n = rowptr.numel() - 1, count = sources.numel();
  int64_t* const cancel = control.mutable_data_ptr<int64_t>();
  int64_t* const finished = cancel + 1;
  const bool through = !all_equal(through_weight.const_data_ptr<double>(), n, 0);
  const PathProblem problem = {view(rowptr, col),
                               view(colptr, row),
                               target_weight.const_data_ptr<double>(),
                               through_weight.const_data_ptr<double>(),
                               through,
                               !through && all_equal(target_weight.const_data_ptr<double>(), n, 1),
                               cancel};
  const PathBatch all = {count, sources.const_data_ptr<int64_t>(), source_weight.const_data_ptr<double>(),
                         own_weight.const_data_ptr<double>(), nullptr};
  const int64_t size = batch_size(Engine{engine});
  const int64_t batches = (count + size - 1) / size;
  const int workers = static_cast<int>(std::max<int64_t>(1, std::min(threads, batches)));

  OrderedBatches ordered(scores.mutable_data_ptr<double>(), scores.numel(), batches, 2 * workers, rung);
  std::exception_ptr error;
  std::mutex error_mutex;

  const auto work = [&] {
    try {
      std::unique_ptr<Search> search;
      int64_t first_rung = rung, search_rung = -1;
      std::vector<double> buffer;
      for (int64_t b; (b = ordered.take(buffer, first_rung)) >= 0;) {
        PathBatch batch = all;
        batch.count = std::min(size, count - b * size);
        batch.sources += b * size;
        batch.source_weight += b * size;
        batch.own_weight += b * size;
        batch.scores = buffer.data();
        Status status = Status::overflow;
        for (int64_t r = first_rung; status == Status::overflow; ++r) {
          if (search_rung != r) {
            search.reset();  // before the next one takes its memory
            search = make_search(problem, Measure{measure}, Engine{engine}, Rung{r});
            search_rung = r;
          }
          status = search->run(batch);
          if (status == Status::overflow) std::fill(buffer.begin(), buffer.end(), 0.0);
        }
        if (status == Status::cancelled) return ordered.stop();
        ordered.give(b, std::move(buffer), search_rung);
        __atomic_fetch_add(finished, batch.count, __ATOMIC_RELAXED);
      }
    } catch (...) {
      std::lock_guard lock(error_mutex);
      error = std::current_exception();
      ordered.stop();
    }
  };
  if (n > 0 && count > 0) {
    std::vector<std::jthread> others;
    try {
      for (int t = 1; t < workers; ++t) others.emplace_back(work);
    } catch (const std::system_error&) {
      // The system grants no more threads: those there are do the work.
    }
    work();
  }
  if (error) std::rethrow_exception(error);

  Tensor result = torch::stable::new_empty(rowptr, {1});
  *result.mutable_data_ptr<int64_t>() = ordered.highest();
  return result;
}

int64_t simd() { return static_cast<int64_t>(kSimd); }

STABLE_TORCH_LIBRARY_IMPL(torchcent, CompositeExplicitAutograd, m) { m.impl("simd", TORCH_BOX(&simd)); }
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("path_dependency", TORCH_BOX(&path_dependency)); }

}  // namespace torchcent
