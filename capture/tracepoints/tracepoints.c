/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/tracepoints/tracepoints.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/text.h"
#include "capture/options/tracepoint-own.h"
#include "capture/perf/perf-event.h"
#include "capture/perf/tracefs.h"

/* A search for the tracepoints of a specification. */
struct finder {
	struct tracepoints *t;
	int dir;
	const char *text; /* the specification, as the user wrote it */
	struct tracepoint_spec spec;
	size_t n; /* number of tracepoints that were found */
	char **reterr_text;
	char why[VALUE_WHY_MAX]; /* the last reason why a tracepoint cannot have the condition */
};

/* ---- search ---- */

static bool tracepoints_match(const char *pattern, const char *name)
{
	return fnmatch(pattern, name, 0) == 0;
}

/* Returns true if patterns do not match SYSTEM: eBPF programs cannot be attached to its events. */
static bool tracepoints_is_internal(const char *system)
{
	return strcmp(system, "ftrace") == 0;
}

static const struct tracepoint *tracepoints_find(const struct tracepoints *t, const char *system,
						 const char *name)
{
	size_t n = strlen(system);

	for (size_t i = 0; i < t->n; i++)
		if (strncmp(t->list[i].name, system, n) == 0 && t->list[i].name[n] == ':' &&
		    strcmp(t->list[i].name + n + 1, name) == 0)
			return &t->list[i];
	return NULL;
}

/*
 * Reads the format of tracepoint NAME of SYSTEM. OWN is the tracepoint if it is kymo's own; NULL =
 * it is the kernel's.
 */
static int tracepoints_read_format(struct finder *k, const char *system, const char *name,
				   const struct tracepoint_own *own, struct tracepoint_format *ret,
				   struct tracepoint_symbols *ret_symbols)
{
	*ret_symbols = (struct tracepoint_symbols){ 0 };
	return own ? tracepoint_format_parse(own->format, strlen(own->format), ret)
		   : tracepoint_format_read(k->dir, system, name, ret, ret_symbols);
}

/* Adds tracepoint NAME of SYSTEM, which exists. OWN is as in tracepoints_read_format(). */
static int tracepoints_add(struct finder *k, const char *system, const char *name,
			   const struct tracepoint_own *own)
{
	struct tracepoints *t = k->t;
	_cleanup_(tracepoint_symbols_deinit) struct tracepoint_symbols symbols = { 0 };
	_cleanup_free_ struct tracepoint_format *format = calloc(1, sizeof(*format));
	const struct tracepoint *known = tracepoints_find(t, system, name);
	int r;

	if (!format)
		return -ENOMEM;
	if (known && (known->layout.n_conditions || k->spec.n_conditions))
		return text_error(-EINVAL, k->reterr_text,
				  "%s is selected twice, and with a condition", known->name);
	if (known) {
		k->n++;
		return 0;
	}
	if (t->n == TRACEPOINTS_MAX)
		return text_error(-E2BIG, k->reterr_text,
				  "'%s' selects too many tracepoints: at most %d are "
				  "possible",
				  k->text, TRACEPOINTS_MAX);
	r = tracepoints_read_format(k, system, name, own, format, &symbols);
	if (r < 0)
		return text_error(r, k->reterr_text, "cannot read the format of %s:%s: %s", system,
				  name,
				  r == -EBADMSG ? "kymo does not know this format" : strerror(-r));
	r = tracepoint_init(&t->list[t->n], format, system, &k->spec, k->why);
	if (r == 0) {
		t->list[t->n].reasons = symbols;
		symbols = (struct tracepoint_symbols){ 0 };
		t->list[t->n].is_own = own != NULL;
		t->list[t->n].own = own ? (unsigned)(own - tracepoint_own) : 0;
		t->n++;
		k->n++;
		return 0;
	}
	tracepoint_deinit(&t->list[t->n]);
	/*
	 * With a pattern, tracepoints without the field of the condition are left out, since others
	 * can have the field.
	 */
	return r == -EINVAL && tracepoint_spec_is_pattern(&k->spec) ? 0 : r;
}

static int tracepoints_search_system(struct finder *k, const char *system)
{
	_cleanup_(tracefs_names_deinit) struct tracefs_names names = { 0 };
	int r = tracefs_list(k->dir, system, &names);

	for (size_t i = 0; r == 0 && i < names.n; i++)
		if (tracepoints_match(k->spec.name, names.list[i]))
			r = tracepoints_add(k, system, names.list[i], NULL);
	return r;
}

static int tracepoints_search_own(struct finder *k)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < TRACEPOINT_OWN_MAX; i++) {
		const struct tracepoint_own *own = &tracepoint_own[i];

		if (tracepoints_match(k->spec.name, own->name) &&
		    (!own->needs || tracefs_has(k->dir, own->needs)))
			r = tracepoints_add(k, TRACEPOINT_OWN_SYSTEM, own->name, own);
	}
	return r;
}

/* ---- errors ---- */

/* Tries all names of SYSTEM, as SYSTEM:NAME. The nearest one is copied to NEAREST. */
static void tracepoints_try_system(struct finder *k, const char *system, struct value_nearest *near,
				   char *nearest, size_t room)
{
	_cleanup_(tracefs_names_deinit) struct tracefs_names names = { 0 };
	char name[2 * NAME_MAX + 2];

	if (tracefs_list(k->dir, system, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		snprintf(name, sizeof(name), "%s:%s", system, names.list[i]);
		/* (the nearest name must outlive this list) */
		if (value_nearest_try(near, name))
			snprintf(nearest, room, "%s", name);
	}
}

static int tracepoints_refuse_unknown(struct finder *k, const struct tracefs_names *systems)
{
	char wanted[2 * TRACEPOINT_NAME_MAX], nearest[2 * NAME_MAX + 2] = "";
	char own[sizeof(TRACEPOINT_OWN_SYSTEM) + TRACEPOINT_NAME_MAX];
	struct value_nearest near = { .text = wanted, .distance = VALUE_NEAR };

	if (k->spec.preset)
		return text_error(-ENOENT, k->reterr_text, "this kernel has no tracepoint of '%s'",
				  k->spec.preset->name);
	snprintf(wanted, sizeof(wanted), "%s:%s", k->spec.system, k->spec.name);
	if (tracepoint_spec_is_pattern(&k->spec))
		return text_error(-ENOENT, k->reterr_text,
				  "no tracepoint of this kernel matches '%s'", wanted);
	for (size_t i = 0; i < systems->n; i++)
		tracepoints_try_system(k, systems->list[i], &near, nearest, sizeof(nearest));
	for (unsigned i = 0; i < TRACEPOINT_OWN_MAX; i++) {
		snprintf(own, sizeof(own), TRACEPOINT_OWN_SYSTEM ":%s", tracepoint_own[i].name);
		if (value_nearest_try(&near, own))
			snprintf(nearest, sizeof(nearest), "%s", own);
	}
	if (*nearest)
		return text_error(-ENOENT, k->reterr_text,
				  "this kernel has no tracepoint '%s'; did you mean '%s'?", wanted,
				  nearest);
	return text_error(-ENOENT, k->reterr_text,
			  "this kernel has no tracepoint '%s' (a module must be loaded "
			  "before the recording)",
			  wanted);
}

static int tracepoints_search_names(struct finder *k, const struct tracefs_names *systems)
{
	bool pattern = strpbrk(k->spec.system, "*?") != NULL;
	int r = 0;

	if (strcmp(k->spec.system, TRACEPOINT_OWN_SYSTEM) == 0)
		return tracepoints_search_own(k);
	for (size_t i = 0; r == 0 && i < systems->n; i++)
		if (tracepoints_match(k->spec.system, systems->list[i]) &&
		    !(pattern && tracepoints_is_internal(systems->list[i])))
			r = tracepoints_search_system(k, systems->list[i]);
	return r;
}

/* Adds the tracepoints of a preset. Tracepoints that this kernel lacks are left out. */
static int tracepoints_search_preset(struct finder *k, const struct tracefs_names *systems)
{
	const char *const *member = k->spec.preset->members;
	int r = 0;

	for (; r == 0 && *member; member++) {
		int n = (int)strcspn(*member, ":");

		snprintf(k->spec.system, sizeof(k->spec.system), "%.*s", n, *member);
		snprintf(k->spec.name, sizeof(k->spec.name), "%s", *member + n + 1);
		r = tracepoints_search_names(k, systems);
	}
	return r;
}

static int tracepoints_search(struct finder *k, const struct tracefs_names *systems)
{
	int r = k->spec.preset ? tracepoints_search_preset(k, systems)
			       : tracepoints_search_names(k, systems);

	if (*k->why && (r == -EINVAL || (r == 0 && k->n == 0)) && !*k->reterr_text)
		return text_error(-EINVAL, k->reterr_text, "%s", k->why);
	if (r == 0 && k->n == 0)
		return tracepoints_refuse_unknown(k, systems);
	return r;
}

static int tracepoints_refuse_tracefs(int error, char **reterr_text)
{
	return text_error(error, reterr_text, "cannot find tracepoints: %s",
			  error == -ENOENT ? "tracefs is unavailable; mount it at "
					     "/sys/kernel/tracing, or use a kernel with "
					     "CONFIG_EVENT_TRACING"
					   : strerror(-error));
}

/* ---- life ---- */

int tracepoints_new(const struct session_options *o, struct tracepoints **ret, char **reterr_text)
{
	_cleanup_(tracefs_names_deinit) struct tracefs_names systems = { 0 };
	_cleanup_(tracepoints_freep) struct tracepoints *t = calloc(1, sizeof(*t));
	_cleanup_close_ int dir = tracefs_open();
	int r = dir < 0 ? dir : tracefs_list(dir, ".", &systems);

	*reterr_text = NULL;
	if (!t)
		return -ENOMEM;
	if (r < 0)
		return tracepoints_refuse_tracefs(r, reterr_text);
	t->list = calloc(TRACEPOINTS_MAX + 1, sizeof(*t->list));
	t->attachments = calloc(TRACEPOINTS_MAX, sizeof(*t->attachments));
	if (!t->list || !t->attachments)
		return -ENOMEM;
	for (size_t i = 0; i < TRACEPOINTS_MAX; i++)
		t->attachments[i] = (struct tracepoint_attachment){ -1, -1 };
	for (size_t i = 0; r == 0 && i < o->tracepoints.n_specs; i++) {
		struct finder k = {
			.t = t,
			.dir = dir,
			.text = o->tracepoints.specs[i],
			.reterr_text = reterr_text,
		};

		r = tracepoint_spec_parse(k.text, &k.spec, k.why);
		if (r < 0)
			return text_error(r, reterr_text, "%s", k.why);
		r = tracepoints_search(&k, &systems);
	}
	if (r == 0)
		*ret = TAKE_PTR(t);
	return r;
}

struct tracepoints *tracepoints_free(struct tracepoints *t)
{
	if (!t)
		return NULL;
	if (t->attachments)
		tracepoints_release(t);
	for (size_t i = 0; i < t->n; i++)
		tracepoint_deinit(&t->list[i]);
	free(t->list);
	free(t->attachments);
	return free_ptr(t);
}

/* ---- attachments ---- */

static int tracepoints_attach_one(struct tracepoints *t, uint32_t i, struct collector *c,
				  char **reterr_text)
{
	struct collector_tracepoints tables = collector_tracepoint_tables(c);
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = i);
	struct tracepoint_attachment *to = &t->attachments[i];

	if (bpf_map_update_elem(tables.layouts_fd, &i, &t->list[i].layout, BPF_ANY) < 0)
		return -errno;
	if (t->list[i].is_own)
		return collector_attach_own(c, t->list[i].own, i, reterr_text);
	to->event = perf_event_open_tracepoint(t->list[i].id);
	if (to->event < 0)
		return to->event;
	to->link = bpf_link_create(tables.program, to->event, BPF_PERF_EVENT, &opts);
	return to->link < 0 ? -errno : 0;
}

int tracepoints_attach(struct tracepoints *t, struct collector *collector, char **reterr_text)
{
	int r = 0;

	*reterr_text = NULL;
	for (uint32_t i = 0; r == 0 && i < t->n; i++) {
		r = tracepoints_attach_one(t, i, collector, reterr_text);
		if (r < 0 && !*reterr_text)
			text_error(r, reterr_text, "cannot attach to tracepoint %s: %s",
				   t->list[i].name,
				   r == -EINVAL ? "the kernel does not support eBPF "
						  "programs for it"
						: strerror(-r));
	}
	if (r < 0)
		tracepoints_release(t);
	return r;
}

static void tracepoints_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void tracepoints_detach(struct tracepoints *t)
{
	for (size_t i = 0; t && i < t->n; i++)
		tracepoints_close(&t->attachments[i].link);
}

void tracepoints_release(struct tracepoints *t)
{
	tracepoints_detach(t);
	for (size_t i = 0; t && i < t->n; i++)
		tracepoints_close(&t->attachments[i].event);
}
