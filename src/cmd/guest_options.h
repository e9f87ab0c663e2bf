/* The options of all commands that run a guest program. They make a struct process_config. */
#ifndef CYCLESCOPE_CMD_GUEST_OPTIONS_H
#define CYCLESCOPE_CMD_GUEST_OPTIONS_H

#include "base/options.h"
#include "checkpoint/checkpoint.h"
#include "guest/process.h"

struct guest_options {
    const char *sysroot;
    bool write_sysroot;
    bool env_pass;          /* --env-pass: the caller's environment instead of the fixed one */
    struct option_list env; /* --env: NAME=VALUE */
    const char *chdir;
    bool isolate;
    struct option_list binds; /* --bind: DIR or DIR:ro */
    bool allow_net;
    bool host_time;
    bool host_user;
    bool host_streams;
    uint64_t seed;
    uint64_t memory_bytes;
    uint64_t stack_bytes;
    uint64_t quantum_insns;
    const char *restore;           /* checkpoint file to continue from, instead of starting a program; or NULL */
    struct checkpoint *checkpoint; /* the opened checkpoint; NULL without --restore */
    char *restored_argv[2];        /* argv with --restore: the name of the checkpoint file stands for the program */
    struct process_config config;  /* result; set by guest_options_finish */
    struct guest_bind *bind;       /* `config` points to it; freed by guest_options_free */
    char **envp;                   /* `config` points to it; freed by guest_options_free */
};

void guest_options_init(struct guest_options *g);

/* Rows for a command's option table. */
#define GUEST_OPTION_ROWS(g)                                                                                           \
    {"sysroot", OPTION_STRING, &(g)->sysroot, "DIR", "look up the guest's absolute paths in DIR first"},               \
        {"write-sysroot", OPTION_FLAG, &(g)->write_sysroot, NULL, "keep what the guest changes in the sysroot"},       \
        {"env", OPTION_LIST, &(g)->env, "NAME=VALUE", "set an environment variable of the guest"},                     \
        {"env-pass", OPTION_FLAG, &(g)->env_pass, NULL, "give the guest the caller's environment"},                    \
        {"chdir", OPTION_STRING, &(g)->chdir, "DIR", "start the guest in this folder"},                                \
        {"isolate", OPTION_FLAG, &(g)->isolate, NULL, "let the guest see only the sysroot and the --bind folders"},    \
        {"bind", OPTION_LIST, &(g)->binds, "DIR[:ro]",                                                                 \
         "with --isolate: let the guest see DIR as well; :ro: read-only"},                                             \
        {"allow-net", OPTION_FLAG, &(g)->allow_net, NULL, "allow the guest to use sockets"},                           \
        {"host-time", OPTION_FLAG, &(g)->host_time, NULL, "use the host's clocks; runs are then not repeatable"},      \
        {"host-user", OPTION_FLAG, &(g)->host_user, NULL, "show the guest the caller's user, and who owns files"},     \
        {"host-streams", OPTION_FLAG, &(g)->host_streams, NULL,                                                        \
         "show the guest what its standard streams are, e.g. terminals, and the caller's other descriptors"},          \
        {"seed", OPTION_NUMBER, &(g)->seed, "N", "seed of the guest's random bytes (0)"},                              \
        {"memory", OPTION_SIZE, &(g)->memory_bytes, "SIZE", "limit of the guest's memory (8G)"},                       \
        {"stack-size", OPTION_SIZE, &(g)->stack_bytes, "SIZE", "size of the guest's stack (8M)"},                      \
    {                                                                                                                  \
        "thread-quantum", OPTION_NUMBER, &(g)->quantum_insns, "N",                                                     \
            "instructions that a thread runs before the next thread's turn (1000000)"                                  \
    }

/* A row for commands that can also continue from a checkpoint. */
#define RESTORE_OPTION_ROW(g)                                                                                          \
    {                                                                                                                  \
        "restore", OPTION_STRING, &(g)->restore, "FILE", "continue from this checkpoint instead of starting a program" \
    }

/* Checks the options and sets g->config. `argv` is the program and its arguments, and ends with NULL. Returns 0 or a
 * negative code. */
int guest_options_finish(struct guest_options *g, char **argv, struct error *err) MUST_CHECK;
/* Creates the process: loads the program, or restores the checkpoint. Returns NULL if that fails. The caller frees the
 * process. */
struct process *guest_options_start(struct guest_options *g, struct error *err) MUST_CHECK;
void guest_options_free(struct guest_options *g);

#endif
