/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/function-walk.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/table.h"

struct ways {
	struct table seen; /* addresses of instructions */
	uint64_t open[256];
	size_t n_open;
};

/*
 * Where a call or jump leads: an address, or 0 if it leaves the file or is not known. A stub of the
 * procedure linkage table is an indirect jump through a slot, maybe behind an endbr64.
 */
static uint64_t function_walk_destination(const struct function_walk *w,
					  const struct instruction *from, bool *ret_noreturn)
{
	uint64_t offset, slot_address = from->slot, vaddr = from->target;
	const struct elf_slot *slot;
	struct instruction i;
	const uint8_t *p;
	size_t n;

	*ret_noreturn = false;
	for (int step = 0; step < 2 && !slot_address && vaddr; step++) {
		p = elf_image_code(w->image, vaddr, &n, &offset);
		if (!p)
			return 0;
		if (!disassembler_read(w->disassembler, p, n, vaddr, &i))
			return from->target;
		if (i.kind == INSTRUCTION_JUMP && i.slot)
			slot_address = i.slot;
		else if (i.kind != INSTRUCTION_PLAIN || i.length != 4)
			return from->target;
		vaddr += i.length;
	}
	if (!slot_address)
		return from->target;
	slot = elf_image_slot(w->image, slot_address);
	*ret_noreturn = slot && slot->noreturn;
	return slot ? slot->target : 0;
}

static void open_way(struct function_walk *w, struct ways *ways, uint64_t vaddr)
{
	if (vaddr == w->watch)
		w->watched = true;
	if (table_get(&ways->seen, vaddr))
		return;
	if (ways->n_open == ARRAY_SIZE(ways->open)) {
		w->partial = true;
		return;
	}
	ways->open[ways->n_open++] = vaddr;
}

static void add_ret(struct function_walk *w, uint64_t vaddr)
{
	if (w->n_rets == WALK_RETS_MAX)
		w->partial = true;
	else
		w->rets[w->n_rets++] = vaddr;
}

/* After the instruction I at VADDR: true if the next one follows. */
static bool function_walk_go_on(struct function_walk *w, struct ways *ways, uint64_t vaddr,
				const struct instruction *i)
{
	bool noreturn;
	uint64_t to;

	switch (i->kind) {
	case INSTRUCTION_PLAIN:
		return true;
	case INSTRUCTION_BRANCH:
		open_way(w, ways, i->target);
		return true;
	case INSTRUCTION_RETURN:
		add_ret(w, vaddr);
		return false;
	case INSTRUCTION_END:
		return false;
	case INSTRUCTION_CALL:
	case INSTRUCTION_JUMP:
		break;
	}
	to = function_walk_destination(w, i, &noreturn);
	if (noreturn)
		return false;
	if (to && w->stop && w->stop(to, w->userdata)) {
		w->stopped = true;
		return false;
	}
	if (i->kind == INSTRUCTION_CALL) {
		w->n_calls++;
		return true;
	}
	if (to)
		open_way(w, ways, to);
	else
		w->partial = true;
	return false;
}

static int function_walk_follow(struct function_walk *w, struct ways *ways, uint64_t vaddr)
{
	struct instruction i;
	uint64_t offset;
	const uint8_t *p;
	size_t n;

	do {
		/* (a key of 0 is none, and no code) */
		if (vaddr == 0 || table_get(&ways->seen, vaddr))
			return 0;
		p = elf_image_code(w->image, vaddr, &n, &offset);
		if (!p || w->n_instructions == WALK_INSTRUCTIONS_MAX ||
		    !disassembler_read(w->disassembler, p, n, vaddr, &i)) {
			w->partial = true;
			return 0;
		}
		w->n_instructions++;
		if (table_set(&ways->seen, vaddr, w) < 0)
			return -ENOMEM;
		if (!function_walk_go_on(w, ways, vaddr, &i))
			return 0;
		vaddr += i.length;
	} while (true);
}

int function_walk(struct function_walk *w, uint64_t vaddr)
{
	struct ways ways = { .open = { vaddr }, .n_open = 1 };
	int r = 0;

	w->n_rets = w->n_instructions = w->n_calls = 0;
	w->stopped = w->watched = w->partial = false;
	while (r == 0 && ways.n_open > 0)
		r = function_walk_follow(w, &ways, ways.open[--ways.n_open]);
	table_deinit(&ways.seen);
	return r;
}
