/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strace-load DIRECTORY: makes the most common system calls, each with the arguments that change
 * how it is shown. It makes the same calls in the same order in each run.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Results are not checked here: the tests compare the records of the calls. */
static volatile long ignored;

static void load_files(void)
{
	static const char bytes[] = "text\twith \"quotes\", \\ and \a\b\0001\1\3779\n";
	char big[300], to[400];
	struct stat st;
	struct statx stx;
	struct statfs fs;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10 };
	int fd;

	memset(big, 'x', sizeof(big));
	ignored = mkdir("dir", 0755);
	ignored = mkdirat(AT_FDCWD, "dir", 01777);
	fd = open("file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	ignored = open("file", O_WRONLY | O_CREAT | O_EXCL, 0);
	ignored = open("nothing", O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_NOFOLLOW);
	ignored = open(".", O_RDWR | O_TMPFILE | O_APPEND | O_SYNC, 04600);
	ignored = write(fd, bytes, sizeof(bytes) - 1);
	ignored = write(fd, big, sizeof(big));
	ignored = write(fd, "", 0);
	ignored = write(77, "bad", 3);
	ignored = lseek(fd, 0, SEEK_SET);
	ignored = lseek(fd, -1, SEEK_END);
	ignored = lseek(fd, 7, SEEK_CUR);
	ignored = read(fd, to, sizeof(to));
	ignored = pread(fd, to, 16, 4);
	ignored = pread(fd, to, sizeof(to), 0);
	ignored = pwrite(fd, "pwrite", 6, 8192);
	ignored = read(77, to, sizeof(to));
	ignored = fstat(fd, &st);
	ignored = fstat(77, &st);
	ignored = stat("/dev/null", &st);
	ignored = lstat("/tmp", &st);
	ignored = statx(AT_FDCWD, "file", AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC,
			STATX_MODE | STATX_SIZE, &stx);
	ignored = statfs("/proc", &fs);
	ignored = fstatfs(77, &fs);
	ignored = access("file", R_OK | W_OK);
	ignored = access("nothing", F_OK);
	ignored = faccessat(AT_FDCWD, "file", X_OK, AT_EACCESS);
	ignored = chmod("file", 0);
	ignored = fchmod(fd, 0600);
	ignored = umask(027);
	ignored = rename("file", "other");
	ignored = link("other", "linked");
	ignored = symlink("other", "link");
	ignored = readlink("link", to, sizeof(to));
	ignored = readlink("other", to, sizeof(to));
	ignored = getcwd(to, sizeof(to)) != NULL;
	ignored = getcwd(to, 1) != NULL;
	ignored = chown("other", 0, (gid_t)-1);
	ignored = ftruncate(fd, 100);
	ignored = fsync(fd);
	ignored = flock(fd, LOCK_EX | LOCK_NB);
	ignored = posix_fadvise(fd, 0, 4096, POSIX_FADV_SEQUENTIAL);
	ignored = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 4096);
	ignored = fcntl(fd, F_GETFD);
	ignored = fcntl(fd, F_SETFD, FD_CLOEXEC);
	ignored = fcntl(fd, F_SETFD, 0);
	ignored = fcntl(fd, F_GETFL);
	ignored = fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK | O_APPEND);
	ignored = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	ignored = fcntl(fd, F_DUPFD, 20);
	ignored = fcntl(fd, F_SETLK, &lock);
	ignored = fcntl(fd, F_GETLK, &lock);
	ignored = dup(fd);
	ignored = dup2(fd, 40);
	ignored = dup3(fd, 41, O_CLOEXEC);
	ignored = close(fd);
	ignored = unlink("link");
	ignored = unlinkat(AT_FDCWD, "linked", 0);
	ignored = unlink("other");
	ignored = rmdir("dir");
	ignored = chdir(".");
}

static void load_memory(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ignored = mprotect(p, 4096, PROT_NONE);
	ignored = mprotect(p, 4096, PROT_READ | PROT_EXEC);
	ignored = madvise(p, 4096, MADV_DONTNEED);
	p = mremap(p, 8192, 16384, MREMAP_MAYMOVE);
	ignored = munmap(p, 16384);
	p = mmap(NULL, 4096, PROT_NONE,
		 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE | MAP_STACK, -1, 0);
	ignored = munmap(p, 4096);
	ignored = munmap((void *)1, 0);
}

static void on_signal(int signal)
{
	(void)signal;
}

static void load_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_IGN, .sa_flags = SA_RESTART | SA_NODEFER },
			 old;
	stack_t stack = { .ss_sp = NULL, .ss_flags = SS_DISABLE };
	sigset_t set, other;

	sigfillset(&action.sa_mask);
	ignored = sigaction(SIGUSR1, &action, &old);
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGTERM);
	action.sa_handler = on_signal;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NOCLDSTOP | SA_NOCLDWAIT;
	ignored = sigaction(SIGUSR2, &action, NULL);
	ignored = sigaction(SIGUSR2, NULL, &old);
	ignored = sigaction(SIGKILL, &action, &old);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGRTMIN + 3);
	ignored = sigprocmask(SIG_BLOCK, &set, NULL);
	sigfillset(&set);
	ignored = sigprocmask(SIG_SETMASK, &set, &other);
	ignored = sigprocmask(SIG_SETMASK, &set, NULL);
	ignored = sigprocmask(SIG_SETMASK, NULL, &set);
	ignored = sigaltstack(&stack, NULL);
	ignored = kill(getpid(), 0);
	ignored = kill(getpid(), SIGUSR1);
	ignored = syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
}

/* PAIR[1] has something to read. */
static void load_waits(const int pair[static 2])
{
	struct pollfd fds[2] = { { .fd = pair[0], .events = POLLOUT },
				 { .fd = pair[1], .events = POLLIN } };
	struct timespec wait_ns = { 0, 1000000 }, none = { 0, 0 };
	struct {
		const sigset_t *set;
		size_t bytes;
	} mask = { NULL, 8 };
	sigset_t signals;
	fd_set in, out, except;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&except);
	FD_SET(pair[1], &in);
	FD_SET(pair[0], &out);
	FD_SET(pair[0], &except);
	ignored = syscall(SYS_pselect6, pair[1] + 1, &in, &out, &except, NULL, &mask);
	mask.set = &signals;
	FD_SET(pair[1], &in);
	ignored = syscall(SYS_pselect6, pair[1] + 1, &in, NULL, NULL, &wait_ns, &mask);
	ignored = syscall(SYS_pselect6, -1, &in, NULL, NULL, &none, NULL);
	ignored = syscall(SYS_pselect6, 5, (fd_set *)16, NULL, NULL, NULL, NULL);
	ignored = syscall(SYS_ppoll, fds, 2, NULL, &signals, 8);
	ignored = syscall(SYS_ppoll, fds + 1, 1, &none, &signals, 8);
	ignored = syscall(SYS_ppoll, (struct pollfd *)16, 1, &none, NULL, 8);
}

static void load_messages(const int pair[static 2])
{
	static char names[] = "one", more[] = "two and more", nothing[] = "";
	char to[3][20];
	char control[CMSG_SPACE(2 * sizeof(int))] = { 0 };
	struct iovec parts[] = { { names, 3 }, { more, 12 }, { nothing, 0 } };
	struct iovec rooms[] = { { to[0], 20 }, { to[1], 20 }, { to[2], 4 } };
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "./nobody" };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };
	struct mmsghdr messages[2] = { { .msg_hdr = message }, { .msg_hdr = message } };
	struct cmsghdr *rights = (struct cmsghdr *)(void *)control;

	messages[1].msg_hdr.msg_iovlen = 1;
	ignored = sendmsg(pair[0], &message, MSG_NOSIGNAL);
	message.msg_control = control;
	message.msg_controllen = sizeof(control);
	rights->cmsg_len = CMSG_LEN(2 * sizeof(int));
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	ignored = sendmsg(pair[0], &message, 0);
	message.msg_controllen = 0;
	message.msg_name = &name;
	message.msg_namelen = sizeof(sa_family_t) + 9;
	ignored = sendmsg(77, &message, 0);
	ignored = sendmsg(77, (struct msghdr *)16, 0);
	ignored = syscall(SYS_sendmmsg, pair[0], messages, 2, 0);
	ignored = syscall(SYS_sendmmsg, 77, messages, 2, 0);
	message.msg_iov = rooms;
	ignored = recvmsg(pair[1], &message, 0);
	message.msg_controllen = sizeof(control);
	ignored = recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC);
	messages[0].msg_hdr.msg_iov = rooms;
	messages[1].msg_hdr.msg_iov = rooms + 2;
	ignored = syscall(SYS_recvmmsg, pair[1], messages, 2, MSG_DONTWAIT, NULL);
	ignored = syscall(SYS_recvmmsg, pair[1], messages, 2, MSG_DONTWAIT, NULL);
	ignored = recvmsg(pair[1], &message, MSG_DONTWAIT);
}

static void load_sockets(void)
{
	struct sockaddr_un path = { .sun_family = AF_UNIX, .sun_path = "./socket" };
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "\0strace-load" };
	struct sockaddr_in v4 = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
				   .sin6_port = htons(80),
				   .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_storage to;
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u64 = 5 }, events[4];
	struct pollfd fds[3] = { { .fd = 0, .events = 0 },
				 { .fd = -1 },
				 { .fd = 1, .events = POLLOUT } };
	socklen_t n = sizeof(to);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), pair[2], on = 1, epoll;
	fd_set set;
	struct timeval wait = { 0, 1000 };
	struct timespec wait_ns = { 0, 1000000 };
	char bytes[16];

	ignored = connect(fd, (struct sockaddr *)&path, sizeof(path));
	ignored = bind(fd, (struct sockaddr *)&name, sizeof(sa_family_t) + 12);
	ignored = listen(fd, 5);
	ignored = getsockname(fd, (struct sockaddr *)&to, &n);
	n = sizeof(to);
	ignored = getpeername(fd, (struct sockaddr *)&to, &n);
	ignored = accept4(77, (struct sockaddr *)&to, &n, SOCK_CLOEXEC | SOCK_NONBLOCK);
	ignored = accept(77, NULL, NULL);
	ignored = close(fd);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, IPPROTO_UDP);
	ignored = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	ignored = bind(fd, (struct sockaddr *)&v4, sizeof(v4));
	v4.sin_port = htons(9);
	ignored = sendto(fd, "to", 2, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&v4,
			 sizeof(v4));
	ignored = recvfrom(fd, bytes, sizeof(bytes), 0, NULL, NULL);
	n = sizeof(on);
	ignored = getsockopt(fd, SOL_SOCKET, SO_TYPE, &on, &n);
	ignored = close(fd);
	fd = socket(AF_INET6, SOCK_STREAM, IPPROTO_TCP);
	ignored = setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	ignored = bind(fd, (struct sockaddr *)&v6, 8);
	ignored = connect(77, (struct sockaddr *)&v6, sizeof(v6));
	ignored = shutdown(fd, SHUT_WR);
	ignored = close(fd);
	ignored = socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
	ignored = send(pair[0], "packet", 6, MSG_EOR);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	ignored = epoll_ctl(epoll, EPOLL_CTL_ADD, pair[1], &event);
	ignored = epoll_ctl(epoll, EPOLL_CTL_MOD, 77, &event);
	ignored = epoll_wait(epoll, events, 4, 0);
	ignored = epoll_pwait(epoll, events, 4, 0, NULL);
	ignored = epoll_ctl(epoll, EPOLL_CTL_DEL, pair[1], NULL);
	ignored = recv(pair[1], bytes, sizeof(bytes), MSG_DONTWAIT | MSG_PEEK);
	ignored = poll(fds, 3, 0);
	ignored = poll(NULL, 0, 1);
	ignored = syscall(SYS_ppoll, NULL, 0, &wait_ns, NULL, 8);
	FD_ZERO(&set);
	FD_SET(pair[0], &set);
	FD_SET(pair[1], &set);
	ignored = syscall(SYS_select, pair[1] + 1, NULL, &set, NULL, &wait);
	/* (a set has as many bits as given, whatever follows) */
	memset(bytes, 0xff, sizeof(bytes));
	*(long *)bytes = 1 << 1;
	ignored = syscall(SYS_select, 2, bytes, NULL, NULL, &wait);
	memset(bytes, 0xff, sizeof(bytes));
	ignored = syscall(SYS_select, 0, bytes, NULL, NULL, &wait);
	load_waits(pair);
	load_messages(pair);
	ignored = ioctl(pair[1], FIONREAD, &on);
	ignored = ioctl(pair[1], FIONBIO, &on);
	ignored = ioctl(pair[1], TCGETS, bytes);
	ignored = ioctl(pair[1], TIOCGWINSZ, bytes);
	ignored = close(pair[0]);
	ignored = close(pair[1]);
	ignored = pipe(pair);
	ignored = pipe2(pair, O_CLOEXEC | O_NONBLOCK);
	ignored = eventfd(3, EFD_CLOEXEC);
}

static void load_processes(void)
{
	struct rlimit limit = { 4096, RLIM_INFINITY };
	struct sched_param param = { 0 };
	struct rusage usage;
	struct utsname name;
	cpu_set_t cpus;
	gid_t gids[4];
	uid_t id;
	pid_t pid;
	int status;

	ignored = getpid() + getppid() + (long)getuid() + (long)geteuid() + (long)getgid();
	ignored = (long)getegid() + gettid() + getpgrp() + getpgid(0) + getsid(0);
	ignored = getresuid(&id, &id, &id);
	ignored = getgroups(0, NULL);
	ignored = setgroups(0, gids);
	ignored = uname(&name);
	ignored = getrlimit(RLIMIT_STACK, &limit);
	limit.rlim_cur = 4096;
	ignored = setrlimit(RLIMIT_CORE, &limit);
	ignored = getrusage(RUSAGE_CHILDREN, &usage);
	ignored = prctl(PR_SET_NAME, "na\tme");
	ignored = prctl(PR_SET_PDEATHSIG, 0);
	ignored = sched_getaffinity(0, sizeof(cpus), &cpus);
	ignored = sched_getparam(0, &param);
	ignored = sched_yield();
	ignored = getpriority(PRIO_PROCESS, 0);
	pid = fork();
	if (pid == 0)
		_exit(3);
	ignored = waitpid(pid, &status, 0);
	pid = vfork();
	if (pid == 0)
		_exit(0);
	ignored = wait4(pid, NULL, WUNTRACED, NULL);
	ignored = waitpid(-1, &status, WNOHANG);
}

static void load_times(void)
{
	struct itimerval timer = { { 0, 0 }, { 100, 5 } };
	struct itimerspec value = { { 1, 0 }, { 2, 3 } };
	struct timespec ts = { 0, 1000 };
	uint32_t word = 1;

	ignored = syscall(SYS_nanosleep, &ts, &ts);
	ignored = clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	ignored = clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts, NULL);
	ignored = setitimer(ITIMER_REAL, &timer, NULL);
	ignored = timerfd_settime(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), TFD_TIMER_ABSTIME,
				  &value, NULL);
	ignored = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
	ignored = syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL);
	ignored = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &ts);
	ignored = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, NULL, NULL,
			  FUTEX_BITSET_MATCH_ANY);
	ignored = syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 2, &word, 7);
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) < 0)
		return EXIT_FAILURE;
	load_files();
	load_memory();
	load_signals();
	load_sockets();
	load_processes();
	load_times();
	return EXIT_SUCCESS;
}
