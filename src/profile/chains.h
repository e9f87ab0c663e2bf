/* Recording: exact call chains, maintained from the calls and returns that a core fetches on the right path.
 *
 * A chain is a node of a tree: the chain of the caller, the address of the call, and its target. Each hart has a stack
 * of activations. A return pops the activation that it returns from and all above it; which one that is follows from
 * the stack pointer, so functions left by longjmp or by an exception are popped, too. A jump to a function (tail call)
 * stays in the chain of the function that jumps.
 *
 * Limits: callers from before the core was observed are unknown. Stacks grow down; signal handlers and coroutines that
 * run on stacks above the one that they interrupt cut its chains short. Beyond CHAIN_MOST nodes, and beyond a million
 * activations, calls stay in the chain of their callers. */
#ifndef CYCLESCOPE_PROFILE_CHAINS_H
#define CYCLESCOPE_PROFILE_CHAINS_H

#include "core/core.h"
#include "profile/profile_file.h"

enum { CHAIN_MOST = 4 << 20 };

struct chains;

/* `tagged`: keep chains_tag up to date. Otherwise nodes are looked up on demand, and calls cost less. */
struct chains *chains_new(bool tagged, struct error *err) MUST_CHECK;
void chains_free(struct chains *c);

/* Callbacks for struct core_observer, with the chains as context. */
void chains_runs(void *chains, const struct hart *h);
void chains_transferred(void *chains, const struct hart *h, const struct core_transfer *x);
const uint32_t *chains_tag(const struct chains *c); /* for core_observer.tag: node of the next instruction to fetch */

uint32_t chains_now(struct chains *c); /* node of the next instruction to fetch; needs no `tagged` */
/* The node of an instruction, from within the core's `fetched` callback for it. */
uint32_t chains_at_fetch(struct chains *c, const struct insn_view *v);
bool chains_lost(const struct chains *c); /* some chains are cut short for lack of memory */

/* Returns the number of a node in a profile; writes the node and its ancestors first, if they are new there. */
uint32_t chains_write(struct chains *c, uint32_t node, struct profile_writer *to);

#endif
