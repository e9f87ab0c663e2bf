/* Call chains, exact: kept from the calls and returns that a core fetches on the right path.
 *
 * A chain is a node of a tree: the chain of the caller, the address of the call, and where it went. Each hart has a
 * stack of activations; a return takes down the activation that it returns from and all above it, which the stack
 * pointer tells, so that functions that are left by longjmp or by an exception are left here, too. Jumps to functions
 * (tail calls) stay in the chain of who jumped.
 *
 * Limits: callers from before the core was observed are unknown. Stacks grow down; signal handlers and coroutines that
 * run on stacks above the one that they interrupt cut its chains short. Beyond CHAIN_MOST nodes, and
 * beyond a million activations, calls stay in the chain of their callers. */
#ifndef CYCLESCOPE_MONITOR_CHAINS_H
#define CYCLESCOPE_MONITOR_CHAINS_H

#include "core/core.h"
#include "monitor/profile_file.h"

enum { CHAIN_MOST = 4 << 20 };

struct chains;

/* `tagged`: chains_tag is needed; else chains are looked up when they are asked for, and calls cost less. */
struct chains *chains_new(bool tagged, struct error *err) MUST_CHECK;
void chains_free(struct chains *c);

/* For struct core_observer, with the chains as context. */
void chains_runs(void *chains, const struct hart *h);
void chains_transferred(void *chains, const struct hart *h, const struct core_transfer *x);
const uint32_t *chains_tag(const struct chains *c); /* the node of what is fetched next */

uint32_t chains_now(struct chains *c); /* the same */
/* The node of an instruction that is being fetched, when observers are told of it. */
uint32_t chains_at_fetch(struct chains *c, const struct insn_view *v);
bool chains_lost(const struct chains *c); /* there was no memory for some */

/* The number of a node in a profile; what the profile does not know yet of it is written there first. */
uint32_t chains_write(struct chains *c, uint32_t node, struct profile_writer *to);

#endif
