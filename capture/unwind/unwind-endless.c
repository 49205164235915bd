/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-endless.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "capture/unwind/unwind-code-x86.h"

static const char *const unwind_endless_names[] = {
	"abort",
	"exit",
	"_exit",
	"_Exit",
	"quick_exit",
	"__stack_chk_fail",
	"__assert_fail",
	"__assert",
	"__assert_perror_fail",
	"__fortify_fail",
	"__chk_fail",
	"longjmp",
	"_longjmp",
	"siglongjmp",
	"__longjmp_chk",
	"__cxa_throw",
	"__cxa_rethrow",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_throw_bad_array_new_length",
	"__cxa_throw_bad_array_length",
	"__cxa_call_unexpected",
	"__cxa_pure_virtual",
	"__cxa_deleted_virtual",
	"_ZSt9terminatev",
	"_ZSt10unexpectedv",
	"_Unwind_Resume",
	"pthread_exit",
	"thrd_exit",
	"err",
	"errx",
	"verr",
	"verrx",
	"__libc_start_main",
	"rust_begin_unwind",
};

static bool unwind_endless_is_name(const char *name)
{
	for (size_t i = 0; i < sizeof(unwind_endless_names) / sizeof(unwind_endless_names[0]); i++)
		if (strcmp(name, unwind_endless_names[i]) == 0)
			return true;
	/* std::__throw_*() */
	return strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_") != NULL;
}

/* The tables of the dynamic linker. */
struct unwind_endless_dynamic {
	const uint8_t *symbols, *strings, *plt, *data;
	size_t n_symbols, n_strings, n_plt, n_data; /* bytes */
};

/* Returns the bytes of the file from ADDRESS, or NULL. */
static const uint8_t *unwind_endless_bytes(const struct unwind_elf *elf, uint64_t address,
					   size_t *ret_n)
{
	Elf64_Ehdr header;
	Elf64_Phdr part;

	*ret_n = 0;
	memcpy(&header, elf->data, sizeof(header));
	for (size_t i = 0; i < header.e_phnum; i++) {
		uint64_t at = header.e_phoff + i * sizeof(part);

		if (at > elf->n_data || sizeof(part) > elf->n_data - at)
			return NULL;
		memcpy(&part, elf->data + at, sizeof(part));
		if (part.p_type != PT_LOAD || address - part.p_vaddr >= part.p_filesz ||
		    part.p_offset > elf->n_data || part.p_filesz > elf->n_data - part.p_offset)
			continue;
		*ret_n = part.p_filesz - (address - part.p_vaddr);
		return elf->data + part.p_offset + (address - part.p_vaddr);
	}
	return NULL;
}

static void unwind_endless_read_dynamic(const struct unwind_elf *elf, uint64_t address,
					struct unwind_endless_dynamic *ret)
{
	uint64_t plt_bytes = 0, data_bytes = 0;
	size_t n;
	const uint8_t *p = unwind_endless_bytes(elf, address, &n);
	Elf64_Dyn d = { .d_tag = DT_DEBUG };

	for (; p && n >= sizeof(d) && d.d_tag != DT_NULL; p += sizeof(d), n -= sizeof(d)) {
		memcpy(&d, p, sizeof(d));
		if (d.d_tag == DT_SYMTAB)
			ret->symbols = unwind_endless_bytes(elf, d.d_un.d_ptr, &ret->n_symbols);
		else if (d.d_tag == DT_STRTAB)
			ret->strings = unwind_endless_bytes(elf, d.d_un.d_ptr, &ret->n_strings);
		else if (d.d_tag == DT_JMPREL)
			ret->plt = unwind_endless_bytes(elf, d.d_un.d_ptr, &ret->n_plt);
		else if (d.d_tag == DT_RELA)
			ret->data = unwind_endless_bytes(elf, d.d_un.d_ptr, &ret->n_data);
		else if (d.d_tag == DT_PLTRELSZ)
			plt_bytes = d.d_un.d_val;
		else if (d.d_tag == DT_RELASZ)
			data_bytes = d.d_un.d_val;
	}
	if (ret->n_plt > plt_bytes)
		ret->n_plt = plt_bytes;
	if (ret->n_data > data_bytes)
		ret->n_data = data_bytes;
}

static const char *unwind_endless_name_of(const struct unwind_endless_dynamic *d, uint64_t number)
{
	Elf64_Sym symbol;

	if (number >= d->n_symbols / sizeof(symbol))
		return "";
	memcpy(&symbol, d->symbols + number * sizeof(symbol), sizeof(symbol));
	if (symbol.st_name >= d->n_strings ||
	    !memchr(d->strings + symbol.st_name, 0, d->n_strings - symbol.st_name))
		return "";
	return (const char *)d->strings + symbol.st_name;
}

static int unwind_endless_add(struct unwind_endless *e, const struct unwind_endless_dynamic *d,
			      const uint8_t *p, size_t n)
{
	Elf64_Rela r;

	for (; n >= sizeof(r); p += sizeof(r), n -= sizeof(r)) {
		memcpy(&r, p, sizeof(r));
		if ((ELF64_R_TYPE(r.r_info) != R_X86_64_JUMP_SLOT &&
		     ELF64_R_TYPE(r.r_info) != R_X86_64_GLOB_DAT) ||
		    !unwind_endless_is_name(unwind_endless_name_of(d, ELF64_R_SYM(r.r_info))))
			continue;
		if (GROW(e->slots, e->room, e->n + 1) < 0)
			return -ENOMEM;
		e->slots[e->n++] = r.r_offset;
	}
	return 0;
}

int unwind_endless_find(struct unwind_endless *e, const struct unwind_elf *elf)
{
	struct unwind_endless_dynamic d = { 0 };
	Elf64_Ehdr header;
	Elf64_Phdr part;
	int r = 0;

	*e = (struct unwind_endless){ 0 };
	memcpy(&header, elf->data, sizeof(header));
	for (size_t i = 0; i < header.e_phnum; i++) {
		uint64_t at = header.e_phoff + i * sizeof(part);

		if (at > elf->n_data || sizeof(part) > elf->n_data - at)
			return 0;
		memcpy(&part, elf->data + at, sizeof(part));
		if (part.p_type == PT_DYNAMIC)
			unwind_endless_read_dynamic(elf, part.p_vaddr, &d);
	}
	if (d.symbols && d.strings && d.plt)
		r = unwind_endless_add(e, &d, d.plt, d.n_plt);
	if (r == 0 && d.symbols && d.strings && d.data)
		r = unwind_endless_add(e, &d, d.data, d.n_data);
	return r;
}

void unwind_endless_deinit(struct unwind_endless *e)
{
	free(e->slots);
	*e = (struct unwind_endless){ 0 };
}

bool unwind_endless_has_slot(const struct unwind_endless *e, uint64_t slot)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->slots[i] == slot)
			return true;
	return false;
}

bool unwind_endless_is_plt(const struct unwind_endless *e, const struct unwind_elf *elf,
			   uint64_t address)
{
	struct code_instruction i;
	const uint8_t *p = NULL;
	uint64_t left = 0;

	for (uint32_t k = 0; k < elf->n_segments; k++) {
		const struct unwind_segment *s = &elf->segments[k];

		if (address - s->address < s->size) {
			p = elf->data + s->offset + (address - s->address);
			left = s->size - (address - s->address);
		}
	}
	for (int k = 0; p && k < 2 && code_x86_read(p, left, address, &i); k++) {
		if (i.kind == CODE_GO)
			return i.has_slot && unwind_endless_has_slot(e, i.slot);
		p += i.length;
		left -= i.length;
		address += i.length;
	}
	return false;
}
