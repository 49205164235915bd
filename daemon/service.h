/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of the daemon among others: what it notifies systemd of, and when it goes.
 *
 * Idle means: no sessions, and no calls for a while. To go then, without losing a call that comes
 * at the last moment, takes three steps: systemd is notified that we stop, and has read it (from
 * then on it holds back starts of us, until we are gone); the name is given back; and what was
 * sent to it before the bus took it away is served. If a session came of that, the name is taken
 * again and all goes on as if nothing had been, but that systemd, which has no way back, is asked
 * for more time again and again. Without an activating bus, callers find that there is no such
 * name, and none of them waits for nothing.
 */
#pragma once

#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/manager.h"

#define WITHOUT_IDLE_EXIT UINT64_C(0)

struct service;

struct service_args {
	sd_event *event;
	sd_bus *bus;
	struct manager *manager;
	uint64_t idle_exit_ns; /* WITHOUT_IDLE_EXIT: stays */
};

/*
 * From now on MANAGER is served as long as it should be: SIGTERM and SIGINT (which must be blocked,
 * with SIGUSR1, which asks for snapshots), the end of the bus and idleness end EVENT's loop. The
 * watchdog is fed if there is one. All of ARGS must outlive it.
 */
int service_new(const struct service_args *args, struct service **ret);
struct service *service_free(struct service *s);

DEFINE_CLEANUP(struct service *, service_free)

/*
 * Takes the name on BUS, which a service that has just ended may have for seconds yet: then nothing
 * of that one is open any more. Before there is a manager, which looks for what it has left.
 * Returns 0 or a negative errno, and logs what goes wrong.
 */
int service_take_name(sd_bus *bus);

/* Says that we are ready. */
void service_begin(struct service *s);

/* To systemd, around a reload. */
void service_say_reloading(void);
void service_say_reloaded(void);
