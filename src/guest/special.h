/* Special files: files that the emulator provides instead of the host. They are the guest process in /proc/self, the
 * guest's machine in /proc and /sys, the seeded /dev/urandom, and the monitor's report in /dev/cyclescope.
 *
 * A special file is identified by its guest path. Its contents depend on the guest's state only, never on the host, so
 * that a run repeats. If isolated, /proc and /sys contain only special files, and of /dev a few harmless devices of the
 * host are visible. */
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
    NODE_NONE,       /* not special: a file of the sysroot or of the host */
    NODE_MISSING,    /* does not exist for the guest, even if it exists on the host */
    NODE_FOLDER,     /* folder that contains special files */
    NODE_TEXT,       /* file with contents written by special.text */
    NODE_LINK,       /* symbolic link to special.to or to the result of special.link */
    NODE_DESCRIPTOR, /* /proc/self/fd/N */
    NODE_RANDOM,     /* /dev/random or /dev/urandom */
    NODE_HOST,       /* device of the host that an isolated guest may use */
};

/* A row of the table of special files (special.c). */
struct special {
    const char *path; /* guest path; files of the guest process are below /proc/self */
    enum node_kind kind;
    bool isolated_only;                                      /* without isolation, the host's own file is used */
    bool monitored_only;                                     /* does not exist unless process_config.report is set */
    const char *to;                                          /* NODE_LINK: target; NULL: `link` provides it */
    int (*link)(const struct files *f, char text[PATH_MAX]); /* NODE_LINK: writes the target; 0 or a negative errno */
    void (*text)(const struct process *p, FILE *out);        /* NODE_TEXT: writes the contents */
};

/* What special_find knows about a guest path. */
struct node {
    enum node_kind kind;
    const struct special *special; /* row of the table; NULL: the path is not in the table */
    int fd;                        /* NODE_DESCRIPTOR: the N of /proc/self/fd/N */
};

bool special_tree(const char *path); /* `path` is /proc, /dev or /sys, or lies below */
/* Finds a guest path, absolute and without links, among the special files. NODE_NONE if it is not special. */
struct node special_find(const struct files *f, const char *path);
/* Translates a guest path below /proc, /dev or /sys to the host's: the guest's own /proc/PID becomes the emulator's. 0
 * or a negative errno. */
int special_host_path(const struct files *f, const char *path, char host[PATH_MAX]) MUST_CHECK;
/* Writes the target of a NODE_LINK or NODE_DESCRIPTOR. 0 or a negative errno. */
int special_link(const struct files *f, const struct node *node, char text[PATH_MAX]) MUST_CHECK;
/* Returns a private, read-only descriptor of a file with the current contents of a NODE_TEXT, or a negative errno. */
int special_open_text(const struct files *f, const struct node *node) MUST_CHECK;
int special_text_file(const char *text, size_t length) MUST_CHECK; /* like special_open_text, with given contents */
/* Calls `add` for each name in the guest folder `path` that the host does not list: special files and binds. */
typedef void special_add_fn(void *context, const char *name, unsigned char type);
void special_list(const struct files *f, const char *path, special_add_fn *add, void *context);
/* Whether the guest does not see the host's entries of the folder. */
bool special_hides_host(const struct files *f, const char *path);

/* procfs.c: functions for special.text, each named after its file */
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
