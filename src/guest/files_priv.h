/* What the files of the guest's file system share: mounts, open files, and the lookup of a path.
 *
 * path_lookup() turns a guest path into a target: a name in a host folder that is held by a descriptor. Whoever acts on
 * it passes the target's descriptor, name and flags to an *at call of the host, and releases it. */
#ifndef CYCLESCOPE_GUEST_FILES_PRIV_H
#define CYCLESCOPE_GUEST_FILES_PRIV_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "guest/process_priv.h"
#include "guest/special.h"

enum { LINKS_MAX = 40 }; /* symbolic links in one path, as in Linux */

struct mount {
    char *path; /* where the guest sees it: absolute, without links */
    int fd;     /* the host folder, a private O_PATH descriptor */
    bool readonly;
};

struct listing; /* of a folder; see sys_listing.c */

/* What a guest descriptor is beyond the host's; duplicates share it. Most descriptors have none. */
struct open_file {
    unsigned references;
    bool random;                 /* /dev/urandom: reads draw from the seed */
    char *path;                  /* guest path of a special folder or file, or NULL */
    struct listing *listing;     /* of a folder that is being read */
    struct sockaddr_un *address; /* what a socket was bound to, in the guest's words */
};

/* Whether a transfer may block, by the type of the file; looked up once per descriptor. */
enum stream { STREAM_UNKNOWN, STREAM_FILE, STREAM_PIPE, STREAM_SOCKET, STREAM_OTHER };

/* One of the descriptors that the caller gave: to be known again. */
struct caller_file {
    bool open;
    dev_t dev;
    ino_t inode;
    int flags; /* as F_GETFL has them */
};

struct files {
    struct process *process; /* NULL until attached */
    bool isolate;
    struct mount *mounts; /* the sysroot at "/" comes first, if there is one */
    size_t mount_count;
    int root;                     /* where walks start, or -1 if the host's root is the guest's */
    int empty;                    /* isolated: a removed folder, stands for folders that only we know; else -1 */
    int never;                    /* private descriptor that never becomes ready */
    int cwd;                      /* private O_PATH descriptor of the working folder */
    char *cwd_path;               /* its guest path if it is special, else NULL */
    struct caller_file caller[3]; /* standard input, output and error */
    mode_t umask;                 /* the guest's; the host's is set to it only while something is made */
    struct open_file *open[FD_PRIVATE];
    uint8_t stream[FD_PRIVATE]; /* enum stream */
};

static inline struct files *thread_files(const struct thread *t)
{
    return t->process->files;
}

static inline bool opens_for_change(int flags)
{
    if (flags & O_PATH)
        return false;
    return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) || (flags & O_TMPFILE) == O_TMPFILE;
}

/* ---- files.c: descriptors */

/* The record of `fd`, made if there is none; NULL without memory. */
struct open_file *files_describe(struct files *f, int fd);
int files_close(struct files *f, int fd);            /* 0 or negative errno */
void files_forget(struct files *f, int fd);          /* drops the record; the host has closed or will */
void files_share(struct files *f, int from, int to); /* `to` is a duplicate of `from` */
/* A lower descriptor that `fd`, of which `st` is known, shares its offset and flags with; -1 if there is none. Moves
 * offsets and puts them back. */
int files_duplicate_of(const struct files *f, int fd, const struct stat *st);
enum stream files_stream(struct files *f, int fd);
int64_t files_give_pair(struct thread *t, const int fds[2], uint64_t addr); /* to the guest; 0 or negative errno */
int files_chdir(struct files *f, int dirfd, const char *path) MUST_CHECK;   /* 0 or negative errno */
/* openat with the guest's umask. Reading leaves no trace in the file's access time if the host lets us (O_NOATIME),
 * since the next run would see it. A descriptor or a negative errno. */
int files_openat(const struct files *f, int dir, const char *name, int flags, mode_t mode) MUST_CHECK;

/* ---- files.c: where an open file lies */

int host_path(int fd, char path[PATH_MAX]) MUST_CHECK; /* as the host's /proc/self/fd shows it; 0 or negative errno */
/* The innermost mount that the file lies in, with its guest path; NULL if it lies in none. */
const struct mount *files_mount_of(const struct files *f, int fd, char guest[PATH_MAX]);
bool files_is_busy(const struct files *f, const char *guest); /* a mount is at this path or below it */
int files_may_change(const struct files *f, int fd);          /* owner, mode, times: 0, -EROFS, -EPERM */

/* ---- path.c */

enum {
    LOOKUP_FOLLOW = 1, /* a link in the last place is followed */
    LOOKUP_CREATE = 2, /* nothing need be in the last place */
    LOOKUP_NAME = 4,   /* the last name itself is made or taken away: a slash behind it does not follow a link */
    LOOKUP_EMPTY = 8,  /* an empty path means the descriptor (AT_EMPTY_PATH) */
};

struct target {
    int dir;          /* host folder, or AT_FDCWD with an absolute name */
    bool owned;       /* `dir` is ours to close */
    bool slash;       /* the path ended in one */
    bool missing;     /* known not to exist; only after LOOKUP_CREATE */
    int at_flags;     /* AT_SYMLINK_NOFOLLOW unless the host is to follow links; AT_EMPTY_PATH if `dir` is the file */
    struct node node; /* what kind of special file it is, mostly NODE_NONE */
    char name[PATH_MAX]; /* in `dir` */
    char path[PATH_MAX]; /* the guest's absolute path without links; empty where the host resolves it */
};

int path_lookup(struct files *f, int dirfd, const char *path, unsigned flags, struct target *out) MUST_CHECK;
/* Joins and shortens `.`, `..` and slashes by text alone; 0 or -ENAMETOOLONG. `out` may be neither of the others. */
int path_join(char out[PATH_MAX], const char *folder, const char *path) MUST_CHECK;

/* ---- target.c */

void target_release(struct target *target);
/* For calls that change what they name: also -EROFS on a read-only bind, -EPERM for a special file. */
int path_lookup_change(struct files *f, int dirfd, const char *path, unsigned flags, struct target *out) MUST_CHECK;
/* For calls that make a name that must not exist yet: also -EEXIST. */
int path_lookup_create(struct files *f, int dirfd, const char *path, struct target *out) MUST_CHECK;
int target_may_change(const struct files *f, const struct target *target) MUST_CHECK;
int target_open(const struct target *target, int flags) MUST_CHECK; /* of what exists; O_NOFOLLOW as the target says */

/* The same from guest memory: copies the path in first. */
int thread_lookup(struct thread *t, int dirfd, uint64_t path_addr, unsigned flags, struct target *out) MUST_CHECK;
int thread_lookup_change(struct thread *t, int dirfd, uint64_t path_addr, unsigned flags,
                         struct target *out) MUST_CHECK;
int thread_lookup_create(struct thread *t, int dirfd, uint64_t path_addr, struct target *out) MUST_CHECK;

/* ---- sys_io.c, for all that transfer */

/* 0 when `fd` is ready for `events`, else what the call returns: SYSCALL_RETRY, -EINTR, or -EAGAIN when the time limit
 * of a socket has passed. */
int64_t file_wait(struct thread *t, int fd, short events) MUST_CHECK;
bool file_may_block(struct files *f, int fd); /* not a plain file, and not O_NONBLOCK */
/* Waits a millisecond for a change that no descriptor announces; as file_wait, but never 0. */
int64_t file_wait_tick(struct thread *t) MUST_CHECK;
/* Turns guest buffers into host ones, up to the first byte that may not be accessed; the number of bytes, -EFAULT if
 * the very first may not, -EINVAL. `count` receives the number of buffers left. */
struct iovec;
int64_t file_buffer(struct thread *t, uint64_t addr, uint64_t length, int prot, struct iovec *out);
int64_t file_buffers(struct thread *t, uint64_t iov_addr, uint64_t iov_count, int prot, struct iovec out[IOV_MAX],
                     int *count);
void file_broken_pipe(struct thread *t); /* SIGPIPE for the writer */

/* ---- sys_listing.c */

void listing_free(struct listing *l);
int64_t folder_seek(struct files *f, int fd, int64_t offset, int whence); /* only for one that is being listed */

/* ---- sys_socket.c, for sys_message.c */

/* A socket address in the host's words. */
struct host_address {
    struct sockaddr_storage storage;
    socklen_t length;
    int held; /* descriptor that the address goes through, or -1 */
};

/* Translates the address of a peer; 0 or negative errno. To be released. */
int address_in(struct thread *t, uint64_t addr, uint64_t length, struct host_address *out) MUST_CHECK;
void address_release(struct host_address *address);
/* Copies an address out as accept and its kin do: as much as fits, and its length. 0 or -EFAULT, -EINVAL. */
int address_out(struct thread *t, uint64_t addr, uint64_t length_addr, const struct sockaddr_storage *from,
                socklen_t length) MUST_CHECK;

#endif
