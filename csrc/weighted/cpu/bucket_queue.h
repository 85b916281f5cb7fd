// A monotone priority queue for Dijkstra's algorithm: a ring of buckets. If the weights allow it, a bucket is as wide
// as the lightest weight; then all entries of the first bucket are final and nothing is sorted (Dial 1969; Denardo and
// Fox 1979). Otherwise, buckets are a fixed fraction of the heaviest weight, and the current bucket is a heap of a few
// vertices, not of all queued ones.
#pragma once

namespace torchcent::TORCHCENT_ISA {

// Maps a distance to its bucket. The mapping is monotone, so that no distance precedes a smaller one.
template <class T>
struct BucketWidth;

template <>
struct BucketWidth<int32_t> {
  int shift = 0;

  // A width of at most `width`, but large enough for a ring of `buckets` to cover steps of `heaviest`.
  static BucketWidth at_most(int32_t width) { return {31 - __builtin_clz(static_cast<unsigned>(width))}; }
  static BucketWidth share(int32_t heaviest, int64_t buckets) {
    int shift = 0;
    while ((heaviest >> shift) + 2 > buckets) ++shift;
    return {shift};
  }
  int64_t bucket(int32_t distance) const { return distance >> shift; }
  int64_t begin(int64_t bucket) const { return bucket << shift; }
  bool one_key() const { return shift == 0; }  // in a bucket
};

template <>
struct BucketWidth<double> {
  double per_unit = 1;

  // Slightly narrower, so that rounding cannot put a step of `width` into one bucket.
  static BucketWidth at_most(double width) { return {1.02 / width}; }
  static BucketWidth share(double heaviest, int64_t buckets) { return {static_cast<double>(buckets - 3) / heaviest}; }
  int64_t bucket(double distance) const { return static_cast<int64_t>(distance * per_unit); }
  double begin(int64_t bucket) const { return static_cast<double>(bucket) / per_unit; }
  bool one_key() const { return false; }
};

template <class T>
class BucketQueue {
 public:
  using Entry = BucketEntry<T>;

  // `entries` bounds the number of queued entries. Without `exact`, entries are not sorted within a bucket if the
  // weights make their order irrelevant to distances.
  BucketQueue(T lightest, T heaviest, int64_t entries, bool exact) : node_(entries), heap_(entries) {
    constexpr int64_t kMost = 4096, kUsual = 1024;
    sorted_ = exact || static_cast<double>(heaviest) / static_cast<double>(lightest) > kMost / 2 - 4;
    width_ = sorted_ ? BucketWidth<T>::share(heaviest, kUsual) : BucketWidth<T>::at_most(lightest);
    if constexpr (__is_same(T, double)) {
      if (!(width_.per_unit < 0x1p900)) {  // weights so small that their reciprocal overflows
        width_.per_unit = 0x1p900;
        sorted_ = true;
      }
    }
    const int64_t span = width_.bucket(heaviest) + 3;
    int64_t buckets = 64;
    while (buckets < span) buckets *= 2;
    mask_ = buckets - 1;
    Buffer<int32_t> first(buckets);
    first_.swap(first);
    Buffer<uint64_t> used(buckets / 64);
    used_.swap(used);
    for (int64_t b = 0; b < buckets; ++b) first_[b] = -1;
  }

  bool sorted() const { return sorted_; }
  // Maximum distance between entries of a bucket, if they are not sorted.
  double disorder() const { return sorted_ ? 0 : static_cast<double>(width_.begin(1)); }

  // The smallest key, or `none`. Scans the whole next bucket, unless all its keys are equal.
  template <class Sum>
  Sum least(Sum none) const {
    const int64_t place = next_used();
    if (place < 0) return none;
    if (width_.one_key()) return width_.begin(current_ + ((place - current_) & mask_));
    Sum least = none;
    for (int32_t node = first_[place]; node >= 0; node = node_[node].next)
      least = node_[node].key < least ? node_[node].key : least;
    return least;
  }

  // Only valid if empty: all searches begin at distance 0.
  void restart() {
    nodes_ = 0;
    free_ = -1;
    current_ = -1;  // so that the first entry is queued like the others
  }
  void clear() {
    for (int64_t b = 0; b <= mask_; ++b) first_[b] = -1;
    for (int64_t word = 0; word <= mask_ / 64; ++word) used_[word] = 0;
    heap_size_ = 0;
    restart();
  }

  void push(T key, int32_t vertex) {
    const int64_t bucket = width_.bucket(key);
    if (sorted_ && bucket == current_) return push_heap({key, vertex});
    int32_t node = free_;
    if (node >= 0) free_ = node_[node].next;
    else node = nodes_++;
    const int64_t place = bucket & mask_;
    node_[node] = {key, vertex, first_[place]};
    first_[place] = node;
    used_[place / 64] |= uint64_t{1} << (place % 64);
  }

  // Calls settle(entry) for the entries of the next bucket, sorted by key if necessary; settle may push. fetch(vertex)
  // is called earlier, to prefetch. Returns false if empty.
  template <class Settle, class Fetch>
  bool next_bucket(Settle settle, Fetch fetch) {
    const int64_t place = next_used();
    if (place < 0) return false;
    current_ += (place - current_) & mask_;
    int32_t node = first_[place];
    first_[place] = -1;
    used_[place / 64] &= ~(uint64_t{1} << (place % 64));
    int64_t entries = 0;
    while (node >= 0) {
      const Node entry = node_[node];
      node_[node].next = free_;
      free_ = node;
      node = entry.next;
      if (sorted_) push_heap({entry.key, entry.vertex});
      else heap_[entries++] = {entry.key, entry.vertex};
      if (sorted_ || entries <= kAhead) fetch(entry.vertex);
    }
    for (int64_t i = 0; i < entries; ++i) {
      if (i + kAhead < entries) fetch(heap_[i + kAhead].vertex);
      settle(heap_[i]);
    }
    while (heap_size_ > 0) settle(pop_heap());
    return true;
  }

 private:
  static constexpr int64_t kAhead = 4;

  using Node = QueuedVertex<T>;

  int64_t next_used() const {
    const int64_t here = current_ & mask_, words = mask_ / 64 + 1;
    uint64_t word = used_[here / 64] & (~uint64_t{0} << (here % 64));
    for (int64_t k = here / 64, tried = 0; tried <= words; ++tried) {
      if (word != 0) return 64 * k + __builtin_ctzll(word);
      k = k + 1 < words ? k + 1 : 0;
      word = used_[k];
    }
    return -1;
  }

  void push_heap(Entry entry) {
    int64_t at = heap_size_++;
    for (; at > 0; at = (at - 1) / 2) {
      const Entry parent = heap_[(at - 1) / 2];
      if (!before(entry, parent)) break;
      heap_[at] = parent;
    }
    heap_[at] = entry;
  }
  Entry pop_heap() {
    const Entry top = heap_[0], last = heap_[--heap_size_];
    int64_t at = 0;
    for (int64_t child = 1; child < heap_size_; child = 2 * at + 1) {
      if (child + 1 < heap_size_ && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], last)) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = last;
    return top;
  }
  static bool before(const Entry& a, const Entry& b) { return a.key < b.key; }

  BucketWidth<T> width_;
  bool sorted_ = true;
  int64_t mask_ = 0, current_ = -1;
  Buffer<int32_t> first_;  // [buckets] head of a list of nodes
  Buffer<uint64_t> used_;  // one bit per bucket
  Buffer<Node> node_;
  int32_t nodes_ = 0, free_ = -1;
  Buffer<Entry> heap_;  // the current bucket; a heap if sorted
  int64_t heap_size_ = 0;
};

}  // namespace torchcent::TORCHCENT_ISA
