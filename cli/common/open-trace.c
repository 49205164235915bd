/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/open-trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/input-file.h"
#include "cli/common/verb.h"
#include "writer/pack/pack.h"

/* More damage than this is counted and not described one by one. */
enum { DAMAGES_SHOWN = 10 };

/* Enough to know a call trace by; and versions that it may have some day. */
enum { HEAD_BYTES = 64, VERSION_END = 16 };

void open_trace_say_alien(const char *name, const struct unpack_damage *damage, int alien)
{
	if (damage) {
		cli_error("%s: no trace can be unpacked from it: %s, at its byte %" PRIu64, name,
			  damage->what, damage->packed_offset);
		return;
	}
	switch (alien) {
	case FXT_ALIEN_EMPTY:
		cli_error("%s: the file is empty; it holds no trace", name);
		break;
	case FXT_ALIEN_XZ:
		cli_error("%s: it is compressed with xz, which kymo does not read; unpack it "
			  "first: xz -dc %s | kymo ... -",
			  name, name);
		break;
	case FXT_ALIEN_REPORT:
		cli_error("%s: it is a leak report (sp-rtrace text), not a trace; it is for 'kymo "
			  "postprocess'",
			  name);
		break;
	default:
		cli_error("%s: it is not a Fuchsia trace (FXT): it does not start with the magic "
			  "number",
			  name);
		break;
	}
}

static ssize_t open_trace_read_unpacked(void *userdata, void *to, size_t n)
{
	struct open_trace *t = userdata;
	ssize_t got = unpack_read(t->unpack, to, n);

	t->unpack_damaged = unpack_damage(t->unpack) != NULL;
	return got;
}

static ssize_t open_trace_read_archive(void *userdata, void *to, size_t n)
{
	struct open_trace *t = userdata;

	return input_read(&t->head, to, n);
}

/* ---- call traces, and GDB trace files ---- */

/* Nothing in these can be understood behind a gap: there they end. */
static ssize_t open_trace_read_to_gap(void *userdata, void *to, size_t n)
{
	struct open_trace *t = userdata;
	uint64_t at = t->head.offset, end = UINT64_MAX;
	ssize_t got;

	if (t->unpack_damaged)
		end = unpack_damage(t->unpack)->unpacked_offset;
	if (at >= end)
		return 0;
	if (n > end - at)
		n = end - at;
	got = input_read(&t->head, to, n);
	/* Damage may have been come upon just now, before what was read. */
	if (got > 0 && end == UINT64_MAX && t->unpack_damaged &&
	    unpack_damage(t->unpack)->unpacked_offset <= at)
		return 0;
	return got;
}

/* By the first half of the magic number, in either byte order. */
static bool open_trace_is_archive(const uint8_t *p, size_t n)
{
	static const uint8_t magic[] = { 0x10, 0, 4, 'F' }, swapped[] = { 0, 0x16, 'T', 'x' };

	return n >= sizeof(magic) &&
	       (memcmp(p, magic, sizeof(magic)) == 0 || memcmp(p, swapped, sizeof(swapped)) == 0);
}

/* Whether it is a call trace: by its first bytes, or since nothing else is packed so. */
static int open_trace_is_calls(struct open_trace *t)
{
	const uint8_t *p;
	size_t n;
	int r = input_need(&t->head, HEAD_BYTES);

	if (r < 0)
		return r;
	p = input_peek(&t->head);
	n = input_ready(&t->head);
	if (open_trace_is_archive(p, n))
		return false;
	if (unpack_method(t->unpack) == PACK_SNAPPY && n > 0 && *p < VERSION_END)
		return true;
	/* (without a container only the newest has enough to be sure) */
	return apitrace_is_stream(p, n) &&
	       (unpack_method(t->unpack) != PACK_NONE || *p == APITRACE_VERSION_PROPERTIES);
}

static int open_trace_start_calls(struct open_trace *t, const struct open_trace_kinds *kinds)
{
	uint64_t version = apitrace_head_version(input_peek(&t->head), input_ready(&t->head));
	int r = apitrace_reader_new_source(&t->calls, open_trace_read_to_gap, t,
					   kinds->call_finding, kinds->call_userdata);

	if (r == APITRACE_ALIEN_VERSION)
		cli_error("%s is a call trace (apitrace) of version %" PRIu64
			  "; kymo reads versions 0 to %d",
			  t->name, version, APITRACE_VERSION_MAX);
	else if (r > 0)
		open_trace_say_alien(t->name, unpack_damage(t->unpack), FXT_ALIEN_EMPTY);
	else if (r < 0)
		open_trace_failed(t, r);
	return r == 0 ? CLI_OK : CLI_FAILED;
}

/* Behind the last that could be read: the container may be the reason. */
static void open_trace_say_packed_damage(struct open_trace *t)
{
	const struct unpack_damage *packed = unpack_damage(t->unpack);

	if (!t->unpack_damaged)
		return;
	cli_error("%s: at byte %" PRIu64 " of the file: %s", t->name, packed->packed_offset,
		  packed->what);
	t->n_damages++;
	t->unpack_damaged = false;
	t->container_damaged = true;
}

int open_trace_next_call(struct open_trace *t, const struct apitrace_call **ret)
{
	const struct apitrace_damage *damage;
	int r;

	while ((r = apitrace_reader_next(t->calls, ret)) == APITRACE_DAMAGE) {
		damage = apitrace_reader_damage(t->calls);
		/* It ends there since nothing more could be unpacked: that is said below. */
		if (!damage->truncated || !t->unpack_damaged)
			open_trace_damage(t, damage->offset, damage->what);
	}
	if (r < 0) {
		open_trace_failed(t, r);
		return -1;
	}
	if (r == APITRACE_END)
		open_trace_say_packed_damage(t);
	return r;
}

static int open_trace_start_frames(struct open_trace *t, const struct open_trace_kinds *kinds)
{
	int r = tfile_reader_new_source(&t->frames, open_trace_read_to_gap, t, kinds->frame_finding,
					kinds->frame_userdata);

	if (r == 0)
		return CLI_OK;
	if (r < 0)
		open_trace_failed(t, r);
	else
		open_trace_say_alien(t->name, unpack_damage(t->unpack), FXT_ALIEN_EMPTY);
	return CLI_FAILED;
}

int open_trace_next_frame(struct open_trace *t, const struct tfile_frame **ret)
{
	const struct tfile_damage *damage;
	int r;

	while ((r = tfile_reader_next(t->frames, ret)) == TFILE_DAMAGE) {
		damage = tfile_reader_damage(t->frames);
		if (!damage->truncated || !t->unpack_damaged)
			open_trace_damage(t, damage->offset, damage->what);
	}
	if (r < 0) {
		open_trace_failed(t, r);
		return -1;
	}
	if (r == TFILE_TRACE_END)
		open_trace_say_packed_damage(t);
	return r;
}

/* ---- opening ---- */

/* What a file without a magic number may be a Brotli stream of. */
static bool open_trace_looks(const uint8_t *p, size_t n)
{
	return open_trace_is_archive(p, n) || apitrace_is_stream(p, n) ||
	       tfile_reader_is_trace(p, n);
}

static int open_trace_refuse(struct open_trace *t, const char *what, const char *users)
{
	return cli_failed("%s: it is a %s, which is for %s", t->name, what, users);
}

static int open_trace_start(struct open_trace *t, const struct open_trace_kinds *kinds)
{
	int r = unpack_new_fd_looking(&t->unpack, t->fd, open_trace_looks)
			?: input_init_source(&t->head, open_trace_read_unpacked, t);

	if (r == 0)
		r = open_trace_is_calls(t);
	if (r > 0)
		return kinds->calls ? open_trace_start_calls(t, kinds)
				    : open_trace_refuse(t, "call trace (apitrace)",
							"'kymo dump', 'kymo summary' and 'kymo "
							"check'");
	if (r == 0 && tfile_reader_is_trace(input_peek(&t->head), input_ready(&t->head)))
		return kinds->frames ? open_trace_start_frames(t, kinds)
				     : open_trace_refuse(t, "GDB trace file",
							 "'kymo dump', 'kymo summary', 'kymo "
							 "check', 'kymo cut' or 'kymo export'");
	if (r == 0)
		r = fxt_reader_new_source(&t->reader, open_trace_read_archive, t);
	if (r < 0)
		open_trace_failed(t, r);
	else if (r > 0)
		open_trace_say_alien(t->name, unpack_damage(t->unpack), r);
	return r == 0 ? CLI_OK : CLI_FAILED;
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
	t->reader = fxt_reader_free(t->reader);
	t->calls = apitrace_reader_free(t->calls);
	t->frames = tfile_reader_free(t->frames);
	input_deinit(&t->head);
	t->unpack = unpack_free(t->unpack);
	if (t->fd > STDIN_FILENO)
		close(t->fd);
	t->fd = -1;
}

int open_trace_failed(const struct open_trace *t, int e)
{
	return input_file_failed(&(struct input_file){ .name = t->name }, e);
}

void open_trace_damage(struct open_trace *t, uint64_t offset, const char *what)
{
	if (t->n_damages++ < DAMAGES_SHOWN)
		cli_error("%s: at byte %" PRIu64 "%s: %s", t->name, offset,
			  unpack_method(t->unpack) ? " of the decompressed archive" : "", what);
}

const char *open_trace_packed(const struct open_trace *t)
{
	return pack_ops(unpack_method(t->unpack))->name;
}

/* Damage of what the archive is packed in. BYTES of the archive were skipped for it. */
static int take_unpack_damage(struct open_trace *t, uint64_t bytes, struct fxt_damage *ret)
{
	const struct unpack_damage *d = unpack_damage(t->unpack);
	int n = snprintf(t->unpack_text, sizeof(t->unpack_text),
			 "%s, at byte %" PRIu64 " of the file", d->what, d->packed_offset);

	if (!d->cut && !d->stopped && n > 0 && (size_t)n < sizeof(t->unpack_text))
		snprintf(t->unpack_text + n, sizeof(t->unpack_text) - (size_t)n,
			 "; it goes on at byte %" PRIu64, d->packed_offset + d->packed_bytes);
	*ret = (struct fxt_damage){
		.offset = d->unpacked_offset,
		.bytes = bytes,
		.what = t->unpack_text,
		.truncated = d->cut,
	};
	unpack_damage_taken(t->unpack);
	t->unpack_damaged = unpack_damage(t->unpack) != NULL;
	return FXT_READER_DAMAGE;
}

/* Is there damage of the container in the archive between FROM and TO? */
static bool is_damaged_at(const struct open_trace *t, uint64_t from, uint64_t to)
{
	const struct unpack_damage *d = unpack_damage(t->unpack);

	return d && d->unpacked_offset >= from && d->unpacked_offset <= to;
}

int open_trace_step(struct open_trace *t, const struct fxt_record **ret,
		    struct fxt_damage *ret_damage)
{
	int r;

	*ret = NULL;
	if (t->unpack_damaged && is_damaged_at(t, 0, fxt_reader_offset(t->reader)))
		return take_unpack_damage(t, 0, ret_damage);
	r = fxt_reader_next(t->reader, ret);
	if (r == FXT_READER_RECORD)
		return r;
	if (r == FXT_READER_END && t->unpack_damaged)
		return take_unpack_damage(t, 0, ret_damage);
	if (r != FXT_READER_DAMAGE)
		return r;
	*ret_damage = *fxt_reader_damage(t->reader);
	/* A record of which a part could not be unpacked is no damage of its own. */
	if (t->unpack_damaged &&
	    is_damaged_at(t, ret_damage->offset, ret_damage->offset + ret_damage->bytes))
		return take_unpack_damage(t, ret_damage->bytes, ret_damage);
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
	cli_error(
		"%s: the archive is damaged; what could be read was used ('kymo check' says more)",
		t->name);
	return CLI_DAMAGE;
}
