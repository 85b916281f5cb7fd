// The kernels for portable processors.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "cpu/distance_search.h"
#include "cpu/mcl_step.h"
#include "cpu/search.h"
#include "cpu/tiny_search.h"
#include "cpu/weighted_search.h"

#define TORCHCENT_ISA portable
#include "cpu/kernels.h"
