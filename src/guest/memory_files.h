/* Memory files (memfd) of the guest: their contents count against the limit of memory (memory.h). */
#ifndef CYCLESCOPE_GUEST_MEMORY_FILES_H
#define CYCLESCOPE_GUEST_MEMORY_FILES_H

#include "guest/process_priv.h"

void memory_files_limit(struct process *p); /* makes the memory of the process count its memory files */
/* Whether a system call may write `bytes` bytes to the guest descriptor `fd`: 0, or -ENOSPC if `fd` is a memory file
 * that would grow beyond the limit. */
int memory_files_may_write(struct process *p, int fd, uint64_t bytes) MUST_CHECK;
/* The same for a call that may write less than it was asked to: makes `*bytes` smaller if `fd` is a memory file. */
int memory_files_may_copy(struct process *p, int fd, uint64_t *bytes) MUST_CHECK;

#endif
