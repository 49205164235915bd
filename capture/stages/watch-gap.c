/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/watch-gap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/string-table.h"
#include "base/text.h"
#include "capture/heap/heap-records.h"
#include "capture/proc/file-identity.h"
#include "capture/proc/proc-records.h"

/* Maximum numbers of processes and files that are kept, and of files of one process. */
enum { PROCESSES_MAX = 8192, FILES_MAX = 16384, FILES_OF_PROCESS_MAX = 256 };

/* The report that a process is watched can follow its exit, by the delay of the worker. */
#define ENDED_NS UINT64_C(5000000000)

/*
 * How long after its examination a file counts as unchanged. Many processes load the same
 * libraries, and each examination costs time.
 */
#define UNCHANGED_NS UINT64_C(20000000)

enum verdict {
	VERDICT_NONE,
	VERDICT_AWAITED,
	VERDICT_HARMLESS,
	VERDICT_UNKNOWN, /* the file can have an allocator */
};

struct watch_gap_file {
	bool is_awaited;  /* an examination was requested */
	bool is_harmless; /* result of the last examination, for mappings of this time: */
	uint64_t from_ns, to_ns;
	uint64_t refused_ns;     /* no examination was possible for mappings until then */
	struct rec_mapping *rec; /* a mapping of the file; owned */
	bool is_used;            /* only valid while unused files are removed */
};

/* A file that a process has mapped. */
struct watch_gap_mapped {
	uint64_t key; /* in `files` */
	uint64_t ts_ns;
};

/*
 * The mapped files of a process: each of them once, with the time of its last mapping. If another
 * process gets the id before the end of the first one is reported, each of them has its own
 * entries.
 */
struct watch_gap_process {
	struct watch_gap_mapped *list; /* owned */
	size_t n, room;
	uint64_t before_ns;   /* when the previous process with this id ended; 0 = unknown */
	uint64_t left_out_ns; /* when a file had no room; 0 = never */
	uint64_t watched_ns;  /* when its last watch began; 0 = no report of an end is expected */
	uint64_t ended_ns;    /* when it ended; 0 = not yet */
};

int watch_gap_begin(struct watch_gap_files *files, const struct session_options *o)
{
	const struct option_files *announced = &o->memory.allocators;

	files->announced = calloc(announced->n + 1, sizeof(*files->announced));
	if (!files->announced)
		return -ENOMEM;
	for (size_t i = 0; i < announced->n; i++)
		if (file_identity_get(announced->fds[i], &files->announced[files->n_announced]) ==
		    0)
			files->n_announced++;
	return 0;
}

void watch_gap_deinit(struct watch_gap_files *files)
{
	struct watch_gap_process *process;
	struct watch_gap_file *file;

	for (size_t pos = 0; (process = table_next(&files->processes, &pos));)
		free(process->list);
	for (size_t pos = 0; (file = table_next(&files->files, &pos));)
		free(file->rec);
	table_deinit_free(&files->processes);
	table_deinit_free(&files->files);
	free(files->announced);
}

/* ---- room ---- */

/*
 * Forgets processes that are not watched and ended some time before TS_NS. If ALL is set, forgets
 * all processes that are not watched, and the files of all processes.
 */
static void watch_gap_forget_processes(struct watch_gap_files *files, uint64_t ts_ns, bool all)
{
	struct watch_gap_process *process;

	for (size_t pos = 0; (process = table_next(&files->processes, &pos));) {
		if (all)
			process->n = 0;
		if (process->watched_ns ||
		    !(all || (process->ended_ns && process->ended_ns + ENDED_NS < ts_ns)))
			continue;
		table_remove_last(&files->processes, &pos);
		free(process->list);
		free(process);
	}
}

/* Forgets the files that no process has mapped. */
static void watch_gap_forget_files(struct watch_gap_files *files)
{
	struct watch_gap_process *process;
	struct watch_gap_file *file;

	for (size_t pos = 0; (file = table_next(&files->files, &pos));)
		file->is_used = false;
	for (size_t pos = 0; (process = table_next(&files->processes, &pos));)
		for (size_t i = 0; i < process->n; i++) {
			file = table_get(&files->files, process->list[i].key);
			if (file)
				file->is_used = true;
		}
	for (size_t pos = 0; (file = table_next(&files->files, &pos));) {
		if (file->is_used)
			continue;
		table_remove_last(&files->files, &pos);
		free(file->rec);
		free(file);
	}
}

static bool watch_gap_has_room(const struct watch_gap_files *files, size_t divisor)
{
	return files->processes.n_used - files->n_watched <
		       PROCESSES_MAX - PROCESSES_MAX / divisor &&
	       files->files.n_used < FILES_MAX - FILES_MAX / divisor;
}

/* Makes room for a file that is mapped at TS_NS. */
static void watch_gap_make_room(struct watch_gap_files *files, uint64_t ts_ns)
{
	if (watch_gap_has_room(files, SIZE_MAX))
		return;
	watch_gap_forget_processes(files, ts_ns, false);
	watch_gap_forget_files(files);
	/* (a quarter must be free, so that this is not repeated for each file) */
	if (watch_gap_has_room(files, 4))
		return;
	watch_gap_forget_processes(files, ts_ns, true);
	watch_gap_forget_files(files);
	files->forgotten_ns = ts_ns;
}

/* ---- mappings ---- */

static bool watch_gap_was_announced(const struct watch_gap_files *files,
				    const struct rec_mapping *rec)
{
	for (size_t i = 0; i < files->n_announced; i++)
		if (file_identity_is_of(&files->announced[i], rec->device, rec->inode))
			return true;
	return false;
}

/* Returns true if REC maps a file. Code that a program generates itself is not in a file. */
static bool watch_gap_is_file(const struct rec_mapping *rec)
{
	static const char *const generated[] = { "//", "/dev/", "/memfd:", "/SYSV" };

	for (size_t i = 0; i < ARRAY_SIZE(generated); i++)
		if (strncmp(rec->path, generated[i], strlen(generated[i])) == 0)
			return false;
	return *rec->path == '/';
}

static uint64_t watch_gap_key(uint64_t device, uint64_t inode)
{
	const uint64_t identity[] = { device, inode };

	return table_hash(identity, sizeof(identity)) ?: 1;
}

/* Limits the known facts about FILE to mappings before the mapping FILE->rec. */
static void watch_gap_limit(struct watch_gap_file *file)
{
	uint64_t before_ns = file->rec->head.ts_ns - 1;

	file->to_ns = file->to_ns < before_ns ? file->to_ns : before_ns;
	file->refused_ns = file->refused_ns < before_ns ? file->refused_ns : before_ns;
}

/* FILE is mapped again. If the path differs, this can be another file that got the same inode. */
static int watch_gap_update_file(struct watch_gap_file *file, const struct rec_mapping *rec)
{
	struct rec_mapping *copy;

	if (strcmp(file->rec->path, rec->path) == 0)
		return 0;
	copy = malloc(rec->head.size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, rec, rec->head.size);
	free(file->rec);
	file->rec = copy;
	watch_gap_limit(file);
	return 0;
}

static int watch_gap_add_file(struct watch_gap_files *files, uint64_t key,
			      const struct rec_mapping *rec)
{
	struct watch_gap_file *file = table_get(&files->files, key);

	if (file)
		return watch_gap_update_file(file, rec);
	file = table_make(&files->files, key, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->rec = malloc(rec->head.size);
	if (!file->rec) {
		free(table_remove(&files->files, key));
		return -ENOMEM;
	}
	memcpy(file->rec, rec, rec->head.size);
	return 0;
}

static int watch_gap_add_mapped(struct watch_gap_process *process, uint64_t key, uint64_t ts_ns)
{
	for (size_t i = 0; i < process->n; i++)
		if (process->list[i].key == key && process->list[i].ts_ns > process->before_ns) {
			process->list[i].ts_ns = ts_ns;
			return 0;
		}
	if (process->n == FILES_OF_PROCESS_MAX) {
		process->left_out_ns = ts_ns;
		return 0;
	}
	if (GROW(process->list, process->room, process->n + 1) < 0)
		return -ENOMEM;
	process->list[process->n++] = (struct watch_gap_mapped){ key, ts_ns };
	return 0;
}

int watch_gap_add(struct watch_gap_files *files, const struct rec_mapping *rec)
{
	uint64_t key = watch_gap_key(rec->device, rec->inode);
	struct watch_gap_process *process;

	if (!watch_gap_is_file(rec) || watch_gap_was_announced(files, rec))
		return 0;
	watch_gap_make_room(files, rec->head.ts_ns);
	process = table_make(&files->processes, (uint64_t)rec->head.pid + 1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	if (process->ended_ns && rec->head.ts_ns > process->ended_ns) {
		/* Another process has the id. */
		process->before_ns = process->ended_ns;
		process->ended_ns = 0;
	}
	return watch_gap_add_file(files, key, rec)
		       ?: watch_gap_add_mapped(process, key, rec->head.ts_ns);
}

int watch_gap_watch(struct watch_gap_files *files, uint32_t pid, uint64_t ts_ns)
{
	struct watch_gap_process *process =
		table_make(&files->processes, (uint64_t)pid + 1, sizeof(*process));

	if (!process)
		return -ENOMEM;
	files->n_watched += !process->watched_ns;
	process->watched_ns = ts_ns;
	return 0;
}

void watch_gap_ended(struct watch_gap_files *files, uint32_t pid, uint64_t ts_ns)
{
	struct watch_gap_process *process = table_get(&files->processes, (uint64_t)pid + 1);

	if (process)
		process->ended_ns = ts_ns;
}

void watch_gap_examined(struct watch_gap_files *files, const struct outbuf *examined)
{
	const struct late_file *list = (const struct late_file *)examined->data;

	for (size_t i = 0; i < examined->size / sizeof(*list); i++) {
		struct watch_gap_file *file =
			table_get(&files->files, watch_gap_key(list[i].device, list[i].inode));

		if (!file)
			continue;
		file->is_awaited = false;
		file->is_harmless = list[i].is_harmless;
		file->from_ns = list[i].changed_ns;
		file->to_ns = list[i].examined_ns + UNCHANGED_NS;
		if (file->rec->head.ts_ns != list[i].mapped_ns)
			watch_gap_limit(file);
	}
	files->any_arrived |= examined->size > 0;
}

/* ---- ends ---- */

/* Returns what is known about FILE, as it was mapped at TS_NS. */
static enum verdict watch_gap_verdict(const struct watch_gap_file *file, uint64_t ts_ns)
{
	if (ts_ns <= file->to_ns)
		return file->is_harmless && ts_ns >= file->from_ns ? VERDICT_HARMLESS
								   : VERDICT_UNKNOWN;
	if (ts_ns <= file->refused_ns)
		return VERDICT_UNKNOWN;
	return file->is_awaited ? VERDICT_AWAITED : VERDICT_NONE;
}

/* Returns true if something that happened at TS_NS came after the last examination of REC. */
static bool watch_gap_is_late(const struct rec_watched *rec, uint64_t ts_ns)
{
	return ts_ns > rec->examined_ns && ts_ns <= rec->head.ts_ns;
}

/*
 * Finds the next file of the process of REC that was not examined while the process ran, unless
 * another gap is known. An exec frees all blocks, so nothing is missing then.
 */
static struct watch_gap_file *watch_gap_next(const struct watch_gap_files *files,
					     const struct rec_watched *rec, size_t *pos,
					     uint64_t *ret_ns)
{
	const struct watch_gap_process *process =
		table_get(&files->processes, (uint64_t)rec->head.pid + 1);

	if (!process || rec->reason == WATCHED_EXEC || rec->gap != WATCHED_GAP_NONE)
		return NULL;
	while (*pos < process->n) {
		const struct watch_gap_mapped *mapped = &process->list[(*pos)++];
		struct watch_gap_file *file = table_get(&files->files, mapped->key);

		*ret_ns = mapped->ts_ns;
		if (file && watch_gap_is_late(rec, mapped->ts_ns))
			return file;
	}
	return NULL;
}

bool watch_gap_awaits(struct watch_gap_files *files, const struct rec_watched *rec,
		      const struct pipeline_owner *owner)
{
	struct watch_gap_file *file;
	bool awaits = false;
	uint64_t ts_ns;

	for (size_t pos = 0; (file = watch_gap_next(files, rec, &pos, &ts_ns));) {
		if (watch_gap_verdict(file, ts_ns) == VERDICT_NONE) {
			file->is_awaited =
				owner->examine && owner->examine(file->rec, owner->userdata);
			if (!file->is_awaited)
				file->refused_ns = ts_ns;
		}
		awaits |= watch_gap_verdict(file, ts_ns) == VERDICT_AWAITED;
	}
	return awaits;
}

/* Describes that the file NAME, which was mapped at TS_NS, was not examined. */
static void watch_gap_describe_file(const struct rec_watched *rec, const char *name, uint64_t ts_ns,
				    char *text, size_t size)
{
	char clean[64];

	text_clean(clean, sizeof(clean), name, strlen(name));
	snprintf(text, size,
		 "%s, which it loaded %s before its watch ended, was not examined in time, and can "
		 "have an allocator without probes",
		 clean, TEXT_TIME(rec->head.ts_ns - ts_ns));
}

static void watch_gap_describe_late(const struct watch_gap_files *files,
				    const struct rec_watched *rec, char *text, size_t size)
{
	const struct watch_gap_process *process =
		table_get(&files->processes, (uint64_t)rec->head.pid + 1);
	uint64_t left_out_ns = process ? process->left_out_ns : 0, ts_ns;
	const struct watch_gap_file *file;

	if (files->forgotten_ns > left_out_ns &&
	    (!process || files->forgotten_ns > process->watched_ns))
		left_out_ns = files->forgotten_ns;
	for (size_t pos = 0; (file = watch_gap_next(files, rec, &pos, &ts_ns));)
		if (watch_gap_verdict(file, ts_ns) != VERDICT_HARMLESS)
			watch_gap_describe_file(rec, strrchr(file->rec->path, '/') + 1, ts_ns, text,
						size);
	if (!*text && rec->reason != WATCHED_EXEC && watch_gap_is_late(rec, left_out_ns))
		watch_gap_describe_file(rec, "a file", left_out_ns, text, size);
}

void watch_gap_forget(struct watch_gap_files *files, const struct rec_watched *rec)
{
	uint64_t key = (uint64_t)rec->head.pid + 1;
	struct watch_gap_process *process = table_get(&files->processes, key);
	size_t n = 0;

	if (!process)
		return;
	files->n_watched -= process->watched_ns != 0;
	process->watched_ns = 0;
	if (rec->reason != WATCHED_EXIT)
		return;
	/* (another process can have the id by now) */
	for (size_t i = 0; i < process->n; i++)
		if (process->list[i].ts_ns > rec->head.ts_ns)
			process->list[n++] = process->list[i];
	process->n = n;
	if (n > 0)
		return;
	table_remove(&files->processes, key);
	free(process->list);
	free(process);
}

void watch_gap_describe(const struct watch_gap_files *files, const struct rec_watched *rec,
			uint64_t from_ns, char *text, size_t size)
{
	static const char *const gaps[] = {
		[WATCHED_GAP_THREAD] = "its first thread ended, and probes can have been missing "
				       "until another one had them",
		[WATCHED_GAP_LATE] = "an allocator got its probes after the program had begun, and "
				     "its earlier blocks are unknown",
		[WATCHED_GAP_UNSEEN] = "it ended before its files were examined, and can have had "
				       "an allocator without probes",
		[WATCHED_GAP_SHARED] = "another process shared its memory (clone() with CLONE_VM), "
				       "and the blocks that it allocated or freed are unknown",
		[WATCHED_GAP_HEAP] = "it called mi_heap_destroy(), and blocks that this freed are "
				     "reported as not freed",
		[WATCHED_GAP_REFUSED_MEMORY] = "some probes of its allocators could not be placed, "
					       "and allocations or frees are unknown",
		[WATCHED_GAP_REFUSED_THREADS] = "some probes on functions of threads could not be "
						"placed, and begins or ends of threads are unknown",
		[WATCHED_GAP_REFUSED] = "some probes could not be placed, and allocations, frees, "
					"or ends of threads are unknown",
	};
	uint64_t gap_ns = rec->gap_from_ns > from_ns ? rec->gap_from_ns : from_ns;

	snprintf(text, size, "%s", STRING_TABLE_NAME(gaps, rec->gap) ?: "");
	if (rec->gap == WATCHED_GAP_LOADED)
		snprintf(text, size,
			 "an allocator that it loaded after %s of the recording got its probes %s "
			 "later, and its earlier blocks are unknown",
			 TEXT_TIME(gap_ns - from_ns),
			 TEXT_TIME(rec->gap_to_ns > gap_ns ? rec->gap_to_ns - gap_ns : 0));
	else if (rec->gap == WATCHED_GAP_NONE)
		watch_gap_describe_late(files, rec, text, size);
}
