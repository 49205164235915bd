/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tables/table-set.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/table.h"
#include "cli/common/verb.h"
#include "model/koids.h"
#include "reader/views/cgroup-names.h"

#define COLUMN_SPEC(number, name, type, optional) { name, PARQUET_##type, optional },
#define TABLE_SPEC(number, name, columns)                                                          \
	static const struct parquet_column_spec columns_of_##name[] = { columns(COLUMN_SPEC) };
TABLES(TABLE_SPEC)

#define TABLE_ROW(number, name, columns)                                                           \
	[number] = { #name, columns_of_##name, ARRAY_SIZE(columns_of_##name), 0 },
static const struct parquet_table tables[TABLES_MAX] = { TABLES(TABLE_ROW) };

/* The unit and the container of a cgroup. */
struct table_cgroup {
	char unit[CGROUP_NAME_MAX], container[CGROUP_NAME_MAX];
};

const struct parquet_table *table_set_columns(enum table_number table)
{
	return &tables[table];
}

/* ---- files ---- */

/* Returns 0, 1 if DIRECTORY has files, or a negative errno. */
static int table_set_is_used(const char *directory)
{
	DIR *d = opendir(directory);
	const struct dirent *entry;
	int r = 0;

	if (!d)
		return -errno;
	while (r == 0 && (entry = readdir(d)))
		r = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(d);
	return r;
}

int table_set_write(void *userdata, const void *data, size_t n)
{
	struct table_file *f = userdata;
	const char *p = data;

	while (n > 0) {
		ssize_t written = write(f->output.fd, p, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		p += written;
		n -= (size_t)written;
		f->bytes += (uint64_t)written;
	}
	return 0;
}

static int table_set_failed(const struct table_file *f, int r)
{
	return cli_failed("cannot write %s: %s%s", f->output.path, strerror(-r),
			  output_file_advice(r));
}

static int table_set_open_file(struct table_set *s, size_t i, const char *directory, bool force)
{
	struct table_file *f = &s->files[i];
	_cleanup_free_ char *path = NULL;
	int r;

	if (asprintf(&path, "%s/%s.parquet", directory, tables[i].name) < 0) {
		path = NULL;
		return cli_failed("out of memory");
	}
	if (output_file_open_unnamed(path, force, &f->output) < 0 ||
	    output_file_begin(&f->output) < 0)
		return CLI_FAILED;
	r = parquet_file_new(&f->rows, &tables[i], table_set_write, f);
	return r < 0 ? table_set_failed(f, r) : CLI_OK;
}

/* Opens the files. Until table_set_deinit(), signals remove them. */
static int table_set_open_files(struct table_set *s, const char *directory, bool force)
{
	sigset_t before;
	int r = CLI_OK;

	output_file_hold_signals(&before);
	for (size_t i = 0; r == CLI_OK && i < TABLES_MAX; i++)
		r = table_set_open_file(s, i, directory, force);
	for (size_t i = 1; i < TABLES_MAX; i++)
		s->files[i - 1].output.also = &s->files[i].output;
	output_file_watch_signals(&s->files[0].output);
	output_file_admit_signals(&before);
	return r;
}

void table_set_init(struct table_set *s)
{
	for (size_t i = 0; i < TABLES_MAX; i++)
		s->files[i].output = OUTPUT_FILE_NULL;
}

int table_set_open(struct table_set *s, const char *directory, bool force)
{
	int r;

	if (mkdir(directory, 0777) < 0 && errno != EEXIST)
		return cli_failed("cannot create the directory %s: %m", directory);
	r = force ? 0 : table_set_is_used(directory);
	if (r < 0)
		return cli_failed("cannot read the directory %s: %s", directory, strerror(-r));
	if (r > 0)
		return cli_failed("the directory %s is not empty; --force replaces its tables",
				  directory);
	return table_set_open_files(s, directory, force);
}

/*
 * Gives the files their names, the table `machine` last: if it exists, all tables exist and are
 * complete. A signal waits until all files have their names.
 */
static int table_set_name_files(struct table_set *s)
{
	sigset_t before;
	int r = 0;

	output_file_hold_signals(&before);
	output_file_watch_signals(NULL);
	for (size_t i = TABLES_MAX; r == 0 && i-- > 0;) {
		r = output_file_keep(&s->files[i].output);
		s->files[i].output.created = false;
	}
	output_file_admit_signals(&before);
	return r < 0 ? CLI_FAILED : CLI_OK;
}

int table_set_finish(struct table_set *s)
{
	const struct parquet_note notes[] = {
		{ "kymo.tables", TABLES_VERSION },
		{ "kymo.host", s->summary->recording.host ?: "" },
		{ "kymo.clock", s->has_clock ? "utc" : "boot" },
	};
	int r;

	for (size_t i = 0; i < TABLES_MAX; i++) {
		struct table_file *f = &s->files[i];

		r = parquet_file_finish(f->rows, notes, ARRAY_SIZE(notes));
		if (r < 0)
			return table_set_failed(f, r);
	}
	return table_set_name_files(s);
}

static void table_set_close_file(struct table_file *f)
{
	parquet_file_freep(&f->rows);
	if (f->output.created)
		output_file_abandon(&f->output);
	output_file_deinit(&f->output);
}

void table_set_deinit(struct table_set *s)
{
	sigset_t before;

	output_file_hold_signals(&before);
	output_file_watch_signals(NULL);
	for (size_t i = 0; i < TABLES_MAX; i++)
		table_set_close_file(&s->files[i]);
	output_file_admit_signals(&before);
	table_deinit_free(&s->cgroups);
}

/* ---- values ---- */

void table_put(struct table_set *s, enum table_number table, size_t column, uint64_t value)
{
	parquet_set(s->files[table].rows, column, value);
}

void table_put_time(struct table_set *s, enum table_number table, size_t column, uint64_t ts_ns)
{
	s->fixed_clock = true;
	table_put(s, table, column, ts_ns + (uint64_t)s->offset_ns);
}

void table_put_text(struct table_set *s, enum table_number table, size_t column, const char *text)
{
	if (text && *text)
		parquet_set_text(s->files[table].rows, column, text);
}

int table_put_cgroup(struct table_set *s, enum table_number table, size_t unit, size_t container,
		     const char *path)
{
	struct table_cgroup *c;
	uint64_t key;

	if (!path || !*path)
		return 0;
	key = table_hash_seeded(0, path, strlen(path));
	c = table_get(&s->cgroups, key);
	if (!c) {
		c = table_make(&s->cgroups, key, sizeof(*c));
		if (!c)
			return -ENOMEM;
		cgroup_unit(c->unit, path);
		cgroup_container(c->container, path);
	}
	table_put_text(s, table, unit, c->unit);
	table_put_text(s, table, container, c->container);
	return 0;
}

int table_put_thread(struct table_set *s, enum table_number table, size_t first, uint32_t tid,
		     uint32_t pid)
{
	const struct summary_thread *t = tid ? table_get(&s->summary->threads, tid) : NULL;
	const struct summary_process *p;

	pid = t && t->pid ? t->pid : pid;
	p = table_get(&s->summary->processes, (uint64_t)pid + 1);
	if (tid)
		table_put(s, table, first + TABLE_THREAD_THREAD, tid);
	if (fxt_koid_is_task(tid))
		table_put(s, table, first + TABLE_THREAD_TID, fxt_koid_tid(tid));
	table_put_text(s, table, first + TABLE_THREAD_THREAD_NAME, t ? t->name : NULL);
	if (pid == 0)
		return 0;
	table_put(s, table, first + TABLE_THREAD_PROCESS, pid);
	if (fxt_koid_is_task(pid))
		table_put(s, table, first + TABLE_THREAD_PID, fxt_koid_tid(pid));
	table_put_text(s, table, first + TABLE_THREAD_PROCESS_NAME, p ? p->name : NULL);
	return table_put_cgroup(s, table, first + TABLE_THREAD_UNIT, first + TABLE_THREAD_CONTAINER,
				p ? p->cgroup_path : NULL);
}

int table_end_row(struct table_set *s, enum table_number table)
{
	return parquet_end_row(s->files[table].rows);
}
