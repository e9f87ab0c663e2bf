#include "guest/special.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "guest/files_priv.h"

enum { REPORT_MAX = 4096 }; /* maximum size of /dev/cyclescope in bytes */

static int link_pid(const struct files *f, char text[PATH_MAX])
{
    if (!f->process)
        return -ENOENT;
    snprintf(text, PATH_MAX, "%d", f->process->pid);
    return 0;
}

static int link_exe(const struct files *f, char text[PATH_MAX])
{
    if (!f->process)
        return -ENOENT;
    strcpy(text, f->process->exe);
    if (!f->process->exe_absolute)
        files_show(f, text);
    return 0;
}

static int link_cwd(const struct files *f, char text[PATH_MAX])
{
    if (f->cwd_path) {
        strcpy(text, f->cwd_path);
        return 0;
    }
    int error = files_path(f, f->cwd, text);
    if (error == 0)
        files_show(f, text);
    return error;
}

static void dev_cyclescope(const struct process *p, FILE *out)
{
    char bytes[REPORT_MAX];
    const struct guest_report *report = p->config.report;
    size_t length = report->read(report->context, bytes, sizeof bytes);
    fwrite(bytes, 1, length, out);
}

/* Rows below /proc/self describe the guest's own process; /proc/PID and /proc/thread-self lead to them. Files that
 * would describe the emulator and so mislead the guest are NODE_MISSING. Other files of the host's /proc/self are
 * visible unless isolated. */
static const struct special table[] = {
    {.path = "/proc/cpuinfo", .kind = NODE_TEXT, .text = proc_cpuinfo},
    {.path = "/proc/filesystems", .kind = NODE_TEXT, .text = proc_filesystems},
    {.path = "/proc/loadavg", .kind = NODE_TEXT, .text = proc_loadavg},
    {.path = "/proc/meminfo", .kind = NODE_TEXT, .text = proc_meminfo},
    {.path = "/proc/stat", .kind = NODE_TEXT, .text = proc_stat},
    {.path = "/proc/uptime", .kind = NODE_TEXT, .text = proc_uptime},
    {.path = "/proc/version", .kind = NODE_TEXT, .text = proc_version},
    {.path = "/proc/sys/kernel/osrelease", .kind = NODE_TEXT, .text = proc_osrelease},
    {.path = "/proc/sys/kernel/ostype", .kind = NODE_TEXT, .text = proc_ostype},
    {.path = "/proc/sys/vm/overcommit_memory", .kind = NODE_TEXT, .text = proc_overcommit},
    {.path = "/proc/self", .kind = NODE_LINK, .link = link_pid},
    {.path = "/proc/thread-self", .kind = NODE_LINK, .link = link_pid},
    {.path = "/proc/self/cmdline", .kind = NODE_TEXT, .text = proc_cmdline},
    {.path = "/proc/self/comm", .kind = NODE_TEXT, .text = proc_comm},
    {.path = "/proc/self/cwd", .kind = NODE_LINK, .link = link_cwd},
    {.path = "/proc/self/environ", .kind = NODE_TEXT, .text = proc_environ},
    {.path = "/proc/self/exe", .kind = NODE_LINK, .link = link_exe},
    {.path = "/proc/self/fd", .kind = NODE_FOLDER},
    {.path = "/proc/self/maps", .kind = NODE_TEXT, .text = proc_maps},
    {.path = "/proc/self/root", .kind = NODE_LINK, .to = "/"},
    {.path = "/proc/self/stat", .kind = NODE_TEXT, .text = proc_self_stat},
    {.path = "/proc/self/statm", .kind = NODE_TEXT, .text = proc_self_statm},
    {.path = "/proc/self/status", .kind = NODE_TEXT, .text = proc_self_status},
    {.path = "/proc/self/task", .kind = NODE_FOLDER},
    {.path = "/proc/self/auxv", .kind = NODE_MISSING},
    {.path = "/proc/self/map_files", .kind = NODE_MISSING},
    {.path = "/proc/self/mem", .kind = NODE_MISSING},
    {.path = "/proc/self/numa_maps", .kind = NODE_MISSING},
    {.path = "/proc/self/pagemap", .kind = NODE_MISSING},
    {.path = "/proc/self/smaps", .kind = NODE_MISSING},
    {.path = "/proc/self/smaps_rollup", .kind = NODE_MISSING},
    {.path = "/proc/self/syscall", .kind = NODE_MISSING},
    {.path = "/sys/devices/system/cpu", .kind = NODE_FOLDER},
    {.path = "/sys/devices/system/cpu/online", .kind = NODE_TEXT, .text = sys_cpu_list},
    {.path = "/sys/devices/system/cpu/possible", .kind = NODE_TEXT, .text = sys_cpu_list},
    {.path = "/sys/devices/system/cpu/present", .kind = NODE_TEXT, .text = sys_cpu_list},
    {.path = "/dev/cyclescope", .kind = NODE_TEXT, .monitored_only = true, .text = dev_cyclescope},
    {.path = "/dev/random", .kind = NODE_RANDOM},
    {.path = "/dev/urandom", .kind = NODE_RANDOM},
    {.path = "/dev/fd", .kind = NODE_LINK, .isolated_only = true, .to = "/proc/self/fd"},
    {.path = "/dev/full", .kind = NODE_HOST, .isolated_only = true},
    {.path = "/dev/null", .kind = NODE_HOST, .isolated_only = true},
    {.path = "/dev/ptmx", .kind = NODE_HOST, .isolated_only = true},
    {.path = "/dev/stderr", .kind = NODE_LINK, .isolated_only = true, .to = "/proc/self/fd/2"},
    {.path = "/dev/stdin", .kind = NODE_LINK, .isolated_only = true, .to = "/proc/self/fd/0"},
    {.path = "/dev/stdout", .kind = NODE_LINK, .isolated_only = true, .to = "/proc/self/fd/1"},
    {.path = "/dev/tty", .kind = NODE_HOST, .isolated_only = true},
    {.path = "/dev/zero", .kind = NODE_HOST, .isolated_only = true},
};

static const struct special *const table_end = table + sizeof table / sizeof *table;

static bool is_monitored(const struct files *f)
{
    return f->process && f->process->config.report;
}

/* If `path` lies below `folder`, returns the part behind `folder` and the slash, else NULL. */
static const char *inside(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

static bool within(const char *path, const char *folder)
{
    return strcmp(path, folder) == 0 || inside(path, folder);
}

bool special_tree(const char *path)
{
    return within(path, "/proc") || within(path, "/dev") || within(path, "/sys");
}

/* `rest` is the part of a path behind /proc/PID. Skips /task/TID if TID is a thread of the guest: the files are the
 * same for all threads. */
static const char *own_thread(const struct process *p, const char *rest)
{
    const char *number = inside(rest, "/task");
    char *end = NULL;
    long tid = number ? strtol(number, &end, 10) : 0;
    for (const struct thread *t = p->threads; number && t; t = t->next)
        if (t->tid == tid && !t->exited && (*end == '/' || *end == '\0'))
            return end;
    return rest;
}

/* If `path` is or lies below the guest's own /proc/PID, returns the part behind it: empty, or starting with a slash.
 * Else NULL. */
static const char *own_process(const struct files *f, const char *path)
{
    char *end;
    const char *number = inside(path, "/proc");
    if (!number || !f->process || number[0] < '1' || number[0] > '9')
        return NULL;
    long pid = strtol(number, &end, 10);
    return pid == f->process->pid && (*end == '/' || *end == '\0') ? own_thread(f->process, end) : NULL;
}

/* Returns the path as the table spells it, with /proc/self for /proc/PID. The result is `path` or `room`. */
static const char *table_path(const struct files *f, const char *path, char room[PATH_MAX])
{
    const char *rest = own_process(f, path);
    if (!rest || snprintf(room, PATH_MAX, "/proc/self%s", rest) >= PATH_MAX)
        return path;
    return room;
}

int special_host_path(const struct files *f, const char *path, char host[PATH_MAX])
{
    const char *rest = own_process(f, path);
    int n = rest ? snprintf(host, PATH_MAX, "/proc/%d%s", getpid(), rest) : snprintf(host, PATH_MAX, "%s", path);
    return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static struct node find_descriptor(const char *name)
{
    char *end;
    struct node missing = {.kind = NODE_MISSING}, node = {.kind = NODE_DESCRIPTOR};
    if (name[0] < '0' || name[0] > '9')
        return missing;
    long fd = strtol(name, &end, 10);
    if (*end != '\0' || fd >= FD_PRIVATE || fcntl((int)fd, F_GETFD) < 0)
        return missing;
    node.fd = (int)fd;
    return node;
}

struct node special_find(const struct files *f, const char *path)
{
    struct node node = {.kind = NODE_NONE}, missing = {.kind = NODE_MISSING}, folder = {.kind = NODE_FOLDER};
    char room[PATH_MAX];
    if (!special_tree(path))
        return node;
    const char *key = table_path(f, path, room);
    bool own_folder = key != path && strcmp(key, "/proc/self") == 0;
    for (const struct special *s = table; s < table_end; s++) {
        if (strcmp(s->path, key) != 0 || own_folder || (s->isolated_only && !f->isolate))
            continue;
        return s->monitored_only && !is_monitored(f) ? missing : (struct node){.kind = s->kind, .special = s};
    }
    if (inside(key, "/proc/self/task"))
        return missing; /* not a thread of the guest */
    const char *descriptor = inside(key, "/proc/self/fd");
    if (descriptor && !strchr(descriptor, '/'))
        return find_descriptor(descriptor);
    if (inside(key, "/sys/devices/system/cpu"))
        return missing;
    if (!f->isolate || within(key, "/dev"))
        return node;
    for (const struct special *s = table; s < table_end; s++) {
        if (inside(s->path, key))
            return folder;
    }
    return missing;
}

int special_link(const struct files *f, const struct node *node, char text[PATH_MAX])
{
    if (node->kind == NODE_DESCRIPTOR) {
        int error = files_path(f, node->fd, text);
        if (error == 0)
            files_show(f, text);
        return error;
    }
    if (!node->special->to)
        return node->special->link(f, text);
    strcpy(text, node->special->to);
    return 0;
}

int special_text_file(const char *text, size_t length)
{
    char self[32];
    int writer = memfd_create("proc", MFD_CLOEXEC);
    if (writer < 0)
        return -errno;
    int fd = -EIO;
    if (io_write(writer, text, length) == 0 && fchmod(writer, 0444) == 0) {
        snprintf(self, sizeof self, "/proc/self/fd/%d", writer);
        fd = open(self, O_RDONLY | O_CLOEXEC);
        fd = fd >= 0 ? files_make_private(fd) : -errno;
    }
    close(writer);
    return fd;
}

int special_open_text(const struct files *f, const struct node *node)
{
    char *text = NULL;
    size_t length = 0;
    if (!f->process)
        return -ENOENT;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return -ENOMEM;
    node->special->text(f->process, out);
    int fd = fclose(out) == 0 ? special_text_file(text, length) : -ENOMEM;
    free(text);
    return fd;
}

bool special_hides_host(const struct files *f, const char *path)
{
    return special_find(f, path).kind == NODE_FOLDER;
}

static unsigned char entry_type(enum node_kind kind)
{
    switch (kind) {
    case NODE_FOLDER: return DT_DIR;
    case NODE_LINK:
    case NODE_DESCRIPTOR: return DT_LNK;
    case NODE_RANDOM:
    case NODE_HOST: return DT_CHR;
    default: return DT_REG;
    }
}

/* Adds the first component of `rest`: a folder if further components follow, else of type `type`. */
static void add_first(const char *rest, unsigned char type, special_add_fn *add, void *context)
{
    char name[NAME_MAX + 1];
    size_t n = strcspn(rest, "/");
    if (n == 0 || n > NAME_MAX)
        return;
    memcpy(name, rest, n);
    name[n] = '\0';
    add(context, name, rest[n] == '/' ? DT_DIR : type);
}

void special_list(const struct files *f, const char *path, special_add_fn *add, void *context)
{
    char room[PATH_MAX], text[16];
    const char *key = table_path(f, path, room), *rest;
    if (strcmp(key, "/proc/self/fd") == 0) {
        for (int fd = 0; fd < FD_PRIVATE; fd++) {
            if (fcntl(fd, F_GETFD) < 0)
                continue;
            snprintf(text, sizeof text, "%d", fd);
            add(context, text, DT_LNK);
        }
        return;
    }
    if (strcmp(key, "/proc/self/task") == 0) {
        for (const struct thread *t = f->process->threads; t; t = t->next) {
            snprintf(text, sizeof text, "%d", t->tid);
            if (!t->exited)
                add(context, text, DT_DIR);
        }
        return;
    }
    const char *folder = strcmp(key, "/") == 0 ? "" : key;
    if (f->isolate || special_hides_host(f, path)) {
        for (const struct special *s = table; s < table_end; s++) {
            bool there = s->kind != NODE_MISSING && (!s->monitored_only || is_monitored(f));
            if (there && (rest = inside(s->path, folder)))
                add_first(rest, entry_type(s->kind), add, context);
        }
    }
    if (f->isolate && f->process && strcmp(path, "/proc") == 0) {
        snprintf(text, sizeof text, "%d", f->process->pid);
        add(context, text, DT_DIR);
    }
    for (size_t i = 0; f->isolate && i < f->mount_count; i++)
        if ((rest = inside(f->mounts[i].path, folder)))
            add_first(rest, DT_DIR, add, context);
}
