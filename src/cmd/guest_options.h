/* The options of every command that runs a guest program, and the process_config that they make. */
#ifndef CYCLESCOPE_CMD_GUEST_OPTIONS_H
#define CYCLESCOPE_CMD_GUEST_OPTIONS_H

#include "base/options.h"
#include "checkpoint/checkpoint.h"
#include "guest/process.h"

struct guest_options {
    const char *sysroot;
    struct option_list env; /* NAME=VALUE */
    const char *chdir;
    bool isolate;
    struct option_list binds; /* DIR or DIR:ro */
    bool allow_net;
    bool host_time;
    uint64_t seed;
    uint64_t memory_bytes;
    uint64_t stack_bytes;
    uint64_t quantum_insns;
    const char *restore;           /* a checkpoint to go on from, instead of a program; NULL: none */
    struct checkpoint *checkpoint; /* what was read of it */
    char *restored_argv[2];        /* stands for the program's name, which comes with the process */
    struct process_config config;  /* made from the above */
    struct guest_bind *bind;       /* owned by config */
    char **envp;                   /* likewise */
};

void guest_options_init(struct guest_options *g);

/* Rows for a command's option table. */
#define GUEST_OPTION_ROWS(g)                                                                                           \
    {"sysroot", OPTION_STRING, &(g)->sysroot, "DIR", "look up the guest's absolute paths in DIR first"},               \
        {"env", OPTION_LIST, &(g)->env, "NAME=VALUE", "set an environment variable of the guest"},                     \
        {"chdir", OPTION_STRING, &(g)->chdir, "DIR", "start in this folder of the guest"},                             \
        {"isolate", OPTION_FLAG, &(g)->isolate, NULL, "let the guest see only the sysroot and --bind folders"},        \
        {"bind", OPTION_LIST, &(g)->binds, "DIR[:ro]",                                                                 \
         "with --isolate: let it see DIR as well, :ro for reading only"},                                              \
        {"allow-net", OPTION_FLAG, &(g)->allow_net, NULL, "allow sockets"},                                            \
        {"host-time", OPTION_FLAG, &(g)->host_time, NULL, "clocks and sleeps are the host's; runs no longer repeat"},  \
        {"seed", OPTION_NUMBER, &(g)->seed, "N", "seed of the guest's random bytes (0)"},                              \
        {"memory", OPTION_SIZE, &(g)->memory_bytes, "SIZE", "most writable memory of the guest (8G)"},                 \
        {"stack", OPTION_SIZE, &(g)->stack_bytes, "SIZE", "size of the guest's stack (8M)"},                           \
    {                                                                                                                  \
        "thread-quantum", OPTION_NUMBER, &(g)->quantum_insns, "N",                                                     \
            "instructions before the next thread's turn (1000000)"                                                     \
    }

/* For commands that can also go on from a checkpoint. */
#define RESTORE_OPTION_ROW(g)                                                                                          \
    {                                                                                                                  \
        "restore", OPTION_STRING, &(g)->restore, "FILE", "go on from this checkpoint instead of starting a program"    \
    }

/* Fills g->config for `argv`, the program and its arguments, which end with NULL. 0 or a negative code. */
int guest_options_finish(struct guest_options *g, char **argv, struct error *err) MUST_CHECK;
/* The process: the program's at its start, or the checkpoint's. NULL and a sentence if there is none. */
struct process *guest_options_start(struct guest_options *g, struct error *err) MUST_CHECK;
void guest_options_free(struct guest_options *g);

#endif
