/* System calls that query files: stat and its variants, access, readlink. */
#include <elf.h>
#include <errno.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/io.h"
#include "guest/file_view.h"
#include "guest/files_priv.h"
#include "guest/overlay.h"
#include "guest/syscalls/syscall.h"

/* struct stat of asm-generic, which riscv64 uses; that of x86-64 differs. */
struct guest_stat {
    uint64_t dev, ino;
    uint32_t mode, nlink, uid, gid;
    uint64_t rdev, pad1;
    int64_t size;
    int32_t blksize, pad2;
    int64_t blocks;
    int64_t atime;
    uint64_t atime_nsec;
    int64_t mtime;
    uint64_t mtime_nsec;
    int64_t ctime;
    uint64_t ctime_nsec;
    uint32_t unused[2];
};
_Static_assert(sizeof(struct guest_stat) == 128, "struct stat of riscv64");
_Static_assert(sizeof(struct statx) == 256, "struct statx");
_Static_assert(sizeof(struct statfs) == 120, "struct statfs of this host needs translation");

/* Writes a guest stat. With --host-time, any lookup may set the access time of a link on the host, so the guest sees
 * its modification time instead. */
static int64_t stat_out(struct thread *t, uint64_t addr, const struct stat *st)
{
    struct timespec accessed = S_ISLNK(st->st_mode) ? st->st_mtim : st->st_atim;
    struct guest_stat guest = {
        .dev = st->st_dev,
        .ino = st->st_ino,
        .mode = st->st_mode,
        .nlink = (uint32_t)st->st_nlink,
        .uid = st->st_uid,
        .gid = st->st_gid,
        .rdev = st->st_rdev,
        .size = st->st_size,
        .blksize = (int32_t)st->st_blksize,
        .blocks = st->st_blocks,
        .atime = accessed.tv_sec,
        .atime_nsec = (uint64_t)accessed.tv_nsec,
        .mtime = st->st_mtim.tv_sec,
        .mtime_nsec = (uint64_t)st->st_mtim.tv_nsec,
        .ctime = st->st_ctim.tv_sec,
        .ctime_nsec = (uint64_t)st->st_ctim.tv_nsec,
    };
    return guest_copy_out(t->process->memory, addr, &guest, sizeof guest);
}

/* Changes the status of a host file to what the guest sees. */
static void see_status(struct thread *t, int standard, struct stat *st)
{
    if (standard)
        file_view_standard(t->process, standard, st);
    else
        file_view(t->process, st);
}

/* Writes the status of a file as the guest sees it. 0 or a negative errno. */
static int stat_target(struct thread *t, const struct target *target, struct stat *st)
{
    if (fstatat(target->dir, target->name, st, target->at_flags) != 0)
        return -errno;
    see_status(t, target_standard(thread_files(t), target), st);
    if (special_tree(target->path) && !t->process->config.host_time)
        st->st_atim = st->st_mtim = st->st_ctim =
            (struct timespec){WALL_CLOCK_START_NS / 1000000000, 0}; /* the host's are those of its start, or of now */
    return 0;
}

int64_t sys_fstat(struct thread *t, const uint64_t a[6])
{
    struct stat st;
    int fd = (int)a[0];
    if (!files_is_guest(fd))
        return -EBADF;
    if (fstat(fd, &st) != 0)
        return -errno;
    see_status(t, thread_files(t)->standard[fd], &st);
    return stat_out(t, a[1], &st);
}

int64_t sys_newfstatat(struct thread *t, const uint64_t a[6])
{
    struct target target;
    struct stat st;
    int flags = (int)a[3];
    if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT)) != 0)
        return -EINVAL;
    int error = thread_lookup(t, (int)a[0], a[1], lookup_flags(flags), &target);
    if (error < 0)
        return error;
    error = stat_target(t, &target, &st);
    target_release(&target);
    return error < 0 ? error : stat_out(t, a[2], &st);
}

static struct statx_timestamp statx_time(struct timespec time)
{
    return (struct statx_timestamp){.tv_sec = time.tv_sec, .tv_nsec = (uint32_t)time.tv_nsec};
}

/* Returns what stat returns: no time of birth, no attributes, which not every file system has. */
int64_t sys_statx(struct thread *t, const uint64_t a[6])
{
    struct target target;
    struct stat st;
    int flags = (int)a[2];
    if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE)) != 0 ||
        (flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE || ((uint32_t)a[3] & STATX__RESERVED))
        return -EINVAL;
    int error = thread_lookup(t, (int)a[0], a[1], lookup_flags(flags), &target);
    if (error < 0)
        return error;
    error = stat_target(t, &target, &st);
    target_release(&target);
    if (error < 0)
        return error;
    struct statx sx = {.stx_mask = STATX_BASIC_STATS,
                       .stx_blksize = (uint32_t)st.st_blksize,
                       .stx_nlink = (uint32_t)st.st_nlink,
                       .stx_uid = st.st_uid,
                       .stx_gid = st.st_gid,
                       .stx_mode = (uint16_t)st.st_mode,
                       .stx_ino = st.st_ino,
                       .stx_size = (uint64_t)st.st_size,
                       .stx_blocks = (uint64_t)st.st_blocks,
                       .stx_atime = statx_time(st.st_atim),
                       .stx_mtime = statx_time(st.st_mtim),
                       .stx_ctime = statx_time(st.st_ctim),
                       .stx_rdev_major = major(st.st_rdev),
                       .stx_rdev_minor = minor(st.st_rdev),
                       .stx_dev_major = major(st.st_dev),
                       .stx_dev_minor = minor(st.st_dev)};
    if (S_ISLNK(st.st_mode))
        sx.stx_atime = sx.stx_mtime;
    return guest_copy_out(t->process->memory, a[4], &sx, sizeof sx);
}

/* Every file system looks like the same half empty one. Only those of the kernel keep their type, by which programs
 * recognize them. */
static void see_file_system(struct statfs *fs)
{
    bool of_kernel = fs->f_type == PROC_SUPER_MAGIC || fs->f_type == SYSFS_MAGIC || fs->f_type == DEVPTS_SUPER_MAGIC;
    long type = of_kernel ? (long)fs->f_type : EXT4_SUPER_MAGIC;
    const uint64_t blocks = of_kernel ? 0 : UINT64_C(1) << 24; /* of 4 KB: 64 GB */
    memset(fs, 0, sizeof *fs);
    fs->f_type = type;
    fs->f_bsize = fs->f_frsize = 4096;
    fs->f_blocks = blocks;
    fs->f_bfree = fs->f_bavail = blocks / 2;
    fs->f_files = blocks / 4;
    fs->f_ffree = blocks / 8;
    fs->f_namelen = 255;
}

int64_t sys_fstatfs(struct thread *t, const uint64_t a[6])
{
    struct statfs fs;
    if (!files_is_guest((int)a[0]))
        return -EBADF;
    if (fstatfs((int)a[0], &fs) != 0)
        return -errno;
    see_file_system(&fs);
    return guest_copy_out(t->process->memory, a[1], &fs, sizeof fs);
}

int64_t sys_statfs(struct thread *t, const uint64_t a[6])
{
    struct target target;
    struct statfs fs;
    int error = thread_lookup(t, AT_FDCWD, a[0], LOOKUP_FOLLOW, &target);
    if (error < 0)
        return error;
    int fd = target_open(&target, O_PATH);
    target_release(&target);
    if (fd < 0)
        return fd;
    int64_t result = fstatfs(fd, &fs) == 0 ? 0 : -errno;
    close(fd);
    if (result < 0)
        return result;
    see_file_system(&fs);
    return guest_copy_out(t->process->memory, a[1], &fs, sizeof fs);
}

/* True for an ELF program of another machine, which counts as not executable: a guest that searches several folders
 * for a tool, as a compiler does for its assembler, then skips the host's tool and finds the guest's. */
static bool is_foreign_program(const struct target *target)
{
    uint8_t head[20];
    int fd = target_open(target, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool whole = io_pread_exactly(fd, head, sizeof head, 0);
    close(fd);
    return whole && memcmp(head, ELFMAG, SELFMAG) == 0 && (head[18] | head[19] << 8) != EM_RISCV;
}

static int64_t may_access(struct thread *t, int dirfd, uint64_t path_addr, int mode, int flags)
{
    struct target target;
    struct stat st;
    if ((mode & ~(R_OK | W_OK | X_OK)) != 0 || (flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
        return -EINVAL;
    int error = thread_lookup(t, dirfd, path_addr, lookup_flags(flags), &target);
    if (error < 0)
        return error;
    flags = (flags & AT_EACCESS) | target.at_flags;
    int asked = target.covered ? mode & ~W_OK : mode; /* the overlay can be written, whoever owns the sysroot */
    int64_t result =
        syscall(flags ? SYS_faccessat2 : SYS_faccessat, target.dir, target.name, asked, flags) == 0 ? 0 : -errno;
    if (result == 0 && asked != mode && fstatat(target.dir, target.name, &st, target.at_flags) == 0)
        result = overlay_may_write(thread_files(t), &st);
    /* Devices and pipes are writable even on a read-only bind. */
    if (result == 0 && (mode & W_OK) && fstatat(target.dir, target.name, &st, target.at_flags) == 0 &&
        (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        result = target_may_change(thread_files(t), &target);
    if (result == 0 && (mode & X_OK) && is_foreign_program(&target))
        result = -EACCES;
    target_release(&target);
    return result;
}

int64_t sys_faccessat(struct thread *t, const uint64_t a[6])
{
    return may_access(t, (int)a[0], a[1], (int)a[2], 0);
}

int64_t sys_faccessat2(struct thread *t, const uint64_t a[6])
{
    return may_access(t, (int)a[0], a[1], (int)a[2], (int)a[3]);
}

int64_t sys_readlinkat(struct thread *t, const uint64_t a[6])
{
    struct target target;
    char text[PATH_MAX];
    int64_t size = (int)a[3], n;
    if (size <= 0)
        return -EINVAL;
    int error = thread_lookup(t, (int)a[0], a[1], LOOKUP_EMPTY, &target);
    if (error < 0)
        return error;
    if (target.node.kind == NODE_LINK || target.node.kind == NODE_DESCRIPTOR) {
        error = special_link(thread_files(t), &target.node, text);
        n = error < 0 ? error : (int64_t)strlen(text);
    } else {
        n = readlinkat(target.dir, target.name, text, sizeof text);
        n = n >= 0 ? n : -errno;
    }
    target_release(&target);
    if (n < 0)
        return n;
    if (n > size)
        n = size;
    return guest_copy_out(t->process->memory, a[2], text, (uint64_t)n) < 0 ? -EFAULT : n;
}
