// Tells ThreadSanitizer of two orders that it cannot see in libraries that are not instrumented, so that
// no report of our code needs to be suppressed: what OpenMP's fork and join order (GNU's waits on futexes),
// and Python's locks (g++ 12 knows sem_wait, not sem_clockwait). Preloaded.
#include <dlfcn.h>
#include <semaphore.h>
#include <time.h>

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

namespace {

struct Team {
  void (*work)(void*);
  void* data;
};

void member(void* given) {
  Team* const team = static_cast<Team*>(given);
  __tsan_acquire(team);
  team->work(team->data);
  __tsan_release(team);
}

}  // namespace

extern "C" void GOMP_parallel(void (*work)(void*), void* data, unsigned threads, unsigned flags) {
  using Parallel = void (*)(void (*)(void*), void*, unsigned, unsigned);
  static const auto real = reinterpret_cast<Parallel>(dlsym(dlopen("libgomp.so.1", RTLD_LAZY), "GOMP_parallel"));
  Team team{work, data};
  __tsan_release(&team);
  real(member, &team, threads, flags);
  __tsan_acquire(&team);
}

extern "C" int sem_clockwait(sem_t* lock, clockid_t clock, const timespec* until) {
  using Wait = int (*)(sem_t*, clockid_t, const timespec*);
  static const auto real = reinterpret_cast<Wait>(dlsym(RTLD_NEXT, "sem_clockwait"));
  const int failed = real(lock, clock, until);
  if (failed == 0) __tsan_acquire(lock);
  return failed;
}
