/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/common/bus-flush.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"

struct bus_flush_limit {
	int fd;
	uint64_t until_ns; /* CLOCK_MONOTONIC */
	sem_t done;
};

/*
 * The thread that enforces the limit. libsystemd has no limit itself, and a loop of
 * sd_bus_process() would also handle received messages.
 */
static void *bus_flush_watch(void *userdata)
{
	struct bus_flush_limit *l = userdata;
	const struct timespec until = { (time_t)(l->until_ns / 1000000000),
					(long)(l->until_ns % 1000000000) };
	int r;

	do
		r = sem_clockwait(&l->done, CLOCK_MONOTONIC, &until);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		shutdown(l->fd, SHUT_RDWR);
	return NULL;
}

void bus_flush(sd_bus *bus)
{
	struct bus_flush_limit limit = { .fd = sd_bus_get_fd(bus) };
	uint64_t n = 0;
	pthread_t thread;

	if (limit.fd < 0 || sd_bus_is_ready(bus) <= 0 || sd_bus_get_n_queued_write(bus, &n) < 0 ||
	    n == 0)
		return;
	limit.until_ns = clock_read_ns(CLOCK_MONOTONIC) + BUS_FLUSH_NS;
	if (sem_init(&limit.done, 0, 0) < 0)
		return;
	if (pthread_create(&thread, NULL, bus_flush_watch, &limit) == 0) {
		sd_bus_flush(bus);
		sem_post(&limit.done);
		pthread_join(thread, NULL);
	}
	sem_destroy(&limit.done);
}
