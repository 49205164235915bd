/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/other-files.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
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
	size_t n = strlen(name);

	/* (the kernel's name of a file that was removed) */
	if (n > strlen(" (deleted)") && strcmp(name + n - strlen(" (deleted)"), " (deleted)") == 0)
		n -= strlen(" (deleted)");
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

static struct other_file *other_files_of(struct other_files *o, const struct event *ev)
{
	struct other_file *f;

	for (size_t i = 0; i < o->n; i++)
		if (strcmp(o->list[i].path, ev->other_file.path) == 0 &&
		    strcmp(o->list[i].file, ev->other_file.file) == 0)
			return &o->list[i];
	if (o->n == OTHER_FILES_MAX)
		return NULL;
	f = &o->list[o->n];
	f->file = strdup(ev->other_file.file);
	f->path = strdup(ev->other_file.path);
	if (f->file && f->path) {
		o->n++;
		return f;
	}
	free(f->file);
	free(f->path);
	*f = (struct other_file){ 0 };
	return NULL;
}

/* Remembers KEY. Returns 1 if it is new, 0, or -ENOMEM. */
static int other_files_note(struct other_files *o, uint64_t key)
{
	if (table_get(&o->known, key))
		return 0;
	return table_set(&o->known, key, o) < 0 ? -ENOMEM : 1;
}

int other_files_add(struct other_files *o, const struct event *ev)
{
	struct other_file *f;
	uint64_t process, file;
	int r, is_new;

	if (ev->kind != EVENT_OTHER_FILE)
		return 0;
	if (o->known.n_used >= OTHER_FILES_PROCESSES) {
		o->is_full = true;
		return 0;
	}
	process = table_hash(&ev->pid, sizeof(ev->pid));
	file = table_hash_seeded(process, ev->other_file.path, strlen(ev->other_file.path));
	file = table_hash_seeded(file, ev->other_file.file, strlen(ev->other_file.file));
	r = other_files_note(o, file);
	if (r <= 0)
		return r;
	is_new = other_files_note(o, process);
	if (is_new < 0)
		return is_new;
	o->n_processes += (uint64_t)is_new;
	f = other_files_of(o, ev);
	if (f)
		f->n++;
	else
		o->n_unnamed++;
	return 1;
}

char *other_files_text(const struct other_files *o)
{
	_cleanup_(outbuf_deinit) struct outbuf text = { 0 };

	if (o->n_processes == 0)
		return NULL;
	outbuf_print(&text,
		     "%s%" PRIu64 " process%s mapped other files than those with probes, "
		     "so calls in them are missing: ",
		     o->is_full ? "at least " : "", o->n_processes,
		     o->n_processes == 1 ? "" : "es");
	for (size_t i = 0; i < o->n; i++)
		outbuf_print(&text, "%s%s instead of %s (%" PRIu64 " process%s)", i ? ", " : "",
			     o->list[i].path, o->list[i].file, o->list[i].n,
			     o->list[i].n == 1 ? "" : "es");
	if (o->n_unnamed)
		outbuf_print(&text, ", and others");
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
