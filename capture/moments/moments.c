/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/moments/moments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "base/text.h"
#include "capture/probes/instruction.h"
#include "capture/probes/probe-attacher.h"

_Static_assert(MOMENT_PLAN_LOADS_MAX == MOMENT_LOADS_MAX, "as many");
_Static_assert(MOMENT_PLAN_STEPS_MAX == MOMENT_STEPS_MAX, "as many");
_Static_assert(MOMENT_PLAN_BYTES_MAX == MOMENT_BLOCK_BYTES_MAX, "as long");
_Static_assert(MOMENT_PLAN_REGISTERS == MOMENT_REGISTERS, "the same");
_Static_assert(MOMENT_PLAN_VALUE == MOMENT_LOAD_VALUE, "the same");
_Static_assert(MOMENT_PLAN_STRING == MOMENT_LOAD_STRING, "the same");
_Static_assert(MOMENT_PLAN_PIECES == MOMENT_LOAD_PIECES, "the same");
_Static_assert(MOMENT_PLAN_QUIET == MOMENT_LOAD_QUIET, "the same");
_Static_assert(MOMENT_PLAN_SIGNED == MOMENT_LOAD_SIGNED, "the same");
_Static_assert(MOMENT_PLAN_CONDITIONS_MAX == MOMENT_CONDITIONS_MAX, "as many");
_Static_assert(MOMENT_PLAN_TSVS_MAX == MOMENT_TSVS_MAX, "as many");
_Static_assert((int)MOMENT_PLAN_REGISTER == MOMENT_BASE_REGISTER, "the same");
_Static_assert((int)MOMENT_PLAN_IMAGE == MOMENT_BASE_IMAGE, "the same");
_Static_assert(OPTION_MOMENTS_MAX <= MOMENT_POINTS_MAX, "a place each");

/* ---- trace state variables ---- */

/* Returns the number of the variable NAME, which is added if it is new; -1 = too many variables. */
static int moments_find_counter(struct moments *m, const char *name)
{
	uint32_t i = 0;

	while (i < m->n_counters && strcmp(m->counters[i], name) != 0)
		i++;
	if (i == MOMENT_COUNTERS_MAX)
		return -1;
	if (i == m->n_counters)
		m->counters[m->n_counters++] = name;
	return (int)i;
}

static int moments_assign_counters(struct moments *m, struct moment_place *place,
				   char **reterr_text)
{
	for (uint32_t i = 0; i < place->plan.n_tsvs; i++) {
		const struct moment_plan_tsv *tsv = &place->plan.tsvs[i];
		int number = moments_find_counter(m, tsv->name);

		if (number < 0)
			return text_error(-E2BIG, reterr_text,
					  "at most %d trace state variables are possible",
					  MOMENT_COUNTERS_MAX);
		place->counters[i] = (uint8_t)number;
		m->counted[number] |= tsv->is_counted;
	}
	return 0;
}

/* A variable that no point increments is probably misspelled. */
static int moments_check_counters(const struct moments *m, char **reterr_text)
{
	for (uint32_t i = 0; i < m->n_counters; i++)
		if (!m->counted[i])
			return text_error(-EINVAL, reterr_text,
					  "$%s is neither a register nor a variable that a "
					  "point increments ('count $%s')",
					  m->counters[i], m->counters[i]);
	return 0;
}

/* ---- places ---- */

static const char *moments_reason(int error)
{
	switch (error) {
	case -ENOEXEC:
		return "the file is neither a program nor a library of this machine";
	case -EBADMSG:
		return "the file is damaged";
	case -ENXIO:
		return "there is no code at this address";
	case -ENODATA:
		return "the start of the function is unknown: the file has neither .eh_frame "
		       "nor symbols";
	case -EINVAL:
		return "it is in the middle of an instruction";
	case -ENOPKG:
		return disassembler_missing();
	case -ETIME:
		return "reading the file takes too long";
	case -EBUSY:
		return "its file system does not answer";
	default:
		return strerror(-error);
	}
}

static int moments_check_owner(const struct session_options *o, const struct moment_plan *plan,
			       int fd, char **reterr_text)
{
	struct stat st;

	if (!o->own || o->own_uid == 0 || (fstat(fd, &st) == 0 && st.st_uid == o->own_uid))
		return 0;
	return text_error(
		-EPERM, reterr_text,
		"%s belongs to another user: users who cannot trace the system can record "
		"moments only of their own programs and libraries",
		plan->file);
}

static int moments_add_place(struct moments *m, const struct session_options *o, size_t i,
			     char **reterr_text)
{
	struct moment_place *place = &m->places[m->n++];
	int fd = o->moments.files.fds[i], r;
	char why[MOMENT_PLAN_WHY_MAX] = "out of memory";

	place->text = strdup(o->moments.specs[i]);
	r = place->text ? moment_plan_parse(place->text, &place->plan, why) : -ENOMEM;
	if (r < 0)
		return text_error(r, reterr_text, "%s", why);
	r = moments_check_owner(o, &place->plan, fd, reterr_text)
		    ?: moments_assign_counters(m, place, reterr_text);
	if (r < 0)
		return r;
	if (place->plan.snapshot && o->mode != SESSION_FLIGHT)
		return text_error(-EINVAL, reterr_text,
				  "%s: 'snapshot' needs a flight recorder: use --mode "
				  "flight",
				  place->plan.name);
	r = code_boundary_find_sandboxed(fd, place->plan.vaddr, &place->at);
	return r < 0 ? text_error(r, reterr_text,
				  "cannot put a probe at %s (%#llx in %s): "
				  "%s",
				  place->plan.name, (unsigned long long)place->plan.vaddr,
				  place->plan.file, moments_reason(r))
		     : 0;
}

int moments_new(const struct session_options *o, struct moments **ret, char **reterr_text)
{
	_cleanup_(moments_freep) struct moments *m = calloc(1, sizeof(*m));
	int r = 0;

	if (m)
		m->places = calloc(o->moments.n_specs + 1, sizeof(*m->places));
	if (!m || !m->places)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < o->moments.n_specs; i++)
		r = moments_add_place(m, o, i, reterr_text);
	r = r ?: moments_check_counters(m, reterr_text);
	if (r == 0)
		*ret = TAKE_PTR(m);
	return r;
}

struct moments *moments_free(struct moments *m)
{
	if (!m)
		return NULL;
	moments_detach(m);
	for (size_t i = 0; i < m->n; i++) {
		moment_plan_deinit(&m->places[i].plan);
		free(m->places[i].text);
	}
	free(m->places);
	return free_ptr(m);
}

/* ---- probes ---- */

static struct moment_load moments_load(const struct moment_plan_load *l)
{
	struct moment_load ret = {
		.base = l->base,
		.reg = l->reg,
		.n_steps = l->n_steps,
		.flags = (uint8_t)l->flags,
		.bytes = l->bytes,
		.count_at = (uint16_t)l->count_at,
		.index = l->index,
		.scale = l->scale,
		.element_bytes = l->element_bytes,
		.offset = l->offset,
	};

	memcpy(ret.steps, l->steps, sizeof(ret.steps));
	return ret;
}

static int moments_announce(const struct moment_place *place, uint32_t number, int points_fd)
{
	const struct moment_plan *plan = &place->plan;
	struct moment_point point = {
		.vaddr = plan->vaddr,
		.max = plan->max,
		.actions = { [MOMENT_ACTION_SNAPSHOT] = plan->snapshot,
			     [MOMENT_ACTION_STOP] = plan->stop },
		.n_loads = plan->n_loads,
		.n_tsvs = plan->n_tsvs,
	};

	for (uint32_t i = 0; i < plan->n_conditions; i++)
		point.conditions[i] = (struct moment_condition){
			.value = plan->conditions[i].value,
			.at = plan->conditions[i].at,
			.op = plan->conditions[i].op,
			.bits = plan->conditions[i].bits,
			.is_signed = plan->conditions[i].is_signed,
		};
	for (uint32_t i = 0; i < plan->n_tsvs; i++) {
		point.tsvs[i] = place->counters[i];
		point.counted |= (uint32_t)plan->tsvs[i].is_counted << i;
	}
	point.goes_on = point.counted || plan->snapshot || plan->stop;
	for (uint32_t i = 0; i < plan->n_loads; i++)
		point.loads[i] = moments_load(&plan->loads[i]);
	return bpf_map_update_elem(points_fd, &number, &point, BPF_ANY) < 0 ? -errno : 0;
}

static int moments_attach_one(struct moments *m, uint32_t i, int fd,
			      const struct collector_moments *collector)
{
	const struct allocator_probe probe = {
		.offset = m->places[i].at.offset,
		.semaphore = m->places[i].at.semaphore,
		.function = CALL_COOKIE(i),
		.kind = ALLOCATOR_PROBE_ENTRY,
	};
	struct probes_target target = {
		.way = collector->way,
		.pid = PROBES_EVERY_PROCESS,
		.fd = fd,
		.probes = &probe,
		.n = 1,
	};
	struct probes_failed failed = { 0 };
	uint32_t id;

	for (enum probes_program p = 0; p < PROBES_PROGRAMS; p++)
		target.programs[p] = p == PROBES_ENTRY ? collector->program : -1;
	return probe_attacher_attach(m->attacher, &target, &id, &failed)
		       ?: failed.n ? -EOPNOTSUPP
				   : 0;
}

int moments_attach(struct moments *m, const struct call_options *o,
		   const struct collector_moments *collector, uint64_t *cpu_ns_sum,
		   char **reterr_text)
{
	uint32_t at = 0;
	int r = probe_attacher_new(cpu_ns_sum, &m->attacher);

	for (; r == 0 && at < m->n; at++)
		r = moments_announce(&m->places[at], at, collector->points_fd)
			    ?: moments_attach_one(m, at, o->files.fds[at], collector);
	if (r == 0)
		return 0;
	return text_error(r, reterr_text, "cannot put a probe at %s: %s",
			  at > 0 ? m->places[at - 1].plan.name : "any point",
			  at > 0 && m->places[at - 1].at.semaphore
				  ? "the semaphore of a static probe could not be "
				    "incremented"
				  : strerror(-r));
}

void moments_detach(struct moments *m)
{
	if (m)
		m->attacher = probe_attacher_free(m->attacher);
}
