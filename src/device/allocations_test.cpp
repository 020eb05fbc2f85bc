#include "base/count_allocations.h"
