/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does things that the sets of tracepoints record, and prints what it has done, as KEY=VALUE:
 *
 *	preset-load signals N	sends N signals to a child, each after the one before was taken
 *	preset-load faults N	touches N new pages
 *	preset-load tcp		makes a connection on this machine; the client closes it first
 *	preset-load retransmit ADDRESS
 *				connects to an address that does not answer, until one packet was
 *				sent again
 *	preset-load memory MIB	touches so much memory
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
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

static long minor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

static void do_faults(long n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *p = mmap(NULL, (size_t)n * page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before, after;

	if (p == MAP_FAILED)
		err(1, "mmap");
	madvise((void *)p, (size_t)n * page, MADV_NOHUGEPAGE);
	before = minor_faults();
	for (long i = 0; i < n; i++)
		p[(size_t)i * page] = 1;
	after = minor_faults();
	printf("pid=%d begin=%ju end=%ju minflt=%ld\n", getpid(), (uintmax_t)(uintptr_t)p,
	       (uintmax_t)((uintptr_t)p + (size_t)n * page), after - before);
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

static void do_tcp(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = tcp_socket(0), client = tcp_socket(0), server;
	char byte;

	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(listener, 1) < 0)
		err(1, "listen");
	a.sin_port = htons((uint16_t)port_of(listener));
	if (connect(client, (struct sockaddr *)&a, sizeof(a)) < 0)
		err(1, "connect");
	server = accept(listener, NULL, NULL);
	if (server < 0)
		err(1, "accept");
	printf("client=%d server=%d\n", port_of(client), port_of(listener));
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
	else if (argc == 3 && strcmp(what, "faults") == 0)
		do_faults(atol(argv[2]));
	else if (argc == 2 && strcmp(what, "tcp") == 0)
		do_tcp();
	else if (argc == 3 && strcmp(what, "retransmit") == 0)
		do_retransmit(argv[2]);
	else if (argc == 3 && strcmp(what, "memory") == 0)
		do_memory(atol(argv[2]));
	else
		errx(2, "unknown arguments");
	return 0;
}
