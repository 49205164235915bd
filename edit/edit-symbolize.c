/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A place is an address of a process. It has the mapping in which it was last named, and who named
 * it. Mappings are identified by their contents and not by their times, so an archive that lists
 * its mappings again changes nothing.
 */
#include "edit/edit-symbolize.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "edit/edit-find.h"
#include "edit/edit-part.h"
#include "reader/fxt/fxt-events.h"
#include "writer/fxt/fxt-names.h"
#include "model/maps.h"

enum named_by { NOBODY, SOURCE, US };

struct place {
	uint64_t address; /* the address of the code: frames_code() */
	uint64_t meaning; /* identity of its mapping; 0 = no mapping, or unknown */
	uint32_t owner;
	uint32_t next; /* next place with the same hash: index + 1 */
	enum named_by named_by;
	bool any_frame; /* frames were written; they apply until other frames are written */
};

struct edit_symbolize {
	struct edit_symbolize_options options;
	struct edit_copy *copy;
	struct fxt_events *events;
	struct maps *maps;
	struct table by_hash; /* hash of owner and address -> index + 1 */
	struct place *places; /* owned */
	size_t n_places, room_places;
	struct edit_part_mark mark;
	struct edit_symbolize_counts counts;
};

int edit_symbolize_new(struct edit_symbolize **ret, struct edit_output *out,
		       const struct edit_symbolize_options *options)
{
	_cleanup_(edit_symbolize_freep) struct edit_symbolize *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->options = *options;
	s->mark.edit = EDIT_PART_SYMBOLIZED;
	r = edit_copy_new(&s->copy, out, NULL) ?: fxt_events_new(&s->events)
		    ?: maps_new(&s->maps, MAPS_OF_ALL_TIMES);
	if (r < 0)
		return r;
	if (!options->no_packets)
		edit_copy_make_packets(s->copy);
	*ret = TAKE_PTR(s);
	return 0;
}

struct edit_symbolize *edit_symbolize_free(struct edit_symbolize *s)
{
	if (!s)
		return NULL;
	edit_copy_free(s->copy);
	fxt_events_free(s->events);
	maps_free(s->maps);
	table_deinit(&s->by_hash);
	free(s->places);
	return free_ptr(s);
}

void edit_symbolize_get_counts(const struct edit_symbolize *s, struct edit_symbolize_counts *ret)
{
	*ret = s->counts;
	ret->copied = *edit_copy_counts(s->copy);
	ret->unmapped = maps_n_dropped(s->maps);
}

/* ---- places ---- */

/* Finds or makes the place. *RET is NULL if there are too many places. Returns 0 or -ENOMEM. */
static int edit_symbolize_get_place(struct edit_symbolize *s, uint32_t owner, uint64_t address,
				    struct place **ret)
{
	const uint64_t key[] = { owner, address };
	uint64_t hash = table_hash(key, sizeof(key));
	uint32_t first = (uint32_t)(uintptr_t)table_get(&s->by_hash, hash);
	struct place *place;

	for (uint32_t i = first; i != 0; i = place->next) {
		place = &s->places[i - 1];
		if (place->owner == owner && place->address == address) {
			*ret = place;
			return 0;
		}
	}
	*ret = NULL;
	if (s->n_places == EDIT_SYMBOLIZE_PLACES_MAX)
		return 0;
	if (GROW(s->places, s->room_places, s->n_places + 1) < 0)
		return -ENOMEM;
	place = &s->places[s->n_places];
	*place = (struct place){ .address = address, .owner = owner, .next = first };
	if (table_set(&s->by_hash, hash, (void *)(uintptr_t)(s->n_places + 1)) < 0)
		return -ENOMEM;
	s->n_places++;
	*ret = place;
	return 0;
}

/* ---- names ---- */

static int edit_symbolize_write_frame(struct edit_symbolize *s, const struct event *sample,
				      const struct place *place, const struct frame *frame)
{
	s->counts.frames++;
	return edit_copy_event(s->copy, &(struct event){
						.kind = EVENT_FRAME,
						.ts_ns = sample->ts_ns,
						.pid = FXT_KOID_KYMO,
						.tid = FXT_KOID_KYMO,
						.frame = { .process = place->owner,
							   .depth = frame->depth,
							   .address = place->address,
							   .function = frame->function,
							   .source = frame->source,
							   .module = frame->module,
							   .line = frame->line },
					});
}

/* Writes the names of PLACE. PLACE is frame I of SAMPLE, and is in the mapping MAP. */
static int edit_symbolize_name_place(struct edit_symbolize *s, struct place *place,
				     const struct event *sample, unsigned i,
				     const struct mapping *map)
{
	const struct profile_place asked = {
		.owner = place->owner,
		.returns = maps_sample_returns(sample, i),
		.address = sample->sample.frames[i],
		.mapping = map,
	};
	const struct frame empty = { "", "", map ? map->path : "", 0, 0 }, *frames = NULL;
	int n = s->options.names->find(s->options.names->userdata, &asked, &frames), r = 0;

	if (n < 0)
		return n;
	s->counts.addresses++;
	s->counts.named += n > 0;
	s->counts.unnamed += n == 0;
	for (int k = 0; r == 0 && k < n; k++)
		r = edit_symbolize_write_frame(s, sample, place, &frames[k]);
	if (n == 0 && place->any_frame)
		r = edit_symbolize_write_frame(s, sample, place, &empty);
	place->named_by = US;
	place->meaning = map ? map->code : 0;
	place->any_frame = n > 0;
	return r;
}

/* Returns true if the last name of PLACE is valid in the mapping MEANING. */
static bool edit_symbolize_is_named(const struct place *place, uint64_t meaning)
{
	if (place->named_by == NOBODY)
		return false;
	/* An address that the source has named before its mapping was recorded keeps that name. */
	return place->meaning == meaning || (place->named_by == SOURCE && place->meaning == 0);
}

static int edit_symbolize_name_frame(struct edit_symbolize *s, const struct event *sample,
				     unsigned i)
{
	uint64_t address = sample->sample.frames[i];
	uint32_t owner = maps_owner(s->maps, sample->pid, address);
	const struct mapping *map = maps_find(s->maps, owner, address, sample->ts_ns);
	uint64_t meaning = map ? map->code : 0;
	struct place *place;
	int r = edit_symbolize_get_place(
		s, owner, frames_code(address, maps_sample_returns(sample, i)), &place);

	if (r < 0)
		return r;
	if (!place) {
		s->counts.not_inspected++;
		return 0;
	}
	return edit_symbolize_is_named(place, meaning)
		       ? 0
		       : edit_symbolize_name_place(s, place, sample, i, map);
}

/* Notes a name from the source. Returns 1 if EV is to be left out, since the address was named
 * before. */
static int edit_symbolize_record_frame(struct edit_symbolize *s, const struct event *ev)
{
	const struct mapping *map =
		maps_find(s->maps, ev->frame.process, ev->frame.address, ev->ts_ns);
	uint64_t meaning = map ? map->code : 0;
	struct place *place;
	int r = edit_symbolize_get_place(s, ev->frame.process, ev->frame.address, &place);

	if (r < 0 || !place)
		return r;
	if (place->named_by == US && place->meaning == meaning && place->any_frame) {
		s->counts.repeated++;
		return 1;
	}
	if (place->named_by != SOURCE || place->meaning != meaning) {
		s->counts.addresses++;
		s->counts.known++;
	}
	place->named_by = SOURCE;
	place->meaning = meaning;
	place->any_frame = true;
	return 0;
}

/* ---- records ---- */

/* Writes the names that EV needs. Returns 1 if EV is to be left out. */
static int edit_symbolize_before(struct edit_symbolize *s, const struct event *ev)
{
	int r = s->options.event ? s->options.event(s->options.userdata, ev) : 0;

	r = r ?: maps_add(s->maps, ev);
	if (r < 0)
		return r;
	switch (ev->kind) {
	case EVENT_FRAME:
		return edit_symbolize_record_frame(s, ev);
	case EVENT_SAMPLE:
		s->counts.backtraces++;
		for (unsigned i = 0; r == 0 && i < ev->sample.n_frames; i++)
			r = edit_symbolize_name_frame(s, ev, i);
		return r;
	case EVENT_STOP:
		return edit_copy_packets(s->copy);
	default:
		return 0;
	}
}

int edit_symbolize_record(struct edit_symbolize *s, const struct fxt_record *record,
			  const char **ret_what)
{
	struct event ev;
	int outcome, r;

	*ret_what = NULL;
	if (edit_copy_is_packets(record))
		return 0;
	/* (the archive is marked, because the source does not have the frames that are added) */
	r = edit_part_mark_before(&s->mark, s->copy, record->provider, record);
	if (r != 0)
		return r < 0 ? r : 0;
	outcome = fxt_events_get(s->events, record, &ev, ret_what);
	if (outcome < 0)
		return outcome;
	if (outcome == FXT_EVENTS_EVENT)
		r = edit_symbolize_before(s, &ev);
	if (r != 0)
		return r < 0 ? r : 0;
	r = edit_copy_record(s->copy, record->provider, record);
	if (r == 0 && outcome == FXT_EVENTS_EVENT && !s->options.no_packets)
		r = edit_copy_gather(s->copy, &ev);
	return r;
}

int edit_symbolize_finish(struct edit_symbolize *s)
{
	return edit_copy_packets(s->copy);
}
