// The kernels for portable processors.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "cpu/search.h"

#define TORCHCENT_ISA portable
#include "cpu/kernels.h"
