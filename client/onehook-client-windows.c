/* The client of resident mode on Windows: pass an event to a warm process of a command, or run the command.
 *
 *     onehook-client.exe PYTHON -I -S LAUNCHER POLICY [OPTIONS]
 *
 * What follows the first word is the command without resident mode, which is run whenever there is any doubt. So this program has no
 * configuration, decides nothing, and never reads stdin: the process that answers gets stdin, stdout and stderr themselves, once it has
 * reported that it is ready. src/onehook/resident/windows.py is the other side, and describes what is sent.
 *
 * One file, no library except kernel32 and advapi32, and no C runtime, which would have to be loaded for every event.
 */
#define WIN32_LEAN_AND_MEAN
#define _WIN32_WINNT 0x0602
#include <stdint.h>
#include <windows.h>

#define PATIENCE 1000  /* milliseconds until the server has to report that it is ready */
#define PAUSE 10       /* seconds before a server that cannot be reached is started again */
#define KILLED 137     /* as on other systems, where a shell reports this for a command that was killed */
#define BLOCKED 2      /* what agents treat as a denial */
#define POLICY 4       /* its place among the words of the command */
#define MAX_WORDS 64
#define MAX_REQUEST (8u << 20)
#define LONG_PATH 4096
#define SECOND 10000000ull /* in the units of a FILETIME */

typedef const wchar_t *text;

static struct {
    text start, end;  /* its position in the command line */
    wchar_t *value;   /* without its quotes */
} words[MAX_WORDS];
static int count;

/* ---- strings. The compiler may generate calls of the first two. */

void *memset(void *at, int value, size_t size) {
    for (volatile char *byte = at; size--; byte++)
        *byte = (char)value;
    return at;
}

void *memcpy(void *to, const void *from, size_t size) {
    volatile char *target = to;
    for (const char *byte = from; size--; byte++)
        *target++ = *byte;
    return to;
}

static size_t length(text it) {
    size_t size = 0;
    while (it[size])
        size++;
    return size;
}

static int is_same(text one, text other) {
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

/* Append to a string in a buffer of this size; if it does not fit, the string becomes empty. */
static void append(wchar_t *to, size_t size, text from, size_t more) {
    size_t at = length(to);
    if (at + more >= size) {
        to[0] = 0;
        return;
    }
    memcpy(to + at, from, more * sizeof *to);
    to[at + more] = 0;
}

static int is_absolute(text path) {
    return (path[0] == '\\' && path[1] == '\\') || (path[0] && path[1] == ':' && (path[2] == '\\' || path[2] == '/'));
}

static void *allocated(size_t size) {
    return HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, size);
}

/* ---- the command line, which is never quoted again */

static int is_blank(wchar_t it) {
    return it == ' ' || it == '\t';
}

/* What follows the name of this program. */
static text after_first(text line) {
    for (int quoted = 0; *line && (quoted || !is_blank(*line)); line++)
        quoted ^= *line == '"';
    while (is_blank(*line))
        line++;
    return line;
}

/* Split the words as the C runtime of the interpreter does. False if there are too many. */
static int split(text line) {
    wchar_t *out = allocated((length(line) + MAX_WORDS + 1) * sizeof *out);
    if (!out)
        return 0;
    for (count = 0; *line; count++) {
        if (count == MAX_WORDS)
            return 0;
        words[count].start = line;
        words[count].value = out;
        for (int quoted = 0;; line++) {
            size_t slashes = 0;
            int copied = 1;
            for (; *line == '\\'; line++)
                slashes++;
            if (*line == '"') {
                if (slashes % 2 == 0) {
                    if (quoted && line[1] == '"')
                        line++;
                    else {
                        copied = 0;
                        quoted = !quoted;
                    }
                }
                slashes /= 2;
            }
            while (slashes--)
                *out++ = '\\';
            if (!*line || (!quoted && is_blank(*line)))
                break;
            if (copied)
                *out++ = *line;
        }
        words[count].end = line;
        *out++ = 0;
        while (is_blank(*line))
            line++;
    }
    return 1;
}

/* ---- names */

/* Where the servers store the names of their pipes: in the state folder, which self_protect guards. False if it is not known. */
static int folder_of(wchar_t *path) {
    DWORD size = GetEnvironmentVariableW(L"ONEHOOK_STATE_DIR", path, LONG_PATH);
    if (!size) {
        size = GetEnvironmentVariableW(L"LOCALAPPDATA", path, LONG_PATH);
        if (size && size < LONG_PATH)
            append(path, LONG_PATH, L"\\onehook", 8);
    }
    if (!size || size >= LONG_PATH)
        return 0;
    append(path, LONG_PATH, L"\\resident", 9);
    return is_absolute(path);
}

static void hash(uint64_t *number, text part, int first) {
    for (int at = first ? 0 : -1; at < 0 || part[at]; at++) { /* a zero between two parts */
        uint16_t unit = at < 0 ? 0 : part[at];
        *number = (*number ^ (unit & 0xFF)) * 0x100000001B3u;
        *number = (*number ^ (unit >> 8)) * 0x100000001B3u;
    }
}

/* The name of the server for a command: its interpreter, launcher and policy, and what an interpreter reads when it starts. */
static void key_of(text cwd, wchar_t *key) {
    static wchar_t clock[256];
    uint64_t number = 0xCBF29CE484222325u; /* FNV-1a */
    for (int index = 0; index <= POLICY; index++)
        hash(&number, words[index].value, index == 0);
    hash(&number, is_absolute(words[POLICY].value) ? L"" : cwd, 0);
    if (GetEnvironmentVariableW(L"TZ", clock, 256) >= 256)
        clock[0] = 0;
    hash(&number, clock, 0);
    for (int index = 0; index < 16; index++)
        key[index] = L"0123456789abcdef"[number >> (60 - 4 * index) & 15];
    key[16] = 0;
}

static void path_of(wchar_t *path, text folder, text key, text suffix) {
    path[0] = 0;
    append(path, LONG_PATH, folder, length(folder));
    append(path, LONG_PATH, L"\\", 1);
    append(path, LONG_PATH, key, length(key));
    append(path, LONG_PATH, suffix, length(suffix));
}

/* Read a small file as bytes; returns how many. */
static DWORD content_of(text path, char *data, DWORD size) {
    DWORD got = 0;
    HANDLE file = CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return 0;
    if (!ReadFile(file, data, size, &got, NULL))
        got = 0;
    CloseHandle(file);
    return got;
}

/* The name of the pipe, which the server has chosen. */
static int pipe_of(text folder, text key, wchar_t *name) {
    static wchar_t path[LONG_PATH];
    char data[64];
    DWORD size;
    path_of(path, folder, key, L".pipe");
    size = content_of(path, data, sizeof data);
    if (!size || size == sizeof data)
        return 0;
    name[0] = 0;
    append(name, 128, L"\\\\.\\pipe\\", 9);
    for (DWORD at = 0; at < size; at++) {
        wchar_t letter = (unsigned char)data[at];
        if (!((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-'))
            return 0;
        append(name, 128, &letter, 1);
    }
    return 1;
}

/* ---- whom to trust */

static int same_file(text one, text other) {
    BY_HANDLE_FILE_INFORMATION found[2];
    text paths[2] = {one, other};
    for (int index = 0; index < 2; index++) {
        HANDLE file = CreateFileW(paths[index], FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                  OPEN_EXISTING, 0, NULL);
        int known = file != INVALID_HANDLE_VALUE && GetFileInformationByHandle(file, &found[index]);
        if (file != INVALID_HANDLE_VALUE)
            CloseHandle(file);
        if (!known)
            return 0;
    }
    return found[0].dwVolumeSerialNumber == found[1].dwVolumeSerialNumber && found[0].nFileIndexHigh == found[1].nFileIndexHigh &&
           found[0].nFileIndexLow == found[1].nFileIndexLow;
}

/* The program of a virtual environment only starts the one in the folder that "home" in pyvenv.cfg names. False if this is not one. */
static int base_of(text python, wchar_t *base) {
    static char data[LONG_PATH];
    size_t name = length(python), folder;
    DWORD size = 0;
    while (name && python[name - 1] != '\\' && python[name - 1] != '/')
        name--;
    for (int up = 0; up < 2 && !size; up++) { /* next to it, or next to its folder */
        for (folder = name; up && folder > 1 && python[folder - 2] != '\\' && python[folder - 2] != '/';)
            folder--;
        if (up && folder)
            folder--;
        base[0] = 0;
        append(base, LONG_PATH, python, folder);
        append(base, LONG_PATH, L"pyvenv.cfg", 10);
        size = content_of(base, data, sizeof data - 1);
    }
    data[size] = 0;
    for (char *line = data; *line; line++) {
        if ((line == data || line[-1] == '\n') && line[0] == 'h' && line[1] == 'o' && line[2] == 'm' && line[3] == 'e') {
            for (line += 4; *line == ' ' || *line == '='; line++)
                ;
            int end = 0;
            while (line[end] && line[end] != '\r' && line[end] != '\n')
                end++;
            int got = MultiByteToWideChar(CP_UTF8, 0, line, end, base, LONG_PATH - 1);
            base[got] = 0;
            append(base, LONG_PATH, L"\\", 1);
            append(base, LONG_PATH, python + name, length(python + name));
            return got > 0;
        }
    }
    return 0;
}

static int same_user(HANDLE process) {
    union {
        TOKEN_USER user;
        char space[256];
    } users[2];
    DWORD elevated[2];
    HANDLE processes[2] = {GetCurrentProcess(), process};
    for (int index = 0; index < 2; index++) {
        HANDLE token;
        DWORD size;
        if (!OpenProcessToken(processes[index], TOKEN_QUERY, &token))
            return 0;
        int known = GetTokenInformation(token, TokenUser, &users[index], sizeof users[index], &size) &&
                    GetTokenInformation(token, TokenElevation, &elevated[index], sizeof elevated[index], &size);
        CloseHandle(token);
        if (!known)
            return 0;
    }
    return EqualSid(users[0].user.User.Sid, users[1].user.User.Sid) && elevated[0] == elevated[1];
}

/* The process at the other end of a pipe; NULL unless it is this user's, and the interpreter of the command. */
static HANDLE server_of(HANDLE pipe) {
    static wchar_t theirs[LONG_PATH], base[LONG_PATH];
    ULONG pid;
    DWORD size = LONG_PATH;
    text python = words[0].value;
    if (!GetNamedPipeServerProcessId(pipe, &pid))
        return NULL;
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_DUP_HANDLE, FALSE, pid);
    if (!process || !same_user(process) || !QueryFullProcessImageNameW(process, 0, theirs, &size))
        return NULL;
    return same_file(theirs, base_of(python, base) ? base : python) ? process : NULL;
}

/* ---- the exchange */

/* Send or receive all of it, until this time (0: as long as the other side lives). */
static int moved(HANDLE pipe, int sends, void *data, DWORD size, ULONGLONG until) {
    char *at = data;
    while (size) {
        OVERLAPPED work = {.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL)};
        DWORD done = 0, limit = INFINITE;
        if (until) {
            ULONGLONG now = GetTickCount64();
            limit = now < until ? (DWORD)(until - now) : 0;
        }
        BOOL begun = sends ? WriteFile(pipe, at, size, NULL, &work) : ReadFile(pipe, at, size, NULL, &work);
        if (!begun && GetLastError() != ERROR_IO_PENDING)
            return 0;
        if (WaitForSingleObject(work.hEvent, limit) != WAIT_OBJECT_0) {
            CancelIo(pipe);
            GetOverlappedResult(pipe, &work, &done, TRUE);
            return 0;
        }
        if (!GetOverlappedResult(pipe, &work, &done, FALSE) || !done)
            return 0;
        CloseHandle(work.hEvent);
        at += done;
        size -= done;
    }
    return 1;
}

static void put_number(char *at, uint64_t number, int size) {
    for (int index = 0; index < size; index++)
        at[index] = (char)(number >> (8 * index));
}

/* The words, the folder and the variables, each followed by a zero. Returns the size, 0 if there is not enough memory. */
static DWORD make_request(text cwd, char **made) {
    wchar_t *variables = GetEnvironmentStringsW(), *end = variables;
    size_t size = (length(cwd) + 1) * sizeof *cwd;
    if (!variables)
        return 0;
    while (*end)
        end += length(end) + 1;
    for (int index = 0; index < count; index++)
        size += (length(words[index].value) + 1) * sizeof *cwd;
    size += (size_t)(end - variables) * sizeof *cwd;
    if (size > MAX_REQUEST || !(*made = allocated(12 + size)))
        return 0;
    memcpy(*made, "OHW1", 4);
    put_number(*made + 4, size, 4);
    put_number(*made + 8, (uint64_t)count, 4);
    char *at = *made + 12;
    for (int index = 0; index <= count; index++) {
        text part = index < count ? words[index].value : cwd;
        size_t bytes = (length(part) + 1) * sizeof *part;
        memcpy(at, part, bytes);
        at += bytes;
    }
    memcpy(at, variables, (size_t)(end - variables) * sizeof *cwd);
    return (DWORD)(12 + size);
}

static const DWORD standard[3] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};

static HANDLE given(int number) {
    HANDLE handle = GetStdHandle(standard[number]);
    return handle == INVALID_HANDLE_VALUE ? NULL : handle;
}

/* A console belongs to the processes that are attached to it, so what a person types goes to the command. */
static int has_console(void) {
    DWORD mode;
    for (int number = 0; number < 3; number++)
        if (given(number) && GetConsoleMode(given(number), &mode))
            return 1;
    return 0;
}

/* The exit code of an answered event; -1 if the command has to be run, -2 if the answer was cut off. */
static int exchanged(HANDLE pipe, HANDLE process, char *request, DWORD size, ULONGLONG until, const LARGE_INTEGER *begun) {
    char ready[5], go[29] = "G", writing[1], done[2];
    LARGE_INTEGER now, rate;
    if (!moved(pipe, 1, request, size, until) || !moved(pipe, 0, ready, sizeof ready, until) || ready[0] != 'R')
        return -1;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&rate);
    put_number(go + 1, (uint64_t)((now.QuadPart - begun->QuadPart) * 1000000 / rate.QuadPart), 4);
    for (int number = 0; number < 3; number++) {
        HANDLE theirs = NULL;
        if (given(number) && !DuplicateHandle(GetCurrentProcess(), given(number), process, &theirs, 0, FALSE, DUPLICATE_SAME_ACCESS))
            return -1;
        put_number(go + 5 + 8 * number, (uint64_t)(uintptr_t)theirs, 8);
    }
    /* From here on, the other side enforces the deadline, with the same code. */
    if (!moved(pipe, 1, go, sizeof go, 0) || !moved(pipe, 0, writing, 1, 0) || writing[0] != 'W')
        return -1;
    /* An answer may be on its way, and nothing may follow it: whatever happens now, the command is not run. */
    return moved(pipe, 0, done, sizeof done, 0) && done[0] == 'X' ? (unsigned char)done[1] : -2;
}

/* ---- the server */

/* Whether it is time to start a server: it was not tried a moment ago, and no server has refused. */
static int may_start(text folder, text key) {
    static wchar_t path[LONG_PATH];
    FILETIME now, written;
    ULARGE_INTEGER ours, theirs;
    int may = 0;
    CreateDirectoryW(folder, NULL);
    path_of(path, folder, key, L".wait");
    HANDLE file = CreateFileW(path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_ALWAYS,
                              0, NULL);
    int is_new = GetLastError() != ERROR_ALREADY_EXISTS;
    if (file == INVALID_HANDLE_VALUE)
        return 0;
    GetSystemTimeAsFileTime(&now);
    ours.LowPart = now.dwLowDateTime, ours.HighPart = now.dwHighDateTime;
    if (GetFileTime(file, NULL, NULL, &written)) {
        theirs.LowPart = written.dwLowDateTime, theirs.HighPart = written.dwHighDateTime;
        ours.QuadPart += PAUSE * SECOND;
        now.dwLowDateTime = ours.LowPart, now.dwHighDateTime = ours.HighPart;
        may = (is_new || theirs.QuadPart <= ours.QuadPart - PAUSE * SECOND) && SetFileTime(file, NULL, NULL, &now);
    }
    CloseHandle(file);
    return may;
}

/* Start the server for the next event: without a window, and without our open handles, which an agent waits for. */
static void start(text key) {
    STARTUPINFOW how = {.cb = sizeof how, .dwFlags = STARTF_USESTDHANDLES}; /* none, since otherwise it might get ours */
    PROCESS_INFORMATION made;
    size_t size = (size_t)(words[POLICY].end - words[0].start) + 64;
    wchar_t *line = allocated(size * sizeof *line);
    if (!line)
        return;
    append(line, size, words[0].start, (size_t)(words[POLICY - 1].end - words[0].start));
    append(line, size, L" --serve ", 9);
    append(line, size, key, length(key));
    append(line, size, L" ", 1);
    append(line, size, words[POLICY].start, (size_t)(words[POLICY].end - words[POLICY].start));
    /* It should outlive the job that an agent may have put us into, if that is allowed. */
    if (!CreateProcessW(NULL, line, NULL, NULL, FALSE, CREATE_NO_WINDOW | CREATE_BREAKAWAY_FROM_JOB, NULL, NULL, &how, &made))
        CreateProcessW(NULL, line, NULL, NULL, FALSE, CREATE_NO_WINDOW, NULL, NULL, &how, &made);
}

/* A connection to the server. NULL if there is none; then a server is started for the next event. */
static HANDLE connected(text key, ULONGLONG until) {
    static wchar_t folder[LONG_PATH], name[128];
    DWORD problem = ERROR_FILE_NOT_FOUND;
    if (!folder_of(folder))
        return NULL;
    while (pipe_of(folder, key, name)) {
        HANDLE pipe = CreateFileW(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
                                  FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, NULL);
        if (pipe != INVALID_HANDLE_VALUE)
            return pipe;
        problem = GetLastError();
        ULONGLONG now = GetTickCount64();
        if (problem != ERROR_PIPE_BUSY || now >= until || !WaitNamedPipeW(name, (DWORD)(until - now)))
            break;
    }
    if (problem == ERROR_FILE_NOT_FOUND && may_start(folder, key))
        start(key);
    return NULL;
}

static int answered(const LARGE_INTEGER *begun) {
    static wchar_t cwd[1 << 15], key[17];
    ULONGLONG until = GetTickCount64() + PATIENCE;
    DWORD size = GetCurrentDirectoryW(1 << 15, cwd);
    char *request;
    if (!size || size >= 1 << 15 || has_console())
        return -1;
    key_of(cwd, key);
    HANDLE pipe = connected(key, until);
    HANDLE process = pipe ? server_of(pipe) : NULL;
    int exit_code = process && (size = make_request(cwd, &request)) ? exchanged(pipe, process, request, size, until, begun) : -1;
    if (pipe)
        CloseHandle(pipe);
    return exit_code;
}

/* ---- the command */

/* Whether a failure has to stop what the agent is about to do. On Windows, install writes nothing after a command that would do so. */
static int fails_closed(void) {
    static text const stoppable[] = {
        L"", L"PreToolUse", L"PermissionRequest", L"UserPromptSubmit", L"UserPromptExpansion", L"PostToolBatch", L"PreCompact",
        L"TaskCreated", L"ConfigChange", L"PreModelSwitch", L"Elicitation", L"ElicitationResult", L"SubagentStart", L"BeforeModel",
        L"TodoCreated", L"TodoCompleted",
    }; /* as in launch.py */
    text event = L"";
    int closed = 0, stops = 0;
    for (int index = 0; index + 1 < count; index++) {
        if (is_same(words[index].value, L"--fail"))
            closed = is_same(words[index + 1].value, L"closed");
        if (is_same(words[index].value, L"--event"))
            event = words[index + 1].value;
    }
    for (size_t index = 0; index < sizeof stoppable / sizeof *stoppable; index++)
        stops |= is_same(event, stoppable[index]);
    return closed && stops;
}

static void say(text what) {
    static char data[3 * LONG_PATH];
    DWORD written;
    int size = WideCharToMultiByte(CP_UTF8, 0, what, -1, data, sizeof data, NULL, NULL);
    if (size > 1 && given(2))
        WriteFile(given(2), data, (DWORD)size - 1, &written, NULL);
}

static int failed(text problem, text what, int exit_code) {
    say(L"onehook-client: ");
    say(problem);
    say(what);
    say(fails_closed() ? L" (blocked: fail=closed)\n" : L"\n");
    return fails_closed() ? BLOCKED : exit_code;
}

static BOOL WINAPI ignored(DWORD kind) {
    return kind == CTRL_C_EVENT || kind == CTRL_BREAK_EVENT; /* the command gets it too, and we end with it */
}

/* Run the command exactly as it is in our command line. It ends with us if we are ended. */
static int run(text line) {
    STARTUPINFOW how = {.cb = sizeof how, .dwFlags = STARTF_USESTDHANDLES, .hStdInput = given(0), .hStdOutput = given(1), .hStdError = given(2)};
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {
        .BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK};
    PROCESS_INFORMATION made;
    DWORD exit_code = 1;
    size_t size = length(line) + 1;
    wchar_t *own = allocated(size * sizeof *own); /* the system writes to it */
    if (!own || size == 1)
        return failed(L"no command given", L"", 126);
    append(own, size, line, size - 1);
    for (int number = 0; number < 3; number++)
        if (given(number))
            SetHandleInformation(given(number), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    SetConsoleCtrlHandler(ignored, TRUE);
    if (!CreateProcessW(NULL, own, NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL, &how, &made)) {
        int missing = GetLastError() == ERROR_FILE_NOT_FOUND || GetLastError() == ERROR_PATH_NOT_FOUND;
        return failed(L"cannot be started: ", count ? words[0].value : line, missing ? 127 : 126);
    }
    HANDLE job = CreateJobObjectW(NULL, NULL);
    if (job && SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits))
        AssignProcessToJobObject(job, made.hProcess);
    ResumeThread(made.hThread);
    WaitForSingleObject(made.hProcess, INFINITE);
    GetExitCodeProcess(made.hProcess, &exit_code);
    return (int)exit_code;
}

void entry(void) {
    LARGE_INTEGER begun;
    QueryPerformanceCounter(&begun);
    text line = after_first(GetCommandLineW());
    int exit_code = split(line) && count > POLICY ? answered(&begun) : -1;
    if (exit_code == -1)
        exit_code = run(line);
    else if (exit_code < 0)
        exit_code = failed(L"the process that answers has ended before its answer was complete", L"", KILLED);
    ExitProcess((UINT)exit_code);
}
