/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads that cause activities of the machine itself: softirqs, work items, interrupts.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/loads/load.h"

/* Sends N packets to itself, one at a time. The sender's CPU serves each in a NET_RX softirq. */
int load_loopback(char **argv)
{
	uint64_t n = number(argv[0]);
	struct sockaddr_in to = { .sin_family = AF_INET };
	socklen_t size = sizeof(to);
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char byte = 'x';

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (s < 0 || bind(s, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    getsockname(s, (struct sockaddr *)&to, &size) < 0)
		die("cannot create a socket on the loopback interface");
	pin(opt.cpu);
	hold_begin();
	for (uint64_t i = 0; i < n; i++) {
		if (sendto(s, &byte, 1, 0, (struct sockaddr *)&to, sizeof(to)) != 1)
			die("cannot send packet %" PRIu64, i);
		if (recv(s, &byte, 1, 0) != 1)
			die("cannot receive packet %" PRIu64, i);
	}
	close(s);
	printf("{\"packets\": %" PRIu64 ", \"cpu\": %d}\n", n, opt.cpu);
	hold_end();
	return 0;
}

/*
 * Causes a work item on each online CPU, N times: for each read of this file, the kernel queues
 * refresh_vm_stats() on all of them, and waits until they are done.
 */
int load_refresh(char **argv)
{
	uint64_t n = number(argv[0]);
	char text[64];
	int fd = open("/proc/sys/vm/stat_refresh", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die("cannot open /proc/sys/vm/stat_refresh");
	pin(opt.cpu);
	hold_begin();
	for (uint64_t i = 0; i < n; i++)
		if (pread(fd, text, sizeof(text), 0) < 0)
			die("cannot read /proc/sys/vm/stat_refresh");
	close(fd);
	printf("{\"items\": %" PRIu64 ", \"function\": \"refresh_vm_stats\"}\n",
	       n * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	hold_end();
	return 0;
}

/*
 * Reads N blocks without the page cache, one at a time. Each causes an interrupt, if FILE is on a
 * disk.
 */
int load_blocks(char **argv)
{
	enum { BLOCK = 4096 };
	uint64_t n = number(argv[1]);
	void *block = aligned_alloc(BLOCK, BLOCK);
	int fd = open(argv[0], O_WRONLY | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);

	if (fd < 0)
		die("cannot open %s for direct input and output", argv[0]);
	if (!block)
		die("out of memory");
	memset(block, 'x', BLOCK);
	pin(opt.cpu);
	hold_begin();
	for (uint64_t i = 0; i < n; i++)
		if (pwrite(fd, block, BLOCK, (off_t)(i % 64 * BLOCK)) != BLOCK)
			die("cannot write to %s", argv[0]);
	close(fd);
	free(block);
	printf("{\"blocks\": %" PRIu64 "}\n", n);
	hold_end();
	return 0;
}
