/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-pythons.h"

/*
 * If an eBPF program has noted that a walk has passed the interpreter in file NUMBER, notes this
 * for the version of the interpreter.
 */
static void unwind_pythons_take(struct unwind_pythons *p, const struct unwind_file *files,
				uint32_t number)
{
	if (p->of_file[number] > 0 &&
	    __atomic_load_n(&files[number].python.passed, __ATOMIC_RELAXED))
		p->versions[p->of_file[number] - 1].is_passed = true;
}

void unwind_pythons_collect(struct unwind_pythons *p, const struct unwind_file *files,
			    uint32_t number)
{
	unwind_pythons_take(p, files, number);
	p->of_file[number] = 0;
}

void unwind_pythons_add(struct unwind_pythons *p, uint32_t number, uint32_t version)
{
	unsigned at = 0;

	while (at < p->n && p->versions[at].version != version)
		at++;
	if (at == UNWIND_PYTHONS_MAX)
		return;
	if (at == p->n)
		p->versions[p->n++].version = version;
	p->of_file[number] = (uint8_t)(at + 1);
}

unsigned unwind_pythons_list(struct unwind_pythons *p, const struct unwind_file *files,
			     uint32_t *versions, unsigned max)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < UNWIND_FILES_MAX; i++)
		unwind_pythons_take(p, files, i);
	for (unsigned i = 0; i < p->n && n < max; i++)
		if (p->versions[i].is_passed)
			versions[n++] = p->versions[i].version;
	return n;
}
