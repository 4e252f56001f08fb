#include "inbox.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

void inbox_init(struct Inbox* inbox, size_t capacity) {
  inbox->blocks = calloc(capacity, sizeof *inbox->blocks);
  if (!inbox->blocks) fail_allocation(capacity * sizeof *inbox->blocks);
  inbox->count = 0;
  inbox->capacity = capacity;
  pthread_mutex_init(&inbox->lock, NULL);
}

void inbox_destroy(struct Inbox* inbox) {
  inbox_free_all(inbox);
  free(inbox->blocks);
  pthread_mutex_destroy(&inbox->lock);
}

static void grow(struct Inbox* inbox) {
  const size_t capacity = inbox->capacity * 2;
  void** blocks = realloc(inbox->blocks, capacity * sizeof *blocks);
  if (!blocks) fail_allocation(capacity * sizeof *blocks);
  memset(blocks + inbox->capacity, 0, (capacity - inbox->capacity) * sizeof *blocks);
  inbox->blocks = blocks;
  inbox->capacity = capacity;
}

void inbox_append(struct Inbox* inbox, void* block) {
  if (inbox->count == inbox->capacity) grow(inbox);
  inbox->blocks[inbox->count++] = block;
}

void inbox_free_all(struct Inbox* inbox) {
  for (size_t i = 0; i < inbox->count; ++i) {
    free(inbox->blocks[i]);
    inbox->blocks[i] = NULL;
  }
  inbox->count = 0;
}

void inbox_send(struct Inbox* inbox, void* block) {
  pthread_mutex_lock(&inbox->lock);
  inbox_append(inbox, block);
  pthread_mutex_unlock(&inbox->lock);
}

void inbox_drain(struct Inbox* inbox) {
  pthread_mutex_lock(&inbox->lock);
  inbox_free_all(inbox);
  pthread_mutex_unlock(&inbox->lock);
}
