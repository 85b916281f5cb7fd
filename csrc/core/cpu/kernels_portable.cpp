// The kernels for any processor.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "chains/chains.h"
#include "core/cpu/team.h"
#include "distances/cpu/distance_search.h"
#include "mcl/mcl_step.h"
#include "paths/search.h"
#include "tiny/cpu/tiny_search.h"
#include "weighted/weighted_search.h"

#define TORCHCENT_ISA portable
#include "core/cpu/kernels.h"
