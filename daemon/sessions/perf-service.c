/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/perf-service.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "base/cleanup.h"
#include "capture/perf/perf-answer.h"
#include "capture/sandbox/thread.h"
#include "daemon/common/log.h"

/*
 * Answers a request. Each request has its own thread, since a probe's file can be on a file system
 * that never answers.
 */
static void *perf_service_answer(void *userdata)
{
	_cleanup_close_ int sock = (int)(intptr_t)userdata;
	int r = perf_event_answer(sock);

	if (r < 0)
		log_error(r, "a request for a perf event was not answered");
	return NULL;
}

int perf_service_serve(uint64_t idle_ns)
{
	struct pollfd listening = { .fd = SD_LISTEN_FDS_START, .events = POLLIN };
	uint64_t idle_ms = idle_ns / 1000000;
	int timeout_ms = idle_ns == 0 || idle_ms > INT_MAX ? -1 : (int)idle_ms;
	int r;

	if (sd_listen_fds(1) != 1 ||
	    sd_is_socket_unix(listening.fd, SOCK_SEQPACKET, 1, NULL, 0) <= 0)
		return log_error(-EINVAL,
				 "--open-perf-events needs a listening socket (SOCK_SEQPACKET) "
				 "from systemd: kymo-perf.socket starts it");
	while ((r = poll(&listening, 1, timeout_ms)) > 0) {
		_cleanup_close_ int sock = accept4(listening.fd, NULL, NULL, SOCK_CLOEXEC);

		r = sock < 0 ? -errno : thread_start(perf_service_answer, (void *)(intptr_t)sock);
		if (r < 0)
			log_error(r, "a request for a perf event cannot be answered");
		else
			TAKE_FD(sock);
	}
	return r < 0 ? log_error(-errno, "cannot wait for requests") : 0;
}
