/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks kernel objects of processes and threads. They can be anywhere in an archive, and the last
 * one for a process or thread counts, so only the end shows whether one is missing.
 */
#include "reader/fxt/fxt-lint-state.h"
#include "reader/fxt/fxt-object.h"

static uint64_t fxt_lint_hash_text(const struct fxt_text *t)
{
	return t->bytes ? table_hash(t->bytes, t->length) : 0;
}

static struct fxt_lint_process *fxt_lint_names_get_process(struct fxt_lint *l, uint64_t koid)
{
	struct fxt_lint_process *p = NULL;

	if (koid != 0)
		p = fxt_lint_get(l, &l->processes, koid, sizeof(*p), FXT_LINT_THREADS_MAX);
	if (p)
		p->koid = koid;
	return p;
}

static void fxt_lint_names_check_thread(struct fxt_lint *l, const struct fxt_record *r)
{
	struct fxt_lint_process *p;
	struct fxt_lint_thread *t;

	if (r->kernel_object.koid == 0 || !l->findings.facts.has_process)
		return;
	t = fxt_lint_get(l, &l->threads, r->kernel_object.koid, sizeof(*t), FXT_LINT_THREADS_MAX);
	if (!t)
		return;
	t->tid = r->kernel_object.koid;
	/* A known name that replaces an unknown one is not reported as a change. */
	if (t->unknown)
		t->named = false;
	t->unknown = fxt_object_is_unknown(r);
	if (t->named && t->process != l->findings.facts.process)
		fxt_lint_find(l, FXT_FINDING_TID_REUSED, l->here, t->tid,
			      l->findings.facts.process);
	else if (t->named && t->name != fxt_lint_hash_text(&r->name))
		fxt_lint_find(l, FXT_FINDING_RENAMED, l->here, t->tid, 0);
	t->named = true;
	t->name = fxt_lint_hash_text(&r->name);
	t->process = l->findings.facts.process;
	p = fxt_lint_names_get_process(l, t->process);
	if (p && p->first.number == 0)
		p->first = l->here;
}

void fxt_lint_object(struct fxt_lint *l, const struct fxt_record *r)
{
	struct fxt_lint_process *p;

	switch (r->kernel_object.type) {
	case FXT_OBJECT_PROCESS:
		p = fxt_lint_names_get_process(l, r->kernel_object.koid);
		if (p)
			p->named = true;
		break;
	case FXT_OBJECT_THREAD:
		fxt_lint_names_check_thread(l, r);
		break;
	default:
		break;
	}
}

void fxt_lint_names_finish(struct fxt_lint *l)
{
	const struct fxt_lint_process *p;
	const struct fxt_lint_thread *t;
	const struct fxt_lint_track *k;

	for (size_t pos = 0; (t = table_next(&l->threads, &pos));)
		if (t->scheduled && !t->named)
			fxt_lint_find(l, FXT_FINDING_THREAD_UNNAMED, t->first, t->tid, 0);
	for (size_t pos = 0; (p = table_next(&l->processes, &pos));)
		if (!p->named)
			fxt_lint_find(l, FXT_FINDING_PROCESS_UNNAMED, p->first, p->koid, 0);
	for (size_t pos = 0; (k = table_next(&l->tracks, &pos));) {
		t = table_get(&l->threads, k->tid);
		if (!t || !t->named)
			fxt_lint_find(l, FXT_FINDING_EVENT_THREAD_UNNAMED, k->first, k->tid, 0);
		else if (t->process != k->pid)
			fxt_lint_find(l, FXT_FINDING_THREAD_PROCESSES, k->first, k->tid, k->pid);
	}
}
