/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

bool cpus_parse(const char *text, bool *ret, unsigned n)
{
	const char *p = text;
	char *end;

	memset(ret, 0, n * sizeof(*ret));
	while (*p >= '0' && *p <= '9') {
		unsigned long first = strtoul(p, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < n; cpu++)
			ret[cpu] = true;
		p = *end == ',' ? end + 1 : end;
	}
	if (p != text && (*p == '\0' || *p == '\n'))
		return true;
	memset(ret, 0, n * sizeof(*ret));
	return false;
}

void cpus_online(bool *ret, unsigned n)
{
	_cleanup_close_ int fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[got > 0 ? got : 0] = '\0';
	if (!cpus_parse(text, ret, n))
		memset(ret, true, n * sizeof(*ret));
}

/* ---- those that went ---- */

int cpus_listen(void)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
					NETLINK_KOBJECT_UEVENT);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

bool cpus_parse_gone(const char *message, size_t bytes, unsigned *ret_cpu)
{
	static const char begin[] = "offline@/devices/system/cpu/cpu";
	const size_t n = sizeof(begin) - 1;
	unsigned long cpu;
	char *end;

	/* What follows is text that ends with NUL, or it is none of the kernel's. */
	if (bytes <= n || memcmp(message, begin, n) != 0 || !memchr(message, '\0', bytes) ||
	    message[n] < '0' || message[n] > '9')
		return false;
	cpu = strtoul(message + n, &end, 10);
	if (*end != '\0' || cpu > UINT16_MAX)
		return false;
	*ret_cpu = (unsigned)cpu;
	return true;
}

bool cpus_clear_gone(int fd, bool *ret, unsigned n)
{
	struct sockaddr_nl from;
	char message[4096];
	bool any = false;
	unsigned cpu;
	ssize_t got;

	while (fd >= 0) {
		socklen_t from_bytes = sizeof(from);

		got = recvfrom(fd, message, sizeof(message), 0, (struct sockaddr *)&from,
			       &from_bytes);
		if (got < 0 && errno == ENOBUFS) {
			memset(ret, false, n * sizeof(*ret));
			any = true;
			continue;
		}
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		/* Programs may send such things, too. */
		if (from.nl_pid == 0 && cpus_parse_gone(message, (size_t)got, &cpu) && cpu < n) {
			ret[cpu] = false;
			any = true;
		}
	}
	return any;
}
