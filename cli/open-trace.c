/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/open-trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/verb.h"

/* More damage than this is counted and not described one by one. */
enum { DAMAGES_SHOWN = 10 };

static void say_alien(const struct open_trace *t, int alien)
{
	static const char *const compressed[] = {
		[FXT_ALIEN_GZIP] = "gzip",
		[FXT_ALIEN_ZSTD] = "zstd",
		[FXT_ALIEN_XZ] = "xz",
	};

	switch (alien) {
	case FXT_ALIEN_EMPTY:
		cli_error("%s: the file is empty; it holds no trace", t->name);
		break;
	case FXT_ALIEN_GZIP:
	case FXT_ALIEN_ZSTD:
	case FXT_ALIEN_XZ:
		cli_error(
			"%s: it is compressed with %s, which kymo does not read; unpack it first: "
			"%s -dc %s | kymo ... -",
			t->name, compressed[alien], compressed[alien], t->name);
		break;
	case FXT_ALIEN_BIG_ENDIAN:
		cli_error("%s: big-endian archives are not read yet", t->name);
		break;
	default:
		cli_error("%s: it is not a Fuchsia trace (FXT): it does not start with the magic "
			  "number",
			  t->name);
		break;
	}
}

int open_trace(struct open_trace *t, const char *path)
{
	int r;

	*t = (struct open_trace)OPEN_TRACE_NULL;
	t->name = path;
	if (strcmp(path, "-") == 0) {
		t->name = "standard input";
		t->fd = STDIN_FILENO;
		if (isatty(STDIN_FILENO)) {
			cli_error(
				"a trace cannot be read from a terminal; name a file, or pipe one in");
			return CLI_FAILED;
		}
	} else {
		t->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	}
	if (t->fd < 0) {
		cli_error("cannot open %s: %m", path);
		return CLI_FAILED;
	}
	r = fxt_reader_new_fd(&t->reader, t->fd);
	if (r == 0)
		return CLI_OK;
	if (r < 0)
		open_trace_failed(t, r);
	else
		say_alien(t, r);
	open_trace_close(t);
	return CLI_FAILED;
}

void open_trace_close(struct open_trace *t)
{
	t->reader = fxt_reader_free(t->reader);
	if (t->fd > STDIN_FILENO)
		close(t->fd);
	t->fd = -1;
}

void open_trace_failed(const struct open_trace *t, int e)
{
	if (e == -EISDIR)
		cli_error("cannot read %s: it is a directory; name the archive in it", t->name);
	else
		cli_error("cannot read %s: %s", t->name, strerror(-e));
}

void open_trace_damage(struct open_trace *t, uint64_t offset, const char *what)
{
	if (t->n_damages++ < DAMAGES_SHOWN)
		cli_error("%s: at byte %" PRIu64 ": %s", t->name, offset, what);
}

int open_trace_next(struct open_trace *t, const struct fxt_record **ret)
{
	int r;

	while ((r = fxt_reader_next(t->reader, ret)) == FXT_READER_DAMAGE) {
		const struct fxt_damage *damage = fxt_reader_damage(t->reader);

		open_trace_damage(t, damage->offset, damage->what);
	}
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
