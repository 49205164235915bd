/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/open-trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/common/input-file.h"
#include "cli/common/verb.h"
#include "writer/pack/pack.h"

/* More damage than this is counted and not described one by one. */
enum { DAMAGES_SHOWN = 10 };

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

int open_trace(struct open_trace *t, const char *path)
{
	struct input_file file;
	int r;

	*t = (struct open_trace)OPEN_TRACE_NULL;
	r = input_file_open(&file, path);
	if (r != CLI_OK)
		return r;
	t->name = file.name;
	t->fd = file.fd;
	r = unpack_new_fd(&t->unpack, t->fd)
		    ?: fxt_reader_new_source(&t->reader, open_trace_read_unpacked, t);
	if (r == 0)
		return CLI_OK;
	if (r < 0)
		open_trace_failed(t, r);
	else
		open_trace_say_alien(t->name, unpack_damage(t->unpack), r);
	open_trace_close(t);
	return CLI_FAILED;
}

void open_trace_close(struct open_trace *t)
{
	t->reader = fxt_reader_free(t->reader);
	t->unpack = unpack_free(t->unpack);
	if (t->fd > STDIN_FILENO)
		close(t->fd);
	t->fd = -1;
}

void open_trace_failed(const struct open_trace *t, int e)
{
	input_file_failed(&(struct input_file){ .name = t->name }, e);
}

void open_trace_damage(struct open_trace *t, uint64_t offset, const char *what)
{
	if (t->n_damages++ < DAMAGES_SHOWN)
		cli_error("%s: at byte %" PRIu64 "%s: %s", t->name, offset,
			  unpack_method(t->unpack) ? " of the unpacked archive" : "", what);
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
