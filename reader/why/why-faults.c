/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/why-faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void why_faults_deinit(struct why_faults *f)
{
	free(f->list);
	text_set_deinit(&f->files);
	*f = (struct why_faults){ 0 };
}

static const struct call_value *why_faults_arg(const struct event *ev, const char *name,
					       enum call_value_form form)
{
	for (size_t i = 0; i < ev->tracepoint.n_args; i++)
		if (ev->tracepoint.args[i].form == form &&
		    strcmp(ev->tracepoint.args[i].name, name) == 0)
			return &ev->tracepoint.args[i];
	return NULL;
}

static bool why_faults_has(const struct event *ev, const char *name)
{
	const struct call_value *v = why_faults_arg(ev, name, CALL_VALUE_BOOL);

	return v && v->yes;
}

int why_faults_add(struct why_faults *f, const struct event *ev)
{
	const struct call_value *file;
	const char *text = NULL;

	if (ev->kind != EVENT_TRACEPOINT || strcmp(ev->tracepoint.name, "kymo:page_fault") != 0 ||
	    !why_faults_has(ev, "major"))
		return 0;
	if (f->n == WHY_FAULTS_MAX) {
		f->n_dropped++;
		return 0;
	}
	file = why_faults_has(ev, "mapped") ? why_faults_arg(ev, "file", CALL_VALUE_TEXT) : NULL;
	if (file) {
		text = text_set_keep(&f->files, file->text);
		if (!text)
			return -ENOMEM;
	}
	if (GROW(f->list, f->room, f->n + 1) < 0)
		return -ENOMEM;
	f->list[f->n++] = (struct why_fault){ .tid = ev->tid, .at_ns = ev->ts_ns, .file = text };
	return 0;
}

DEFINE_ORDER(why_faults_order, struct why_fault,
	     COMPARE(x->tid, y->tid) ?: COMPARE(x->at_ns, y->at_ns))

void why_faults_finish(struct why_faults *f)
{
	SORT(f->list, f->n, why_faults_order);
}

/* The index of the first fault of TID at FROM_NS or later, or else of the next thread's first
 * one. */
static size_t why_faults_seek(const struct why_faults *f, uint32_t tid, uint64_t from_ns)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct why_fault *x = &f->list[middle];

		if (x->tid < tid || (x->tid == tid && x->at_ns < from_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Counts a fault of FILE in SUMS, which has N elements. Files beyond WHY_FAULTS_FILES_MAX are not
 * counted. Returns the new number of elements. */
static size_t why_faults_count(struct why_faults_sum *sums, size_t n, const char *file)
{
	size_t i = 0;

	/* (equal texts of the set are one) */
	while (i < n && sums[i].file != file)
		i++;
	if (i == WHY_FAULTS_FILES_MAX)
		return n;
	if (i == n)
		sums[n++] = (struct why_faults_sum){ .file = file };
	sums[i].n_file++;
	return n;
}

bool why_faults_find(const struct why_faults *f, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
		     uint64_t max, struct why_faults_sum *ret)
{
	struct why_faults_sum sums[WHY_FAULTS_FILES_MAX], *most = NULL;
	size_t n = 0, from = why_faults_seek(f, tid, from_ns), i = from;

	for (; i < f->n && i - from < max && f->list[i].tid == tid && f->list[i].at_ns <= to_ns;
	     i++)
		n = why_faults_count(sums, n, f->list[i].file);
	if (i == from || f->n_dropped > 0)
		return false;
	for (size_t k = 0; k < n; k++)
		if (!most || sums[k].n_file > most->n_file)
			most = &sums[k];
	*ret = *most;
	ret->n = i - from;
	return true;
}
