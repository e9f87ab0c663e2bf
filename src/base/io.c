#include "base/io.h"

#include <errno.h>
#include <unistd.h>

/* `positioned`: reads at `offset`, else at the file position. */
static ssize_t read_all(int fd, void *to, size_t length, bool positioned, uint64_t offset)
{
    size_t done = 0;
    while (done < length) {
        char *rest = (char *)to + done;
        ssize_t n = positioned ? pread(fd, rest, length - done, (off_t)(offset + done)) : read(fd, rest, length - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

ssize_t io_read(int fd, void *to, size_t length)
{
    return read_all(fd, to, length, false, 0);
}

ssize_t io_pread(int fd, void *to, size_t length, uint64_t offset)
{
    return read_all(fd, to, length, true, offset);
}

bool io_read_exactly(int fd, void *to, size_t length)
{
    return io_read(fd, to, length) == (ssize_t)length;
}

bool io_pread_exactly(int fd, void *to, size_t length, uint64_t offset)
{
    return io_pread(fd, to, length, offset) == (ssize_t)length;
}

int io_write(int fd, const void *from, size_t length)
{
    const char *bytes = from;
    while (length > 0) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        bytes += n;
        length -= (size_t)n;
    }
    return 0;
}
