/* Files that are not the host's: the process in /proc/self, the machine in /proc and /sys, the seeded /dev/urandom,
 * and what a monitor has found out about the process in /dev/cyclescope.
 *
 * A special file is known by its guest path. Its contents are a function of the guest's own state, never of the host,
 * so that a run repeats. Isolated, /proc and /sys hold nothing else, and a few harmless devices are let through. */
#ifndef CYCLESCOPE_GUEST_SPECIAL_H
#define CYCLESCOPE_GUEST_SPECIAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

struct files;
struct process;

enum node_kind {
    NODE_NONE,       /* nothing special: the sysroot or the host decides */
    NODE_MISSING,    /* not there, whatever the host has */
    NODE_FOLDER,     /* holds special files */
    NODE_TEXT,       /* contents are written by special.text */
    NODE_LINK,       /* a symbolic link whose text is the guest's */
    NODE_DESCRIPTOR, /* /proc/self/fd/N */
    NODE_RANDOM,     /* /dev/random and /dev/urandom */
    NODE_HOST,       /* a device of the host that isolation lets through */
};

struct special {
    const char *path;
    enum node_kind kind;
    bool isolated_only;                                      /* otherwise the host's own will do */
    bool monitored_only;                                     /* otherwise it is missing */
    const char *to;                                          /* NODE_LINK: where it leads, or NULL: what `link` says */
    int (*link)(const struct files *f, char text[PATH_MAX]); /* 0 or a negative errno */
    void (*text)(const struct process *p, FILE *out);        /* NODE_TEXT */
};

struct node {
    enum node_kind kind;
    const struct special *special; /* its row, for NODE_TEXT and NODE_LINK */
    int fd;                        /* NODE_DESCRIPTOR */
};

bool special_tree(const char *path); /* at or below /proc, /dev or /sys */
struct node special_find(const struct files *f, const char *path);
/* The host's path for a guest path of a special tree: /proc/PID of the guest is the host's /proc/self. */
int special_host_path(const struct files *f, const char *path, char host[PATH_MAX]) MUST_CHECK;
int special_link(const struct files *f, const struct node *node, char text[PATH_MAX]) MUST_CHECK;
/* A private descriptor, read-only, with the contents as they are now; or a negative errno. */
int special_open_text(const struct files *f, const struct node *node) MUST_CHECK;
int special_text_file(const char *text, size_t length) MUST_CHECK; /* the same with contents in hand */
/* Calls `add` for each name in the guest folder `path` that the host does not list: special files and binds. */
typedef void special_add_fn(void *context, const char *name, unsigned char type);
void special_list(const struct files *f, const char *path, special_add_fn *add, void *context);
/* Whether the folder's entries on the host are hidden. */
bool special_hides_host(const struct files *f, const char *path);

/* procfs.c: the texts */
void proc_cmdline(const struct process *p, FILE *out);
void proc_comm(const struct process *p, FILE *out);
void proc_cpuinfo(const struct process *p, FILE *out);
void proc_environ(const struct process *p, FILE *out);
void proc_filesystems(const struct process *p, FILE *out);
void proc_loadavg(const struct process *p, FILE *out);
void proc_maps(const struct process *p, FILE *out);
void proc_meminfo(const struct process *p, FILE *out);
void proc_osrelease(const struct process *p, FILE *out);
void proc_ostype(const struct process *p, FILE *out);
void proc_overcommit(const struct process *p, FILE *out);
void proc_self_stat(const struct process *p, FILE *out);
void proc_self_statm(const struct process *p, FILE *out);
void proc_self_status(const struct process *p, FILE *out);
void proc_stat(const struct process *p, FILE *out);
void proc_uptime(const struct process *p, FILE *out);
void proc_version(const struct process *p, FILE *out);
void sys_cpu_list(const struct process *p, FILE *out);

#endif
