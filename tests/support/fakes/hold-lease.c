/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds a lease of a file, so that other processes cannot open or execute it until the kernel
 * breaks the lease (/proc/sys/fs/lease-break-time), or until this process ends:
 *
 *	hold-lease FILE
 *
 * Prints "held" when it has the lease.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	/* (the kernel asks for the lease with this signal) */
	signal(SIGIO, SIG_IGN);
	if (fd < 0 || fcntl(fd, F_SETLEASE, F_WRLCK) < 0) {
		perror("hold-lease");
		return 1;
	}
	printf("held\n");
	fflush(stdout);
	for (;;)
		pause();
}
