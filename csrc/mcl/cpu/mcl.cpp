// An iteration of Markov clustering: the loop over columns.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/control.h"
#include "mcl/cpu/flow_index.h"
#include "mcl/cpu/flow_store.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

constexpr int64_t kBatch = 16;  // columns

// Flushes float32 denormals to 0 in this thread during its lifetime: a flow without pruning has many of them, and
// processors handle them slowly.
class FlushToZero {
 public:
#if defined(__x86_64__)
  FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~FlushToZero() { _mm_setcsr(before_); }

 private:
  unsigned before_;
#endif
};

// Summarises the iteration, in an order that does not depend on the number of threads.
void summarise(const std::vector<ColumnSummary>& columns, double enough, double* out) {
  constexpr double kMassUnit = 0x1p32;  // integers: sums of shares do not depend on how columns are dealt
  double chaos = 0, least = 1;
  int64_t multiplications = 0, kept = 0, poor = 0, recovered = 0, selected = 0, mass = 0;
  for (const ColumnSummary& column : columns) {
    chaos = std::max(chaos, column.chaos);
    multiplications += column.multiplications;
    kept += column.kept;
    recovered += column.recovered;
    selected += column.selected;
    if (column.kept == 0) continue;
    poor += column.mass < enough;
    least = std::min(least, column.mass);
    mass += static_cast<int64_t>(column.mass * kMassUnit);
  }
  const double all[] = {chaos,
                        static_cast<double>(multiplications),
                        static_cast<double>(kept),
                        static_cast<double>(poor),
                        static_cast<double>(recovered),
                        static_cast<double>(selected),
                        least,
                        static_cast<double>(mass) / kMassUnit};
  std::copy(std::begin(all), std::end(all), out);
}

// Whether to build other orders of the flow first, so that products can be omitted (mcl/cpu/flow_filter.h). This pays
// if there are many products per entry of the flow and, in a sample of columns, most of them are too small to matter.
// With many products it also pays to keep sums in other places (mcl/cpu/flow_places.h).
constexpr double kWorthwhile = 48;
constexpr int64_t kSharedEntries = 100'000;  // from which threads share a pass over the flow
constexpr int64_t kSampleProducts = 4'000'000, kSampleColumns = 64;
constexpr double kSmallShare = 0.9;
bool has_many_products(const Flow& flow, double products, double entries) {
  return flow.num_nodes > kExactNodes && products > kWorthwhile * entries;
}
// Products of M^2; of higher powers they are not known.
double products_of_square(const Flow& flow, int64_t size, int workers) {
  std::atomic<int64_t> products = 0;
  in_ranges(size < kSharedEntries ? 1 : workers, flow.num_nodes, [&](int64_t first, int64_t last) {
    int64_t some = 0;
    for (int64_t j = first; j < last; ++j)
      for (int64_t i = flow.begin[j]; i < flow.begin[j] + flow.length[j]; ++i) some += flow.length[flow.row[i]];
    products += some;
  });
  return static_cast<double>(products);
}
// With fewer columns and products than this, starting a thread takes longer than they do.
constexpr double kWorthThreads = 1e5;
bool mostly_small(const Flow& flow, double threshold) {
  if (threshold <= 0) return false;
  int64_t looked_at = 0, small = 0;
  for (int64_t c = 0; c < kSampleColumns && looked_at < kSampleProducts; ++c) {
    const int64_t j = flow.num_nodes * (c * 37 % kSampleColumns) / kSampleColumns;
    const float tiny = kLeftOut * static_cast<float>(threshold) / static_cast<float>(flow.length[j]);
    for (int64_t i = flow.begin[j], end = i + flow.length[j]; i < end; ++i) {
      const int64_t k = flow.row[i];
      const float weight = flow.value[i];
      const float* const value = flow.value + flow.begin[k];
      int32_t found = 0;
      for (int32_t x = 0; x < flow.length[k]; ++x) found += weight * value[x] < tiny;
      small += found;
      looked_at += flow.length[k];
    }
  }
  return static_cast<double>(small) > kSmallShare * static_cast<double>(looked_at);
}

// The batches of `order` in the shares [first, last) of `parts`. Batches are dealt in turn, each to the share with the
// fewest products so far, so that shares have the same mix of columns. Columns are never dealt one by one: the bits of
// a column depend on the others of its batch.
std::vector<int64_t> dealt(const Flow& flow, const std::vector<int32_t>& order, int64_t first, int64_t last,
                           int64_t parts, int workers) {
  const int64_t n = flow.num_nodes, batches = (n + kBatch - 1) / kBatch;
  std::vector<int64_t> mine, cost(batches);
  in_ranges(workers, parts > 1 ? batches : 0, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin * kBatch; at < std::min(n, end * kBatch); ++at)
      for (int64_t i = flow.begin[order[at]], stop = i + flow.length[order[at]]; i < stop; ++i)
        cost[at / kBatch] += flow.length[flow.row[i]];
  });
  using Share = std::pair<int64_t, int64_t>;  // products, number
  std::priority_queue<Share, std::vector<Share>, std::greater<Share>> shares;
  for (int64_t s = 0; s < std::min(parts, batches); ++s) shares.push({0, s});
  for (int64_t b = 0; b < batches; ++b) {
    const auto [products, share] = shares.top();
    shares.pop();
    shares.push({products + cost[b], share});
    if (first <= share && share < last) mine.push_back(b);
  }
  return mine;
}

// The order of rows behind the control record: neighbours are close to each other. Empty if there is none.
std::vector<int32_t> order_of(const Tensor& control, int64_t n) {
  constexpr int64_t kRecord = sizeof(Control) / sizeof(int64_t);
  if (control.numel() != kRecord + n) return {};
  const int64_t* const given = control.const_data_ptr<int64_t>() + kRecord;
  std::vector<char> seen(n);
  for (int64_t p = 0; p < n; ++p) {
    if (given[p] < 0 || given[p] >= n || seen[given[p]]) throw std::invalid_argument("mcl_iterate: no order of rows");
    seen[given[p]] = 1;
  }
  return {given, given + n};
}

}  // namespace

// The next flow, packed. control.bytes limits the new flow and its orders; orders beyond it are in a file. If it is too
// small for the flow, or the run is cancelled, the returned flow is empty. Behind the control record there may be an
// order of the rows in which neighbours are close to each other: it makes iterations faster and does not change a bit.
//
// summary, float64: chaos; products of the expansion; entries kept; columns that keep less than `mass`, recovered,
// selected; the smallest share of a column that pruning keeps; the sum of these shares.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> mcl_iterate(const Tensor& begin, const Tensor& length,
                                                               const Tensor& row, const Tensor& value, Tensor& control,
                                                               int64_t expansion, double inflation, double threshold,
                                                               int64_t select, int64_t recover, double mass,
                                                               int64_t threads, int64_t, int64_t first, int64_t last,
                                                               int64_t parts) {
  if (first < 0 || last < first || parts < std::max<int64_t>(last, 1))
    throw std::invalid_argument("mcl_iterate: 0 <= first <= last <= parts");
  const int64_t n = begin.numel();
  Control& shared = control_of(control);
  const Flow flow = {n, begin.const_data_ptr<int64_t>(), length.const_data_ptr<int32_t>(),
                     row.const_data_ptr<int32_t>(), value.const_data_ptr<float>()};
  const int64_t size = std::accumulate(flow.length, flow.length + n, int64_t{0});
  const double products =
      expansion == 2 ? products_of_square(flow, size, static_cast<int>(std::max<int64_t>(1, threads))) : 0;
  const bool quick = expansion <= 2 && static_cast<double>(n) + products < kWorthThreads;
  const int workers = quick ? 1 : static_cast<int>(std::max<int64_t>(1, std::min(threads, (n + kBatch - 1) / kBatch)));

  FlowBudget budget(shared.bytes);
  const bool many = has_many_products(flow, products, static_cast<double>(size));
  const bool omitting = many && mostly_small(flow, threshold);
  const bool in_file = omitting && !budget.spare(FlowOrders::bytes(n, size));
  const std::vector<int32_t> given = order_of(control, n);
  const FlowPlaces numbers(flow);
  const bool moved = many && !given.empty();
  FlowPlaces near = moved ? FlowPlaces(flow, given) : FlowPlaces(flow);
  const bool placed = moved && budget.spare(near.bytes(row.numel()));
  if (placed) near.copy(row.numel(), workers);
  const PlacedRows places = placed ? near.view() : numbers.view();
  std::unique_ptr<const FlowOrders> orders;
  FlowIndex index = {};
  std::vector<int32_t> order;  // does not depend on the memory: pieces must have the same
  if (omitting) {
    orders = std::make_unique<const FlowOrders>(flow, places, size, workers, in_file);
    index = orders->view();
    order = alike_together(leaders(flow, workers), numbers.view());
  } else {
    order = moved ? sharing_most(flow, near.view(), workers) : longest_first(flow);
  }
  const PlacedProblem problem = {{flow, orders ? &index : nullptr, expansion, inflation, static_cast<float>(threshold),
                                  select, recover, mass, &shared.cancel},
                                 places};
  const std::vector<int64_t> mine = dealt(flow, order, first, last, parts, workers);
  const int64_t batches = static_cast<int64_t>(mine.size());
  std::vector<ColumnSummary> columns(n);
  std::deque<FlowChunks> chunks;
  for (int w = 0; w < workers; ++w) chunks.emplace_back(budget, budget.entries_of_chunk(workers));
  std::atomic<int64_t> next = 0;
  std::atomic<int> workers_so_far = 0;
  std::atomic<bool> complete = true;
  const auto work = [&] {
    const FlushToZero guard;
    FlowChunks& own = chunks[workers_so_far++];
    const auto step = TORCHCENT_CALL_LANES(make_flow_step(problem));
    for (int64_t b; (b = next++) < batches;) {
      const int64_t at = mine[b] * kBatch, count = std::min(kBatch, n - at);
      if (!step->run(order.data() + at, count, own, columns.data())) {
        complete = false;
        next = batches;
      } else {
        finish(shared, count);
      }
    }
    if (complete && !step->run(nullptr, 0, own, columns.data())) complete = false;  // what it has put off
  };
  in_threads(workers, work, [&] { next = batches; });
  if (budget.exceeded()) shared.bytes = -1;
  if (!complete) {
    chunks.clear();
    std::fill(columns.begin(), columns.end(), ColumnSummary{});
  }

  Tensor new_begin = torch::stable::new_empty(begin, {n}, ScalarType::Long);
  Tensor new_length = torch::stable::new_empty(begin, {n}, ScalarType::Int);
  int64_t* const at = new_begin.mutable_data_ptr<int64_t>();
  int32_t* const entries = new_length.mutable_data_ptr<int32_t>();
  int64_t total = 0;
  for (int64_t j = 0; j < n; ++j) {
    at[j] = total;
    entries[j] = columns[j].entries;
    total += columns[j].entries;
  }
  Tensor new_row = torch::stable::new_empty(begin, {total}, ScalarType::Int);
  Tensor new_value = torch::stable::new_empty(begin, {total}, ScalarType::Float);
  Tensor summary = torch::stable::new_empty(begin, {8}, ScalarType::Double);
  int32_t* const all_rows = with_huge_pages(new_row.mutable_data_ptr<int32_t>(), total);
  float* const all_values = with_huge_pages(new_value.mutable_data_ptr<float>(), total);
  std::atomic<size_t> packed = 0;
  in_threads(
      workers,
      [&] {
        for (size_t c; (c = packed++) < chunks.size();) chunks[c].pack(at, all_rows, all_values);
      },
      [&] { packed = chunks.size(); });
  summarise(columns, mass, summary.mutable_data_ptr<double>());
  return {new_begin, new_length, new_row, new_value, summary};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // One iteration of Markov clustering (mcl/mcl_step.h describes pruning). Column j of a flow has length[j] entries
  // from begin[j] on, with ascending rows: begin int64, length int32, row int32, value float32. control is int64 on the
  // host: [cancel, columns done, memory limit of the new flow or <= 0]; the last becomes -1 if the limit is too small.
  // summary is float64 on the host: chaos; products of the expansion; entries kept; columns that keep less than `mass`,
  // recovered, selected; the smallest share of a column that is kept; the sum of these shares.
  //
  // Only the shares [first, last) of `parts` are computed; other columns of the new flow are empty. On the CPU, columns
  // are dealt to shares by cost; on CUDA, share i has the columns [n i / parts, n (i + 1) / parts).
  m.def(
      "mcl_iterate(Tensor begin, Tensor length, Tensor row, Tensor value, Tensor(a!) control, int expansion, "
      "float inflation, float threshold, int select, int recover, float mass, int threads, int strategy=0, "
      "int first=0, int last=1, int parts=1) "
      "-> (Tensor begin, Tensor length, Tensor row, Tensor value, Tensor summary)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("mcl_iterate", TORCH_BOX(&mcl_iterate)); }

}  // namespace torchcent
