// Layer os: what differs by operating system. A port supplies these headers' functions in os/<system>/; everything above is
// written against them and includes no system header.
#pragma once

#include "common/os/clock.h"
#include "common/os/lock.h"
#include "common/os/memory.h"
#include "common/os/thread.h"
#include "common/os/underlying.h"
