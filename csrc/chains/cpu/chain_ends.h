// Betweenness by chains, a sweep per kept vertex for itself and all sources inside the chains that end there.
//
// A source x_h inside a chain between p and q reaches a target outside of it by p, by q, or by both, whichever is
// nearer. By p, its paths go on like those from p. So the sources inside the chains at p act like a source at p whose
// weight depends on the target. It takes the distances and path counts from p and from the other ends of these chains.
#pragma once

#include "chains/cpu/chain_rows.h"

namespace torchcent::TORCHCENT_ISA {

template <class T, class Count>
class ChainEnds final : public Search {
 public:
  explicit ChainEnds(const ChainProblem<T>& problem)
      : problem_(problem),
        rows_(problem_),
        target_(nodes_),
        arriving_(nodes_),
        weight_(nodes_),
        group_(nodes_),
        share_(problem.most_at * nodes_),
        own_group_(problem.most_at * nodes_),
        least_(chains_),
        most_(chains_),
        at_(problem.most_at) {}

  Status run(const PathBatch& batch) override {
    const Status status = sweeps(batch);
    rows_.clear();
    return status;
  }

 private:
  using Row = typename ChainRows<T, Count>::Row;

  // A chain at the root with sources inside, seen from there.
  struct At {
    int64_t chain;
    bool from_right;  // the root is x_{k+1}
    int32_t other;    // the other end
    Row row;          // of the other end
  };

  Status sweeps(const PathBatch& batch) {
    for (int64_t lane = 0; lane < batch.count; ++lane) {
      const int64_t root = batch.sources[lane];
      if (problem_.weights.source[root] == 0 && count_at(root) == 0) continue;
      Status status = rows_.ensure(static_cast<int32_t>(root));
      for (int64_t i = 0; status == Status::done && i < count_at(root); ++i)
        status = rows_.ensure(chain_at(root, i).other);
      if (status != Status::done) return status;
    }
    const ChainSums<T> sums(graph_, batch.scores);
    for (int64_t lane = 0; lane < batch.count; ++lane) {
      if (!rows_.has(batch.sources[lane])) continue;
      if (cancelled(problem_.cancel)) return Status::cancelled;
      sweep(static_cast<int32_t>(batch.sources[lane]), sums);
    }
    return Status::done;
  }

  int64_t count_at(int64_t v) const { return problem_.at_begin[v + 1] - problem_.at_begin[v]; }
  At chain_at(int64_t v, int64_t i) const {
    const int64_t code = problem_.at[problem_.at_begin[v] + i];
    return {code / 2, code % 2 != 0, graph_.ends[code ^ 1], {}};
  }

  void sweep(int32_t root, const ChainSums<T>& sums) {
    begin_ = problem_.components.begin[root];
    nodes_here_ = problem_.components.end[root] - begin_;
    first_chain_ = problem_.components.chains[begin_];
    const int64_t last_chain = problem_.components.chains[begin_ + nodes_here_];
    const int32_t own = static_cast<int32_t>(root - begin_);
    root_weight_ = problem_.weights.source[root];
    here_ = rows_.at(root);
    count_ = count_at(root);
    for (int64_t i = 0; i < count_; ++i) {
      at_[i] = chain_at(root, i);
      at_[i].row = rows_.at(at_[i].other);
    }
    passing_ = 0;
    const double* const target = problem_.weights.target + begin_;
    for (int64_t v = 0; v < nodes_here_; ++v) {
      weight_[v] = root_weight_;
      group_[v] = target[v];
      arriving_[v] = Count(0.0);
    }
    for (int64_t i = 0; i < count_; ++i) weigh(i);
    targets_inside(own, last_chain, sums);
    for (int64_t i = 0; i < count_; ++i) book_groups(i, own, sums);
    for (int64_t i = 0; i < count_; ++i) around(i, sums);
    sums.score[root] += passing_;
    backward(own, sums);
  }

  // The weight of the sources inside a chain at the root that leave by the root, for a target.
  struct Share {
    Meeting at;
    double tied;    // the share of x_{last + 1}, if tied, by the root
    double weight;  // of them all
  };
  Share share(const At& from, T here, Count sigma_here, T there, Count sigma_there) const {
    const int64_t c = from.chain, first = problem_.record[c].first;
    const double* const sum = problem_.weights.sum_source + first + c;
    const ChainRecord<T>& record = problem_.record[c];
    const Meeting at =
        from.from_right ? meeting(graph_, c, record, there, here) : meeting(graph_, c, record, here, there);
    double tied = 0;
    double weight = from.from_right ? sum[record.count] - sum[at.right() - 1] : sum[at.last];
    if (at.tie) {
      tied = double(sigma_here / (sigma_here + sigma_there)) * problem_.weights.inner_source[first + at.last];
      weight += tied;
    }
    return {at, tied, weight};
  }

  // Targets of weight `target` for the sources that leave the chain by the root.
  void book(const At& from, Meeting at, double tied, double target, const ChainSums<T>& sums) const {
    BeginSums* const begin = sums.begin(from.chain);
    (from.from_right ? begin[at.right()].from_right : begin[at.last].from_left) += target;
    if (at.tie) (from.from_right ? begin[at.last + 1].out_forward : begin[at.last + 1].out_back) += tied * target;
  }

  Share share_at(const At& from, int64_t v) const {
    return share(from, here_.distance[v], here_.sigma[v], from.row.distance[v], from.row.sigma[v]);
  }

  void weigh(int64_t i) {
    double* const mine = share_.data() + i * nodes_;
    double* const group = own_group_.data() + i * nodes_;
    for (int64_t v = 0; v < nodes_here_; ++v) {
      mine[v] = share_at(at_[i], v).weight;
      weight_[v] += mine[v];
      group[v] = 0;
    }
  }

  // The targets inside chains, for the root and for the sources inside other chains at it. x_j up to `low` are reached
  // by the left end from all of these, those from `high` on by the right end.
  void targets_inside(int32_t own, int64_t last_chain, const ChainSums<T>& sums) {
    const int64_t chains = last_chain - first_chain_;
    int32_t* const least = least_.data();
    int32_t* const most = most_.data();
    for (int64_t c = 0; c < chains; ++c) least[c] = most[c] = here_.meeting[c];
    for (int64_t i = 0; i < count_; ++i) {
      const int32_t* const other = at_[i].row.meeting;
      for (int64_t c = 0; c < chains; ++c) {
        least[c] = other[c] < least[c] ? other[c] : least[c];
        most[c] = other[c] > most[c] ? other[c] : most[c];
      }
    }
    double* const group = group_.data();
    const double* const weight = weight_.data();
    for (int64_t c = 0; c < chains; ++c) {
      const ChainRecord<T>& record = problem_.record[first_chain_ + c];
      const int64_t left = record.ends[0] - begin_, right = record.ends[1] - begin_;
      if (left == own || right == own) {
        targets_at_root(first_chain_ + c, sums);
        continue;
      }
      const int64_t low = Meeting::last_of(least[c]), high = Meeting::right_of(most[c]);
      const double* const target = problem_.weights.sum_target + record.first + first_chain_ + c;
      MeetSums* const meet = sums.meet(first_chain_ + c);
      meet[low].left += weight[left];
      meet[high].right += weight[right];
      group[left] += target[low];
      group[right] += target[record.count] - target[high - 1];
      if (high - low > 1) targets_between(first_chain_ + c, low, high, sums);
    }
  }

  // The same for a chain at the root, whose own sources do not take part.
  [[gnu::noinline]] void targets_at_root(int64_t chain, const ChainSums<T>& sums) {
    const ChainRecord<T>& record = problem_.record[chain];
    const int64_t left = record.ends[0] - begin_, right = record.ends[1] - begin_;
    int32_t least = here_.meeting[chain - first_chain_], most = least;
    double to_left = root_weight_, to_right = root_weight_;
    for (int64_t i = 0; i < count_; ++i) {
      if (at_[i].chain == chain) continue;
      const int32_t other = at_[i].row.meeting[chain - first_chain_];
      least = other < least ? other : least;
      most = other > most ? other : most;
      to_left += share_[i * nodes_ + left];
      to_right += share_[i * nodes_ + right];
    }
    const int64_t low = Meeting::last_of(least), high = Meeting::right_of(most);
    const double* const target = problem_.weights.sum_target + record.first + chain;
    const double of_left = target[low], of_right = target[record.count] - target[high - 1];
    sums.meet(chain)[low].left += to_left;
    sums.meet(chain)[high].right += to_right;
    arriving_[left] += Count(to_left * of_left) / here_.sigma[left];
    arriving_[right] += Count(to_right * of_right) / here_.sigma[right];
    for (int64_t i = 0; i < count_; ++i) {
      if (at_[i].chain == chain) continue;
      own_group_[i * nodes_ + left] += of_left;
      own_group_[i * nodes_ + right] += of_right;
    }
    targets_between(chain, low, high, sums);
  }

  [[gnu::noinline]] void targets_between(int64_t chain, int64_t low, int64_t high, const ChainSums<T>& sums) {
    const Meeting mine = Meeting::unpacked(here_.meeting[chain - first_chain_]);
    for (int64_t j = low + 1; j < high; ++j) target_between(chain, j, mine, sums);
  }

  // A target x_j that not all of these sources reach by the same end.
  void target_between(int64_t chain, int64_t j, Meeting mine, const ChainSums<T>& sums) {
    const int64_t left = graph_.ends[2 * chain] - begin_, right = graph_.ends[2 * chain + 1] - begin_;
    const double target = problem_.weights.inner_target[graph_.first[chain] + j - 1];
    double weight = root_weight_;
    for (int64_t i = 0; i < count_; ++i) {
      const At& from = at_[i];
      if (from.chain == chain) continue;
      const Meeting other = Meeting::unpacked(from.row.meeting[chain - first_chain_]);
      if (j <= mine.last && j <= other.last) {
        own_group_[i * nodes_ + left] += target;
        weight += share_[i * nodes_ + left];
      } else if (j >= mine.right() && j >= other.right()) {
        own_group_[i * nodes_ + right] += target;
        weight += share_[i * nodes_ + right];
      } else {
        const auto [here, sigma_here] = inside(chain, j, mine, here_, left, right);
        const auto [there, sigma_there] = inside(chain, j, other, from.row, left, right);
        const Share found = share(from, here, sigma_here, there, sigma_there);
        book(from, found.at, found.tied, target, sums);
        weight += found.weight;
        passing_ += found.weight * target;
      }
    }
    const bool by_left = j<mine.right(), by_right = j> mine.last;
    const Count paths = (by_left ? here_.sigma[left] : Count(0.0)) + (by_right ? here_.sigma[right] : Count(0.0));
    const Count each = Count(weight * target) / paths;
    MeetSums& tied = sums.tied(chain)[j];
    if (by_left) {
      arriving_[left] += each;
      tied.left += double(each * here_.sigma[left]);
    }
    if (by_right) {
      arriving_[right] += each;
      tied.right += double(each * here_.sigma[right]);
    }
  }

  struct Found {
    T distance;
    Count sigma;
  };
  Found inside(int64_t chain, int64_t j, Meeting at, const Row& from, int64_t left, int64_t right) const {
    const T position = graph_.position(chain)[j];
    const T by_left = from.distance[left] + position;
    const T by_right = from.distance[right] + static_cast<T>(graph_.length(chain) - position);
    if (j <= at.last) return {by_left, from.sigma[left]};
    if (j >= at.right()) return {by_right, from.sigma[right]};
    return {by_left, from.sigma[left] + from.sigma[right]};
  }

  // The targets that take the way of a kept vertex.
  void book_groups(int64_t i, int32_t own, const ChainSums<T>& sums) {
    const double* const mine = share_.data() + i * nodes_;
    const double* const group = own_group_.data() + i * nodes_;
    for (int64_t v = 0; v < nodes_here_; ++v) {
      const double targets = group_[v] + group[v];
      const Share found = share_at(at_[i], v);
      book(at_[i], found.at, found.tied, targets, sums);
      passing_ += mine[v] * (v == own ? targets - problem_.weights.target[begin_ + v] : targets);
    }
  }

  // Pairs inside one chain, whose paths run along it or around through both ends.
  void around(int64_t i, const ChainSums<T>& sums) {
    const At& from = at_[i];
    const int32_t* const ends = graph_.ends + 2 * from.chain;
    const bool loop = ends[0] == ends[1];
    const Row& row = from.from_right ? from.row : here_;  // of x_0, for both ends
    const int64_t right = ends[1] - begin_;
    const T distance = loop ? T(0) : row.distance[right];
    const Count sigma = loop ? Count(1.0) : row.sigma[right];
    const double out = pairs_inside(from.chain, distance, sigma, from.from_right, sums);
    passing_ += out;
    if (!loop) {
      const int64_t other = from.other - begin_;
      arriving_[other] += Count(out) / here_.sigma[other];
    }
  }

  // Adds the sums of these pairs when called for x_0. Returns the traffic that leaves by x_0, or by x_{k+1}.
  double pairs_inside(int64_t chain, T distance, Count sigma, bool from_right, const ChainSums<T>& sums) {
    const int64_t k = graph_.count(chain), first = graph_.first[chain];
    const T* const position = graph_.position(chain);
    const double* const source = problem_.weights.inner_source + first - 1;
    const double* const target = problem_.weights.inner_target + first - 1;
    const double* const sum = problem_.weights.sum_target + first + chain;
    MeetSums* const meet = sums.meet(chain);
    BeginSums* const begin = sums.begin(chain);
    const Doubled<T> whole = static_cast<Doubled<T>>(graph_.length(chain)) + static_cast<Doubled<T>>(distance);
    double out = 0;
    for (int64_t h = 1; h <= k; ++h) {
      const double weight = source[h];
      if (weight == 0) continue;
      const Doubled<T> twice = 2 * static_cast<Doubled<T>>(position[h]);
      // Forwards up to `at.last`, and backwards, around, to the others.
      const Meeting at = meeting(graph_.position(chain), graph_.by_hops, twice + whole, 0, k + 1);
      const Count once = at.tie ? Count(target[at.last + 1]) / (Count(1.0) + sigma) : Count(0.0);
      const double tied = double(once), tied_around = double(once * sigma);
      const double out_back = weight * (sum[k] - sum[at.right() - 1] + tied_around);
      // Backwards down to `to.right()`, and forwards, around, to the others.
      const Meeting to = meeting(graph_.position(chain), graph_.by_hops, twice - whole, 0, k + 1);
      const Count once_to = to.tie ? Count(target[to.last + 1]) / (Count(1.0) + sigma) : Count(0.0);
      const double tied_to = double(once_to), tied_around_to = double(once_to * sigma);
      const double out_forward = weight * (sum[to.last] + tied_around_to);
      out += from_right ? out_forward : out_back;
      if (from_right) continue;
      meet[at.last].left += weight;
      meet[h].left -= weight;
      meet[at.right()].right += weight;
      begin[h].inside_forward += weight * (sum[at.last] - sum[h] + tied);
      meet[to.right()].right += weight;
      meet[h].right -= weight;
      meet[to.last].left += weight;
      begin[h].inside_back += weight * (sum[h - 1] - sum[to.right() - 1] + tied_to);
      if (at.tie) {
        sums.tied(chain)[at.last + 1].left += weight * tied;
        sums.tied(chain)[at.last + 1].right += weight * tied_around;
      }
      if (to.tie) {
        sums.tied(chain)[to.last + 1].right += weight * tied_to;
        sums.tied(chain)[to.last + 1].left += weight * tied_around_to;
      }
      begin[h].out_back += out_back;
      begin[h].out_forward += out_forward;
    }
    return out;
  }

  // rho_v = sum_v + b_v / sigma_v for every source, each with its weight.
  void backward(int32_t own, const ChainSums<T>& sums) {
    const Count* const sigma = here_.sigma;
    Count* const arriving = arriving_.data();
    Count* const target = target_.data();
    double* const score = sums.score + begin_;
    const double* const weight = problem_.weights.target + begin_;
    for (int64_t v = 0; v < nodes_here_; ++v) {
      const Count each = Count(weight_[v]) / sigma[v];
      target[v] = each * Count(weight[v]);
      arriving[v] += each * Count(group_[v] - weight[v]);
    }
    for (int64_t i = here_.arcs - 1; i >= 0; --i) {
      const DagArc arc = here_.arc[i];
      const Count passed = arriving[arc.head] + target[arc.head];
      arriving[arc.tail] += passed;
      sums.pass[here_.slot[i]] += double(sigma[arc.tail] * passed);
    }
    for (int64_t v = 0; v < nodes_here_; ++v)
      if (v != own) score[v] += double(sigma[v] * arriving[v]);
  }

  ChainProblem<T> problem_;
  const ChainGraph<T>& graph_ = problem_.graph;
  const int64_t nodes_ = problem_.components.most_kept, chains_ = problem_.components.most_chains;
  ChainRows<T, Count> rows_;
  Buffer<Count> target_;          // b / sigma, times the weight of the sources
  Buffer<Count> arriving_;        // per kept vertex: what its successors and the chains at it pass up
  Buffer<double> weight_;         // of the sources that take the way of the root, per target
  Buffer<double> group_;          // weight of the targets that take the way of a vertex
  Buffer<double> share_;          // per chain at the root: of its sources, per target
  Buffer<double> own_group_;      // the part of group_ that differs between these chains
  Buffer<int32_t> least_, most_;  // per chain, of the meetings from the root and the other ends of its chains
  Buffer<At> at_;
  Row here_ = {};
  int64_t begin_ = 0, nodes_here_ = 0, first_chain_ = 0, count_ = 0;
  double root_weight_ = 0, passing_ = 0;
};

}  // namespace torchcent::TORCHCENT_ISA
