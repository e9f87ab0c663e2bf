/* Starting programs: execve of itself and of scripts, posix_spawn and vfork, and the ways in which they fail. */
/* not for qemu: its execve starts programs of the host only */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern char **environ;
static char self[4096];

static int status_of(pid_t pid)
{
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

/* What the program does when it is started by itself. */
static int child_main(int argc, char **argv)
{
    if (strcmp(argv[1], "exit") == 0)
        return atoi(argv[2]);
    if (strcmp(argv[1], "env") == 0)
        return getenv("COLOUR") && strcmp(getenv("COLOUR"), "green") == 0 && !getenv("PATH") ? 0 : 1;
    if (strcmp(argv[1], "fd") == 0)
        return fcntl(atoi(argv[2]), F_GETFD) >= 0 ? 1 : 0;
    if (strcmp(argv[1], "signals") == 0) {
        struct sigaction one, two;
        sigset_t mask;
        sigaction(SIGUSR1, NULL, &one);
        sigaction(SIGUSR2, NULL, &two);
        sigprocmask(SIG_BLOCK, NULL, &mask);
        return one.sa_handler == SIG_DFL && two.sa_handler == SIG_IGN && sigismember(&mask, SIGHUP) ? 0 : 1;
    }
    if (strcmp(argv[1], "script") == 0) /* as `#!self script` passes it: the argument, the script, its arguments */
        return argc == 4 && strstr(argv[2], "fork_exec_script") && strcmp(argv[3], "extra") == 0 ? 0 : 1;
    if (strcmp(argv[1], "pid") == 0)
        return getpid() == atoi(argv[2]) ? 0 : 1;
    return 100;
}

static int run(char *const argv[], char *const envp[])
{
    pid_t pid = fork();
    if (pid == 0) {
        execve(argv[0], argv, envp);
        _exit(errno == ENOENT ? 201 : errno == EACCES ? 202 : errno == ENOEXEC ? 203 : 204);
    }
    int status = status_of(pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void handle(int sig)
{
    (void)sig;
}

static void programs_start(void)
{
    char number[16];
    CHECK(run((char *[]){self, "exit", "42", NULL}, environ) == 42);
    CHECK(run((char *[]){self, "env", NULL}, (char *[]){"COLOUR=green", NULL}) == 0);

    int closed = open("/dev/null", O_RDONLY | O_CLOEXEC), kept = open("/dev/null", O_RDONLY);
    snprintf(number, sizeof number, "%d", closed);
    CHECK(run((char *[]){self, "fd", number, NULL}, environ) == 0);
    snprintf(number, sizeof number, "%d", kept);
    CHECK(run((char *[]){self, "fd", number, NULL}, environ) == 1);

    signal(SIGUSR1, handle);
    signal(SIGUSR2, SIG_IGN);
    sigset_t hup;
    sigemptyset(&hup);
    sigaddset(&hup, SIGHUP);
    sigprocmask(SIG_BLOCK, &hup, NULL);
    CHECK(run((char *[]){self, "signals", NULL}, environ) == 0);
    sigprocmask(SIG_UNBLOCK, &hup, NULL);

    pid_t pid = fork();
    if (pid == 0) {
        snprintf(number, sizeof number, "%d", getpid());
        execl(self, self, "pid", number, NULL);
    }
    CHECK(status_of(pid) == 0);
}

static void write_file(const char *name, const char *text, int mode)
{
    FILE *file = fopen(name, "w");
    fputs(text, file);
    fclose(file);
    chmod(name, mode);
}

static void failures_have_their_numbers(void)
{
    char text[5000];
    CHECK(run((char *[]){"/nowhere/at/all", NULL}, environ) == 201);
    CHECK(run((char *[]){"/", NULL}, environ) == 202);
    write_file("fork_exec_text", "plain text\n", 0755);
    CHECK(run((char *[]){"./fork_exec_text", NULL}, environ) == 203);
    write_file("fork_exec_text", "plain text\n", 0644);
    CHECK(run((char *[]){"./fork_exec_text", NULL}, environ) == 202);
    snprintf(text, sizeof text, "#!%s  script \nrest\n", self);
    write_file("fork_exec_script", text, 0755);
    CHECK(run((char *[]){"./fork_exec_script", "extra", NULL}, environ) == 0);
    write_file("fork_exec_script", "#!/nowhere/interpreter\n", 0755);
    CHECK(run((char *[]){"./fork_exec_script", NULL}, environ) == 201);
    unlink("fork_exec_text");
    unlink("fork_exec_script");
}

static void spawn_reports_errors(void)
{
    pid_t pid;
    CHECK(posix_spawn(&pid, self, NULL, NULL, (char *[]){self, "exit", "9", NULL}, environ) == 0);
    int status = status_of(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
    CHECK(posix_spawn(&pid, "/nowhere/at/all", NULL, NULL, (char *[]){"x", NULL}, environ) == ENOENT);
    CHECK(waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD);
}

static void vfork_waits_for_its_child(void)
{
    volatile int from_child = 0;
    pid_t pid = vfork();
    if (pid == 0) {
        from_child = 5;
        _exit(6);
    }
    CHECK(pid > 0 && from_child == 5);
    int status = status_of(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 6);
    pid = vfork();
    if (pid == 0) {
        execl(self, self, "exit", "12", NULL);
        _exit(1);
    }
    CHECK(WEXITSTATUS(status_of(pid)) == 12);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child_main(argc, argv);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(length > 0);
    programs_start();
    failures_have_their_numbers();
    spawn_reports_errors();
    vfork_waits_for_its_child();
    return check_result();
}
