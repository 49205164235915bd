/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/leaks-parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct leak_process *leaks_get_process(struct leaks *l, uint32_t pid)
{
	struct leak_process *p = table_make(&l->by_pid, (uint64_t)pid + 1, sizeof(*p));

	if (p && !p->task)
		*p = (struct leak_process){ .real_pid = pid, .task = "" };
	return p;
}

int leaks_on_task(struct leaks *l, const struct event *ev)
{
	struct leak_process *p;

	bool is_process = ev->task.is_process;

	if (!is_process && (ev->tid != ev->pid || ev->task.real_tid == 0))
		return 0;
	p = leaks_get_process(l, ev->pid);
	if (!p)
		return -ENOMEM;
	if (is_process)
		p->task = leaks_keep_text(l, ev->task.comm);
	else
		p->real_pid = ev->task.real_tid;
	return p->task ? 0 : -ENOMEM;
}

static void leaks_push_name(struct leak_process *p, const struct leak_process_name *name)
{
	if (p->n_names == NAMES_MAX) {
		memmove(p->names, p->names + 1, (NAMES_MAX - 1) * sizeof(*p->names));
		p->n_names--;
	}
	p->names[p->n_names++] = *name;
}

int leaks_on_rename(struct leaks *l, const struct event *ev)
{
	struct leak_process *p = leaks_get_process(l, ev->pid);
	struct leak_process_name name = { ev->ts_ns, leaks_keep_text(l, ev->rename.to), "" };
	struct leak_process_name before = { 0, leaks_keep_text(l, ev->rename.from), "" };

	if (!p || !name.name || !before.name)
		return -ENOMEM;
	if (p->n_names == 0 && *before.name)
		leaks_push_name(p, &before);
	/* If an exec did not name its program, the name was the same as before, or was not
	 * recorded. */
	for (size_t i = p->n_names; i-- > 0 && !*p->names[i].name;)
		p->names[i].name = before.name;
	name.program = p->n_names ? p->names[p->n_names - 1].program : "";
	leaks_push_name(p, &name);
	return 0;
}

/* Notes the name of a new program. The kernel has set this name shortly before the exec event. */
int leaks_on_exec(struct leaks *l, const struct event *ev)
{
	struct leak_process *p = leaks_get_process(l, ev->pid);
	const char *slash = strrchr(ev->exec.file, '/');
	struct leak_process_name name = { ev->ts_ns, "", leaks_keep_text(l, ev->exec.file) };
	struct leak_process_name *last;

	if (!p || !name.program)
		return -ENOMEM;
	if (p->watch && p->watch->open)
		p->watch->ran_other = true;
	if (p->execed_ns == 0 || ev->ts_ns < p->execed_ns)
		p->execed_ns = ev->ts_ns;
	last = p->n_names ? &p->names[p->n_names - 1] : NULL;
	if (last && *last->name &&
	    strncmp(slash ? slash + 1 : ev->exec.file, last->name, strlen(last->name)) == 0) {
		last->ts_ns = ev->ts_ns;
		last->program = name.program;
		return 0;
	}
	name.name = last ? last->name : "";
	leaks_push_name(p, &name);
	return 0;
}

/* Notes the name of a child, which is the name of its parent. */
int leaks_on_fork(struct leaks *l, const struct event *ev)
{
	const struct leak_process *parent = table_get(&l->by_pid, (uint64_t)ev->pid + 1);
	struct leak_process *child;

	if (ev->fork.child_pid == ev->pid)
		return 0;
	child = leaks_get_process(l, ev->fork.child_pid);
	if (!child)
		return -ENOMEM;
	child->forked_ns = ev->ts_ns;
	if (parent && parent->n_names > 0)
		leaks_push_name(child, &parent->names[parent->n_names - 1]);
	return 0;
}

uint64_t leaks_fork_of(const struct leaks *l, const struct leak_watch *w)
{
	const struct leak_process *p = table_get(&l->by_pid, (uint64_t)w->pid + 1);

	return p->forked_ns <= w->begin_ns && (p->execed_ns == 0 || p->execed_ns > w->begin_ns)
		       ? p->forked_ns
		       : 0;
}

void leaks_name_watch(const struct leaks *l, struct leak_watch *w)
{
	const struct leak_process *p = table_get(&l->by_pid, (uint64_t)w->pid + 1);
	bool execs = strcmp(w->reason, "exec") == 0, exits = strcmp(w->reason, "exit") == 0;

	w->real_pid = p->real_pid;
	w->name = w->program = "";
	for (size_t i = 0; i < p->n_names; i++) {
		/*
		 * (a process that was not checked before its exit can have a last exec after the
		 * end of its watch)
		 */
		if ((p->names[i].ts_ns > w->end_ns && !exits) ||
		    (execs && p->names[i].ts_ns == w->end_ns))
			continue;
		w->name = p->names[i].name;
		w->program = p->names[i].program;
	}
	if (!*w->name)
		w->name = p->task;
}
