/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/reach-stacks.h"

#include <sys/uio.h>

#include "base/array.h"

enum {
	RED_ZONE = 128, /* number of bytes below the stack pointer that are in use */
	/* Number of words of glibc's description of a thread that are searched for its stack. */
	HEAD_WORDS = 256,
};

/* The words of a description: the stack with its guard, and the size of the guard. */
struct stack {
	uint64_t from, bytes, guard_bytes;
};

struct stacks_search {
	const struct reach_stacks *stacks;
	const struct root *roots;
	size_t n_roots;
	struct outbuf *unused;
};

static bool reach_stacks_is_in(uint64_t address, const struct root *root)
{
	return address >= root->from && address < root->to;
}

/* Returns the root with ADDRESS, or NULL. */
static const struct root *reach_stacks_root_of(const struct stacks_search *s, uint64_t address)
{
	size_t i = ARRAY_FIRST(j, 0, s->n_roots, s->roots[j].to > address);

	return i < s->n_roots && s->roots[i].from <= address ? &s->roots[i] : NULL;
}

/*
 * Returns true if STACK, from the description at TLS, is in ROOT, and its guard is in ROOT or in
 * the memory without permissions below it. If the program has provided a stack, the size of its
 * guard is 0.
 */
static bool reach_stacks_fits(const struct stacks_search *s, const struct root *root, uint64_t tls,
			      const struct stack *stack)
{
	const struct root *below = root > s->roots ? root - 1 : NULL;
	uint64_t from = stack->from + stack->guard_bytes;

	if (stack->from > tls || stack->bytes <= tls - stack->from ||
	    stack->bytes > root->to - stack->from || stack->guard_bytes > tls - stack->from)
		return false;
	return stack->from >= root->from || (from == root->from && below && below->is_guard &&
					     below->to == root->from && stack->from >= below->from);
}

/*
 * Finds the stack in glibc's description of a thread at TLS. The description begins with its own
 * address, and repeats it in the third word. The words that describe the stack are neighbours.
 * Their position depends on the version of glibc.
 */
static bool reach_stacks_describe(const struct stacks_search *s, const struct root *root,
				  uint64_t tls, struct stack *ret)
{
	uint64_t head[HEAD_WORDS] = { 0 };
	const struct iovec to = { head, sizeof(head) };
	const struct iovec from = { (void *)(uintptr_t)tls, sizeof(head) };

	if (process_vm_readv(s->stacks->task, &to, 1, &from, 1, 0) != sizeof(head) ||
	    head[0] != tls || head[2] != tls)
		return false;
	for (size_t i = 3; i + 2 < HEAD_WORDS; i++) {
		const struct stack stack = { head[i], head[i + 1], head[i + 2] };

		if (reach_stacks_fits(s, root, tls, &stack)) {
			*ret = stack;
			return true;
		}
	}
	return false;
}

static int reach_stacks_add(const struct stacks_search *s, uint64_t from, uint64_t to,
			    bool is_ended)
{
	const struct reach_unused unused = { (from + 7) & ~UINT64_C(7), to & ~UINT64_C(7),
					     is_ended };

	return unused.from < unused.to ? outbuf_append(s->unused, &unused, sizeof(unused)) : 0;
}

/* ---- ended threads ---- */

static bool reach_stacks_has_thread(const struct reach_stacks *s, const struct stack *stack)
{
	const struct root range = { .from = stack->from, .to = stack->from + stack->bytes };

	for (size_t i = 0; i < s->n_threads; i++)
		if (reach_stacks_is_in(s->threads[i].sp, &range) ||
		    reach_stacks_is_in(s->threads[i].tls, &range))
			return true;
	return false;
}

/*
 * Adds the stack of an ended thread, if glibc has made the stack. A stack that the program has
 * provided is left out, since the program can use it for other purposes later.
 */
static int reach_stacks_add_ended(const struct stacks_search *s, uint64_t tls)
{
	const struct root *root = reach_stacks_root_of(s, tls);
	struct stack stack;

	if (!root || !root->is_anonymous || root->is_guard ||
	    !reach_stacks_describe(s, root, tls, &stack) || stack.guard_bytes == 0 ||
	    reach_stacks_has_thread(s->stacks, &stack))
		return 0;
	return reach_stacks_add(s, stack.from + stack.guard_bytes, tls, true);
}

/* ---- running threads ---- */

static bool reach_stacks_is_alone(const struct reach_stacks *s, const struct root *root)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_threads; i++)
		n += reach_stacks_is_in(s->threads[i].sp, root);
	return n == 1;
}

static int reach_stacks_add_running(const struct stacks_search *s, const struct rec_registers *t)
{
	const struct root *root = reach_stacks_root_of(s, t->sp);
	uint64_t to = t->sp - RED_ZONE;
	struct stack stack;

	if (!root || t->running || t->sp - root->from < RED_ZONE)
		return 0;
	if (root->is_stack)
		return reach_stacks_is_alone(s->stacks, root)
			       ? reach_stacks_add(s, root->from, to, false)
			       : 0;
	if (!root->is_anonymous || t->tls < t->sp || t->tls >= root->to)
		return 0;
	if (reach_stacks_describe(s, root, t->tls, &stack))
		return reach_stacks_add(s, stack.from + stack.guard_bytes, to, false);
	/*
	 * Without a guard below the stack, the mapping can begin with other data, so the stack does
	 * not count.
	 */
	return root > s->roots && root[-1].is_guard && root[-1].to == root->from &&
			       reach_stacks_is_alone(s->stacks, root)
		       ? reach_stacks_add(s, root->from, to, false)
		       : 0;
}

DEFINE_ORDER(stacks_by_address, struct reach_unused, COMPARE(x->from, y->from))

/* Leaves out parts that overlap an earlier part: one of the two descriptions is wrong. */
static void reach_stacks_put_in_order(struct outbuf *list)
{
	struct reach_unused *unused = (struct reach_unused *)list->data;
	size_t n = list->size / sizeof(*unused), left = 0;

	SORT(unused, n, stacks_by_address);
	for (size_t i = 0; i < n; i++)
		if (left == 0 || unused[i].from >= unused[left - 1].to)
			unused[left++] = unused[i];
	list->size = left * sizeof(*unused);
}

int reach_stacks_find_unused(const struct reach_stacks *s, const struct root *roots, size_t n,
			     struct outbuf *unused)
{
	const struct stacks_search search = { s, roots, n, unused };
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n_ended; i++)
		r = reach_stacks_add_ended(&search, s->ended[i]);
	for (size_t i = 0; r == 0 && i < s->n_threads; i++)
		r = reach_stacks_add_running(&search, &s->threads[i]);
	reach_stacks_put_in_order(unused);
	return r;
}
