/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speedscope's file format: one "sampled" profile per thread. Its samples are the different stacks
 * of the thread, each with its total weight. The order in time is not kept.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "cli/flame/flame.h"
#include "cli/common/json.h"

/* The frames at a place, outermost first, as numbers of shared frames. */
struct place_frames {
	uint32_t *list; /* owned */
	size_t n;
};

struct maker {
	struct flame *f;
	struct outbuf *out;
	struct text_set texts;
	struct table
		known; /* hash of name, file and line, plus 1 for each collision -> number + 1 */
	struct shared {
		const char *name, *file;
		uint32_t line;
	} * frames;
	size_t n_frames, room_frames;
	struct place_frames *places;
};

static void flame_speedscope_add_json_text(struct outbuf *out, const char *text)
{
	struct json_object *o = json_from_bytes(text, strlen(text));

	outbuf_print(out, "%s", json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

/* ---- frames ---- */

/* Finds or adds a shared frame. *RET is its number. */
static int flame_speedscope_share_frame(struct maker *m, struct shared frame, uint32_t *ret)
{
	uint64_t key[4] = { 0 }, hash;
	size_t number;

	frame.name = text_set_keep(&m->texts, frame.name);
	frame.file = text_set_keep(&m->texts, frame.file);
	if (!frame.name || !frame.file)
		return -ENOMEM;
	key[0] = (uintptr_t)frame.name;
	key[1] = (uintptr_t)frame.file;
	key[2] = frame.line;
	for (;; key[3]++) {
		const struct shared *known;

		hash = table_hash(key, sizeof(key));
		number = (size_t)(uintptr_t)table_get(&m->known, hash);
		if (number == 0)
			break;
		known = &m->frames[number - 1];
		if (known->name == frame.name && known->file == frame.file &&
		    known->line == frame.line) {
			*ret = (uint32_t)number - 1;
			return 0;
		}
	}
	if (GROW(m->frames, m->room_frames, m->n_frames + 1) < 0)
		return -ENOMEM;
	*ret = (uint32_t)m->n_frames;
	m->frames[m->n_frames++] = frame;
	return table_set(&m->known, hash, (void *)(uintptr_t)m->n_frames);
}

static int flame_speedscope_share_place(struct maker *m, size_t number)
{
	const struct flame_input *in = m->f->now;
	const struct profile_place *place = &in->profile->places[number];
	struct place_frames *to = &m->places[number];
	const struct frame *frames = NULL;
	char label[PROFILE_LABEL_MAX];
	int n = profile_names_find(in->profile, &in->names, place, &frames), r = 0;

	if (n < 0)
		return n;
	to->n = n > 0 ? (size_t)n : 1;
	to->list = calloc(to->n, sizeof(*to->list));
	if (!to->list)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < to->n; i++) {
		int at = place->is_woken_by ? (int)i : n - 1 - (int)i;
		const struct frame *frame = n > 0 ? &frames[at] : NULL;
		const char *path = place->mapping ? place->mapping->path : "";
		const char *module = text_set_keep_path(&m->texts, path);

		if (!module)
			return -ENOMEM;
		r = flame_speedscope_share_frame(
			m,
			(struct shared){
				.name = profile_names_label(label, place, frame),
				.file = frame && *frame->source   ? frame->source
					: frame && *frame->module ? frame->module
								  : module,
				.line = frame ? frame->line : 0,
			},
			&to->list[i]);
	}
	return r;
}

static void flame_speedscope_add_frames(struct maker *m)
{
	outbuf_print(m->out, "\"shared\":{\"frames\":[");
	for (size_t i = 0; i < m->n_frames; i++) {
		const struct shared *frame = &m->frames[i];

		outbuf_print(m->out, "%s\n{\"name\":", i ? "," : "");
		flame_speedscope_add_json_text(m->out, frame->name);
		if (*frame->file) {
			outbuf_print(m->out, ",\"file\":");
			flame_speedscope_add_json_text(m->out, frame->file);
		}
		if (frame->line)
			outbuf_print(m->out, ",\"line\":%" PRIu32, frame->line);
		outbuf_print(m->out, "}");
	}
	outbuf_print(m->out, "]},\n");
}

/* ---- profiles ---- */

static uint64_t flame_speedscope_weight_of(const struct maker *m, const struct profile_stack *stack)
{
	return m->f->by_time ? stack->ns : stack->count;
}

/* Adds one stack. LIST has room for the places of any stack. */
static void flame_speedscope_add_stack(struct maker *m, const struct profile_stack *stack,
				       uint32_t *list)
{
	const struct profile *p = m->f->now->profile;
	const char *comma = "";
	size_t n = 0;

	for (uint32_t i = stack->node; i != 0; i = p->nodes[i].parent)
		list[n++] = p->nodes[i].place;
	outbuf_print(m->out, "[");
	while (n-- > 0) {
		const struct place_frames *frames = &m->places[list[n]];

		for (size_t i = 0; i < frames->n; i++) {
			outbuf_print(m->out, "%s%" PRIu32, comma, frames->list[i]);
			comma = ",";
		}
	}
	outbuf_print(m->out, "]");
}

/* Adds the N stacks of one thread in one program. */
static void flame_speedscope_add_profile(struct maker *m, const struct profile_stack *const *stacks,
					 size_t n, uint32_t *list)
{
	const struct flame_input *in = m->f->now;
	char process[PROFILE_LABEL_MAX], thread[PROFILE_LABEL_MAX];
	_cleanup_(outbuf_deinit) struct outbuf name = { 0 };
	uint64_t total = 0;

	outbuf_print(&name, "%s / %s (%" PRIu32 ")",
		     profile_names_process(process, in->profile, &in->names, stacks[0]),
		     flame_thread_name(thread, in, stacks[0]), stacks[0]->tid);
	outbuf_append(&name, "", 1);
	for (size_t i = 0; i < n; i++)
		total += flame_speedscope_weight_of(m, stacks[i]);
	outbuf_print(m->out, "{\"type\":\"sampled\",\"name\":");
	flame_speedscope_add_json_text(m->out, name.error < 0 ? "" : (const char *)name.data);
	outbuf_print(m->out,
		     ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
		     m->f->by_time ? "nanoseconds" : "none", total);
	for (size_t i = 0; i < n; i++) {
		outbuf_print(m->out, "%s", i ? "," : "");
		flame_speedscope_add_stack(m, stacks[i], list);
	}
	outbuf_print(m->out, "],\n\"weights\":[");
	for (size_t i = 0; i < n; i++)
		outbuf_print(m->out, "%s%" PRIu64, i ? "," : "",
			     flame_speedscope_weight_of(m, stacks[i]));
	outbuf_print(m->out, "]}");
}

DEFINE_ORDER_OF_POINTERS(flame_speedscope_compare_threads, struct profile_stack,
	COMPARE(x->pid, y->pid) ?: COMPARE(x->tid, y->tid) ?: COMPARE(x->program, y->program)
		?: COMPARE(x, y))

static uint32_t flame_speedscope_deepest(const struct profile *p)
{
	_cleanup_free_ uint32_t *depths = calloc(p->n_nodes, sizeof(*depths));
	uint32_t max = 0;

	/* Callers are before their callees. */
	for (size_t i = 1; depths && i < p->n_nodes; i++) {
		depths[i] = depths[p->nodes[i].parent] + 1;
		if (depths[i] > max)
			max = depths[i];
	}
	return depths ? max + 1 : 0;
}

static int flame_speedscope_add_profiles(struct maker *m)
{
	const struct profile *p = m->f->now->profile;
	_cleanup_free_ const struct profile_stack **stacks =
		calloc(p->n_stacks + 1, sizeof(*stacks));
	uint32_t depth = flame_speedscope_deepest(p);
	_cleanup_free_ uint32_t *list = depth ? calloc(depth, sizeof(*list)) : NULL;
	size_t n, end;

	if (!stacks || !list)
		return -ENOMEM;
	for (n = 0; n < p->n_stacks; n++)
		stacks[n] = &p->stacks[n];
	SORT(stacks, n, flame_speedscope_compare_threads);
	outbuf_print(m->out, "\"profiles\":[");
	for (size_t i = 0; i < n; i = end) {
		for (end = i; end < n && stacks[end]->pid == stacks[i]->pid &&
			      stacks[end]->tid == stacks[i]->tid &&
			      stacks[end]->program == stacks[i]->program;)
			end++;
		outbuf_print(m->out, "%s\n", i ? "," : "");
		flame_speedscope_add_profile(m, stacks + i, end - i, list);
		m->f->n_drawn++;
	}
	outbuf_print(m->out, "],\n");
	return 0;
}

int flame_speedscope(struct flame *f, struct outbuf *out)
{
	const size_t n = f->now->profile->n_places;
	struct maker m = { .f = f, .out = out };
	int r = 0;

	m.places = calloc(n + 1, sizeof(*m.places));
	if (!m.places)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = flame_speedscope_share_place(&m, i);
	outbuf_print(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n");
	if (r == 0) {
		flame_speedscope_add_frames(&m);
		r = flame_speedscope_add_profiles(&m);
	}
	outbuf_print(out, "\"name\":");
	flame_speedscope_add_json_text(out, f->title);
	outbuf_print(out, ",\"activeProfileIndex\":0,\"exporter\":\"kymo " KYMO_VERSION "\"}\n");
	for (size_t i = 0; i < n; i++)
		free(m.places[i].list);
	free(m.places);
	free(m.frames);
	table_deinit(&m.known);
	text_set_deinit(&m.texts);
	return r < 0 ? r : out->error;
}
