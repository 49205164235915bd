/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/open-trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/input-file.h"
#include "cli/common/verb.h"
#include "writer/pack/pack.h"

/* The number of damages that are described. All damage beyond that is only counted. */
enum { DAMAGES_SHOWN = 10 };

/* The progress is checked once in this number of steps, since reading the clock costs as much as a
 * step. */
enum { STEPS = 128 };

/*
 * HEAD_BYTES: the number of bytes that identify a call trace. VERSION_END: the end of the versions
 * that may exist.
 */
enum { HEAD_BYTES = 64, VERSION_END = 16 };

void open_trace_complain_alien(const char *name, const struct unpack_damage *damage, int alien)
{
	if (damage) {
		cli_error("cannot decompress %s: %s, at byte %" PRIu64, name, damage->what,
			  damage->packed_offset);
		return;
	}
	switch (alien) {
	case FXT_ALIEN_EMPTY:
		cli_error("%s is empty", name);
		break;
	case FXT_ALIEN_XZ:
		cli_error("%s is compressed with xz, which kymo does not read; unpack it "
			  "first: xz -dc %s | kymo ... -",
			  name, name);
		break;
	case FXT_ALIEN_REPORT:
		cli_error("%s is a leak report (sp-rtrace text), not a trace; use 'kymo "
			  "postprocess'",
			  name);
		break;
	default:
		cli_error("%s is not a Fuchsia trace (FXT): it does not start with the magic "
			  "number; 'file' may say what it is, and 'kymo record -o FILE' makes one",
			  name);
		break;
	}
}

/* ---- progress ---- */

static void open_trace_show_progress(struct open_trace *t)
{
	const struct input_file file = { .fd = t->fd };

	if (t->n_steps++ == 0) {
		progress_begin(&t->progress, input_file_size(&file));
		/*
		 * (a pipe, whose total is unknown, has no progress: the program that writes to it
		 * can show its own)
		 */
		if (t->progress.total == 0 || t->shared || (t->prints && isatty(STDOUT_FILENO)))
			t->progress.wanted = false;
	}
	if (t->n_steps % STEPS == 0 && progress_is_due(&t->progress))
		progress_show(&t->progress, input_file_position(&file));
}

/* ---- call traces, GDB trace files, and trace-db ---- */

/* Whether the file is a call trace: it is not an archive, and either is in Snappy chunks, or begins
 * like a call trace. */
static int open_trace_is_calls(struct open_trace *t)
{
	const uint8_t *p;
	size_t n;
	int r = input_need(&t->stream.head, HEAD_BYTES);

	if (r < 0)
		return r;
	p = input_peek(&t->stream.head);
	n = input_ready(&t->stream.head);
	if (packed_stream_is_archive(p, n))
		return false;
	if (unpack_method(t->stream.unpack) == PACK_SNAPPY && n > 0 && *p < VERSION_END)
		return true;
	/* (without compression, only the newest version can be identified) */
	return apitrace_is_stream(p, n) &&
	       (unpack_method(t->stream.unpack) != PACK_NONE || *p == APITRACE_VERSION_PROPERTIES);
}

/*
 * Reports the result R of the creation of a reader: 0, a negative errno or an enum fxt_alien.
 * Returns CLI_OK if R is 0, otherwise CLI_FAILED or the result of open_trace_failed().
 */
static int open_trace_started(const struct open_trace *t, int r)
{
	if (r < 0)
		return open_trace_failed(t, r);
	if (r > 0)
		open_trace_complain_alien(t->name, unpack_damage(t->stream.unpack), r);
	return r > 0 ? CLI_FAILED : CLI_OK;
}

static int open_trace_start_calls(struct open_trace *t, const struct open_trace_kinds *kinds)
{
	uint64_t version =
		apitrace_head_version(input_peek(&t->stream.head), input_ready(&t->stream.head));
	int r = apitrace_reader_new_source(&t->calls, packed_stream_read_to_gap, &t->stream,
					   kinds->call_finding, kinds->call_userdata);

	if (r == APITRACE_ALIEN_VERSION)
		return cli_failed("%s is a call trace (apitrace) of version %" PRIu64
				  "; kymo reads versions 0 to %d",
				  t->name, version, APITRACE_VERSION_MAX);
	return open_trace_started(t, r > 0 ? FXT_ALIEN_EMPTY : r);
}

/*
 * Reports the result of a reader: a negative errno, or END. END means the end of the readable part;
 * damage of the compression can also cause it. Returns R, or -1 for an error.
 */
static int open_trace_read(struct open_trace *t, int r, int end)
{
	const struct unpack_damage *packed = unpack_damage(t->stream.unpack);

	if (r <= 0)
		progress_clear();
	if (r < 0) {
		open_trace_failed(t, r);
		return -1;
	}
	if (r != end || !t->stream.damaged)
		return r;
	cli_error("%s: at byte %" PRIu64 " of the file: %s", t->name, packed->packed_offset,
		  packed->what);
	t->n_damages++;
	t->stream.damaged = false;
	t->container_damaged = true;
	return r;
}

int open_trace_next_call(struct open_trace *t, const struct apitrace_call **ret)
{
	const struct apitrace_damage *damage;
	int r;

	open_trace_show_progress(t);
	while ((r = apitrace_reader_next(t->calls, ret)) == APITRACE_DAMAGE) {
		damage = apitrace_reader_damage(t->calls);
		/*
		 * If the trace ends here because the following data could not be decompressed, this
		 * is reported below.
		 */
		if (!damage->truncated || !t->stream.damaged)
			open_trace_damage(t, damage->offset, damage->what);
	}
	return open_trace_read(t, r, APITRACE_END);
}

static int open_trace_start_frames(struct open_trace *t, const struct open_trace_kinds *kinds)
{
	int r = tfile_reader_new_source(&t->frames, packed_stream_read_to_gap, &t->stream,
					kinds->frame_finding, kinds->frame_userdata);

	return open_trace_started(t, r > 0 ? FXT_ALIEN_EMPTY : r);
}

int open_trace_next_frame(struct open_trace *t, const struct tfile_frame **ret)
{
	const struct tfile_damage *damage;
	int r;

	open_trace_show_progress(t);
	while ((r = tfile_reader_next(t->frames, ret)) == TFILE_DAMAGE) {
		damage = tfile_reader_damage(t->frames);
		if (!damage->truncated || !t->stream.damaged)
			open_trace_damage(t, damage->offset, damage->what);
	}
	return open_trace_read(t, r, TFILE_TRACE_END);
}

static int open_trace_start_points(struct open_trace *t)
{
	int r = tracedb_reader_new_source(&t->points, packed_stream_read_to_gap, &t->stream);

	return open_trace_started(t, r > 0 ? FXT_ALIEN_EMPTY : r);
}

int open_trace_next_point(struct open_trace *t, const struct tracedb_point **ret)
{
	const struct tracedb_damage *damage;
	int r;

	open_trace_show_progress(t);
	while ((r = tracedb_reader_next(t->points, ret)) == TRACEDB_DAMAGE) {
		damage = tracedb_reader_damage(t->points);
		if (!damage->truncated || !t->stream.damaged)
			open_trace_damage(t, damage->offset, damage->what);
	}
	return open_trace_read(t, r, TRACEDB_TRACE_END);
}

/* ---- opening ---- */

/*
 * Returns true if the N bytes at P begin a trace. Brotli streams have no magic number, so this
 * decides whether the decompressed bytes make sense.
 */
static bool open_trace_is_trace(const uint8_t *p, size_t n)
{
	return packed_stream_is_archive(p, n) || apitrace_is_stream(p, n) ||
	       tfile_reader_is_trace(p, n);
}

static int open_trace_refuse(struct open_trace *t, const char *what, const char *users)
{
	return cli_failed("%s: it is a %s; use %s", t->name, what, users);
}

static int open_trace_start(struct open_trace *t, const struct open_trace_kinds *kinds)
{
	int r = packed_stream_init_fd(&t->stream, t->fd, open_trace_is_trace)
			?: open_trace_is_calls(t);

	if (r > 0)
		return kinds->calls
			       ? open_trace_start_calls(t, kinds)
			       : open_trace_refuse(t, "call trace (apitrace)",
						   "'kymo dump', 'kymo summary' or 'kymo check'");
	if (r == 0 &&
	    tfile_reader_is_trace(input_peek(&t->stream.head), input_ready(&t->stream.head)))
		return kinds->frames ? open_trace_start_frames(t, kinds)
				     : open_trace_refuse(t, "GDB trace file",
							 "'kymo dump', 'kymo summary', 'kymo "
							 "check', 'kymo cut' or 'kymo export'");
	/* (all other formats come first, since trace-db files have no magic number) */
	if (r == 0 &&
	    !packed_stream_is_archive(input_peek(&t->stream.head), input_ready(&t->stream.head)))
		r = tracedb_reader_is_trace(&t->stream.head);
	if (r > 0)
		return kinds->points
			       ? open_trace_start_points(t)
			       : open_trace_refuse(
					 t, "trace-db file",
					 "'kymo query', 'kymo dump', 'kymo summary' or 'kymo check'");
	r = r ?: fxt_reader_new_source(&t->reader, packed_stream_read, &t->stream);
	return open_trace_started(t, r);
}

int open_trace_of(struct open_trace *t, const char *path, const struct open_trace_kinds *kinds)
{
	struct input_file file;
	int r;

	*t = (struct open_trace)OPEN_TRACE_NULL;
	r = input_file_open(&file, path);
	if (r != CLI_OK)
		return r;
	t->name = file.name;
	t->fd = file.fd;
	r = open_trace_start(t, kinds);
	if (r != CLI_OK)
		open_trace_close(t);
	return r;
}

int open_trace(struct open_trace *t, const char *path)
{
	return open_trace_of(t, path, &(struct open_trace_kinds){ 0 });
}

void open_trace_close(struct open_trace *t)
{
	progress_clear();
	t->reader = fxt_reader_free(t->reader);
	t->calls = apitrace_reader_free(t->calls);
	t->frames = tfile_reader_free(t->frames);
	t->points = tracedb_reader_free(t->points);
	packed_stream_deinit(&t->stream);
	if (t->fd > STDIN_FILENO)
		close(t->fd);
	t->fd = -1;
}

int open_trace_again(struct open_trace *t, const char *path)
{
	if (lseek(t->fd, 0, SEEK_SET) < 0)
		return open_trace_failed(t, -errno);
	open_trace_close(t);
	return open_trace(t, path);
}

int open_trace_failed(const struct open_trace *t, int e)
{
	return input_file_failed(&(struct input_file){ .name = t->name }, e);
}

void open_trace_damage(struct open_trace *t, uint64_t offset, const char *what)
{
	if (t->n_damages++ < DAMAGES_SHOWN)
		cli_error("%s: at byte %" PRIu64 "%s: %s", t->name, offset,
			  unpack_method(t->stream.unpack) ? " of the decompressed archive" : "",
			  what);
}

const char *open_trace_packed(const struct open_trace *t)
{
	return pack_ops(unpack_method(t->stream.unpack))->name;
}

int open_trace_step(struct open_trace *t, const struct fxt_record **ret,
		    struct fxt_damage *ret_damage)
{
	int r;

	open_trace_show_progress(t);
	r = packed_stream_next_record(&t->stream, t->reader, ret, ret_damage);
	if (r <= 0)
		progress_clear();
	return r;
}

int open_trace_next(struct open_trace *t, const struct fxt_record **ret)
{
	struct fxt_damage damage;
	int r;

	while ((r = open_trace_step(t, ret, &damage)) == FXT_READER_DAMAGE)
		open_trace_damage(t, damage.offset, damage.what);
	if (r < 0) {
		open_trace_failed(t, r);
		return -1;
	}
	return r;
}

int open_trace_finish(struct open_trace *t)
{
	if (t->n_damages == 0)
		return CLI_OK;
	if (t->n_damages > DAMAGES_SHOWN)
		cli_error("%s: and %" PRIu64 " more like these", t->name,
			  t->n_damages - DAMAGES_SHOWN);
	cli_error("%s: the archive is damaged; the readable part was used ('kymo check' shows "
		  "details)",
		  t->name);
	return CLI_DAMAGE;
}
