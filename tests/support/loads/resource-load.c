/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes descriptors, mappings, shared memory and threads in all ways, and releases most of them.
 * Each resource that remains is made by its own function, named leak_*. All others are released, or
 * made so that they seem to remain.
 *
 *	resource-load [exit | leave | family | crowd | crowds | allocator | foreign]
 *
 * Waits for a line on its standard input, works, prints the truth, and waits for another line. The
 * truth has a line "RESOURCE BYTES FUNCTION" for each resource that remains, with RESOURCE as in
 * the archive. Then "exit" ends it, and "leave" ends its main thread; otherwise it keeps waiting.
 *
 * With "family", it leaves a descriptor, and makes a child, which inherits that. The child waits
 * for a line, leaves one of its own and one that exec closes, executes this program again, waits
 * for a line, leaves another and ends after one more line.
 *
 * With "crowds", it makes 128 children and waits for a line. Then each child in turn makes a thread
 * that ends at once, and exits.
 *
 * With "crowd", it does not wait: it makes 256 threads that end at once, and exits. With
 * "allocator", its own allocator makes one thread, and the program another; then it exits. With
 * "foreign", it makes system calls by the numbers of x32 and of the 32-bit ABI, prints how many of
 * them have succeeded, and exits.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAK __attribute__((noinline))

static size_t page;
static int before[2]; /* from before the recording */
static char shm_name[64];

static void check(const char *what, bool good)
{
	if (good)
		return;
	fprintf(stderr, "resource-load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void plant(const char *resource, size_t bytes, const char *function)
{
	printf("%s %zu %s\n", resource, bytes, function);
}

/* A descriptor that the function has left; -1 = not supported here. */
#define PLANT_FD(function)                                                                         \
	do {                                                                                       \
		if (function() >= 0)                                                               \
			plant("fd", 1, #function);                                                 \
	} while (0)

/* ---- descriptors, one of each kind ---- */

static LEAK int leak_open(void)
{
	int fd = open("/dev/null", O_RDONLY);
	return fd;
}
static LEAK int leak_openat(void)
{
	int fd = openat(AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC);
	return fd;
}
static LEAK int leak_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	return fd;
}
static LEAK int leak_dup(void)
{
	int fd = dup(before[0]);
	return fd;
}
static LEAK int leak_dup2(void)
{
	int fd = dup2(before[0], 200);
	return fd;
}
static LEAK int leak_dup3(void)
{
	int fd = dup3(before[0], 201, O_CLOEXEC);
	return fd;
}
static LEAK int leak_fcntl(void)
{
	int fd = fcntl(before[0], F_DUPFD_CLOEXEC, 210);
	return fd;
}
static LEAK int leak_epoll(void)
{
	int fd = epoll_create1(0);
	return fd;
}
static LEAK int leak_eventfd(void)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	return fd;
}
static LEAK int leak_timerfd(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	return fd;
}
static LEAK int leak_inotify(void)
{
	int fd = inotify_init1(0);
	return fd;
}
static LEAK int leak_ioctl(void)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), fd;

	unlockpt(terminal);
	fd = ioctl(terminal, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	close(terminal);
	return fd;
}
static LEAK int leak_memfd(void)
{
	int fd = (int)syscall(SYS_memfd_create, "planted", MFD_CLOEXEC);
	return fd;
}

static LEAK int leak_signalfd(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	fd = signalfd(-1, &set, 0);
	/* The same one again. */
	check("signalfd", signalfd(fd, &set, 0) == fd);
	return fd;
}

static LEAK int leak_pidfd_open(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	return fd;
}

static LEAK int leak_pidfd_getfd(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, before[0], 0);

	close(pidfd);
	return fd;
}

static LEAK int leak_pipe(void)
{
	int fds[2];

	check("pipe", pipe(fds) == 0);
	close(fds[1]);
	return fds[0];
}

static LEAK int leak_socketpair(void)
{
	int fds[2];

	check("socketpair", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	close(fds[0]);
	return fds[1];
}

static LEAK int leak_accept(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), caller = socket(AF_UNIX, SOCK_STREAM, 0),
	    fd;

	/* The kernel chooses the name. */
	check("bind", bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)) == 0 &&
			      listen(listener, 1) == 0 &&
			      getsockname(listener, (struct sockaddr *)&address, &length) == 0 &&
			      connect(caller, (struct sockaddr *)&address, length) == 0);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	close(caller);
	return fd;
}

static void send_fds(int to, const int *fds, size_t n)
{
	char byte = 0, room[CMSG_SPACE(64 * sizeof(int))];
	struct iovec data = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = CMSG_SPACE(n * sizeof(int)),
	};
	struct cmsghdr *c;

	memset(room, 0, sizeof(room));
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	check("sendmsg", sendmsg(to, &m, 0) == 1);
}

/* Receives descriptors by a message, more than fit into a record. All but one are closed. */
static LEAK int leak_scm_rights(void)
{
	enum { N = 20 };
	char byte, room[CMSG_SPACE(N * sizeof(int))];
	struct iovec data = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof(room),
	};
	int ends[2], fds[N];

	for (int i = 0; i < N; i++)
		fds[i] = before[0];
	check("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
	send_fds(ends[0], fds, N);
	check("recvmsg", recvmsg(ends[1], &m, MSG_CMSG_CLOEXEC) == 1);
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fds));
	for (int i = 0; i < N; i++)
		if (i != 17)
			close(fds[i]);
	close(ends[0]);
	close(ends[1]);
	return fds[17];
}

static LEAK int leak_scm_rights_many(void)
{
	char bytes[2], rooms[2][CMSG_SPACE(sizeof(int))];
	struct iovec data[2] = { { bytes, 1 }, { bytes + 1, 1 } };
	struct mmsghdr m[2];
	int ends[2], fds[2];

	memset(m, 0, sizeof(m));
	for (int i = 0; i < 2; i++) {
		m[i].msg_hdr.msg_iov = &data[i];
		m[i].msg_hdr.msg_iovlen = 1;
		m[i].msg_hdr.msg_control = rooms[i];
		m[i].msg_hdr.msg_controllen = sizeof(rooms[i]);
	}
	check("socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
	send_fds(ends[0], &before[0], 1);
	send_fds(ends[0], &before[0], 1);
	check("recvmmsg", recvmmsg(ends[1], m, 2, 0, NULL) == 2);
	for (int i = 0; i < 2; i++)
		memcpy(&fds[i], CMSG_DATA(CMSG_FIRSTHDR(&m[i].msg_hdr)), sizeof(fds[i]));
	close(fds[0]);
	close(ends[0]);
	close(ends[1]);
	return fds[1];
}

/* ---- all ways to close descriptors ---- */

static void close_well(void)
{
	int fds[2], fd, other;
	FILE *f = fopen("/proc/self/maps", "re");

	check("fopen", f);
	fclose(f);
	fd = open("/dev/null", O_RDONLY);
	close(fd);
	fd = open("/dev/null", O_RDONLY);
	other = open("/dev/zero", O_RDONLY);
	/* dup2() closes one. */
	check("dup2", dup2(fd, other) == other);
	close(fd);
	close(other);
	check("pipe2", pipe2(fds, O_CLOEXEC) == 0);
	check("close_range", syscall(SYS_close_range, fds[0] < fds[1] ? fds[0] : fds[1],
				     fds[0] < fds[1] ? fds[1] : fds[0], 0) == 0);
	/* Failures. */
	check("close", close(-1) < 0 && close(999) < 0);
	check("open", open("/does/not/exist", O_RDONLY) < 0);
	check("dup2", dup2(before[0], before[0]) == before[0]);
	check("fcntl", fcntl(before[0], F_GETFL) >= 0);
	/* The descriptor is from before the recording, so the recorder does not know it. */
	close(before[1]);
}

/* ---- mappings ---- */

static LEAK void *map_pages(size_t n)
{
	void *p = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check("mmap", p != MAP_FAILED);
	return p;
}

static LEAK void leak_mapping(void)
{
	char *p = map_pages(16);

	/* Unmaps all except pages 3 to 9, and 12: two parts remain. */
	munmap(p, 3 * page);
	munmap(p + 10 * page, 2 * page);
	munmap(p + 13 * page, 3 * page);
	plant("mapping", 7 * page, "map_pages leak_mapping");
	plant("mapping", 1 * page, "map_pages leak_mapping");
}

static LEAK void leak_moved(void)
{
	/* The last page stays, and prevents that the others grow in place. */
	char *p = map_pages(5), *wall = p + 4 * page, *moved;

	moved = mremap(p, 4 * page, 600 * page, MREMAP_MAYMOVE);
	check("mremap", moved != MAP_FAILED);
	munmap(wall, page);
	moved = mremap(moved, 600 * page, 9 * page, 0);
	check("mremap", moved != MAP_FAILED);
	plant("mapping", 9 * page, "map_pages leak_moved");
}

static LEAK void leak_file_mapping(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *p = mmap(NULL, 100, PROT_READ, MAP_PRIVATE, fd, 0);

	check("mmap", p != MAP_FAILED);
	close(fd);
	plant("mapping", page, "leak_file_mapping");
}

static void map_well(void)
{
	char *p = map_pages(8), *big;

	/* One mapping replaces another one. */
	check("mmap", mmap(p + 2 * page, 2 * page, PROT_READ,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + 2 * page);
	munmap(p, 8 * page);
	/* The allocator makes this mapping, so it does not count as the program's. */
	big = malloc(4 << 20);
	big = realloc(big, 9 << 20);
	check("malloc", big);
	big[0] = 1;
}

/* ---- shared memory ---- */

static LEAK void leak_segment(void)
{
	int id = shmget(IPC_PRIVATE, 3 * page, IPC_CREAT | 0600);

	check("shmget", id >= 0);
	plant("segment", 3 * page, "leak_segment");
	fprintf(stderr, "segment %d\n", id);
}

static LEAK void leak_attachment(void)
{
	int id = shmget(IPC_PRIVATE, 5 * page, IPC_CREAT | 0600);
	void *p = shmat(id, NULL, 0), *other = shmat(id, NULL, 0);

	check("shmat", p != (void *)-1 && other != (void *)-1);
	shmctl(id, IPC_RMID, NULL);
	shmdt(other);
	plant("attachment", 5 * page, "leak_attachment");
}

static LEAK void leak_shm(void)
{
	int fd = shm_open(shm_name, O_CREAT | O_RDWR | O_EXCL, 0600);

	check("shm_open", fd >= 0 && ftruncate(fd, 12345) == 0);
	close(fd);
	plant("shm", 12345, "leak_shm");
}

static void share_well(void)
{
	int id = shmget(IPC_PRIVATE, page, IPC_CREAT | 0600), fd;
	void *p = shmat(id, NULL, 0);
	char name[80];

	check("shmat", p != (void *)-1);
	shmdt(p);
	shmctl(id, IPC_RMID, NULL);
	snprintf(name, sizeof(name), "%s-well", shm_name);
	fd = shm_open(name, O_CREAT | O_RDWR, 0600);
	check("shm_open", fd >= 0 && ftruncate(fd, (off_t)page) == 0);
	p = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	munmap(p, page);
	shm_unlink(name);
}

/* ---- threads ---- */

static void *be_thread(void *tid)
{
	if (tid)
		__atomic_store_n((pid_t *)tid, gettid(), __ATOMIC_RELEASE);
	return NULL;
}

static LEAK void leak_thread(void)
{
	pid_t tid = 0, its;
	pthread_t thread;

	check("pthread_create", pthread_create(&thread, NULL, be_thread, &tid) == 0);
	/* The thread has ended before the line is printed. */
	do
		its = __atomic_load_n(&tid, __ATOMIC_ACQUIRE);
	while (its == 0 || syscall(SYS_tgkill, getpid(), its, 0) == 0);
	plant("thread", 0, "leak_thread");
}

static void *detach_itself(void *unused)
{
	pthread_detach(pthread_self());
	return unused;
}

static void thread_well(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	check("pthread_create", pthread_create(&thread, NULL, be_thread, NULL) == 0);
	pthread_join(thread, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	check("pthread_create", pthread_create(&thread, &attr, be_thread, NULL) == 0);
	pthread_attr_destroy(&attr);
	check("pthread_create", pthread_create(&thread, NULL, detach_itself, NULL) == 0);
	check("pthread_create", pthread_create(&thread, NULL, be_thread, NULL) == 0);
	pthread_detach(thread);
	check("pthread_create", pthread_create(&thread, NULL, be_thread, NULL) == 0);
	while (pthread_tryjoin_np(thread, NULL) == EBUSY)
		sched_yield();
}

static void *run_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* ---- work ---- */

static LEAK void work(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		close_well();
		map_well();
		share_well();
		thread_well();
	}
	PLANT_FD(leak_open);
	PLANT_FD(leak_openat);
	PLANT_FD(leak_socket);
	PLANT_FD(leak_dup);
	PLANT_FD(leak_dup2);
	PLANT_FD(leak_dup3);
	PLANT_FD(leak_fcntl);
	PLANT_FD(leak_epoll);
	PLANT_FD(leak_eventfd);
	PLANT_FD(leak_timerfd);
	PLANT_FD(leak_inotify);
	PLANT_FD(leak_ioctl);
	PLANT_FD(leak_memfd);
	PLANT_FD(leak_signalfd);
	PLANT_FD(leak_pidfd_open);
	PLANT_FD(leak_pidfd_getfd);
	PLANT_FD(leak_pipe);
	PLANT_FD(leak_socketpair);
	PLANT_FD(leak_accept);
	PLANT_FD(leak_scm_rights);
	PLANT_FD(leak_scm_rights_many);
	leak_mapping();
	leak_moved();
	leak_file_mapping();
	leak_segment();
	leak_attachment();
	leak_shm();
	leak_thread();
	leak_thread();
	/* A running thread is no leak. */
	check("pthread_create", pthread_create(&thread, NULL, run_for_ever, NULL) == 0);
}

/* Reads only one line of the standard input, since the child needs the next one. */
static void wait_for_line(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

static LEAK int in_child(void)
{
	leak_openat();
	return leak_socket();
}

/* The function has the name of an allocator's function. Its first call makes a thread. */
void *je_malloc(size_t n);

LEAK void *je_malloc(size_t n)
{
	static bool begun;
	pthread_t thread;

	if (!begun) {
		begun = true;
		check("pthread_create", pthread_create(&thread, NULL, be_thread, NULL) == 0);
	}
	return malloc(n);
}

static LEAK void leak_beside_allocator(void)
{
	pthread_t thread;

	free(je_malloc(1000));
	check("pthread_create", pthread_create(&thread, NULL, be_thread, NULL) == 0);
}

/* Including threads that have not begun. */
static LEAK void leak_crowd(unsigned n)
{
	pthread_t thread;

	for (unsigned i = 0; i < n; i++)
		check("pthread_create", pthread_create(&thread, NULL, be_thread, NULL) == 0);
}

/* Returns in each child, and in the parent after the last one has ended. */
static void be_crowds(void)
{
	char c = 0;
	int go[2];

	check("pipe", pipe(go) == 0);
	for (int i = 0; i < 128; i++) {
		pid_t child = fork();

		check("fork", child >= 0);
		if (child > 0)
			continue;
		check("read", read(go[0], &c, 1) == 1);
		leak_crowd(1);
		return;
	}
	wait_for_line();
	for (int i = 0; i < 128; i++)
		check("write", write(go[1], &c, 1) == 1 && wait(NULL) > 0);
}

static LEAK int grown(void)
{
	wait_for_line();
	return leak_eventfd();
}

static LEAK void family(void)
{
	pid_t child;

	wait_for_line();
	leak_open();
	child = fork();
	check("fork", child >= 0);
	if (child == 0) {
		wait_for_line();
		in_child();
		execl("/proc/self/exe", "resource-load", "grown", NULL);
		check("exec", false);
	}
	waitpid(child, NULL, 0);
}

#if defined(__x86_64__)
/* A call with the 32-bit ABI. */
static long call_32(int number, int argument)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(argument) : "memory");
	return result;
}
#endif

static void make_foreign_calls(void)
{
	unsigned n = 0;
#if defined(__x86_64__)
	enum { X32_BIT = 0x40000000, DUP = 41, CLOSE = 6, GETPID = 20 };

	n += syscall(X32_BIT | SYS_dup, before[0]) >= 0;
	n += syscall(X32_BIT | SYS_close, -1) >= 0;
	n += call_32(CLOSE, (int)call_32(DUP, before[0])) == 0;
	n += call_32(DUP, before[0]) >= 0;
	n += call_32(GETPID, 0) == getpid();
	n += call_32(CLOSE, -1) == 0;
	n++; /* (the descriptor that is closed) */
#endif
	printf("%u\n", n);
}

int main(int argc, char **argv)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	snprintf(shm_name, sizeof(shm_name), "/resource-load-%d", (int)getpid());
	if (argc > 1 && strcmp(argv[1], "grown") == 0) {
		grown();
		wait_for_line();
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "crowd") == 0) {
		leak_crowd(256);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "crowds") == 0) {
		be_crowds();
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "allocator") == 0) {
		leak_beside_allocator();
		return 0;
	}
	before[0] = open("/dev/null", O_RDWR);
	before[1] = open("/dev/null", O_RDWR);
	check("open", before[0] >= 0 && before[1] >= 0);
	if (argc > 1 && strcmp(argv[1], "foreign") == 0) {
		make_foreign_calls();
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "family") == 0) {
		family();
	} else {
		wait_for_line();
		work();
	}
	printf("end\n");
	fflush(stdout);
	wait_for_line();
	if (argc > 1 && strcmp(argv[1], "exit") == 0)
		return 0;
	if (argc > 1 && strcmp(argv[1], "leave") == 0)
		syscall(SYS_exit, 0);
	for (;;)
		pause();
}
