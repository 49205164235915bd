/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a session as CreateSession takes them, a{sv}.
 */
#include <stdio.h>

#include "cli/bus/bus-call.h"

static int bus_options_append_u64(sd_bus_message *m, const char *name, uint64_t value)
{
	return value ? sd_bus_message_append(m, "{sv}", name, "t", value) : 0;
}

/* Opens {sv} up to the value, an array of TYPE. */
static int open_array(sd_bus_message *m, const char *name, const char *type)
{
	char array[16];
	int r;

	snprintf(array, sizeof(array), "a%s", type);
	r = sd_bus_message_open_container(m, 'e', "sv");
	if (r >= 0)
		r = sd_bus_message_append(m, "s", name);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', array);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', type);
	return r;
}

static int close_array(sd_bus_message *m)
{
	int r = 0;

	for (int i = 0; r >= 0 && i < 3; i++)
		r = sd_bus_message_close_container(m);
	return r;
}

static int bus_options_append_u32s(sd_bus_message *m, const char *name, const uint32_t *values,
				   size_t n)
{
	int r;

	if (n == 0)
		return 0;
	r = open_array(m, name, "u");
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = sd_bus_message_append(m, "u", values[i]);
	return r < 0 ? r : close_array(m);
}

static int append_filter(sd_bus_message *m, const struct capture_filter *f)
{
	int r = bus_options_append_u32s(m, "pids", f->pids, f->n_pids);

	if (r >= 0)
		r = bus_options_append_u32s(m, "uids", f->uids, f->n_uids);
	if (r >= 0 && f->n_comms) {
		r = open_array(m, "comms", "s");
		for (size_t i = 0; r >= 0 && i < f->n_comms; i++)
			r = sd_bus_message_append(m, "s", f->comms[i]);
		r = r < 0 ? r : close_array(m);
	}
	if (r >= 0 && f->n_cgroups) {
		r = open_array(m, "cgroups", "(tus)");
		for (size_t i = 0; r >= 0 && i < f->n_cgroups; i++)
			r = sd_bus_message_append(m, "(tus)", (uint64_t)f->cgroups[i].parent_id,
						  (uint32_t)f->cgroups[i].level,
						  f->cgroups[i].name);
		r = r < 0 ? r : close_array(m);
	}
	return r;
}

static int bus_options_append_categories(sd_bus_message *m, uint32_t categories)
{
	int r;

	if (categories == 0)
		return 0;
	r = open_array(m, "categories", "s");
	for (const struct category_row *c = category_rows; r >= 0 && c->name; c++) {
		if (categories & c->bit)
			r = sd_bus_message_append(m, "s", c->name);
	}
	return r < 0 ? r : close_array(m);
}

static int append_memory(sd_bus_message *m, const struct memory_options *o)
{
	int r = sd_bus_message_append(m, "{sv}", "memory_log", "b", (int)o->log);

	if (r >= 0)
		r = bus_options_append_u64(m, "memory_interval", o->interval);
	if (r >= 0)
		r = bus_options_append_u64(m, "memory_min_bytes", o->min_bytes);
	if (r >= 0)
		r = bus_options_append_u64(m, "memory_blocks_max", o->blocks_max);
	if (r >= 0)
		r = bus_options_append_u64(m, "usage_interval_ns", o->usage_interval_ns);
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "triage", "b", (int)o->triage);
	if (r >= 0)
		r = bus_options_append_u64(m, "triage_interval_ns", o->triage_interval_ns);
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "reach", "s", memory_reach_names[o->reach]);
	if (r < 0 || o->n_allocator_fds == 0)
		return r;
	r = open_array(m, "allocator_fds", "h");
	for (size_t i = 0; r >= 0 && i < o->n_allocator_fds; i++)
		r = sd_bus_message_append(m, "h", o->allocator_fds[i]);
	return r < 0 ? r : close_array(m);
}

static int bus_options_append_triggers(sd_bus_message *m, const struct trigger_options *o)
{
	int r;

	if (!triggers_wanted(o))
		return 0;
	r = sd_bus_message_open_container(m, 'e', "sv");
	if (r >= 0)
		r = sd_bus_message_append(m, "s", "triggers");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', "a{st}");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{st}");
	for (const struct trigger_row *row = trigger_rows; r >= 0 && row->name; row++) {
		uint64_t value = *trigger_limit((struct trigger_options *)o, row);

		if (value)
			r = sd_bus_message_append(m, "{st}", row->name, value);
	}
	return r < 0 ? r : close_array(m);
}

int bus_append_options(sd_bus_message *m, const struct bus_client_create_args *args)
{
	const struct session_options *o = args->options;
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0 && args->output_fd >= 0)
		r = sd_bus_message_append(m, "{sv}", "output", "h", args->output_fd);
	if (r >= 0 && o->mode != SESSION_STREAM)
		r = sd_bus_message_append(m, "{sv}", "mode", "s", session_mode_names[o->mode]);
	if (r >= 0)
		r = bus_options_append_u64(m, "flight_ns", o->flight_ns);
	if (r >= 0)
		r = bus_options_append_u64(m, "flight_bytes", o->flight_bytes);
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "linger", "b", (int)args->linger);
	if (r >= 0)
		r = bus_options_append_categories(m, o->categories);
	if (r >= 0)
		r = bus_options_append_u64(m, "ring_bytes", o->ring_bytes);
	if (r >= 0)
		r = bus_options_append_u64(m, "flush_ns", o->flush_ns);
	if (r >= 0)
		r = bus_options_append_u64(m, "counter_interval_ns", o->counter_interval_ns);
	if (r >= 0)
		r = bus_options_append_u64(m, "frequency", o->frequency);
	if (r >= 0)
		r = bus_options_append_u64(m, "offcpu_min_ns", o->offcpu_min_ns);
	if (r >= 0 && o->no_perfetto_blobs)
		r = sd_bus_message_append(m, "{sv}", "no_perfetto_blobs", "b", 1);
	if (r >= 0 && o->categories & CATEGORIES_MEMORY)
		r = append_memory(m, &o->memory);
	if (r >= 0)
		r = bus_options_append_u64(m, "duration_ns", o->duration_ns);
	if (r >= 0)
		r = bus_options_append_u64(m, "max_bytes", o->max_bytes);
	if (r >= 0)
		r = bus_options_append_u64(m, "max_overhead_ppm", o->max_overhead_ppm);
	if (r >= 0)
		r = bus_options_append_u64(m, "max_overhead_machine_ppm",
					   o->max_overhead_machine_ppm);
	if (r >= 0)
		r = bus_options_append_triggers(m, &o->triggers);
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "compress", "s", pack_ops(o->compress)->name);
	if (r >= 0 && o->own)
		r = sd_bus_message_append(m, "{sv}", "own", "b", 1);
	if (r >= 0 && o->command)
		r = sd_bus_message_append(m, "{sv}", "command", "s", o->command);
	if (r >= 0)
		r = append_filter(m, &o->filter);
	return r < 0 ? r : sd_bus_message_close_container(m);
}
