/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of functions of libc: each row is a valid specification, and matches the declarations
 * in the headers and the exports of the library.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <ifaddrs.h>
#include <link.h>
#include <malloc.h>
#include <mqueue.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <pwd.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/swap.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <syslog.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "model/calls/libc-functions.h"
#include "model/calls/call-sets.h"
#include "base/cleanup.h"
#include "capture/options/call-spec.h"
#include "tests/support/unit.h"

/* ---- the headers ---- */

/* The kind of a C type for a probe. */
enum kind {
	KIND_NONE, /* (after the last argument) */
	KIND_VOID,
	KIND_INT32,
	KIND_UINT32,
	KIND_INT64,
	KIND_UINT64,
	KIND_TEXT,
	KIND_POINTER,
};

/* clang-format off */
#define KIND(type)                                                              \
	_Generic((typeof(type) *)0,                                             \
		 void *: KIND_VOID,                                             \
		 int *: KIND_INT32, unsigned *: KIND_UINT32,                    \
		 long *: KIND_INT64, unsigned long *: KIND_UINT64,              \
		 long long *: KIND_INT64, unsigned long long *: KIND_UINT64,    \
		 char **: KIND_TEXT, const char **: KIND_TEXT,                  \
		 default: KIND_POINTER)

#define KINDS_1(a)      KIND(a)
#define KINDS_2(a, ...) KIND(a), KINDS_1(__VA_ARGS__)
#define KINDS_3(a, ...) KIND(a), KINDS_2(__VA_ARGS__)
#define KINDS_4(a, ...) KIND(a), KINDS_3(__VA_ARGS__)
#define KINDS_5(a, ...) KIND(a), KINDS_4(__VA_ARGS__)
#define KINDS_6(a, ...) KIND(a), KINDS_5(__VA_ARGS__)
#define KINDS_7(a, ...) KIND(a), KINDS_6(__VA_ARGS__)
#define KINDS_OF(a, b, c, d, e, f, g, n, ...) KINDS_##n
#define KINDS(...) KINDS_OF(__VA_ARGS__, 7, 6, 5, 4, 3, 2, 1, 0)(__VA_ARGS__)

/*
 * 0. Compiling fails if the headers declare FUNCTION differently. (It compares functions, not
 *    pointers to them: with those, noreturn would count.)
 */
#define SAME(function, ...)                                                                   \
	(0 * sizeof(struct {                                                                  \
		int unused;                                                                   \
		_Static_assert(__builtin_types_compatible_p(typeof(function), __VA_ARGS__),   \
			       "the headers declare " #function " otherwise");                \
	}))

#define PROTOTYPE(function, returns, ...)                                       \
	{ #function, SAME(function, returns(__VA_ARGS__)),                      \
	  KIND(returns), { KINDS(__VA_ARGS__) } }
/* Arguments without a type follow. */
#define VARIADIC(function, returns, ...)                                        \
	{ #function, 1 + SAME(function, returns(__VA_ARGS__, ...)),             \
	  KIND(returns), { KINDS(__VA_ARGS__) } }

/* The declarations of the headers. With `void` alone, that is the first argument. */
static const struct prototype {
	const char *name;
	bool variadic;
	enum kind ret;
	enum kind args[8];
} prototypes[] = {
	PROTOTYPE(_Fork, __pid_t, void),
	PROTOTYPE(_exit, void, int),
	PROTOTYPE(abort, void, void),
	PROTOTYPE(accept, int, int, __SOCKADDR_ARG, socklen_t *),
	PROTOTYPE(accept4, int, int, __SOCKADDR_ARG, socklen_t *, int),
	PROTOTYPE(access, int, const char *, int),
	PROTOTYPE(alarm, unsigned int, unsigned int),
	PROTOTYPE(aligned_alloc, void *, size_t, size_t),
	VARIADIC(asprintf, int, char **, const char *),
	PROTOTYPE(atoi, int, const char *),
	PROTOTYPE(atol, long, const char *),
	PROTOTYPE(bind, int, int, __CONST_SOCKADDR_ARG, socklen_t),
	PROTOTYPE(brk, int, void *),
	PROTOTYPE(bsearch, void *, const void *, const void *, size_t, size_t, __compar_fn_t),
	PROTOTYPE(calloc, void *, size_t, size_t),
	PROTOTYPE(canonicalize_file_name, char *, const char *),
	PROTOTYPE(chdir, int, const char *),
	PROTOTYPE(chmod, int, const char *, __mode_t),
	PROTOTYPE(chown, int, const char *, __uid_t, __gid_t),
	PROTOTYPE(chroot, int, const char *),
	PROTOTYPE(clearenv, int, void),
	PROTOTYPE(clearerr, void, FILE *),
	PROTOTYPE(clock_getres, int, clockid_t, struct timespec *),
	PROTOTYPE(clock_gettime, int, clockid_t, struct timespec *),
	PROTOTYPE(clock_nanosleep, int, clockid_t, int, const struct timespec *, struct timespec *),
	PROTOTYPE(clock_settime, int, clockid_t, const struct timespec *),
	VARIADIC(clone, int, int (*)(void *), void *, int, void *),
	PROTOTYPE(close, int, int),
	PROTOTYPE(close_range, int, unsigned int, unsigned int, int),
	PROTOTYPE(closedir, int, DIR *),
	PROTOTYPE(closefrom, void, int),
	PROTOTYPE(closelog, void, void),
	PROTOTYPE(connect, int, int, __CONST_SOCKADDR_ARG, socklen_t),
	PROTOTYPE(copy_file_range, ssize_t, int, __off64_t *, int, __off64_t *, size_t,
		unsigned int),
	PROTOTYPE(creat, int, const char *, mode_t),
	PROTOTYPE(daemon, int, int, int),
	PROTOTYPE(dirfd, int, DIR *),
	PROTOTYPE(dl_iterate_phdr, int, int (*)(struct dl_phdr_info *, size_t, void *), void *),
	PROTOTYPE(dladdr, int, const void *, Dl_info *),
	PROTOTYPE(dlclose, int, void *),
	PROTOTYPE(dlerror, char *, void),
	PROTOTYPE(dlopen, void *, const char *, int),
	PROTOTYPE(dlsym, void *, void *, const char *),
	PROTOTYPE(dlvsym, void *, void *, const char *, const char *),
	VARIADIC(dprintf, int, int, const char *),
	PROTOTYPE(dup, int, int),
	PROTOTYPE(dup2, int, int, int),
	PROTOTYPE(dup3, int, int, int, int),
	PROTOTYPE(epoll_create, int, int),
	PROTOTYPE(epoll_create1, int, int),
	PROTOTYPE(epoll_ctl, int, int, int, int, struct epoll_event *),
	PROTOTYPE(epoll_pwait, int, int, struct epoll_event *, int, int, const __sigset_t *),
	PROTOTYPE(epoll_wait, int, int, struct epoll_event *, int, int),
	PROTOTYPE(euidaccess, int, const char *, int),
	PROTOTYPE(eventfd, int, unsigned int, int),
	PROTOTYPE(eventfd_read, int, int, eventfd_t *),
	PROTOTYPE(eventfd_write, int, int, eventfd_t),
	VARIADIC(execl, int, const char *, const char *),
	VARIADIC(execlp, int, const char *, const char *),
	PROTOTYPE(execv, int, const char *, char *const *),
	PROTOTYPE(execve, int, const char *, char *const *, char *const *),
	PROTOTYPE(execvp, int, const char *, char *const *),
	PROTOTYPE(execvpe, int, const char *, char *const *, char *const *),
	PROTOTYPE(exit, void, int),
	PROTOTYPE(faccessat, int, int, const char *, int, int),
	PROTOTYPE(fallocate, int, int, int, __off_t, __off_t),
	PROTOTYPE(fanotify_init, int, unsigned int, unsigned int),
	PROTOTYPE(fanotify_mark, int, int, unsigned int, uint64_t, int, const char *),
	PROTOTYPE(fchdir, int, int),
	PROTOTYPE(fchmod, int, int, __mode_t),
	PROTOTYPE(fchmodat, int, int, const char *, __mode_t, int),
	PROTOTYPE(fchown, int, int, __uid_t, __gid_t),
	PROTOTYPE(fchownat, int, int, const char *, __uid_t, __gid_t, int),
	PROTOTYPE(fclose, int, FILE *),
	VARIADIC(fcntl, int, int, int),
	VARIADIC(fcntl64, int, int, int),
	PROTOTYPE(fdatasync, int, int),
	PROTOTYPE(fdopen, FILE *, int, const char *),
	PROTOTYPE(fdopendir, DIR *, int),
	PROTOTYPE(feof, int, FILE *),
	PROTOTYPE(ferror, int, FILE *),
	PROTOTYPE(fexecve, int, int, char *const *, char *const *),
	PROTOTYPE(fflush, int, FILE *),
	PROTOTYPE(fgetc, int, FILE *),
	PROTOTYPE(fgets, char *, char *, int, FILE *),
	PROTOTYPE(fgetxattr, ssize_t, int, const char *, void *, size_t),
	PROTOTYPE(fileno, int, FILE *),
	PROTOTYPE(flock, int, int, int),
	PROTOTYPE(fmemopen, FILE *, void *, size_t, const char *),
	PROTOTYPE(fnmatch, int, const char *, const char *, int),
	PROTOTYPE(fopen, FILE *, const char *, const char *),
	PROTOTYPE(fopen64, FILE *, const char *, const char *),
	PROTOTYPE(fork, __pid_t, void),
	PROTOTYPE(forkpty, int, int *, char *, const struct termios *, const struct winsize *),
	VARIADIC(fprintf, int, FILE *, const char *),
	PROTOTYPE(fputc, int, int, FILE *),
	PROTOTYPE(fputs, int, const char *, FILE *),
	PROTOTYPE(fread, size_t, void *, size_t, size_t, FILE *),
	PROTOTYPE(free, void, void *),
	PROTOTYPE(freeaddrinfo, void, struct addrinfo *),
	PROTOTYPE(freopen, FILE *, const char *, const char *, FILE *),
	VARIADIC(fscanf, int, FILE *, const char *),
	PROTOTYPE(fseek, int, FILE *, long, int),
	PROTOTYPE(fseeko, int, FILE *, __off_t, int),
	PROTOTYPE(fsetxattr, int, int, const char *, const void *, size_t, int),
	PROTOTYPE(fstat, int, int, struct stat *),
	PROTOTYPE(fstat64, int, int, struct stat64 *),
	PROTOTYPE(fstatat, int, int, const char *, struct stat *, int),
	PROTOTYPE(fstatat64, int, int, const char *, struct stat64 *, int),
	PROTOTYPE(fstatfs, int, int, struct statfs *),
	PROTOTYPE(fsync, int, int),
	PROTOTYPE(ftell, long, FILE *),
	PROTOTYPE(ftello, __off_t, FILE *),
	PROTOTYPE(ftruncate, int, int, __off_t),
	PROTOTYPE(futimens, int, int, const struct timespec *),
	PROTOTYPE(fwrite, size_t, const void *, size_t, size_t, FILE *),
	PROTOTYPE(gai_strerror, const char *, int),
	PROTOTYPE(getaddrinfo, int, const char *, const char *, const struct addrinfo *,
		struct addrinfo **),
	PROTOTYPE(getc, int, FILE *),
	PROTOTYPE(getcwd, char *, char *, size_t),
	PROTOTYPE(getdelim, __ssize_t, char **, size_t *, int, FILE *),
	PROTOTYPE(getegid, __gid_t, void),
	PROTOTYPE(getentropy, int, void *, size_t),
	PROTOTYPE(getenv, char *, const char *),
	PROTOTYPE(geteuid, __uid_t, void),
	PROTOTYPE(getgid, __gid_t, void),
	PROTOTYPE(getgrgid, struct group *, __gid_t),
	PROTOTYPE(getgrnam, struct group *, const char *),
	PROTOTYPE(getgroups, int, int, __gid_t *),
	PROTOTYPE(gethostbyaddr, struct hostent *, const void *, __socklen_t, int),
	PROTOTYPE(gethostbyname, struct hostent *, const char *),
	PROTOTYPE(gethostbyname2, struct hostent *, const char *, int),
	PROTOTYPE(gethostname, int, char *, size_t),
	PROTOTYPE(getifaddrs, int, struct ifaddrs **),
	PROTOTYPE(getline, __ssize_t, char **, size_t *, FILE *),
	PROTOTYPE(getnameinfo, int, const struct sockaddr *, socklen_t, char *, socklen_t, char *,
		socklen_t, int),
	PROTOTYPE(getpagesize, int, void),
	PROTOTYPE(getpeername, int, int, __SOCKADDR_ARG, socklen_t *),
	PROTOTYPE(getpgid, __pid_t, __pid_t),
	PROTOTYPE(getpid, __pid_t, void),
	PROTOTYPE(getppid, __pid_t, void),
	PROTOTYPE(getpriority, int, __priority_which_t, id_t),
	PROTOTYPE(getprotobyname, struct protoent *, const char *),
	PROTOTYPE(getpwnam, struct passwd *, const char *),
	PROTOTYPE(getpwuid, struct passwd *, __uid_t),
	PROTOTYPE(getrandom, ssize_t, void *, size_t, unsigned int),
	PROTOTYPE(getrlimit, int, __rlimit_resource_t, struct rlimit *),
	PROTOTYPE(getrusage, int, __rusage_who_t, struct rusage *),
	PROTOTYPE(getservbyname, struct servent *, const char *, const char *),
	PROTOTYPE(getsid, __pid_t, __pid_t),
	PROTOTYPE(getsockname, int, int, __SOCKADDR_ARG, socklen_t *),
	PROTOTYPE(getsockopt, int, int, int, int, void *, socklen_t *),
	PROTOTYPE(gettid, __pid_t, void),
	PROTOTYPE(gettimeofday, int, struct timeval *, void *),
	PROTOTYPE(getuid, __uid_t, void),
	PROTOTYPE(getxattr, ssize_t, const char *, const char *, void *, size_t),
	PROTOTYPE(glob, int, const char *, int, int (*)(const char *, int), glob_t *),
	PROTOTYPE(gmtime, struct tm *, const time_t *),
	PROTOTYPE(grantpt, int, int),
	PROTOTYPE(if_indextoname, char *, unsigned int, char *),
	PROTOTYPE(if_nametoindex, unsigned int, const char *),
	PROTOTYPE(inet_addr, in_addr_t, const char *),
	PROTOTYPE(inet_ntop, const char *, int, const void *, char *, socklen_t),
	PROTOTYPE(inet_pton, int, int, const char *, void *),
	PROTOTYPE(initgroups, int, const char *, __gid_t),
	PROTOTYPE(inotify_add_watch, int, int, const char *, uint32_t),
	PROTOTYPE(inotify_init, int, void),
	PROTOTYPE(inotify_init1, int, int),
	PROTOTYPE(inotify_rm_watch, int, int, int),
	VARIADIC(ioctl, int, int, unsigned long),
	PROTOTYPE(isatty, int, int),
	PROTOTYPE(kill, int, __pid_t, int),
	PROTOTYPE(killpg, int, __pid_t, int),
	PROTOTYPE(lchown, int, const char *, __uid_t, __gid_t),
	PROTOTYPE(lgetxattr, ssize_t, const char *, const char *, void *, size_t),
	PROTOTYPE(link, int, const char *, const char *),
	PROTOTYPE(linkat, int, int, const char *, int, const char *, int),
	PROTOTYPE(listen, int, int, int),
	PROTOTYPE(listxattr, ssize_t, const char *, char *, size_t),
	PROTOTYPE(localtime, struct tm *, const time_t *),
	PROTOTYPE(lockf, int, int, int, __off_t),
	PROTOTYPE(lseek, __off_t, int, __off_t, int),
	PROTOTYPE(lseek64, __off64_t, int, __off64_t, int),
	PROTOTYPE(lstat, int, const char *, struct stat *),
	PROTOTYPE(lstat64, int, const char *, struct stat64 *),
	PROTOTYPE(madvise, int, void *, size_t, int),
	PROTOTYPE(malloc, void *, size_t),
	PROTOTYPE(malloc_trim, int, size_t),
	PROTOTYPE(malloc_usable_size, size_t, void *),
	PROTOTYPE(memchr, void *, const void *, int, size_t),
	PROTOTYPE(memcmp, int, const void *, const void *, size_t),
	PROTOTYPE(memcpy, void *, void *, const void *, size_t),
	PROTOTYPE(memfd_create, int, const char *, unsigned int),
	PROTOTYPE(memmove, void *, void *, const void *, size_t),
	PROTOTYPE(memset, void *, void *, int, size_t),
	PROTOTYPE(mincore, int, void *, size_t, unsigned char *),
	PROTOTYPE(mkdir, int, const char *, __mode_t),
	PROTOTYPE(mkdirat, int, int, const char *, __mode_t),
	PROTOTYPE(mkdtemp, char *, char *),
	PROTOTYPE(mkfifo, int, const char *, __mode_t),
	PROTOTYPE(mknod, int, const char *, __mode_t, __dev_t),
	PROTOTYPE(mkostemp, int, char *, int),
	PROTOTYPE(mkstemp, int, char *),
	PROTOTYPE(mktime, time_t, struct tm *),
	PROTOTYPE(mlock, int, const void *, size_t),
	PROTOTYPE(mlock2, int, const void *, size_t, unsigned int),
	PROTOTYPE(mlockall, int, int),
	PROTOTYPE(mmap, void *, void *, size_t, int, int, int, __off_t),
	PROTOTYPE(mmap64, void *, void *, size_t, int, int, int, __off64_t),
	PROTOTYPE(mount, int, const char *, const char *, const char *, unsigned long,
		const void *),
	PROTOTYPE(mprotect, int, void *, size_t, int),
	VARIADIC(mq_open, mqd_t, const char *, int),
	PROTOTYPE(mq_receive, ssize_t, mqd_t, char *, size_t, unsigned int *),
	PROTOTYPE(mq_send, int, mqd_t, const char *, size_t, unsigned int),
	VARIADIC(mremap, void *, void *, size_t, size_t, int),
	PROTOTYPE(msgget, int, key_t, int),
	PROTOTYPE(msgrcv, ssize_t, int, void *, size_t, long, int),
	PROTOTYPE(msgsnd, int, int, const void *, size_t, int),
	PROTOTYPE(msync, int, void *, size_t, int),
	PROTOTYPE(munlock, int, const void *, size_t),
	PROTOTYPE(munlockall, int, void),
	PROTOTYPE(munmap, int, void *, size_t),
	PROTOTYPE(name_to_handle_at, int, int, const char *, struct file_handle *, int *, int),
	PROTOTYPE(nanosleep, int, const struct timespec *, struct timespec *),
	PROTOTYPE(nftw, int, const char *, __nftw_func_t, int, int),
	PROTOTYPE(nice, int, int),
	VARIADIC(open, int, const char *, int),
	VARIADIC(open64, int, const char *, int),
	PROTOTYPE(open_by_handle_at, int, int, struct file_handle *, int),
	PROTOTYPE(open_memstream, FILE *, char **, size_t *),
	VARIADIC(openat, int, int, const char *, int),
	VARIADIC(openat64, int, int, const char *, int),
	PROTOTYPE(opendir, DIR *, const char *),
	PROTOTYPE(openlog, void, const char *, int, int),
	PROTOTYPE(openpty, int, int *, int *, char *, const struct termios *,
		const struct winsize *),
	PROTOTYPE(pathconf, long, const char *, int),
	PROTOTYPE(pause, int, void),
	PROTOTYPE(pclose, int, FILE *),
	PROTOTYPE(perror, void, const char *),
	PROTOTYPE(pipe, int, int *),
	PROTOTYPE(pipe2, int, int *, int),
	PROTOTYPE(poll, int, struct pollfd *, nfds_t, int),
	PROTOTYPE(popen, FILE *, const char *, const char *),
	PROTOTYPE(posix_fadvise, int, int, off_t, off_t, int),
	PROTOTYPE(posix_fallocate, int, int, off_t, off_t),
	PROTOTYPE(posix_madvise, int, void *, size_t, int),
	PROTOTYPE(posix_memalign, int, void **, size_t, size_t),
	PROTOTYPE(posix_openpt, int, int),
	PROTOTYPE(posix_spawn, int, pid_t *, const char *, const posix_spawn_file_actions_t *,
		const posix_spawnattr_t *, char *const *, char *const *),
	PROTOTYPE(posix_spawnp, int, pid_t *, const char *, const posix_spawn_file_actions_t *,
		const posix_spawnattr_t *, char *const *, char *const *),
	PROTOTYPE(ppoll, int, struct pollfd *, nfds_t, const struct timespec *, const __sigset_t *),
	VARIADIC(prctl, int, int),
	PROTOTYPE(pread, ssize_t, int, void *, size_t, __off_t),
	PROTOTYPE(pread64, ssize_t, int, void *, size_t, __off64_t),
	PROTOTYPE(preadv, ssize_t, int, const struct iovec *, int, __off_t),
	PROTOTYPE(preadv2, ssize_t, int, const struct iovec *, int, __off_t, int),
	VARIADIC(printf, int, const char *),
	PROTOTYPE(prlimit, int, __pid_t, enum __rlimit_resource, const struct rlimit *,
		struct rlimit *),
	PROTOTYPE(process_vm_readv, ssize_t, pid_t, const struct iovec *, unsigned long,
		const struct iovec *, unsigned long, unsigned long),
	PROTOTYPE(process_vm_writev, ssize_t, pid_t, const struct iovec *, unsigned long,
		const struct iovec *, unsigned long, unsigned long),
	PROTOTYPE(pselect, int, int, fd_set *, fd_set *, fd_set *, const struct timespec *,
		const __sigset_t *),
	PROTOTYPE(pthread_barrier_wait, int, pthread_barrier_t *),
	PROTOTYPE(pthread_cancel, int, pthread_t),
	PROTOTYPE(pthread_cond_broadcast, int, pthread_cond_t *),
	PROTOTYPE(pthread_cond_destroy, int, pthread_cond_t *),
	PROTOTYPE(pthread_cond_init, int, pthread_cond_t *, const pthread_condattr_t *),
	PROTOTYPE(pthread_cond_signal, int, pthread_cond_t *),
	PROTOTYPE(pthread_cond_timedwait, int, pthread_cond_t *, pthread_mutex_t *,
		const struct timespec *),
	PROTOTYPE(pthread_cond_wait, int, pthread_cond_t *, pthread_mutex_t *),
	PROTOTYPE(pthread_create, int, pthread_t *, const pthread_attr_t *, void *(*)(void *),
		void *),
	PROTOTYPE(pthread_detach, int, pthread_t),
	PROTOTYPE(pthread_exit, void, void *),
	PROTOTYPE(pthread_getspecific, void *, pthread_key_t),
	PROTOTYPE(pthread_join, int, pthread_t, void **),
	PROTOTYPE(pthread_key_create, int, pthread_key_t *, void (*)(void *)),
	PROTOTYPE(pthread_kill, int, pthread_t, int),
	PROTOTYPE(pthread_mutex_destroy, int, pthread_mutex_t *),
	PROTOTYPE(pthread_mutex_init, int, pthread_mutex_t *, const pthread_mutexattr_t *),
	PROTOTYPE(pthread_mutex_lock, int, pthread_mutex_t *),
	PROTOTYPE(pthread_mutex_timedlock, int, pthread_mutex_t *, const struct timespec *),
	PROTOTYPE(pthread_mutex_trylock, int, pthread_mutex_t *),
	PROTOTYPE(pthread_mutex_unlock, int, pthread_mutex_t *),
	PROTOTYPE(pthread_once, int, pthread_once_t *, void (*)(void)),
	PROTOTYPE(pthread_rwlock_rdlock, int, pthread_rwlock_t *),
	PROTOTYPE(pthread_rwlock_tryrdlock, int, pthread_rwlock_t *),
	PROTOTYPE(pthread_rwlock_trywrlock, int, pthread_rwlock_t *),
	PROTOTYPE(pthread_rwlock_unlock, int, pthread_rwlock_t *),
	PROTOTYPE(pthread_rwlock_wrlock, int, pthread_rwlock_t *),
	PROTOTYPE(pthread_self, pthread_t, void),
	PROTOTYPE(pthread_setaffinity_np, int, pthread_t, size_t, const cpu_set_t *),
	PROTOTYPE(pthread_setname_np, int, pthread_t, const char *),
	PROTOTYPE(pthread_setspecific, int, pthread_key_t, const void *),
	PROTOTYPE(pthread_sigmask, int, int, const __sigset_t *, __sigset_t *),
	PROTOTYPE(pthread_spin_lock, int, volatile pthread_spinlock_t *),
	PROTOTYPE(pthread_spin_unlock, int, volatile pthread_spinlock_t *),
	VARIADIC(ptrace, long, enum __ptrace_request),
	PROTOTYPE(ptsname, char *, int),
	PROTOTYPE(putc, int, int, FILE *),
	PROTOTYPE(putchar, int, int),
	PROTOTYPE(putenv, int, char *),
	PROTOTYPE(puts, int, const char *),
	PROTOTYPE(pwrite, ssize_t, int, const void *, size_t, __off_t),
	PROTOTYPE(pwrite64, ssize_t, int, const void *, size_t, __off64_t),
	PROTOTYPE(pwritev, ssize_t, int, const struct iovec *, int, __off_t),
	PROTOTYPE(pwritev2, ssize_t, int, const struct iovec *, int, __off_t, int),
	PROTOTYPE(qsort, void, void *, size_t, size_t, __compar_fn_t),
	PROTOTYPE(quick_exit, void, int),
	PROTOTYPE(raise, int, int),
	PROTOTYPE(rand, int, void),
	PROTOTYPE(random, long, void),
	PROTOTYPE(read, ssize_t, int, void *, size_t),
	PROTOTYPE(readdir, struct dirent *, DIR *),
	PROTOTYPE(readdir64, struct dirent64 *, DIR *),
	PROTOTYPE(readlink, ssize_t, const char *, char *, size_t),
	PROTOTYPE(readlinkat, ssize_t, int, const char *, char *, size_t),
	PROTOTYPE(readv, ssize_t, int, const struct iovec *, int),
	PROTOTYPE(realloc, void *, void *, size_t),
	PROTOTYPE(reallocarray, void *, void *, size_t, size_t),
	PROTOTYPE(realpath, char *, const char *, char *),
	PROTOTYPE(reboot, int, int),
	PROTOTYPE(recv, ssize_t, int, void *, size_t, int),
	PROTOTYPE(recvfrom, ssize_t, int, void *, size_t, int, __SOCKADDR_ARG, socklen_t *),
	PROTOTYPE(recvmmsg, int, int, struct mmsghdr *, unsigned int, int, struct timespec *),
	PROTOTYPE(recvmsg, ssize_t, int, struct msghdr *, int),
	PROTOTYPE(remove, int, const char *),
	PROTOTYPE(removexattr, int, const char *, const char *),
	PROTOTYPE(rename, int, const char *, const char *),
	PROTOTYPE(renameat, int, int, const char *, int, const char *),
	PROTOTYPE(renameat2, int, int, const char *, int, const char *, unsigned int),
	PROTOTYPE(rewind, void, FILE *),
	PROTOTYPE(rewinddir, void, DIR *),
	PROTOTYPE(rmdir, int, const char *),
	PROTOTYPE(sbrk, void *, intptr_t),
	PROTOTYPE(scandir, int, const char *, struct dirent ***, int (*)(const struct dirent *),
		int (*)(const struct dirent **, const struct dirent **)),
	VARIADIC(scanf, int, const char *),
	PROTOTYPE(sched_getaffinity, int, __pid_t, size_t, cpu_set_t *),
	PROTOTYPE(sched_setaffinity, int, __pid_t, size_t, const cpu_set_t *),
	PROTOTYPE(sched_setscheduler, int, __pid_t, int, const struct sched_param *),
	PROTOTYPE(sched_yield, int, void),
	PROTOTYPE(secure_getenv, char *, const char *),
	PROTOTYPE(select, int, int, fd_set *, fd_set *, fd_set *, struct timeval *),
	PROTOTYPE(sem_close, int, sem_t *),
	PROTOTYPE(sem_destroy, int, sem_t *),
	PROTOTYPE(sem_getvalue, int, sem_t *, int *),
	PROTOTYPE(sem_init, int, sem_t *, int, unsigned int),
	VARIADIC(sem_open, sem_t *, const char *, int),
	PROTOTYPE(sem_post, int, sem_t *),
	PROTOTYPE(sem_timedwait, int, sem_t *, const struct timespec *),
	PROTOTYPE(sem_trywait, int, sem_t *),
	PROTOTYPE(sem_unlink, int, const char *),
	PROTOTYPE(sem_wait, int, sem_t *),
	PROTOTYPE(semget, int, key_t, int, int),
	PROTOTYPE(semop, int, int, struct sembuf *, size_t),
	PROTOTYPE(send, ssize_t, int, const void *, size_t, int),
	PROTOTYPE(sendfile, ssize_t, int, int, off_t *, size_t),
	PROTOTYPE(sendfile64, ssize_t, int, int, __off64_t *, size_t),
	PROTOTYPE(sendmmsg, int, int, struct mmsghdr *, unsigned int, int),
	PROTOTYPE(sendmsg, ssize_t, int, const struct msghdr *, int),
	PROTOTYPE(sendto, ssize_t, int, const void *, size_t, int, __CONST_SOCKADDR_ARG, socklen_t),
	PROTOTYPE(setegid, int, __gid_t),
	PROTOTYPE(setenv, int, const char *, const char *, int),
	PROTOTYPE(seteuid, int, __uid_t),
	PROTOTYPE(setgid, int, __gid_t),
	PROTOTYPE(setgroups, int, size_t, const __gid_t *),
	PROTOTYPE(sethostname, int, const char *, size_t),
	PROTOTYPE(setitimer, int, __itimer_which_t, const struct itimerval *, struct itimerval *),
	PROTOTYPE(setns, int, int, int),
	PROTOTYPE(setpgid, int, __pid_t, __pid_t),
	PROTOTYPE(setpriority, int, __priority_which_t, id_t, int),
	PROTOTYPE(setresgid, int, __gid_t, __gid_t, __gid_t),
	PROTOTYPE(setresuid, int, __uid_t, __uid_t, __uid_t),
	PROTOTYPE(setreuid, int, __uid_t, __uid_t),
	PROTOTYPE(setrlimit, int, __rlimit_resource_t, const struct rlimit *),
	PROTOTYPE(setsid, __pid_t, void),
	PROTOTYPE(setsockopt, int, int, int, int, const void *, socklen_t),
	PROTOTYPE(settimeofday, int, const struct timeval *, const struct timezone *),
	PROTOTYPE(setuid, int, __uid_t),
	PROTOTYPE(setvbuf, int, FILE *, char *, int, size_t),
	PROTOTYPE(setxattr, int, const char *, const char *, const void *, size_t, int),
	PROTOTYPE(shm_open, int, const char *, int, mode_t),
	PROTOTYPE(shm_unlink, int, const char *),
	PROTOTYPE(shmat, void *, int, const void *, int),
	PROTOTYPE(shmctl, int, int, int, struct shmid_ds *),
	PROTOTYPE(shmdt, int, const void *),
	PROTOTYPE(shmget, int, key_t, size_t, int),
	PROTOTYPE(shutdown, int, int, int),
	PROTOTYPE(sigaction, int, int, const struct sigaction *, struct sigaction *),
	PROTOTYPE(sigaltstack, int, const stack_t *, stack_t *),
	PROTOTYPE(signal, __sighandler_t, int, __sighandler_t),
	PROTOTYPE(signalfd, int, int, const sigset_t *, int),
	PROTOTYPE(sigprocmask, int, int, const sigset_t *, sigset_t *),
	PROTOTYPE(sigqueue, int, __pid_t, int, const union sigval ),
	PROTOTYPE(sigsuspend, int, const sigset_t *),
	PROTOTYPE(sigtimedwait, int, const sigset_t *, siginfo_t *, const struct timespec *),
	PROTOTYPE(sigwait, int, const sigset_t *, int *),
	PROTOTYPE(sigwaitinfo, int, const sigset_t *, siginfo_t *),
	PROTOTYPE(sleep, unsigned int, unsigned int),
	VARIADIC(snprintf, int, char *, size_t, const char *),
	PROTOTYPE(socket, int, int, int, int),
	PROTOTYPE(socketpair, int, int, int, int, int *),
	PROTOTYPE(splice, __ssize_t, int, __off64_t *, int, __off64_t *, size_t, unsigned int),
	VARIADIC(sprintf, int, char *, const char *),
	PROTOTYPE(srand, void, unsigned int),
	VARIADIC(sscanf, int, const char *, const char *),
	PROTOTYPE(stat, int, const char *, struct stat *),
	PROTOTYPE(stat64, int, const char *, struct stat64 *),
	PROTOTYPE(statfs, int, const char *, struct statfs *),
	PROTOTYPE(statvfs, int, const char *, struct statvfs *),
	PROTOTYPE(statx, int, int, const char *, int, unsigned int, struct statx *),
	PROTOTYPE(strcasecmp, int, const char *, const char *),
	PROTOTYPE(strcat, char *, char *, const char *),
	PROTOTYPE(strchr, char *, const char *, int),
	PROTOTYPE(strcmp, int, const char *, const char *),
	PROTOTYPE(strcpy, char *, char *, const char *),
	PROTOTYPE(strdup, char *, const char *),
	PROTOTYPE(strerror, char *, int),
	PROTOTYPE(strftime, size_t, char *, size_t, const char *, const struct tm *),
	PROTOTYPE(strlen, size_t, const char *),
	PROTOTYPE(strncasecmp, int, const char *, const char *, size_t),
	PROTOTYPE(strncat, char *, char *, const char *, size_t),
	PROTOTYPE(strncmp, int, const char *, const char *, size_t),
	PROTOTYPE(strncpy, char *, char *, const char *, size_t),
	PROTOTYPE(strndup, char *, const char *, size_t),
	PROTOTYPE(strrchr, char *, const char *, int),
	PROTOTYPE(strsignal, char *, int),
	PROTOTYPE(strstr, char *, const char *, const char *),
	PROTOTYPE(strtok, char *, char *, const char *),
	PROTOTYPE(strtok_r, char *, char *, const char *, char **),
	PROTOTYPE(strtol, long, const char *, char **, int),
	PROTOTYPE(strtoll, long long, const char *, char **, int),
	PROTOTYPE(strtoul, unsigned long, const char *, char **, int),
	PROTOTYPE(strtoull, long unsigned long, const char *, char **, int),
	PROTOTYPE(swapon, int, const char *, int),
	PROTOTYPE(symlink, int, const char *, const char *),
	PROTOTYPE(symlinkat, int, const char *, int, const char *),
	PROTOTYPE(sync, void, void),
	PROTOTYPE(sync_file_range, int, int, __off64_t, __off64_t, unsigned int),
	PROTOTYPE(syncfs, int, int),
	VARIADIC(syscall, long, long),
	PROTOTYPE(sysconf, long, int),
	PROTOTYPE(sysinfo, int, struct sysinfo *),
	VARIADIC(syslog, void, int, const char *),
	PROTOTYPE(system, int, const char *),
	PROTOTYPE(tcgetattr, int, int, struct termios *),
	PROTOTYPE(tcsetattr, int, int, int, const struct termios *),
	PROTOTYPE(tcsetpgrp, int, int, __pid_t),
	PROTOTYPE(tee, __ssize_t, int, int, size_t, unsigned int),
	PROTOTYPE(tgkill, int, __pid_t, __pid_t, int),
	PROTOTYPE(time, time_t, time_t *),
	PROTOTYPE(timer_create, int, clockid_t, struct sigevent *, timer_t *),
	PROTOTYPE(timer_delete, int, timer_t),
	PROTOTYPE(timer_settime, int, timer_t, int, const struct itimerspec *, struct itimerspec *),
	PROTOTYPE(timerfd_create, int, __clockid_t, int),
	PROTOTYPE(timerfd_gettime, int, int, struct itimerspec *),
	PROTOTYPE(timerfd_settime, int, int, int, const struct itimerspec *, struct itimerspec *),
	PROTOTYPE(tmpfile, FILE *, void),
	PROTOTYPE(truncate, int, const char *, __off_t),
	PROTOTYPE(ttyname, char *, int),
	PROTOTYPE(umask, __mode_t, __mode_t),
	PROTOTYPE(umount, int, const char *),
	PROTOTYPE(umount2, int, const char *, int),
	PROTOTYPE(uname, int, struct utsname *),
	PROTOTYPE(ungetc, int, int, FILE *),
	PROTOTYPE(unlink, int, const char *),
	PROTOTYPE(unlinkat, int, int, const char *, int),
	PROTOTYPE(unlockpt, int, int),
	PROTOTYPE(unsetenv, int, const char *),
	PROTOTYPE(unshare, int, int),
	PROTOTYPE(usleep, int, __useconds_t),
	PROTOTYPE(utime, int, const char *, const struct utimbuf *),
	PROTOTYPE(utimensat, int, int, const char *, const struct timespec *, int),
	PROTOTYPE(utimes, int, const char *, const struct timeval *),
	PROTOTYPE(vfork, __pid_t, void),
	PROTOTYPE(vfprintf, int, FILE *, const char *, va_list),
	PROTOTYPE(vmsplice, __ssize_t, int, const struct iovec *, size_t, unsigned int),
	PROTOTYPE(vprintf, int, const char *, va_list),
	PROTOTYPE(vsnprintf, int, char *, size_t, const char *, va_list),
	PROTOTYPE(wait, __pid_t, int *),
	PROTOTYPE(wait4, __pid_t, __pid_t, int *, int, struct rusage *),
	PROTOTYPE(waitid, int, idtype_t, __id_t, siginfo_t *, int),
	PROTOTYPE(waitpid, __pid_t, __pid_t, int *, int),
	PROTOTYPE(write, ssize_t, int, const void *, size_t),
	PROTOTYPE(writev, ssize_t, int, const struct iovec *, int),
};
/* clang-format on */

/* ---- rows ---- */

static struct call_spec parse(const struct call_function *row)
{
	struct call_spec spec;
	struct call_spec_error error;
	char text[CALL_SPEC_TEXT_MAX];

	snprintf(text, sizeof(text), "libc.so.6:%s%s", row->name, row->signature);
	if (call_spec_parse(text, &spec, &error) < 0)
		fail_msg("%s: at %zu: %s", text, error.at, error.why);
	return spec;
}

static unsigned kind_bits(enum kind kind)
{
	return kind == KIND_INT32 || kind == KIND_UINT32 ? 32 : 64;
}

/* Whether TYPE can show KIND. Words and hexadecimal digits have no sign. */
static bool type_fits(const struct call_type *type, enum kind kind)
{
	if (kind == KIND_VOID || type->form == CALL_VOID)
		return kind == KIND_VOID && type->form == CALL_VOID;
	if (kind == KIND_POINTER || kind == KIND_TEXT)
		return type->form == CALL_PTR || type->form == CALL_BUF ||
		       (type->form == CALL_STR && kind == KIND_TEXT);
	if (type->form == CALL_PTR || type->form == CALL_BUF || type->form == CALL_STR)
		return false;
	/* (the kernel uses 32 bits of some arguments that are unsigned long in the library) */
	if (type->set != CALL_SET_NONE)
		return type->bits <= kind_bits(kind);
	return type->bits == kind_bits(kind) &&
	       (type->form == CALL_HEX ||
		call_type_is_signed(type) == (kind == KIND_INT32 || kind == KIND_INT64));
}

static size_t count_args(const struct prototype *p)
{
	size_t n = 0;

	while (p->args[n] > KIND_VOID)
		n++;
	return n;
}

static void check_prototype(const struct prototype *p)
{
	const char *signature = call_function_signature(p->name);
	size_t n = count_args(p), n_read = n < CALL_ARG_REGISTERS ? n : CALL_ARG_REGISTERS;
	struct call_spec spec;

	if (!signature)
		fail_msg("there is no row for %s", p->name);
	spec = parse(&(struct call_function){ p->name, signature });
	if (p->variadic ? spec.n_args < n_read : spec.n_args != n_read)
		fail_msg("%s has %zu arguments, not %zu", p->name, n, spec.n_args);
	if (!type_fits(&spec.ret, p->ret))
		fail_msg("%s%s: what it returns is otherwise", p->name, signature);
	for (size_t i = 0; i < n_read; i++)
		if (!type_fits(&spec.args[i].type, p->args[i]))
			fail_msg("%s%s: %s is otherwise", p->name, signature, spec.args[i].name);
}

TEST(test_prototypes)
{
	for (size_t i = 0; i < ARRAY_SIZE(prototypes); i++)
		check_prototype(&prototypes[i]);
	assert_int_equal(ARRAY_SIZE(prototypes), call_n_functions);
}

TEST(test_rows)
{
	assert_true(call_n_functions >= 180);
	for (size_t i = 0; i < call_n_functions; i++) {
		const struct call_function *row = &call_functions[i];
		struct call_spec spec = parse(row);

		assert_int_equal(spec.condition.op, CALL_OP_NONE);
		assert_false(call_spec_is_glob(&spec));
		if (i > 0 && strcmp(row[-1].name, row->name) >= 0)
			fail_msg("%s is not behind %s", row->name, row[-1].name);
		assert_ptr_equal(call_function_signature(row->name), row->signature);
	}
}

TEST(test_lookup)
{
	assert_string_equal(call_function_signature("fopen"), "(str path, str mode) -> ptr");
	assert_null(call_function_signature(""));
	assert_null(call_function_signature("fope"));
	assert_null(call_function_signature("fopenn"));
	assert_null(call_function_signature("~"));
}

/* Also those that the linker would have replaced in this program. */
TEST(test_exported)
{
	static const char *const files[] = { "libc.so.6", "libpthread.so.0", "libdl.so.2",
					     "librt.so.1", "libutil.so.1" };
	void *handles[ARRAY_SIZE(files)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if ((handles[n] = dlopen(files[i], RTLD_NOW)))
			n++;
	if (n == 0) {
		print_message("skip: there is no libc.so.6\n");
		skip();
	}
	for (size_t i = 0; i < call_n_functions; i++) {
		bool found = false;

		for (size_t j = 0; j < n && !found; j++)
			found = dlsym(handles[j], call_functions[i].name) != NULL;
		if (!found)
			fail_msg("no library has %s", call_functions[i].name);
	}
	while (n > 0)
		dlclose(handles[--n]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_prototypes),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_exported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
