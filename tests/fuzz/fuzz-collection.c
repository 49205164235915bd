/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the input as a profile: either there is an error, or all values are within bounds.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "capture/options/collection-parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_complaint(unsigned line, const char *text, void *userdata)
{
	unsigned *last = userdata;

	assert(line >= *last);
	assert(*text && strlen(text) < COLLECTION_TEXT_MAX && text_is_utf8(text, strlen(text)));
	/* (0, "the whole file", is only for names) */
	assert(line > 0);
	*last = line;
}

static void check(const struct collection *c)
{
	const struct session_options *o = &c->session;

	assert(c->directory && c->directory[0] == '/' && !strstr(c->directory, "/../"));
	assert(o->ring_bytes == 0 ||
	       (o->ring_bytes >= RING_BYTES_MIN && o->ring_bytes <= RING_BYTES_MAX));
	assert(o->flush_ns == 0 || (o->flush_ns >= FLUSH_NS_MIN && o->flush_ns <= FLUSH_NS_MAX));
	assert(o->frequency <= FREQUENCY_MAX && o->mode < SESSION_MODE_MAX);
	assert(o->filter.n_comms <= FILTER_VALUES_MAX && o->filter.n_uids <= FILTER_VALUES_MAX);
	assert(o->command && text_is_utf8(o->command, strlen(o->command)));
	for (char **unit = c->units; unit && *unit; unit++)
		assert(**unit && !strchr(*unit, '/') && strlen(*unit) < FILTER_CGROUP_BYTES);
	for (char **path = c->cgroups; path && *path; path++)
		assert(!strstr(*path, "/../"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct collection c;
	unsigned last = 0;
	FILE *f;
	int r;

	if (size == 0)
		return 0;
	f = fmemopen((void *)(uintptr_t)data, size, "r");
	assert(f);
	r = collection_read(f, "fuzz", on_complaint, &last, &c);
	assert((r == -EINVAL) == (last > 0));
	if (r == 0) {
		check(&c);
		collection_deinit(&c);
	}
	fclose(f);
	return 0;
}
