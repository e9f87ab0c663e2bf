/* Writable pages whose code an engine has decoded: who writes there, and that the engine hears of it. */
#include <stdlib.h>

#include "guest/memory_priv.h"

enum { WORD_BITS = 64 };
#define PAGES      (GUEST_SPACE / GUEST_PAGE)
#define MARK_BYTES (PAGES / 8)

static bool is_marked(const struct guest_memory *m, uint64_t page)
{
    return m->code_marks[page / WORD_BITS] >> page % WORD_BITS & 1;
}

static void set_mark(const struct guest_memory *m, uint64_t page, bool marked)
{
    uint64_t bit = UINT64_C(1) << page % WORD_BITS;
    m->code_marks[page / WORD_BITS] = (m->code_marks[page / WORD_BITS] & ~bit) | (marked ? bit : 0);
}

/* Returns the first page from `page` up to `end` that is marked (or not), or `end`. */
static uint64_t next_page(const struct guest_memory *m, uint64_t page, uint64_t end, bool marked)
{
    while (page < end) {
        uint64_t word =
            (marked ? m->code_marks[page / WORD_BITS] : ~m->code_marks[page / WORD_BITS]) >> page % WORD_BITS;
        if (word) {
            page += (uint64_t)__builtin_ctzll(word);
            return page < end ? page : end;
        }
        page += WORD_BITS - page % WORD_BITS;
    }
    return end;
}

struct page_range {
    uint64_t first, end; /* page numbers */
};

/* Sets the marks of these pages, which are all marked or all not, and the protection of their host pages. Returns the
 * pages that it changed: at the host's limit of mappings a part of an area cannot change alone; then the whole area
 * does, which splits no mapping. */
static struct page_range set_pages(const struct guest_memory *m, struct page_range r, bool marked)
{
    int prot = marked ? PROT_READ : PROT_READ | PROT_WRITE;
    if (m->code_protected && mprotect(m->base + r.first * GUEST_PAGE, (r.end - r.first) * GUEST_PAGE, prot) != 0) {
        const struct guest_area *a = &m->areas.area[areas_first_above(&m->areas, r.first * GUEST_PAGE)];
        r = (struct page_range){a->start / GUEST_PAGE, a->end / GUEST_PAGE};
        if (mprotect(m->base + a->start, a->end - a->start, prot) != 0)
            abort();
    }
    for (uint64_t page = r.first; page < r.end; page++)
        set_mark(m, page, marked);
    return r;
}

/* Unmarks the marked pages of the range, which are protected. Returns a range that contains all unmarked pages. */
static struct page_range open_pages(const struct guest_memory *m, struct page_range r)
{
    struct page_range opened = r;
    for (uint64_t page = next_page(m, r.first, r.end, true); page < r.end; page = next_page(m, page, r.end, true)) {
        struct page_range part = set_pages(m, (struct page_range){page, next_page(m, page, r.end, false)}, false);
        opened.first = part.first < opened.first ? part.first : opened.first;
        opened.end = part.end > opened.end ? part.end : opened.end;
    }
    return opened;
}

void guest_mark_code(struct guest_memory *m, uint64_t addr, bool protect)
{
    size_t i = areas_first_above(&m->areas, addr);
    if (i == m->areas.count || m->areas.area[i].start > addr || !(m->areas.area[i].prot & PROT_WRITE))
        return;
    if (m->code_marks == NULL) {
        void *marks =
            mmap(NULL, MARK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (marks == MAP_FAILED)
            abort();
        m->code_marks = marks;
    }
    m->code_protected = protect;
    if (!is_marked(m, addr / GUEST_PAGE))
        set_pages(m, (struct page_range){addr / GUEST_PAGE, addr / GUEST_PAGE + 1}, true);
}

bool guest_holds_code(const struct guest_memory *m, uint64_t addr)
{
    return m->code_marks && addr < GUEST_SPACE && is_marked(m, addr / GUEST_PAGE);
}

bool guest_store_to_code(const struct guest_memory *m, uint64_t addr, uint64_t length)
{
    struct page_range r = {addr / GUEST_PAGE, (addr + length + GUEST_PAGE - 1) / GUEST_PAGE};
    if (m->code_marks == NULL || addr >= GUEST_SPACE || length == 0 || next_page(m, r.first, r.end, true) == r.end)
        return false;
    if (m->code_protected) {
        r = open_pages(m, r);
        addr = r.first * GUEST_PAGE;
        length = (r.end - r.first) * GUEST_PAGE;
    }
    if (m->code_watcher)
        m->code_watcher(m->code_watcher_context, addr, addr + length);
    return true;
}

/* Marked pages lie in writable areas, so the rest of the address space need not be searched. */
void guest_unmark_code(struct guest_memory *m, uint64_t start, uint64_t end)
{
    if (m->code_marks == NULL)
        return;
    for (size_t i = areas_first_above(&m->areas, start); i < m->areas.count && m->areas.area[i].start < end; i++) {
        const struct guest_area *a = &m->areas.area[i];
        uint64_t low = a->start > start ? a->start : start, high = a->end < end ? a->end : end;
        if (!(a->prot & PROT_WRITE) || !guest_store_to_code(m, low, high - low) || m->code_protected)
            continue;
        for (uint64_t page = low / GUEST_PAGE; page < high / GUEST_PAGE; page++)
            set_mark(m, page, false);
    }
}

void code_marks_free(struct guest_memory *m)
{
    if (m->code_marks)
        munmap(m->code_marks, MARK_BYTES);
}
