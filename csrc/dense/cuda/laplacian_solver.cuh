// The eigenvectors of the Laplacian of one small graph by a team of threads: a warp, or a block. The method is that of
// dense/cpu/eigen_kernel.h. A thread owns components of all vectors: it applies reflections and rotations to them
// without waiting for others. The rotations of a QL step come one after the other, from one thread.
#pragma once

#include <cstdint>

#include "dense/canonical.h"
#include "dense/laplacian.h"

namespace torchcent::cuda {

// A value of each thread of a warp, exchanged with that of another.
__device__ inline double of_other(double value, int mask) {
  return __longlong_as_double(__shfl_xor_sync(0xffffffffu, __double_as_longlong(value), mask));
}

template <bool kWarp>
struct Team {
  int rank, size;
  double* partial;  // [32], shared by a block

  __device__ void sync() const {
    if constexpr (kWarp) __syncwarp();
    else __syncthreads();
  }
  template <class Join>
  __device__ double joined(double value, Join join) const {
    for (int mask = 16; mask > 0; mask /= 2) value = join(value, of_other(value, mask));
    if constexpr (!kWarp) {
      if ((rank & 31) == 0) partial[rank / 32] = value;
      sync();
      value = partial[0];
      for (int w = 1; w < size / 32; ++w) value = join(value, partial[w]);
      sync();
    }
    return value;
  }
  __device__ double sum(double value) const {
    return joined(value, [](double x, double y) { return x + y; });
  }
  __device__ double most(double value) const {
    return joined(value, [](double x, double y) { return x < y ? y : x; });
  }
};

struct EigenTask {
  const int64_t* rowptr;
  const int32_t* col;
  const double* weight;   // null: 1
  const int64_t* ptr;     // [graphs + 1]
  const int64_t* number;  // of the graphs that are solved
  Laplacian kind;
  double isolated;
  int64_t skip, width;
  bool compact;           // results are by the place of a graph among those that are solved, which have one size
  double* values;         // [graphs, width]
  int64_t* multiplicity;  // [graphs, width]
  double* vectors;        // [n, width]; null: only values
};

constexpr int kTeamDoubles = 48;

// Doubles of a team for a graph of n vertices.
__host__ __device__ inline int64_t eigen_doubles(int64_t n) { return 2 * n * n + 9 * n + kTeamDoubles; }

template <bool kWarp>
class EigenTeam {
 public:
  __device__ EigenTeam(const EigenTask& task, double* memory, int rank, int size)
      : task_(task), team_{rank, size, memory}, memory_(memory) {}

  // Solves the graph at a place of `number`.
  __device__ void solve(int64_t place) {
    const int64_t number = task_.number[place];
    first_ = task_.ptr[number];
    n_ = static_cast<int>(task_.ptr[number + 1] - first_);
    lay_out();
    fill();
    reduce();
    if (task_.vectors != nullptr) accumulate();
    diagonalise();
    rank_values();
    write(task_.compact ? place : number, task_.compact ? place * n_ : first_);
    team_.sync();  // before the memory is used for another graph
  }

 private:
  static constexpr int kMostSteps = 100;
  static constexpr double kNothing = 0x1p-960;  // squared entries: their reciprocal overflows

  __device__ void lay_out() {
    step_ = reinterpret_cast<int*>(memory_ + 32);
    double* next = memory_ + kTeamDoubles;
    for (double** const own : {&d_, &e_, &p_, &sine_, &cosine_, &strength_, &along_, &value_}) *own = next, next += n_;
    rank_ = reinterpret_cast<int*>(next);
    a_ = next + n_;
    z_ = a_ + n_ * n_;
  }
  template <class Use>
  __device__ void each(int begin, int end, Use use) const {
    for (int i = begin + team_.rank; i < end; i += team_.size) use(i);
  }
  __device__ double weight(int64_t slot) const { return task_.weight == nullptr ? 1 : task_.weight[slot]; }

  // The whole matrix, divided by a power of two so that no square of an entry overflows.
  __device__ void fill() {
    each(0, n_ * n_, [&](int i) { a_[i] = 0; });
    double most = 0;
    each(0, n_, [&](int i) {
      double sum = 0;
      for (int64_t slot = task_.rowptr[first_ + i]; slot < task_.rowptr[first_ + i + 1]; ++slot) sum += weight(slot);
      strength_[i] = sum;
      most = sum > most ? sum : most;
    });
    most = team_.most(most);
    const bool plain = task_.kind == Laplacian::plain;
    unit_ = plain && most > 0 && isfinite(most) ? ldexp(1.0, ilogb(most)) : 1;
    team_.sync();
    each(0, n_, [&](int i) {
      a_[i * n_ + i] = plain ? strength_[i] / unit_ : strength_[i] > 0 ? 1 : task_.isolated;
      for (int64_t slot = task_.rowptr[first_ + i]; slot < task_.rowptr[first_ + i + 1]; ++slot) {
        const int j = static_cast<int>(task_.col[slot] - first_);
        if (j != i)
          a_[j * n_ + i] = plain ? -weight(slot) / unit_ : -weight(slot) / (sqrt(strength_[i]) * sqrt(strength_[j]));
      }
    });
    team_.sync();
  }

  // Diagonal d_ and e_[i] between i and i + 1. Of step k, the first k entries of row k are the vector of the
  // reflection, and its diagonal is beta.
  __device__ void reduce() {
    for (int k = n_ - 1; k > 1; --k) {
      double* const v = a_ + k * n_;
      double square = 0;
      each(0, k, [&](int i) { square += v[i] * v[i]; });
      square = team_.sum(square);
      const double last = v[k - 1], diagonal = v[k], along = last > 0 ? -sqrt(square) : sqrt(square);
      const double half = square - along * last, beta = half > kNothing ? 1 / half : 0;
      team_.sync();
      if (team_.rank == 0) {
        d_[k] = diagonal;
        e_[k - 1] = along;
        v[k - 1] = last - along;
        v[k] = beta;
      }
      team_.sync();
      double both = 0;
      each(0, k, [&](int i) {
        double sum = 0;
        for (int j = 0; j < k; ++j) sum += a_[j * n_ + i] * v[j];
        p_[i] = beta * sum;
        both += p_[i] * v[i];
      });
      both = team_.sum(both) * beta / 2;
      each(0, k, [&](int i) { p_[i] -= both * v[i]; });
      team_.sync();
      each(0, k, [&](int i) {
        for (int j = 0; j < k; ++j) a_[j * n_ + i] -= v[j] * p_[i] + p_[j] * v[i];
      });
      team_.sync();
    }
    if (team_.rank == 0) {
      d_[0] = a_[0];
      if (n_ > 1) e_[0] = a_[n_], d_[1] = a_[n_ + 1];
      e_[n_ - 1] = 0;
    }
    team_.sync();
  }

  // Row j of z_ becomes column j of the product of all reflections.
  __device__ void accumulate() {
    each(0, n_, [&](int i) {
      for (int j = 0; j < n_; ++j) z_[j * n_ + i] = i == j ? 1 : 0;
      for (int k = n_ - 1; k > 1; --k) {
        const double* const v = a_ + k * n_;
        double sum = 0;
        for (int j = 0; j < k; ++j) sum += z_[j * n_ + i] * v[j];
        sum *= v[k];
        for (int j = 0; j < k; ++j) z_[j * n_ + i] -= sum * v[j];
      }
    });
  }

  __device__ void diagonalise() {
    double least = 0;
    each(0, n_, [&](int i) { least = fmax(least, fabs(d_[i]) + fabs(e_[i])); });
    least = team_.most(least) * 0x1p-52;
    int l = 0, steps = 0;  // of the first thread
    for (;;) {
      if (team_.rank == 0) next_step(least, l, steps);
      team_.sync();
      const int begin = step_[0], end = step_[1];
      if (end < 0) return;
      if (task_.vectors != nullptr) {
        each(0, n_, [&](int i) {
          double upper = z_[end * n_ + i];
          for (int j = end - 1; j >= begin; --j) {
            const double lower = z_[j * n_ + i];
            z_[(j + 1) * n_ + i] = sine_[j] * lower + cosine_[j] * upper;
            upper = cosine_[j] * lower - sine_[j] * upper;
          }
          z_[begin * n_ + i] = upper;
        });
      }
      team_.sync();
    }
  }

  // Sets the rotations of rows step_[0] to step_[1]; the end is -1 if the matrix is diagonal.
  __device__ void next_step(double least, int& l, int& steps) {
    for (; l + 1 < n_; ++l, steps = 0) {
      int m = l;
      while (m + 1 < n_ && fabs(e_[m]) > least) ++m;
      if (m == l) continue;
      if (++steps <= kMostSteps) {
        step_[0] = shifted_step(l, m);
        step_[1] = m;
        return;
      }
      d_[l] = __longlong_as_double(0x7ff8000000000000ll);
      e_[l] = 0;
    }
    step_[1] = -1;
  }

  __device__ int shifted_step(int l, int m) {
    const double half = (d_[l + 1] - d_[l]) / (2 * e_[l]), hypotenuse = sqrt(half * half + 1);
    double g = d_[m] - d_[l] + e_[l] / (half > 0 ? half + hypotenuse : half - hypotenuse);
    double sine = 1, cosine = 1, taken = 0;
    for (int i = m - 1; i >= l; --i) {
      const double f = sine * e_[i], b = cosine * e_[i], square = f * f + g * g;
      if (square == 0) {  // the matrix falls into two
        d_[i + 1] -= taken;
        e_[m] = 0;
        return i + 1;
      }
      const double inverse = rsqrt(square);
      if (i + 1 < m) e_[i + 1] = square * inverse;
      sine = f * inverse;
      cosine = g * inverse;
      const double base = d_[i + 1] - taken, rest = (d_[i] - base) * sine + 2 * cosine * b;
      taken = sine * rest;
      d_[i + 1] = base + taken;
      g = cosine * rest - b;
      sine_[i] = sine;
      cosine_[i] = cosine;
    }
    d_[l] -= taken;
    e_[l] = g;
    e_[m] = 0;
    return l;
  }

  __device__ void rank_values() {
    each(0, n_, [&](int i) {
      int place = 0;
      for (int j = 0; j < n_; ++j) place += d_[j] < d_[i] || (!(d_[i] < d_[j]) && j < i);
      value_[place] = d_[i];
      rank_[place] = i;
    });
    team_.sync();
  }

  __device__ int end_of_space(int end) const {
    const double most = fmax(fabs(value_[0]), fabs(value_[n_ - 1]));
    while (end < n_ && value_[end] - value_[end - 1] <= kSameValue * most) ++end;
    return end;
  }
  __device__ double* state(int rank) const { return z_ + rank_[rank] * n_; }

  __device__ void write(int64_t row, int64_t first) {
    const int skip = static_cast<int>(task_.skip), last = static_cast<int>(min(task_.skip + task_.width, int64_t{n_}));
    for (int begin = 0, end; begin < last; begin = end) {
      end = end_of_space(begin + 1);
      const bool is_zero = begin == 0 && fabs(value_[0]) <= kSameValue * fabs(value_[n_ - 1]);
      if (task_.vectors != nullptr) make_canonical(begin, end, min(end, last));
      each(max(begin, skip), min(end, last), [&](int j) {
        task_.values[row * task_.width + j - skip] = is_zero ? 0 : value_[j] * unit_;
        task_.multiplicity[row * task_.width + j - skip] = end - begin;
      });
    }
    if (task_.vectors == nullptr) return;
    for (int j = skip; j < last; ++j) {
      double factor = 1;
      if (task_.kind == Laplacian::walk) {
        double square = 0;
        each(0, n_, [&](int i) {
          if (strength_[i] > 0) state(j)[i] /= sqrt(strength_[i]);
          square += state(j)[i] * state(j)[i];
        });
        factor = 1 / sqrt(team_.sum(square));
      }
      each(0, n_, [&](int i) { task_.vectors[(first + i) * task_.width + j - skip] = factor * state(j)[i]; });
    }
  }

  // See dense/canonical.h.
  __device__ void make_canonical(int begin, int end, int last) {
    for (int j = begin; j < last; ++j) {
      double most = 0;
      each(0, n_, [&](int i) {
        double share = 0;
        for (int k = j; k < end; ++k) share += state(k)[i] * state(k)[i];
        p_[i] = share;
        most = fmax(most, share);
      });
      most = team_.most(most);
      double first = n_;
      each(0, n_, [&](int i) { first = i < first && p_[i] * (1 + kSameShare) >= most ? i : first; });
      const int pivot = static_cast<int>(-team_.most(-first));
      team_.sync();
      const double length = sqrt(p_[pivot]);
      each(j, end, [&](int k) { along_[k - j] = state(k)[pivot]; });
      team_.sync();
      const double own = along_[0];
      team_.sync();
      if (end - j > 1 && length > 0) {
        if (team_.rank == 0) along_[0] += own > 0 ? length : -length;
        team_.sync();
        const double half = length * length + length * fabs(own);
        each(0, n_, [&](int i) {
          double product = 0;
          for (int k = j; k < end; ++k) product += along_[k - j] * state(k)[i];
          for (int k = j; k < end; ++k) state(k)[i] -= along_[k - j] / half * product;
        });
      }
      // After the reflection, the entry of the pivot is positive if it was not.
      const bool turned = end - j > 1 && length > 0 ? own > 0 : own < 0;
      each(0, n_, [&](int i) { state(j)[i] = turned ? -state(j)[i] : state(j)[i]; });
      team_.sync();
    }
  }

  const EigenTask& task_;
  Team<kWarp> team_;
  double* memory_;
  int64_t first_ = 0;
  int n_ = 0;
  double unit_ = 1;
  double *d_, *e_, *p_, *sine_, *cosine_, *strength_, *along_, *value_, *a_, *z_;
  int *step_, *rank_;
};

// Teams take the graphs [begin, end) by turns. `memory` has `doubles` for each team: shared, or that of the device.
template <bool kWarp>
__device__ void solve_graphs(const EigenTask& task, int64_t begin, int64_t end, double* memory, int64_t doubles) {
  const int own = kWarp ? threadIdx.x / 32 : 0, teams = kWarp ? blockDim.x / 32 : 1;
  EigenTeam<kWarp> team(task, memory + own * doubles, kWarp ? threadIdx.x & 31 : threadIdx.x, kWarp ? 32 : blockDim.x);
  for (int64_t place = begin + int64_t{blockIdx.x} * teams + own; place < end; place += int64_t{gridDim.x} * teams)
    team.solve(place);
}

}  // namespace torchcent::cuda
