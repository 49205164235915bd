/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of the daemon: notifications to systemd, and its exit.
 *
 * The daemon is idle if there are no sessions, and no calls for a while. It then exits in three
 * steps, so that no call is lost. First, it notifies systemd that it stops, and waits until systemd
 * has read this. From then on, systemd delays a start of the service until the daemon has exited.
 * Second, it releases its name on the bus. Third, it serves the messages that were sent to the name
 * before the release. If one of them created a session, the daemon takes the name again, and
 * continues. systemd cannot return from the state "stopping", so the daemon then asks for more time
 * again and again. On a bus without activation, callers get the error that the name does not exist,
 * and never wait.
 *
 * Meanwhile, connections to the private socket wait, for this service or the next one. If the bus
 * does not release the name within some seconds, the daemon exits nevertheless.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/sessions/manager.h"

#define WITHOUT_IDLE_EXIT UINT64_C(0)

struct service;

struct service_args {
	sd_event *event;
	sd_bus *bus;
	struct manager *manager;
	/* There is no bus: BUS is not connected, and only the private socket is served. */
	bool without_bus;
	int private_fd; /* the listening private socket, owned by the service; -1 = none */
	/* Idle time after which the service exits; WITHOUT_IDLE_EXIT = it never exits. */
	uint64_t idle_exit_ns;
};

/*
 * Makes EVENT's loop end on SIGTERM and SIGINT, at the end of the bus, and after the idle time.
 * SIGUSR1 requests snapshots. The three signals must be blocked. Notifies the watchdog, if there is
 * one. All of ARGS must outlive the service.
 */
int service_new(const struct service_args *args, struct service **ret);
struct service *service_free(struct service *s);

DEFINE_CLEANUP(struct service *, service_free)

/*
 * Takes the name on BUS. A service that has just ended can keep the name for some seconds. When the
 * name is free, all files of that service have been closed. Call this before the manager is
 * created, which looks for content of dead services. Returns 0 or a negative errno, and logs
 * errors.
 */
int service_request_name(sd_bus *bus);

/* Notifies systemd that the service is ready. */
void service_begin(struct service *s);

/* Notify systemd of the start and the end of a reload. */
void service_notify_reloading(void);
void service_notify_reloaded(void);
