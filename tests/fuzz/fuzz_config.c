/* libFuzzer target: any bytes as a core file and, after a zero byte, as settings of it, one to a line. What comes of it
 * is a sentence, or a config that passes its check. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void expect(bool fact)
{
    if (!fact)
        abort();
}

static bool is_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* What a caller may rely on after a check: each value is in its range and survives its own text, divisions are by no
 * zero, and sets are powers of two. */
static void check_passed(const struct core_config *c)
{
    struct error err = {""};
    struct core_config again;
    char text[128];
    core_config_default(&again);
    for (size_t i = 0; i < core_param_count; i++) {
        const struct param *p = &core_params[i];
        param_text(c, p, text, sizeof text);
        expect(param_parse(&again, p, text, "again", &err) == 0);
        expect(param_value(&again, p) == param_value(c, p));
    }
    expect(is_power_of_two(c->l1i_size / c->l1i_ways / c->l1i_line));
    expect(is_power_of_two(c->l1d_size / c->l1d_ways / c->l1d_line));
    expect(c->l2_size == 0 || is_power_of_two(c->l2_size / c->l2_ways / c->l2_line));
    expect(c->l3_size == 0 || (c->l2_size != 0 && c->l2_line <= c->l3_line));
    expect(c->branch_btb_entries == 0 || is_power_of_two(c->branch_btb_entries / c->branch_btb_ways));
    expect(c->dtlb_entries == 0 || is_power_of_two(c->dtlb_entries / c->dtlb_ways));
    expect(c->dispatch_bundle <= c->rob_size && c->branch_history_bits <= c->branch_gshare_bits);
}

/* Each line a setting; those that are refused leave everything as it was. */
static void apply(struct core_config *c, char *settings)
{
    struct error err;
    char *rest = NULL;
    for (char *line = strtok_r(settings, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        struct core_config before = *c;
        err.text[0] = '\0';
        if (core_config_set(c, line, &err) != 0)
            expect(err.text[0] != '\0' && memcmp(&before, c, sizeof before) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct error err = {""};
    struct core_config c;
    const uint8_t *zero = length ? memchr(bytes, 0, length) : NULL;
    size_t file_length = zero ? (size_t)(zero - bytes) : length;
    char *text = malloc(length + 1); /* exactly as long as it is, so that reading on would be noticed */
    expect(text != NULL);
    memcpy(text, bytes, length);
    text[length] = '\0';
    if (core_config_parse(&c, text, file_length, "input.ini", &err) != 0)
        expect(strncmp(err.text, "input.ini:", 10) == 0);
    if (err.text[0] != '\0')
        core_config_default(&c);
    if (zero)
        apply(&c, text + file_length + 1);
    err.text[0] = '\0';
    if (core_config_check(&c, &err) == 0)
        check_passed(&c);
    else
        expect(err.text[0] != '\0');
    free(text);
    return 0;
}
