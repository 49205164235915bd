/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of options that depend on other options, for the command line, the bus and collections.
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "capture/options/option-table.h"

struct checker {
	const struct session_options *o;
	uint32_t categories;
	bool chosen; /* processes are selected */
	option_complaint_fn complain;
	void *userdata;
	size_t n;
};

static void option_check_complain(struct checker *k, const struct option_row *row, const char *why)
{
	k->n++;
	if (k->complain)
		k->complain(row, why, k->userdata);
}

/* Returns the row of the option at OFFSET. */
static const struct option_row *option_check_row_at(size_t offset)
{
	OPTION_FOR_EACH(row)
		if (row->offset == offset && row->type != OPTION_OVERHEAD &&
		    row->type != OPTION_TRIGGERS)
			return row;
	return NULL;
}

#define ROW_AT(member) option_check_row_at(offsetof(struct session_options, member))

static const char *option_check_name_of(const struct option_row *row)
{
	return row->bus ?: row->key ?: row->trigger;
}

static bool option_check_needs_pressure(const struct session_options *o)
{
	const uint64_t *ppm = o->triggers.pressure_ppm;

	return ppm[0] || ppm[1] || ppm[2];
}

/*
 * Returns true if a category that ROW requires is recorded. Triggers on pressure sample the
 * counters, too.
 */
static bool option_check_has_category(const struct checker *k, const struct option_row *row)
{
	return !row->categories || row->categories & k->categories ||
	       (row->categories == CATEGORY_COUNTERS && option_check_needs_pressure(k->o));
}

/* Reports an option whose requirements are not met. */
static void option_check_row(struct checker *k, const struct option_row *row)
{
	const struct option_row *needed = row->needs ? option_check_row_at(row->needs) : NULL;
	char names[CATEGORIES_TEXT_MAX], why[VALUE_WHY_MAX];

	if (row->mode && row->mode != OPTION_IN(k->o->mode)) {
		snprintf(why, sizeof(why), "needs mode '%s'", session_mode_names[row->mode - 1]);
		option_check_complain(k, row, why);
	} else if (!option_check_has_category(k, row)) {
		snprintf(why, sizeof(why), "needs %s'%s' among the categories",
			 row->categories & (row->categories - 1) ? "one of " : "",
			 categories_format(names, row->categories));
		option_check_complain(k, row, why);
	} else if (needed && !option_is_set(needed, k->o)) {
		snprintf(why, sizeof(why), "needs '%s'", option_check_name_of(needed));
		option_check_complain(k, row, why);
	}
}

static void option_check_own(struct checker *k)
{
	if (!k->o->own)
		return;
	if (k->categories & CATEGORIES_NOT_OWN)
		option_check_complain(
			k, ROW_AT(own),
			"cannot be combined with irq, softirq, workqueue, power, block, "
			"counters and tracepoints: these concern the whole machine, not only your own processes");
	if (k->o->memory.triage)
		option_check_complain(
			k, ROW_AT(own),
			"cannot be combined with triage, which checks the processes of all "
			"users");
	if (option_check_needs_pressure(k->o))
		option_check_complain(
			k, ROW_AT(own),
			"cannot be combined with triggers on pressure, which concerns the "
			"whole machine");
}

/* Allocations are recorded only for selected processes, or for those that triage finds. */
static void option_check_chosen(struct checker *k)
{
	if (k->o->memory.triage && k->chosen)
		option_check_complain(
			k, ROW_AT(memory.triage),
			"cannot be combined with a filter or a command: it searches all "
			"processes for growing ones");
	if (k->categories & CATEGORIES_MEMORY && !k->chosen && !k->o->own && !k->o->memory.triage)
		option_check_complain(
			k, ROW_AT(categories),
			"only allocations of selected processes are recorded: add a filter by "
			"process, name, user, unit or cgroup");
}

static void option_check_calls(struct checker *k)
{
	if (k->categories & CATEGORY_WAKER_STACKS && !(k->categories & CATEGORY_OFFCPU))
		option_check_complain(k, ROW_AT(categories),
				      "'waker-stacks' needs the waits that the wakers end: add "
				      "'offcpu'");
	if (k->categories & CATEGORIES_CALLS && k->o->calls.n_specs == 0)
		option_check_complain(k, ROW_AT(categories),
				      "'calls' needs functions: specify each with --call");
	if (k->categories & CATEGORY_MOMENTS && k->o->moments.n_specs == 0)
		option_check_complain(k, ROW_AT(categories),
				      "'moments' needs points of programs: specify each with "
				      "--moment");
	if (k->categories & CATEGORY_TRACEPOINTS && k->o->tracepoints.n_specs == 0)
		option_check_complain(k, ROW_AT(categories),
				      "'tracepoints' needs names of tracepoints: specify each as "
				      "tp:SYSTEM:NAME");
}

size_t option_check(const struct session_options *o, unsigned flags, option_complaint_fn complain,
		    void *userdata)
{
	struct checker k = { .o = o, .complain = complain, .userdata = userdata };

	k.categories = o->categories ?: CATEGORIES_DEFAULT;
	k.chosen = flags & OPTION_CHECK_CHOSEN || capture_filter_is_set(&o->filter);
	OPTION_FOR_EACH(row)
		if ((flags & OPTION_CHECK_PROFILE || !option_is_of_profile(row)) &&
		    option_is_set(row, o))
			option_check_row(&k, row);
	option_check_own(&k);
	option_check_chosen(&k);
	option_check_calls(&k);
	return k.n;
}
