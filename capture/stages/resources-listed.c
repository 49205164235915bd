/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the books with the lists of the kernel, by the rules in resources.h.
 */
#include "capture/stages/resources-tables.h"

#include <stdio.h>

static bool resources_listed_is_listed(const struct resources *r, enum resource resource)
{
	return r->listing.resources >> resource & 1;
}

static void resources_begin_listing(struct resources *r, const struct rec_listing *rec)
{
	struct thing *thing;

	r->listing = *rec;
	r->listed.n = 0;
	for (enum resource i = 0; i < RESOURCE_MAX; i++)
		for (size_t pos = 0; (thing = table_next(&r->things[i], &pos));)
			thing->listed = false;
}

/* Ends resources that are older than the list but not on it: they no longer exist. */
static void resources_end_unlisted(struct resources *r, enum resource resource)
{
	struct thing *thing;

	for (size_t pos = 0; (thing = table_next(&r->things[resource], &pos));)
		if (!thing->listed && thing->state != STATE_GONE &&
		    thing->origin.since_ns < r->listing.head.ts_ns)
			resources_end(r, resource, thing, r->listing.head.ts_ns);
}

static int resources_unmap_unlisted(struct resources *r)
{
	uint64_t begun_ns = r->listing.head.ts_ns, from = 0;
	int error = 0;

	for (size_t i = 0; error == 0 && i <= r->listed.n; i++) {
		uint64_t to = i < r->listed.n ? r->listed.list[i].start : UINT64_MAX;

		error = resources_unmap(r, from, to, begun_ns - 1);
		from = i < r->listed.n ? r->listed.list[i].end : UINT64_MAX;
	}
	return error;
}

int resources_listing(struct resources *r, const struct rec_listing *rec)
{
	int error = 0;

	r->error = 0;
	if (!rec->ends) {
		resources_begin_listing(r, rec);
		return 0;
	}
	for (enum resource i = 0; !r->listing.first && i < RESOURCE_MAX; i++)
		if (resources_listed_is_listed(r, i))
			resources_end_unlisted(r, i);
	if (!r->listing.first && resources_listed_is_listed(r, RESOURCE_MAPPING))
		error = resources_unmap_unlisted(r);
	r->listing = (struct rec_listing){ 0 };
	return error < 0 ? error : r->error;
}

/* Handles a mapping on the list: it exists, and its file is known. */
static int resources_found_mapping(struct resources *r, const struct rec_found *rec)
{
	const struct range range = { .start = rec->id, .end = rec->id + rec->size };
	struct range *at = ranges_from(&r->mappings, range.start);

	if (!resources_is_range(rec->id, rec->size))
		return 0;
	for (; at < r->mappings.list + r->mappings.n && at->start < range.end; at++)
		if (at->origin.since_ns < r->listing.head.ts_ns && rec->text[0])
			snprintf(at->text, sizeof(at->text), "%.*s", RANGE_TEXT_BYTES - 1,
				 rec->text);
	return ranges_add(&r->listed, &range, NULL);
}

/*
 * Called for a resource that existed before the watch, or belongs to another process. Such a
 * resource does not count.
 */
static int resources_listed_disown(struct resources *r, enum resource resource, struct thing *thing)
{
	int error =
		thing_lives(thing) ? resources_end(r, resource, thing, r->listing.head.ts_ns) : 0;

	thing->state = STATE_BEFORE;
	return error;
}

static int resources_found_known(struct resources *r, const struct rec_found *rec,
				 struct thing *thing)
{
	enum resource resource = rec->resource;

	thing->listed = true;
	if (rec->foreign)
		return resources_listed_disown(r, resource, thing);
	if (thing->state != STATE_LIVES || thing->origin.since_ns >= r->listing.head.ts_ns)
		return 0;
	if (rec->text[0] && resource == RESOURCE_FD)
		snprintf(thing->text, sizeof(thing->text), "%s", rec->text);
	if (!rec->size || thing->size == rec->size)
		return 0;
	resources_resize(r, resource, thing, rec->size, r->listing.head.ts_ns);
	return 0;
}

/* Handles a resource that is on the list, but that no call has reported. */
static int resources_found_unknown(struct resources *r, const struct rec_found *rec, uint64_t id)
{
	enum resource resource = rec->resource;
	struct thing *thing;

	/* Another process may have made a resource of this kind, so it does not count. */
	if (!r->listing.first && resource != RESOURCE_FD)
		return 0;
	thing = resources_entry(r, resource, id);
	if (!thing)
		return 0;
	thing->listed = true;
	thing->size = rec->size;
	thing->origin = (struct origin){ .since_ns = r->listing.head.ts_ns };
	snprintf(thing->text, sizeof(thing->text), "%s", rec->text);
	thing->state = r->listing.first ? STATE_BEFORE : STATE_LIVES;
	return r->listing.first ? 0 : resources_write(r, resource, thing);
}

int resources_found(struct resources *r, const struct rec_found *rec)
{
	uint64_t id = rec->resource == RESOURCE_SHM ? resources_shm_id(rec->text) : rec->id;
	struct thing *thing;
	int error;

	r->error = 0;
	if (rec->resource >= RESOURCE_MAX || !resources_listed_is_listed(r, rec->resource))
		return 0;
	if (rec->resource == RESOURCE_MAPPING)
		return resources_found_mapping(r, rec);
	thing = resources_find(r, rec->resource, id);
	/*
	 * The resource was released after the start of the list. It may have been listed before its
	 * release, so it is ignored.
	 */
	if (thing && thing->state == STATE_GONE && thing->gone_ns >= r->listing.head.ts_ns)
		return 0;
	error = thing && thing->state != STATE_GONE ? resources_found_known(r, rec, thing)
						    : resources_found_unknown(r, rec, id);
	return error < 0 ? error : r->error;
}
