/* Preloaded into a process: counts the calls that change files below a folder, and disturbs one of them.
 *
 * What is wanted stands in a file that all processes of a check map, FORETIME_FAULTS; benchmarks/faults/shim.py writes
 * it there. A call is disturbed when it is the `at`-th: the process is killed before it or half-way through, or it
 * fails. A disk that is full stays full. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NOTHING, KILL_BEFORE, KILL_WITHIN, FULL, BROKEN };
enum { LOGGED = 16384 };

struct wanted {
    _Atomic int64_t count; /* calls so far */
    int64_t at;            /* which of them is disturbed, from 1 */
    int64_t action;
    int64_t spared; /* the process that is not disturbed: the one that checks */
    char folder[1024];
    char log[LOGGED]; /* a letter for each call */
};

static struct wanted *wanted;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FORETIME_FAULTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *found = mmap(NULL, sizeof(struct wanted), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (found != MAP_FAILED) wanted = found;
}

static int is_below(const char *path) {
    size_t length = strlen(wanted->folder);
    return length && !strncmp(path, wanted->folder, length) && (path[length] == '/' || !path[length]);
}

static int is_watched(void) { return wanted && wanted->folder[0] && getpid() != wanted->spared; }

static int has_below(int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static int names_below(int folder, const char *name) {
    char link[64], path[2 * PATH_MAX];
    if (name[0] == '/') return is_below(name);
    if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    snprintf(path + length, sizeof path - length, "/%s", name);
    return is_below(path);
}

static _Noreturn void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* Count a call; return what is to become of it. A process is killed here, if that is before the call. */
static int met(char letter) {
    int64_t number = atomic_fetch_add(&wanted->count, 1) + 1;
    if (number <= LOGGED) wanted->log[number - 1] = letter;
    int makes_larger = letter == 'w' || letter == 'o' || letter == 'm';
    if (wanted->action == FULL && number >= wanted->at && (makes_larger || number == wanted->at)) return FULL;
    if (number != wanted->at) return NOTHING;
    if (wanted->action == KILL_BEFORE) die();
    return (int)wanted->action;
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* A call that is not a write is half done when it is done and nothing else is. */
#define DISTURBED(condition, letter, call) \
    do { \
        if (!is_watched() || !(condition)) return call; \
        switch (met(letter)) { \
        case KILL_WITHIN: \
            (void)call; \
            die(); \
        case FULL: errno = ENOSPC; return -1; \
        case BROKEN: errno = EIO; return -1; \
        default: return call; \
        } \
    } while (0)

#define WRITES(condition, whole, half) \
    do { \
        if (!is_watched() || !(condition)) return whole; \
        switch (met('w')) { \
        case KILL_WITHIN: \
            (void)!half; \
            die(); \
        case FULL: errno = ENOSPC; return -1; \
        case BROKEN: errno = EIO; return -1; \
        default: return whole; \
        } \
    } while (0)

ssize_t write(int file, const void *content, size_t count) {
    REAL(write);
    WRITES(has_below(file), real(file, content, count), real(file, content, count / 2));
}

ssize_t pwrite(int file, const void *content, size_t count, off_t place) {
    REAL(pwrite);
    WRITES(has_below(file), real(file, content, count, place), real(file, content, count / 2, place));
}

ssize_t pwrite64(int file, const void *content, size_t count, off64_t place) {
    REAL(pwrite64);
    WRITES(has_below(file), real(file, content, count, place), real(file, content, count / 2, place));
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    REAL(writev);
    WRITES(has_below(file), real(file, parts, count), real(file, parts, count / 2));
}

int fsync(int file) {
    REAL(fsync);
    DISTURBED(has_below(file), 'f', real(file));
}

int fdatasync(int file) {
    REAL(fdatasync);
    DISTURBED(has_below(file), 'f', real(file));
}

int ftruncate(int file, off_t length) {
    REAL(ftruncate);
    DISTURBED(has_below(file), 't', real(file, length));
}

int rename(const char *from, const char *to) {
    REAL(rename);
    DISTURBED(names_below(AT_FDCWD, to), 'r', real(from, to));
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    REAL(renameat);
    DISTURBED(names_below(to_folder, to), 'r', real(from_folder, from, to_folder, to));
}

int link(const char *from, const char *to) {
    REAL(link);
    DISTURBED(names_below(AT_FDCWD, to), 'l', real(from, to));
}

int unlink(const char *path) {
    REAL(unlink);
    DISTURBED(names_below(AT_FDCWD, path), 'u', real(path));
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(unlinkat);
    DISTURBED(names_below(folder, path), flags & AT_REMOVEDIR ? 'd' : 'u', real(folder, path, flags));
}

int rmdir(const char *path) {
    REAL(rmdir);
    DISTURBED(names_below(AT_FDCWD, path), 'd', real(path));
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    DISTURBED(names_below(AT_FDCWD, path), 'm', real(path, mode));
}

#define OPENS(name, folder, path, ...) \
    mode_t mode = 0; \
    if (flags & O_CREAT) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    } \
    REAL(name); \
    DISTURBED((flags & O_CREAT) && names_below(folder, path), 'o', real(__VA_ARGS__, flags, mode))

int open(const char *path, int flags, ...) { OPENS(open, AT_FDCWD, path, path); }

int open64(const char *path, int flags, ...) { OPENS(open64, AT_FDCWD, path, path); }

int openat(int folder, const char *path, int flags, ...) { OPENS(openat, folder, path, folder, path); }

int openat64(int folder, const char *path, int flags, ...) { OPENS(openat64, folder, path, folder, path); }
