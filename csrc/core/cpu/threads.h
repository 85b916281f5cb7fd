// A task that several threads run at once.
#pragma once

namespace torchcent {

// A function without arguments, by reference: the standard headers of threads are compiled once.
class Call {
 public:
  template <class Function>
  Call(const Function& function)
      : function_(&function), call_([](const void* called) { (*static_cast<const Function*>(called))(); }) {}
  void operator()() const { call_(function_); }

 private:
  const void* function_;
  void (*call_)(const void*);
};

// Runs work() in this thread and in others, `workers` in total, and rethrows the first exception; stop() must make the
// others return soon.
void in_threads(int workers, Call work, Call stop);

}  // namespace torchcent
