// Has UndefinedBehaviorSanitizer write to files: beside AddressSanitizer, g++'s ignores log_path, and
// what it writes to standard error a test that captures that would swallow. Preloaded after both.
#include <dlfcn.h>

#include <cstdlib>

__attribute__((constructor)) static void redirect() {
  using SetPath = void (*)(const char*);
  void* const library = dlopen("libubsan.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* const function = library == nullptr ? nullptr : dlsym(library, "__sanitizer_set_report_path");
  const char* const path = std::getenv("TORCHCENT_REPORTS");
  if (function != nullptr && path != nullptr) reinterpret_cast<SetPath>(function)(path);
}
