/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/other-files.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "base/text.h"

static bool other_files_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Returns the length of NAME, of N bytes, without the version of glibc before ".so" (libc-2.31). */
static size_t other_files_without_version(const char *name, size_t n)
{
	size_t at = n;

	while (at > 0 && (isdigit((unsigned char)name[at - 1]) || name[at - 1] == '.'))
		at--;
	return at > 1 && at < n && name[at - 1] == '-' ? at - 1 : n;
}

char *other_files_stem(char ret[static OTHER_FILES_STEM], const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *so = strstr(name, ".so");
	size_t n = text_path_length(name);

	/* musl is one file: the dynamic linker */
	if (other_files_begins(name, "ld-musl-") || other_files_begins(name, "libc.musl-")) {
		name = "libc";
		n = strlen(name);
	} else if (so && so > name && (so[3] == '.' || so + 3 == name + n)) {
		/* (libgtk-3.so.0 and libgtk-4.so.1 are different libraries) */
		n = so + 3 == name + n ? other_files_without_version(name, (size_t)(so - name))
				       : (size_t)(so - name);
	}
	if (n >= OTHER_FILES_STEM)
		n = OTHER_FILES_STEM - 1;
	memcpy(ret, name, n);
	ret[n] = '\0';
	return ret;
}

/* Returns the number of the file of EV in the list; OTHER_FILES_MAX = it is not in the list. */
static unsigned other_files_number(struct other_files *o, const struct event *ev)
{
	struct other_file *f;
	unsigned i;

	for (i = 0; i < o->n; i++)
		if (strcmp(o->list[i].path, ev->other_file.path) == 0 &&
		    strcmp(o->list[i].file, ev->other_file.file) == 0)
			return i;
	if (i == OTHER_FILES_MAX)
		return i;
	f = &o->list[i];
	f->file = strdup(ev->other_file.file);
	f->path = strdup(ev->other_file.path);
	if (f->file && f->path) {
		o->n++;
		return i;
	}
	free(f->file);
	free(f->path);
	*f = (struct other_file){ 0 };
	return OTHER_FILES_MAX;
}

/*
 * Two sets of files, with a bit for each file in the list, and a bit for all other files.
 * `counted`: the files that a process has mapped at any time, so the process is counted for them.
 * `present`: the files that its present program has mapped.
 */
struct other_files_set {
	uint16_t counted, present;
};

_Static_assert(OTHER_FILES_MAX < 16, "a bit for each file");

static struct other_files_set other_files_set_of(const struct other_files *o, uint32_t pid)
{
	uintptr_t bits = (uintptr_t)table_get(&o->known, (uint64_t)pid + 1);

	return (struct other_files_set){ (uint16_t)bits, (uint16_t)(bits >> 16) };
}

/* Notes that process PID has mapped FILES. Returns 1 if one of them is new, 0, or -ENOMEM. */
static int other_files_note(struct other_files *o, uint32_t pid, uint16_t files)
{
	struct other_files_set set = other_files_set_of(o, pid);
	uint16_t added = (uint16_t)(files & ~set.counted);
	uintptr_t bits = (uintptr_t)(set.present | files) << 16 | set.counted | files;

	if (files == (set.present & files))
		return 0;
	if (set.counted == 0 && o->known.n_used >= OTHER_FILES_PROCESSES) {
		o->is_full = true;
		return 0;
	}
	if (table_set(&o->known, (uint64_t)pid + 1, (void *)bits) < 0)
		return -ENOMEM;
	o->n_processes += set.counted == 0;
	for (unsigned i = 0; i < OTHER_FILES_MAX; i++)
		o->list[i].n += added >> i & 1;
	o->n_unnamed += added >> OTHER_FILES_MAX & 1;
	return added != 0;
}

/* Notes that process PID has another program, without the files of the earlier program. */
static int other_files_forget(struct other_files *o, uint32_t pid)
{
	uintptr_t counted = other_files_set_of(o, pid).counted;

	return counted ? table_set(&o->known, (uint64_t)pid + 1, (void *)counted) : 0;
}

int other_files_add(struct other_files *o, const struct event *ev)
{
	int r = 0;

	switch (ev->kind) {
	case EVENT_OTHER_FILE:
		return other_files_note(o, ev->pid, (uint16_t)(1u << other_files_number(o, ev)));
	case EVENT_FORK:
		if (ev->fork.child_pid != ev->pid)
			r = other_files_note(o, ev->fork.child_pid,
					     other_files_set_of(o, ev->pid).present);
		break;
	case EVENT_EXEC:
		r = other_files_forget(o, ev->pid);
		break;
	default:
		break;
	}
	return r < 0 ? r : 0;
}

char *other_files_text(const struct other_files *o)
{
	_cleanup_(outbuf_deinit) struct outbuf text = { 0 };
	bool has_same = false, has_others = o->n_unnamed > 0;

	if (o->n_processes == 0)
		return NULL;
	outbuf_print(&text,
		     "%s%" PRIu64 " process%s mapped other files than those with probes, "
		     "so calls in them are missing: ",
		     o->is_full ? "at least " : "", o->n_processes,
		     o->n_processes == 1 ? "" : "es");
	for (size_t i = 0; i < o->n; i++) {
		bool same = strcmp(o->list[i].path, o->list[i].file) == 0;

		outbuf_print(&text, "%s%s%s%s (%" PRIu64 " process%s)", i ? ", " : "",
			     same ? "another " : o->list[i].path, same ? "" : " instead of ",
			     o->list[i].file, o->list[i].n, o->list[i].n == 1 ? "" : "es");
		has_same |= same;
		has_others |= !same;
	}
	if (o->n_unnamed)
		outbuf_print(&text, ", and others");
	if (has_same)
		outbuf_print(&text, "; a file with the same path was replaced during the recording "
				    "(record again), or is in a container (use -p)");
	if (has_others)
		outbuf_print(&text, "; name such a file by its path, or use -p");
	return text.error < 0 ? NULL : strndup((const char *)text.data, text.size);
}

void other_files_deinit(struct other_files *o)
{
	for (size_t i = 0; i < o->n; i++) {
		free(o->list[i].file);
		free(o->list[i].path);
	}
	table_deinit(&o->known);
	*o = (struct other_files){ 0 };
}
