#include "core/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/firmware.h"
#include "riscv/host_fpu.h"

int paths_init(struct paths *p, struct guest_memory *memory, unsigned in_flight, struct error *err)
{
    uint32_t cells = 16;
    while (cells <
           4 * in_flight) /* an access touches at most two granules, so the table is never more than half full */
        cells *= 2;
    *p = (struct paths){
        .memory = memory, .mem = memory ? guest_memory_base(memory) : NULL, .cell_mask = cells - 1, .epoch = 1};
    p->permission_epoch = UINT64_MAX;
    p->room = in_flight;
    p->undo_room = 2 * in_flight;
    p->above = calloc(p->room, sizeof *p->above);
    p->cell = calloc(cells, sizeof *p->cell);
    p->undo = calloc(p->undo_room, sizeof *p->undo);
    if (p->above == NULL || p->cell == NULL || p->undo == NULL) {
        paths_free(p);
        return error_set(err, -ENOMEM, "out of memory for the wrong path");
    }
    return 0;
}

void paths_free(struct paths *p)
{
    free(p->above);
    free(p->cell);
    free(p->undo);
}

void paths_forget(struct paths *p)
{
    p->permission_epoch = guest_permission_epoch(p->memory);
    memset(&p->readable, 0xff, sizeof p->readable);
    memset(&p->writable, 0xff, sizeof p->writable);
}

void paths_enter(struct paths *p, struct hart *right)
{
    p->right = p->hart = right;
    p->level = 0;
    if (p->permission_epoch != guest_permission_epoch(p->memory))
        paths_forget(p);
    host_fpu_begin(right->frm);
}

void paths_leave(struct paths *p)
{
    p->right->fflags |= host_fpu_end();
}

/* ---- memory of the right path */

static bool page_allows(struct paths *p, uint64_t addr, bool write, struct path_trap *trap)
{
    struct access_cache *c = write ? &p->writable : &p->readable;
    int prot = write ? PROT_WRITE : PROT_READ;
    if (access_known(c, addr, 1))
        return true;
    if (addr < GUEST_SPACE && guest_ptr(p->memory, addr, 1, prot)) {
        if (!write || !guest_holds_code(p->memory, addr))
            access_add(c, addr);
        return true;
    }
    bool behind_file = addr < GUEST_SPACE && guest_may_access(p->memory, addr, 1, prot);
    trap->trap = behind_file ? TRAP_BUS : write ? TRAP_STORE_FAULT : TRAP_LOAD_FAULT;
    trap->addr = addr;
    return false;
}

void *path_right_memory(struct paths *p, uint64_t addr, unsigned size, bool write, struct path_trap *trap)
{
    uint64_t last = (addr + size - 1) & ~(uint64_t)(GUEST_PAGE - 1); /* page of its last byte */
    if (p->machine && addr - FIRMWARE_BASE <= FIRMWARE_SPACE - size)
        return p->machine + (addr - FIRMWARE_BASE);
    if (!page_allows(p, addr, write, trap))
        return NULL;
    if (last > addr && !page_allows(p, last, write, trap))
        return NULL;
    if (write)
        guest_store_to_code(p->memory, addr, size);
    return p->mem + addr;
}

/* ---- the overlay */

static struct overlay_cell *cell_of(struct paths *p, uint64_t granule)
{
    uint32_t i = (uint32_t)((granule * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & p->cell_mask;
    while (p->cell[i].epoch == p->epoch && p->cell[i].granule != granule)
        i = (i + 1) & p->cell_mask;
    return &p->cell[i];
}

static void overlay_put(struct paths *p, uint64_t addr, const uint8_t *from, unsigned size)
{
    while (size > 0 && p->undo_count < p->undo_room) {
        struct overlay_cell *c = cell_of(p, addr / 8);
        bool claimed = c->epoch != p->epoch;
        if (claimed)
            *c = (struct overlay_cell){.granule = addr / 8, .epoch = p->epoch};
        p->undo[p->undo_count++] = (struct overlay_undo){
            .cell = (uint32_t)(c - p->cell), .bytes = c->bytes, .valid = c->valid, .claimed = claimed};
        for (; size > 0; size--, addr++, from++) {
            memcpy((uint8_t *)&c->bytes + addr % 8, from, 1);
            c->valid |= (uint8_t)(1u << addr % 8);
            if (addr % 8 == 7) {
                size--, addr++, from++;
                break;
            }
        }
    }
}

static void overlay_get(struct paths *p, uint64_t addr, uint8_t *to, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        const struct overlay_cell *c = cell_of(p, (addr + i) / 8);
        if (c->epoch == p->epoch && c->valid & 1u << (addr + i) % 8)
            to[i] = (uint8_t)(c->bytes >> 8 * ((addr + i) % 8));
    }
}

bool path_wrong_memory(struct paths *p, const struct code *c, uint64_t addr)
{
    unsigned size = c->mem_size;
    struct path_trap ignored;
    if (c->flags & IS_STORE && c->flags & IS_LOAD && addr % size != 0)
        return false;
    const void *at = path_right_memory(p, addr, size, c->flags & IS_STORE, &ignored);
    if (at == NULL)
        return false;
    if (c->flags & IS_LOAD) {
        memcpy(p->buffer, at, size);
        if (p->undo_count > 0)
            overlay_get(p, addr, p->buffer, size);
    }
    c->run(p->hart, &c->o, p->buffer);
    if (c->flags & IS_STORE)
        overlay_put(p, addr, p->buffer, size);
    return true;
}

/* ---- levels */

/* Floating-point exceptions of the wrong path must not reach fflags: those raised so far are taken over, and later ones
 * are dropped. */
void path_mispredict(struct paths *p, uint64_t predicted)
{
    struct path_level *next = &p->above[p->level];
    if (p->level == 0) {
        p->right->fflags |= host_fpu_end();
        host_fpu_begin(p->right->frm);
    }
    next->hart = *p->hart;
    next->hart.pc = predicted;
    next->undo = p->undo_count;
    p->hart = &next->hart;
    p->level++;
}

void path_return(struct paths *p, unsigned level)
{
    const struct path_level *dropped = &p->above[level];
    while (p->undo_count > dropped->undo) {
        const struct overlay_undo *u = &p->undo[--p->undo_count];
        p->cell[u->cell].bytes = u->bytes;
        p->cell[u->cell].valid = u->valid;
        if (u->claimed) /* the latest cell is freed first, so that probing still finds the others */
            p->cell[u->cell].epoch = p->epoch - 1;
    }
    if (level == 0) {
        p->epoch++;
        host_fpu_begin(p->right->frm);
    }
    p->level = level;
    p->hart = level ? &p->above[level - 1].hart : p->right;
}
