/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tables/table-symbolize.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outbuf.h"
#include "cli/common/verb.h"
#include "cli/tables/table-set.h"
#include "reader/parquet/parquet-read.h"

enum {
	TABLE_DEPTH_MAX = 16, /* of directories */
	TABLE_NOTE_MAX = 256,
	TABLE_READ_BYTES = 1 << 20,
	TABLE_PAGE_BYTES = 4096,
};

#define TABLE_FRAMES_FILE "frames.parquet"

/* A table that is being read and written. */
struct frames_table {
	struct table_symbolize *s;
	const char *path;
	struct outbuf bytes; /* the file */
	struct parquet_read read;
	struct text_set texts;
	struct table_file file;
	uint64_t n_named; /* frames that got a name */
};

/* ---- reading ---- */

static int table_symbolize_read_bytes(int fd, struct outbuf *to)
{
	_cleanup_free_ char *buffer = malloc(TABLE_READ_BYTES);
	ssize_t n;

	if (!buffer)
		return -ENOMEM;
	while ((n = read(fd, buffer, TABLE_READ_BYTES)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && outbuf_append(to, buffer, (size_t)n) < 0)
			return to->error;
	}
	return 0;
}

/*
 * Returns true if this version knows all columns of the table, since unknown columns would get
 * lost. Older tables lack the last columns.
 */
static bool table_symbolize_has_columns(const struct parquet_read *r)
{
	const struct parquet_table *wanted = table_set_columns(TABLE_FRAMES);

	if (r->n_columns <= FRAME_PROCESS || r->n_columns > wanted->n_columns)
		return false;
	for (size_t i = 0; i < r->n_columns; i++)
		if (strcmp(r->columns[i].name, wanted->columns[i].name) != 0 ||
		    r->columns[i].type != wanted->columns[i].type ||
		    r->columns[i].optional != wanted->columns[i].optional)
			return false;
	return true;
}

static int table_symbolize_open(struct frames_table *t)
{
	_cleanup_close_ int fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return cli_failed("cannot open %s: %m", t->path);
	if (!S_ISREG(st.st_mode))
		return cli_failed("%s is not a regular file", t->path);
	r = table_symbolize_read_bytes(fd, &t->bytes);
	r = r ?: parquet_read(&t->read, t->bytes.data, t->bytes.size);
	if (r == -EBADMSG)
		return cli_failed("%s is damaged, or no table of kymo (%s)", t->path,
				  t->read.wrong);
	if (r < 0)
		return cli_failed("cannot read %s: %s", t->path, strerror(-r));
	if (!table_symbolize_has_columns(&t->read))
		return cli_failed("%s has other columns than the table 'frames' of this version",
				  t->path);
	return CLI_OK;
}

static const struct parquet_value *table_symbolize_value(const struct frames_table *t, size_t row,
							 size_t column)
{
	static const struct parquet_value none;

	return column < t->read.n_columns ? &t->read.columns[column].values[row] : &none;
}

/* Sets *RET to the text of a value, valid as long as T, or to NULL if the value is null. Returns 0
 * or -ENOMEM. */
static int table_symbolize_text(struct frames_table *t, size_t row, size_t column, const char **ret)
{
	const struct parquet_value *v = table_symbolize_value(t, row, column);
	_cleanup_free_ char *copy = v->present ? strndup(v->text, v->number) : NULL;

	*ret = copy ? text_set_keep(&t->texts, copy) : NULL;
	return v->present && !*ret ? -ENOMEM : 0;
}

/* ---- names ---- */

static int table_symbolize_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses a build id. Returns its size, or 0 if there is none. */
static size_t table_symbolize_parse_id(const struct parquet_value *v,
				       uint8_t to[static SYMBOL_BUILD_ID_MAX])
{
	size_t n = v->present ? v->number / 2 : 0;

	if (n > SYMBOL_BUILD_ID_MAX || (v->present && v->number % 2))
		return 0;
	for (size_t i = 0; i < n; i++) {
		int high = table_symbolize_digit(v->text[2 * i]),
		    low = table_symbolize_digit(v->text[2 * i + 1]);

		if (high < 0 || low < 0)
			return 0;
		to[i] = (uint8_t)(high << 4 | low);
	}
	return n;
}

/*
 * Sets the address and the mapping of the frame of ROW. Its offset is that of the code, also for
 * return addresses. Older tables do not have the mapping. Then a mapping of the whole file is
 * assumed, which suffices if the file itself is found. Returns false if the values make no sense.
 */
static bool table_symbolize_place(const struct frames_table *t, size_t row, struct symbol_query *q)
{
	const struct parquet_value *offset = table_symbolize_value(t, row, FRAME_OFFSET),
				   *start = table_symbolize_value(t, row, FRAME_MAPPING);
	struct symbol_mapping *m = &q->mapping;

	m->start = start->number;
	m->size = table_symbolize_value(t, row, FRAME_MAPPING_SIZE)->number;
	m->file_offset = table_symbolize_value(t, row, FRAME_MAPPING_OFFSET)->number;
	if (!start->present) {
		m->start = table_symbolize_value(t, row, FRAME_ADDRESS)->number - offset->number;
		m->start &= ~(uint64_t)(TABLE_PAGE_BYTES - 1);
		m->size = UINT64_MAX - m->start;
	}
	q->address = m->start + (offset->number - m->file_offset);
	return offset->present && offset->number >= m->file_offset && q->address >= m->start &&
	       q->address - m->start < m->size;
}

/* Looks up the frame of ROW. Returns the number of functions in *RET, 0 if the name is unknown, or
 * -ENOMEM. */
static int table_symbolize_find(struct frames_table *t, size_t row, const struct symbol_frame **ret)
{
	uint8_t id[SYMBOL_BUILD_ID_MAX];
	struct symbol_query query = {
		.kernel = table_symbolize_value(t, row, FRAME_KERNEL)->number != 0,
		.mapping = { .build_id = id },
	};
	size_t n = 0;
	int r = table_symbolize_text(t, row, FRAME_MODULE, &query.mapping.path);

	if (r < 0)
		return r;
	query.mapping.n_build_id =
		table_symbolize_parse_id(table_symbolize_value(t, row, FRAME_BUILD_ID), id);
	if (query.mapping.n_build_id == 0 || !table_symbolize_place(t, row, &query)) {
		t->s->n_no_id++;
		return 0;
	}
	r = symbols_resolve(t->s->symbols, &query, ret, &n);
	if (r < 0)
		return r;
	if (n == 0 || !(*ret)[n - 1].function || ((*ret)[0].unsure && !t->s->has_sysroot)) {
		t->s->n_unnamed++;
		return 0;
	}
	return (int)n;
}

/* ---- writing ---- */

static int table_symbolize_copy_value(struct frames_table *t, size_t row, size_t column)
{
	const struct parquet_value *v = table_symbolize_value(t, row, column);
	const char *text;
	int r;

	if (!v->present)
		return 0;
	if (t->read.columns[column].type != PARQUET_TEXT) {
		parquet_set(t->file.rows, column, v->number);
		return 0;
	}
	r = table_symbolize_text(t, row, column, &text);
	if (r == 0)
		parquet_set_text(t->file.rows, column, text);
	return r;
}

/*
 * Writes ROW with the name FRAME, which is function number DEPTH at the row's address. FRAME NULL =
 * the row is written unchanged.
 */
static int table_symbolize_put(struct frames_table *t, size_t row, size_t depth,
			       const struct symbol_frame *frame)
{
	struct parquet_file *rows = t->file.rows;
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->read.n_columns; i++)
		if (!frame || (i != FRAME_DEPTH && i != FRAME_FUNCTION && i != FRAME_SOURCE &&
			       i != FRAME_LINE))
			r = table_symbolize_copy_value(t, row, i);
	if (r < 0)
		return r;
	if (frame) {
		parquet_set(rows, FRAME_DEPTH, depth);
		if (frame->function)
			parquet_set_text(rows, FRAME_FUNCTION, frame->function);
		if (frame->source)
			parquet_set_text(rows, FRAME_SOURCE, frame->source);
		if (frame->line)
			parquet_set(rows, FRAME_LINE, frame->line);
	}
	return parquet_end_row(rows);
}

static int table_symbolize_row(struct frames_table *t, size_t row)
{
	const struct symbol_frame *frames = NULL;
	bool is_known = table_symbolize_value(t, row, FRAME_FUNCTION)->present;
	int n = is_known ? 0 : table_symbolize_find(t, row, &frames), r = 0;

	/*
	 * (each inlined function has a row of its own, so the frame is counted in the row with
	 * depth 0)
	 */
	t->s->n_frames += table_symbolize_value(t, row, FRAME_DEPTH)->number == 0;
	t->s->n_known += is_known && table_symbolize_value(t, row, FRAME_DEPTH)->number == 0;
	if (n <= 0)
		return n ?: table_symbolize_put(t, row, 0, NULL);
	t->n_named++;
	for (int i = 0; r == 0 && i < n; i++)
		r = table_symbolize_put(t, row, (size_t)i, &frames[i]);
	return r;
}

/* Writes the key-value pairs of the old file to the new one, and ends it. */
static int table_symbolize_finish(struct frames_table *t)
{
	static const char *const keys[] = { "kymo.tables", "kymo.host", "kymo.clock" };
	char values[ARRAY_SIZE(keys)][TABLE_NOTE_MAX];
	struct parquet_note notes[ARRAY_SIZE(keys)];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		size_t n = 0;
		const char *value = parquet_read_note(&t->read, keys[i], &n);

		snprintf(values[i], TABLE_NOTE_MAX, "%.*s",
			 (int)(n < TABLE_NOTE_MAX ? n : TABLE_NOTE_MAX - 1), value ?: "");
		notes[i] = (struct parquet_note){ keys[i], values[i] };
	}
	return parquet_file_finish(t->file.rows, notes, ARRAY_SIZE(notes));
}

static int table_symbolize_write(struct frames_table *t)
{
	int r;

	if (output_file_open_unnamed(t->path, true, &t->file.output) < 0)
		return CLI_FAILED;
	/* (otherwise the table would be emptied, and only then written again) */
	if (!t->file.output.created)
		return cli_failed(
			"cannot replace %s: it has other hard links or an access list, its "
			"owner cannot be kept, or its directory allows no new file; make "
			"a copy and use that",
			t->path);
	if (output_file_begin(&t->file.output) < 0)
		return CLI_FAILED;
	output_file_watch_signals(&t->file.output);
	r = parquet_file_new(&t->file.rows, table_set_columns(TABLE_FRAMES), table_set_write,
			     &t->file);
	for (size_t row = 0; r == 0 && row < t->read.n_rows; row++)
		r = table_symbolize_row(t, row);
	r = r ?: table_symbolize_finish(t);
	if (r < 0)
		return cli_failed("cannot write %s: %s%s", t->path, strerror(-r),
				  output_file_advice(r));
	t->s->n_named += t->n_named;
	if (t->n_named == 0)
		return CLI_OK; /* the old file stays */
	t->s->n_changed++;
	return output_file_keep(&t->file.output) < 0 ? CLI_FAILED : CLI_OK;
}

static int table_symbolize_file(struct table_symbolize *s, const char *path)
{
	struct frames_table t = { .s = s, .path = path, .file.output = OUTPUT_FILE_NULL };
	int r = table_symbolize_open(&t);

	s->n_tables++;
	r = r ?: table_symbolize_write(&t);
	output_file_watch_signals(NULL);
	parquet_file_freep(&t.file.rows);
	if (t.file.output.created && (r != CLI_OK || t.n_named == 0))
		output_file_abandon(&t.file.output);
	output_file_deinit(&t.file.output);
	parquet_read_deinit(&t.read);
	text_set_deinit(&t.texts);
	outbuf_deinit(&t.bytes);
	return r;
}

/* ---- directories ---- */

static int table_symbolize_directory(struct table_symbolize *s, const char *path, int depth)
{
	struct dirent **list;
	int n = depth < TABLE_DEPTH_MAX ? scandir(path, &list, NULL, alphasort) : 0,
	    status = n < 0 ? cli_failed("cannot read the directory %s: %m", path) : CLI_OK;

	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *below = NULL;
		const char *name = list[i]->d_name;
		struct stat st;
		int r = CLI_OK;

		/* Names with a dot are of tables that are not complete. */
		if (*name == '.')
			r = CLI_OK;
		else if (asprintf(&below, "%s/%s", path, name) < 0)
			r = cli_failed("out of memory");
		else if (lstat(below, &st) < 0)
			r = cli_failed("cannot open %s: %m", below);
		else if (S_ISDIR(st.st_mode))
			r = table_symbolize_directory(s, below, depth + 1);
		else if (strcmp(name, TABLE_FRAMES_FILE) == 0)
			r = table_symbolize_file(s, below);
		status = status ?: r;
		free(list[i]);
	}
	if (n >= 0 && depth < TABLE_DEPTH_MAX)
		free(list);
	return status;
}

int table_symbolize(struct table_symbolize *s, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return cli_failed("cannot open %s: %m", path);
	return S_ISDIR(st.st_mode) ? table_symbolize_directory(s, path, 0)
				   : table_symbolize_file(s, path);
}
