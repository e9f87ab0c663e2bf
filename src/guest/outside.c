#include "guest/outside.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/files.h"

enum { NESTING = 4 }; /* limit of epoll descriptors within epoll descriptors; deeper ones count as outside */

int inherited_number(const struct inherited_files *inherited, int fd, const struct stat *file)
{
    int found = -1;
    for (unsigned i = 0; i < inherited->count && found != fd; i++)
        if (inherited->files[i].dev == file->st_dev && inherited->files[i].inode == file->st_ino)
            found = found < 0 || inherited->files[i].fd == fd ? inherited->files[i].fd : found;
    return found;
}

void inherited_note(struct inherited_files *inherited)
{
    inherited->count = 0;
    for (int fd = 0; fd < FD_PRIVATE && inherited->count < INHERITED_MAX; fd++) {
        struct stat file;
        if (fstat(fd, &file) < 0 || !(S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode)))
            continue;
        inherited->files[inherited->count].fd = fd;
        inherited->files[inherited->count].dev = file.st_dev;
        inherited->files[inherited->count].inode = file.st_ino;
        inherited->count++;
    }
}

/* Whether a socket was made by socketpair: neither the socket nor its peer has an address. */
static bool is_socket_of_pair(int fd)
{
    struct sockaddr_storage own, peer;
    socklen_t own_length = sizeof own, peer_length = sizeof peer;
    return getsockname(fd, (struct sockaddr *)&own, &own_length) == 0 &&
           getpeername(fd, (struct sockaddr *)&peer, &peer_length) == 0 && own.ss_family == AF_UNIX &&
           own_length == sizeof(sa_family_t) && peer_length == sizeof(sa_family_t);
}

static bool outside(const struct inherited_files *inherited, int fd, int nesting);

/* Whether an epoll descriptor watches an outside descriptor. Its fdinfo has a line "tfd: N" per watched descriptor. */
static bool epoll_is_outside(const struct inherited_files *inherited, int fd, int nesting)
{
    char name[64], line[256];
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", fd);
    FILE *info = fopen(name, "re");
    if (!info)
        return true;
    bool found = false;
    int target;
    while (!found && fgets(line, sizeof line, info))
        found = sscanf(line, "tfd: %d", &target) == 1 && outside(inherited, target, nesting - 1);
    fclose(info);
    return found;
}

static bool outside(const struct inherited_files *inherited, int fd, int nesting)
{
    char link[64], target[64];
    struct stat file;
    if (!files_is_guest(fd) || fstat(fd, &file) < 0 || nesting == 0)
        return true;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof target - 1);
    target[length > 0 ? length : 0] = 0;
    if (S_ISFIFO(file.st_mode))
        return strncmp(target, "pipe:", 5) != 0 || inherited_number(inherited, fd, &file) >= 0;
    if (S_ISSOCK(file.st_mode))
        return !is_socket_of_pair(fd) || inherited_number(inherited, fd, &file) >= 0;
    if (strcmp(target, "anon_inode:[eventfd]") == 0)
        return false;
    if (strcmp(target, "anon_inode:[eventpoll]") == 0)
        return epoll_is_outside(inherited, fd, nesting);
    return true;
}

bool fd_is_outside(const struct inherited_files *inherited, int fd)
{
    return outside(inherited, fd, NESTING);
}
