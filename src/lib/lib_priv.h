/* Declarations shared by the files of the library.
 *
 * The simulation runs in a child process. It sends messages to the caller's process through a SOCK_SEQPACKET socket
 * pair, which preserves message boundaries. A message is a breakdown or a note; both begin with their size, and the
 * size identifies the type. The first message is a note, NOTE_STARTED or NOTE_FAILED. The last message is a note as
 * well, unless the simulation was killed. */
#ifndef CYCLESCOPE_LIB_LIB_PRIV_H
#define CYCLESCOPE_LIB_LIB_PRIV_H

#include <cyclescope/cyclescope.h>

#include "sim/simulate.h"
#include "guest/process.h"

/* The checked configuration of a run. It points to strings of the caller, which stay valid in the forked child. */
struct launch {
    struct cyclescope_options options; /* with defaults filled in */
    struct core_config core;
    struct simulation simulation;
    struct process_config guest;
};

enum note_kind {
    NOTE_STARTED, /* the program is loaded */
    NOTE_FAILED,  /* the program could not start, or the simulation failed: see `code` and `error` */
    NOTE_ENDED    /* the run has ended: see `status` and `cut` */
};

struct note {
    uint32_t size;
    uint32_t kind;      /* enum note_kind */
    int32_t code;       /* NOTE_FAILED: negative errno code */
    int32_t status;     /* NOTE_ENDED: exit status of the program */
    int32_t cut;        /* NOTE_ENDED: 1 if max_insns ended the run */
    struct error error; /* NOTE_FAILED: message */
};

_Static_assert(sizeof(struct note) != sizeof(struct cyclescope_breakdown), "the size identifies the type of a message");

union message {
    uint32_t size;
    struct note note;
    struct cyclescope_breakdown breakdown;
};

/* launch.c: checks the options and fills in `l`. Returns 0 or a negative code. */
int launch_prepare(struct launch *l, char *const argv[], const struct cyclescope_options *options,
                   struct error *err) MUST_CHECK;

/* child.c: runs the simulation in the forked process. `socket` is the child's end of the pair. */
_Noreturn void child_main(struct launch *l, int socket);

#endif
