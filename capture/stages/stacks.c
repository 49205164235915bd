/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	GENERATION_BYTES_MAX = 4 << 20,
	OVERHEAD = 48, /* approximate overhead of malloc() and of the table, in bytes */
};

void stacks_deinit(struct stacks *s)
{
	table_deinit_free(&s->now);
	table_deinit_free(&s->before);
}

int stacks_add(struct stacks *s, const struct rec_stack *rec)
{
	size_t bytes = rec->head.size - REC_STACK_BYTES(0);
	struct stack *stack;

	if (table_get(&s->now, rec->id))
		return 0;
	stack = table_make(&s->now, rec->id, sizeof(*stack) + bytes);
	if (!stack)
		return -ENOMEM;
	stack->n_frames = (unsigned)(bytes / sizeof(uint64_t));
	memcpy(stack->frames, rec->frames, bytes);
	s->bytes += bytes + OVERHEAD;
	return 0;
}

const struct stack *stacks_get(const struct stacks *s, uint64_t id)
{
	const struct stack *stack = table_get(&s->now, id);

	return stack ? stack : table_get(&s->before, id);
}

bool stacks_turn(struct stacks *s, uint64_t horizon_ns, uint64_t now_ns)
{
	if (s->bytes <= GENERATION_BYTES_MAX || horizon_ns <= s->turned_ns)
		return false;
	table_deinit_free(&s->before);
	s->before = s->now;
	s->now = (struct table){ 0 };
	s->bytes = 0;
	s->turned_ns = now_ns;
	return true;
}
