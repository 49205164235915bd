/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The main function. All other code is in the library that the tests also link.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "cli/common/verb.h"
#include "cli/dispatch.h"

/*
 * Opens closed standard descriptors, so that a file that is opened later does not get one of their
 * numbers, and messages are not written into it. The descriptors are opened for the wrong
 * direction, so they remain unusable. Returns 0 or a negative errno.
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
		return CLI_FAILED; /* an error message is not possible */
	/* If a file reaches its limit (ulimit -f), writing fails with an error instead of a
	 * signal. */
	signal(SIGXFSZ, SIG_IGN);
	return cli_check_printed(dispatch(argc, argv));
}
