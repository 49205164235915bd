/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/reach-stacks.h"

#include <sys/uio.h>

enum {
	RED_ZONE = 128,   /* used bytes below the stack pointer */
	HEAD_WORDS = 256, /* of glibc's description of a thread, with its stack */
};

static bool reach_stacks_is_in(uint64_t address, const struct root *root)
{
	return address >= root->from && address < root->to;
}

bool reach_stacks_has_thread(const struct reach_stacks *s, const struct root *root)
{
	for (size_t i = 0; i < s->n_threads; i++)
		if (reach_stacks_is_in(s->threads[i].sp, root) ||
		    reach_stacks_is_in(s->threads[i].tls, root))
			return true;
	return false;
}

/*
 * Whether glibc's description of a thread is at TLS, with a stack that glibc has mapped up from the
 * guard GUARD. The description begins with its own address, and repeats it in the third word. Three
 * neighbouring words in it are the begin and the size of the stack, with its guard, and the size of
 * the guard, which is 0 for a stack that the program has provided. Their place depends on the
 * version.
 */
static bool reach_stacks_has_head(pid_t task, uint64_t tls, const struct root *guard)
{
	uint64_t head[HEAD_WORDS] = { 0 };
	const struct iovec to = { head, sizeof(head) };
	const struct iovec from = { (void *)(uintptr_t)tls, sizeof(head) };

	if (process_vm_readv(task, &to, 1, &from, 1, 0) != sizeof(head) || head[0] != tls ||
	    head[2] != tls)
		return false;
	for (size_t i = 3; i + 2 < HEAD_WORDS; i++)
		if (head[i + 2] > 0 && head[i] >= guard->from && head[i] < guard->to &&
		    head[i] + head[i + 2] == guard->to && head[i + 1] > tls - head[i])
			return true;
	return false;
}

/*
 * The end of the stack of an ended thread at the beginning of root I; 0 = there is none. A stack
 * that the program has provided can have memory without permissions below it, too, but the program
 * can use it for other purposes later.
 */
static uint64_t reach_stacks_ended(const struct reach_stacks *s, const struct root *roots, size_t i)
{
	const struct root *root = &roots[i];
	uint64_t tls = UINT64_MAX;

	if (!root->is_anonymous || i == 0 || !roots[i - 1].is_guard ||
	    roots[i - 1].to != root->from || reach_stacks_has_thread(s, root))
		return 0;
	for (size_t j = 0; j < s->n_ended; j++)
		if (reach_stacks_is_in(s->ended[j], root) && s->ended[j] < tls)
			tls = s->ended[j];
	return tls != UINT64_MAX && reach_stacks_has_head(s->task, tls, &roots[i - 1])
		       ? tls & ~UINT64_C(7)
		       : 0;
}

/* The only thread whose stack pointer is in ROOT, or NULL. */
static const struct rec_registers *reach_stacks_thread_of(const struct reach_stacks *s,
							  const struct root *root)
{
	const struct rec_registers *found = NULL;

	for (size_t i = 0; i < s->n_threads; i++) {
		if (!reach_stacks_is_in(s->threads[i].sp, root))
			continue;
		if (found)
			return NULL;
		found = &s->threads[i];
	}
	return found;
}

uint64_t reach_stacks_begin(const struct reach_stacks *s, const struct root *roots, size_t i)
{
	const struct root *root = &roots[i];
	const struct rec_registers *t = reach_stacks_thread_of(s, root);
	uint64_t ended = reach_stacks_ended(s, roots, i);

	if (ended)
		return ended;
	if (!t || t->running || t->sp - root->from < RED_ZONE ||
	    !(root->is_stack || (root->is_anonymous && t->tls >= t->sp && t->tls < root->to)))
		return root->from;
	return (t->sp - RED_ZONE) & ~UINT64_C(7);
}
