/* Writer and reader of profiles: wrappers of block_records.h with the format of profiles. */
#include "profile/profile_format.h"

struct profile_writer {
    struct record_writer file; /* the only member: record_writer_new allocates the whole struct */
};

struct profile_reader {
    struct record_reader file;
};

/* ---- writing */

struct profile_writer *profile_writer_new(FILE *to, struct error *err)
{
    return (struct profile_writer *)record_writer_new(&profile_format, to, err);
}

void profile_write(struct profile_writer *w, const struct profile_record *r)
{
    record_write(&w->file, r);
}

void profile_writer_flush(struct profile_writer *w)
{
    record_writer_flush(&w->file);
}

int profile_writer_close(struct profile_writer *w, struct error *err)
{
    return record_writer_close(&w->file, &(struct profile_record){.kind = PROFILE_END}, err);
}

void profile_writer_abandon(struct profile_writer *w)
{
    record_writer_abandon(&w->file);
}

/* ---- reading */

struct profile_reader *profile_reader_new(FILE *from, const char *name, struct error *err)
{
    return (struct profile_reader *)record_reader_new(&profile_format, from, name, err);
}

int profile_read(struct profile_reader *r, struct profile_record *to, struct error *err)
{
    return record_read(&r->file, to, err);
}

bool profile_reader_complete(const struct profile_reader *r)
{
    return r->file.complete;
}

void profile_reader_free(struct profile_reader *r)
{
    record_reader_free((struct record_reader *)r);
}
