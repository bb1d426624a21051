/* Makes system calls of a program fail, by count: preloaded by scripts/faults/run (LD_PRELOAD).
 *
 *   FAULTS_UNDER  a path: calls on it and on what is below it are counted, and no others
 *   FAULTS_KIND   the kind of call to count, or `any`
 *   FAULTS_AT     the number of the call that meets the fault, from 1; 0 for none
 *   FAULTS_DO     what happens then:
 *                   errno:E  it fails with this number      errno+:E  so do all of the kind that follow
 *                   short    it does half of its bytes      eof       it reads nothing
 *                   kill     SIGKILL instead of the call    killed    SIGKILL after it
 *                   stop     SIGSTOP before it              signal:S  a signal before it   signals:S  and SIGTERM after S
 *                 With `plain-` before it, the system knows no renameat2 all the time.
 *   FAULTS_LOG    a file for a line of each counted call: number, kind, path, `!` where the fault was met
 *
 * A seccomp filter hands every call of interest to a handler of SIGSYS, which counts it and makes it in the name of the
 * program. So calls are seen whether or not they pass through the C library.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <time.h>
#include <unistd.h>

/* The one place whose calls the filter lets through. */
long faults_call(long number, const long *arguments);
extern const char faults_called[];

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
__asm__(".text\n.hidden faults_call\n.hidden faults_called\n.globl faults_call\n.globl faults_called\n"
        "faults_call:\n  mov %rdi, %rax\n  mov %rsi, %r11\n  mov (%r11), %rdi\n  mov 8(%r11), %rsi\n"
        "  mov 16(%r11), %rdx\n  mov 24(%r11), %r10\n  mov 32(%r11), %r8\n  mov 40(%r11), %r9\n  syscall\n"
        "faults_called:\n  ret\n");
#define NUMBER(c) ((c)->uc_mcontext.gregs[REG_RAX])
#define RESULT(c) ((c)->uc_mcontext.gregs[REG_RAX])
static void arguments_of(const ucontext_t *c, long *a) {
  const greg_t *r = c->uc_mcontext.gregs;
  a[0] = r[REG_RDI], a[1] = r[REG_RSI], a[2] = r[REG_RDX], a[3] = r[REG_R10], a[4] = r[REG_R8], a[5] = r[REG_R9];
}
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
__asm__(".text\n.hidden faults_call\n.hidden faults_called\n.globl faults_call\n.globl faults_called\n"
        "faults_call:\n  mov x8, x0\n  mov x9, x1\n  ldp x0, x1, [x9]\n  ldp x2, x3, [x9, #16]\n"
        "  ldp x4, x5, [x9, #32]\n  svc #0\nfaults_called:\n  ret\n");
#define NUMBER(c) ((c)->uc_mcontext.regs[8])
#define RESULT(c) ((c)->uc_mcontext.regs[0])
static void arguments_of(const ucontext_t *c, long *a) {
  for (int i = 0; i < 6; i++) a[i] = (long)c->uc_mcontext.regs[i];
}
#else
#error "no list of registers for this processor"
#endif

/* Where a call names what it is about: an argument that is a descriptor, one that is a path, one that is a length. */
struct call {
  int number;
  const char *kind;
  signed char descriptor, path, length;
};

static const struct call CALLS[] = {
    {SYS_write, "write", 0, -1, 2},       {SYS_pwrite64, "write", 0, -1, 2}, {SYS_writev, "write", 0, -1, -1},
    {SYS_read, "read", 0, -1, 2},         {SYS_pread64, "read", 0, -1, 2},   {SYS_fsync, "fsync", 0, -1, -1},
    {SYS_fdatasync, "fsync", 0, -1, -1},  {SYS_flock, "flock", 0, -1, -1},   {SYS_ftruncate, "truncate", 0, -1, -1},
    {SYS_mmap, "mmap", 4, -1, -1},        {SYS_openat, "open", 0, 1, -1},    {SYS_mkdirat, "mkdir", 0, 1, -1},
    {SYS_unlinkat, "unlink", 0, 1, -1},   {SYS_linkat, "link", 2, 3, -1},    {SYS_renameat2, "rename", 2, 3, -1},
    {SYS_renameat, "rename", 2, 3, -1},   {SYS_statx, "stat", 0, 1, -1},     {SYS_getdents64, "list", 0, -1, -1},
#ifdef SYS_open
    {SYS_open, "open", -1, 0, -1},        {SYS_creat, "create", -1, 0, -1},  {SYS_mkdir, "mkdir", -1, 0, -1},
    {SYS_unlink, "unlink", -1, 0, -1},    {SYS_rmdir, "rmdir", -1, 0, -1},   {SYS_rename, "rename", -1, 1, -1},
    {SYS_link, "link", -1, 1, -1},        {SYS_newfstatat, "stat", 0, 1, -1},
#endif
};
#define COUNT (sizeof CALLS / sizeof *CALLS)

static const char *under, *wanted, *action;
static size_t under_length;
static long at;
static int log_descriptor = -1;
static int is_plain;
static atomic_long calls;

static long call(long number, long a, long b, long c, long d) {
  const long arguments[6] = {a, b, c, d, 0, 0};
  return faults_call(number, arguments);
}

/* The path that a descriptor was opened by; empty where there is none. */
static void opened_as(long descriptor, char *path, size_t size) {
  char link[64];
  const char *own = descriptor == AT_FDCWD ? "/proc/self/cwd" : link;
  snprintf(link, sizeof link, "/proc/self/fd/%ld", descriptor);
  long length = call(SYS_readlinkat, AT_FDCWD, (long)own, (long)path, (long)size - 1);
  path[length > 0 ? length : 0] = 0;
}

static void path_of(const struct call *what, const long *a, char *path, size_t size) {
  const char *name = what->path < 0 ? NULL : (const char *)a[(int)what->path];
  path[0] = 0;
  if (name && name[0] == '/') {
    snprintf(path, size, "%s", name);
    return;
  }
  opened_as(what->descriptor < 0 ? AT_FDCWD : (int)a[(int)what->descriptor], path, size);
  size_t length = strlen(path);
  if (name && name[0]) snprintf(path + length, size - length, "/%s", name);
}

static int is_under(const char *path) {
  return !strncmp(path, under, under_length) && (path[under_length] == '/' || path[under_length] == 0);
}

static const char *kind_of(const struct call *what, const long *a) {
  if (what->number == SYS_unlinkat && (a[2] & AT_REMOVEDIR)) return "rmdir";
  const long flags = what->number == SYS_openat ? a[2] : 0;
#ifdef SYS_open
  if (what->number == SYS_open && (a[1] & O_CREAT)) return "create";
#endif
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? "create" : what->kind;
}

static void note(long number, const char *kind, const char *path, int is_met) {
  char line[5000];
  int length = snprintf(line, sizeof line, "%ld %s %s%s\n", number, kind, path, is_met ? " !" : "");
  if (log_descriptor >= 0) call(SYS_write, log_descriptor, (long)line, length, 0);
}

static void send(int signal) { call(SYS_kill, getpid(), signal, 0, 0); }

/* Long enough for the thread that waits for signals. */
static void wait_a_little(void) {
  const struct timespec time = {0, 5000000};
  call(SYS_nanosleep, (long)&time, 0, 0, 0);
}

static long with_fault(const struct call *what, long *a) {
  if (!strncmp(action, "errno", 5)) return -atol(strchr(action, ':') + 1);
  if (!strcmp(action, "eof")) return 0;
  if (!strcmp(action, "kill")) send(SIGKILL);
  /* To this thread, which otherwise might go on for a moment. */
  if (!strcmp(action, "stop")) call(SYS_tgkill, getpid(), call(SYS_gettid, 0, 0, 0, 0), SIGSTOP, 0);
  if (!strncmp(action, "signal", 6)) {
    send(atoi(strchr(action, ':') + 1));
    wait_a_little();
    if (action[6] == 's') send(SIGTERM), wait_a_little();
  }
  if (!strcmp(action, "short") && what->length >= 0 && a[(int)what->length] > 1) a[(int)what->length] /= 2;
  long result = faults_call(what->number, a);
  if (!strcmp(action, "killed")) send(SIGKILL);
  return result;
}

static long made(const struct call *what, long *a) {
  char path[4200];
  path_of(what, a, path, sizeof path);
  const char *kind = kind_of(what, a);
  if (!is_under(path) || (strcmp(wanted, "any") && strcmp(wanted, kind))) return faults_call(what->number, a);
  if (is_plain && what->number == SYS_renameat2) return -ENOSYS;
  const long number = atomic_fetch_add(&calls, 1) + 1;
  const int is_met = at && (number == at || (number > at && !strncmp(action, "errno+", 6)));
  note(number, kind, path, is_met);
  return is_met ? with_fault(what, a) : faults_call(what->number, a);
}

static void on_call(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  ucontext_t *c = context;
  long a[6];
  arguments_of(c, a);
  const long number = (long)NUMBER(c);
  for (size_t i = 0; i < COUNT; i++) {
    if (CALLS[i].number == number) {
      RESULT(c) = made(&CALLS[i], a);
      return;
    }
  }
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))

static int install(void) {
  struct sock_filter filter[COUNT + 16];
  size_t n = 0;
  const uint64_t let = (uint64_t)(uintptr_t)faults_called;
  filter[n++] = (struct sock_filter)LOAD(arch);
  filter[n++] = (struct sock_filter)EQUAL(ARCHITECTURE, 1, 0);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[n++] = (struct sock_filter)LOAD(nr);
  for (size_t i = 0; i < COUNT; i++) filter[n++] = (struct sock_filter)EQUAL(CALLS[i].number, COUNT - i, 0);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  /* Memory that no file stands behind is of no interest. */
  filter[n++] = (struct sock_filter)EQUAL(SYS_mmap, 0, 2);
  filter[n++] = (struct sock_filter)LOAD(args[4]);
  filter[n++] = (struct sock_filter)EQUAL(0xFFFFFFFF, 4, 0);
  filter[n++] = (struct sock_filter)LOAD(instruction_pointer);
  filter[n++] = (struct sock_filter)EQUAL((uint32_t)let, 0, 3);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4);
  filter[n++] = (struct sock_filter)EQUAL((uint32_t)(let >> 32), 0, 1);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  const struct sock_fprog program = {(unsigned short)n, filter};
  struct sigaction handler = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
  return sigaction(SIGSYS, &handler, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

__attribute__((constructor)) static void begin(void) {
  const char *number = getenv("FAULTS_AT"), *log = getenv("FAULTS_LOG");
  under = getenv("FAULTS_UNDER"), wanted = getenv("FAULTS_KIND"), action = getenv("FAULTS_DO");
  if (!under || !number || !wanted || !action) return;
  under_length = strlen(under);
  is_plain = !strncmp(action, "plain-", 6);
  action += is_plain ? 6 : 0;
  at = atol(number);
  if (log) {
    const int opened = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    /* Out of the way of the descriptors of the program. */
    log_descriptor = fcntl(opened, F_DUPFD_CLOEXEC, 500);
    close(opened);
  }
  if (install()) {
    perror("faults_shim: seccomp");
    _exit(99);
  }
}
