/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/open-trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/input-file.h"
#include "cli/verb.h"
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
	case FXT_ALIEN_BIG_ENDIAN:
		cli_error("%s: big-endian archives are not read yet", name);
		break;
	default:
		cli_error("%s: it is not a Fuchsia trace (FXT): it does not start with the magic "
			  "number",
			  name);
		break;
	}
}

static ssize_t read_unpacked(void *userdata, void *to, size_t n)
{
	return unpack_read(userdata, to, n);
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
	r = unpack_new_fd(&t->unpack, t->fd);
	if (r == 0)
		r = fxt_reader_new_source(&t->reader, read_unpacked, t->unpack);
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

int open_trace_step(struct open_trace *t, const struct fxt_record **ret,
		    struct fxt_damage *ret_damage)
{
	int r = fxt_reader_next(t->reader, ret);
	const struct unpack_damage *end;

	if (r == FXT_READER_DAMAGE)
		*ret_damage = *fxt_reader_damage(t->reader);
	/* A last record that is not all there is no damage of its own where unpacking has ended. */
	if (r != FXT_READER_END && !(r == FXT_READER_DAMAGE && ret_damage->truncated))
		return r;
	end = unpack_damage(t->unpack);
	if (!end || t->unpack_told)
		return r;
	t->unpack_told = true;
	snprintf(t->unpack_text, sizeof(t->unpack_text), "%s, at byte %" PRIu64 " of the file",
		 end->what, end->packed_offset);
	*ret_damage = (struct fxt_damage){
		.offset = end->unpacked_offset,
		.what = t->unpack_text,
		.truncated = end->cut,
	};
	return FXT_READER_DAMAGE;
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
