/* System calls that move data from one descriptor to another: sendfile and copy_file_range.
 *
 * splice, vmsplice and tee are refused: programs fall back to read and write. */
#include <errno.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "guest/console.h"
#include "guest/file_view.h"
#include "guest/files_priv.h"
#include "guest/memory_files.h"
#include "guest/syscalls/syscall.h"

/* Reads an offset that the guest passes by address. `*pointer` is NULL if the guest passes none. */
static int offset_in(struct thread *t, uint64_t addr, off_t *offset, off_t **pointer)
{
    *pointer = NULL;
    if (addr == 0)
        return 0;
    *pointer = offset;
    return guest_copy_in(t->process->memory, offset, addr, sizeof *offset);
}

static int offset_out(struct thread *t, uint64_t addr, const off_t *offset)
{
    return addr == 0 ? 0 : guest_copy_out(t->process->memory, addr, offset, sizeof *offset);
}

/* The byte of a file before `*offset`, or before its position; 0 if it cannot be read. */
static char byte_before(int fd, const off_t *offset)
{
    char byte = '\0';
    off_t at = offset ? *offset : lseek(fd, 0, SEEK_CUR);
    return at > 0 && pread(fd, &byte, 1, at - 1) == 1 ? byte : '\0';
}

int64_t sys_sendfile(struct thread *t, const uint64_t a[6])
{
    struct files *f = thread_files(t);
    int out = (int)a[0], in = (int)a[1];
    uint64_t count = a[3] < TRANSFER_MAX ? a[3] : TRANSFER_MAX;
    off_t offset, *pointer;
    if (!files_is_guest(out) || !files_is_guest(in))
        return -EBADF;
    if (file_is_random(f, in) || file_is_random(f, out) || f->standard[in] ||
        file_may_block(f, in)) /* a pipe or socket would block the emulator */
        return -EINVAL;
    if (offset_in(t, a[2], &offset, &pointer) < 0)
        return -EFAULT;
    if (file_may_block(f, out)) {
        int64_t waiting = file_wait(t, out, POLLOUT);
        if (waiting < 0)
            return waiting;
    }
    if ((f->standard[out] || file_may_block(f, out)) && count > PIPE_BUF)
        count = PIPE_BUF; /* a short count is a valid result and cannot block */
    int may = memory_files_may_copy(t->process, out, &count);
    if (may < 0)
        return may;
    bool console = console_begin(t->process, out);
    ssize_t n = sendfile(out, in, pointer, count);
    int code = errno;
    if (console)
        console_end(t->process, n > 0 ? byte_before(in, pointer) : '\0');
    if (n < 0) {
        if (code == EPIPE)
            file_broken_pipe(t);
        return -code;
    }
    file_written(t->process, out);
    return offset_out(t, a[2], &offset) < 0 ? -EFAULT : n;
}

int64_t sys_copy_file_range(struct thread *t, const uint64_t a[6])
{
    int in = (int)a[0], out = (int)a[2];
    off_t in_offset, *in_pointer, out_offset, *out_pointer;
    if (!files_is_guest(in) || !files_is_guest(out))
        return -EBADF;
    if (thread_files(t)->standard[in] || thread_files(t)->standard[out])
        return -EINVAL;
    if (offset_in(t, a[1], &in_offset, &in_pointer) < 0 || offset_in(t, a[3], &out_offset, &out_pointer) < 0)
        return -EFAULT;
    uint64_t length = a[4] < TRANSFER_MAX ? a[4] : TRANSFER_MAX;
    int may = memory_files_may_copy(t->process, out, &length);
    if (may < 0)
        return may;
    ssize_t n = copy_file_range(in, in_pointer, out, out_pointer, length, (unsigned)a[5]);
    if (n < 0)
        return -errno;
    file_written(t->process, out);
    bool copied_out = offset_out(t, a[1], &in_offset) == 0 && offset_out(t, a[3], &out_offset) == 0;
    return copied_out ? n : -EFAULT;
}

int64_t sys_splice(struct thread *t, const uint64_t a[6])
{
    (void)t;
    return files_is_guest((int)a[0]) && files_is_guest((int)a[2]) ? -EINVAL : -EBADF;
}

int64_t sys_vmsplice(struct thread *t, const uint64_t a[6])
{
    (void)t;
    return files_is_guest((int)a[0]) ? -EINVAL : -EBADF;
}

int64_t sys_tee(struct thread *t, const uint64_t a[6])
{
    (void)t;
    return files_is_guest((int)a[0]) && files_is_guest((int)a[1]) ? -EINVAL : -EBADF;
}
