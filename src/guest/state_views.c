/* Saves and loads what the guest has seen of files: inode numbers and times. */
#include "guest/file_view_priv.h"
#include "guest/process_priv.h"
#include "guest/state_priv.h"

static void view_fields(struct fields *f, struct view *view)
{
    field_u64(f, &view->number);
    field_u32(f, &view->changed);
    field_u64(f, &view->access_ns);
    field_u64(f, &view->change_ns);
    field_u64(f, &view->status_ns);
    fields_check(f, view->changed <= 1, "a file has impossible times");
}

void state_view(struct process *p, struct fields *f, const struct stat *st)
{
    struct view none = {0};
    const struct view *seen = f->to ? view_peek(p, st->st_dev, st->st_ino) : NULL;
    struct view kept = seen ? *seen : none;
    view_fields(f, &kept);
    struct view *view = f->from && fields_good(f) && kept.number ? view_find(p, st->st_dev, st->st_ino) : NULL;
    if (!view)
        return;
    view->number = kept.number;
    view->changed = kept.changed;
    view->access_ns = kept.access_ns;
    view->change_ns = kept.change_ns;
    view->status_ns = kept.status_ns;
}

void state_views(struct process *p, struct fields *f)
{
    struct views *v = p->views;
    uint64_t next = v->next;
    uint32_t count = v->count;
    field_u32(f, &count);
    fields_check(f, count <= VIEWS_MAX, "it has seen too many files");
    for (uint32_t i = 0; i < count && fields_good(f); i++) {
        struct view kept = f->to ? v->view[i] : (struct view){0};
        field_u64(f, &kept.dev);
        field_u64(f, &kept.inode);
        view_fields(f, &kept);
        struct view *view = f->to ? NULL : view_find(p, kept.dev, kept.inode);
        if (view) {
            kept.next = view->next;
            *view = kept;
        }
    }
    field_u64(f, &next);
    v->next = next;
}
