/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/daemon-providers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "capture/proc/proc.h"
#include "capture/providers/provider-socket.h"
#include "daemon/common/bus-error.h"
#include "daemon/common/log.h"
#include "daemon/common/machine-memory.h"
#include "daemon/files/async-close.h"
#include "daemon/files/direct-sockets.h"
#include "daemon/files/reaper-sockets.h"
#include "daemon/sessions/limits.h"

/* How long the socket stays after a list, and how long a list waits for programs. */
#define HOLD_NS   UINT64_C(10000000000)
#define GATHER_NS UINT64_C(1000000000)
#define TICK_USEC 100000

enum {
	CALLS_MAX = 32,      /* calls that wait */
	CALLS_OF_ROOT = 8,   /* of these, for root only */
	CALLS_PER_USER = 4,  /* except root */
	CATEGORIES_MAX = 256 /* listed categories of a program */
};

struct waiting_call {
	sd_bus_message *call;
	struct daemon_providers_caller caller;
};

struct daemon_providers {
	struct manager *manager;
	struct provider_links *links;
	sd_event_source *io, *tick;
	uint64_t opened_ns, held_ns; /* CLOCK_BOOTTIME; the socket stays until held_ns */
	uint64_t news_seen;
	struct waiting_call calls[CALLS_MAX];
	unsigned n_calls;
};

/* ---- answers ---- */

DEFINE_ORDER_OF_POINTERS(daemon_providers_order, char, strcmp(x, y))

static bool daemon_providers_may_see(const struct daemon_providers_caller *caller, uid_t uid)
{
	return caller->sees_all || caller->uid == uid;
}

static bool daemon_providers_is_recorded(const struct daemon_session *s,
					 const struct provider_link *link,
					 const struct daemon_providers_caller *caller,
					 struct providers_figures *ret)
{
	return daemon_providers_may_see(caller, s->uid) &&
	       providers_stage_figures(session_providers(s->session), link->number, ret);
}

/*
 * Whether a session that the caller may see records category NAME of LINK. Comparisons reduce
 * *LEFT; if it is too small for them, it becomes 0.
 */
static bool daemon_providers_is_on(const struct daemon_providers *p,
				   const struct provider_link *link,
				   const struct daemon_providers_caller *caller, const char *name,
				   uint64_t *left)
{
	struct providers_figures figures;

	for (const struct daemon_session *s = p->manager->sessions; s; s = s->next)
		if (daemon_providers_is_recorded(s, link, caller, &figures) &&
		    providers_stage_has_category(session_providers(s->session), name, left))
			return true;
	return false;
}

static int daemon_providers_append_categories(const struct daemon_providers *p, sd_bus_message *m,
					      const struct provider_link *link,
					      const struct daemon_providers_caller *caller,
					      uint64_t *left)
{
	_cleanup_free_ void **names = NULL;
	char text[256];
	size_t n = 0;
	int r = sd_bus_message_open_container(m, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", "categories");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', "a(sb)");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "(sb)");
	if (link->categories.n_used > 0) {
		names = table_sorted(&link->categories, daemon_providers_order, &n);
		if (!names)
			return -ENOMEM;
	}
	for (size_t i = 0; r >= 0 && i < n && i < CATEGORIES_MAX; i++) {
		bool is_on = daemon_providers_is_on(p, link, caller, names[i], left);

		if (*left == 0)
			break;
		text_clean(text, sizeof(text), names[i], strlen(names[i]));
		r = sd_bus_message_append(m, "(sb)", text, (int)is_on);
	}
	for (unsigned i = 0; r >= 0 && i < 3; i++)
		r = sd_bus_message_close_container(m);
	return r;
}

static int daemon_providers_append_sessions(const struct daemon_providers *p, sd_bus_message *m,
					    const struct provider_link *link,
					    const struct daemon_providers_caller *caller)
{
	struct providers_figures figures;
	int r = sd_bus_message_open_container(m, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", "sessions");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', "a(ostt)");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "(ostt)");
	for (const struct daemon_session *s = p->manager->sessions; r >= 0 && s; s = s->next)
		if (daemon_providers_is_recorded(s, link, caller, &figures))
			r = sd_bus_message_append(m, "(ostt)", s->path,
						  session_options(s->session)->name,
						  figures.written, figures.lost);
	for (unsigned i = 0; r >= 0 && i < 3; i++)
		r = sd_bus_message_close_container(m);
	return r;
}

static int daemon_providers_append(const struct daemon_providers *p, sd_bus_message *m,
				   const struct provider_link *link,
				   const struct daemon_providers_caller *caller, uint64_t *left)
{
	char cgroup[4096];
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	proc_cgroup(link->pid, cgroup, sizeof(cgroup));
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}{sv}{sv}{sv}", "name", "s", link->name, "pid",
					  "u", link->pid, "uid", "u", link->uid, "cgroup", "s",
					  cgroup);
	if (r >= 0)
		r = daemon_providers_append_categories(p, m, link, caller, left);
	if (r >= 0)
		r = daemon_providers_append_sessions(p, m, link, caller);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/*
 * Answers CALL. P is NULL if no program is connected. Each program may use an equal share of the
 * comparisons, so no program can make the categories of others missing in the list.
 */
static int daemon_providers_answer(const struct daemon_providers *p, sd_bus_message *call,
				   const struct daemon_providers_caller *caller)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const struct provider_link *link;
	uint64_t left;
	int r = sd_bus_message_new_method_return(call, &reply);

	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "a{sv}");
	for (size_t pos = 0; p && r >= 0 && (link = provider_links_next(p->links, &pos));) {
		left = PROVIDER_MATCHING_MAX / PROVIDER_LINKS_MAX;
		if (!link->is_gone && *link->name && daemon_providers_may_see(caller, link->uid))
			r = daemon_providers_append(p, reply, link, caller, &left);
	}
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

/* Answers the first call. */
static void daemon_providers_answer_next(struct daemon_providers *p)
{
	struct waiting_call first = p->calls[0];
	int r = daemon_providers_answer(p, first.call, &first.caller);

	if (r < 0)
		bus_error_reply(first.call, r, NULL);
	sd_bus_message_unref(first.call);
	memmove(&p->calls[0], &p->calls[1], --p->n_calls * sizeof(p->calls[0]));
}

/* Whether one more call of UID can wait. */
static bool daemon_providers_has_place(const struct daemon_providers *p, uid_t uid)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n_calls; i++)
		n += p->calls[i].caller.uid == uid;
	if (uid == 0)
		return p->n_calls < CALLS_MAX;
	return n < CALLS_PER_USER && p->n_calls < CALLS_MAX - CALLS_OF_ROOT;
}

/* ---- connections ---- */

struct daemon_providers *daemon_providers_free(struct daemon_providers *p)
{
	if (!p)
		return NULL;
	for (unsigned i = 0; i < p->n_calls; i++)
		sd_bus_message_unref(p->calls[i].call);
	sd_event_source_disable_unref(p->tick);
	sd_event_source_disable_unref(p->io);
	provider_links_free(p->links);
	return free_ptr(p);
}

DEFINE_CLEANUP(struct daemon_providers *, daemon_providers_free)

static int daemon_providers_on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct daemon_providers *p = userdata;
	sd_bus *bus = p->manager->bus;

	(void)source;
	(void)fd;
	(void)revents;
	provider_links_poll(p->links);
	/*
	 * As after a drain: one message of the bus is handled. It can end all sessions, and with
	 * them P.
	 */
	if (bus)
		sd_bus_process(bus, NULL);
	return 0;
}

/*
 * Runs while the socket is held for lists, or calls wait. Answers at most one call each time, since
 * a list takes time, and users can call often. While sessions run, their rounds renew the
 * connections, too.
 */
static int daemon_providers_on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct daemon_providers *p = userdata;
	struct manager *m = p->manager;
	uint64_t now_ns = clock_boot_ns(), news = provider_links_news(p->links);

	(void)usec;
	provider_links_renew(p->links);
	if (p->n_calls > 0 && (news == p->news_seen || now_ns > p->opened_ns + GATHER_NS))
		daemon_providers_answer_next(p);
	p->news_seen = news;
	if (p->n_calls == 0 && now_ns >= p->held_ns) {
		daemon_providers_settle(m);
		return 0;
	}
	sd_event_source_set_time_relative(source, TICK_USEC);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static bool daemon_providers_is_stuck(uint32_t uid)
{
	return async_close_is_full(uid);
}

/* All links, and the socket that listens. */
_Static_assert(PROVIDER_LINKS_MAX + 1 + DIRECT_SOCKETS_MAX <= REAPER_SOCKETS_MAX,
	       "the reaper has room for all sockets");

static const struct provider_links_ops daemon_providers_ops = {
	.is_stuck = daemon_providers_is_stuck,
	.opened = reaper_sockets_add,
	.closes = reaper_sockets_remove,
};

static int daemon_providers_watch(struct daemon_providers *p)
{
	sd_event *event = p->manager->event;
	int r = sd_event_add_io(event, &p->io, provider_links_fd(p->links), EPOLLIN,
				daemon_providers_on_io, p);

	if (r >= 0)
		r = sd_event_add_time_relative(event, &p->tick, CLOCK_MONOTONIC, TICK_USEC, 0,
					       daemon_providers_on_tick, p);
	return r < 0 ? r : sd_event_source_set_enabled(p->tick, SD_EVENT_OFF);
}

static int daemon_providers_open(struct manager *m, sd_bus_error *reterr)
{
	_cleanup_(daemon_providers_freep) struct daemon_providers *p = NULL;
	char why[VALUE_WHY_MAX] = "";
	int r;

	if (m->providers)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->manager = m;
	p->opened_ns = clock_boot_ns();
	r = provider_links_new(&p->links, PROVIDER_OWNER_SERVICE, why);
	if (r == -EADDRINUSE)
		return bus_error_set(reterr, -EBUSY, "%s", why);
	if (r < 0)
		return bus_error_set(reterr, r, "cannot let programs connect: %s",
				     *why ? why : strerror(-r));
	async_close_note_lock(provider_links_lock_fd(p->links));
	provider_links_set_ops(p->links, &daemon_providers_ops);
	r = daemon_providers_watch(p);
	if (r < 0)
		return r;
	m->providers = TAKE_PTR(p);
	return 0;
}

/* ---- sessions ---- */

static bool daemon_providers_is_used_by(const struct daemon_session *s)
{
	return session_providers(s->session)->context.links != NULL;
}

/* Whether the buffers of S can have BYTES more. */
static bool daemon_providers_has_room(void *userdata, uint64_t bytes)
{
	const struct limit limit = limits_of(LIMITED_BUFFERS, machine_memory());
	const struct daemon_session *s = userdata;
	struct limit_use use = { 0 };
	uint64_t most;

	for (const struct daemon_session *one = s->manager->sessions; one; one = one->next) {
		uint64_t size = providers_stage_bytes(session_providers(one->session));

		use.all += size;
		use.user += one->uid == s->uid ? size : 0;
		use.own += one->uid == s->uid && session_options(one->session)->own ? size : 0;
	}
	return limit_check(&limit, &use,
			   &(struct limit_request){ bytes, s->uid,
						    session_options(s->session)->own },
			   &most) == LIMIT_FITS;
}

int daemon_providers_join(struct daemon_session *s, sd_bus_error *reterr)
{
	struct manager *m = s->manager;
	int r;

	if (!(session_options(s->session)->categories & CATEGORY_APP) ||
	    daemon_providers_is_used_by(s))
		return 0;
	r = daemon_providers_open(m, reterr);
	if (r < 0)
		return r;
	session_set_providers(s->session, m->providers->links,
			      &(struct providers_owner){ s->uid, daemon_providers_has_room, s });
	return 0;
}

void daemon_providers_leave(struct daemon_session *s)
{
	if (daemon_providers_is_used_by(s))
		session_leave_providers(s->session);
	daemon_providers_settle(s->manager);
}

void daemon_providers_settle(struct manager *m)
{
	struct daemon_providers *p = m->providers;

	while (p && m->exiting && p->n_calls > 0)
		daemon_providers_answer_next(p);
	if (!p || p->n_calls > 0 || (clock_boot_ns() < p->held_ns && !m->exiting))
		return;
	for (const struct daemon_session *s = m->sessions; s; s = s->next)
		if (daemon_providers_is_used_by(s))
			return;
	m->providers = daemon_providers_free(m->providers);
}

/* ---- lists ---- */

bool daemon_providers_is_waiting(const struct manager *m)
{
	return m->providers && m->providers->n_calls > 0;
}

int daemon_providers_list(struct manager *m, sd_bus_message *call,
			  const struct daemon_providers_caller *caller, sd_bus_error *reterr)
{
	struct daemon_providers *p;
	/*
	 * (while the service has the socket, no other process can use it, so only callers who may
	 * see all programs make the service open it)
	 */
	int enabled = SD_EVENT_OFF, r = caller->sees_all ? daemon_providers_open(m, reterr) : 0;

	if (r < 0)
		return r;
	p = m->providers;
	if (!p)
		return daemon_providers_answer(NULL, call, caller);
	if (!daemon_providers_has_place(p, caller->uid))
		return bus_error_set(reterr, -EBUSY, "too many other calls wait: try again");
	if (caller->sees_all)
		p->held_ns = clock_boot_ns() + HOLD_NS;
	sd_event_source_get_enabled(p->tick, &enabled);
	if (enabled == SD_EVENT_OFF) {
		p->news_seen = UINT64_MAX;
		sd_event_source_set_time_relative(p->tick, TICK_USEC);
		r = sd_event_source_set_enabled(p->tick, SD_EVENT_ONESHOT);
	}
	if (r < 0)
		return r;
	p->calls[p->n_calls++] = (struct waiting_call){ sd_bus_message_ref(call), *caller };
	return 0;
}
