/* Saves and loads the entries of a folder that the guest is reading. After loading, the guest continues to read the
 * entries as they were when the folder was read from the host. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "guest/listing.h"
#include "guest/state_priv.h"

static void entry_fields(struct fields *f, struct listing *l, size_t i)
{
    struct entry e = f->to ? l->entries[i] : (struct entry){0};
    uint32_t type = e.type;
    field_string(f, &e.name);
    field_u64(f, &e.inode);
    field_u32(f, &type);
    if (f->to)
        return;
    bool possible = e.name && strlen(e.name) <= NAME_MAX && type < 256;
    if (fields_check(f, possible, "a folder's entry is impossible"))
        listing_add(l, e.name, e.inode, (unsigned char)type);
    free(e.name);
}

void state_listing(struct fields *f, struct listing **l)
{
    bool given = *l != NULL;
    field_bool(f, &given);
    if (!given)
        return;
    if (f->from && !(*l = calloc(1, sizeof **l))) {
        fields_check(f, false, "it needs more memory than the host has");
        return;
    }
    uint64_t count = (*l)->count, position = (*l)->position;
    field_bool(f, &(*l)->stale);
    field_u64(f, &position);
    field_u64(f, &count);
    for (size_t i = 0; i < count && fields_good(f); i++)
        entry_fields(f, *l, i);
    (*l)->position = position;
    fields_check(f, position <= INT64_MAX, "a folder is read at an impossible place");
    fields_check(f, !(*l)->failed, "it needs more memory than the host has");
}
