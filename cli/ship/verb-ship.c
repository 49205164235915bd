/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo ship: the command of kymo-ship@NAME.service. It hands the chunks of a collection over, as
 * [Export] in /etc/kymo/NAME.conf says.
 *
 * It never removes a chunk: the retention of the collection does that. While the target does not
 * take chunks, they wait, and the command tries again after a second, then two, up to a minute.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/directory.h"
#include "base/text.h"
#include "capture/options/collection-parse.h"
#include "cli/bus/bus-notify.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "cli/ship/ship-copy.h"
#include "cli/ship/ship-deliver.h"
#include "cli/ship/ship-state.h"

#define SHIP_STATE_DIRECTORY "/var/lib/kymo-ship"
#define SHIP_STAGING         "staging"

#define WAIT_MS_MIN 1000
#define WAIT_MS_MAX 60000
#define STATUS_MS   10000 /* interval of updates of the status */

#define SLOW_MS          (5 * 60 * 1000)
#define CONVERT_LIMIT_MS (30 * 60 * 1000) /* far above what the largest chunks need */

struct ship_options {
	const char *config_dir, *state_dir;
	bool once;
};

struct ship {
	const char *name;
	struct ship_options options;
	struct collection collection;
	struct ship_state state;
	bool unsaved; /* the state differs from its file */
	struct ship_status status;
	struct ship_job job;
	char *staging;
	int state_fd, status_fd, inotify_fd;
	int watch;        /* of INOTIFY_FD, for the directory; -1 = none */
	uint64_t told_ns; /* when the status was written; CLOCK_MONOTONIC */
	int wait_ms;
	bool told_slow, told_unwatched;
	bool stopped;
};

/* ---- status ---- */

static void verb_ship_tell(struct ship *s)
{
	char text[160];
	const struct ship_chunk *oldest =
		ship_state_waiting(&s->state, &s->status.waiting, &s->status.waiting_bytes);

	s->status.oldest_us = oldest ? oldest->chunk.name.begin_us : 0;
	s->status.taken = s->state.n_taken;
	s->status.lost = s->state.n_lost;
	s->status.lost_bytes = s->state.lost_bytes;
	s->told_ns = clock_read_ns(CLOCK_MONOTONIC);
	ship_status_write(&s->status, s->status_fd);
	snprintf(text, sizeof(text), "%llu taken, %llu waiting, %llu lost%s",
		 (unsigned long long)s->status.taken, (unsigned long long)s->status.waiting,
		 (unsigned long long)s->status.lost, *s->status.error ? "; trying again" : "");
	bus_notify_status(text);
}

/*
 * Notes in the status why chunks wait; TEXT "" = no chunks wait. The journal gets each reason once.
 */
static void verb_ship_set_error(struct ship *s, const char *text)
{
	struct ship_status *st = &s->status;

	if (strcmp(st->error, text) == 0)
		return;
	if (*text)
		cli_error("%s: %s", s->name, text);
	else
		fprintf(stderr, "%s: chunks are handed over again\n", s->name);
	if (!*st->error || !*text)
		st->error_since_us = *text ? clock_read_ns(CLOCK_REALTIME) / 1000 : 0;
	text_clean(st->error, sizeof(st->error), text, strlen(text));
}

/*
 * Notes what is slow. The journal gets this once. The status gets the text each time, since the
 * text can change.
 */
static void verb_ship_note_slow(struct ship *s)
{
	const char *slow = s->job.slow;

	if (*slow && s->told_slow)
		text_clean(s->status.error, sizeof(s->status.error), slow, strlen(slow));
	else if (*slow)
		verb_ship_set_error(s, slow);
	s->told_slow = *slow != '\0';
}

/* Writes the status again, so that readers see that this process works. */
static void verb_ship_on_tick(void *userdata)
{
	struct ship *s = userdata;

	verb_ship_note_slow(s);
	if (clock_read_ns(CLOCK_MONOTONIC) - s->told_ns >= STATUS_MS * UINT64_C(1000000))
		verb_ship_tell(s);
}

/* ---- a round ---- */

/* Lets changes of the directory end the waiting. */
static void verb_ship_watch(struct ship *s)
{
	const uint32_t what =
		IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR;
	char path[32];
	int watch;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->job.chunks_fd);
	watch = inotify_add_watch(s->inotify_fd, path, what);
	if (watch < 0 && !s->told_unwatched)
		cli_error("%s: cannot watch Directory=%s: %m; new chunks are found after up to "
			  "%d s",
			  s->name, s->collection.directory, STATUS_MS / 1000);
	s->told_unwatched = watch < 0;
	/* (if the directory was removed, the watch is gone already) */
	if (s->watch >= 0 && s->watch != watch)
		inotify_rm_watch(s->inotify_fd, s->watch);
	s->watch = watch;
}

/*
 * Compares the state with the directory. If the user has removed the file with the state, the
 * directory is accepted as a new one.
 */
static int verb_ship_compare(struct ship *s)
{
	_cleanup_free_ struct chunk *chunks = NULL;
	struct ship_directory directory;
	struct stat st;
	size_t n = 0;
	int r;

	if (fstat(s->job.chunks_fd, &st) < 0)
		return -errno;
	directory = (struct ship_directory){ st.st_dev, st.st_ino };
	r = chunk_list_read(s->job.chunks_fd, s->name, CHUNK_LIST_WHOLE, &chunks, &n)
		    ?: ship_state_update(&s->state, &directory, chunks, n);
	if (r == -ESTALE && !s->unsaved && !ship_state_is_saved(s->state_fd)) {
		ship_state_forget(&s->state);
		r = ship_state_update(&s->state, &directory, chunks, n);
	}
	return r;
}

/*
 * Compares the state with the directory, and saves the state. If that fails, ERROR is the reason.
 */
static int verb_ship_update(struct ship *s, char error[static SHIP_ERROR_MAX])
{
	int r = verb_ship_compare(s);

	if (r == -ESTALE)
		snprintf(error, SHIP_ERROR_MAX,
			 "Directory=%.150s is another one than before, and has none of the known "
			 "chunks (is it mounted? If it is a new one, remove %.100s/%s/state)",
			 s->collection.directory, s->options.state_dir, s->name);
	else if (r < 0)
		snprintf(error, SHIP_ERROR_MAX, "cannot list Directory=%.300s: %s",
			 s->collection.directory, strerror(-r));
	if (r < 0)
		return r;
	s->unsaved |= r > 0;
	r = s->unsaved ? ship_state_save(&s->state, s->state_fd) : 0;
	if (r < 0)
		snprintf(error, SHIP_ERROR_MAX, "cannot note in %.300s what was taken: %s",
			 s->options.state_dir, strerror(-r));
	else
		s->unsaved = false;
	return r;
}

/*
 * Opens the directory of the chunks, which can be a new one, and compares the state with it. If
 * that fails, ERROR is the reason.
 */
static int verb_ship_look(struct ship *s, char error[static SHIP_ERROR_MAX])
{
	s->job.chunks_fd = open(s->collection.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->job.chunks_fd < 0) {
		int r = -errno;

		snprintf(error, SHIP_ERROR_MAX, "cannot open Directory=%.300s: %s",
			 s->collection.directory, strerror(-r));
		return r;
	}
	verb_ship_watch(s);
	return verb_ship_update(s, error);
}

/* Closes the directory, so that its file system can be unmounted until the next round. */
static void verb_ship_look_away(struct ship *s)
{
	s->job.chunks_fd = close_fd(s->job.chunks_fd);
}

/*
 * Returns the chunk to hand over next, the oldest one first; NULL = none. Chunks that could not be
 * converted before come last, those with the fewest failures first: a conversion that hangs takes
 * its whole limit each time.
 */
static struct ship_chunk *verb_ship_next(const struct ship *s)
{
	struct ship_chunk *next = NULL;

	for (size_t i = 0; i < s->state.n; i++) {
		struct ship_chunk *c = &s->state.chunks[i];

		if (!c->taken && !c->tried && (!next || c->n_failed < next->n_failed))
			next = c;
	}
	return next;
}

/* Notes that C was handed over. Returns false if that could not be written to the disk. */
static bool verb_ship_note_taken(struct ship *s, struct ship_chunk *c, bool is_good)
{
	ship_state_take(&s->state, c);
	s->unsaved = true;
	if (ship_state_save(&s->state, s->state_fd) < 0)
		return false; /* the next update reports it */
	s->unsaved = false;
	if (is_good)
		verb_ship_set_error(s, "");
	verb_ship_tell(s);
	return true;
}

/*
 * Hands the waiting chunks over. If some of them still wait, ERROR is the reason. In a round, only
 * one of the chunks that failed before is allowed to fail again.
 */
static int verb_ship_deliver_all(struct ship *s, char error[static SHIP_ERROR_MAX])
{
	struct ship_chunk *c;

	for (size_t i = 0; i < s->state.n; i++)
		s->state.chunks[i].tried = false;
	while ((c = verb_ship_next(s))) {
		bool failed_before = c->n_failed > 0;
		enum ship_result result = ship_deliver(&s->job, &c->chunk);

		c->tried = true;
		c->n_failed += result == SHIP_BAD;
		if (result == SHIP_STOPPED)
			return -ECANCELED;
		if (result == SHIP_BAD || result == SHIP_AWAY)
			memcpy(error, s->job.error, SHIP_ERROR_MAX);
		if (result == SHIP_AWAY || (result == SHIP_BAD && failed_before))
			break;
		if (result == SHIP_TAKEN && !verb_ship_note_taken(s, c, !*error))
			break;
	}
	return 0;
}

/* Hands over what can be handed over. */
static void verb_ship_round(struct ship *s)
{
	char error[SHIP_ERROR_MAX] = "";
	int r = verb_ship_look(s, error);

	verb_ship_tell(s);
	/*
	 * If the state cannot be saved, nothing is handed over, since it could be handed over again
	 * later.
	 */
	if (r == 0) {
		s->stopped = verb_ship_deliver_all(s, error) == -ECANCELED;
		verb_ship_update(s, error);
	}
	verb_ship_look_away(s);
	if (!s->stopped)
		verb_ship_set_error(s, error);
	verb_ship_tell(s);
}

/* ---- waiting ---- */

/* Updates the backlog while chunks wait. */
static void verb_ship_glance(struct ship *s)
{
	char error[SHIP_ERROR_MAX] = "";

	if (verb_ship_look(s, error) < 0)
		verb_ship_set_error(s, error);
	verb_ship_look_away(s);
	verb_ship_tell(s);
}

/*
 * Waits until there is something to do: at most STATUS_MS or, after an error, s->wait_ms. Some
 * changes of the directory cause no event, such as a file system that is mounted over it.
 */
static void verb_ship_wait(struct ship *s)
{
	struct pollfd fds[] = { { s->job.signal_fd, POLLIN, 0 }, { s->inotify_fd, POLLIN, 0 } };
	uint64_t from_ns = clock_read_ns(CLOCK_MONOTONIC);
	char events[4096];

	if (!*s->status.error)
		s->wait_ms = WAIT_MS_MIN;
	while (!s->stopped) {
		uint64_t passed_ms = (clock_read_ns(CLOCK_MONOTONIC) - from_ns) / 1000000;
		int left_ms = (*s->status.error ? s->wait_ms : STATUS_MS) - (int)passed_ms;

		if (left_ms <= 0)
			break;
		if (poll(fds, ARRAY_SIZE(fds), left_ms < STATUS_MS ? left_ms : STATUS_MS) == 0) {
			if (left_ms > STATUS_MS)
				verb_ship_glance(s);
			continue;
		}
		s->stopped = fds[0].revents != 0;
		if (fds[1].revents && read(s->inotify_fd, events, sizeof(events)) > 0)
			return;
	}
	if (*s->status.error)
		s->wait_ms = s->wait_ms * 2 > WAIT_MS_MAX ? WAIT_MS_MAX : s->wait_ms * 2;
}

/* ---- start ---- */

static int verb_ship_open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void verb_ship_on_complaint(unsigned line, const char *text, void *userdata)
{
	const char *path = userdata;

	if (line)
		fprintf(stderr, "%s:%u: %s\n", path, line, text);
	else
		fprintf(stderr, "%s: %s\n", path, text);
}

static int verb_ship_read_collection(struct ship *s)
{
	_cleanup_free_ char *path = NULL;
	const char *why;
	struct stat st;
	FILE *f;
	int r;

	if (asprintf(&path, "%s/%s" COLLECTION_SUFFIX, s->options.config_dir, s->name) < 0) {
		path = NULL;
		return cli_failed("out of memory");
	}
	f = fopen(path, "re");
	if (!f || fstat(fileno(f), &st) < 0)
		return cli_failed("cannot read %s: %m", path);
	why = collection_untrusted(&st, st.st_uid == 0 ? 0 : geteuid());
	r = why ? 0 : collection_read(f, s->name, verb_ship_on_complaint, path, &s->collection);
	fclose(f);
	if (why)
		return cli_failed("%s is not used: %s", path, why);
	if (r == -EINVAL)
		return CLI_USAGE;
	if (r < 0)
		return cli_failed("cannot read %s: %s", path, strerror(-r));
	if (collection_is_exported(&s->collection))
		return CLI_OK;
	cli_error("%s has neither To= nor Run= in [Export]: there is nothing to do", path);
	return CLI_USAGE;
}

/* Opens the directory NAME in PARENT. Both are created if they are missing. */
static int verb_ship_open_directory(const char *parent, const char *name, mode_t mode)
{
	_cleanup_close_ int fd = -1;

	if (mkdir(parent, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || (mkdirat(fd, name, mode) < 0 && errno != EEXIST))
		return -errno;
	return openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) ?: -errno;
}

/* Removes what a killed process has left. */
static void verb_ship_empty_staging(const struct ship *s)
{
	DIR *dir = directory_list(s->job.staging_fd);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			ship_copy_remove(s->job.staging_fd, entry->d_name);
	if (dir)
		closedir(dir);
}

static int verb_ship_open_state(struct ship *s)
{
	const char *directory = s->options.state_dir;
	int r;

	s->state_fd = verb_ship_open_directory(directory, s->name, 0700);
	if (s->state_fd < 0)
		return cli_failed("cannot open %s/%s: %m", directory, s->name);
	if (flock(s->state_fd, LOCK_EX | LOCK_NB) < 0)
		return cli_failed(
			"the chunks of %s are already being handed over by another process",
			s->name);
	s->job.staging_fd = ship_copy_make_directory(s->state_fd, SHIP_STAGING);
	if (s->job.staging_fd < 0 ||
	    asprintf(&s->staging, "%s/%s/" SHIP_STAGING, directory, s->name) < 0)
		return cli_failed("cannot open %s/%s/" SHIP_STAGING ": %m", directory, s->name);
	s->job.staging = s->staging;
	verb_ship_empty_staging(s);
	r = ship_state_load(&s->state, s->state_fd, s->name);
	return r < 0 ? cli_failed("cannot read %s/%s/state: %s%s", directory, s->name, strerror(-r),
				  r == -EBADMSG
					  ? "; if you remove it, all chunks are handed over again"
					  : "")
		     : CLI_OK;
}

static int verb_ship_open(struct ship *s)
{
	int r = verb_ship_read_collection(s);

	r = r ?: verb_ship_open_state(s);
	if (r != CLI_OK)
		return r;
	s->status_fd = verb_ship_open_directory(ship_status_directory(), s->name, 0755);
	if (s->status_fd < 0)
		return cli_failed("cannot open %s/%s: %m", ship_status_directory(), s->name);
	s->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	s->job.signal_fd = verb_ship_open_signals();
	if (s->inotify_fd < 0 || s->job.signal_fd < 0)
		return cli_failed("cannot wait: %m");
	s->job.collection = &s->collection;
	s->job.slow_ms = SLOW_MS;
	s->job.convert_limit_ms = CONVERT_LIMIT_MS;
	s->job.tick = verb_ship_on_tick;
	s->job.userdata = s;
	return CLI_OK;
}

static void verb_ship_close(struct ship *s)
{
	collection_deinit(&s->collection);
	ship_state_deinit(&s->state);
	free(s->staging);
	close_fd(s->job.chunks_fd);
	close_fd(s->job.staging_fd);
	close_fd(s->job.signal_fd);
	close_fd(s->state_fd);
	close_fd(s->status_fd);
	close_fd(s->inotify_fd);
}

static int verb_ship_run(struct ship *s)
{
	bus_notify_ready("Handing chunks over");
	verb_ship_round(s);
	if (s->options.once)
		return s->status.waiting || *s->status.error ? CLI_FAILED : CLI_OK;
	while (!s->stopped) {
		verb_ship_wait(s);
		if (!s->stopped)
			verb_ship_round(s);
	}
	bus_notify_stopping();
	return CLI_OK;
}

static int verb_ship(int argc, char **argv)
{
	struct ship s = {
		.options = { COLLECTION_DIRECTORY, SHIP_STATE_DIRECTORY, false },
		.job = { .chunks_fd = -1, .staging_fd = -1, .signal_fd = -1 },
		.state_fd = -1,
		.status_fd = -1,
		.inotify_fd = -1,
		.watch = -1,
		.wait_ms = WAIT_MS_MIN,
	};
	const struct verb_option rows[] = {
		OPTION_TEXT("config-dir", 0, &s.options.config_dir),
		OPTION_FLAG("once", &s.options.once),
		OPTION_TEXT("state-dir", 0, &s.options.state_dir),
		{ 0 },
	};
	int r = verb_options_parse_with(
		argc, argv, rows, 1,
		"expected the NAME of a collection; 'kymo verify-profile' checks it");

	if (r != VERB_OPTIONS_GO)
		return r;
	s.name = argv[optind];
	if (!session_name_valid(s.name))
		return cli_usage_error("'%s' is not a valid name for a collection", s.name);
	r = verb_ship_open(&s) ?: verb_ship_run(&s);
	verb_ship_close(&s);
	return r;
}

const struct verb verb_ship_row = {
	.name = "ship",
	.synopsis = "NAME [OPTION ...]",
	.what = "Hand the chunks of a collection over (kymo-ship@NAME.service)",
	.examples = "  systemctl start kymo-ship@machine\n  kymo ship machine --once\n",
	.options =
		"      --once            hand over the chunks that exist, and exit\n"
		"      --config-dir=DIR  directory of collections (" COLLECTION_DIRECTORY ")\n"
		"      --state-dir=DIR   directory for what was taken (" SHIP_STATE_DIRECTORY ")\n"
		"  -h, --help            show this\n",
	.run = verb_ship,
};
