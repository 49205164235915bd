/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles of OpenTelemetry: the message ProfilesData of the package
 * opentelemetry.proto.profiles.v1development, as in version 1.10.0 of the protocol. (Version 1.9.0
 * has other numbers for the fields of samples. The definition can still change.)
 *
 * A profile has one kind of value, so there is a profile for each of: CPU time, samples, times off
 * CPU, waits. They share one dictionary. Entry 0 of each table of the dictionary is empty, and
 * means "none". So locations, mappings and functions are numbered from 1, as in pprof.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/protobuf.h"
#include "cli/flame/flame-tables.h"
#include "cli/flame/flame.h"
#include "model/maps.h"

enum {
	DATA_RESOURCE_PROFILES = 1,
	DATA_DICTIONARY = 2,

	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPE_PROFILES = 2,
	RESOURCE_ATTRIBUTES = 1,

	SCOPE_PROFILES_SCOPE = 1,
	SCOPE_PROFILES_PROFILES = 2,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,

	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME_UNIX_NANO = 3,
	PROFILE_DURATION_NANO = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,

	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,

	SAMPLE_STACK_INDEX = 1,
	SAMPLE_ATTRIBUTE_INDICES = 2,
	SAMPLE_VALUES = 4,

	DICTIONARY_MAPPING_TABLE = 1,
	DICTIONARY_LOCATION_TABLE = 2,
	DICTIONARY_FUNCTION_TABLE = 3,
	DICTIONARY_LINK_TABLE = 4,
	DICTIONARY_STRING_TABLE = 5,
	DICTIONARY_ATTRIBUTE_TABLE = 6,
	DICTIONARY_STACK_TABLE = 7,

	MAPPING_MEMORY_START = 1,
	MAPPING_MEMORY_LIMIT = 2,
	MAPPING_FILE_OFFSET = 3,
	MAPPING_FILENAME = 4,
	MAPPING_ATTRIBUTE_INDICES = 5,

	LOCATION_MAPPING_INDEX = 1,
	LOCATION_ADDRESS = 2,
	LOCATION_LINES = 3,
	LOCATION_ATTRIBUTE_INDICES = 4,

	LINE_FUNCTION_INDEX = 1,
	LINE_LINE = 2,

	FUNCTION_NAME = 1,
	FUNCTION_SYSTEM_NAME = 2,
	FUNCTION_FILENAME = 3,

	STACK_LOCATION_INDICES = 1,

	ATTRIBUTE_KEY = 1, /* of KeyValueAndUnit: the number of a text */
	ATTRIBUTE_VALUE = 2,
	KEY_VALUE_KEY = 1, /* of KeyValue: a text */
	KEY_VALUE_VALUE = 2,
	ANY_VALUE_STRING = 1,
	ANY_VALUE_INT = 3,
};

/* An attribute of samples, locations or mappings. */
struct otlp_attribute {
	const char *key;  /* a constant */
	const char *text; /* in the set of texts; NULL = a number */
	uint64_t number;
};

struct maker {
	const struct flame *f;
	struct outbuf *out;
	struct flame_tables tables;
	struct table attribute_numbers;    /* hash, plus 1 for each collision -> index */
	struct otlp_attribute *attributes; /* index - 1; owned */
	size_t n_attributes, room_attributes;
	struct table stack_numbers; /* node -> index */
	uint32_t *stacks;           /* index - 1 -> node; owned */
	size_t n_stacks, room_stacks;
};

/* ---- tables ---- */

/* Returns the index of an attribute. TEXT NULL = the value is NUMBER. */
static uint64_t flame_otlp_attribute(struct maker *m, const char *key, const char *text,
				     uint64_t number)
{
	const struct otlp_attribute wanted = { key,
					       text ? text_set_keep(&m->tables.texts, text) : NULL,
					       text ? 0 : number };
	uint64_t hashed[] = { (uintptr_t)wanted.key, (uintptr_t)wanted.text, wanted.number, 0 };
	uint64_t hash, index;

	for (;; hashed[3]++) {
		const struct otlp_attribute *a;

		hash = table_hash(hashed, sizeof(hashed));
		index = (uint64_t)(uintptr_t)table_get(&m->attribute_numbers, hash);
		if (index == 0)
			break;
		a = &m->attributes[index - 1];
		if (a->key == wanted.key && a->text == wanted.text && a->number == wanted.number)
			return index;
	}
	if ((text && !wanted.text) ||
	    GROW(m->attributes, m->room_attributes, m->n_attributes + 1) < 0) {
		flame_tables_fail(&m->tables, -ENOMEM);
		return 0;
	}
	m->attributes[m->n_attributes++] = wanted;
	if (table_set(&m->attribute_numbers, hash, (void *)(uintptr_t)m->n_attributes) < 0)
		flame_tables_fail(&m->tables, -ENOMEM);
	return m->n_attributes;
}

/* Returns the index of the stack whose innermost call is NODE. */
static uint64_t flame_otlp_stack(struct maker *m, uint32_t node)
{
	uint64_t index = (uint64_t)(uintptr_t)table_get(&m->stack_numbers, (uint64_t)node + 1);

	if (index != 0)
		return index;
	if (GROW(m->stacks, m->room_stacks, m->n_stacks + 1) < 0) {
		flame_tables_fail(&m->tables, -ENOMEM);
		return 0;
	}
	m->stacks[m->n_stacks++] = node;
	if (table_set(&m->stack_numbers, (uint64_t)node + 1, (void *)(uintptr_t)m->n_stacks) < 0)
		flame_tables_fail(&m->tables, -ENOMEM);
	return m->n_stacks;
}

static void flame_otlp_add_empty(struct maker *m, unsigned field)
{
	protobuf_end(m->out, protobuf_begin(m->out, field));
}

static void flame_otlp_add_index(struct maker *m, unsigned field, uint64_t index)
{
	size_t list = protobuf_begin(m->out, field);

	protobuf_add_packed(m->out, index);
	protobuf_end(m->out, list);
}

static void flame_otlp_add_value(struct maker *m, unsigned field, const char *text, uint64_t number)
{
	size_t value = protobuf_begin(m->out, field);

	if (text)
		protobuf_add_text(m->out, ANY_VALUE_STRING, text);
	else
		protobuf_add_u64(m->out, ANY_VALUE_INT, number);
	protobuf_end(m->out, value);
}

static void flame_otlp_add_attributes(struct maker *m)
{
	flame_otlp_add_empty(m, DICTIONARY_ATTRIBUTE_TABLE);
	for (size_t i = 0; i < m->n_attributes; i++) {
		const struct otlp_attribute *a = &m->attributes[i];
		size_t attribute = protobuf_begin(m->out, DICTIONARY_ATTRIBUTE_TABLE);

		protobuf_add_u64(m->out, ATTRIBUTE_KEY, flame_tables_text(&m->tables, a->key));
		flame_otlp_add_value(m, ATTRIBUTE_VALUE, a->text, a->number);
		protobuf_end(m->out, attribute);
	}
}

static void flame_otlp_add_stacks(struct maker *m)
{
	const struct profile *p = m->f->now->profile;

	flame_otlp_add_empty(m, DICTIONARY_STACK_TABLE);
	for (size_t i = 0; i < m->n_stacks; i++) {
		size_t stack = protobuf_begin(m->out, DICTIONARY_STACK_TABLE),
		       list = protobuf_begin(m->out, STACK_LOCATION_INDICES);

		for (uint32_t node = m->stacks[i]; node != 0; node = p->nodes[node].parent)
			protobuf_add_packed(m->out, (uint64_t)p->nodes[node].place + 1);
		protobuf_end(m->out, list);
		protobuf_end(m->out, stack);
	}
}

static void flame_otlp_add_mappings(struct maker *m)
{
	flame_otlp_add_empty(m, DICTIONARY_MAPPING_TABLE);
	for (size_t i = 0; i < m->tables.n_mappings; i++) {
		const struct mapping *map = m->tables.mappings[i].map;
		size_t mapping = protobuf_begin(m->out, DICTIONARY_MAPPING_TABLE);

		protobuf_add_u64(m->out, MAPPING_MEMORY_START, map->start);
		protobuf_add_u64(m->out, MAPPING_MEMORY_LIMIT, map->start + map->size);
		protobuf_add_nonzero(m->out, MAPPING_FILE_OFFSET, map->file_offset);
		protobuf_add_nonzero(m->out, MAPPING_FILENAME,
				     flame_tables_file_name(&m->tables, map));
		if (map->build_id_size)
			flame_otlp_add_index(
				m, MAPPING_ATTRIBUTE_INDICES,
				flame_otlp_attribute(m, "process.executable.build_id.gnu",
						     flame_tables_build_id(&m->tables, map), 0));
		protobuf_end(m->out, mapping);
	}
}

static void flame_otlp_add_functions(struct maker *m)
{
	flame_otlp_add_empty(m, DICTIONARY_FUNCTION_TABLE);
	for (size_t i = 0; i < m->tables.n_functions; i++) {
		const struct flame_function *f = &m->tables.functions[i];
		size_t function = protobuf_begin(m->out, DICTIONARY_FUNCTION_TABLE);

		protobuf_add_nonzero(m->out, FUNCTION_NAME, f->name);
		protobuf_add_nonzero(m->out, FUNCTION_SYSTEM_NAME, f->name);
		protobuf_add_nonzero(m->out, FUNCTION_FILENAME, f->file);
		protobuf_end(m->out, function);
	}
}

static const char *flame_otlp_frame_type(const struct profile_place *place,
					 const struct frame *frames, int n)
{
	if (n > 0 && strcmp(frames[0].module, FRAMES_PYTHON_MODULE) == 0)
		return "cpython";
	return maps_is_kernel(place->address) ? "kernel" : "native";
}

static void flame_otlp_add_location(struct maker *m, size_t number)
{
	const struct flame_input *in = m->f->now;
	const struct profile_place *place = &in->profile->places[number];
	size_t location = protobuf_begin(m->out, DICTIONARY_LOCATION_TABLE);
	const struct frame *frames = NULL;
	int n = profile_names_find(in->profile, &in->names, place, &frames);

	if (n < 0)
		flame_tables_fail(&m->tables, n);
	protobuf_add_nonzero(m->out, LOCATION_MAPPING_INDEX,
			     flame_tables_mapping(&m->tables, place));
	protobuf_add_nonzero(m->out, LOCATION_ADDRESS, flame_tables_address(place));
	for (int i = 0; i < n; i++) {
		const struct frame *frame = &frames[place->is_woken_by ? n - 1 - i : i];
		size_t line;

		if (!*frame->function)
			continue;
		line = protobuf_begin(m->out, LOCATION_LINES);
		protobuf_add_u64(m->out, LINE_FUNCTION_INDEX,
				 flame_tables_function(&m->tables, frame));
		protobuf_add_nonzero(m->out, LINE_LINE, frame->line);
		protobuf_end(m->out, line);
	}
	if (!place->is_made_up)
		flame_otlp_add_index(m, LOCATION_ATTRIBUTE_INDICES,
				     flame_otlp_attribute(m, "profile.frame.type",
							  flame_otlp_frame_type(place, frames, n),
							  0));
	protobuf_end(m->out, location);
}

static void flame_otlp_add_dictionary(struct maker *m)
{
	size_t dictionary = protobuf_begin(m->out, DATA_DICTIONARY);
	int r;

	/*
	 * Locations add mappings and functions to their tables. All of them add attributes and
	 * texts, so these tables are written later.
	 */
	flame_otlp_add_empty(m, DICTIONARY_LOCATION_TABLE);
	for (size_t i = 0; i < m->f->now->profile->n_places; i++)
		flame_otlp_add_location(m, i);
	flame_otlp_add_mappings(m);
	flame_otlp_add_functions(m);
	flame_otlp_add_empty(m, DICTIONARY_LINK_TABLE);
	flame_otlp_add_attributes(m);
	flame_otlp_add_stacks(m);
	r = flame_tables_finish(&m->tables, m->out);
	if (r < 0)
		flame_tables_fail(&m->tables, r);
	protobuf_end(m->out, dictionary);
}

/* ---- profiles ---- */

struct otlp_kind {
	const char *type, *unit;
	bool off_cpu, is_time;
};

static void flame_otlp_add_value_type(struct maker *m, unsigned field, const char *type,
				      const char *unit)
{
	size_t value_type = protobuf_begin(m->out, field);

	protobuf_add_u64(m->out, VALUE_TYPE_TYPE, flame_tables_text(&m->tables, type));
	protobuf_add_u64(m->out, VALUE_TYPE_UNIT, flame_tables_text(&m->tables, unit));
	protobuf_end(m->out, value_type);
}

static void flame_otlp_add_sample(struct maker *m, const struct profile_stack *stack,
				  const struct otlp_kind *kind)
{
	const struct flame_input *in = m->f->now;
	char process[PROFILE_LABEL_MAX], thread[PROFILE_LABEL_MAX];
	size_t sample = protobuf_begin(m->out, PROFILE_SAMPLES), list;

	protobuf_add_u64(m->out, SAMPLE_STACK_INDEX, flame_otlp_stack(m, stack->node));
	list = protobuf_begin(m->out, SAMPLE_ATTRIBUTE_INDICES);
	protobuf_add_packed(m->out, flame_otlp_attribute(m, "process.pid", NULL, stack->pid));
	protobuf_add_packed(m->out, flame_otlp_attribute(m, "process.executable.name",
							 profile_names_process(process, in->profile,
									       &in->names, stack),
							 0));
	protobuf_add_packed(m->out, flame_otlp_attribute(m, "thread.id", NULL, stack->tid));
	protobuf_add_packed(m->out, flame_otlp_attribute(m, "thread.name",
							 flame_thread_name(thread, in, stack), 0));
	protobuf_end(m->out, list);
	flame_otlp_add_index(m, SAMPLE_VALUES, kind->is_time ? stack->ns : stack->count);
	protobuf_end(m->out, sample);
}

static void flame_otlp_add_profile(struct maker *m, const struct otlp_kind *kind)
{
	const struct flame_input *in = m->f->now;
	size_t profile = protobuf_begin(m->out, SCOPE_PROFILES_PROFILES);

	flame_otlp_add_value_type(m, PROFILE_SAMPLE_TYPE, kind->type, kind->unit);
	for (size_t i = 0; i < in->profile->n_stacks; i++)
		if (in->profile->stacks[i].off_cpu == kind->off_cpu)
			flame_otlp_add_sample(m, &in->profile->stacks[i], kind);
	if (in->real_offset_ns)
		protobuf_add_fixed64(m->out, PROFILE_TIME_UNIX_NANO,
				     in->summary->start_ns + (uint64_t)in->real_offset_ns);
	protobuf_add_nonzero(m->out, PROFILE_DURATION_NANO, in->summary->recorded_ns);
	if (!kind->off_cpu && in->profile->frequency) {
		flame_otlp_add_value_type(m, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
		protobuf_add_u64(m->out, PROFILE_PERIOD, 1000000000 / in->profile->frequency);
	}
	protobuf_end(m->out, profile);
}

/*
 * Viewers show the first profile. Without a sampling frequency, samples have no time, and the
 * profile "cpu" is left out.
 */
static void flame_otlp_add_profiles(struct maker *m)
{
	static const struct otlp_kind kinds[] = {
		{ "cpu", "nanoseconds", false, true },
		{ "samples", "count", false, false },
		{ "off_cpu", "nanoseconds", true, true },
		{ "waits", "count", true, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		bool has_time = kinds[i].off_cpu || m->f->now->profile->frequency;

		if ((kinds[i].off_cpu ? m->f->off_cpu : m->f->on_cpu) &&
		    (has_time || !kinds[i].is_time))
			flame_otlp_add_profile(m, &kinds[i]);
	}
}

static void flame_otlp_add_resource_attribute(struct maker *m, const char *key, const char *value)
{
	size_t attribute = protobuf_begin(m->out, RESOURCE_ATTRIBUTES);

	protobuf_add_text(m->out, KEY_VALUE_KEY, key);
	flame_otlp_add_value(m, KEY_VALUE_VALUE, value, 0);
	protobuf_end(m->out, attribute);
}

static void flame_otlp_add_resource(struct maker *m)
{
	const struct summary *s = m->f->now->summary;
	const char *host = s->started ? s->recording.host : NULL;
	size_t resource = protobuf_begin(m->out, RESOURCE_PROFILES_RESOURCE);

	if (host && *host)
		flame_otlp_add_resource_attribute(m, "host.name", host);
	flame_otlp_add_resource_attribute(m, "os.type", "linux");
	protobuf_end(m->out, resource);
}

int flame_otlp(struct flame *f, struct outbuf *out)
{
	struct maker m = { .f = f, .out = out };
	size_t resource, scope, name;
	int r;

	flame_tables_init(&m.tables, DICTIONARY_STRING_TABLE);
	resource = protobuf_begin(out, DATA_RESOURCE_PROFILES);
	flame_otlp_add_resource(&m);
	scope = protobuf_begin(out, RESOURCE_PROFILES_SCOPE_PROFILES);
	name = protobuf_begin(out, SCOPE_PROFILES_SCOPE);
	protobuf_add_text(out, SCOPE_NAME, "kymo");
	protobuf_add_text(out, SCOPE_VERSION, KYMO_VERSION);
	protobuf_end(out, name);
	flame_otlp_add_profiles(&m);
	protobuf_end(out, scope);
	protobuf_end(out, resource);
	flame_otlp_add_dictionary(&m);
	f->n_drawn = f->now->profile->n_stacks;
	r = m.tables.error ?: out->error;
	flame_tables_deinit(&m.tables);
	table_deinit(&m.attribute_numbers);
	table_deinit(&m.stack_numbers);
	free(m.attributes);
	free(m.stacks);
	return r;
}
