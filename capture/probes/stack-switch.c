/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A quick search of the bytes finds candidates. Only the functions around candidates are
 * disassembled.
 */
#include "capture/probes/stack-switch.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "capture/probes/function-start.h"
#include "capture/probes/stack-flow.h"

enum {
	/* Maximum number of instructions from the load to where control is passed on. */
	BEHIND_MAX = 32,
	FUNCTION_MAX = 1 << 20, /* maximum number of bytes of one function; the rest is not read */
	READ_MAX = 1 << 23,     /* maximum number of bytes of one file that are disassembled */
	KNOWN_MAX = 256,        /* maximum number of loads in known functions of one file */
	REX_WIDE = 0x48,        /* the prefix of 64-bit instructions; its bits follow */
	REX_BASE = 1,
	REX_REGISTER = 4,
	REGISTER_SP = 4,
	REGISTER_BP = 5,
};

struct switch_search {
	const struct elf_image *image;
	struct disassembler *disassembler;
	struct stack_flow flow;
	size_t n_read; /* bytes that were disassembled */
	int n_known;
};

/* ---- candidates ---- */

/* Returns true if the instruction whose prefix is P[0], a REX.W, can load the stack pointer. */
static bool stack_switch_is_wide(const uint8_t *p, size_t n)
{
	uint8_t modrm = p[2], mod = modrm >> 6, low = modrm & 7;
	uint8_t reg = (modrm >> 3 & 7) | (p[0] & REX_REGISTER ? 8 : 0);
	uint8_t base = p[0] & REX_BASE ? 8 : 0;
	bool is_register = mod == 3 && (low | base) == REGISTER_SP;

	if (mod != 3)
		base |= low == 4 && n > 3 ? p[3] & 7 : low;
	switch (p[1]) {
	case 0x89: /* mov register,operand */
		return is_register && reg != REGISTER_BP;
	case 0x8b: /* mov operand,register */
		return reg == REGISTER_SP && (mod == 3 || mod == 0 || base != REGISTER_BP);
	case 0x8d: /* lea */
		return reg == REGISTER_SP && base != REGISTER_SP && base != REGISTER_BP;
	case 0x87: /* xchg */
		return reg == REGISTER_SP || is_register;
	case 0x94: /* xchg with rax */
		return !(p[0] & REX_BASE);
	default:
		return false;
	}
}

/*
 * Returns true if only pops and a return or a jump to a register follow at P. The byte of a pop is
 * frequent in code, so more than that byte must match.
 */
static bool stack_switch_is_end(const uint8_t *p, size_t n)
{
	size_t at = 0;

	while (at + 2 < n &&
	       ((p[at] & 0xf8) == 0x58 || (p[at] == 0x41 && (p[at + 1] & 0xf8) == 0x58)))
		at += p[at] == 0x41 ? 2 : 1;
	if (at < n && p[at] == 0x41)
		at++;
	return at + 1 < n && (p[at] == 0xc3 || (p[at] == 0xff && (p[at + 1] & 0xf8) == 0xe0));
}

/*
 * Returns true if an instruction that loads the stack pointer can begin at AT in the N bytes at P.
 */
static bool stack_switch_is_candidate(const uint8_t *p, size_t n, size_t at)
{
	bool has_prefix = at > 0 && p[at - 1] == 0x41;

	p += at;
	n -= at;
	if (n < 4)
		return false;
	if ((p[0] & 0xf8) == REX_WIDE)
		return stack_switch_is_wide(p, n);
	/* With a prefix, 0x5c pops r12, and not the stack pointer. */
	return (p[0] == 0x5c && !has_prefix && stack_switch_is_end(p + 1, n - 1)) ||
	       (p[0] == 0x8f && p[1] == 0xc4 && stack_switch_is_end(p + 2, n - 2));
}

/* ---- functions ---- */

/* How a function has used the stack pointer so far. */
struct switch_state {
	bool stores;  /* the stack pointer was copied to memory */
	bool aligned; /* the stack pointer was rounded */
};

/* Returns true if STEP, in the function with STATE, loads an address of another stack. */
static bool stack_switch_is_load(const struct stack_flow_step *step,
				 const struct switch_state *state)
{
	const struct instruction_stack *i = &step->stack;

	if (!i->is_loaded || state->aligned)
		return false;
	if (i->is_popped)
		return state->stores;
	return i->from < 0 || i->from_memory ? i->from != REGISTER_BP
					     : !(step->own & 1U << i->from);
}

/*
 * Returns true if control is passed on soon, after the instruction at AT in the N bytes at P. If
 * not, the bytes are data between functions.
 */
static bool stack_switch_continues(struct switch_search *s, const uint8_t *p, size_t n, size_t at)
{
	struct instruction i;

	for (int step = 0; step < BEHIND_MAX && at < n; step++, at += i.length) {
		if (!disassembler_read(s->disassembler, p + at, n - at, at, &i))
			return false;
		if (i.kind == INSTRUCTION_RETURN || i.kind == INSTRUCTION_CALL ||
		    i.kind == INSTRUCTION_JUMP)
			return true;
	}
	return false;
}

/* An instruction in the code of a function. */
struct switch_load {
	size_t at, end;
};

/*
 * Returns true if a candidate is in LOAD, at or after FIRST. (Prefixes can come before the
 * candidate.)
 */
static bool stack_switch_has_candidate(const uint8_t *p, size_t n, size_t first,
				       const struct switch_load *load)
{
	for (size_t at = load->at > first ? load->at : first; at < load->end; at++)
		if (stack_switch_is_candidate(p, n, at))
			return true;
	return false;
}

/*
 * Searches the N bytes at P of a function whose code was followed. Returns whether a switch was
 * found that ends after FIRST. (An earlier load was judged with the code before it.)
 */
static bool stack_switch_read(struct switch_search *s, const uint8_t *p, size_t n, size_t first,
			      struct switch_load *ret)
{
	struct switch_state state = { 0 };

	/*
	 * All instructions are checked for this first, because a jump can lead back from a copy at
	 * a higher address.
	 */
	for (size_t k = 0; k < s->flow.n; k++)
		state.stores |= s->flow.steps[k].stack.is_stored;
	for (size_t k = 0; k < s->flow.n; k++) {
		const struct stack_flow_step *step = &s->flow.steps[k];
		struct switch_load load = { step->at, k + 1 < s->flow.n ? step[1].at : n };

		state.aligned |= step->stack.aligns;
		if (load.end > first && stack_switch_is_load(step, &state) &&
		    stack_switch_has_candidate(p, n, first, &load) &&
		    stack_switch_continues(s, p, n, load.at)) {
			*ret = load;
			return true;
		}
		/*
		 * A function without a name can begin after a trap. The stack of that function is
		 * not aligned yet.
		 */
		if (step->kind == INSTRUCTION_END)
			state.aligned = false;
	}
	return false;
}

/* ---- known functions ---- */

struct switch_name {
	uint64_t vaddr, begin, bytes;
	const char *name;
	size_t n;
};

static int stack_switch_on_name(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
				void *userdata)
{
	struct switch_name *found = userdata;

	if (n == 0 || vaddr > found->vaddr || (found->name && vaddr <= found->begin))
		return 0;
	found->name = name;
	found->n = n;
	found->begin = vaddr;
	found->bytes = bytes;
	return 0;
}

static struct switch_name stack_switch_nearest(const struct elf_image *image, uint64_t vaddr)
{
	struct switch_name found = { .vaddr = vaddr };
	size_t n;

	elf_image_functions(image, stack_switch_on_name, &found, &n);
	elf_image_labels(image, stack_switch_on_name, &found);
	return found;
}

/*
 * Returns true if the address is after the end of the function that was found. The name of assembly
 * code can have no size.
 */
static bool stack_switch_is_behind(const struct switch_name *found)
{
	return found->bytes > 0 && found->vaddr - found->begin >= found->bytes;
}

const char *stack_switch_name(const struct elf_image *image, uint64_t vaddr, size_t *ret_n)
{
	struct switch_name found = stack_switch_nearest(image, vaddr);

	*ret_n = found.n;
	return stack_switch_is_behind(&found) ? NULL : found.name;
}

static bool stack_switch_begins(const struct switch_name *found, const char *with)
{
	size_t n = strlen(with);

	return found->n >= n && memcmp(found->name, with, n) == 0;
}

/*
 * Returns true if the code at VADDR belongs to longjmp() or the unwinder, which end calls for good,
 * or to a function that stays on its stack in an unusual way.
 */
static bool stack_switch_is_known(const struct elf_image *image, uint64_t vaddr)
{
	static const char *const begins[] = {
		"_Unwind_", "_dl_runtime_", "_dl_tlsdesc_", "ffi_", "_Ux86_64_", "_ULx86_64_",
	};
	static const char *const parts[] = { "longjmp", "frame_info" };
	struct switch_name found = stack_switch_nearest(image, vaddr);

	/*
	 * In a stripped libffi, code without names follows the functions that it exports. Such code
	 * belongs to libffi, too.
	 */
	if (!found.name || (stack_switch_is_behind(&found) && !stack_switch_begins(&found, "ffi_")))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (stack_switch_begins(&found, begins[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (memmem(found.name, found.n, parts[i], strlen(parts[i])))
			return true;
	return false;
}

/*
 * Returns true if the N bytes at P begin with the end of glibc's longjmp(). Stripped static
 * programs contain it without its name.
 */
static bool stack_switch_is_longjmp(const uint8_t *p, size_t n)
{
	/* mov %r8,%rsp; mov %r9,%rbp; jmp *%rdx */
	static const uint8_t end[] = { 0x4c, 0x89, 0xc4, 0x4c, 0x89, 0xcd, 0xff, 0xe2 };

	return n >= sizeof(end) && memcmp(p, end, sizeof(end)) == 0;
}

/* ---- sections ---- */

/* The code that is read around a candidate: a function, or code in which no function is known. */
struct switch_range {
	size_t from, to;
	bool is_begin; /* a function is known to begin there */
};

/* Returns the range around offset AT in the N bytes of code that are loaded at VADDR. */
static struct switch_range stack_switch_around(const struct switch_search *s, size_t at, size_t n,
					       uint64_t vaddr)
{
	const struct stack_flow *f = &s->flow;
	size_t before = stack_flow_count_before(f, vaddr + at);
	struct switch_range range = { .to = n };

	if (before > 0 && f->starts[before - 1] >= vaddr) {
		range.from = f->starts[before - 1] - vaddr;
		range.is_begin = true;
	}
	if (before < f->n_starts && f->starts[before] - vaddr < n)
		range.to = f->starts[before] - vaddr;
	if (at - range.from > FUNCTION_MAX / 2) {
		range.from = at - FUNCTION_MAX / 2;
		range.is_begin = false;
	}
	if (range.to - range.from > FUNCTION_MAX)
		range.to = range.from + FUNCTION_MAX;
	return range;
}

/*
 * Searches RANGE of the code at P, from the candidate at AT on. The code is loaded at VADDR.
 * Returns 1 and the address, 0 or -ENOMEM.
 */
static int stack_switch_search_range(struct switch_search *s, const struct switch_range *range,
				     const uint8_t *p, uint64_t vaddr, size_t at,
				     uint64_t *ret_vaddr)
{
	const uint8_t *code = p + range->from;
	size_t size = range->to - range->from, first = at - range->from;
	struct switch_load load;

	s->n_read += size;
	vaddr += range->from;
	if (stack_flow_read(&s->flow, code, size, vaddr, range->is_begin) < 0)
		return -ENOMEM;
	if (!stack_switch_read(s, code, size, first, &load))
		return 0;
	stack_flow_read_callees(&s->flow);
	for (; stack_switch_read(s, code, size, first, &load); first = load.end) {
		if (s->n_known < KNOWN_MAX &&
		    (stack_switch_is_longjmp(code + load.at, size - load.at) ||
		     stack_switch_is_known(s->image, vaddr + load.at))) {
			s->n_known++;
			continue;
		}
		*ret_vaddr = vaddr + load.at;
		return 1;
	}
	return 0;
}

/*
 * Searches the N bytes of code at P. The code is loaded at VADDR. Returns 1 and the address, 0,
 * -EFBIG or -ENOMEM.
 */
static int stack_switch_search(struct switch_search *s, const uint8_t *p, size_t n, uint64_t vaddr,
			       uint64_t *ret_vaddr)
{
	int r = 0;

	for (size_t at = 0; r == 0 && at < n; at++) {
		struct switch_range range;

		if (!stack_switch_is_candidate(p, n, at))
			continue;
		if (s->n_read >= READ_MAX)
			return -EFBIG;
		range = stack_switch_around(s, at, n, vaddr);
		r = stack_switch_search_range(s, &range, p, vaddr, at, ret_vaddr);
		at = range.to - 1;
	}
	return r;
}

int stack_switch_find(const struct elf_image *image, struct disassembler *d, uint64_t *ret_vaddr)
{
	struct switch_search s = {
		.image = image,
		.disassembler = d,
		.flow = { .image = image, .disassembler = d },
	};
	_cleanup_free_ uint64_t *starts = NULL;
	GElf_Shdr header;
	int r = function_start_list(image, &starts, &s.flow.n_starts);

	if (r < 0)
		return r;
	s.flow.starts = starts;
	for (Elf_Scn *scn = NULL; r == 0 && (scn = elf_nextscn(image->elf, scn));) {
		uint64_t offset;
		size_t n;
		const uint8_t *p = NULL;

		if (gelf_getshdr(scn, &header) && header.sh_flags & SHF_EXECINSTR)
			p = elf_image_code(image, header.sh_addr, &n, &offset);
		if (p)
			r = stack_switch_search(&s, p, n < header.sh_size ? n : header.sh_size,
						header.sh_addr, ret_vaddr);
	}
	stack_flow_deinit(&s.flow);
	return r;
}
