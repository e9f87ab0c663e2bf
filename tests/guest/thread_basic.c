/* POSIX threads: creation, locks, conditions, barriers, thread-local data, cancellation. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 8, ROUNDS = 2000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long counter, turn;
static _Atomic long atomic_counter;
static __thread long own;

static void *count_up(void *argument)
{
    own = (long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
        atomic_counter++;
    }
    return (void *)(own * 2);
}

static void locks_exclude(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, count_up, (void *)i) == 0);
    for (long i = 0; i < THREADS; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0 && result == (void *)(i * 2));
    }
    CHECK(counter == THREADS * ROUNDS && atomic_counter == THREADS * ROUNDS);
}

static void *take_turns(void *argument)
{
    long self = (long)argument;
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        while (turn % THREADS != self)
            pthread_cond_wait(&changed, &lock);
        turn++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void conditions_wake(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_turns, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(turn == THREADS * 100);
}

static void timeouts_expire(void)
{
    struct timespec end, after;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += 50000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&lock);
    CHECK(pthread_cond_timedwait(&changed, &lock, &end) == ETIMEDOUT);
    clock_gettime(CLOCK_REALTIME, &after);
    CHECK(after.tv_sec > end.tv_sec || (after.tv_sec == end.tv_sec && after.tv_nsec >= end.tv_nsec));
    pthread_mutex_unlock(&lock);
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    CHECK(sem_timedwait(&semaphore, &end) == -1 && errno == ETIMEDOUT);
    sem_post(&semaphore);
    CHECK(sem_wait(&semaphore) == 0);
}

static pthread_barrier_t barrier;
static _Atomic int arrived, serial;

static void *meet(void *unused)
{
    for (int i = 0; i < 50; i++) {
        arrived++;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            serial++;
        CHECK(arrived >= (i + 1) * THREADS);
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

static void barriers_hold(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, meet, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(serial == 50);
}

static int cleaned, destroyed;
static pthread_key_t key;

static void clean(void *unused)
{
    (void)unused;
    cleaned++;
}

static void destroy(void *value)
{
    destroyed += (int)(intptr_t)value;
}

static void *sleep_for_ever(void *unused)
{
    pthread_setspecific(key, (void *)5);
    pthread_cleanup_push(clean, NULL);
    for (;;)
        sleep(1000);
    pthread_cleanup_pop(0);
    return unused;
}

static void cancellation_cleans_up(void)
{
    pthread_t thread;
    void *result;
    pthread_key_create(&key, destroy);
    pthread_create(&thread, NULL, sleep_for_ever, NULL);
    usleep(10000);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(cleaned == 1 && destroyed == 5);
}

static volatile int spin_flag;

static void *set_flag(void *unused)
{
    for (volatile int i = 0; i < 250000; i++)
        ;
    spin_flag = 1;
    return unused;
}

/* A thread that spins must not keep others from running. The other one needs more than a turn of a million
 * instructions. */
static void spinning_ends(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, set_flag, NULL);
    while (!spin_flag)
        ;
    pthread_join(thread, NULL);
}

static void *leave(void *unused)
{
    usleep(1000);
    return unused;
}

static void many_threads_come_and_go(void)
{
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, leave, NULL) == 0);
        if (i % 2)
            pthread_detach(thread);
        else
            pthread_join(thread, NULL);
    }
}

static void *last_one(void *unused)
{
    usleep(20000);
    exit(check_result());
    return unused;
}

int main(void)
{
    pthread_t thread;
    locks_exclude();
    conditions_wake();
    timeouts_expire();
    barriers_hold();
    cancellation_cleans_up();
    spinning_ends();
    many_threads_come_and_go();
    /* The first thread may leave before the others. */
    pthread_create(&thread, NULL, last_one, NULL);
    pthread_exit(NULL);
}
