/* A disk that becomes slow: preloaded into a broker (LD_PRELOAD), it delays what the file of $SLOW_DISK names.
 *
 * The file holds two numbers, milliseconds: of each sync of a log, and of each read of the transaction log in bulk, as its
 * coordinator loads it. Kafka's metadata log lies on another disk, as is usual. Compile with: gcc -shared -fPIC -o slow_disk.so slow_disk.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BULK_BYTES 65536

static void path_of(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    path[length < 0 ? 0 : length] = 0;
}

static void delay(int number) {
    const char *name = getenv("SLOW_DISK");
    FILE *file = name ? fopen(name, "r") : NULL;
    long ms[2] = {0, 0};
    if (file == NULL) return;
    if (fscanf(file, "%ld %ld", &ms[0], &ms[1]) == 2 && ms[number] > 0) {
        struct timespec pause = {ms[number] / 1000, ms[number] % 1000 * 1000000L};
        nanosleep(&pause, NULL);
    }
    fclose(file);
}

static void delay_sync(int fd) {
    char path[4096];
    path_of(fd, path, sizeof path);
    if (strstr(path, ".log") != NULL && strstr(path, "__cluster_metadata") == NULL) delay(0);
}

int fsync(int fd) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fsync");
    delay_sync(fd);
    return real(fd);
}

int fdatasync(int fd) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
    delay_sync(fd);
    return real(fd);
}

static void delay_read(int fd, size_t count) {
    char path[4096];
    if (count < BULK_BYTES) return;
    path_of(fd, path, sizeof path);
    if (strstr(path, "__transaction_state-") != NULL && strstr(path, ".log") != NULL) delay(1);
}

ssize_t pread64(int fd, void *buffer, size_t count, off64_t offset) {
    static ssize_t (*real)(int, void *, size_t, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "pread64");
    delay_read(fd, count);
    return real(fd, buffer, count, offset);
}

ssize_t pread(int fd, void *buffer, size_t count, off_t offset) {
    static ssize_t (*real)(int, void *, size_t, off_t);
    if (!real) real = dlsym(RTLD_NEXT, "pread");
    delay_read(fd, count);
    return real(fd, buffer, count, offset);
}
