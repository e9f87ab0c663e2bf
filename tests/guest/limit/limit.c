/* limit WAY: takes more memory than --memory 64M allows, in one of several ways, 8 MB at a time. Ends with 0 if it gets
 * some of it and not all. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#define CHUNK (8L << 20)
int main(int argc, char **argv)
{
    long kept = 0, i;
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'p': /* private memory that is made read-only */
        for (i = 0; i < 20; i++) {
            char *p = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            kept += p != MAP_FAILED && mprotect(p, CHUNK, PROT_READ) == 0;
        }
        break;
    case 'r': /* shared memory, which reading allocates */
        for (i = 0; i < 20; i++) {
            char *p = mmap(NULL, CHUNK, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
            kept += p != MAP_FAILED;
        }
        break;
    case 'm': /* memfds, allocated */
        for (i = 0; i < 20; i++) {
            int fd = memfd_create("x", 0);
            kept += fallocate(fd, 0, 0, CHUNK) == 0;
        }
        break;
    case 'w': { /* memfds, written */
        char *p = mmap(NULL, CHUNK, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (i = 0; i < 20; i++)
            kept += write(memfd_create("x", 0), p, CHUNK) == CHUNK;
        break;
    }
    case 'd': /* dropped and not writable: not kept, so all of it is granted */
        for (i = 0; i < 20; i++) {
            char *p = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            kept += p != MAP_FAILED && mprotect(p, CHUNK, PROT_NONE) == 0 && madvise(p, CHUNK, MADV_DONTNEED) == 0;
        }
        return kept == 20 ? 0 : 1;
    case 'e': { /* execve: arguments of a quarter of a large stack, then the stack itself */
        static char *many[200000];
        struct rlimit stack = {1L << 35, 1L << 35};
        char *string = malloc(100000);
        memset(string, 'x', 99999);
        string[99999] = 0;
        for (i = 0; i < 199999; i++)
            many[i] = string;
        if (setrlimit(RLIMIT_STACK, &stack) != 0)
            return 9;
        execve("/proc/self/exe", many, NULL);
        if (errno != E2BIG)
            return 8;
        char *none[] = {"limit", NULL};
        execve("/proc/self/exe", none, NULL);
        return errno == ENOMEM ? 0 : 7;
    }
    default: return 0;
    }
    return kept >= 4 && kept <= 8 ? 0 : 1;
}
