#include "cmd/stack_files.h"

int stack_files_open(struct stack_files *f, const struct own_output *own, struct error *err)
{
    int code = own_file_open(&f->json, own, "--json", f->json_path, err);
    if (code == 0)
        code = own_file_open(&f->csv, own, "--csv", f->csv_path, err);
    if (code == 0)
        code = own_file_open(&f->svg, own, "--svg", f->svg_path, err);
    return code;
}

int stack_files_close(struct stack_files *f, const struct own_output *own, json_t *root, int status)
{
    struct error err;
    if (output_file_close(&f->csv, &err) != 0)
        status = own_fail(own, &err);
    if (output_file_close(&f->svg, &err) != 0)
        status = own_fail(own, &err);
    if (own_file_write_json(&f->json, root, &err) != 0)
        status = own_fail(own, &err);
    fflush(own->err);
    return status;
}
