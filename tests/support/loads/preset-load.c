/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does things that the sets of tracepoints record, and prints what it has done, as KEY=VALUE:
 *
 *	preset-load signals N	sends N signals to a child, each after the one before was taken
 *	preset-load faults N FILE
 *				a child touches N new pages, then all pages of FILE, of which none
 *				is in memory, then a new page in the place of the first one, and
 *				lets the kernel touch N / 2 new pages at once. The faults are those
 *				that the kernel has counted at the end of the child
 *	preset-load tcp		makes a connection on this machine; the client closes it first
 *	preset-load retransmit ADDRESS
 *				connects to an address that does not answer, until one packet was
 *				sent again
 *	preset-load rtt N	sends N bytes to and fro between two sockets, one at a time. When
 *				the connection has been idle, prints the client's data of ss -ti
 *				and TCP_INFO; then the server closes it
 *	preset-load udp N	sends N datagrams to a port of this machine that nobody has
 *	preset-load memory MIB	touches so much memory
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void child_takes(long n, int to_parent, const sigset_t *signals)
{
	int sig;

	for (long i = 0; i <= n; i++) {
		/* (a byte without a signal: the child is ready) */
		if (i > 0 && sigsuspend(signals) == 0)
			err(1, "sigsuspend");
		sig = (int)write(to_parent, "", 1);
		if (sig != 1)
			err(1, "write");
	}
	_exit(0);
}

static void on_signal(int sig)
{
	(void)sig;
}

static void do_signals(long n)
{
	sigset_t blocked, none;
	int acks[2];
	pid_t child;
	char byte;

	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	signal(SIGUSR1, on_signal);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	if (pipe(acks) < 0)
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (child == 0)
		child_takes(n, acks[1], &none);
	for (long i = 0; i <= n; i++) {
		if (read(acks[0], &byte, 1) != 1)
			err(1, "read");
		if (i < n && kill(child, SIGUSR1) < 0)
			err(1, "kill");
	}
	waitpid(child, NULL, 0);
	printf("sender=%d receiver=%d\n", getpid(), child);
}

static volatile char *new_pages(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap");
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static void touch(volatile char *p, size_t bytes, size_t page, bool write)
{
	for (size_t i = 0; i < bytes; i += page)
		if (write)
			p[i] = 1;
		else
			(void)p[i];
}

/* Maps FILE, so that each page is read when it is touched. */
static volatile char *map_cold(const char *file, size_t *ret_bytes)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *p;

	if (fd < 0 || fstat(fd, &st) < 0)
		err(1, "%s", file);
	*ret_bytes = (size_t)st.st_size;
	if (fdatasync(fd) < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
		err(1, "posix_fadvise");
	p = mmap(NULL, *ret_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED || madvise(p, *ret_bytes, MADV_RANDOM) < 0)
		err(1, "mmap");
	return p;
}

/* Puts a new page in the place of the one at P. */
static void replace(volatile char *p, size_t page)
{
	if (mmap((void *)p, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) == MAP_FAILED)
		_exit(1);
}

static void do_faults(long n, const char *file)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)n * page, file_bytes;
	volatile char *p = new_pages(bytes), *populated = new_pages(bytes / 2),
		      *mapped = map_cold(file, &file_bytes);
	struct rusage usage;
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (child == 0) {
		touch(p, bytes, page, true);
		touch(mapped, file_bytes, page, false);
		replace(mapped, page);
		touch(mapped, page, page, true);
		_exit(madvise((void *)populated, bytes / 2, MADV_POPULATE_WRITE) < 0);
	}
	if (wait4(child, &(int){ 0 }, 0, &usage) < 0)
		err(1, "wait4");
	printf("pid=%d begin=%ju end=%ju mapped=%ju populated=%ju minflt=%ld majflt=%ld\n", child,
	       (uintmax_t)(uintptr_t)p, (uintmax_t)((uintptr_t)p + bytes),
	       (uintmax_t)(uintptr_t)mapped, (uintmax_t)(uintptr_t)populated, usage.ru_minflt,
	       usage.ru_majflt);
}

static int port_of(int fd)
{
	struct sockaddr_in a;
	socklen_t n = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &n) < 0)
		err(1, "getsockname");
	return ntohs(a.sin_port);
}

static int tcp_socket(int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM | flags, 0);

	if (fd < 0)
		err(1, "socket");
	return fd;
}

/* Makes a connection on this machine. Returns the listening socket. */
static int connect_both(int *ret_client, int *ret_server)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = tcp_socket(0);

	*ret_client = tcp_socket(0);
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(listener, 1) < 0)
		err(1, "listen");
	a.sin_port = htons((uint16_t)port_of(listener));
	if (connect(*ret_client, (struct sockaddr *)&a, sizeof(a)) < 0)
		err(1, "connect");
	*ret_server = accept(listener, NULL, NULL);
	if (*ret_server < 0)
		err(1, "accept");
	printf("client=%d server=%d\n", port_of(*ret_client), port_of(listener));
	return listener;
}

/* Waits until the kernel has acknowledged the last byte, and treats the connection as idle. */
static void let_be_idle(void)
{
	nanosleep(&(struct timespec){ 0, 400000000 }, NULL);
}

static void do_rtt(long n)
{
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);
	char command[64], byte = 0;
	int client, server, listener = connect_both(&client, &server);

	for (long i = 0; i < n; i++)
		if (write(client, "x", 1) != 1 || read(server, &byte, 1) != 1 ||
		    write(server, "y", 1) != 1 || read(client, &byte, 1) != 1)
			err(1, "to and fro");
	let_be_idle();
	snprintf(command, sizeof(command), "ss -tinH sport = :%d", port_of(client));
	fflush(stdout);
	if (system(command) != 0)
		errx(1, "ss failed");
	if (getsockopt(client, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
		err(1, "TCP_INFO");
	/* (in the form of ss, which knows these numbers only with the module tcp_diag) */
	printf("TCP_INFO rtt:%g/%g cwnd:%u\n", info.tcpi_rtt / 1e3, info.tcpi_rttvar / 1e3,
	       info.tcpi_snd_cwnd);
	close(server);
	if (read(client, &byte, 1) != 0)
		err(1, "read");
	close(client);
	close(listener);
}

static void do_udp(long n)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), free_port = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || free_port < 0 || bind(free_port, (struct sockaddr *)&a, sizeof(a)) < 0)
		err(1, "socket");
	a.sin_port = htons((uint16_t)port_of(free_port));
	close(free_port);
	for (long i = 0; i < n; i++)
		if (sendto(fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)) != 1)
			err(1, "sendto");
	printf("sender=%d\n", getpid());
}

static void do_tcp(void)
{
	int client, server, listener = connect_both(&client, &server);
	char byte;

	close(client);
	if (read(server, &byte, 1) != 0)
		err(1, "read");
	close(server);
	close(listener);
}

static void do_retransmit(const char *address)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct tcp_info info = { 0 };
	socklen_t n = sizeof(info);
	int fd = tcp_socket(SOCK_NONBLOCK);

	inet_aton(address, &a.sin_addr);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 || errno != EINPROGRESS)
		err(1, "connect");
	while (info.tcpi_total_retrans == 0) {
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
		if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) < 0)
			err(1, "TCP_INFO");
	}
	printf("port=%d retransmits=%u\n", port_of(fd), info.tcpi_total_retrans);
	close(fd);
}

static void do_memory(long mib)
{
	size_t n = (size_t)mib << 20;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap");
	printf("pid=%d\n", getpid());
	fflush(stdout);
	memset(p, 1, n);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc == 3 && strcmp(what, "signals") == 0)
		do_signals(atol(argv[2]));
	else if (argc == 4 && strcmp(what, "faults") == 0)
		do_faults(atol(argv[2]), argv[3]);
	else if (argc == 2 && strcmp(what, "tcp") == 0)
		do_tcp();
	else if (argc == 3 && strcmp(what, "rtt") == 0)
		do_rtt(atol(argv[2]));
	else if (argc == 3 && strcmp(what, "udp") == 0)
		do_udp(atol(argv[2]));
	else if (argc == 3 && strcmp(what, "retransmit") == 0)
		do_retransmit(argv[2]);
	else if (argc == 3 && strcmp(what, "memory") == 0)
		do_memory(atol(argv[2]));
	else
		errx(2, "unknown arguments");
	return 0;
}
