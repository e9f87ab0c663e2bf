/* What the files of the library share: a launch, which is a checked order for a run, and what the simulation, which
 * runs it in a process of its own, says to the caller's.
 *
 * They talk through a pair of sockets that keep messages apart. A message is a breakdown or a note; their first number
 * is their size, by which they are told apart. The first message is a note, NOTE_STARTED or NOTE_FAILED; the last one
 * is a note as well, unless the simulation was killed. */
#ifndef CYCLESCOPE_LIB_LIB_PRIV_H
#define CYCLESCOPE_LIB_LIB_PRIV_H

#include <cyclescope/cyclescope.h>

#include "core/simulate.h"
#include "guest/process.h"

/* Everything that the simulation needs; the caller's strings are borrowed, since it runs in a copy of the caller. */
struct launch {
    struct cyclescope_options options; /* with defaults filled in */
    struct core_config core;
    struct simulation simulation;
    struct process_config guest;
};

enum note_kind {
    NOTE_STARTED, /* the program is loaded */
    NOTE_FAILED,  /* could not run, or not to the end: `code` and `text` say why */
    NOTE_ENDED    /* `status` and `cut` say how */
};

struct note {
    uint32_t size;
    uint32_t kind; /* enum note_kind */
    int32_t code;  /* negative errno */
    int32_t status;
    int32_t cut;
    struct error error;
};

_Static_assert(sizeof(struct note) != sizeof(struct cyclescope_breakdown), "messages are told apart by their size");

union message {
    uint32_t size;
    struct note note;
    struct cyclescope_breakdown breakdown;
};

/* launch.c: 0 or a negative code. */
int launch_prepare(struct launch *l, char *const argv[], const struct cyclescope_options *options,
                   struct error *err) MUST_CHECK;

/* child.c: in the forked process. */
_Noreturn void child_main(struct launch *l, int socket);

#endif
