/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interpreter exports the symbols that a walk needs, so they are in all builds.
 *
 * Compilers move code that is rarely executed out of a function, to a second part elsewhere.
 * Stripped files have no symbol for the second part of the function that executes Python, so it is
 * found by the jumps to it: a jump from the first part to the middle of another function leads to
 * the second part.
 */
#include "capture/unwind/unwind-python.h"

#include <elf.h>
#include <string.h>

#include "capture/unwind/unwind-code-x86.h"

enum { FUNCTION_BYTES_MAX = 1 << 20 };

/* Finds the symbol NAME that is defined in ELF. Returns false if there is none. */
static bool unwind_python_symbol(const struct unwind_elf *elf, const char *name, Elf64_Sym *ret)
{
	for (size_t i = 0; i < elf->n_symbols; i++) {
		const char *found;

		memcpy(ret, elf->symbols + i * sizeof(*ret), sizeof(*ret));
		if (ret->st_shndx == SHN_UNDEF || ret->st_value == 0)
			continue;
		found = unwind_elf_name(elf, ret->st_name);
		if (found && strcmp(found, name) == 0)
			return true;
	}
	return false;
}

/* Returns the N bytes of ELF that are loaded at ADDRESS, or NULL. */
static const uint8_t *unwind_python_loaded(const struct unwind_elf *elf, uint64_t address, size_t n)
{
	Elf64_Ehdr head;

	if (elf->n_data < sizeof(head))
		return NULL;
	memcpy(&head, elf->data, sizeof(head));
	for (unsigned i = 0; i < head.e_phnum; i++) {
		uint64_t at = head.e_phoff + (uint64_t)i * head.e_phentsize, inside;
		Elf64_Phdr part;

		if (head.e_phoff > elf->n_data || at > elf->n_data ||
		    elf->n_data - at < sizeof(part))
			return NULL;
		memcpy(&part, elf->data + at, sizeof(part));
		inside = address - part.p_vaddr;
		if (part.p_type == PT_LOAD && address >= part.p_vaddr && n <= part.p_filesz &&
		    inside <= part.p_filesz - n && part.p_offset <= elf->n_data &&
		    inside <= elf->n_data - part.p_offset &&
		    n <= elf->n_data - part.p_offset - inside)
			return elf->data + part.p_offset + inside;
	}
	return NULL;
}

/* Finds the second part of the function that executes Python. The first part is known. */
static void unwind_python_find_part(const struct unwind_elf *elf,
				    bool (*function_at)(void *userdata, uint64_t address,
							uint64_t *ret_begin, uint64_t *ret_end),
				    void *userdata, struct unwind_python *python)
{
	uint64_t begin = python->parts[0].begin, end = python->parts[0].end, n = end - begin;
	const uint8_t *code = unwind_python_loaded(elf, begin, n);
	struct code_instruction i;

	for (uint64_t at = 0; code && at < n; at += i.length) {
		uint64_t first, last;

		if (!code_x86_read(code + at, n - at, begin + at, &i))
			return;
		if ((i.kind == CODE_JUMP || i.kind == CODE_BRANCH) &&
		    (i.target < begin || i.target >= end) &&
		    function_at(userdata, i.target, &first, &last) && first < i.target) {
			python->parts[1].begin = first;
			python->parts[1].end = last;
			return;
		}
	}
}

void unwind_python_find(const struct unwind_elf *elf,
			bool (*function_at)(void *userdata, uint64_t address, uint64_t *ret_begin,
					    uint64_t *ret_end),
			void *userdata, struct unwind_python *ret)
{
	Elf64_Sym runtime, eval, type, version;
	const uint8_t *value;

	*ret = (struct unwind_python){ 0 };
	if (!unwind_python_symbol(elf, "_PyRuntime", &runtime) ||
	    !unwind_python_symbol(elf, "_PyEval_EvalFrameDefault", &eval) ||
	    eval.st_size > FUNCTION_BYTES_MAX)
		return;
	ret->runtime = runtime.st_value;
	ret->runtime_bytes = runtime.st_size;
	ret->parts[0].begin = eval.st_value;
	ret->parts[0].end = eval.st_value + eval.st_size;
	if (unwind_python_symbol(elf, "PyCode_Type", &type))
		ret->code_type = type.st_value;
	if (unwind_python_symbol(elf, "Py_Version", &version)) {
		value = unwind_python_loaded(elf, version.st_value, sizeof(ret->version));
		if (value)
			memcpy(&ret->version, value, sizeof(ret->version));
	}
	unwind_python_find_part(elf, function_at, userdata, ret);
}
