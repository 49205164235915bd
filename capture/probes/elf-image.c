/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/elf-image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/string-table.h"

enum { SLOTS_MAX = 1 << 18 };

/*
 * The machine for which kymo is built, and its relocations for words that hold the address of a
 * function.
 */
#if defined(__x86_64__)
enum {
	MACHINE = EM_X86_64,
	RELOC_SLOT = R_X86_64_JUMP_SLOT,
	RELOC_WORD = R_X86_64_GLOB_DAT,
	RELOC_RESOLVER = R_X86_64_IRELATIVE,
};
#elif defined(__aarch64__)
enum {
	MACHINE = EM_AARCH64,
	RELOC_SLOT = R_AARCH64_JUMP_SLOT,
	RELOC_WORD = R_AARCH64_GLOB_DAT,
	RELOC_RESOLVER = R_AARCH64_IRELATIVE,
};
#else
enum { MACHINE = EM_NONE, RELOC_SLOT = -1, RELOC_WORD = -1, RELOC_RESOLVER = -1 };
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { BYTE_ORDER_OURS = ELFDATA2LSB };
#else
enum { BYTE_ORDER_OURS = ELFDATA2MSB };
#endif

static bool elf_image_is_foreign(const unsigned char *ident, uint16_t machine)
{
	return ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != BYTE_ORDER_OURS ||
	       (MACHINE != EM_NONE && machine != MACHINE);
}

static void elf_image_add_load(struct elf_image *image, const GElf_Phdr *header)
{
	uint64_t size = header->p_filesz;

	if (!(header->p_flags & PF_X) || header->p_offset >= image->size ||
	    header->p_vaddr + size < header->p_vaddr || image->n_loads == ARRAY_SIZE(image->loads))
		return;
	if (size > image->size - header->p_offset)
		size = image->size - header->p_offset;
	image->loads[image->n_loads++] = (struct elf_load){
		.vaddr = header->p_vaddr,
		.offset = header->p_offset,
		.size = size,
	};
}

static bool elf_image_has_pie_flag(const struct elf_image *image, const GElf_Phdr *header)
{
	Elf_Data *data;
	GElf_Dyn dyn;

	if (header->p_offset > image->size || header->p_filesz > image->size - header->p_offset)
		return false;
	data = elf_getdata_rawchunk(image->elf, (int64_t)header->p_offset, header->p_filesz,
				    ELF_T_DYN);
	for (int i = 0; data && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++)
		if (dyn.d_tag == DT_FLAGS_1)
			return dyn.d_un.d_val & DF_1_PIE;
	return false;
}

static int elf_image_read_segments(struct elf_image *image)
{
	bool interpreter = false, program = image->header.e_type == ET_EXEC;
	GElf_Phdr header;
	size_t n;

	if (elf_getphdrnum(image->elf, &n) != 0)
		return -EBADMSG;
	for (size_t i = 0; i < n && gelf_getphdr(image->elf, (int)i, &header); i++) {
		if (header.p_type == PT_LOAD)
			elf_image_add_load(image, &header);
		else if (header.p_type == PT_INTERP)
			interpreter = true;
		else if (header.p_type == PT_DYNAMIC && elf_image_has_pie_flag(image, &header))
			program = true;
	}
	image->is_static = program && !interpreter;
	return 0;
}

Elf_Scn *elf_image_section(const struct elf_image *image, const char *name, GElf_Shdr *ret)
{
	size_t names;

	if (elf_getshdrstrndx(image->elf, &names) != 0)
		return NULL;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(image->elf, s));) {
		const char *its =
			gelf_getshdr(s, ret) ? elf_strptr(image->elf, names, ret->sh_name) : NULL;

		if (its && strcmp(its, name) == 0)
			return s;
	}
	return NULL;
}

static bool elf_image_is_go(const struct elf_image *image)
{
	GElf_Shdr header;

	return elf_image_section(image, ".go.buildinfo", &header) ||
	       elf_image_section(image, ".note.go.buildid", &header);
}

int elf_image_init(struct elf_image *image, const void *data, size_t n)
{
	const unsigned char *ident = data;

	*image = (struct elf_image){ .data = data, .size = n };
	/* The magic number is checked here, because libelf would also open archives. */
	if (n < sizeof(Elf32_Ehdr) || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	elf_version(EV_CURRENT);
	/* libelf does not write to DATA. It copies parts that are not aligned. */
	image->elf = elf_memory((char *)data, n);
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF ||
	    !gelf_getehdr(image->elf, &image->header))
		return -EBADMSG;
	if (image->header.e_type != ET_EXEC && image->header.e_type != ET_DYN)
		return -ENOEXEC;
	image->foreign = elf_image_is_foreign(ident, image->header.e_machine);
	if (image->foreign)
		return 0;
	image->go = elf_image_is_go(image);
	return elf_image_read_segments(image);
}

void elf_image_deinit(struct elf_image *image)
{
	elf_end(image->elf);
	free(image->slots);
	*image = (struct elf_image){ 0 };
}

/* ---- symbols ---- */

/* Reads symbol I and its name. Returns false if it is invalid. */
static bool elf_image_read_symbol(const struct elf_image *image, Elf_Data *data,
				  const GElf_Shdr *header, size_t i, GElf_Sym *ret,
				  const char **ret_name)
{
	if (!gelf_getsym(data, (int)i, ret))
		return false;
	*ret_name = elf_strptr(image->elf, header->sh_link, ret->st_name);
	return *ret_name != NULL;
}

static bool elf_image_symbol_is(const GElf_Sym *symbol, unsigned type)
{
	/*
	 * Local symbols count, too: linkers make all functions of a static program local if it
	 * exports nothing.
	 */
	return GELF_ST_TYPE(symbol->st_info) == type && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_value != 0;
}

static bool elf_image_is_function(const GElf_Sym *symbol)
{
	return elf_image_symbol_is(symbol, STT_FUNC);
}

static size_t elf_image_count_entries(const GElf_Shdr *header, const Elf_Data *data)
{
	size_t n = header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	return n < INT32_MAX ? n : INT32_MAX;
}

/* Calls FN for the functions in the symbol table SCN. */
static int elf_image_walk_symbols(const struct elf_image *image, Elf_Scn *scn, unsigned type,
				  elf_function_fn fn, void *userdata, size_t *n_seen)
{
	GElf_Shdr header;
	Elf_Data *data;
	int r = 0;

	if (!gelf_getshdr(scn, &header) ||
	    (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB) ||
	    !(data = elf_getdata(scn, NULL)))
		return 0;
	for (size_t i = 0; r == 0 && i < elf_image_count_entries(&header, data); i++) {
		const char *name;
		GElf_Sym symbol;

		if (!elf_image_read_symbol(image, data, &header, i, &symbol, &name) ||
		    !elf_image_symbol_is(&symbol, type))
			continue;
		++*n_seen;
		/* In .symtab, linkers append the version to the name. */
		r = fn(name, strcspn(name, "@"), symbol.st_value, symbol.st_size, userdata);
	}
	return r;
}

int elf_image_functions(const struct elf_image *image, elf_function_fn fn, void *userdata,
			size_t *ret_n)
{
	int r = 0;

	*ret_n = 0;
	for (Elf_Scn *s = NULL; r == 0 && (s = elf_nextscn(image->elf, s));)
		r = elf_image_walk_symbols(image, s, STT_FUNC, fn, userdata, ret_n);
	return r;
}

int elf_image_indirect(const struct elf_image *image, elf_function_fn fn, void *userdata)
{
	size_t n = 0;
	int r = 0;

	for (Elf_Scn *s = NULL; r == 0 && (s = elf_nextscn(image->elf, s));)
		r = elf_image_walk_symbols(image, s, STT_GNU_IFUNC, fn, userdata, &n);
	return r;
}

int elf_image_labels(const struct elf_image *image, elf_function_fn fn, void *userdata)
{
	size_t n = 0;
	int r = 0;

	for (Elf_Scn *s = NULL; r == 0 && (s = elf_nextscn(image->elf, s));)
		r = elf_image_walk_symbols(image, s, STT_NOTYPE, fn, userdata, &n);
	return r;
}

static const char *elf_image_mentioned_in(const struct elf_image *image, Elf_Scn *scn,
					  const char *const *names, size_t n)
{
	GElf_Shdr header;
	Elf_Data *data;

	if (!gelf_getshdr(scn, &header) ||
	    (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB) ||
	    !(data = elf_getdata(scn, NULL)))
		return NULL;
	for (size_t i = 0; i < elf_image_count_entries(&header, data); i++) {
		const char *name;
		GElf_Sym symbol;

		if (!elf_image_read_symbol(image, data, &header, i, &symbol, &name))
			continue;
		for (size_t j = 0; j < n; j++)
			if (strcspn(name, "@") == strlen(names[j]) &&
			    strncmp(name, names[j], strlen(names[j])) == 0)
				return names[j];
	}
	return NULL;
}

const char *elf_image_mentions(const struct elf_image *image, const char *const *names, size_t n)
{
	const char *found = NULL;

	for (Elf_Scn *s = NULL; !found && (s = elf_nextscn(image->elf, s));)
		found = elf_image_mentioned_in(image, s, names, n);
	return found;
}

/* ---- slots ---- */

static bool elf_image_never_returns(const char *name)
{
	static const char *const names[] = {
		"__assert_fail", "__cxa_rethrow",  "__cxa_throw",     "__stack_chk_fail",
		"_Exit",         "_Unwind_Resume", "_ZSt9terminatev", "_exit",
		"abort",         "exit",
	};

	return STRING_TABLE_FIND(names, name) >= 0 ||
	       (strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_"));
}

DEFINE_ORDER(compare_slots, struct elf_slot, COMPARE(x->address, y->address))

static int elf_image_add_slot(struct elf_image *image, size_t *room, struct elf_slot slot)
{
	if (image->n_slots == SLOTS_MAX)
		return 0;
	if (GROW(image->slots, *room, image->n_slots + 1) < 0)
		return -ENOMEM;
	image->slots[image->n_slots++] = slot;
	return 0;
}

/*
 * Adds the slot of relocation RELA. SYMBOLS is the symbol table of RELA, whose section has HEADER;
 * NULL = no table.
 */
static int elf_image_add_slot_of(struct elf_image *image, size_t *room, const GElf_Rela *rela,
				 Elf_Data *symbols, const GElf_Shdr *header)
{
	int type = (int)GELF_R_TYPE(rela->r_info);
	const char *name;
	GElf_Sym symbol;

	if (type == RELOC_RESOLVER)
		return elf_image_add_slot(image, room,
					  (struct elf_slot){ .address = rela->r_offset,
							     .resolver =
								     (uint64_t)rela->r_addend });
	if ((type != RELOC_SLOT && type != RELOC_WORD) || !symbols ||
	    !elf_image_read_symbol(image, symbols, header, GELF_R_SYM(rela->r_info), &symbol,
				   &name))
		return 0;
	return elf_image_add_slot(
		image, room,
		(struct elf_slot){
			.address = rela->r_offset,
			.target = elf_image_is_function(&symbol) ? symbol.st_value : 0,
			.resolver =
				elf_image_symbol_is(&symbol, STT_GNU_IFUNC) ? symbol.st_value : 0,
			.noreturn = elf_image_never_returns(name),
			.name = name,
		});
}

static int elf_image_add_slots(struct elf_image *image, size_t *room, const GElf_Shdr *header,
			       Elf_Data *relocs)
{
	Elf_Scn *scn = elf_getscn(image->elf, header->sh_link);
	Elf_Data *symbols = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Shdr table = { 0 };
	int r = 0;

	if (!scn || !gelf_getshdr(scn, &table))
		symbols = NULL;
	for (size_t i = 0; r == 0 && i < elf_image_count_entries(header, relocs); i++) {
		GElf_Rela rela;

		if (gelf_getrela(relocs, (int)i, &rela))
			r = elf_image_add_slot_of(image, room, &rela, symbols, &table);
	}
	return r;
}

int elf_image_read_slots(struct elf_image *image)
{
	size_t room = 0;

	for (Elf_Scn *s = NULL; (s = elf_nextscn(image->elf, s));) {
		GElf_Shdr header;
		Elf_Data *data;
		int r;

		if (!gelf_getshdr(s, &header) || header.sh_type != SHT_RELA ||
		    !(data = elf_getdata(s, NULL)))
			continue;
		r = elf_image_add_slots(image, &room, &header, data);
		if (r < 0)
			return r;
	}
	SORT(image->slots, image->n_slots, compare_slots);
	return 0;
}

const struct elf_slot *elf_image_slot(const struct elf_image *image, uint64_t address)
{
	struct elf_slot key = { .address = address };

	if (image->n_slots == 0)
		return NULL;
	return bsearch(&key, image->slots, image->n_slots, sizeof(key), compare_slots);
}

const uint8_t *elf_image_code(const struct elf_image *image, uint64_t vaddr, size_t *ret_n,
			      uint64_t *ret_offset)
{
	for (size_t i = 0; i < image->n_loads; i++) {
		const struct elf_load *load = &image->loads[i];

		if (vaddr < load->vaddr || vaddr - load->vaddr >= load->size)
			continue;
		*ret_n = load->size - (vaddr - load->vaddr);
		*ret_offset = load->offset + (vaddr - load->vaddr);
		return image->data + *ret_offset;
	}
	return NULL;
}
