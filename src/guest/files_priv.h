/* Declarations shared by the source files that implement guest files: mounts, open files, and path lookup.
 *
 * path_lookup() turns a guest path into a target: a descriptor of a host folder and a name in that folder. The caller
 * passes the target's descriptor, name and flags to a host system call of the *at family, then calls target_release. */
#ifndef CYCLESCOPE_GUEST_FILES_PRIV_H
#define CYCLESCOPE_GUEST_FILES_PRIV_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "guest/process_priv.h"
#include "guest/special.h"

/* Guest path of the folder that the run starts in, so that its real path, which differs from machine to machine,
 * changes no count. Not used if isolated, if the folder lies in the sysroot, or if --chdir names an absolute path. */
#define START_FOLDER "/here"

enum { LINKS_MAX = 40 }; /* limit of symbolic links followed in one lookup, as in Linux */

/* A host folder that the guest sees: the sysroot or a bind. */
struct mount {
    char *path;    /* guest path: absolute, without links */
    int fd;        /* private O_PATH descriptor of the host folder */
    bool readonly; /* changes fail with EROFS */
};

struct listing; /* entries of a folder; see listing.h */

/* State of a guest descriptor that the host does not keep. Duplicates share one record. Most descriptors have none. */
struct open_file {
    unsigned references;         /* number of descriptors that share the record */
    bool timerfd, signalfd;      /* the host descriptor is an eventfd (sys_timerfd.c, sys_signalfd.c) */
    int clock;                   /* timerfd: its clock id */
    uint64_t signal_set;         /* signalfd: the signals that it reads */
    bool inotify;                /* an inotify descriptor (sys_inotify.c) */
    uint32_t host_cookie;        /* inotify: the host's number of the last rename that was read */
    uint32_t cookie;             /* inotify: the guest's number of it */
    bool random;                 /* /dev/random or /dev/urandom: reads return bytes of the seeded generator */
    bool semaphore;              /* an eventfd with EFD_SEMAPHORE */
    char *path;                  /* guest path of a special folder or file; NULL: not special */
    struct listing *listing;     /* entries of a folder that the guest is reading; NULL: none */
    struct sockaddr_un *address; /* address that the guest bound a socket to, with the guest's path; NULL: none */
};

/* Type of a descriptor's file, which decides whether a transfer may block. Determined once per descriptor. */
enum stream { STREAM_UNKNOWN, STREAM_FILE, STREAM_PIPE, STREAM_SOCKET, STREAM_OTHER };

/* Identity of a descriptor that the caller passed to the run, to recognize its file later. */
struct caller_file {
    bool open;   /* the caller passed an open descriptor */
    dev_t dev;   /* device of its file */
    ino_t inode; /* inode of its file */
    int flags;   /* result of F_GETFL */
};

struct files {
    struct process *process; /* NULL until files_attach */
    bool isolate;            /* the guest sees only the mounts */
    struct mount *mounts;    /* the sysroot, at "/", comes first, if any; then the binds */
    size_t mount_count;
    int root;               /* folder at which walks start; -1: the guest's root is the host's */
    struct shm_folder *shm; /* isolated: the folder at /dev/shm; NULL: none, or a bind is there */
    int empty;              /* isolated: a removed folder that stands for synthetic folders (path.c); else -1 */
    int messages;           /* private duplicate of the caller's standard error; -1: none */
    int never;              /* private descriptor that never becomes ready */
    int start;              /* private O_PATH descriptor of the folder that is START_FOLDER to the guest; -1: none */
    bool overlaid;          /* changes of the sysroot go to the overlay (overlay.h) */
    int scratch;            /* private descriptor of the overlay's folder, locked; -1: none */
    int upper;              /* private O_PATH descriptor of the overlay's upper layer; -1: none */
    char *results;          /* guest path of the start folder if it lies in the sysroot: not overlaid; else NULL */
    int cwd;                /* private O_PATH descriptor of the working folder */
    char *cwd_path;         /* guest path of the working folder if it is special, else NULL */
    struct caller_file caller[3]; /* standard input, output and error as the caller passed them */
    mode_t umask;                 /* the guest's umask */
    mode_t caller_umask; /* applies in addition unless the guest has changed its umask: files stay as private as the
                            caller wants */
    struct open_file *open[FD_PRIVATE]; /* record of each descriptor; NULL: none */
    uint8_t stream[FD_PRIVATE];         /* enum stream of each descriptor */
    uint32_t seen[FD_PRIVATE];          /* 1 + place of the written file in the table of file_view.c; 0: not known */
    uint8_t standard[FD_PRIVATE]; /* 1 + n: standard stream n of the caller, which looks like a pipe; 0: another file */
    bool input_idle;          /* the writer of the standard input was slow: do not wait for it before it has written */
    int borrowed[FD_PRIVATE]; /* in a copied process: private number of the original descriptor; 0: it is its own */
};

static inline struct files *thread_files(const struct thread *t)
{
    return t->process->files;
}

/* Whether open flags allow the file to be changed. */
static inline bool opens_for_change(int flags)
{
    if (flags & O_PATH)
        return false;
    return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) || (flags & O_TMPFILE) == O_TMPFILE;
}

/* ---- files.c: descriptors */

/* Prints "cyclescope: ", the message and a newline to the caller's standard error, whatever the guest has opened as
 * descriptor 2. Copied processes print nothing: the run itself does. */
void files_say(const struct files *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the record of `fd`, and creates it if needed; NULL if the host is out of memory. */
struct open_file *files_describe(struct files *f, int fd);
int files_close(struct files *f, int fd);            /* closes a guest descriptor; 0 or a negative errno */
void files_forget(struct files *f, int fd);          /* drops the record of `fd`, but does not close `fd` */
void files_share(struct files *f, int from, int to); /* `to` is now a duplicate of `from` and shares its record */
/* Returns a lower descriptor that shares its offset and flags with `fd`, as dup makes one; -1 if there is none. `st` is
 * the status of `fd`. Moves file offsets for a moment and restores them. */
int files_duplicate_of(const struct files *f, int fd, const struct stat *st);
bool files_is_memory_device(const struct stat *st); /* the devices null, zero, full, random and urandom */
enum stream files_stream(struct files *f, int fd);
/* Makes two new descriptors the guest's (pipe2, socketpair) and writes them to `addr`. 0 or a negative errno. */
int64_t files_give_pair(struct thread *t, const int fds[2], uint64_t addr);
mode_t
files_apply_umask(const struct files *f); /* before a file is created; returns the host's umask, to be restored */
int files_chdir(struct files *f, int dirfd, const char *path) MUST_CHECK; /* 0 or a negative errno */
/* Like openat, with the guest's umask. Opens with O_NOATIME if the host permits: the next run would see a changed
 * access time. In a copied process: copy_openat. A descriptor or a negative errno. */
int files_openat(const struct files *f, int dir, const char *name, int flags, mode_t mode) MUST_CHECK;

/* ---- files.c: where an open file lies */

/* Writes the host's path of an open file, as the host's /proc/self/fd shows it. 0 or a negative errno. */
int host_path(int fd, char path[PATH_MAX]) MUST_CHECK;
/* Returns the innermost mount that contains the open file, and writes the file's guest path; NULL if no mount does. */
const struct mount *files_mount_of(const struct files *f, int fd, char guest[PATH_MAX]);
bool files_is_busy(const struct files *f, const char *guest); /* a mount is at this guest path or below it */
/* Whether the guest may change owner, mode or times of the open file, or entries of the open folder: 0, -EROFS, -EPERM
 * or another negative errno. */
int files_may_change(const struct files *f, int fd);

/* ---- path.c */

enum {
    LOOKUP_FOLLOW = 1,  /* follow a symbolic link that is the last component */
    LOOKUP_CREATE = 2,  /* the last component need not exist */
    LOOKUP_NAME = 4,    /* the call creates or removes the last name: a slash behind it does not follow a link */
    LOOKUP_EMPTY = 8,   /* an empty path means the descriptor itself (AT_EMPTY_PATH) */
    LOOKUP_LAYERS = 16, /* the call changes names in the layers of the sysroot itself (overlay.h) */
};

/* The flags of a lookup that AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH of a system call stand for. */
static inline unsigned lookup_flags(int at_flags)
{
    return (at_flags & AT_SYMLINK_NOFOLLOW ? 0u : LOOKUP_FOLLOW) | (at_flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0u);
}

/* Result of a lookup. */
struct target {
    int dir;          /* descriptor of a host folder; AT_FDCWD: `name` is an absolute path */
    bool owned;       /* target_release closes `dir` */
    bool slash;       /* the path ended in a slash */
    bool covered;     /* the path lies in the sysroot and is overlaid (overlay.h) */
    bool upper;       /* `dir` and `name` are in the upper layer of the overlay */
    bool missing;     /* the file is known not to exist; only after LOOKUP_CREATE */
    int at_flags;     /* AT_SYMLINK_NOFOLLOW: the host may not follow links; AT_EMPTY_PATH: `dir` is the file itself */
    struct node node; /* kind of special file; NODE_NONE for most targets */
    char name[PATH_MAX]; /* name in `dir` */
    char path[PATH_MAX]; /* the guest's absolute path without links; empty if the host resolves the path */
};

/* Looks up a guest path, relative to `dirfd` (a guest descriptor or AT_FDCWD). Returns 0, and the caller releases the
 * target; or a negative errno. */
int path_lookup(struct files *f, int dirfd, const char *path, unsigned flags, struct target *out) MUST_CHECK;
/* If `path` is the start folder's or lies below, returns the part behind it: empty, or starting with a slash. Else
 * NULL. */
const char *path_below_start(const struct files *f, const char *path);
/* Joins `folder` and `path` and removes `.`, `..` and extra slashes, without access to files. `out` may not alias the
 * inputs. 0 or -ENAMETOOLONG. */
int path_join(char out[PATH_MAX], const char *folder, const char *path) MUST_CHECK;

/* ---- target.c */

/* Which standard stream of the caller the target is, see files.standard; 0: none. */
int target_standard(const struct files *f, const struct target *target);

void target_release(struct target *target); /* closes the folder if the target owns it; may be called twice */
/* path_lookup for calls that change the file: also fails with -EROFS on a read-only bind, -EPERM for a special file. */
int path_lookup_change(struct files *f, int dirfd, const char *path, unsigned flags, struct target *out) MUST_CHECK;
/* path_lookup for calls that create a name that must not exist yet: if isolated, also fails with -EEXIST. */
int path_lookup_create(struct files *f, int dirfd, const char *path, struct target *out) MUST_CHECK;
int target_may_change(const struct files *f, const struct target *target) MUST_CHECK; /* 0 or a negative errno */
/* Opens an existing target; adds O_NOFOLLOW if the target forbids following links. A descriptor or a negative errno. */
int target_open(const struct target *target, int flags) MUST_CHECK;

/* The same lookups for a path in guest memory. */
int thread_lookup(struct thread *t, int dirfd, uint64_t path_addr, unsigned flags, struct target *out) MUST_CHECK;
int thread_lookup_change(struct thread *t, int dirfd, uint64_t path_addr, unsigned flags,
                         struct target *out) MUST_CHECK;
int thread_lookup_create(struct thread *t, int dirfd, uint64_t path_addr, struct target *out) MUST_CHECK;

/* ---- sys_io.c, for all system calls that transfer data */

enum { TRANSFER_MAX = 0x7ffff000 }; /* most bytes of a transfer: Linux's MAX_RW_COUNT */

/* Waits until `fd` is ready for `events`. Returns 0 when it is, else the value that the system call returns:
 * SYSCALL_RETRY, -EINTR, or -EAGAIN when the timeout of a socket (SO_RCVTIMEO, SO_SNDTIMEO) has passed. */
int64_t file_wait(struct thread *t, int fd, short events) MUST_CHECK;
/* Nothing else of the run can happen before an event from outside: the wait then takes no guest time. (sys_open.c) */
bool process_can_only_wait(const struct process *p);
/* Waits in the host, for a limited time, until the caller's standard input has data or has ended, so that a poll does
 * not depend on how fast its writer is. */
void file_await_input(struct thread *t, int fd);
bool file_is_random(const struct files *f, int fd); /* a device of random numbers, which are the run's own */
bool file_may_block(struct files *f, int fd);       /* neither a plain file nor O_NONBLOCK */
/* Sleeps for a millisecond, for calls that must poll because no descriptor becomes ready. Returns as file_wait does,
 * but never 0. */
int64_t file_wait_tick(struct thread *t) MUST_CHECK;
/* Translate guest buffers to host buffers, up to the first byte that the guest may not access with `prot`. Return the
 * number of bytes, -EFAULT if the first byte is not accessible, or -EINVAL. `*count` receives the number of buffers. */
struct iovec;
int64_t file_buffer(struct thread *t, uint64_t addr, uint64_t length, int prot, struct iovec *out);
int64_t file_buffers(struct thread *t, uint64_t iov_addr, uint64_t iov_count, int prot, struct iovec out[IOV_MAX],
                     int *count);
/* Writes to `out` the buffers of `iov` after its first `done` bytes, at most `limit` bytes. Returns the number of
 * buffers. */
int file_buffers_part(struct iovec out[IOV_MAX], const struct iovec *iov, int count, uint64_t done, uint64_t limit);
void file_broken_pipe(struct thread *t); /* sends SIGPIPE to the writing thread */

/* Limits a write at `offset` (-1: the descriptor's position) to RLIMIT_FSIZE. Returns the number of bytes that may be
 * written; -EFBIG with SIGXFSZ if none may. */
int64_t file_limit(struct thread *t, int fd, int64_t offset, int64_t total);

/* ---- sys_signalfd.c */

int64_t signalfd_read(struct thread *t, int fd, const struct iovec *iov, int count, int64_t total);

/* ---- sys_inotify.c */

int64_t inotify_read(struct thread *t, int fd, const struct iovec *first); /* uses the first buffer only */

/* ---- sys_listing.c */

void listing_free(struct listing *l);
int64_t folder_seek(struct files *f, int fd, int64_t offset, int whence); /* lseek on a folder that has a listing */

/* ---- sys_socket.c, for sys_message.c */

/* A socket address as the host understands it. */
struct host_address {
    struct sockaddr_storage storage;
    socklen_t length;
    int held; /* descriptor that a Unix address names by /proc/self/fd and that must stay open; -1: none */
};

/* Reads a peer's address from guest memory and translates it. Returns 0, and the caller calls address_release; or a
 * negative errno. */
int address_in(struct thread *t, uint64_t addr, uint64_t length, struct host_address *out) MUST_CHECK;
void address_release(struct host_address *address);
/* Writes an address to guest memory as accept does: as many bytes as fit, and its length. 0, -EFAULT or -EINVAL. */
int address_out(struct thread *t, uint64_t addr, uint64_t length_addr, const struct sockaddr_storage *from,
                socklen_t length) MUST_CHECK;

#endif
