// Layer os: what differs by operating system. A port supplies these headers' functions in os/<system>/; the layers mem and
// the lines are written against them and include no system header; core and api use libc's.
#pragma once

#include "common/os/clock.h"
#include "common/os/lock.h"
#include "common/os/memory.h"
#include "common/os/process.h"
#include "common/os/thread.h"
#include "common/os/thread_local.h"
#include "common/os/underlying.h"
