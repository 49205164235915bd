/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An attacker of attacks.sh: requests snapshots of its flight recorders into sockets that nobody
 * reads, with the smallest possible buffer. poll() reports room, and a write that waits for it
 * hangs forever. Most requests are cancelled by leaving the bus, while their threads still hang.
 * Prints "stuck" when all of them do, and stays until it is killed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/bus/ask-service.h"

enum {
	SESSIONS = 4,
	ROUNDS = 10, /* cancelled requests of each session */
	LEFT = 4 * SESSIONS,
	FLIGHT_BYTES = 4 << 20,
	TAKEN_USEC = 400000, /* the time after which it is being written */
};

static unsigned n_answered;

static void start_flight(sd_bus *b, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	char path[128];
	int r;

	CHECK(sd_bus_message_new_method_call(b, &m, NAME, MANAGER_PATH, MANAGER_INTERFACE,
					     "CreateSession") >= 0);
	CHECK(sd_bus_message_append(m, "sa{sv}", name, 3, "mode", "s", "flight", "flight_bytes",
				    "t", (uint64_t)FLIGHT_BYTES, "ring_bytes", "t",
				    (uint64_t)1 << 20) >= 0);
	r = sd_bus_call(b, m, 0, &e, NULL);
	if (r < 0)
		fprintf(stderr, "CreateSession: %s\n", e.message);
	CHECK(r >= 0);
	snprintf(path, sizeof(path), SESSION_PREFIX "%u/%s", getuid(), name);
	CHECK(call(b, path, "Start").r >= 0);
}

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	const sd_bus_error *e = sd_bus_message_get_error(m);

	(void)userdata;
	(void)reterr;
	n_answered++;
	CHECK(e);
	return 0;
}

/* Returns the requesting connection. The other end of the socket stays open in this process. */
static sd_bus *ask_snapshot(const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	sd_bus *b = connect_bus();
	const int least = 1;
	char path[128];
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	CHECK(setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &least, sizeof(least)) == 0);
	/* (so little that poll() still reports room, and a write of 4096 bytes does not fit) */
	CHECK(write(ends[1], "x", 1) == 1);
	snprintf(path, sizeof(path), SESSION_PREFIX "%u/%s", getuid(), name);
	CHECK(sd_bus_message_new_method_call(b, &m, NAME, path, SESSION_INTERFACE, "Snapshot") >=
	      0);
	CHECK(sd_bus_message_append(m, "h", ends[1]) >= 0);
	CHECK(sd_bus_call_async(b, NULL, m, on_answer, NULL, UINT64_MAX) >= 0);
	CHECK(sd_bus_flush(b) >= 0);
	close(ends[1]);
	return b;
}

int main(void)
{
	sd_bus *b = connect_bus(), *left[LEFT];
	char name[32];

	for (int i = 0; i < SESSIONS; i++) {
		snprintf(name, sizeof(name), "stuck%d", i);
		start_flight(b, name);
	}
	usleep(500000);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < SESSIONS; i++) {
			snprintf(name, sizeof(name), "stuck%d", i);
			left[i] = ask_snapshot(name);
		}
		usleep(TAKEN_USEC);
		for (int i = 0; i < SESSIONS; i++)
			sd_bus_close_unref(left[i]);
	}
	for (int i = 0; i < LEFT; i++) {
		snprintf(name, sizeof(name), "stuck%d", i % SESSIONS);
		left[i] = ask_snapshot(name);
	}
	usleep(500000);
	for (int i = 0; i < LEFT; i++)
		while (sd_bus_process(left[i], NULL) > 0)
			;
	/*
	 * (one of each session is written, and others wait for it; or there are too many already)
	 */
	fprintf(stderr, "%u of %d were answered\n", n_answered, LEFT);
	puts("stuck");
	fflush(stdout);
	pause();
	return 0;
}
