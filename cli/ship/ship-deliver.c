/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/ship/ship-deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/common/verb.h"
#include "cli/ship/ship-child.h"
#include "cli/ship/ship-copy.h"
#include "cli/tables/table-partition.h"

enum { SHIP_ARGS_MAX = 5 };

/* The name of a converted chunk, and the arguments of kymo that convert it. */
static const struct {
	const char *before, *after;
	const char *args[SHIP_ARGS_MAX]; /* "-o NAME -" follows */
} ship_converters[SHIP_FORMAT_MAX] = {
	[SHIP_PARQUET] = { "part=", "", { "export", "--format", "parquet" } },
	[SHIP_PPROF] = { "", ".pb.gz", { "export", "--format", "pprof" } },
	[SHIP_OTLP] = { "", ".otlp.gz", { "export", "--format", "otlp" } },
};

struct delivery {
	struct ship_job *j;
	const struct collection *c;
	const struct chunk *chunk;
	int chunk_fd;
	struct outbuf place; /* path of the directory below the target */
	int place_fd;
	char name[NAME_MAX + 1]; /* the name of the result */
	bool exists;             /* an earlier attempt has written it to the target */
	bool staged;             /* it is in the staging directory */
	const char *running;     /* what runs as another process */
};

__attribute__((format(printf, 3, 4))) static enum ship_result
ship_deliver_fail(struct delivery *d, enum ship_result result, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(d->j->error, sizeof(d->j->error), format, ap);
	va_end(ap);
	return result;
}

static bool ship_deliver_goes_on(void *userdata)
{
	struct ship_job *j = userdata;
	struct pollfd fd = { j->signal_fd, POLLIN, 0 };

	j->tick(j->userdata);
	return poll(&fd, 1, 0) == 0;
}

static int ship_deliver_copy(struct delivery *d, bool from_staging, int to_fd)
{
	const struct ship_copy copy = {
		.from_fd = from_staging ? d->j->staging_fd : d->chunk_fd,
		.from = from_staging ? d->name : NULL,
		.to_fd = to_fd,
		.name = d->name,
		.goes_on = ship_deliver_goes_on,
		.userdata = d->j,
	};

	return ship_copy_run(&copy);
}

/* ---- names ---- */

static int ship_deliver_name(struct delivery *d)
{
	enum ship_format format = d->c->ship_format;
	const char *file = d->chunk->file, *suffix = strstr(file, ".fxt");
	struct utsname host;
	struct tm tm;

	if (format == SHIP_AS_IT_IS)
		snprintf(d->name, sizeof(d->name), "%s", file);
	else
		snprintf(d->name, sizeof(d->name), "%s%.*s%s", ship_converters[format].before,
			 (int)(suffix - file), file, ship_converters[format].after);
	if (uname(&host) < 0)
		return -errno;
	table_partition_append(&d->place, *host.nodename ? host.nodename : "unknown",
			       d->chunk->name.begin_us * 1000, &tm);
	return outbuf_append(&d->place, "", 1);
}

static const char *ship_deliver_place(const struct delivery *d)
{
	return (const char *)d->place.data;
}

/* ---- target ---- */

static enum ship_result ship_deliver_refused(struct delivery *d, int error)
{
	const char *to = d->c->ship_to;

	if (error == -ECANCELED)
		return SHIP_STOPPED;
	if (error == -EROFS)
		return ship_deliver_fail(d, SHIP_AWAY,
					 "To=%.300s is read-only (kymo.conf(5) says how to let the "
					 "service write there)",
					 to);
	return ship_deliver_fail(d, SHIP_AWAY, "cannot write to To=%.300s: %s", to,
				 strerror(-error));
}

/* Opens the directory for the chunk in the target, and looks whether the chunk is there. */
static enum ship_result ship_deliver_open_target(struct delivery *d)
{
	const char *to = d->c->ship_to;
	_cleanup_close_ int fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return ship_deliver_fail(d, SHIP_AWAY, "To=%.300s cannot be opened: %s%s", to,
					 strerror(errno),
					 errno == ENOENT ? " (is it mounted?)" : "");
	d->place_fd = ship_copy_make_directory(fd, ship_deliver_place(d));
	if (d->place_fd < 0)
		return ship_deliver_refused(d, d->place_fd);
	d->exists = faccessat(d->place_fd, d->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	if (!d->exists && errno != ENOENT)
		return ship_deliver_refused(d, -errno);
	return SHIP_TAKEN;
}

static enum ship_result ship_deliver_write(struct delivery *d)
{
	int r = ship_deliver_copy(d, d->staged, d->place_fd);

	if (r == -EMEDIUMTYPE)
		return ship_deliver_fail(d, SHIP_BAD,
					 "cannot convert %s: the result has more than files",
					 d->chunk->file);
	return r < 0 && r != -EEXIST ? ship_deliver_refused(d, r) : SHIP_TAKEN;
}

/* ---- conversion ---- */

static void ship_deliver_on_tick(void *userdata, uint64_t ran_ms)
{
	const struct delivery *d = userdata;
	struct ship_job *j = d->j;

	if (ran_ms >= j->slow_ms)
		snprintf(j->slow, sizeof(j->slow), "%s has run for %" PRIu64 " min, for %s",
			 d->running, ran_ms / 60000, d->chunk->file);
	j->tick(j->userdata);
}

static int ship_deliver_run(struct delivery *d, struct ship_child *child, const char *running)
{
	int r;

	d->running = running;
	child->directory_fd = d->j->staging_fd;
	child->signal_fd = d->j->signal_fd;
	child->tick = ship_deliver_on_tick;
	child->userdata = d;
	r = ship_child_run(child);
	*d->j->slow = '\0';
	return r;
}

static enum ship_result ship_deliver_convert(struct delivery *d)
{
	const char *argv[SHIP_ARGS_MAX + 5] = { "kymo" };
	struct ship_child child = {
		.file = "/proc/self/exe",
		.argv = argv,
		.input_fd = d->chunk_fd,
		.keeps_text = true,
		.limit_ms = d->j->convert_limit_ms,
	};
	size_t n = 1;
	int r;

	for (const char *const *arg = ship_converters[d->c->ship_format].args; *arg; arg++)
		argv[n++] = *arg;
	argv[n++] = "-o";
	argv[n++] = d->name;
	argv[n] = "-";
	r = ship_deliver_run(d, &child, "the conversion");
	if (r == -ECANCELED)
		return SHIP_STOPPED;
	if (r == -ETIME)
		return ship_deliver_fail(d, SHIP_BAD, "cannot convert %s: it took more than %u min",
					 d->chunk->file, child.limit_ms / 60000);
	/* The readable part of a damaged chunk is a valid result. */
	if (r == CLI_DAMAGE)
		cli_error("%s is damaged: %s", d->chunk->file, child.text);
	else if (r != CLI_OK)
		return ship_deliver_fail(d, SHIP_BAD, "cannot convert %s: %s", d->chunk->file,
					 r < 0 ? strerror(-r) : child.text);
	return SHIP_TAKEN;
}

/* Puts the result into the staging directory, unless the target gets the chunk itself. */
static enum ship_result ship_deliver_stage(struct delivery *d)
{
	int r;

	if (d->c->ship_format == SHIP_AS_IT_IS && d->c->ship_to)
		return SHIP_TAKEN;
	r = ship_copy_remove(d->j->staging_fd, d->name);
	d->staged = true;
	if (r == 0 && d->c->ship_format != SHIP_AS_IT_IS)
		return ship_deliver_convert(d);
	r = r ?: ship_deliver_copy(d, false, d->j->staging_fd);
	if (r == -ECANCELED)
		return SHIP_STOPPED;
	return r == 0 ? SHIP_TAKEN
		      : ship_deliver_fail(d, SHIP_BAD, "cannot copy %s to %s: %s", d->chunk->file,
					  d->j->staging, strerror(-r));
}

/* ---- hook ---- */

static enum ship_result ship_deliver_hand_over(struct delivery *d)
{
	_cleanup_(outbuf_deinit) struct outbuf path = { 0 };
	const char *argv[] = { "sh", "-c", d->c->ship_run, "kymo-ship", NULL, NULL };
	struct ship_child child = { .file = "/bin/sh", .argv = argv, .input_fd = -1 };
	int r;

	if (d->c->ship_to)
		outbuf_print(&path, "%s/%s/%s", d->c->ship_to, ship_deliver_place(d), d->name);
	else
		outbuf_print(&path, "%s/%s", d->j->staging, d->name);
	r = outbuf_append(&path, "", 1);
	argv[4] = (const char *)path.data;
	r = r ?: ship_deliver_run(d, &child, "Run=");
	if (r == -ECANCELED)
		return SHIP_STOPPED;
	return r == 0 ? SHIP_TAKEN
		      : ship_deliver_fail(d, SHIP_AWAY, "Run= did not take %s: %s", d->name,
					  r < 0 ? strerror(-r) : child.text);
}

/* ---- all of it ---- */

static enum ship_result ship_deliver_steps(struct delivery *d)
{
	enum ship_result result = SHIP_TAKEN;
	int r = ship_deliver_name(d);

	if (r < 0)
		return ship_deliver_fail(d, SHIP_AWAY, "%s", strerror(-r));
	if (d->c->ship_to)
		result = ship_deliver_open_target(d);
	if (result == SHIP_TAKEN && !d->exists)
		result = ship_deliver_stage(d);
	if (result == SHIP_TAKEN && d->c->ship_to && !d->exists)
		result = ship_deliver_write(d);
	if (result == SHIP_TAKEN && d->c->ship_run)
		result = ship_deliver_hand_over(d);
	if (d->staged)
		ship_copy_remove(d->j->staging_fd, d->name);
	return result;
}

enum ship_result ship_deliver(struct ship_job *j, const struct chunk *chunk)
{
	struct delivery d = { .j = j, .c = j->collection, .chunk = chunk, .place_fd = -1 };
	enum ship_result result;

	*j->error = '\0';
	if (!ship_deliver_goes_on(j))
		return SHIP_STOPPED;
	d.chunk_fd = openat(j->chunks_fd, chunk->file,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (d.chunk_fd < 0)
		return errno == ENOENT ? SHIP_GONE
				       : ship_deliver_fail(&d, SHIP_BAD, "cannot open %s: %s",
							   chunk->file, strerror(errno));
	result = ship_deliver_steps(&d);
	close_fd(d.chunk_fd);
	close_fd(d.place_fd);
	outbuf_deinit(&d.place);
	return result;
}
