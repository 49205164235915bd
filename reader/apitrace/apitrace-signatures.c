/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parses signatures: functions, structs, enums, bitmasks, stack frames. Each signature is written
 * once per file.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "reader/apitrace/apitrace-parse.h"

/* Greater gaps between ids are reported: the format's own reader allocates a vector up to the
 * largest id, and writers use consecutive ids. */
enum { ID_GAP_MAX = 65536 };

#define ROOM(p, size, ret)                                                                         \
	apitrace_parse_room(p, &(p)->signatures, size, APITRACE_SIGNATURE_BYTES_MAX, ret)

static int apitrace_signatures_name(struct apitrace_parse *p, struct apitrace_text *ret)
{
	return apitrace_parse_text(p, &p->signatures, APITRACE_SIGNATURE_BYTES_MAX, ret);
}

/*
 * Reads an id and finds its signature in T. Returns 1 with a known signature in *RET; 0 with a new
 * signature of SIZE bytes, whose body follows in the file; or a negative errno. A signature with a
 * damaged body stays in T and is not used.
 */
static int apitrace_find_or_make(struct apitrace_parse *p, struct table *t, size_t size, void *ret)
{
	uint64_t at = p->input.offset, id;
	void *made = NULL;
	int r = apitrace_parse_number(p, &id);

	if (r < 0)
		return r;
	if (id == UINT64_MAX)
		return apitrace_parse_damage(p, at, "an id that is too large");
	*(void **)ret = table_get(t, id + 1);
	if (*(void **)ret)
		return 1;
	if (id > t->n_used + ID_GAP_MAX)
		apitrace_parse_found(p, APITRACE_SPARSE_ID);
	r = ROOM(p, size, &made) ?: table_set(t, id + 1, made);
	*(void **)ret = made;
	return r;
}

/* Parses N names. Memory grows with the names, since N is not trusted. */
static int apitrace_signatures_name_list(struct apitrace_parse *p, uint64_t n,
					 struct apitrace_names *to)
{
	_cleanup_free_ struct apitrace_text *names = NULL;
	struct apitrace_text *kept;
	size_t room = 0;
	int r = 0;

	for (to->n = 0; r == 0 && to->n < n; to->n += r == 0)
		r = GROW(names, room, to->n + 1) ?: apitrace_signatures_name(p, &names[to->n]);
	r = r ?: ROOM(p, (to->n + 1) * sizeof(*kept), &kept);
	if (r < 0) {
		to->n = 0;
		return r;
	}
	if (to->n > 0)
		memcpy(kept, names, to->n * sizeof(*kept));
	to->names = kept;
	return 0;
}

static int apitrace_parse_names(struct apitrace_parse *p, struct table *t,
				struct apitrace_names **ret)
{
	uint64_t n;
	int r = apitrace_find_or_make(p, t, sizeof(**ret), ret);

	if (r != 0)
		return r < 0 ? r : 0;
	return apitrace_signatures_name(p, &(*ret)->name) ?: apitrace_parse_number(p, &n) ?:
	       apitrace_signatures_name_list(p, n, *ret);
}

int apitrace_parse_function(struct apitrace_parse *p, struct apitrace_names **ret)
{
	return apitrace_parse_names(p, &p->functions, ret);
}

int apitrace_parse_struct(struct apitrace_parse *p, struct apitrace_names **ret)
{
	return apitrace_parse_names(p, &p->structs, ret);
}

/* Parses one entry of an enum or a bitmask. */
static int apitrace_parse_entry(struct apitrace_parse *p, bool is_enum,
				struct apitrace_number_name *ret)
{
	int64_t value;
	int r = apitrace_signatures_name(p, &ret->name);

	if (r < 0 || !is_enum)
		return r ?: apitrace_parse_number(p, &ret->value);
	r = apitrace_parse_signed(p, &value);
	if (r == 0)
		ret->value = (uint64_t)value;
	return r;
}

static int apitrace_parse_entries(struct apitrace_parse *p, uint64_t n, bool is_enum,
				  struct apitrace_set *to)
{
	_cleanup_free_ struct apitrace_number_name *values = NULL;
	struct apitrace_number_name *kept;
	size_t room = 0;
	int r = 0;

	for (to->n = 0; r == 0 && to->n < n; to->n += r == 0) {
		r = GROW(values, room, to->n + 1)
			    ?: apitrace_parse_entry(p, is_enum, &values[to->n]);
		if (r == 0 && !is_enum && to->n > 0 && values[to->n].value == 0)
			apitrace_parse_found(p, APITRACE_ZERO_FLAG);
	}
	r = r ?: ROOM(p, (to->n + 1) * sizeof(*kept), &kept);
	if (r < 0) {
		to->n = 0;
		return r;
	}
	if (to->n > 0)
		memcpy(kept, values, to->n * sizeof(*kept));
	to->values = kept;
	return 0;
}

int apitrace_parse_enum(struct apitrace_parse *p, struct apitrace_set **ret)
{
	uint64_t n = 1; /* number of entries; an old enum has one */
	int r = apitrace_find_or_make(p, &p->enums, sizeof(**ret), ret);

	if (r != 0)
		return r < 0 ? r : 0;
	if (p->version > APITRACE_VERSION_OLD_ENUMS)
		r = apitrace_parse_number(p, &n);
	return r ?: apitrace_parse_entries(p, n, true, *ret);
}

int apitrace_parse_bitmask(struct apitrace_parse *p, struct apitrace_set **ret)
{
	uint64_t n;
	int r = apitrace_find_or_make(p, &p->bitmasks, sizeof(**ret), ret);

	if (r != 0)
		return r < 0 ? r : 0;
	return apitrace_parse_number(p, &n) ?: apitrace_parse_entries(p, n, false, *ret);
}

/* Parses a detail of a frame. Returns 1, 0 at the end of the frame, or a negative errno. */
static int apitrace_parse_frame_detail(struct apitrace_parse *p, struct apitrace_frame *f)
{
	uint64_t at = p->input.offset;
	uint8_t detail;
	int r = apitrace_parse_byte(p, &detail);

	if (r < 0)
		return r;
	switch (detail) {
	case APITRACE_FRAME_END:
		return 0;
	case APITRACE_FRAME_MODULE:
		return apitrace_signatures_name(p, &f->module) ?: 1;
	case APITRACE_FRAME_FUNCTION:
		return apitrace_signatures_name(p, &f->function) ?: 1;
	case APITRACE_FRAME_FILE:
		return apitrace_signatures_name(p, &f->file) ?: 1;
	case APITRACE_FRAME_LINE:
		f->has_line = true;
		return apitrace_parse_number(p, &f->line) ?: 1;
	case APITRACE_FRAME_OFFSET:
		f->has_offset = true;
		return apitrace_parse_number(p, &f->offset) ?: 1;
	default:
		return apitrace_parse_damage(p, at, "an unknown detail of a stack frame");
	}
}

int apitrace_parse_frame(struct apitrace_parse *p, struct apitrace_frame **ret)
{
	int r = apitrace_find_or_make(p, &p->frames, sizeof(**ret), ret);

	if (r != 0)
		return r < 0 ? r : 0;
	while ((r = apitrace_parse_frame_detail(p, *ret)) > 0)
		;
	return r;
}
