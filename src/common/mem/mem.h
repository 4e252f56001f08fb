// Layer mem: address space cut into chunks, and what is built of chunks.
//
//   budget.h         how much is mapped, and the limit
//   metadata.h       memory for our own records
//   bitmap_pool.h    bitmaps of spans of many slots
//   page_map.h       which large block or region an address belongs to
//   size_classes.h   request size -> class -> geometry of a run
//   regions.h        address space, and a record for each 64 KiB chunk of it
//   free_runs.h      runs of chunks that nobody uses, by the buddy system
//   chunk_supply.h   runs for spans, kept warm for a while after use, then returned
//   run_cache.h      the runs a thread keeps to itself
//   class_growth.h   memory in advance for classes that grow
//   purge_request.h  how it is said that there will be something to purge
//   large_blocks.h   blocks above the size classes, each a mapping of its own
#pragma once

#include "common/mem/bitmap_pool.h"
#include "common/mem/budget.h"
#include "common/mem/chunk_supply.h"
#include "common/mem/class_growth.h"
#include "common/mem/free_runs.h"
#include "common/mem/large_blocks.h"
#include "common/mem/metadata.h"
#include "common/mem/page_map.h"
#include "common/mem/purge_request.h"
#include "common/mem/regions.h"
#include "common/mem/run_cache.h"
#include "common/mem/size_classes.h"
