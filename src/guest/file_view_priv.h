/* The table of files that the processes of a run have seen, shared by file_view.c and state_views.c. */
#ifndef CYCLESCOPE_GUEST_FILE_VIEW_PRIV_H
#define CYCLESCOPE_GUEST_FILE_VIEW_PRIV_H

#include "guest/file_view.h"

enum { VIEWS_HASH = 1 << 18 };

struct views {
    _Atomic int lock;           /* with --host-time processes run at the same time; 1: taken */
    uint32_t count;             /* of `view` */
    uint64_t next;              /* next number */
    uint32_t first[VIEWS_HASH]; /* by hash: 1 + index of the first view; 0: none */
    struct view view[VIEWS_MAX];
};

/* Returns the view of a file; NULL if the guest has not seen it. */
const struct view *view_peek(const struct process *p, uint64_t dev, uint64_t inode);
/* Returns the view of a file, which is added if it is new; NULL if the table is full. */
struct view *view_find(struct process *p, uint64_t dev, uint64_t inode);

#endif
