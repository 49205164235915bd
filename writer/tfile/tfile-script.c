/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/tfile/tfile-script.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"

/* The maximum number of bytes of a text in a comment. */
enum { TEXT_ROOM = 512 };

static int tfile_script_path_is_valid(const char *path)
{
	return *path && !strpbrk(path, "\n\r") ? 0 : -EINVAL;
}

/* Writes PATH as one argument of a GDB command that splits its arguments as a shell does. */
static int tfile_script_argument(struct outbuf *out, const char *path)
{
	int r = tfile_script_path_is_valid(path);

	for (; r == 0 && *path; path++) {
		if (strchr(" \t\\'\"", *path))
			r = outbuf_append(out, "\\", 1);
		r = r ?: outbuf_append(out, path, 1);
	}
	return r;
}

static int tfile_script_clean(struct outbuf *out, const char *text)
{
	char clean[TEXT_ROOM];
	size_t n = text_clean(clean, sizeof(clean), text, strlen(text));

	return outbuf_append(out, clean, n);
}

static int tfile_script_comments(struct outbuf *out, const struct tfile_script *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n_comments; i++)
		r = outbuf_append(out, "# ", 2) ?: tfile_script_clean(out, s->comments[i])
				?: outbuf_append(out, "\n", 1);
	return r;
}

/* Writes a line with COMMAND and the path and bias of F, after a comment with its build ID. */
static int tfile_script_symbols(struct outbuf *out, const char *command,
				const struct tfile_script_file *f)
{
	int r = 0;

	if (*f->build_id)
		r = outbuf_append(out, "# build ID ", 11) ?: tfile_script_clean(out, f->build_id)
				?: outbuf_append(out, "\n", 1);
	r = r ?: outbuf_print(out, "%s -o 0x%" PRIx64 " ", command, f->bias);
	return r ?: tfile_script_argument(out, f->path) ?: outbuf_append(out, "\n", 1);
}

static int tfile_script_files(struct outbuf *out, const struct tfile_script *s)
{
	int r = 0;

	if (s->program.path)
		r = outbuf_append(out, "file ", 5) ?: tfile_script_argument(out, s->program.path)
				?: outbuf_append(out, "\n", 1);
	if (r == 0 && s->program.path)
		r = tfile_script_symbols(out, "symbol-file", &s->program);
	for (size_t i = 0; r == 0 && i < s->n_libraries; i++)
		r = tfile_script_symbols(out, "add-symbol-file", &s->libraries[i]);
	return r;
}

/*
 * Writes the command `target`. GDB takes everything after its name as the path, without quotes.
 */
static int tfile_script_target(struct outbuf *out, const struct tfile_script *s)
{
	return tfile_script_path_is_valid(s->trace)
		       ?: outbuf_print(out, "target tfile %s\ntfind 0\n", s->trace);
}

static int tfile_script_index(struct outbuf *out, const struct tfile_script *s)
{
	int r = s->n_frames == 0 ? 0
				 : outbuf_print(out, "\n# tfind NUMBER goes to a frame:\n"
						     "# NUMBER  TRACEPOINT  THREAD  NANOSECONDS\n");

	for (size_t i = 0; r == 0 && i < s->n_frames; i++) {
		const struct tfile_script_frame *f = &s->frames[i];

		r = outbuf_print(out,
				 "# %6" PRIu32 "  %10" PRIu32 "  %6" PRIu32 "  %11" PRIu64 "%s",
				 f->number, f->tracepoint, f->tid, f->ts_ns, *f->text ? "  " : "");
		r = r ?: tfile_script_clean(out, f->text) ?: outbuf_append(out, "\n", 1);
	}
	return r;
}

static int tfile_script_commands(struct outbuf *out, const struct tfile_script *s)
{
	int r;

	/* The script must not ask for confirmation. */
	r = outbuf_print(out, "set confirm off\n") ?: tfile_script_files(out, s)
		    ?: outbuf_print(out, "set confirm on\n") ?: tfile_script_target(out, s);
	/* GDB can read the list of libraries only once the trace file is open: the list is in its
	 * memory. */
	if (r == 0 && s->has_link_map)
		r = outbuf_print(out, "sharedlibrary\n");
	return r;
}

int tfile_script_write(struct outbuf *out, const struct tfile_script *s)
{
	size_t begin = out->size;
	int r = tfile_script_comments(out, s) ?: tfile_script_commands(out, s)
			?: tfile_script_index(out, s);

	if (r < 0)
		out->size = begin;
	return r;
}
