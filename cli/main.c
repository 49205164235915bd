/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo: all of it is in the library that tests link, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "cli/common/verb.h"
#include "cli/dispatch.h"

/*
 * What is opened later must not become standard output, or messages would end up in it. What was
 * closed stays of no use: it is opened for the wrong direction. Returns 0 or a negative errno.
 */
static int main_fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -errno;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (main_fill_standard_descriptors() < 0)
		return CLI_FAILED; /* nobody can be told */
	/* A file that may not grow (ulimit -f) is a failure like others, with a message. */
	signal(SIGXFSZ, SIG_IGN);
	return cli_check_printed(dispatch(argc, argv));
}
