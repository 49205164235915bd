/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/bus/service.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/access/access.h"
#include "daemon/bus/private-socket.h"
#include "daemon/common/log.h"
#include "daemon/sessions/daemon-providers.h"
#include "daemon/sessions/daemon-session.h"
#include "daemon/sessions/collection-snapshots.h"

#define USEC_PER_SEC   UINT64_C(1000000)
#define NOTIFY_USEC    USEC_PER_SEC        /* interval of status lines */
#define BARRIER_USEC   (5 * USEC_PER_SEC)  /* maximum time for systemd to read notifications */
#define LATE_IDLE_USEC USEC_PER_SEC        /* idle time after the notification "stopping" */
#define MORE_TIME_USEC (30 * USEC_PER_SEC) /* time requested with each status after "stopping" */
#define RELEASE_USEC   (10 * USEC_PER_SEC) /* maximum time for the bus to release the name */
#define STATUS_MAX     1024

/*
 * The maximum wait for the name. The name of a killed service is free after its reaper has closed
 * all files of that service (async-close.c). Closing these can take a moment on a busy machine.
 */
#define NAME_WAIT_NS   UINT64_C(5000000000)
#define NAME_POLL_USEC 50000

struct service {
	sd_event *event;
	sd_bus *bus;
	struct manager *manager;
	struct private_socket *private_socket; /* NULL = none */
	bool without_bus;
	uint64_t idle_usec;
	bool releasing; /* the name is being released */
	/* The bus has not answered in time, but may still release the name. */
	bool released_late;
	bool stopping_notified;
	uint64_t n_calls;                /* number of received calls */
	uint64_t calls_before;           /* value of N_CALLS when the name was released */
	uint64_t shape;                  /* value of service_shape() at the last status */
	uint64_t calls_seen, shape_seen; /* values at the last check of idleness */
	char status[STATUS_MAX];
	sd_event_source *sigterm, *sigint, *sigusr1, *post, *idle, *notify;
	sd_bus_slot *calls, *disconnected, *owner;
};

/* ---- notifications to systemd ---- */

/*
 * Returns a hash of the sessions and their states. A status is sent soon after the hash has
 * changed, and otherwise once a second.
 */
static uint64_t service_shape(const struct manager *m)
{
	uint64_t n = 1;

	for (const struct daemon_session *s = m->sessions; s; s = s->next)
		n = n * 31 + (uintptr_t)s + (uint64_t)session_state(s->session);
	return n;
}

static bool service_any_active(const struct manager *m)
{
	for (const struct daemon_session *s = m->sessions; s; s = s->next)
		if (daemon_session_active(s))
			return true;
	return false;
}

/*
 * Returns true if there are sessions. Sessions with the content of a dead service do not count,
 * since the next service offers them again.
 */
static bool service_has_sessions(const struct manager *m)
{
	for (const struct daemon_session *s = m->sessions; s; s = s->next)
		if (!daemon_session_recovered(s))
			return true;
	return false;
}

static void service_print_one(FILE *f, const struct daemon_session *s, uint64_t *lost)
{
	struct session_counters c;

	session_counters(s->session, &c);
	for (size_t i = 0; i < CLASS_MAX; i++)
		*lost += c.lost[i];
	/* The user is printed as a number, since a lookup of the name can take long. */
	if (s->uid == 0)
		fprintf(f, "%s of root", session_options(s->session)->name);
	else
		fprintf(f, "%s of uid %u", session_options(s->session)->name, s->uid);
	if (!daemon_session_active(s))
		fprintf(f, " (%s)", session_state_names[session_state(s->session)]);
}

static void service_print_status(const struct manager *m, char *to, size_t room)
{
	FILE *f = fmemopen(to, room, "w");
	uint64_t lost = 0;
	size_t n = 0;

	to[0] = '\0';
	if (!f)
		return;
	for (const struct daemon_session *s = m->sessions; s; s = s->next)
		n++;
	if (n == 0) {
		fputs("No sessions", f);
	} else {
		fprintf(f, "%zu session%s: ", n, n == 1 ? "" : "s");
		for (const struct daemon_session *s = m->sessions; s; s = s->next) {
			service_print_one(f, s, &lost);
			fputs(s->next ? ", " : "; ", f);
		}
		if (lost)
			fprintf(f, "%" PRIu64 " records lost", lost);
		else
			fputs("nothing lost", f);
	}
	fclose(f);
	to[room - 1] = '\0';
}

static void service_notify_status(struct service *s)
{
	char now[STATUS_MAX];

	s->shape = service_shape(s->manager);
	service_print_status(s->manager, now, sizeof(now));
	if (strcmp(now, s->status) != 0) {
		strcpy(s->status, now);
		sd_notifyf(0, "STATUS=%s", now);
	}
	if (s->stopping_notified && !s->releasing)
		sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%" PRIu64, MORE_TIME_USEC);
}

static int service_on_notify_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct service *s = userdata;

	service_notify_status(s);
	if (!service_any_active(s->manager) && !s->stopping_notified)
		return 0; /* a change enables the timer again */
	sd_event_source_set_time_relative(source, NOTIFY_USEC);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

void service_notify_reloading(void)
{
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		   clock_read_ns(CLOCK_MONOTONIC) / 1000);
}

void service_notify_reloaded(void)
{
	sd_notify(0, "READY=1");
}

/* ---- exit ---- */

static void service_notify_stopping(struct service *s)
{
	if (!s->stopping_notified)
		sd_notify(0, "STOPPING=1");
	s->stopping_notified = true;
}

static int service_on_signal(sd_event_source *source, const struct signalfd_siginfo *info,
			     void *userdata)
{
	struct service *s = userdata;

	service_notify_stopping(s);
	manager_shutdown(s->manager, EXIT_SUCCESS);
	return 0;
}

/* Handles a request for snapshots without the bus. */
static int service_on_usr1(sd_event_source *source, const struct signalfd_siginfo *info,
			   void *userdata)
{
	struct service *s = userdata;

	collection_snapshot_all(s->manager, "SIGUSR1", NULL);
	return 0;
}

/*
 * Handles the end of the bus: clients cannot reach the service any more, and all owners of sessions
 * are gone.
 */
static int service_on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct service *s = userdata;

	log_error(0, "lost the connection to the bus: stopping all sessions");
	service_notify_stopping(s);
	manager_shutdown(s->manager, EXIT_FAILURE);
	return 0;
}

static int service_request_name_within(sd_bus *bus, uint64_t wait_ns)
{
	uint64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + wait_ns;
	int r;

	while ((r = sd_bus_request_name(bus, KYMO_BUS_NAME, 0)) == -EEXIST &&
	       clock_read_ns(CLOCK_MONOTONIC) < until_ns)
		usleep(NAME_POLL_USEC);
	if (r == -EEXIST || r == -EALREADY)
		return log_error(0, "the name " KYMO_BUS_NAME
				    " is in use: another kymod serves this bus already")
			       ?: -EEXIST;
	if (r == -EACCES || r == -EPERM)
		return log_error(0, "the bus does not allow the name " KYMO_BUS_NAME
				    ": install org.kymo.Trace1.conf in its system.d")
			       ?: r;
	return r < 0 ? log_error(r, "cannot request the name " KYMO_BUS_NAME) : 0;
}

static bool service_is_idle(const struct service *s)
{
	return !service_has_sessions(s->manager) && !s->manager->exiting &&
	       !access_is_waiting(s->manager->access) && !daemon_providers_is_waiting(s->manager);
}

/* Returns true if a session or a call has come since the release of the name was requested. */
static bool service_is_needed_again(const struct service *s)
{
	return s->n_calls != s->calls_before || !service_is_idle(s) ||
	       private_socket_has_input(s->private_socket);
}

/* Handles the release of the name: all earlier messages to it have been read. */
static int service_on_owner(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	const char *name, *old_owner, *new_owner, *own;
	struct service *s = userdata;
	int r;

	/* Any client can send a forged signal to this service. */
	if (strcmp(sd_bus_message_get_sender(m) ?: "", "org.freedesktop.DBus") != 0)
		return 0;
	r = sd_bus_message_read(m, "sss", &name, &old_owner, &new_owner);
	if (r < 0 || (!s->releasing && !s->released_late) ||
	    sd_bus_get_unique_name(s->bus, &own) < 0 || strcmp(name, KYMO_BUS_NAME) != 0 ||
	    strcmp(old_owner, own) != 0)
		return 0;
	if (s->releasing && !service_is_needed_again(s)) {
		s->releasing = false;
		manager_shutdown(s->manager, EXIT_SUCCESS);
		return 0;
	}
	s->releasing = s->released_late = false;
	/* If the bus starts services without systemd, another service may have the name by now. */
	r = service_request_name_within(s->bus, 0);
	if (r < 0) {
		manager_shutdown(s->manager, EXIT_SUCCESS);
		return 0;
	}
	private_socket_pause(s->private_socket, false);
	sd_event_source_set_time_relative(s->notify, NOTIFY_USEC);
	return sd_event_source_set_enabled(s->notify, SD_EVENT_ONESHOT);
}

/*
 * Exits without an answer of the bus: there is no bus, or the bus has not released the name in
 * time. But if a call or a session has come meanwhile, the service continues.
 */
static int service_exit_without_bus(struct service *s)
{
	if (service_is_needed_again(s)) {
		s->releasing = false;
		s->released_late = !s->without_bus;
		private_socket_pause(s->private_socket, false);
		sd_event_source_set_time_relative(s->notify, NOTIFY_USEC);
		sd_event_source_set_enabled(s->notify, SD_EVENT_ONESHOT);
		sd_event_source_set_time_relative(s->idle, LATE_IDLE_USEC);
		return sd_event_source_set_enabled(s->idle, SD_EVENT_ONESHOT);
	}
	if (!s->without_bus)
		log_warning(0, "the bus does not answer: exiting with the name " KYMO_BUS_NAME);
	manager_shutdown(s->manager, EXIT_SUCCESS);
	return 0;
}

/* Releases the name, and waits until the bus confirms this. */
static int service_release(struct service *s)
{
	int r = s->without_bus ? 0
			       : sd_bus_release_name_async(s->bus, NULL, KYMO_BUS_NAME, NULL, NULL);

	if (r < 0) {
		log_warning(r, "cannot release the name " KYMO_BUS_NAME);
		manager_shutdown(s->manager, EXIT_SUCCESS);
		return 0;
	}
	sd_event_source_set_time_relative(s->idle, s->without_bus ? 0 : RELEASE_USEC);
	return sd_event_source_set_enabled(s->idle, SD_EVENT_ONESHOT);
}

static int service_on_idle(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct service *s = userdata;

	if (s->manager->exiting)
		return 0;
	if (s->releasing)
		return service_exit_without_bus(s);
	if (service_has_sessions(s->manager))
		return 0;
	if (!service_is_idle(s)) {
		sd_event_source_set_time_relative(s->idle, LATE_IDLE_USEC);
		return sd_event_source_set_enabled(s->idle, SD_EVENT_ONESHOT);
	}
	service_notify_stopping(s);
	sd_notify_barrier(0, BARRIER_USEC);
	s->releasing = true;
	s->calls_before = s->n_calls;
	private_socket_pause(s->private_socket, true);
	return service_release(s);
}

/* ---- events ---- */

static int service_on_message(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct service *s = userdata;

	if (sd_bus_message_is_method_call(m, NULL, NULL))
		s->n_calls++;
	return 0;
}

/*
 * Starts the idle time. If there are no sessions, each call starts the idle time again; other
 * messages do not.
 */
static void service_watch_idle(struct service *s)
{
	/* (during the release, the timer limits the wait for the bus) */
	if (!s->idle || s->releasing || (s->n_calls == s->calls_seen && s->shape == s->shape_seen))
		return;
	s->calls_seen = s->n_calls;
	s->shape_seen = s->shape;
	sd_event_source_set_time_relative(s->idle,
					  s->stopping_notified ? LATE_IDLE_USEC : s->idle_usec);
	sd_event_source_set_enabled(s->idle, service_has_sessions(s->manager) ? SD_EVENT_OFF
									      : SD_EVENT_ONESHOT);
}

/* Runs after each event. */
static int service_on_post(sd_event_source *source, void *userdata)
{
	struct service *s = userdata;
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(s->notify, &enabled);
	if (service_shape(s->manager) != s->shape) {
		s->shape = service_shape(s->manager);
		if (enabled == SD_EVENT_OFF) {
			service_notify_status(s);
			sd_event_source_set_time_relative(s->notify, NOTIFY_USEC);
			sd_event_source_set_enabled(s->notify, SD_EVENT_ONESHOT);
		}
	}
	service_watch_idle(s);
	return 0;
}

static void service_on_private_call(void *userdata)
{
	struct service *s = userdata;

	s->n_calls++;
}

static int service_open_private_socket(struct service *s, int fd)
{
	if (fd < 0)
		return 0;
	return private_socket_new(&(struct private_socket_args){ .event = s->event,
								 .manager = s->manager,
								 .fd = fd,
								 .on_call = service_on_private_call,
								 .userdata = s },
				  &s->private_socket);
}

static int service_add_timers(struct service *s)
{
	int r = sd_event_add_time_relative(s->event, &s->notify, CLOCK_MONOTONIC, NOTIFY_USEC,
					   NOTIFY_USEC / 4, service_on_notify_timer, s);

	if (r >= 0)
		r = sd_event_source_set_enabled(s->notify, SD_EVENT_OFF);
	if (r >= 0 && s->idle_usec)
		r = sd_event_add_time_relative(s->event, &s->idle, CLOCK_MONOTONIC, s->idle_usec, 0,
					       service_on_idle, s);
	if (r >= 0)
		r = sd_event_add_post(s->event, &s->post, service_on_post, s);
	return r;
}

int service_new(const struct service_args *args, struct service **ret)
{
	_cleanup_(service_freep) struct service *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->event = sd_event_ref(args->event);
	s->bus = sd_bus_ref(args->bus);
	s->manager = args->manager;
	s->without_bus = args->without_bus;
	s->idle_usec = args->idle_exit_ns ? args->idle_exit_ns / 1000 ?: 1 : 0;
	r = sd_event_add_signal(s->event, &s->sigterm, SIGTERM, service_on_signal, s);
	if (r >= 0)
		r = sd_event_add_signal(s->event, &s->sigint, SIGINT, service_on_signal, s);
	if (r >= 0)
		r = sd_event_add_signal(s->event, &s->sigusr1, SIGUSR1, service_on_usr1, s);
	if (r >= 0)
		r = sd_bus_match_signal(s->bus, &s->disconnected, "org.freedesktop.DBus.Local",
					"/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
					"Disconnected", service_on_disconnected, s);
	if (r >= 0)
		r = sd_bus_match_signal(s->bus, &s->owner, "org.freedesktop.DBus",
					"/org/freedesktop/DBus", "org.freedesktop.DBus",
					"NameOwnerChanged", service_on_owner, s);
	if (r >= 0)
		r = sd_bus_add_filter(s->bus, &s->calls, service_on_message, s);
	if (r >= 0)
		r = service_add_timers(s);
	if (r >= 0)
		r = service_open_private_socket(s, args->private_fd);
	if (r >= 0)
		r = sd_event_set_watchdog(s->event, true);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

struct service *service_free(struct service *s)
{
	if (!s)
		return NULL;
	private_socket_free(s->private_socket);
	sd_bus_slot_unref(s->calls);
	sd_bus_slot_unref(s->disconnected);
	sd_bus_slot_unref(s->owner);
	sd_event_source_disable_unref(s->sigterm);
	sd_event_source_disable_unref(s->sigint);
	sd_event_source_disable_unref(s->sigusr1);
	sd_event_source_disable_unref(s->post);
	sd_event_source_disable_unref(s->idle);
	sd_event_source_disable_unref(s->notify);
	sd_bus_unref(s->bus);
	sd_event_unref(s->event);
	return free_ptr(s);
}

int service_request_name(sd_bus *bus)
{
	return service_request_name_within(bus, NAME_WAIT_NS);
}

void service_begin(struct service *s)
{
	s->shape = service_shape(s->manager);
	service_print_status(s->manager, s->status, sizeof(s->status));
	sd_notifyf(0, "READY=1\nSTATUS=%s", s->status);
}
