/* The futex calls themselves. */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static long futex(uint32_t *word, int op, uint32_t value, const void *timeout, uint32_t *word2, uint32_t value3)
{
    return syscall(SYS_futex, word, op, value, timeout, word2, value3);
}

static uint32_t words[2];
static _Atomic int awake;

static void *wait_for_bits(void *bits)
{
    CHECK(futex(&words[0], FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, (uint32_t)(uintptr_t)bits) == 0);
    awake++;
    return NULL;
}

static void values_are_compared(void)
{
    struct timespec moment = {0, 10000000};
    words[0] = 5;
    CHECK(futex(&words[0], FUTEX_WAIT_PRIVATE, 4, NULL, NULL, 0) == -1 && errno == EAGAIN);
    CHECK(futex(&words[0], FUTEX_WAIT_PRIVATE, 5, &moment, NULL, 0) == -1 && errno == ETIMEDOUT);
    CHECK(futex((uint32_t *)((char *)words + 1), FUTEX_WAIT_PRIVATE, 5, NULL, NULL, 0) == -1 && errno == EINVAL);
    CHECK(futex((uint32_t *)8, FUTEX_WAIT_PRIVATE, 5, NULL, NULL, 0) == -1 && errno == EFAULT);
    CHECK(futex(&words[0], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0);
    struct timespec past = {1, 0}; /* absolute */
    CHECK(futex(&words[0], FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 5, &past, NULL, ~0u) == -1 &&
          errno == ETIMEDOUT);
    CHECK(futex(&words[0], FUTEX_WAIT_BITSET_PRIVATE, 5, NULL, NULL, 0) == -1 && errno == EINVAL);
    CHECK(futex(&words[0], 127, 5, NULL, NULL, 0) == -1 && errno == ENOSYS);
}

static void start(pthread_t *threads, int count, const int *bits)
{
    awake = 0;
    words[0] = words[1] = 0;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, wait_for_bits, (void *)(uintptr_t)bits[i]);
    usleep(100000);
    CHECK(awake == 0);
}

static void bitsets_select(void)
{
    pthread_t threads[3];
    start(threads, 3, (const int[]){1, 2, 2});
    CHECK(futex(&words[0], FUTEX_WAKE_BITSET_PRIVATE, 100, NULL, NULL, 4) == 0);
    CHECK(futex(&words[0], FUTEX_WAKE_BITSET_PRIVATE, 100, NULL, NULL, 2) == 2);
    CHECK(futex(&words[0], FUTEX_WAKE_PRIVATE, 100, NULL, NULL, 0) == 1);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK(awake == 3);
}

static void requeue_moves(void)
{
    pthread_t threads[4];
    start(threads, 4, (const int[]){1, 1, 1, 1});
    CHECK(futex(&words[0], FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)2, &words[1], 77) == -1 && errno == EAGAIN);
    CHECK(futex(&words[0], FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)2, &words[1], 0) == 3);
    CHECK(futex(&words[1], FUTEX_WAKE_PRIVATE, 100, NULL, NULL, 0) == 2);
    CHECK(futex(&words[0], FUTEX_WAKE_PRIVATE, 100, NULL, NULL, 0) == 1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(awake == 4);
}

static void wake_op_changes_the_word(void)
{
    pthread_t threads[2];
    start(threads, 2, (const int[]){1, 1});
    words[1] = 6;
    uint32_t add_one_if_six = FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 6);
    uint32_t set_nine_if_zero = FUTEX_OP(FUTEX_OP_SET, 9, FUTEX_OP_CMP_EQ, 0);
    CHECK(futex(&words[1], FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &words[0], set_nine_if_zero) == 1);
    CHECK(words[0] == 9);
    CHECK(futex(&words[0], FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &words[1], add_one_if_six) == 1);
    CHECK(words[1] == 7);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static pthread_mutex_t mutex;

static void *lock_then_unlock(void *unused)
{
    CHECK(pthread_mutex_lock(&mutex) == 0);
    awake++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void inheriting_locks_are_handed_over(void)
{
    pthread_mutexattr_t attr;
    pthread_t threads[3];
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    CHECK(pthread_mutex_init(&mutex, &attr) == 0);
    awake = 0;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, lock_then_unlock, NULL);
    usleep(50000);
    CHECK(awake == 0 && pthread_mutex_trylock(&mutex) == EBUSY);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK(awake == 3);
}

int main(void)
{
    values_are_compared();
    bitsets_select();
    requeue_moves();
    wake_op_changes_the_word();
    inheriting_locks_are_handed_over();
    return check_result();
}
