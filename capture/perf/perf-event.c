/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/perf/perf-event.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "capture/perf/perf-protocol.h"

enum {
	PARANOID_NOBODY = 3, /* kernel.perf_event_paranoid in Debian; other systems use 4 */
};

static const char *ask_path;

static int perf_event_request(struct perf_question *q, int file)
{
	_cleanup_close_ int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int event = -1;
	int32_t answer;
	int r;

	if (sock < 0)
		return -errno;
	if (strlen(ask_path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, ask_path);
	r = perf_protocol_be_impatient(sock);
	if (r < 0)
		return r;
	if (connect(sock, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (file >= 0)
		/* A pointer of this process is meaningless in the other process. */
		q->attr.uprobe_path = 0;
	r = perf_protocol_send(sock, q, sizeof(*q), file)
		    ?: perf_protocol_receive(sock, &answer, sizeof(answer), &event);
	if (r < 0)
		return r;
	if (answer < 0 && answer >= -4095)
		return answer;
	return answer == 0 && event >= 0 ? TAKE_FD(event) : -EBADMSG;
}

static int perf_event_open_with(struct perf_question *q, int file)
{
	int fd = perf_protocol_open(q, file), asked;

	if ((fd != -EACCES && fd != -EPERM) || !ask_path)
		return fd;
	asked = perf_event_request(q, file);
	/* If kymo-perf is absent, report the error of the kernel. */
	return asked == -ENOENT || asked == -ECONNREFUSED ? fd : asked;
}

int perf_event_open_cpu(struct perf_event_attr *attr, unsigned cpu)
{
	struct perf_question q = { .attr = *attr, .pid = -1, .cpu = (int32_t)cpu };

	return perf_event_open_with(&q, -1);
}

int perf_event_open_probe(pid_t pid, int fd, uint64_t offset, uint64_t semaphore, bool on_return)
{
	int type = perf_protocol_number(UPROBES "type"),
	    bit = perf_protocol_number(UPROBES "format/retprobe");
	struct perf_question q = {
		.attr = { .type = (uint32_t)type, .probe_offset = offset },
		.pid = pid ?: -1,
		.cpu = pid ? -1 : 0, /* (a probe on all processes runs on every CPU) */
	};

	if (type < 0 || bit < 0)
		return -EOPNOTSUPP;
	if (semaphore > UINT32_MAX)
		return -EOVERFLOW;
	q.attr.config = semaphore << PERF_SEMAPHORE_SHIFT | (uint64_t)on_return << bit;
	return perf_event_open_with(&q, fd);
}

int perf_event_open_tracepoint(uint32_t id)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .config = id };
	int fd = -ENODEV;

	/* (the program runs on all CPUs; the event only needs one that is online) */
	for (unsigned cpu = 0; fd == -ENODEV && cpu < 1024; cpu++)
		fd = perf_event_open_cpu(&attr, cpu);
	return fd;
}

void perf_event_request_at(const char *path)
{
	ask_path = path;
}

bool perf_event_is_restricted(void)
{
	return perf_protocol_number("/proc/sys/kernel/perf_event_paranoid") >= PARANOID_NOBODY;
}
