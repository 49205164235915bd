/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/function-walk.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/table.h"
#include "capture/probes/stream-tables.h"

struct ways {
	struct table seen; /* addresses of instructions that were followed */
	uint64_t open[256];
	size_t n_open;
	/*
	 * For each register: if it holds a word that was read from memory at a constant offset from
	 * another register, this offset; otherwise 0.
	 */
	uint32_t word_at[16];
};

/*
 * Returns the destination of a call or jump: an address, or 0 if the destination is unknown or in
 * another file. A stub of the procedure linkage table is an indirect jump through a slot, possibly
 * after an endbr64. *RET_SLOT is that slot, or NULL.
 */
static uint64_t function_walk_destination(const struct function_walk *w,
					  const struct instruction *from,
					  const struct elf_slot **ret_slot)
{
	uint64_t offset, slot_address = from->slot, vaddr = from->target;
	struct instruction i;
	const uint8_t *p;
	size_t n;

	*ret_slot = NULL;
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
	*ret_slot = elf_image_slot(w->image, slot_address);
	return *ret_slot ? (*ret_slot)->target : 0;
}

enum function_walk_thunk { THUNK_NONE, THUNK_RETURN, THUNK_JUMP };

/*
 * Tells whether the code at VADDR, the target of a call, is a thunk. One kind drops its return
 * address, so that its `ret` is the return of the caller. The other kind replaces the address, so
 * that its `ret` is a computed jump. Compilers return and jump in this way so that the processor
 * does not predict the destination (-mfunction-return=thunk, -mindirect-branch=thunk).
 */
static enum function_walk_thunk function_walk_thunk_at(const struct elf_image *image,
						       uint64_t vaddr)
{
	static const uint8_t lea[] = { 0x48, 0x8d, 0x64, 0x24, 0x08 }; /* lea 8(%rsp),%rsp */
	static const uint8_t add[] = { 0x48, 0x83, 0xc4, 0x08 };       /* add $8,%rsp */
	uint64_t offset;
	size_t n;
	const uint8_t *p = elf_image_code(image, vaddr, &n, &offset);

	if (!p || n < sizeof(lea))
		return THUNK_NONE;
	if (memcmp(p, lea, sizeof(lea)) == 0 || memcmp(p, add, sizeof(add)) == 0)
		return THUNK_RETURN;
	/* the instruction is mov REGISTER,(%rsp) */
	return (p[0] & 0xfb) == 0x48 && p[1] == 0x89 && (p[2] & 0xc7) == 0x04 && p[3] == 0x24
		       ? THUNK_JUMP
		       : THUNK_NONE;
}

bool function_walk_is_return(const struct elf_image *image, struct disassembler *disassembler,
			     const struct instruction *i)
{
	struct instruction first;
	uint64_t offset;
	const uint8_t *p;
	size_t n;

	if (i->kind == INSTRUCTION_RETURN)
		return true;
	if (i->kind != INSTRUCTION_JUMP || !i->target)
		return false;
	p = elf_image_code(image, i->target, &n, &offset);
	return p && disassembler_read(disassembler, p, n, i->target, &first) &&
	       first.kind == INSTRUCTION_CALL &&
	       function_walk_thunk_at(image, first.target) == THUNK_RETURN;
}

static void function_walk_open_way(struct function_walk *w, struct ways *ways, uint64_t vaddr)
{
	if (vaddr >= w->watch && vaddr <= (w->watch_to ?: w->watch))
		w->watched = true;
	if (table_get(&ways->seen, vaddr))
		return;
	if (ways->n_open == ARRAY_SIZE(ways->open)) {
		w->unread = true;
		return;
	}
	ways->open[ways->n_open++] = vaddr;
}

static void function_walk_add_ret(struct function_walk *w, uint64_t vaddr)
{
	if (w->n_rets == WALK_RETS_MAX)
		w->unread = true;
	else
		w->rets[w->n_rets++] = vaddr;
}

static void function_walk_note_words(struct ways *ways, const struct instruction *i)
{
	if (i->kind == INSTRUCTION_CALL)
		memset(ways->word_at, 0, sizeof(ways->word_at));
	for (size_t k = 0; k < ARRAY_SIZE(ways->word_at); k++)
		if (i->written >> k & 1)
			ways->word_at[k] = i->word_at;
}

/*
 * Follows the computed jump I to the functions of glibc's streams, if the code has compared an
 * address with the address of their tables. The jump can also lead to a function outside of these
 * tables: glibc accepts streams that programs made for its first versions.
 */
static void function_walk_open_streams(struct function_walk *w, struct ways *ways,
				       const struct instruction *i)
{
	uint32_t at = i->sum.jump >= 0 ? ways->word_at[i->sum.jump] : i->word_at;
	uint64_t functions[STREAM_FUNCTIONS_MAX], begin;
	size_t n = at ? stream_tables_functions(w->image, at, functions, &begin) : 0;
	bool compares = false;

	for (size_t k = 0; n > 0 && k < w->n_made; k++)
		compares |= w->made[k] == begin;
	for (size_t k = 0; compares && k < n; k++)
		function_walk_open_way(w, ways, functions[k]);
}

/* Handles the jump I at VADDR to an unknown destination, through SLOT (or NULL). */
static void function_walk_add_tail(struct function_walk *w, struct ways *ways, uint64_t vaddr,
				   const struct instruction *i, const struct elf_slot *slot)
{
	if (i->target == 0 && i->slot == 0) {
		w->computed = true;
		if (w->includes_tails)
			function_walk_open_streams(w, ways, i);
	} else if (w->includes_tails && slot && slot->resolver && w->n_tails < WALK_TAILS_MAX) {
		w->tails[w->n_tails++] = (struct walk_tail){ vaddr, slot->resolver };
	} else {
		w->unread = true;
	}
}

/* Handles a call of the thunk at TO. Returns false if TO is an ordinary function. */
static bool function_walk_pass_thunk(struct function_walk *w, struct ways *ways, uint64_t to)
{
	enum function_walk_thunk thunk = function_walk_thunk_at(w->image, to);

	if (thunk == THUNK_RETURN)
		function_walk_open_way(w, ways, to);
	w->computed |= thunk == THUNK_JUMP;
	return thunk != THUNK_NONE;
}

/* Handles instruction I at VADDR. Returns true if the next instruction follows. */
static bool function_walk_step(struct function_walk *w, struct ways *ways, uint64_t vaddr,
			       const struct instruction *i)
{
	const struct elf_slot *slot;
	uint64_t to;

	if (function_walk_is_return(w->image, w->disassembler, i)) {
		function_walk_add_ret(w, vaddr);
		return false;
	}
	switch (i->kind) {
	case INSTRUCTION_PLAIN:
		return true;
	case INSTRUCTION_BRANCH:
		function_walk_open_way(w, ways, i->target);
		return true;
	case INSTRUCTION_RETURN:
	case INSTRUCTION_END:
		return false;
	case INSTRUCTION_CALL:
	case INSTRUCTION_JUMP:
		break;
	}
	to = function_walk_destination(w, i, &slot);
	if (slot && slot->noreturn)
		return false;
	if (to && w->stop && w->stop(to, w->userdata)) {
		w->stopped = true;
		return false;
	}
	if (i->kind == INSTRUCTION_CALL && to && function_walk_pass_thunk(w, ways, to))
		return false;
	if (i->kind == INSTRUCTION_CALL) {
		w->n_calls++;
		w->n_indirect += !to && !slot;
		return true;
	}
	if (to)
		function_walk_open_way(w, ways, to);
	else
		function_walk_add_tail(w, ways, vaddr, i, slot);
	return false;
}

static int function_walk_follow(struct function_walk *w, struct ways *ways, uint64_t vaddr)
{
	struct instruction i;
	uint64_t offset;
	const uint8_t *p;
	size_t n;

	memset(ways->word_at, 0, sizeof(ways->word_at));
	do {
		/* 0 is not a valid key of the table, and no code is there. */
		if (vaddr == 0 || table_get(&ways->seen, vaddr))
			return 0;
		p = elf_image_code(w->image, vaddr, &n, &offset);
		if (!p || w->n_instructions == WALK_INSTRUCTIONS_MAX ||
		    !disassembler_read(w->disassembler, p, n, vaddr, &i)) {
			w->unread = true;
			return 0;
		}
		w->n_instructions++;
		if (i.address && w->n_made < WALK_MADE_MAX)
			w->made[w->n_made++] = i.address;
		if (table_set(&ways->seen, vaddr, w) < 0)
			return -ENOMEM;
		if (!function_walk_step(w, ways, vaddr, &i))
			return 0;
		function_walk_note_words(ways, &i);
		vaddr += i.length;
	} while (true);
}

int function_walk(struct function_walk *w, uint64_t vaddr)
{
	struct ways ways = { .open = { vaddr }, .n_open = 1 };
	int r = 0;

	w->n_rets = w->n_instructions = w->n_calls = w->n_indirect = w->n_tails = w->n_made = 0;
	w->stopped = w->watched = w->computed = w->unread = false;
	while (r == 0 && ways.n_open > 0)
		r = function_walk_follow(w, &ways, ways.open[--ways.n_open]);
	table_deinit(&ways.seen);
	w->partial = w->computed || w->unread;
	return r;
}

/* ---- results of other functions ---- */

/* A place in the code, and whether rax has the result of a wanted function there. */
#define WALK_PLACE(vaddr, has_result) ((vaddr) << 1 | (has_result))

struct result_ways {
	struct table seen; /* places that were followed (WALK_PLACE()) */
	uint64_t open[256];
	size_t n_open, n_instructions;
};

static bool function_walk_open_place(struct result_ways *ways, uint64_t place)
{
	if (ways->n_open == ARRAY_SIZE(ways->open))
		return false;
	ways->open[ways->n_open++] = place;
	return true;
}

/*
 * Handles call or jump I. Returns true if the path continues at *PLACE; otherwise, *RET_FAILS is
 * true if the result of the path is not the result of a wanted function.
 */
static bool function_walk_pass_call(const struct function_walk *w, const struct instruction *i,
				    uint64_t *place, bool *ret_fails)
{
	const struct elf_slot *slot;
	uint64_t to = function_walk_destination(w, i, &slot);
	bool wanted = to ? w->stop && w->stop(to, w->userdata)
			 : slot && slot->name && w->wants && w->wants(slot->name, w->userdata);

	*ret_fails = false;
	if (slot && slot->noreturn)
		return false;
	if (i->kind == INSTRUCTION_CALL && function_walk_thunk_at(w->image, to) == THUNK_NONE) {
		*place = WALK_PLACE((*place >> 1) + i->length, wanted);
		return true;
	}
	if (i->kind == INSTRUCTION_CALL && function_walk_thunk_at(w->image, to) == THUNK_JUMP)
		to = 0;
	*ret_fails = !wanted && !to;
	*place = WALK_PLACE(to, *place & 1);
	return !wanted && to;
}

/*
 * Follows one path from PLACE. Returns 1 if the path returns a wanted result, 0 if it does not, or
 * -ENOMEM.
 */
static int function_walk_follow_result(const struct function_walk *w, struct result_ways *ways,
				       uint64_t place)
{
	struct instruction i;
	uint64_t offset;
	const uint8_t *p;
	bool fails;
	size_t n;

	while (!table_get(&ways->seen, place)) {
		p = elf_image_code(w->image, place >> 1, &n, &offset);
		/* The table cannot have 0 as a key, so places 0 and 1 are not followed. */
		if (place <= 1 || !p || ways->n_instructions++ == WALK_INSTRUCTIONS_MAX ||
		    !disassembler_read(w->disassembler, p, n, place >> 1, &i))
			return 0;
		if (table_set(&ways->seen, place, ways) < 0)
			return -ENOMEM;
		switch (i.kind) {
		case INSTRUCTION_RETURN:
			return place & 1;
		case INSTRUCTION_END:
			return 1;
		case INSTRUCTION_CALL:
		case INSTRUCTION_JUMP:
			if (!function_walk_pass_call(w, &i, &place, &fails))
				return !fails;
			continue;
		case INSTRUCTION_BRANCH:
			if (!function_walk_open_place(ways, WALK_PLACE(i.target, place & 1)))
				return 0;
			break;
		case INSTRUCTION_PLAIN:
			break;
		}
		place = WALK_PLACE((place >> 1) + i.length, place & 1 && !i.writes_result);
	}
	return 1;
}

int function_walk_returns_wanted(const struct function_walk *w, uint64_t vaddr)
{
	struct result_ways ways = { .open = { WALK_PLACE(vaddr, 0) }, .n_open = 1 };
	int r = vaddr != 0;

	while (r > 0 && ways.n_open > 0)
		r = function_walk_follow_result(w, &ways, ways.open[--ways.n_open]);
	table_deinit(&ways.seen);
	return r;
}
