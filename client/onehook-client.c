/* The client of resident mode: pass an event to the warm process of a command, or run the command.
 *
 *     onehook-client PYTHON -I -S LAUNCHER POLICY [OPTIONS]
 *
 * What follows the first word is the command without resident mode, which is run whenever there is any doubt. So this program has no
 * configuration, decides nothing, and never reads stdin: the process that answers gets stdin, stdout and stderr themselves, once it has
 * reported that it is ready. src/onehook/resident/asking.py does the same in Python, and describes what is sent.
 *
 * One file, no allocation except one buffer, no library except libc.
 */
#define _GNU_SOURCE
#ifdef __APPLE__
#define _DARWIN_C_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

#define MAGIC "OHR2"
#define PATIENCE 1  /* seconds until the server has to report that it is ready */
#define PAUSE 10    /* seconds before a server that cannot be reached is started again */
#define KILLED 137  /* as a shell reports a command that was killed */
#define MAX_REQUEST (8u << 20)
#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define POLICY 4    /* its place among the words of the command */

extern char **environ;

struct request {
    char *data;
    size_t size;
};

/* ---- names */

static const char *value_of(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

/* Where the sockets are: in the state folder, which self_protect guards. False if it is not known. */
static int folder_of(char *path, size_t size) {
    const char *state = value_of("ONEHOOK_STATE_DIR"), *base = value_of("XDG_STATE_HOME"), *home = value_of("HOME");
    int length;
    if (*state)
        length = snprintf(path, size, "%s/resident", state);
    else if (*base)
        length = snprintf(path, size, "%s/onehook/resident", base);
    else
        length = snprintf(path, size, "%s/.local/state/onehook/resident", *home ? home : "?");
    return path[0] == '/' && length > 0 && (size_t)length < size;
}

static uint64_t hashed(uint64_t number, const char *text, int first) {
    if (!first)
        number *= 0x100000001B3u; /* the zero byte between two parts */
    for (; *text; text++)
        number = (number ^ (unsigned char)*text) * 0x100000001B3u;
    return number;
}

/* The name of the server for a command: its interpreter, launcher and policy, and what an interpreter reads when it starts. */
static int key_of(char **words, char *key, size_t size) {
    static const char *const at_start[] = {"LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_LIBRARY_PATH",
                                           "DYLD_INSERT_LIBRARIES"};
    static char cwd[1 << 15];
    uint64_t number = 0xCBF29CE484222325u; /* FNV-1a */
    if (words[POLICY][0] != '/' && !getcwd(cwd, sizeof cwd))
        return 0;
    for (int index = 0; index <= POLICY; index++)
        number = hashed(number, words[index], index == 0);
    number = hashed(number, words[POLICY][0] == '/' ? "" : cwd, 0);
    for (size_t index = 0; index < sizeof at_start / sizeof *at_start; index++)
        number = hashed(number, value_of(at_start[index]), 0);
    snprintf(key, size, "%016llx", (unsigned long long)number);
    return 1;
}

/* ---- the request */

static void put_number(char *at, uint32_t number) {
    for (int index = 0; index < 4; index++)
        at[index] = (char)(number >> (8 * index));
}

static char *put_texts(char *at, char **texts) {
    for (; *texts; texts++) {
        size_t size = strlen(*texts) + 1;
        memcpy(at, *texts, size);
        at += size;
    }
    return at;
}

static size_t size_of(char **texts) {
    size_t size = 0;
    for (; *texts; texts++)
        size += strlen(*texts) + 1;
    return size;
}

static int make_request(char **words, uint32_t count, struct request *made) {
    size_t size = size_of(words) + size_of(environ);
    mode_t mask = umask(0);
    umask(mask);
    if (size > MAX_REQUEST || !(made->data = malloc(16 + size)))
        return 0;
    memcpy(made->data, MAGIC, 4);
    put_number(made->data + 4, (uint32_t)size);
    put_number(made->data + 8, (uint32_t)mask);
    put_number(made->data + 12, count);
    made->size = (size_t)(put_texts(put_texts(made->data + 16, words), environ) - made->data);
    return 1;
}

/* ---- the exchange */

static int sent(int server, const char *data, size_t size) {
    while (size) {
        ssize_t count = send(server, data, size, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return 0;
        data += count;
        size -= (size_t)count;
    }
    return 1;
}

static int received(int server, char *data, size_t size) {
    while (size) {
        ssize_t count = recv(server, data, size, 0);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return 0;
        data += count;
        size -= (size_t)count;
    }
    return 1;
}

static uint32_t microseconds_since(const struct timespec *begun) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)((now.tv_sec - begun->tv_sec) * 1000000 + (now.tv_nsec - begun->tv_nsec) / 1000);
}

/* "G", with the working folder and whichever of stdin, stdout and stderr are open. */
static int send_go(int server, int here, int open_ones, const struct timespec *begun) {
    char go[6] = "G";
    int given[4] = {here}, count = 1;
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof given)];
    } control;
    struct iovec piece = {go, sizeof go};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control};
    put_number(go + 1, microseconds_since(begun));
    go[5] = (char)open_ones;
    for (int number = 0; number < 3; number++)
        if (open_ones >> number & 1)
            given[count++] = number;
    memset(&control, 0, sizeof control);
    message.msg_controllen = CMSG_SPACE((size_t)count * sizeof *given);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN((size_t)count * sizeof *given);
    memcpy(CMSG_DATA(&control.header), given, (size_t)count * sizeof *given);
    return sendmsg(server, &message, MSG_NOSIGNAL) == (ssize_t)sizeof go;
}

/* A bit for each of stdin, stdout and stderr that this process was given; checked before anything else is opened. */
static int open_at_start(void) {
    int found = 0;
    for (int number = 0; number < 3; number++)
        found |= (fcntl(number, F_GETFD) >= 0) << number;
    return found;
}

static int be_patient(int server, long seconds) {
    struct timeval limit = {seconds, 0};
    return !setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) &&
           !setsockopt(server, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/* The exit code of an answered event; -1 if the command has to be run. */
static int exchanged(int server, int here, int open_ones, const struct request *request, const struct timespec *begun) {
    char ready[5], writing[1], done[2];
    if (!sent(server, request->data, request->size) || !received(server, ready, sizeof ready) || ready[0] != 'R')
        return -1;
    /* From here on, the other side enforces the deadline, with the same code. */
    if (!be_patient(server, 0) || !send_go(server, here, open_ones, begun) || !received(server, writing, 1) || writing[0] != 'W')
        return -1;
    /* An answer may be on its way, and nothing may follow it: whatever happens now, the command is not run. */
    return received(server, done, sizeof done) && done[0] == 'X' ? (unsigned char)done[1] : KILLED;
}

/* ---- the server */

/* Whether the listening process is this user's, and the interpreter of the command. */
static int is_ours(int server, const char *python) {
#ifdef __linux__
    struct ucred peer;
    socklen_t size = sizeof peer;
    char path[64];
    struct stat theirs, ours;
    if (getsockopt(server, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.uid != geteuid())
        return 0;
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)peer.pid);
    return !stat(path, &theirs) && !stat(python, &ours) && theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
#else
    uid_t uid;
    gid_t gid;
    (void)python;
    return !getpeereid(server, &uid, &gid) && uid == geteuid();
#endif
}

/* Whether it is time to start a server: it was not tried a moment ago, and no server has refused. */
static int may_start(int folder, const char *key) {
    char name[32];
    struct stat status;
    time_t now = time(NULL);
    struct timespec times[2] = {{now + PAUSE, 0}, {now + PAUSE, 0}};
    snprintf(name, sizeof name, "%s.wait", key);
    int file = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    return file >= 0 && !fstat(file, &status) && status.st_mtime <= now && !futimens(file, times);
}

/* Start the server for the next event: a detached process, without our open files, which an agent waits for. */
static void start(char **words, char *key) {
    char *command[] = {words[0], words[1], words[2], words[3], "--serve", key, words[POLICY], NULL};
    pid_t child = fork();
    if (child) {
        if (child > 0) /* the command must not find our child process when it waits for its own */
            waitpid(child, NULL, 0);
        return;
    }
    setsid();
    int nowhere = open("/dev/null", O_RDWR);
    for (int number = 0; number < 3; number++)
        dup2(nowhere, number);
    if (fork() == 0)
        execv(words[0], command);
    _exit(0);
}

/* A connection to the server. -1 if there is none; then a server is started for the next event. */
static int connected(char **words, char *key, int here) {
    char path[4096];
    struct stat status;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!folder_of(path, sizeof path))
        return -1;
    int folder = open(path, FOLDER_FLAGS);
    if (folder < 0 && errno == ENOENT && !mkdir(path, 0700))
        folder = open(path, FOLDER_FLAGS);
    if (folder < 0 || fstat(folder, &status) || status.st_uid != geteuid() || status.st_mode & 077)
        return -1;
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (server < 0 || fcntl(server, F_SETFD, FD_CLOEXEC) || !be_patient(server, PATIENCE))
        return -1;
    snprintf(address.sun_path, sizeof address.sun_path, "%s.sock", key);
    if (fchdir(folder)) /* a path to a socket can have no more than about 100 bytes */
        return -1;
    int failed = connect(server, (struct sockaddr *)&address, sizeof address) ? errno : 0;
    if (fchdir(here)) {
        fprintf(stderr, "onehook-client: the working folder cannot be entered again: %s\n", strerror(errno));
        _exit(2); /* nothing may be decided in another folder, and no agent treats this as an approval */
    }
    if ((failed == ENOENT || failed == ECONNREFUSED) && may_start(folder, key))
        start(words, key);
    return failed || !is_ours(server, words[0]) ? -1 : server;
}

int main(int argc, char **argv) {
    struct timespec begun;
    static struct request request; /* never freed: this process ends or becomes another one */
    char key[17];
    char **words = argv + 1;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    int open_ones = open_at_start();
    int here = open(".", O_RDONLY | O_CLOEXEC);
    if (argc > 1 + POLICY && here >= 0 && key_of(words, key, sizeof key) && make_request(words, (uint32_t)(argc - 1), &request)) {
        int server = connected(words, key, here);
        int exit_code = server < 0 ? -1 : exchanged(server, here, open_ones, &request, &begun);
        if (exit_code >= 0)
            return exit_code;
    }
    if (argc > 1)
        execv(words[0], words);
    fprintf(stderr, "onehook-client: %s: %s\n", argc > 1 ? words[0] : "no command given", strerror(errno));
    return errno == ENOENT ? 127 : 126; /* as the shell would report for the command, for what install writes after it */
}
