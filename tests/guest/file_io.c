/* Reading and writing of plain files: positions, vectors, partly mapped buffers, truncation, copying. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

static char buffer[8192];

static void positions(int fd)
{
    CHECK(write(fd, "0123456789", 10) == 10);
    CHECK(lseek(fd, 0, SEEK_CUR) == 10);
    CHECK(pwrite(fd, "AB", 2, 3) == 2);
    CHECK(lseek(fd, 0, SEEK_CUR) == 10);
    CHECK(pread(fd, buffer, 4, 2) == 4 && memcmp(buffer, "2AB5", 4) == 0);
    CHECK(pread(fd, buffer, 4, 8) == 2);
    CHECK(pread(fd, buffer, 4, -1) == -1 && errno == EINVAL);
    CHECK(lseek(fd, -2, SEEK_END) == 8);
    CHECK(read(fd, buffer, 100) == 2 && memcmp(buffer, "89", 2) == 0);
    CHECK(read(fd, buffer, 100) == 0);
    CHECK(lseek(fd, -1, SEEK_SET) == -1 && errno == EINVAL);
}

static void vectors(int fd)
{
    char a[3], b[4];
    struct iovec out[3] = {{"abc", 3}, {NULL, 0}, {"defg", 4}}, in[2] = {{a, 3}, {b, 4}};
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    CHECK(writev(fd, out, 3) == 7);
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    CHECK(readv(fd, in, 2) == 7 && memcmp(a, "abc", 3) == 0 && memcmp(b, "defg", 4) == 0);
    CHECK(pwritev(fd, out, 3, 1) == 7);
    CHECK(preadv(fd, in, 2, 1) == 7 && memcmp(b, "defg", 4) == 0);
    CHECK(preadv2(fd, in, 2, 0, 0) == 7);
    CHECK(syscall(SYS_readv, fd, in, 1025) == -1 && errno == EINVAL);
    in[1].iov_len = (size_t)-1;
    CHECK(readv(fd, in, 2) == -1 && errno == EINVAL);
}

/* Linux transfers what it can reach and fails only if that is nothing. */
static void partly_mapped(int fd)
{
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED && munmap(page + 4096, 4096) == 0);
    CHECK(ftruncate(fd, 0) == 0 && ftruncate(fd, 8192) == 0);
    CHECK(pread(fd, page + 4096, 10, 0) == -1 && errno == EFAULT);
    CHECK(pwrite(fd, page + 4096, 10, 0) == -1 && errno == EFAULT);
    struct iovec in[2] = {{page, 4096}, {page + 4096, 10}};
    CHECK(preadv(fd, in, 2, 0) == 4096);
    CHECK(mprotect(page, 4096, PROT_READ) == 0);
    CHECK(pread(fd, page, 10, 0) == -1 && errno == EFAULT);
    CHECK(pwrite(fd, page, 10, 0) == 10);
    CHECK(read(fd, NULL, 0) == 0);
}

static void lengths(int fd)
{
    struct stat st;
    CHECK(ftruncate(fd, 100) == 0 && fstat(fd, &st) == 0 && st.st_size == 100);
    CHECK(truncate("data", 50) == 0 && fstat(fd, &st) == 0 && st.st_size == 50);
    CHECK(truncate("data", -1) == -1 && errno == EINVAL);
    CHECK(truncate("none", 1) == -1 && errno == ENOENT);
    CHECK(posix_fallocate(fd, 0, 4096) == 0 && fstat(fd, &st) == 0 && st.st_size == 4096);
    CHECK(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL) == 0);
    CHECK(fsync(fd) == 0 && fdatasync(fd) == 0);
    sync();
}

static void copies(void)
{
    int from = open("from", O_RDWR | O_CREAT | O_TRUNC, 0644), to = open("to", O_RDWR | O_CREAT | O_TRUNC, 0644);
    off_t offset = 2;
    CHECK(write(from, "0123456789", 10) == 10);
    CHECK(sendfile(to, from, &offset, 5) == 5 && offset == 7);
    CHECK(pread(to, buffer, 10, 0) == 5 && memcmp(buffer, "23456", 5) == 0);
    offset = 0;
    CHECK(copy_file_range(from, &offset, to, NULL, 3, 0) == 3 && offset == 3);
    CHECK(pread(to, buffer, 10, 0) == 8 && memcmp(buffer, "23456012", 8) == 0);
    CHECK(sendfile(99, from, NULL, 1) == -1 && errno == EBADF);
    close(from);
    close(to);
}

static void errors(void)
{
    CHECK(read(-1, buffer, 1) == -1 && errno == EBADF);
    CHECK(read(77, buffer, 1) == -1 && errno == EBADF);
    CHECK(write(5000, buffer, 1) == -1 && errno == EBADF);
    CHECK(lseek(77, 0, SEEK_SET) == -1 && errno == EBADF);
    int fd = open(".", O_RDONLY);
    CHECK(read(fd, buffer, 1) == -1 && errno == EISDIR);
    CHECK(write(fd, buffer, 1) == -1 && errno == EBADF);
    close(fd);
    fd = open("data", O_RDONLY);
    CHECK(write(fd, buffer, 1) == -1 && errno == EBADF);
    close(fd);
    fd = open("data", O_WRONLY | O_APPEND);
    CHECK(lseek(fd, 0, SEEK_SET) == 0 && write(fd, "x", 1) == 1 && lseek(fd, 0, SEEK_CUR) == 4097);
    close(fd);
}

int main(void)
{
    int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0644);
    CHECK(fd == 3);
    positions(fd);
    vectors(fd);
    partly_mapped(fd);
    lengths(fd);
    copies();
    errors();
    CHECK(close(fd) == 0);
    CHECK(close(fd) == -1 && errno == EBADF);
    return check_result();
}
