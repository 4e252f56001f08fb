// Which file serves this process's malloc: the proof that a preload took effect.
#ifndef BENCH_SUPPORT_MALLOC_PROVIDER_H
#define BENCH_SUPPORT_MALLOC_PROVIDER_H

#ifdef __cplusplus
extern "C" {
#endif

// The path of the shared object whose malloc this process uses, ready to stand in a JSON string.
// Does not allocate. A static buffer: for one thread.
const char* malloc_provider_json(void);

#ifdef __cplusplus
}
#endif

#endif
