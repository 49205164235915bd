/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sessions/manager.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "capture/programs/capabilities.h"
#include "capture/sandbox/user-counts.h"
#include "daemon/access/access.h"
#include "daemon/common/bus-error.h"
#include "daemon/files/flight-directories.h"
#include "daemon/common/log.h"
#include "daemon/common/machine-memory.h"
#include "daemon/sessions/daemon-providers.h"
#include "daemon/sessions/daemon-session.h"
#include "daemon/sessions/collection-snapshots.h"
#include "daemon/sessions/bus-signals.h"
#include "daemon/sessions/limits.h"

static struct daemon_session *manager_find_exact(const struct manager *m, const char *name,
						 uid_t uid)
{
	for (struct daemon_session *s = m->sessions; s; s = s->next)
		if (s->uid == uid && strcmp(session_options(s->session)->name, name) == 0)
			return s;
	return NULL;
}

/*
 * Finds a session with the name NAME, of any user. *RET_N is the number of sessions with this name.
 */
static struct daemon_session *manager_find_any_(const struct manager *m, const char *name,
						size_t *ret_n)
{
	struct daemon_session *found = NULL;

	*ret_n = 0;
	for (struct daemon_session *s = m->sessions; s; s = s->next) {
		if (strcmp(session_options(s->session)->name, name) == 0) {
			found = s;
			++*ret_n;
		}
	}
	return found;
}

/* Finds the session UID/NAME. */
static struct daemon_session *manager_find_qualified(const struct manager *m, const char *text)
{
	const char *slash = strchr(text, '/');
	char number[16];
	uint64_t uid;

	if (!slash || (size_t)(slash - text) >= sizeof(number))
		return NULL;
	memcpy(number, text, (size_t)(slash - text));
	number[slash - text] = '\0';
	if (text_parse_u64(number, UINT32_MAX - 1, &uid) < 0)
		return NULL;
	return manager_find_exact(m, slash + 1, (uid_t)uid);
}

int manager_find(const struct manager *m, const char *name, uid_t uid, struct daemon_session **ret,
		 sd_bus_error *reterr)
{
	struct daemon_session *s =
		manager_find_exact(m, name, uid) ?: manager_find_qualified(m, name);

	if (!s || s->uid != uid)
		return bus_error_set(reterr, -ENOENT, "there is no session '%s'", name);
	*ret = s;
	return 0;
}

int manager_find_any(const struct manager *m, const char *name, uid_t uid,
		     struct daemon_session **ret, sd_bus_error *reterr)
{
	struct daemon_session *s = manager_find_exact(m, name, uid);
	size_t n = 0;

	if (!s)
		s = manager_find_qualified(m, name) ?: manager_find_any_(m, name, &n);
	if (n > 1)
		return bus_error_set(reterr, -ENOENT,
				     "%zu users have a session '%s': select one by UID/%s", n, name,
				     name);
	if (!s)
		return bus_error_set(reterr, -ENOENT, "there is no session '%s'", name);
	*ret = s;
	return 0;
}

struct daemon_session *manager_find_path(const struct manager *m, const char *path)
{
	for (struct daemon_session *s = m->sessions; s; s = s->next)
		if (strcmp(s->path, path) == 0)
			return s;
	return NULL;
}

static int manager_check_name(const struct manager *m, const struct manager_create_args *args,
			      sd_bus_error *reterr)
{
	if (!session_name_valid(args->name))
		return bus_error_set(reterr, -EINVAL,
				     "'%.80s' is not a valid name for a session: use 1 to 64 "
				     "letters, digits and '_'",
				     args->name);
	if (manager_find_exact(m, args->name, args->uid))
		return bus_error_set(reterr, -EEXIST,
				     "the session '%s' exists already: `kymo stop %s` ends and "
				     "removes it",
				     args->name, args->name);
	return 0;
}

/* The amount of a resource that S uses. */
typedef uint64_t (*amount_fn)(const struct daemon_session *s);

static struct limit_use manager_use_of(const struct manager *m, uid_t uid, amount_fn amount)
{
	struct limit_use use = { 0 };

	for (const struct daemon_session *s = m->sessions; s; s = s->next) {
		bool is_theirs = s->uid == uid;

		use.all += amount(s);
		use.user += is_theirs ? amount(s) : 0;
		use.own += is_theirs && session_options(s->session)->own ? amount(s) : 0;
	}
	return use;
}

/*
 * Counts active sessions. A session that was recovered from a dead service does not count, since it
 * uses only memory.
 */
static uint64_t manager_count_active(const struct daemon_session *s)
{
	return !daemon_session_recovered(s);
}

static int manager_check_counts(const struct manager *m, const struct manager_create_args *args,
				bool own, sd_bus_error *reterr)
{
	static const struct limit limit = { LIMIT_SESSIONS, LIMIT_SESSIONS_ROOT,
					    LIMIT_SESSIONS_PER_USER, LIMIT_SESSIONS_OWN };
	const struct user_count abandoned = user_counts_get(&abandoned_sessions, args->uid);
	struct limit_use has = manager_use_of(m, args->uid, manager_count_active);
	uint64_t may;

	/* Sessions that were removed although their output hangs still hold their resources. */
	has.all += abandoned.all;
	has.user += abandoned.user;
	has.own += abandoned.user;

	if (m->exiting)
		return bus_error_set(reterr, -EDQUOT, "the service is stopping");
	switch (limit_check(&limit, &has, &(struct limit_request){ 1, args->uid, own }, &may)) {
	case LIMIT_FITS:
		break;
	case LIMIT_EXCEEDS_ALL:
		return bus_error_set(reterr, -EDQUOT,
				     "there are %" PRIu64
				     " sessions, which is the limit: remove one first",
				     has.all);
	case LIMIT_EXCEEDS_USER:
		return bus_error_set(
			reterr, -EDQUOT,
			"you have %" PRIu64
			" sessions (%u of them removed, with threads that hang), which is the "
			"limit: remove one first",
			has.user, abandoned.user);
	case LIMIT_EXCEEDS_OWN:
		return bus_error_set(reterr, -EDQUOT,
				     "you have %" PRIu64
				     " sessions of your own processes, which is the limit: "
				     "remove one first",
				     has.own);
	}
	if (args->uid == 0 && has.user >= LIMIT_SESSIONS_PER_USER)
		return bus_error_set(reterr, -EDQUOT,
				     "root has %" PRIu64
				     " sessions, which is the limit: remove one first",
				     has.user);
	return 0;
}

static uint64_t manager_ring_bytes(const struct daemon_session *s)
{
	return daemon_session_finished(s) ? 0 : session_ring_memory(session_options(s->session));
}

static struct limit_request manager_limit_request_of(const struct daemon_session *s,
						     uint64_t amount)
{
	return (struct limit_request){ amount, s->uid, session_options(s->session)->own };
}

/* Describes the limit that is exceeded. */
static const char *manager_limit_scope(enum limit_verdict v)
{
	return v == LIMIT_EXCEEDS_ALL    ? "all users"
	       : v == LIMIT_EXCEEDS_USER ? "one user"
					 : "one user's own processes";
}

/* Checks that the rings of S, in addition to all others, are within the limits. */
static int manager_check_rings(const struct manager *m, const struct daemon_session *s,
			       sd_bus_error *reterr)
{
	const struct limit limit = limits_of(LIMITED_RINGS, machine_memory());
	const struct limit_use use = manager_use_of(m, s->uid, manager_ring_bytes);
	const struct limit_request wish = manager_limit_request_of(s, manager_ring_bytes(s));
	uint64_t most;
	enum limit_verdict v = limit_check(&limit, &use, &wish, &most);

	if (v == LIMIT_FITS)
		return 0;
	return bus_error_set(reterr, -EDQUOT,
			     "option `ring_bytes`: the rings of all CPUs and their queues need "
			     "%s, other sessions use %s; the limit for %s is %s",
			     TEXT_SIZE(wish.amount), TEXT_SIZE(use.all), manager_limit_scope(v),
			     TEXT_SIZE(most));
}

static uint64_t manager_blocks_of(const struct daemon_session *s)
{
	const struct session_options *o = session_options(s->session);

	return o->categories & CATEGORIES_MEMORY && !daemon_session_finished(s)
		       ? o->memory.blocks_max
		       : 0;
}

/*
 * Checks that the table of blocks of S, in addition to all others, is within the limits. The kernel
 * allocates the table at once.
 */
static int manager_check_blocks(const struct manager *m, const struct daemon_session *s,
				sd_bus_error *reterr)
{
	const struct limit limit = limits_of(LIMITED_BLOCKS, machine_memory());
	const struct limit_use use = manager_use_of(m, s->uid, manager_blocks_of);
	const struct limit_request wish = manager_limit_request_of(s, manager_blocks_of(s));
	uint64_t most;
	enum limit_verdict v = limit_check(&limit, &use, &wish, &most);

	if (v == LIMIT_FITS)
		return 0;
	return bus_error_set(reterr, -EDQUOT,
			     "option `memory_blocks_max`: the table has room for %" PRIu64
			     " blocks, those of other sessions for %" PRIu64
			     "; the limit for %s is %" PRIu64,
			     wish.amount, use.all, manager_limit_scope(v), most);
}

static uint64_t manager_tables_of(const struct daemon_session *s)
{
	const struct session_options *o = session_options(s->session);

	return (o->categories ?: CATEGORIES_DEFAULT) & CATEGORIES_USER_STACKS &&
			       !daemon_session_finished(s)
		       ? o->stack_tables_bytes ?: STACK_TABLES_DEFAULT
		       : 0;
}

/* Checks that the unwind tables of S, in addition to all others, are within the limits. */
static int manager_check_tables(const struct manager *m, const struct daemon_session *s,
				sd_bus_error *reterr)
{
	const struct limit limit = limits_of(LIMITED_TABLES, machine_memory());
	const struct limit_use use = manager_use_of(m, s->uid, manager_tables_of);
	const struct limit_request wish = manager_limit_request_of(s, manager_tables_of(s));
	uint64_t most;
	enum limit_verdict v = limit_check(&limit, &use, &wish, &most);

	if (v == LIMIT_FITS)
		return 0;
	return bus_error_set(
		reterr, -EDQUOT,
		"option `stack_tables_bytes`: unwind tables would take up to %s, those of "
		"other sessions take %s; the limit for %s is %s",
		TEXT_SIZE(wish.amount), TEXT_SIZE(use.all), manager_limit_scope(v),
		TEXT_SIZE(most));
}

static uint64_t manager_flight_of(const struct daemon_session *s)
{
	const struct session_options *o = session_options(s->session);

	return o->mode == SESSION_FLIGHT ? o->flight_bytes : 0;
}

static uint64_t manager_buffers_of(const struct daemon_session *s)
{
	return providers_stage_bytes(session_providers(s->session));
}

void manager_usage(const struct manager *m, uid_t uid,
		   struct manager_usage ret[static MANAGER_USAGE_MAX])
{
	static const struct {
		const char *name;
		amount_fn amount;
		enum limited what;
	} rows[] = {
		{ "ring_bytes", manager_ring_bytes, LIMITED_RINGS },
		{ "memory_blocks", manager_blocks_of, LIMITED_BLOCKS },
		{ "stack_tables_bytes", manager_tables_of, LIMITED_TABLES },
		{ "flight_bytes", manager_flight_of, LIMITED_FLIGHTS },
		{ "buffer_bytes", manager_buffers_of, LIMITED_BUFFERS },
	};
	struct limit_use has = manager_use_of(m, uid, manager_count_active);

	_Static_assert(ARRAY_SIZE(rows) + 1 == MANAGER_USAGE_MAX, "and the sessions");
	ret[0] = (struct manager_usage){ "sessions", has.all, LIMIT_SESSIONS, has.user,
					 LIMIT_SESSIONS_PER_USER };
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct limit limit = limits_of(rows[i].what, machine_memory());

		has = manager_use_of(m, uid, rows[i].amount);
		/*
		 * Root can use all of each resource except the sessions, which are limited for
		 * root, too.
		 */
		ret[i + 1] = (struct manager_usage){ rows[i].name, has.all, limit.all, has.user,
						     uid == 0 ? limit.all : limit.user };
	}
}

int manager_rate_limit(struct manager *m, uid_t uid, sd_bus_error *reterr)
{
	uint64_t wait_ns = 0;
	int r = rate_limit_acquire(&m->efforts, uid, clock_boot_ns(), &wait_ns);

	return r < 0 ? bus_error_set(reterr, r,
				     "too many sessions were created or started in a short "
				     "time: try again in %" PRIu64 " ms",
				     wait_ns / 1000000 + 1)
		     : 0;
}

/*
 * Checks that the content of S is within the limits, in addition to all other content, including
 * that of finished sessions.
 */
static int manager_check_flights(const struct manager *m, const struct daemon_session *s,
				 sd_bus_error *reterr)
{
	const struct limit limit = limits_of(LIMITED_FLIGHTS, machine_memory());
	const struct limit_request wish = { manager_flight_of(s), s->uid,
					    session_options(s->session)->own };
	const struct limit_use use = manager_use_of(m, s->uid, manager_flight_of);
	uint64_t most;
	enum limit_verdict v = limit_check(&limit, &use, &wish, &most);

	if (wish.amount == 0 || v == LIMIT_FITS)
		return 0;
	return bus_error_set(reterr, -EDQUOT,
			     "option `flight_bytes`: the flight recorder would keep %s, others "
			     "keep %s; the limit for %s is %s",
			     TEXT_SIZE(wish.amount), TEXT_SIZE(use.all), manager_limit_scope(v),
			     TEXT_SIZE(most));
}

static int manager_make(struct manager *m, const struct manager_create_args *args,
			struct create_request *request, struct daemon_session **ret,
			sd_bus_error *reterr)
{
	const char *text = "";
	int r = capabilities_check(&text);

	if (r < 0)
		return bus_error_set(reterr, -ENODEV, "%s", text);
	r = daemon_session_new(&(struct daemon_session_args){ m, args->owner, args->uid }, request,
			       ret);
	if (r == -EBADF)
		return bus_error_set(reterr, r, "option `output` cannot be written");
	if (r < 0 && request->options.mode == SESSION_FLIGHT && !request->store)
		return bus_error_set(reterr, -ENODEV,
				     "cannot create a file for the data of the flight "
				     "recorder: %s",
				     strerror(-r));
	if (r < 0)
		return bus_error_set(reterr, r, "cannot create the session: %s", strerror(-r));
	return 0;
}

/*
 * Removes the finished session NAME of a collection, to make room for a new one. The content that a
 * dead service has left in memory is written to the collection's directory.
 */
static void manager_save_left(struct manager *m, const char *name, struct collection_use *use)
{
	struct daemon_session *s = manager_find_exact(m, name, 0);
	int r;

	if (!s || !daemon_session_finished(s) || !(daemon_session_recovered(s) || s->profile))
		return;
	if (daemon_session_recovered(s)) {
		const struct log_subject about = daemon_session_subject(s, LOG_SESSION_OTHER);

		r = collection_snapshot_recovered(s, use);
		if (r < 0)
			log_session_warning(&about, r,
					    "the data that the service kept when it died is "
					    "lost");
		else
			log_session(&about,
				    "writing the data that the service kept when it "
				    "died to %s",
				    use->collection.directory);
	}
	manager_remove(m, s);
}

/* Sets the options of REQUEST from its collection. */
static int manager_use_profile(struct manager *m, const struct manager_create_args *args,
			       struct create_request *request, sd_bus_error *reterr)
{
	struct collection *c;
	int r;

	if (args->uid != 0)
		return bus_error_set(reterr, -EACCES,
				     "only root can start collections: run `systemctl start "
				     "kymo-collect@%.64s` as root",
				     request->profile);
	if (strcmp(args->name, request->profile) != 0)
		return bus_error_set(reterr, -EINVAL,
				     "a session of the collection '%.64s' must have its name, "
				     "not '%.64s'",
				     request->profile, args->name);
	r = collection_use_new(&m->places, request->profile, &request->use, reterr);
	if (r < 0)
		return bus_error_set(reterr, r, NULL);
	manager_save_left(m, args->name, request->use);
	c = &request->use->collection;
	request->options = c->session;
	c->session = (struct session_options){ 0 };
	r = request->options.mode == SESSION_STREAM
		    ? collection_use_store(request->use, request->use->packed, &request->store)
		    : 0;
	return r < 0 ? bus_error_set(reterr, r, "its directory cannot be used: %s", strerror(-r))
		     : 0;
}

int manager_create(struct manager *m, const struct manager_create_args *args,
		   struct create_request *request, struct daemon_session **ret,
		   sd_bus_error *reterr)
{
	_cleanup_(daemon_session_freep) struct daemon_session *s = NULL;
	int r = request->profile ? manager_use_profile(m, args, request, reterr) : 0;

	r = r ?: manager_check_name(m, args, reterr);
	if (r < 0)
		return r;
	r = manager_check_counts(m, args, request->options.own, reterr);
	if (r < 0)
		return r;
	r = manager_rate_limit(m, args->uid, reterr);
	if (r < 0)
		return r;
	strcpy(request->options.name, args->name);
	r = manager_make(m, args, request, &s, reterr);
	if (r < 0)
		return r;
	r = manager_check_rings(m, s, reterr);
	r = r ?: manager_check_blocks(m, s, reterr);
	r = r ?: manager_check_tables(m, s, reterr);
	r = r ?: manager_check_flights(m, s, reterr);
	if (r < 0)
		return r;
	s->next = m->sessions;
	m->sessions = s;
	bus_signals_of_session(s, "SessionAdded");
	*ret = TAKE_PTR(s);
	return 0;
}

void manager_remove(struct manager *m, struct daemon_session *s)
{
	for (struct daemon_session **at = &m->sessions; *at; at = &(*at)->next) {
		if (*at == s) {
			*at = s->next;
			break;
		}
	}
	bus_signals_of_session(s, "SessionRemoved");
	daemon_session_free(s);
	/*
	 * Sessions need much memory; without sessions, the freed memory is returned to the kernel.
	 */
	if (!m->sessions)
		malloc_trim(0);
}

static bool manager_any_active(const struct manager *m)
{
	for (const struct daemon_session *s = m->sessions; s; s = s->next)
		if (daemon_session_active(s))
			return true;
	return false;
}

static bool manager_all_notified(const struct manager *m)
{
	for (const struct daemon_session *s = m->sessions; s; s = s->next)
		if (!daemon_session_is_announced(s) || daemon_session_is_writing(s))
			return false;
	return true;
}

void manager_settle(struct manager *m)
{
	bool active = manager_any_active(m);
	int enabled = SD_EVENT_OFF;

	if (m->exiting && !active && manager_all_notified(m) && !m->savings)
		sd_event_exit(m->event, m->exit_status);
	daemon_providers_settle(m);
	sd_event_source_get_enabled(m->tick, &enabled);
	if (active == (enabled != SD_EVENT_OFF))
		return;
	sd_event_source_set_time_relative(m->tick, NOTIFY_COUNTERS_NS / 1000);
	sd_event_source_set_enabled(m->tick, active ? SD_EVENT_ON : SD_EVENT_OFF);
}

static int manager_on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manager *m = userdata;

	for (struct daemon_session *s = m->sessions; s; s = s->next) {
		if (daemon_session_active(s)) {
			daemon_session_signal_counters(s);
			daemon_session_check_collection(s);
		}
	}
	return sd_event_source_set_time_relative(source, NOTIFY_COUNTERS_NS / 1000);
}

static void manager_on_gone(const char *unique_name, void *userdata)
{
	struct manager *m = userdata;
	struct daemon_session *next;

	for (struct daemon_session *s = m->sessions; s; s = next) {
		next = s->next;
		daemon_session_drop_waiters(s, unique_name);
		/*
		 * When the service exits, a collection's flight recorder is not removed: the next
		 * service writes its content to the collection's directory.
		 */
		if (s->owner && strcmp(s->owner, unique_name) == 0 &&
		    !(m->exiting && s->profile && s->flight_fd >= 0))
			daemon_session_remove(s, "owner gone");
	}
}

static int manager_on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manager *m = userdata;

	for (const struct daemon_session *s = m->sessions; s; s = s->next) {
		const struct log_subject about = daemon_session_subject(s, LOG_SESSION_ENDED);

		if (daemon_session_active(s))
			log_session_warning(&about, 0, "output too slow; archive truncated");
	}
	return sd_event_exit(m->event, m->exit_status);
}

void manager_shutdown(struct manager *m, int status)
{
	int r;

	if (m->exiting)
		return;
	m->exiting = true;
	m->exit_status = status;
	for (struct daemon_session *s = m->sessions; s; s = s->next)
		if (daemon_session_active(s))
			session_stop(s->session, "service stopped");
	r = sd_event_add_time_relative(m->event, &m->deadline, CLOCK_MONOTONIC,
				       TIMEOUT_SHUTDOWN_NS / 1000, 0, manager_on_deadline, m);
	if (r < 0) {
		log_warning(r, "cannot set the timer for the end: archives are truncated");
		sd_event_exit(m->event, status);
	}
	manager_settle(m);
}

static void manager_on_found(uid_t uid, const char *name, int fd, void *userdata)
{
	struct manager *m = userdata;
	struct daemon_session *s;
	int r = daemon_session_new_recovered(m, uid, name, fd, &s);

	if (r == -ENOMEM || r == -EMFILE || r == -ENFILE) {
		/*
		 * Resources are lacking for now. The next service can try to restore the session
		 * again.
		 */
		log_warning(r, "cannot restore flight recorder %s of user %u; its file remains",
			    name, uid);
		close_fd(fd);
		return;
	}
	if (r < 0) {
		/* The directory is empty, or unreadable. */
		flight_directories_remove(m->flights_fd, uid, name, fd);
		close_fd(fd);
		return;
	}
	s->next = m->sessions;
	m->sessions = s;
	log_warning(0,
		    "session %s: restored the flight recorder of a service that ended; `kymo "
		    "snapshot` writes its data",
		    s->path);
}

/* Offers the content again that flight recorders of a dead service have left. */
static void manager_recover(struct manager *m)
{
	m->flights_fd = flight_directories_open();
	if (m->flights_fd < 0)
		log_warning(m->flights_fd, "cannot create files for flight recorders");
	else
		flight_directories_find(m->flights_fd, manager_on_found, m);
}

int manager_new(sd_event *event, sd_bus *bus, const char *group,
		const struct manager_objects *objects, struct manager **ret)
{
	_cleanup_(manager_freep) struct manager *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->objects = objects;
	m->remove = manager_remove;
	m->settle = manager_settle;
	m->flights_fd = -ENOENT;
	m->event = sd_event_ref(event);
	m->bus = sd_bus_ref(bus);
	m->places = (struct collection_places){ COLLECTION_DIRECTORY, COLLECTION_DIRECTORY_PREFIX };
	r = access_new(bus, group, &(struct access_ops){ manager_demand, manager_on_gone, m },
		       &m->access);
	if (r < 0)
		return r;
	/* The timer has slack, so that it can fire together with other timers. */
	r = sd_event_add_time_relative(event, &m->tick, CLOCK_MONOTONIC, NOTIFY_COUNTERS_NS / 1000,
				       NOTIFY_COUNTERS_NS / 1000 / 4, manager_on_tick, m);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(m->tick, SD_EVENT_OFF);
	if (r < 0)
		return r;
	m->start_ns = clock_boot_ns();
	r = objects->offer(m, bus);
	if (r < 0)
		return r;
	manager_recover(m);
	*ret = TAKE_PTR(m);
	return 0;
}

struct manager *manager_free(struct manager *m)
{
	if (!m)
		return NULL;
	m->ending = true;
	while (m->sessions)
		manager_remove(m, m->sessions);
	collection_savings_free(m);
	m->providers = daemon_providers_free(m->providers);
	close_fd(m->flights_fd);
	access_free(m->access);
	sd_event_source_disable_unref(m->tick);
	sd_event_source_disable_unref(m->deadline);
	if (m->bus)
		sd_bus_flush(m->bus);
	sd_bus_unref(m->bus);
	sd_event_unref(m->event);
	return free_ptr(m);
}
