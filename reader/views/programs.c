/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

struct ended_program {
	uint64_t until_ns;
	const char *name; /* in the list of texts */
};

struct programs_process {
	/* The name before the last rename since the exec; owned; NULL = no rename since then. */
	char *renamed_from;
	char *renamed_to;            /* owned */
	struct ended_program *ended; /* owned; in order */
	uint32_t n_ended, room;
};

void programs_deinit(struct programs *p)
{
	struct programs_process *process;

	for (size_t pos = 0; (process = table_next(&p->by_pid, &pos));) {
		free(process->renamed_from);
		free(process->renamed_to);
		free(process->ended);
	}
	table_deinit_free(&p->by_pid);
	text_set_deinit(&p->texts);
	*p = (struct programs){ 0 };
}

static struct programs_process *programs_of(const struct programs *p, uint32_t pid)
{
	return table_get(&p->by_pid, (uint64_t)pid + 1);
}

static void programs_forget_rename(struct programs_process *process)
{
	process->renamed_from = free_ptr(process->renamed_from);
	process->renamed_to = free_ptr(process->renamed_to);
}

static int programs_on_rename(struct programs *p, const struct event *ev)
{
	struct programs_process *process;

	if (ev->tid != ev->pid)
		return 0;
	process = table_make(&p->by_pid, (uint64_t)ev->pid + 1, sizeof(*process));
	if (!process)
		return -ENOMEM;
	programs_forget_rename(process);
	process->renamed_from = strdup(ev->rename.from);
	process->renamed_to = strdup(ev->rename.to);
	return process->renamed_from && process->renamed_to ? 0 : -ENOMEM;
}

static int programs_on_exec(struct programs *p, const struct event *ev)
{
	struct programs_process *process = programs_of(p, ev->pid);
	struct ended_program ended = { .until_ns = ev->ts_ns };

	if (!process || !process->renamed_from || p->n >= PROGRAMS_MAX ||
	    strcmp(process->renamed_from, process->renamed_to) == 0)
		return 0;
	ended.name = text_set_keep(&p->texts, process->renamed_from);
	if (!ended.name || GROW(process->ended, process->room, process->n_ended + 1) < 0)
		return -ENOMEM;
	programs_forget_rename(process);
	/* (archives can be out of order) */
	if (process->n_ended > 0 && process->ended[process->n_ended - 1].until_ns > ended.until_ns)
		ended.until_ns = process->ended[process->n_ended - 1].until_ns;
	process->ended[process->n_ended++] = ended;
	p->n++;
	return 1;
}

int programs_add(struct programs *p, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_RENAME:
		return programs_on_rename(p, ev);
	case EVENT_EXEC:
		return programs_on_exec(p, ev);
	default:
		return 0;
	}
}

uint32_t programs_at(const struct programs *p, uint32_t pid, uint64_t ts_ns)
{
	const struct programs_process *process = programs_of(p, pid);
	uint32_t from = 0, to = process ? process->n_ended : 0;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (process->ended[middle].until_ns > ts_ns)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

uint32_t programs_last(const struct programs *p, uint32_t pid)
{
	const struct programs_process *process = programs_of(p, pid);

	return process ? process->n_ended : 0;
}

const char *programs_name(const struct programs *p, uint32_t pid, uint32_t number)
{
	const struct programs_process *process = programs_of(p, pid);

	return process && number < process->n_ended ? process->ended[number].name : NULL;
}
