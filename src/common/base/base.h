// Layer base: what everything else is written with and what depends on nothing but the compiler and libc: bits, intrusive
// lists, invariant checks, text that is formatted without allocating.
#pragma once

#include "common/base/bits.h"
#include "common/base/check.h"
#include "common/base/list.h"
#include "common/base/racing_read.h"
#include "common/base/text.h"
