// The nearest member of sets of vertices, of each graph of a batch. A task is eight sets of a graph: a row of results
// is then written at once. A search starts at all members of a set and orders vertices by their distance, then by their
// member, so that of several nearest members the lowest arrives first (Dijkstra's algorithm on pairs).

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "core/control.h"
#include "core/cpu/tasks.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::stable::Tensor;

namespace {

constexpr int64_t kTogether = 8;
constexpr int64_t kUntilLook = 4096;  // vertices between looks at the cancel flag

struct Sets {
  Csr arcs;
  const double* weight;  // [slots]; null: hops
  const double* unit;    // per graph, of the weights
  const int64_t* ptr;
  const bool* member;  // [n, width]
  int64_t width;
  const int64_t* cancel;

  bool cancelled() const { return __atomic_load_n(cancel, __ATOMIC_RELAXED) != 0; }
};

// By hops: a key is the distance in the upper half, and the member in the lower one.
class Hops {
 public:
  using Value = int32_t;
  using Queue = std::vector<int32_t>;

  void reset(int64_t size) { key_.assign(size, kNone); }

  // Returns false if cancelled.
  bool search(const Sets& sets, int64_t first, const std::vector<int32_t>& members, Queue& queue) {
    queue = members;
    for (const int32_t u : members) key_[u] = static_cast<uint32_t>(u);
    for (size_t head = 0; head < queue.size(); ++head) {
      if (head % kUntilLook == 0 && sets.cancelled()) return false;
      const int64_t u = first + queue[head];
      const uint64_t key = key_[queue[head]] + kHop;
      for (int64_t slot = sets.arcs.rowptr[u]; slot < sets.arcs.rowptr[u + 1]; ++slot) {
        const int32_t v = static_cast<int32_t>(sets.arcs.col[slot] - first);
        if (key >= key_[v]) continue;
        // All vertices as far as u come before v in the queue, so that its member is the lowest when v comes.
        if (key_[v] == kNone) queue.push_back(v);
        key_[v] = key;
      }
    }
    return true;
  }

  bool reaches(int64_t v) const { return key_[v] != kNone; }
  int32_t member(int64_t v) const { return static_cast<int32_t>(key_[v] & 0xffffffffu); }
  int32_t distance(int64_t v, double) const { return static_cast<int32_t>(key_[v] >> 32); }

 private:
  static constexpr uint64_t kNone = ~uint64_t{0}, kHop = uint64_t{1} << 32;

  std::vector<uint64_t> key_;
};

class Lengths {
  struct Entry {
    double length;
    int32_t member, vertex;

    bool operator<(const Entry& other) const {
      return length < other.length || (length == other.length && member < other.member);
    }
  };

 public:
  using Value = double;

  // Buckets of lengths, in a ring, of which the current one is a heap: it is small, and in the cache.
  class Queue {
   public:
    // No arc is longer than `heaviest`, so that the ring has all that waits.
    void begin(double heaviest) {
      per_unit_ = (kBuckets - 3) / heaviest;
      if (!(per_unit_ < 0x1p900)) per_unit_ = 0;  // all in one heap
      current_ = 0;
      waiting_ = 0;
      heap_.clear();
      for (auto& each : buckets_) each.clear();
    }
    void push(const Entry& entry) {
      const int64_t bucket = static_cast<int64_t>(entry.length * per_unit_);
      if (bucket <= current_) {
        heap_.push_back(entry);
        std::push_heap(heap_.begin(), heap_.end(), later);
      } else {
        buckets_[bucket % kBuckets].push_back(entry);
        ++waiting_;
      }
    }
    // The least entry of those that are still valid; false if there is none.
    template <class Valid>
    bool pop(Entry& entry, Valid valid) {
      for (;;) {
        while (heap_.empty()) {
          if (waiting_ == 0) return false;
          auto& next = buckets_[++current_ % kBuckets];
          waiting_ -= static_cast<int64_t>(next.size());
          std::copy_if(next.begin(), next.end(), std::back_inserter(heap_), valid);
          next.clear();
          std::make_heap(heap_.begin(), heap_.end(), later);
        }
        std::pop_heap(heap_.begin(), heap_.end(), later);
        entry = heap_.back();
        heap_.pop_back();
        if (valid(entry)) return true;
      }
    }

   private:
    static constexpr int64_t kBuckets = 1024;
    static bool later(const Entry& a, const Entry& b) { return b < a; }

    double per_unit_ = 0;
    int64_t current_ = 0, waiting_ = 0;
    std::vector<Entry> heap_, buckets_[kBuckets];
  };

  void reset(int64_t size) { near_.assign(size, {std::numeric_limits<double>::infinity(), -1}); }

  bool search(const Sets& sets, int64_t first, const std::vector<int32_t>& members, Queue& queue) {
    const double* const end = sets.weight + sets.arcs.rowptr[first + static_cast<int64_t>(near_.size())];
    const double* const heaviest = std::max_element(sets.weight + sets.arcs.rowptr[first], end);
    queue.begin(heaviest == end ? 0 : *heaviest);
    for (const int32_t u : members) near_[u] = {0, u};
    for (const int32_t u : members) expand(sets, first, u, queue);
    const auto valid = [&](const Entry& entry) {
      return near_[entry.vertex].length == entry.length && near_[entry.vertex].member == entry.member;
    };
    Entry entry;
    for (int64_t count = 0; queue.pop(entry, valid); ++count) {
      if (count % kUntilLook == 0 && sets.cancelled()) return false;
      expand(sets, first, entry.vertex, queue);
    }
    return true;
  }

  bool reaches(int64_t v) const { return near_[v].member >= 0; }
  int32_t member(int64_t v) const { return near_[v].member; }
  double distance(int64_t v, double unit) const { return near_[v].length / unit; }

 private:
  struct Near {
    double length;
    int32_t member;
  };

  void expand(const Sets& sets, int64_t first, int32_t u, Queue& queue) {
    const Near from = near_[u];
    for (int64_t slot = sets.arcs.rowptr[first + u]; slot < sets.arcs.rowptr[first + u + 1]; ++slot) {
      const int32_t v = static_cast<int32_t>(sets.arcs.col[slot] - first);
      const Entry entry = {from.length + sets.weight[slot], from.member, v};
      if (!(entry < Entry{near_[v].length, near_[v].member, v})) continue;
      near_[v] = {entry.length, entry.member};
      queue.push(entry);
    }
  }

  std::vector<Near> near_;
};

template <class Search>
void search_sets(const Sets& sets, int64_t graphs, typename Search::Value* distance, int64_t* nearest, Control& shared,
                 int64_t threads) {
  const int64_t blocks = (sets.width + kTogether - 1) / kTogether, tasks = graphs * blocks;
  std::atomic<int64_t> next = 0;
  const auto work = [&] {
    Search searches[kTogether];
    std::vector<int32_t> members[kTogether];
    typename Search::Queue queue;
    for (int64_t task; (task = next++) < tasks;) {
      const int64_t graph = task / blocks, from = task % blocks * kTogether;
      const int64_t count = std::min(kTogether, sets.width - from);
      const int64_t first = sets.ptr[graph], size = sets.ptr[graph + 1] - first;
      for (auto& each : members) each.clear();
      for (int64_t v = 0; v < size; ++v)
        for (int64_t i = 0; i < count; ++i)
          if (sets.member[(first + v) * sets.width + from + i]) members[i].push_back(static_cast<int32_t>(v));
      for (int64_t i = 0; i < count; ++i) {
        searches[i].reset(size);
        if (!searches[i].search(sets, first, members[i], queue)) return;
      }
      const double unit = sets.unit == nullptr ? 1 : sets.unit[graph];
      for (int64_t v = 0; v < size; ++v)
        for (int64_t i = 0; i < count; ++i) {
          const int64_t at = (first + v) * sets.width + from + i;
          const bool reaches = searches[i].reaches(v);
          distance[at] = reaches ? searches[i].distance(v, unit) : -1;
          nearest[at] = reaches ? first + searches[i].member(v) : -1;
        }
      finish(shared, count);
    }
  };
  const int64_t entries = (sets.ptr[graphs] + sets.arcs.rowptr[sets.ptr[graphs]]) * sets.width;
  const int64_t team = std::max<int64_t>(1, std::min(threads_for(entries, threads), tasks));
  in_threads(static_cast<int>(team), work, [&] { next = tasks; });
}

}  // namespace

// distance: int32 for hops, float64 for weights.
void nearest_members(const Tensor& rowptr, const Tensor& col, const Tensor& weight, const Tensor& unit,
                     const Tensor& ptr, const Tensor& sets, Tensor& distance, Tensor& nearest, Tensor& control,
                     int64_t threads) {
  Control& shared = control_of(control);
  const bool weighted = distance.scalar_type() == torch::headeronly::ScalarType::Double;
  const Sets all = {view(rowptr, col),
                    weighted ? weight.const_data_ptr<double>() : nullptr,
                    weighted ? unit.const_data_ptr<double>() : nullptr,
                    ptr.const_data_ptr<int64_t>(),
                    sets.const_data_ptr<bool>(),
                    sets.size(1),
                    &shared.cancel};
  const int64_t graphs = ptr.numel() - 1;
  int64_t* const members = nearest.mutable_data_ptr<int64_t>();
  if (weighted) search_sets<Lengths>(all, graphs, distance.mutable_data_ptr<double>(), members, shared, threads);
  else search_sets<Hops>(all, graphs, distance.mutable_data_ptr<int32_t>(), members, shared, threads);
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Fills distance and nearest, int64, both [n, width], with the distance between each vertex and the nearest member of
  // each set, and that member, of several the lowest; -1 for none. sets is bool [n, width]. weight and unit are as for
  // pair_list, both empty for hops; distances are then int32, and float64 otherwise.
  m.def(
      "nearest_members(Tensor rowptr, Tensor col, Tensor weight, Tensor unit, Tensor ptr, Tensor sets, "
      "Tensor(a!) distance, Tensor(b!) nearest, Tensor(c!) control, int threads) -> ()");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("nearest_members", TORCH_BOX(&nearest_members)); }

}  // namespace torchcent
