/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack-depths OBJECT [LIMIT]: the size of the stack that each eBPF program needs, with the
 * functions that it calls, as the verifier of Linux 6.1 sums it: the frame of each function,
 * rounded up to 32 bytes. The verifier refuses programs with more than 512 bytes, or with more than
 * 8 frames.
 *
 * Prints "program BYTES FRAMES NAME FRAME [FUNCTION FRAME ...]" for each program, with the deepest
 * chain of its calls. Exits 1 if a program needs more than LIMIT bytes (512), or too many frames.
 */
#include <fcntl.h>
#include <gelf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

enum { FUNCTIONS_MAX = 1024, CALLS_MAX = 128, FRAMES_MAX = 8, LIMIT = 512, ROUNDED_TO = 32 };

struct function {
	const char *name;
	size_t section;
	uint64_t begin, end; /* in bytes */
	bool is_program;
	uint32_t frame; /* in bytes */
	struct function *calls[CALLS_MAX];
	size_t n_calls;
	/* The deepest chain from here; 0 = not known yet. */
	uint32_t depth, n_frames;
	struct function *next;
};

static struct function functions[FUNCTIONS_MAX];
static size_t n_functions;

static void stack_depths_die(const char *why)
{
	fprintf(stderr, "stack-depths: %s\n", why);
	exit(2);
}

static struct function *stack_depths_at(size_t section, uint64_t at)
{
	for (size_t i = 0; i < n_functions; i++)
		if (functions[i].section == section && at >= functions[i].begin &&
		    at < functions[i].end)
			return &functions[i];
	return NULL;
}

/* ---- frames ---- */

/* The registers that point into the frame, and how far below its top they point. */
struct pointers {
	bool is[MAX_BPF_REG];
	int32_t below[MAX_BPF_REG];
};

static void stack_depths_use(struct function *f, int32_t below)
{
	if (below > 0 && (uint32_t)below > f->frame)
		f->frame = (uint32_t)below;
}

/* Each instruction is examined once, in order: that is enough, since compilers compute a pointer
 * into the frame right where they use it. */
static void stack_depths_step(struct function *f, struct pointers *p, const struct bpf_insn *insn)
{
	uint32_t class = BPF_CLASS(insn->code);
	uint32_t base = class == BPF_LDX ? insn->src_reg : insn->dst_reg;

	if ((class == BPF_LDX || class == BPF_ST || class == BPF_STX) && p->is[base])
		stack_depths_use(f, p->below[base] - insn->off);
	if (insn->code == (BPF_ALU64 | BPF_MOV | BPF_X)) {
		p->is[insn->dst_reg] = p->is[insn->src_reg];
		p->below[insn->dst_reg] = p->below[insn->src_reg];
	} else if (insn->code == (BPF_ALU64 | BPF_ADD | BPF_K) && p->is[insn->dst_reg]) {
		p->below[insn->dst_reg] -= insn->imm;
		stack_depths_use(f, p->below[insn->dst_reg]);
	} else if (class == BPF_ALU || class == BPF_ALU64 || class == BPF_LDX || class == BPF_LD) {
		p->is[insn->dst_reg] = false;
	} else if (insn->code == (BPF_JMP | BPF_CALL)) {
		memset(p->is, 0, BPF_REG_6 * sizeof(p->is[0]));
	}
}

static void stack_depths_measure(struct function *f, const Elf_Data *code)
{
	struct pointers p = { .is[BPF_REG_10] = true };

	for (uint64_t at = f->begin; at + sizeof(struct bpf_insn) <= f->end;
	     at += sizeof(struct bpf_insn)) {
		const struct bpf_insn *insn = (const void *)((const char *)code->d_buf + at);

		stack_depths_step(f, &p, insn);
		if (insn->code == (BPF_LD | BPF_IMM | BPF_DW))
			at += sizeof(struct bpf_insn);
	}
}

/* ---- calls ---- */

static void stack_depths_add_call(size_t section, uint64_t at, struct function *called)
{
	struct function *f = stack_depths_at(section, at);

	if (!f || !called)
		stack_depths_die("a call leads nowhere");
	if (f->n_calls == CALLS_MAX)
		stack_depths_die("a function has too many calls");
	f->calls[f->n_calls++] = called;
}

/* Calls in the same section need no relocation. */
static void stack_depths_find_calls(size_t section, const Elf_Data *code, const bool *relocated)
{
	for (size_t i = 0; i < code->d_size / sizeof(struct bpf_insn); i++) {
		const struct bpf_insn *insn = (const struct bpf_insn *)code->d_buf + i;

		if (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL &&
		    !relocated[i])
			stack_depths_add_call(
				section, i * sizeof(*insn),
				stack_depths_at(section, (uint64_t)((int64_t)i + 1 + insn->imm) *
								 sizeof(*insn)));
	}
}

/* A relocation of SECTION: a call, or the address of a callback, which runs on the same stack. */
static void stack_depths_relocate(size_t section, const Elf_Data *code, const GElf_Rel *rel,
				  const GElf_Sym *symbol, bool *relocated)
{
	const struct bpf_insn *insn = (const void *)((const char *)code->d_buf + rel->r_offset);
	bool is_call = insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
	int64_t at = (int64_t)symbol->st_value;

	relocated[rel->r_offset / sizeof(*insn)] = true;
	at += is_call ? ((int64_t)insn->imm + 1) * (int64_t)sizeof(*insn) : insn->imm;
	if (is_call || stack_depths_at(symbol->st_shndx, (uint64_t)at))
		stack_depths_add_call(section, rel->r_offset,
				      stack_depths_at(symbol->st_shndx, (uint64_t)at));
}

/* ---- the object ---- */

static void stack_depths_read_symbols(Elf *elf, const Elf_Data *symbols, size_t names)
{
	GElf_Sym symbol;

	for (int i = 0; gelf_getsym((Elf_Data *)symbols, i, &symbol); i++) {
		GElf_Shdr header;
		Elf_Scn *section;

		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		if (n_functions == FUNCTIONS_MAX)
			stack_depths_die("the object has too many functions");
		section = elf_getscn(elf, symbol.st_shndx);
		if (!section || !gelf_getshdr(section, &header))
			stack_depths_die("a function is in no section");
		functions[n_functions++] = (struct function){
			.name = elf_strptr(elf, names, symbol.st_name),
			.section = symbol.st_shndx,
			.begin = symbol.st_value,
			.end = symbol.st_value + symbol.st_size,
		};
	}
}

static void stack_depths_read_code(Elf *elf, size_t number, const Elf_Data *symbols,
				   size_t n_sections)
{
	const Elf_Data *code = elf_getdata(elf_getscn(elf, number), NULL);
	_cleanup_free_ bool *relocated = NULL;

	relocated = calloc(code->d_size / sizeof(struct bpf_insn) + 1, sizeof(*relocated));
	if (!relocated)
		stack_depths_die("no memory");
	for (size_t i = 1; i < n_sections; i++) {
		Elf_Scn *section = elf_getscn(elf, i);
		GElf_Shdr header;
		GElf_Sym symbol;
		GElf_Rel rel;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_REL ||
		    header.sh_info != number)
			continue;
		for (int n = 0; gelf_getrel(elf_getdata(section, NULL), n, &rel); n++)
			if (rel.r_offset < code->d_size &&
			    gelf_getsym((Elf_Data *)symbols, (int)GELF_R_SYM(rel.r_info), &symbol))
				stack_depths_relocate(number, code, &rel, &symbol, relocated);
	}
	stack_depths_find_calls(number, code, relocated);
	for (size_t i = 0; i < n_functions; i++)
		if (functions[i].section == number)
			stack_depths_measure(&functions[i], code);
}

static void stack_depths_read(Elf *elf)
{
	const Elf_Data *symbols = NULL;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t n_sections, names;

	if (elf_getshdrnum(elf, &n_sections) < 0 || elf_getshdrstrndx(elf, &names) < 0)
		stack_depths_die("the file is no object");
	while ((section = elf_nextscn(elf, section)) && gelf_getshdr(section, &header))
		if (header.sh_type == SHT_SYMTAB) {
			symbols = elf_getdata(section, NULL);
			stack_depths_read_symbols(elf, symbols, header.sh_link);
		}
	if (!symbols || n_functions == 0)
		stack_depths_die("the object has no functions");
	for (size_t i = 1; i < n_sections; i++) {
		section = elf_getscn(elf, i);
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
		    header.sh_size == 0)
			continue;
		stack_depths_read_code(elf, i, symbols, n_sections);
		/* (called functions are in one section, and programs in others) */
		for (size_t n = 0; n < n_functions; n++)
			if (functions[n].section == i)
				functions[n].is_program =
					strcmp(elf_strptr(elf, names, header.sh_name), ".text") !=
					0;
	}
}

/* ---- chains ---- */

static uint32_t stack_depths_rounded(uint32_t bytes)
{
	return bytes == 0 ? ROUNDED_TO : (bytes + ROUNDED_TO - 1) / ROUNDED_TO * ROUNDED_TO;
}

/* Finds the deepest chain of calls from F on. N_ABOVE functions lead to F. */
static void stack_depths_sum(struct function *f, uint32_t n_above)
{
	uint32_t n_frames = 0;

	if (n_above > n_functions)
		stack_depths_die("a function calls itself");
	if (f->depth)
		return;
	for (size_t i = 0; i < f->n_calls; i++) {
		stack_depths_sum(f->calls[i], n_above + 1);
		if (!f->next || f->calls[i]->depth > f->next->depth)
			f->next = f->calls[i];
		if (f->calls[i]->n_frames > n_frames)
			n_frames = f->calls[i]->n_frames;
	}
	f->depth = stack_depths_rounded(f->frame) + (f->next ? f->next->depth : 0);
	f->n_frames = n_frames + 1;
}

int main(int argc, char *argv[])
{
	uint32_t limit = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : LIMIT;
	_cleanup_close_ int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	bool good = true;
	Elf *elf;

	if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE)
		stack_depths_die("Usage: stack-depths OBJECT [LIMIT]");
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		stack_depths_die("the file is no object");
	stack_depths_read(elf);
	for (size_t i = 0; i < n_functions; i++) {
		const struct function *f = &functions[i];

		if (!f->is_program)
			continue;
		stack_depths_sum(&functions[i], 0);
		printf("program %u %u", f->depth, f->n_frames);
		for (; f; f = f->next)
			printf(" %s %u", f->name, f->frame);
		putchar('\n');
		good &= functions[i].depth <= limit && functions[i].n_frames <= FRAMES_MAX;
	}
	elf_end(elf);
	return good ? 0 : 1;
}
