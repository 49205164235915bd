/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/call-places.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/function-clone.h"
#include "base/value.h"
#include "capture/probes/cold-parts.h"
#include "capture/probes/elf-image.h"
#include "capture/probes/function-body.h"
#include "capture/probes/function-start.h"
#include "capture/probes/function-walk.h"
#include "capture/probes/instruction.h"
#include "capture/probes/probe-semaphore.h"
#include "capture/probes/prologue.h"
#include "capture/probes/stack-switch.h"

enum {
	/* Maximum number of bytes of a function that are searched for returns. */
	SWEEP_MAX = 1 << 20,
	PROLOGUE_ARGS_MAX = 4,        /* the number of arguments that prologue_find() preserves */
	NEAREST_COMPARED_MAX = 65536, /* maximum number of names compared for a suggestion */
	START_MAX =
		64, /* maximum number of instructions before a function reads its return address */
	RESOLVERS_MAX = 8, /* functions that choose at run time, for the versions of one name */
};

/* A function that matches the pattern. */
struct found_function {
	uint64_t vaddr, bytes;
	/* A pointer into the file; NULL = no name, since the function is chosen at run time. */
	const char *name;
	size_t name_bytes;
	bool is_chosen;
};

struct places_search {
	struct elf_image image;
	struct disassembler *disassembler;
	const struct call_places_query *query;
	char pattern[CALL_PLACE_NAME_MAX]; /* the query's, without the offset of a choice */
	/* Offset of the only function to find, one that is chosen at run time; 0 = no offset. */
	uint64_t choice;
	bool glob;
	struct found_function found[CALL_PLACES_MAX];
	size_t n_found, n_compared;
	uint64_t resolvers[RESOLVERS_MAX]; /* functions that make the choice for matching names */
	size_t n_resolvers;
	struct value_nearest nearest;
	char name[CALL_PLACE_NAME_MAX]; /* the name that is being compared */
	bool returns_at_entry;          /* the place that is being made has a return at its entry */
	struct cold_parts cold;
	struct call_places places;
};

/* ---- names ---- */

static bool places_match(struct places_search *s, const char *name, size_t n)
{
	if (n >= sizeof(s->name))
		return false;
	memcpy(s->name, name, n);
	s->name[n] = '\0';
	if (function_clone_is_cold(s->name))
		return false;
	if (s->glob)
		return fnmatch(s->pattern, s->name, 0) == 0;
	/*
	 * Clones match only if no arguments are read: a clone can have its arguments in other
	 * registers.
	 */
	return strcmp(s->pattern, s->name) == 0 ||
	       (s->query->n_args == 0 && function_clone_is_of(s->name, s->pattern));
}

static int places_add_function(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
			       void *userdata)
{
	struct places_search *s = userdata;

	if (n == 0 || s->choice || !places_match(s, name, n))
		return 0;
	if (s->n_found == CALL_PLACES_MAX) {
		s->places.flags |= CALL_PLACES_FULL;
		return 1;
	}
	s->found[s->n_found++] = (struct found_function){ vaddr, bytes, name, n, false };
	return 0;
}

static int places_note_indirect(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
				void *userdata)
{
	struct places_search *s = userdata;

	(void)bytes;
	if (n == 0 || !places_match(s, name, n))
		return 0;
	s->places.flags |= CALL_PLACES_INDIRECT;
	/*
	 * A pattern rarely means functions such as memcpy(), which are called everywhere. So only
	 * an exact name selects functions that are chosen at run time.
	 */
	if (!s->glob && s->n_resolvers < RESOLVERS_MAX)
		s->resolvers[s->n_resolvers++] = vaddr;
	return 0;
}

/* Compares a name with the pattern, for a suggestion. */
static int places_compare_name(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
			       void *userdata)
{
	struct places_search *s = userdata;

	(void)vaddr;
	(void)bytes;
	if (n == 0 || n >= sizeof(s->name))
		return 0;
	memcpy(s->name, name, n);
	s->name[n] = '\0';
	if (!function_clone_is_cold(s->name) && value_nearest_try(&s->nearest, s->name))
		memcpy(s->places.nearest, s->name, n + 1);
	return ++s->n_compared == NEAREST_COMPARED_MAX;
}

/*
 * Sorts by address. Of several names for one address, the shortest is first, since it is the best
 * known.
 */
DEFINE_ORDER(places_compare_found, struct found_function,
	COMPARE(x->vaddr, y->vaddr) ?: COMPARE(x->name_bytes, y->name_bytes)
		?: x->name_bytes > 0 ? memcmp(x->name, y->name, x->name_bytes) : 0)

static void places_sort_found(struct places_search *s)
{
	size_t n = 0;

	SORT(s->found, s->n_found, places_compare_found);
	for (size_t i = 0; i < s->n_found; i++)
		if (n == 0 || s->found[n - 1].vaddr != s->found[i].vaddr)
			s->found[n++] = s->found[i];
	s->n_found = n;
}

/* ---- code ---- */

static uint64_t places_offset(const struct places_search *s, uint64_t vaddr)
{
	uint64_t offset = 0;
	size_t n;

	return elf_image_code(&s->image, vaddr, &n, &offset) ? offset : 0;
}

/* Returns true if the kernel refuses a probe on the instruction at VADDR. */
static bool places_is_refused(const struct places_search *s, uint64_t vaddr)
{
	struct instruction i;
	uint64_t offset;
	size_t n;
	const uint8_t *p = elf_image_code(&s->image, vaddr, &n, &offset);

	return p && disassembler_read(s->disassembler, p, n, vaddr, &i) && i.refused;
}

static void places_add_ret(struct places_search *s, struct call_place *place, uint64_t vaddr)
{
	uint64_t offset = places_offset(s, vaddr);

	for (size_t i = 0; i < place->n_rets; i++)
		if (place->rets[i] == offset)
			return;
	/*
	 * A return at the entry itself gets no probe of its own: that probe would run before the
	 * probe of the entry.
	 */
	if (offset == place->entry)
		s->returns_at_entry = true;
	else if (offset == 0 || place->n_rets == CALL_RETS_MAX || places_is_refused(s, vaddr))
		place->flags |= CALL_PLACE_PARTIAL;
	else
		place->rets[place->n_rets++] = offset;
}

/* Returns true if I jumps to the beginning of F. The probe of F is at PROBED. */
static bool places_is_loop(const struct instruction *i, const struct found_function *f,
			   uint64_t probed)
{
	return (i->kind == INSTRUCTION_BRANCH || i->kind == INSTRUCTION_JUMP) &&
	       i->target >= f->vaddr && i->target <= probed;
}

/* Adds every `ret` in a part of F, the BYTES of code at VADDR. */
static void places_sweep_part(struct places_search *s, const struct found_function *f,
			      uint64_t vaddr, uint64_t bytes, uint64_t probed,
			      struct call_place *place)
{
	struct instruction i;
	uint64_t offset;
	size_t n;
	const uint8_t *p = elf_image_code(&s->image, vaddr, &n, &offset);

	if (!p)
		return;
	if (n > bytes)
		n = bytes;
	if (n > SWEEP_MAX) {
		n = SWEEP_MAX;
		place->flags |= CALL_PLACE_PARTIAL;
	}
	for (size_t at = 0; at < n; at += i.length) {
		if (!disassembler_read(s->disassembler, p + at, n - at, vaddr + at, &i)) {
			place->flags |= CALL_PLACE_PARTIAL;
			return;
		}
		if (function_walk_is_return(&s->image, s->disassembler, &i))
			places_add_ret(s, place, vaddr + at);
		if (i.switches_stack)
			place->flags |= CALL_PLACE_FRAGILE;
		if (places_is_loop(&i, f, probed))
			place->flags |= CALL_PLACE_LOOPS;
	}
}

/* Adds every `ret` in the cold parts of F. OWNER is F among the owners of cold parts. */
static void places_sweep_cold(struct places_search *s, const struct found_function *f,
			      const struct cold_owner *owner, uint64_t probed,
			      struct call_place *place)
{
	for (size_t i = 0; i < owner->n; i++) {
		const struct cold_part *part = &s->cold.parts[owner->first + i];

		switch (cold_parts_claim(&s->cold, &s->image, s->disassembler, owner, i)) {
		case COLD_CLAIM_NONE:
			break;
		case COLD_CLAIM_OWN:
			places_sweep_part(s, f, part->vaddr, part->bytes, probed, place);
			break;
		case COLD_CLAIM_UNSURE:
			place->flags |= CALL_PLACE_PARTIAL;
			break;
		}
	}
}

/*
 * Adds every `ret` in F, since the paths to some of them go through jump tables, or begin at the
 * handler of an exception.
 */
static void places_sweep(struct places_search *s, const struct found_function *f, uint64_t probed,
			 struct call_place *place)
{
	places_sweep_part(s, f, f->vaddr, f->bytes, probed, place);
	if (s->cold.is_full)
		place->flags |= CALL_PLACE_PARTIAL;
	for (size_t i = 0; i < s->cold.n_owners; i++)
		if (s->cold.owners[i].vaddr == f->vaddr)
			places_sweep_cold(s, f, &s->cold.owners[i], probed, place);
}

/*
 * Writes to TO the functions that RESOLVER can choose: the addresses that it computes. If RESOLVER
 * makes an indirect call, *RET_N is 0: it can then choose a function of the kernel's vDSO, and the
 * vDSO is in no file.
 */
static int places_choices(struct places_search *s, uint64_t resolver,
			  uint64_t to[static WALK_MADE_MAX], size_t *ret_n)
{
	struct function_walk walk = { .image = &s->image, .disassembler = s->disassembler };
	int r = function_walk(&walk, resolver);

	*ret_n = 0;
	for (size_t i = 0; r == 0 && walk.n_indirect == 0 && i < walk.n_made; i++)
		if (function_start_is(&s->image, walk.made[i]))
			to[(*ret_n)++] = walk.made[i];
	return r;
}

/*
 * Returns 1 if no function that RESOLVER can choose calls another function, otherwise 0, or
 * -ENOMEM. If a part of a function could not be read, that part may have a call.
 */
static int places_chooses_leaves(struct places_search *s, uint64_t resolver)
{
	struct function_walk walk = { .image = &s->image, .disassembler = s->disassembler };
	uint64_t choices[WALK_MADE_MAX];
	size_t n;
	int r = places_choices(s, resolver, choices, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		r = function_walk(&walk, choices[i]);
		if (r == 0 && (walk.n_calls > 0 || walk.unread))
			return 0;
		if (r == 0 && walk.computed) {
			r = function_body_stays(&s->image, s->disassembler, SWEEP_MAX, choices[i]);
			if (r <= 0)
				return r;
			r = 0;
		}
	}
	return r < 0 ? r : n > 0;
}

/*
 * Adds those jumps of WALK at which a return probe is possible. In a fragile function, no jumps are
 * added, because a return probe would break the function.
 */
static int places_add_tails(struct places_search *s, const struct function_walk *walk,
			    struct call_place *place)
{
	for (size_t i = 0; i < walk->n_tails; i++) {
		uint64_t offset = places_offset(s, walk->tails[i].vaddr);
		int r = places_chooses_leaves(s, walk->tails[i].resolver);

		if (r < 0)
			return r;
		if (r == 0 || offset == 0 || offset == place->entry ||
		    place->flags & CALL_PLACE_FRAGILE || place->n_tails == CALL_TAILS_MAX ||
		    places_is_refused(s, walk->tails[i].vaddr))
			place->flags |= CALL_PLACE_PARTIAL;
		else
			place->tails[place->n_tails++] = offset;
	}
	return 0;
}

/* Adds the returns that the paths of F reach, also in other functions. */
static int places_walk(struct places_search *s, const struct found_function *f, uint64_t probed,
		       struct call_place *place)
{
	struct function_walk walk = { .image = &s->image,
				      .disassembler = s->disassembler,
				      .watch = f->vaddr,
				      .watch_to = probed,
				      .includes_tails = true };
	int r = function_walk(&walk, f->vaddr);

	for (size_t i = 0; r == 0 && i < walk.n_rets; i++)
		places_add_ret(s, place, walk.rets[i]);
	r = r ?: places_add_tails(s, &walk, place);
	if (walk.watched)
		place->flags |= CALL_PLACE_LOOPS;
	if (walk.partial)
		place->flags |= CALL_PLACE_PARTIAL;
	/*
	 * A function that is chosen at run time can be partial because of unknown instructions, but
	 * none of these is a call.
	 */
	if (walk.n_calls == 0 && (f->is_chosen || !(place->flags & CALL_PLACE_PARTIAL)))
		place->flags |= CALL_PLACE_LEAF;
	/*
	 * For a leaf function, the return probe reports the return at the entry, too. Other
	 * functions lack this return.
	 */
	if (s->returns_at_entry && (!(place->flags & CALL_PLACE_LEAF) ||
				    place->flags & (CALL_PLACE_LOOPS | CALL_PLACE_FRAGILE)))
		place->flags |= CALL_PLACE_PARTIAL;
	return r;
}

/*
 * Returns true if the function at VADDR reads its return address. setjmp() and getcontext() read
 * it, to return to it later. Functions that identify their caller read it, too. The address is then
 * still on top of the stack.
 */
static bool places_reads_return(struct places_search *s, uint64_t vaddr)
{
	struct instruction i;
	uint64_t offset;
	const uint8_t *p;
	size_t n;

	for (int step = 0; step < START_MAX && vaddr; step++) {
		p = elf_image_code(&s->image, vaddr, &n, &offset);
		if (!p || !disassembler_read(s->disassembler, p, n, vaddr, &i))
			return false;
		if (i.reads_stack_top)
			return true;
		if (i.moves_stack || (i.kind != INSTRUCTION_PLAIN && i.kind != INSTRUCTION_JUMP))
			return false;
		vaddr = i.kind == INSTRUCTION_JUMP ? i.target : vaddr + i.length;
	}
	return false;
}

/*
 * Sets the name of a place. If the function has no symbol, the name consists of the pattern and the
 * offset in the file. Such a name is a pattern, too (places_parse_pattern()).
 */
static void places_set_name(const struct places_search *s, const struct found_function *f,
			    char to[static CALL_PLACE_NAME_MAX])
{
	if (f->name)
		memcpy(to, f->name, f->name_bytes);
	else
		snprintf(to, CALL_PLACE_NAME_MAX, "%.200s@0x%" PRIx64, s->pattern,
			 places_offset(s, f->vaddr));
}

/* Counts F, which is left out because the kernel refuses a probe at its entry. */
static void places_note_refused(struct places_search *s, const struct found_function *f)
{
	struct call_places *p = &s->places;

	p->flags |= CALL_PLACES_REFUSED;
	if (p->n_refused < CALL_REFUSED_NAMES_MAX)
		places_set_name(s, f, p->refused[p->n_refused]);
	p->n_refused++;
}

static int places_add(struct places_search *s, const struct found_function *f, size_t *room)
{
	struct call_place place = { 0 };
	uint64_t vaddr = f->vaddr;
	int r = 0;

	if (s->query->n_args <= PROLOGUE_ARGS_MAX || places_is_refused(s, f->vaddr))
		r = prologue_find(&s->image, s->disassembler, f->vaddr, &vaddr);
	if (r == 0 && places_is_refused(s, vaddr)) {
		places_note_refused(s, f);
		return 0;
	}
	s->returns_at_entry = false;
	place.begin = places_offset(s, f->vaddr);
	place.entry = places_offset(s, vaddr);
	if (r < 0 || place.entry == 0)
		return r;
	places_set_name(s, f, place.name);
	/* A return probe would break the entry point of a program, which has no return address. */
	if (vaddr == s->image.header.e_entry || places_reads_return(s, vaddr))
		place.flags |= CALL_PLACE_FRAGILE;
	places_sweep(s, f, vaddr, &place);
	r = places_walk(s, f, vaddr, &place) ?: GROW(s->places.places, *room, s->places.n + 1);
	if (r == 0)
		s->places.places[s->places.n++] = place;
	return r;
}

/* ---- functions that are chosen at run time ---- */

static int places_name_choice(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
			      void *userdata)
{
	struct places_search *s = userdata;

	for (size_t i = 0; n > 0 && n < CALL_PLACE_NAME_MAX && i < s->n_found; i++) {
		struct found_function *f = &s->found[i];

		if (f->vaddr == vaddr && !f->name)
			*f = (struct found_function){ vaddr, bytes, name, n, true };
	}
	return 0;
}

/*
 * Adds all functions that can be chosen at run time for the name. Only one of them is used; the
 * others are not called.
 */
static int places_add_choices(struct places_search *s)
{
	uint64_t choices[WALK_MADE_MAX];
	size_t n, before = s->n_found;
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n_resolvers; i++) {
		r = places_choices(s, s->resolvers[i], choices, &n);
		for (size_t k = 0; r == 0 && k < n && s->n_found < CALL_PLACES_MAX; k++)
			if (!s->choice || places_offset(s, choices[k]) == s->choice)
				s->found[s->n_found++] =
					(struct found_function){ .vaddr = choices[k],
								 .is_chosen = true };
	}
	if (s->choice && s->n_found == before)
		s->places.flags = (s->places.flags & ~CALL_PLACES_INDIRECT) | CALL_PLACES_NO_START;
	if (r < 0 || s->n_found == before)
		return r;
	s->places.flags &= ~(CALL_PLACES_INDIRECT | CALL_PLACES_VDSO);
	elf_image_functions(&s->image, places_name_choice, s, &n);
	return 0;
}

/* ---- a range ---- */

/* Returns true if an instruction begins AT bytes after the beginning of F. */
static bool places_has_instruction(struct places_search *s, const struct found_function *f,
				   uint64_t at)
{
	struct instruction i = { .length = 0 };
	uint64_t offset;
	size_t n, to = 0;
	const uint8_t *p = elf_image_code(&s->image, f->vaddr, &n, &offset);

	while (p && to < at && to < n && to < SWEEP_MAX &&
	       disassembler_read(s->disassembler, p + to, n - to, f->vaddr + to, &i))
		to += i.length;
	return p && to == at && at < n;
}

static int places_add_point(struct places_search *s, const struct found_function *f, uint64_t at)
{
	size_t room = 0;
	int r = GROW(s->places.places, room, 1);

	if (r < 0)
		return r;
	if (!places_has_instruction(s, f, at)) {
		s->places.flags |= CALL_PLACES_NO_POINT;
		return 0;
	}
	if (places_is_refused(s, f->vaddr + at)) {
		s->places.flags |= CALL_PLACES_REFUSED;
		return 0;
	}
	s->places.places[0] = (struct call_place){
		.begin = places_offset(s, f->vaddr + at),
		.entry = places_offset(s, f->vaddr + at),
		.semaphore = probe_semaphore_find(&s->image, f->vaddr + at),
		.flags = CALL_PLACE_POINT,
		.name = "-",
	};
	s->places.n = 1;
	return 0;
}

/*
 * Returns the address at which the bytes of the file from BEGIN on are loaded; 0 = they are not
 * code.
 */
static uint64_t places_vaddr(const struct places_search *s, uint64_t begin, uint64_t bytes)
{
	for (size_t i = 0; i < s->image.n_loads; i++) {
		const struct elf_load *load = &s->image.loads[i];

		if (begin >= load->offset && begin - load->offset < load->size &&
		    bytes <= load->size - (begin - load->offset))
			return begin - load->offset + load->vaddr;
	}
	return 0;
}

/* Finds the function at the query's range. */
static void places_find_range(struct places_search *s)
{
	const struct call_places_range *range = &s->query->range;
	uint64_t vaddr = places_vaddr(s, range->begin, range->bytes);

	if (vaddr && function_start_is(&s->image, vaddr))
		s->found[s->n_found++] =
			(struct found_function){ vaddr, range->bytes, "-", 1, false };
	else
		s->places.flags |= CALL_PLACES_NO_START;
}

/* ---- the search ---- */

/*
 * Splits the pattern "NAME@0xOFFSET", which means one of the functions that can be chosen at run
 * time for NAME. (Names come without their versions, so they have no '@'.)
 */
static void places_parse_pattern(struct places_search *s)
{
	const char *pattern = s->query->pattern, *at = strstr(pattern, "@0x");
	char *end;

	snprintf(s->pattern, sizeof(s->pattern), "%s", pattern);
	s->glob = strpbrk(pattern, "*?") != NULL;
	if (s->glob || !at || (size_t)(at - pattern) >= sizeof(s->pattern))
		return;
	s->choice = strtoull(at + 1, &end, 16);
	if (*end)
		s->choice = 0;
	if (s->choice)
		s->pattern[at - pattern] = '\0';
}

static int places_search_code(struct places_search *s)
{
	size_t room = 0;
	int r;

	if (s->image.header.e_machine != EM_X86_64) {
		s->places.flags |= CALL_PLACES_NO_CODE;
		return 0;
	}
	r = s->disassembler ? 0 : disassembler_new(&s->disassembler);
	r = r ?: elf_image_read_slots(&s->image);
	if (r == 0 && s->query->range.is_point)
		return places_add_point(s, &s->found[0], s->query->range.at);
	r = r ?: places_add_choices(s) ?: cold_parts_find(&s->image, &s->cold);
	places_sort_found(s);
	for (size_t i = 0; r == 0 && i < s->n_found; i++)
		r = places_add(s, &s->found[i], &room);
	return r;
}

/*
 * Finds functions that switch stacks. For return probes, the kernel keeps the real return addresses
 * of each thread. A call that returns in another thread, or in a different order on another stack,
 * returns to a wrong address.
 */
static void places_note_switches(struct places_search *s)
{
	static const char *const names[] = {
		"swapcontext",
		"makecontext",
		"setcontext",
		"jump_fcontext",
		"make_fcontext",
		"ontop_fcontext",
		"coro_transfer",
		"co_switch",
		"luaJIT_setmode",
		"gcc_jit_context_compile",
		"LLVMCreateMCJITCompilerForModule",
		"LLVMOrcCreateLLJIT",
	};

	const char *found = elf_image_mentions(&s->image, names, ARRAY_SIZE(names));

	if (!found)
		return;
	s->places.flags |= CALL_PLACES_SWITCHES;
	snprintf(s->places.nearest, sizeof(s->places.nearest), "%s", found);
}

/*
 * Finds code that switches stacks, but does not have the name of a function that is known to do
 * this.
 */
static int places_note_loads(struct places_search *s)
{
	uint64_t vaddr;
	const char *name;
	size_t n;
	int r = stack_switch_find(&s->image, s->disassembler, &vaddr);

	if (r == -EFBIG) {
		s->places.flags |= CALL_PLACES_UNSEARCHED;
		return 0;
	}
	if (r <= 0)
		return r;
	s->places.flags |= CALL_PLACES_LOADS_STACK;
	name = stack_switch_name(&s->image, vaddr, &n);
	if (name && n < sizeof(s->places.nearest))
		memcpy(s->places.nearest, name, n);
	else
		snprintf(s->places.nearest, sizeof(s->places.nearest), "0x%" PRIx64, vaddr);
	return 0;
}

/*
 * Returns true if the name, whose function is chosen at run time, means a function of the kernel's
 * vDSO: the file then contains the name by which it asks for that function.
 */
static bool places_is_of_vdso(const struct places_search *s)
{
	char name[CALL_PLACE_NAME_MAX];
	int n = snprintf(name, sizeof(name), "__vdso_%s", s->pattern);

	return !s->glob && n < (int)sizeof(name) &&
	       memmem(s->image.data, s->image.size, name, (size_t)n + 1) != NULL;
}

/* Returns true if sections describe the code. Packers and some other tools remove such sections. */
static bool places_has_sections(const struct places_search *s)
{
	GElf_Shdr header;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(s->image.elf, scn));)
		if (gelf_getshdr(scn, &header) && header.sh_flags & SHF_EXECINSTR)
			return true;
	return s->image.n_loads == 0;
}

static int places_refuse_switches(struct places_search *s)
{
	if (!places_has_sections(s)) {
		s->places.flags |= CALL_PLACES_NO_SECTIONS;
		return 0;
	}
	places_note_switches(s);
	if (s->places.flags || s->image.header.e_machine != EM_X86_64)
		return 0;
	return disassembler_new(&s->disassembler) ?: places_note_loads(s);
}

static int places_search_image(struct places_search *s)
{
	GElf_Shdr table;
	size_t n_symbols;
	int r = 0;

	s->places.flags |=
		(s->image.foreign ? CALL_PLACES_FOREIGN : 0) | (s->image.go ? CALL_PLACES_GO : 0);
	if (s->places.flags)
		return 0;
	if (s->query->refuses_switches)
		r = places_refuse_switches(s);
	if (r < 0 || s->places.flags)
		return r;
	if (s->query->range.is_used) {
		places_find_range(s);
		return s->n_found > 0 ? places_search_code(s) : 0;
	}
	elf_image_functions(&s->image, places_add_function, s, &n_symbols);
	elf_image_indirect(&s->image, places_note_indirect, s);
	if (n_symbols == 0)
		s->places.flags |= CALL_PLACES_NO_SYMBOLS;
	if (s->places.flags & CALL_PLACES_INDIRECT && places_is_of_vdso(s))
		s->places.flags |= CALL_PLACES_VDSO;
	if (s->n_found > 0 || s->n_resolvers > 0)
		return places_search_code(s);
	elf_image_functions(&s->image, places_compare_name, s, &n_symbols);
	if (!elf_image_section(&s->image, ".symtab", &table))
		s->places.flags |= CALL_PLACES_STRIPPED;
	return 0;
}

void call_places_deinit(struct call_places *p)
{
	free(p->places);
	*p = (struct call_places){ 0 };
}

int call_places_find_in(const void *data, size_t n, const struct call_places_query *query,
			struct call_places *ret)
{
	_cleanup_free_ struct places_search *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->query = query;
	places_parse_pattern(s);
	s->nearest = (struct value_nearest){ .text = query->pattern, .distance = VALUE_NEAR };
	r = elf_image_init(&s->image, data, n) ?: places_search_image(s);
	disassembler_free(s->disassembler);
	cold_parts_deinit(&s->cold);
	elf_image_deinit(&s->image);
	if (r == 0)
		*ret = s->places;
	else
		call_places_deinit(&s->places);
	return r;
}
