/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof's profile.proto. Stacks are written as recorded, by address. Names belong to addresses, so
 * that other tools can name the remaining addresses later.
 *
 * The values of a sample are samples/count and cpu/nanoseconds; with times off CPU, also
 * waits/count and offcpu/nanoseconds. For allocations, they are inuse_objects/count and
 * inuse_space/bytes.
 */
#include <string.h>

#include "base/protobuf.h"
#include "base/table.h"
#include "cli/flame/flame-tables.h"
#include "cli/flame/flame.h"

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,

	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,

	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,

	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,

	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,

	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

struct maker {
	const struct flame *f;
	struct outbuf *out;
	struct flame_tables tables;
};

static uint64_t flame_pprof_text(struct maker *m, const char *text)
{
	return flame_tables_text(&m->tables, text);
}

static void flame_pprof_add_value_type(struct maker *m, unsigned field, const char *type,
				       const char *unit)
{
	size_t value_type = protobuf_begin(m->out, field);

	protobuf_add_nonzero(m->out, VALUE_TYPE_TYPE, flame_pprof_text(m, type));
	protobuf_add_nonzero(m->out, VALUE_TYPE_UNIT, flame_pprof_text(m, unit));
	protobuf_end(m->out, value_type);
}

/* ---- places ---- */

/* Notes which data is known about a place in mapping ID. If all places in a mapping have names,
 * other tools need not search for names. */
static void flame_pprof_note_known(struct maker *m, uint64_t id, const struct frame *frames, int n)
{
	struct flame_mapping *u = id ? &m->tables.mappings[id - 1] : NULL;

	if (!u)
		return;
	u->functions &= n > 0 && *frames[0].function;
	u->files &= n > 0 && *frames[0].source;
	u->lines &= n > 0 && frames[0].line != 0;
}

/* Returns a stack of the process with most samples, or NULL. */
static const struct profile_stack *flame_pprof_heaviest_process(const struct profile *p)
{
	struct table weights = { 0 };
	const struct profile_stack *ret = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];
		uint64_t key = (uint64_t)s->pid << 32 | s->program | UINT64_C(1) << 63;
		uint64_t weight =
			(uint64_t)(uintptr_t)table_get(&weights, key) + (s->ns ?: s->count);

		/* (if there is no memory, this weight is ignored) */
		(void)!table_set(&weights, key, (void *)(uintptr_t)weight);
		if (weight <= most || s->pid == 0)
			continue;
		most = weight;
		ret = s;
	}
	table_deinit(&weights);
	return ret;
}

/* The kernel truncates the name of a program to this length. */
enum { PROGRAM_NAME_BYTES = 15 };

/*
 * Returns true if the file of MAP has the name NAME. Only the bytes that the kernel stores are
 * compared.
 */
static bool flame_pprof_is_called(const struct mapping *map, const char *name)
{
	const char *base = profile_names_base(map->path);
	size_t n = (size_t)(map->path + profile_names_path_length(map) - base);

	if (n > PROGRAM_NAME_BYTES)
		n = PROGRAM_NAME_BYTES;
	return strlen(name) == n && strncmp(base, name, n) == 0;
}

/*
 * Finds the mapping of the recorded program. It must be written first, since pprof takes the first
 * mapping for the program. In the process with most samples, it is the mapping whose file has the
 * name of the process. If no file has that name (as for a script), it is the mapping below all
 * libraries, which is the program unless it was started through the dynamic loader. Returns 0 if
 * there is no mapping.
 */
static size_t flame_pprof_program_of(const struct maker *m)
{
	const struct flame_input *in = m->f->now;
	const struct profile_stack *of = flame_pprof_heaviest_process(in->profile);
	const struct mapping *best = NULL;
	char label[PROFILE_LABEL_MAX];
	const char *name = of ? profile_names_process(label, in->profile, &in->names, of) : "";
	bool named = false;
	size_t ret = 0;

	for (size_t i = 0; of && i < m->tables.n_mappings; i++) {
		const struct mapping *map = m->tables.mappings[i].map;
		bool called = flame_pprof_is_called(map, name);

		if (map->pid != of->pid || map->path[0] != '/' || (named && !called) ||
		    (best && called == named && map->start >= best->start))
			continue;
		best = map;
		named = called;
		ret = i;
	}
	return ret;
}

static void flame_pprof_add_mappings(struct maker *m)
{
	size_t program = flame_pprof_program_of(m);

	for (size_t n = 0; n < m->tables.n_mappings; n++) {
		/* The program comes first; the other mappings keep their order. */
		size_t i = n == 0 ? program : n <= program ? n - 1 : n;
		const struct flame_mapping *u = &m->tables.mappings[i];
		size_t mapping = protobuf_begin(m->out, PROFILE_MAPPING);

		protobuf_add_u64(m->out, MAPPING_ID, i + 1);
		protobuf_add_u64(m->out, MAPPING_START, u->map->start);
		protobuf_add_u64(m->out, MAPPING_LIMIT, u->map->start + u->map->size);
		protobuf_add_nonzero(m->out, MAPPING_OFFSET, u->map->file_offset);
		protobuf_add_nonzero(m->out, MAPPING_FILENAME,
				     flame_tables_file_name(&m->tables, u->map));
		protobuf_add_nonzero(m->out, MAPPING_BUILD_ID,
				     flame_pprof_text(m,
						      flame_tables_build_id(&m->tables, u->map)));
		protobuf_add_nonzero(m->out, MAPPING_HAS_FUNCTIONS, u->functions);
		protobuf_add_nonzero(m->out, MAPPING_HAS_FILENAMES, u->files);
		protobuf_add_nonzero(m->out, MAPPING_HAS_LINE_NUMBERS, u->lines);
		protobuf_add_nonzero(m->out, MAPPING_HAS_INLINE_FRAMES, u->lines);
		protobuf_end(m->out, mapping);
	}
}

static void flame_pprof_add_location(struct maker *m, size_t number)
{
	const struct flame_input *in = m->f->now;
	const struct profile_place *place = &in->profile->places[number];
	uint64_t mapping = flame_tables_mapping(&m->tables, place);
	size_t location = protobuf_begin(m->out, PROFILE_LOCATION);
	const struct frame *frames = NULL;
	int n = profile_names_find(in->profile, &in->names, place, &frames);

	if (n < 0)
		flame_tables_fail(&m->tables, n);
	flame_pprof_note_known(m, mapping, frames, n);
	protobuf_add_u64(m->out, LOCATION_ID, number + 1);
	protobuf_add_nonzero(m->out, LOCATION_MAPPING_ID, mapping);
	protobuf_add_nonzero(m->out, LOCATION_ADDRESS, flame_tables_address(place));
	for (int i = 0; i < n; i++) {
		const struct frame *frame = &frames[place->is_woken_by ? n - 1 - i : i];
		size_t line;

		if (!*frame->function)
			continue;
		line = protobuf_begin(m->out, LOCATION_LINE);
		protobuf_add_u64(m->out, LINE_FUNCTION_ID,
				 flame_tables_function(&m->tables, frame));
		protobuf_add_nonzero(m->out, LINE_LINE, frame->line);
		protobuf_end(m->out, line);
	}
	protobuf_end(m->out, location);
}

static void flame_pprof_add_functions(struct maker *m)
{
	for (size_t i = 0; i < m->tables.n_functions; i++) {
		size_t function = protobuf_begin(m->out, PROFILE_FUNCTION);

		protobuf_add_u64(m->out, FUNCTION_ID, i + 1);
		protobuf_add_nonzero(m->out, FUNCTION_NAME, m->tables.functions[i].name);
		protobuf_add_nonzero(m->out, FUNCTION_SYSTEM_NAME, m->tables.functions[i].name);
		protobuf_add_nonzero(m->out, FUNCTION_FILENAME, m->tables.functions[i].file);
		protobuf_end(m->out, function);
	}
}

/* ---- samples ---- */

static void flame_pprof_add_label(struct maker *m, const char *key, const char *value,
				  uint64_t number)
{
	size_t label = protobuf_begin(m->out, SAMPLE_LABEL);

	protobuf_add_u64(m->out, LABEL_KEY, flame_pprof_text(m, key));
	if (value)
		protobuf_add_u64(m->out, LABEL_STR, flame_pprof_text(m, value));
	else
		protobuf_add_u64(m->out, LABEL_NUM, number);
	protobuf_end(m->out, label);
}

static void flame_pprof_add_sample(struct maker *m, const struct profile_stack *stack)
{
	const struct flame_input *in = m->f->now;
	char name[PROFILE_LABEL_MAX];
	size_t sample = protobuf_begin(m->out, PROFILE_SAMPLE), list;

	list = protobuf_begin(m->out, SAMPLE_LOCATION_ID);
	for (uint32_t i = stack->node; i != 0; i = in->profile->nodes[i].parent)
		protobuf_add_packed(m->out, (uint64_t)in->profile->nodes[i].place + 1);
	protobuf_end(m->out, list);
	list = protobuf_begin(m->out, SAMPLE_VALUE);
	if (m->f->allocations) {
		protobuf_add_packed(m->out, stack->count);
		protobuf_add_packed(m->out, stack->ns);
	}
	if (m->f->on_cpu) {
		protobuf_add_packed(m->out, stack->off_cpu ? 0 : stack->count);
		protobuf_add_packed(m->out, stack->off_cpu ? 0 : stack->ns);
	}
	if (m->f->off_cpu) {
		protobuf_add_packed(m->out, stack->off_cpu ? stack->count : 0);
		protobuf_add_packed(m->out, stack->off_cpu ? stack->ns : 0);
	}
	protobuf_end(m->out, list);
	flame_pprof_add_label(m, "process",
			      profile_names_process(name, in->profile, &in->names, stack), 0);
	flame_pprof_add_label(m, "pid", NULL, stack->pid);
	if (m->f->allocations) {
		flame_pprof_add_label(m, "resource", resource_names[stack->tid], 0);
	} else {
		flame_pprof_add_label(m, "thread", flame_thread_name(name, in, stack), 0);
		flame_pprof_add_label(m, "tid", NULL, stack->tid);
	}
	protobuf_end(m->out, sample);
}

/* ---- the profile ---- */

static const char *flame_pprof_default_type(const struct flame *f)
{
	if (f->allocations)
		return "inuse_space";
	if (!f->on_cpu)
		return "offcpu";
	return f->now->profile->frequency ? "cpu" : "samples";
}

static void flame_pprof_add_head(struct maker *m)
{
	const struct flame_input *in = m->f->now;

	if (m->f->allocations) {
		flame_pprof_add_value_type(m, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
		flame_pprof_add_value_type(m, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
	}
	if (m->f->on_cpu) {
		flame_pprof_add_value_type(m, PROFILE_SAMPLE_TYPE, "samples", "count");
		flame_pprof_add_value_type(m, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
	}
	if (m->f->off_cpu) {
		flame_pprof_add_value_type(m, PROFILE_SAMPLE_TYPE, "waits", "count");
		flame_pprof_add_value_type(m, PROFILE_SAMPLE_TYPE, "offcpu", "nanoseconds");
	}
	if (in->real_offset_ns)
		protobuf_add_u64(m->out, PROFILE_TIME_NANOS,
				 in->summary->start_ns + (uint64_t)in->real_offset_ns);
	protobuf_add_nonzero(m->out, PROFILE_DURATION_NANOS, in->summary->recorded_ns);
	if (m->f->on_cpu && in->profile->frequency) {
		flame_pprof_add_value_type(m, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
		protobuf_add_u64(m->out, PROFILE_PERIOD, 1000000000 / in->profile->frequency);
	}
	protobuf_add_u64(m->out, PROFILE_DEFAULT_SAMPLE_TYPE,
			 flame_pprof_text(m, flame_pprof_default_type(m->f)));
	protobuf_add_u64(m->out, PROFILE_COMMENT, flame_pprof_text(m, m->f->title));
}

int flame_pprof(struct flame *f, struct outbuf *out)
{
	struct maker m = { .f = f, .out = out };
	const struct profile *p = f->now->profile;
	int r;

	flame_tables_init(&m.tables, PROFILE_STRING_TABLE);
	flame_pprof_add_head(&m);
	for (size_t i = 0; i < p->n_places; i++)
		flame_pprof_add_location(&m, i);
	for (size_t i = 0; i < p->n_stacks; i++)
		flame_pprof_add_sample(&m, &p->stacks[i]);
	flame_pprof_add_functions(&m);
	flame_pprof_add_mappings(&m);
	f->n_drawn = p->n_stacks;
	r = flame_tables_finish(&m.tables, out);
	flame_tables_deinit(&m.tables);
	return r;
}
