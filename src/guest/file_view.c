#include "guest/file_view.h"

#include <string.h>

#include "guest/process_priv.h"

enum { STREAM_DEVICE = 14, STREAM_BLOCK_BYTES = 4096 };

void file_view(const struct process *p, struct stat *st)
{
    if (!p->config.host_user)
        st->st_uid = st->st_gid = GUEST_USER;
}

void file_view_standard(const struct process *p, int standard, struct stat *st)
{
    struct user_ids user = process_user(p);
    memset(st, 0, sizeof *st);
    st->st_dev = STREAM_DEVICE;
    st->st_ino = (ino_t)standard;
    st->st_mode = S_IFIFO | 0600;
    st->st_nlink = 1;
    st->st_uid = user.uid;
    st->st_gid = user.gid;
    st->st_blksize = STREAM_BLOCK_BYTES;
}
