/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/fxt/fxt-lint.h"

#include <errno.h>

#include "base/array.h"
#include "reader/fxt/fxt-lint-state.h"

int fxt_lint_new(struct fxt_lint **ret, fxt_lint_found_fn found, void *userdata)
{
	struct fxt_lint *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->found = found;
	l->userdata = userdata;
	l->reported_offset = UINT64_MAX;
	*ret = l;
	return 0;
}

struct fxt_lint *fxt_lint_free(struct fxt_lint *l)
{
	struct fxt_lint_track *track;

	if (!l)
		return NULL;
	for (size_t pos = 0; (track = table_next(&l->tracks, &pos));)
		free(track->stack);
	table_deinit_free(&l->tracks);
	table_deinit_free(&l->threads);
	table_deinit_free(&l->processes);
	table_deinit_free(&l->providers);
	table_deinit_free(&l->flows);
	table_deinit_free(&l->asyncs);
	table_deinit_free(&l->watches);
	table_deinit(&l->stacks);
	table_deinit(&l->modules);
	free(l->cpus);
	free(l->order.facts);
	free(l->order.spare);
	free(l->last);
	return free_ptr(l);
}

void *fxt_lint_get(struct fxt_lint *l, struct table *t, uint64_t key, size_t size, size_t max)
{
	void *value = table_get(t, key);

	if (value || t->n_used >= max)
		return value;
	value = table_make(t, key, size);
	if (!value)
		l->error = -ENOMEM;
	return value;
}

/* Keeps F: at the end, findings are reported in the order of the file. */
static void fxt_lint_keep(struct fxt_lint *l, const struct fxt_finding *f)
{
	if (GROW(l->last, l->last_room, l->n_last + 1) < 0) {
		l->error = -ENOMEM;
		return;
	}
	l->last[l->n_last++] = *f;
}

static void fxt_lint_emit(struct fxt_lint *l, const struct fxt_finding *f)
{
	if (l->finishing)
		fxt_lint_keep(l, f);
	else
		l->found(l->userdata, f);
}

void fxt_lint_find(struct fxt_lint *l, enum fxt_finding_id id, struct fxt_lint_place place,
		   uint64_t a, uint64_t b)
{
	fxt_lint_emit(l, &(struct fxt_finding){ id, place.offset, place.number, NULL, { a, b } });
}

static bool fxt_lint_is_defined(const struct fxt_provider *p, enum fxt_finding_id id, uint64_t ref)
{
	if (id == FXT_FINDING_STRING_UNDEFINED)
		return fxt_provider_string(p, (unsigned)ref).bytes;
	return ref <= FXT_THREAD_INDEX_MAX && p->threads[ref].defined;
}

/* Returns a text if another provider has defined what R refers to without a definition; NULL =
 * no. */
static const char *fxt_lint_provider_of(const struct fxt_lint *l, const struct fxt_record *r,
					const struct fxt_finding *f)
{
	const struct fxt_lint_provider *p;

	for (size_t pos = 0; (p = table_next(&l->providers, &pos));)
		if (p->tables && p->tables != r->provider &&
		    fxt_lint_is_defined(p->tables, f->id, f->value[0]))
			return "another provider registered it";
	return NULL;
}

int fxt_lint_record(struct fxt_lint *l, const struct fxt_record *r)
{
	struct fxt_findings *f = &l->findings;

	l->here.offset = r->offset;
	l->here.number++;
	fxt_check_record(r, f);
	fxt_lint_frame(l, r);
	for (unsigned i = 0; i < f->n; i++) {
		f->list[i].offset = l->here.offset;
		f->list[i].number = l->here.number;
		if (f->list[i].id == FXT_FINDING_STRING_UNDEFINED ||
		    f->list[i].id == FXT_FINDING_THREAD_UNDEFINED)
			f->list[i].what = fxt_lint_provider_of(l, r, &f->list[i]);
		if (fxt_finding_kinds[f->list[i].id].severity == FXT_SEVERITY_ERROR)
			l->reported_offset = r->offset;
		fxt_lint_emit(l, &f->list[i]);
	}
	fxt_lint_memory(l, r);
	switch (r->type) {
	case FXT_RECORD_SCHEDULING:
		fxt_lint_sched(l, r);
		break;
	case FXT_RECORD_EVENT:
		fxt_lint_event(l, r);
		break;
	case FXT_RECORD_KERNEL_OBJECT:
		fxt_lint_object(l, r);
		break;
	default:
		break;
	}
	return l->error ? l->error : f->n_errors == 0;
}

void fxt_lint_damage(struct fxt_lint *l, const struct fxt_damage *damage)
{
	/* Damage of 0 bytes in the last record with an error was already reported by
	 * fxt_check_record() or fxt_lint_frame(). */
	if (damage->bytes == 0 && damage->offset == l->reported_offset)
		return;
	fxt_lint_emit(l, &(struct fxt_finding){
				 damage->truncated ? FXT_FINDING_TRUNCATED : FXT_FINDING_DAMAGE,
				 damage->offset,
				 0,
				 damage->what,
				 { damage->bytes },
			 });
}

DEFINE_ORDER(compare_findings, struct fxt_finding,
	     COMPARE(x->offset, y->offset) ?: COMPARE(x->id, y->id))

int fxt_lint_finish(struct fxt_lint *l)
{
	fxt_lint_order_finish(l);
	l->finishing = true;
	fxt_lint_frame_finish(l);
	fxt_lint_memory_finish(l);
	fxt_lint_sched_finish(l);
	fxt_lint_slices_finish(l);
	fxt_lint_spans_finish(l);
	fxt_lint_names_finish(l);
	l->finishing = false;
	SORT(l->last, l->n_last, compare_findings);
	for (size_t i = 0; i < l->n_last; i++)
		fxt_lint_emit(l, &l->last[i]);
	return l->error;
}

uint64_t fxt_lint_not_judged(const struct fxt_lint *l)
{
	return l->n_not_judged;
}
