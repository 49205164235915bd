/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run-from-memory FILE [ARGUMENT ...]: copies the program FILE to memory and executes it there.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	int in = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int out = memfd_create("in memory", MFD_CLOEXEC);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st) < 0) {
		perror("run-from-memory");
		return 1;
	}
	for (off_t left = st.st_size; left > 0;) {
		ssize_t n = sendfile(out, in, NULL, (size_t)left);

		if (n <= 0)
			return 1;
		left -= n;
	}
	fexecve(out, argv + 1, environ);
	perror("run-from-memory");
	return 1;
}
