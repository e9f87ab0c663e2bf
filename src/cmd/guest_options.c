#include "cmd/guest_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void guest_options_init(struct guest_options *g)
{
    *g = (struct guest_options){
        .memory_bytes = UINT64_C(8) << 30, .stack_bytes = UINT64_C(8) << 20, .quantum_insns = 1000000};
}

/* Makes the guest's environment: the fixed one, or with --env-pass the caller's, with the variables of --env added or
 * replaced. */
static int make_environment(struct guest_options *g, struct error *err)
{
    if (g->env_pass && g->isolate)
        return error_set(err, -EINVAL,
                         "--env-pass and --isolate exclude each other: give single variables with --env NAME=VALUE");
    char *const *from = g->env_pass ? environ : guest_environment;
    size_t count = 0;
    while (from[count])
        count++;
    g->envp = calloc(count + g->env.count + 1, sizeof *g->envp);
    if (g->envp == NULL)
        return error_set(err, -ENOMEM, "out of memory");
    memcpy(g->envp, from, count * sizeof *g->envp);
    for (size_t i = 0; i < g->env.count; i++) {
        const char *setting = g->env.value[i], *equals = strchr(setting, '=');
        if (equals == NULL || equals == setting)
            return error_set(err, -EINVAL, "--env needs NAME=VALUE, not '%s'", setting);
        size_t name = (size_t)(equals - setting) + 1, k = 0;
        while (k < count && strncmp(g->envp[k], setting, name) != 0)
            k++;
        g->envp[k] = (char *)setting;
        if (k == count)
            count++;
    }
    return 0;
}

static int make_binds(struct guest_options *g, struct error *err)
{
    if (g->binds.count && !g->isolate)
        return error_set(err, -EINVAL, "--bind needs --isolate: without it the guest sees all folders");
    g->bind = calloc(g->binds.count + 1, sizeof *g->bind);
    if (g->bind == NULL)
        return error_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < g->binds.count; i++) {
        char *copy = strdup(g->binds.value[i]), *colon = copy ? strrchr(copy, ':') : NULL;
        bool readonly = colon && strcmp(colon, ":ro") == 0;
        if (readonly)
            *colon = '\0';
        char *real = copy ? realpath(copy, NULL) : NULL;
        struct stat st;
        if (real == NULL || stat(real, &st) != 0 || !S_ISDIR(st.st_mode)) {
            int code = error_set(err, -EINVAL, "--bind %s: no such folder", copy ? copy : "");
            free(copy);
            free(real);
            return code;
        }
        free(copy);
        g->bind[i] = (struct guest_bind){real, readonly};
    }
    return 0;
}

/* With --isolate, what the restored program may reach is what this command line says, not what the file says. Files are
 * saved with the number of their bind, so the binds of the checkpoint must be given again. */
static int isolate_restored(struct guest_options *g, struct process_config *config, struct error *err)
{
    if (g->sysroot == NULL)
        return error_set(err, -EINVAL,
                         "--restore with --isolate needs --sysroot DIR: only there the guest finds files");
    int code = make_binds(g, err);
    for (size_t i = 0; code == 0 && i < config->bind_count; i++)
        if (i >= g->binds.count || strcmp(config->binds[i].path, g->bind[i].path) != 0)
            code = error_set(err, -EINVAL,
                             "--restore with --isolate: the program was started with --bind %s, give it again",
                             config->binds[i].path);
    config->isolate = true;
    config->binds = g->bind;
    config->bind_count = g->binds.count;
    config->allow_net = g->allow_net;
    return code;
}

/* Opens the checkpoint and takes the configuration from it. Only the sysroot can be changed: it may have moved. */
static int finish_restore(struct guest_options *g, char **argv, struct error *err)
{
    struct guest_options defaults;
    guest_options_init(&defaults);
    if (argv[0] != NULL)
        return error_set(err, -EINVAL, "--restore takes no program: '%s' is not needed", argv[0]);
    bool of_isolation = g->binds.count || g->allow_net;
    if (g->env.count || g->env_pass || g->chdir || (of_isolation && !g->isolate) || g->host_time || g->host_user ||
        g->write_sysroot || g->host_streams || g->seed != defaults.seed || g->memory_bytes != defaults.memory_bytes ||
        g->stack_bytes != defaults.stack_bytes || g->quantum_insns != defaults.quantum_insns)
        return error_set(err, -EINVAL,
                         "--restore uses the options that the program was started with: only --sysroot can be changed, "
                         "and --isolate given, with its --bind and --allow-net");
    g->checkpoint = checkpoint_open(g->restore, err);
    if (g->checkpoint == NULL)
        return -EINVAL;
    struct process_config *config = checkpoint_config(g->checkpoint);
    if (g->sysroot && config->sysroot == NULL)
        return error_set(err, -EINVAL, "--sysroot %s: the checkpoint's program was started without a sysroot",
                         g->sysroot);
    if (g->sysroot)
        config->sysroot = g->sysroot;
    int code = g->isolate ? isolate_restored(g, config, err) : 0;
    if (code != 0)
        return code;
    g->restored_argv[0] = (char *)g->restore;
    config->argv = g->restored_argv;
    g->config = *config;
    return 0;
}

int guest_options_finish(struct guest_options *g, char **argv, struct error *err)
{
    struct stat st = {0};
    if (g->restore)
        return finish_restore(g, argv, err);
    if (argv[0] == NULL)
        return error_set(err, -EINVAL, "no program given: cyclescope COMMAND [options] [--] PROGRAM [ARGUMENTS]");
    if (g->sysroot && (stat(g->sysroot, &st) != 0 || !S_ISDIR(st.st_mode)))
        return error_set(err, -EINVAL, "--sysroot %s: %s", g->sysroot,
                         S_ISREG(st.st_mode) ? "is a file, not a folder" : "no such folder");
    if (g->isolate && g->sysroot == NULL)
        return error_set(err, -EINVAL, "--isolate needs --sysroot DIR: without it the guest would see no files");
    if (g->quantum_insns == 0 || g->quantum_insns > INT64_MAX)
        return error_set(err, -EINVAL, "--thread-quantum must be at least 1");
    if (g->stack_bytes < 64 << 10 || g->stack_bytes > UINT64_C(64) << 30)
        return error_set(err, -EINVAL, "--stack-size must be between 64K and 64G");
    int code = make_environment(g, err);
    if (code == 0)
        code = make_binds(g, err);
    if (code != 0)
        return code;
    g->config = (struct process_config){.sysroot = g->sysroot,
                                        .write_sysroot = g->write_sysroot,
                                        .isolate = g->isolate,
                                        .binds = g->bind,
                                        .bind_count = g->binds.count,
                                        .allow_net = g->allow_net,
                                        .host_time = g->host_time,
                                        .host_user = g->host_user,
                                        .host_streams = g->host_streams,
                                        .seed = g->seed,
                                        .chdir = g->chdir,
                                        .argv = argv,
                                        .envp = g->envp,
                                        .memory_limit_bytes = g->memory_bytes,
                                        .stack_limit_bytes = g->stack_bytes,
                                        .quantum_insns = g->quantum_insns};
    return 0;
}

struct process *guest_options_start(struct guest_options *g, struct error *err)
{
    if (g->checkpoint == NULL)
        return process_new(&g->config, err);
    checkpoint_config(g->checkpoint)->report = g->config.report;
    checkpoint_config(g->checkpoint)->console = g->config.console;
    return checkpoint_restore(g->checkpoint, err);
}

void guest_options_free(struct guest_options *g)
{
    checkpoint_free(g->checkpoint);
    for (size_t i = 0; g->bind && i < g->binds.count; i++)
        free((char *)g->bind[i].path);
    free(g->bind);
    free(g->envp);
    option_list_free(&g->env);
    option_list_free(&g->binds);
}
