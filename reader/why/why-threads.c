/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/why-threads.h"

#include <string.h>

#include "model/koids.h"
#include "model/maps.h"

bool why_thread_is_kernel(const struct summary *s, uint32_t koid)
{
	const struct summary_thread *t = koid != 0 ? table_get(&s->threads, koid) : NULL;

	return t && maps_is_kthreadd(t->pid);
}

static bool why_thread_begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

/* The role of a task's koid, by its process and its name. */
static enum why_role why_thread_role_by_name(const struct summary *s, uint32_t koid)
{
	static const struct {
		uint32_t pid; /* of the first machine */
		const char *name;
		enum why_role role;
	} rows[] = {
		{ FXT_KOID_KTHREADD, "ksoftirqd/", WHY_ROLE_SOFTIRQS },
		{ FXT_KOID_KTHREADD, "ktimers/", WHY_ROLE_SOFTIRQS },
		{ FXT_KOID_IRQ, "irq cpu ", WHY_ROLE_INTERRUPT },
		{ FXT_KOID_SOFTIRQ, "softirq cpu ", WHY_ROLE_INTERRUPT },
		{ FXT_KOID_OTHER, "other cpu ", WHY_ROLE_OTHER },
	};
	const struct summary_thread *t = table_get(&s->threads, koid);

	for (size_t i = 0; t && t->name && i < ARRAY_SIZE(rows); i++)
		if (fxt_koid_tid(t->pid) == fxt_koid_tid(rows[i].pid) &&
		    why_thread_begins(t->name, rows[i].name))
			return rows[i].role;
	return WHY_ROLE_TASK;
}

enum why_role why_thread_role(const struct summary *s, uint32_t koid)
{
	if (fxt_koid_is_task(koid))
		return why_thread_role_by_name(s, koid);
	if (fxt_koid_is_other(koid))
		return WHY_ROLE_OTHER;
	if (koid - FXT_KOID_IRQ - 1 <= 0xffff || koid - FXT_KOID_SOFTIRQ - 1 <= 0xffff)
		return WHY_ROLE_INTERRUPT;
	return WHY_ROLE_PSEUDO;
}
