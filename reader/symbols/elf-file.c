/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/elf-file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/symbols/unusable.h"

enum {
	PHDRS_MAX = 4096,
	SECTIONS_MAX = 100000,
	/* If a file is not mapped, libelf reads these sections completely. The file can claim any
	 * size for them: a sparse file of that size costs nothing. */
	SECTION_NAMES_MAX = 64 << 20,
	NOTES_MAX = 64 << 20,
};

/* ---- opening ---- */

static bool elf_read_at(const struct elf_file *f, uint64_t offset, void *to, size_t n)
{
	const char *memory = f->memory;
	size_t size = f->n_memory;

	if (f->fd >= 0)
		return offset <= INT64_MAX && pread(f->fd, to, n, (off_t)offset) == (ssize_t)n;
	/* (the descriptor of a mapped file can be closed) */
	if (f->mapped)
		memory = elf_rawfile(f->elf, &size);
	if (!memory || offset > size || n > size - offset)
		return false;
	memcpy(to, memory + offset, n);
	return true;
}

static uint64_t elf_number(const uint8_t *at, size_t n, bool big_endian)
{
	uint64_t x = 0;

	for (size_t i = 0; i < n; i++)
		x = x << 8 | at[big_endian ? i : n - 1 - i];
	return x;
}

#define ELF_NUMBER(header, type, member, big_endian)                                               \
	elf_number((header) + offsetof(type, member), sizeof(((type *)NULL)->member), big_endian)

/*
 * Returns true if the file has too many sections, before elf_begin() allocates memory for each. If
 * the number of sections does not fit into the header, section 0 has it.
 */
static bool elf_has_too_many_sections(const struct elf_file *f)
{
	uint8_t header[sizeof(Elf64_Ehdr)], section[sizeof(Elf64_Shdr)];
	uint64_t offset, n;
	bool wide, big;

	if (!elf_read_at(f, 0, header, sizeof(Elf32_Ehdr)) || memcmp(header, ELFMAG, SELFMAG) != 0)
		return false;
	big = header[EI_DATA] == ELFDATA2MSB;
	wide = header[EI_CLASS] == ELFCLASS64;
	if (wide && !elf_read_at(f, 0, header, sizeof(Elf64_Ehdr)))
		return false;
	n = wide ? ELF_NUMBER(header, Elf64_Ehdr, e_shnum, big)
		 : ELF_NUMBER(header, Elf32_Ehdr, e_shnum, big);
	offset = wide ? ELF_NUMBER(header, Elf64_Ehdr, e_shoff, big)
		      : ELF_NUMBER(header, Elf32_Ehdr, e_shoff, big);
	if (n > 0 || offset == 0 ||
	    !elf_read_at(f, offset, section, wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
		return n > SECTIONS_MAX;
	return (wide ? ELF_NUMBER(section, Elf64_Shdr, sh_size, big)
		     : ELF_NUMBER(section, Elf32_Shdr, sh_size, big)) > SECTIONS_MAX;
}

static bool elf_has_large_names(const struct elf_file *f)
{
	GElf_Shdr header;
	Elf_Scn *section;
	size_t index;

	if (elf_getshdrstrndx(f->elf, &index) != 0)
		return false;
	section = elf_getscn(f->elf, index);
	return section && gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS &&
	       header.sh_size > SECTION_NAMES_MAX;
}

static bool elf_has_large_notes(const struct elf_file *f, size_t n_phdrs)
{
	uint64_t loaded = 0, sections = 0;
	GElf_Shdr section;
	GElf_Phdr header;

	for (size_t i = 0; i < n_phdrs && gelf_getphdr(f->elf, (int)i, &header); i++)
		if (header.p_type == PT_NOTE && header.p_filesz > NOTES_MAX - loaded)
			return true;
		else if (header.p_type == PT_NOTE)
			loaded += header.p_filesz;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(f->elf, s)) && gelf_getshdr(s, &section);)
		if (section.sh_type == SHT_NOTE && section.sh_size > NOTES_MAX - sections)
			return true;
		else if (section.sh_type == SHT_NOTE)
			sections += section.sh_size;
	return false;
}

static int elf_file_read_segments(struct elf_file *f, size_t n, const char **reterr_what)
{
	for (size_t i = 0; i < n; i++) {
		struct elf_segment *segment = &f->segments.items[f->segments.n];
		GElf_Phdr phdr;

		if (!gelf_getphdr(f->elf, (int)i, &phdr))
			return unusable(reterr_what, "its program headers are damaged");
		if (phdr.p_type != PT_LOAD || phdr.p_filesz > phdr.p_memsz ||
		    phdr.p_vaddr > UINT64_MAX - phdr.p_memsz ||
		    phdr.p_offset > UINT64_MAX - phdr.p_filesz)
			continue;
		if (f->segments.n == ARRAY_SIZE(f->segments.items))
			return unusable(reterr_what, "it has too many loaded segments");
		*segment = (struct elf_segment){
			.offset = phdr.p_offset,
			.vaddr = phdr.p_vaddr,
			.file_size = phdr.p_filesz,
			.memory_size = phdr.p_memsz,
			.executable = phdr.p_flags & PF_X,
		};
		f->segments.n++;
	}
	return 0;
}

static int elf_read_identity(struct elf_file *f, const char **reterr_what)
{
	const void *id;
	size_t n_sections, n_phdrs;
	GElf_Ehdr header;
	ssize_t n;

	if (elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &header))
		return unusable(reterr_what, "it is not an ELF file");
	/*
	 * ET_REL: files with debug information that dwz made for several files are marked as
	 * relocatable, although nothing is loaded from them.
	 */
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN && header.e_type != ET_REL)
		return unusable(reterr_what, "it is neither a program nor a library");
	if (elf_getshdrnum(f->elf, &n_sections) != 0 || n_sections > SECTIONS_MAX)
		return unusable(reterr_what, "its section headers are damaged");
	if (elf_getphdrnum(f->elf, &n_phdrs) != 0 || n_phdrs > PHDRS_MAX)
		return unusable(reterr_what, "its program headers are damaged");
	if (!f->mapped && f->fd >= 0 && elf_has_large_names(f))
		return unusable(reterr_what, "the names of its sections are too large");
	if (!f->mapped && f->fd >= 0 && elf_has_large_notes(f, n_phdrs))
		return unusable(reterr_what, "its notes are too large");
	n = dwelf_elf_gnu_build_id(f->elf, &id);
	if (n > 0 && n <= SYMBOL_BUILD_ID_MAX) {
		memcpy(f->build_id, id, (size_t)n);
		f->n_build_id = (size_t)n;
	}
	return elf_file_read_segments(f, n_phdrs, reterr_what);
}

static int elf_finish_open(struct elf_file **ret, struct elf_file *file, const char **reterr_what)
{
	_cleanup_(elf_file_freep) struct elf_file *f = file;
	int r;

	elf_version(EV_CURRENT);
	if (elf_has_too_many_sections(f))
		return unusable(reterr_what, "its section headers are damaged");
	if (f->fd >= 0)
		f->elf = elf_begin(f->fd, f->mapped ? ELF_C_READ_MMAP : ELF_C_READ, NULL);
	else if (f->n_memory > 0)
		f->elf = elf_memory(f->memory, f->n_memory);
	if (!f->elf)
		return unusable(reterr_what, "it is not an ELF file");
	r = elf_read_identity(f, reterr_what);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(f);
	return 0;
}

/*
 * Returns true if FD may be mapped: if a mapped file is truncated, reading it kills this process,
 * so only root or this user may be able to write to the file.
 */
static bool elf_may_be_mapped(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid()) &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

int elf_file_open_fd(struct elf_file **ret, int fd, const char **reterr_what)
{
	struct elf_file *f = calloc(1, sizeof(*f));

	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	f->fd = fd;
	f->mapped = elf_may_be_mapped(fd);
	return elf_finish_open(ret, f, reterr_what);
}

int elf_file_open_memory(struct elf_file **ret, char *memory, size_t n, const char **reterr_what)
{
	struct elf_file *f = calloc(1, sizeof(*f));

	if (!f) {
		free(memory);
		return -ENOMEM;
	}
	f->fd = -1;
	f->memory = memory;
	f->n_memory = n;
	return elf_finish_open(ret, f, reterr_what);
}

struct elf_file *elf_file_free(struct elf_file *f)
{
	if (!f)
		return NULL;
	elf_end(f->elf);
	close_fd(f->fd);
	free(f->memory);
	return free_ptr(f);
}

bool elf_file_has_build_id(const struct elf_file *f, const uint8_t *id, size_t n)
{
	return n > 0 && f->n_build_id == n && memcmp(f->build_id, id, n) == 0;
}

/* ---- addresses ---- */

static bool elf_covers_offset(const struct elf_segment *segment, uint64_t offset)
{
	return offset >= segment->offset && offset - segment->offset < segment->file_size;
}

bool elf_segments_address(const struct elf_segments *segments, uint64_t offset, uint64_t *ret_vaddr)
{
	const struct elf_segment *found = NULL;

	/* A page can be in two segments; code runs in the executable one. */
	for (size_t i = 0; i < segments->n; i++)
		if (elf_covers_offset(&segments->items[i], offset) &&
		    (!found || (segments->items[i].executable && !found->executable)))
			found = &segments->items[i];
	if (!found)
		return false;
	*ret_vaddr = offset - found->offset + found->vaddr;
	return true;
}

static const struct elf_segment *elf_executable_at(const struct elf_segments *segments,
						   uint64_t vaddr)
{
	for (size_t i = 0; i < segments->n; i++) {
		const struct elf_segment *segment = &segments->items[i];

		if (segment->executable && vaddr >= segment->vaddr &&
		    vaddr - segment->vaddr < segment->memory_size)
			return segment;
	}
	return NULL;
}

bool elf_segments_executable(const struct elf_segments *segments, uint64_t vaddr)
{
	return elf_executable_at(segments, vaddr) != NULL;
}

/* ---- sections ---- */

Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, GElf_Shdr *ret_header)
{
	size_t names;

	if (elf_getshdrstrndx(f->elf, &names) != 0)
		return NULL;
	for (Elf_Scn *section = elf_nextscn(f->elf, NULL); section;
	     section = elf_nextscn(f->elf, section)) {
		const char *other;
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header))
			return NULL;
		other = elf_strptr(f->elf, names, header.sh_name);
		if (!other || strcmp(other, name) != 0)
			continue;
		if (header.sh_type == SHT_NOBITS || header.sh_size == 0)
			return NULL;
		if (ret_header)
			*ret_header = header;
		return section;
	}
	return NULL;
}

const void *elf_file_content(const struct elf_file *f, const char *name, size_t max, size_t *ret_n)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(f, name, &header);
	Elf_Data *data;

	if (!section || header.sh_size > max)
		return NULL;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || data->d_size == 0)
		return NULL;
	*ret_n = data->d_size;
	return data->d_buf;
}

/* ---- symbols ---- */

/* Returns the end of section INDEX if the section contains ADDRESS, otherwise the end of
 * SEGMENT. */
static uint64_t elf_bound_of(const struct elf_file *f, size_t index, uint64_t address,
			     const struct elf_segment *segment)
{
	Elf_Scn *section = index < SHN_LORESERVE ? elf_getscn(f->elf, index) : NULL;
	GElf_Shdr header;

	if (section && gelf_getshdr(section, &header) && address >= header.sh_addr &&
	    address - header.sh_addr < header.sh_size)
		return address + (header.sh_size - (address - header.sh_addr));
	return segment->vaddr + segment->memory_size;
}

/* Returns true if NAME is empty or a marker of the tool chain: "$x", "$d.1", ".L12". */
static bool elf_is_mark(const char *name)
{
	return name[0] == '\0' || name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

static int elf_add_symbol(const struct elf_file *f, const struct elf_segments *segments,
			  const GElf_Sym *sym, uint32_t base, const char *names, size_t n_names,
			  struct symbol_list *list)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info), binding = GELF_ST_BIND(sym->st_info);
	const struct elf_segment *segment;
	struct symbol symbol;

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return 0;
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || sym->st_shndx == SHN_COMMON ||
	    sym->st_name >= n_names || elf_is_mark(names + sym->st_name))
		return 0;
	segment = elf_executable_at(segments, sym->st_value);
	if (!segment || sym->st_size > segment->vaddr + segment->memory_size - sym->st_value)
		return 0;
	symbol = (struct symbol){
		.start = sym->st_value,
		.size = sym->st_size,
		.name = base + (uint32_t)sym->st_name,
		.function = type != STT_NOTYPE,
		.local = binding == STB_LOCAL,
		.weak = binding == STB_WEAK,
	};
	if (symbol.size == 0)
		symbol.bound = elf_bound_of(f, sym->st_shndx, symbol.start, segment);
	return symbol_list_add(list, &symbol);
}

static bool elf_is_table(const GElf_Shdr *header, size_t entry, size_t max)
{
	return header->sh_type != SHT_NOBITS && header->sh_entsize == entry &&
	       header->sh_size <= max && !(header->sh_flags & SHF_COMPRESSED);
}

/* Returns the strings of the symbol table with HEADER; NULL = none that can be used. They need not
 * end with a NUL. */
static const char *elf_strings_of(const struct elf_file *f, const GElf_Shdr *header, size_t max,
				  size_t *ret_n)
{
	Elf_Scn *section = elf_getscn(f->elf, header->sh_link);
	GElf_Shdr strings;
	Elf_Data *data;

	if (!section || !gelf_getshdr(section, &strings) || strings.sh_type != SHT_STRTAB ||
	    strings.sh_size > max || strings.sh_flags & SHF_COMPRESSED)
		return NULL;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf)
		return NULL;
	*ret_n = data->d_size;
	return data->d_buf;
}

static int elf_add_table(const struct elf_file *f, Elf_Scn *section, const GElf_Shdr *header,
			 const struct elf_segments *segments, size_t max, struct symbol_list *list,
			 const char **reterr_what)
{
	Elf_Data *data;
	const char *names;
	size_t n_names = 0;
	uint32_t base;
	int r;

	*reterr_what = "its symbol table is damaged, or exceeds the memory limit";
	if (!elf_is_table(header, gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT), max))
		return -EBADMSG;
	names = elf_strings_of(f, header, max, &n_names);
	data = elf_getdata(section, NULL);
	if (!names || !data || !data->d_buf)
		return -EBADMSG;
	r = symbol_list_add_names(list, names, n_names, &base);
	if (r < 0)
		return r == -ENOMEM ? r : -EBADMSG;
	/* The copy always ends with a NUL. */
	names = (const char *)list->names.data + base;
	for (size_t i = 0; i < header->sh_size / header->sh_entsize; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym))
			return -EBADMSG;
		r = elf_add_symbol(f, segments, &sym, base, names, n_names, list);
		if (r < 0)
			return r;
	}
	return 0;
}

Elf_Scn *elf_file_section_of(const struct elf_file *f, uint32_t type, GElf_Shdr *ret_header)
{
	for (Elf_Scn *section = elf_nextscn(f->elf, NULL); section;
	     section = elf_nextscn(f->elf, section)) {
		if (!gelf_getshdr(section, ret_header))
			return NULL;
		if (ret_header->sh_type == type)
			return section;
	}
	return NULL;
}

int elf_file_symbols(const struct elf_file *f, const struct elf_segments *segments, size_t max,
		     struct symbol_list *list, bool *ret_full, const char **reterr_what)
{
	/* The full table includes the symbols of the dynamic one, which is used only without a full
	 * table. */
	static const uint32_t types[] = { SHT_SYMTAB, SHT_DYNSYM };
	int r = 0;

	*ret_full = false;
	for (size_t i = 0; i < ARRAY_SIZE(types) && !*ret_full; i++) {
		GElf_Shdr header;
		Elf_Scn *section = elf_file_section_of(f, types[i], &header);
		int added;

		if (!section)
			continue;
		added = elf_add_table(f, section, &header, segments, max, list, reterr_what);
		if (added == -ENOMEM)
			return added;
		if (added < 0)
			r = added;
		else
			*ret_full = types[i] == SHT_SYMTAB;
	}
	return r;
}

/* ---- calls ---- */

/* Reads N bytes before VADDR from the file. (libelf would keep such small pieces in a list, and a
 * whole segment of an unmapped file can be too large for memory.) */
static bool elf_read_before(const struct elf_file *f, uint64_t vaddr, void *to, size_t n)
{
	for (size_t i = 0; vaddr >= n && i < f->segments.n; i++) {
		const struct elf_segment *segment = &f->segments.items[i];
		uint64_t at = vaddr - n - segment->vaddr;

		if (segment->executable && vaddr - n >= segment->vaddr &&
		    at <= segment->file_size && segment->file_size - at >= n)
			return elf_read_at(f, segment->offset + at, to, n);
	}
	return false;
}

bool elf_file_call(const struct elf_file *f, uint64_t vaddr, uint64_t *ret_target)
{
	GElf_Ehdr header;
	uint8_t code[5];
	int32_t offset;
	uint32_t word;

	if (!gelf_getehdr(f->elf, &header))
		return false;
	if (header.e_machine == EM_X86_64 && elf_read_before(f, vaddr, code, sizeof(code)) &&
	    *code == 0xe8) {
		memcpy(&offset, code + 1, sizeof(offset));
		*ret_target = vaddr + (uint64_t)(int64_t)offset;
		return true;
	}
	if (header.e_machine == EM_AARCH64 && elf_read_before(f, vaddr, &word, sizeof(word))) {
		*ret_target = vaddr - 4 + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
		return (word & 0xfc000000) == 0x94000000;
	}
	return false;
}

/* Returns true if the last bytes of CODE (x86-64) can be a call instruction. */
static bool elf_file_ends_in_call(const uint8_t code[7])
{
	/* call rel32; or FF /2 in all its lengths: through a register, or through memory with an
	 * offset of 0, 1 or 4 bytes, with or without SIB */
	return code[2] == 0xe8 || (code[5] == 0xff && (code[6] & 0x38) == 0x10) ||
	       (code[4] == 0xff && ((code[5] & 0xf8) == 0x50 || code[5] == 0x14)) ||
	       (code[3] == 0xff && code[4] == 0x54) ||
	       (code[1] == 0xff && ((code[2] & 0xf8) == 0x90 || code[2] == 0x15)) ||
	       (code[0] == 0xff && (code[1] == 0x94 || code[1] == 0x14));
}

bool elf_file_can_follow_call(const struct elf_file *f, uint64_t vaddr)
{
	GElf_Ehdr header;
	uint8_t code[7] = { 0 };
	uint32_t word;
	size_t n = sizeof(code);

	if (!gelf_getehdr(f->elf, &header))
		return true;
	if (header.e_machine == EM_X86_64) {
		/* (if the segment begins less than 7 bytes before, fewer bytes are enough) */
		while (n > 1 && !elf_read_before(f, vaddr, code + sizeof(code) - n, n))
			n--;
		return n == 1 || elf_file_ends_in_call(code);
	}
	if (header.e_machine != EM_AARCH64 || !elf_read_before(f, vaddr, &word, sizeof(word)))
		return true;
	/* bl; blr, also with pointer authentication */
	return (word & 0xfc000000) == 0x94000000 || (word & 0xfefff800) == 0xd63f0800 ||
	       (word & 0xfffffc1f) == 0xd63f0000;
}

bool elf_file_is_sigreturn(const struct elf_file *f, uint64_t vaddr)
{
	/* mov $15, %rax (or %eax); syscall */
	static const uint8_t with_rax[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t with_eax[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t code[sizeof(with_rax)];
	GElf_Ehdr header;

	return elf_read_before(f, vaddr + sizeof(code), code, sizeof(code)) &&
	       gelf_getehdr(f->elf, &header) && header.e_machine == EM_X86_64 &&
	       (memcmp(code, with_rax, sizeof(with_rax)) == 0 ||
		memcmp(code, with_eax, sizeof(with_eax)) == 0);
}

/* The maximum size of the function at the entry point, which only calls the C library. */
enum { ELF_ENTRY_BYTES = 64 };

bool elf_file_begins(const struct elf_file *f, uint64_t vaddr)
{
	/* mov %rax, %rdi (or %eax, %edi); mov $60, %eax; syscall: the ends of threads in glibc. The
	 * last row is musl's. */
	static const struct {
		uint8_t n, code[10];
	} exits[] = { { 10, { 0x48, 0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05 } },
		      { 9, { 0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05 } },
		      { 8, { 0x89, 0xc7, 0x31, 0xc0, 0xb0, 60, 0x0f, 0x05 } } };
	uint8_t code[sizeof(exits->code)];
	GElf_Ehdr header;

	if (!gelf_getehdr(f->elf, &header))
		return false;
	if (header.e_entry != 0 && vaddr - header.e_entry < ELF_ENTRY_BYTES)
		return true;
	for (size_t i = 0; header.e_machine == EM_X86_64 && i < ARRAY_SIZE(exits); i++)
		if (elf_read_before(f, vaddr + exits[i].n, code, exits[i].n) &&
		    memcmp(code, exits[i].code, exits[i].n) == 0)
			return true;
	return false;
}

/* ---- stubs ---- */

/* The layout of a linker's stubs: HEADER bytes, then ENTRY bytes per stub, in the order of
 * .rela.plt. */
struct plt_layout {
	const char *section;
	uint64_t header, entry;
};

static const struct plt_layout *elf_plt_of(const struct elf_file *f, uint64_t n_stubs,
					   GElf_Shdr *ret_header)
{
	static const struct plt_layout x86_64[] = { { ".plt.sec", 0, 16 }, { ".plt", 16, 16 } };
	static const struct plt_layout aarch64[] = { { ".plt", 32, 16 } };
	const struct plt_layout *layouts;
	GElf_Ehdr ehdr;
	size_t n;

	if (!gelf_getehdr(f->elf, &ehdr))
		return NULL;
	if (ehdr.e_machine == EM_X86_64) {
		layouts = x86_64;
		n = ARRAY_SIZE(x86_64);
	} else if (ehdr.e_machine == EM_AARCH64) {
		layouts = aarch64;
		n = ARRAY_SIZE(aarch64);
	} else {
		return NULL;
	}
	/* If the size does not fit the number of stubs, the section has an unknown layout. */
	for (size_t i = 0; i < n; i++)
		if (elf_file_section(f, layouts[i].section, ret_header) &&
		    ret_header->sh_size == layouts[i].header + n_stubs * layouts[i].entry &&
		    ret_header->sh_addr < UINT64_MAX - ret_header->sh_size)
			return &layouts[i];
	return NULL;
}

int elf_file_plt_symbols(const struct elf_file *f, size_t max, struct symbol_list *list)
{
	GElf_Shdr relocations, symbols, plt;
	Elf_Scn *section = elf_file_section(f, ".rela.plt", &relocations);
	const struct plt_layout *layout;
	Elf_Data *data, *table;
	const char *names;
	size_t n_names = 0;
	uint32_t base;
	int r;

	if (!section ||
	    !elf_is_table(&relocations, gelf_fsize(f->elf, ELF_T_RELA, 1, EV_CURRENT), max))
		return 0;
	layout = elf_plt_of(f, relocations.sh_size / relocations.sh_entsize, &plt);
	data = elf_getdata(section, NULL);
	section = elf_getscn(f->elf, relocations.sh_link);
	if (!layout || !data || !data->d_buf || !section || !gelf_getshdr(section, &symbols) ||
	    !elf_is_table(&symbols, gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT), max))
		return 0;
	table = elf_getdata(section, NULL);
	names = elf_strings_of(f, &symbols, max, &n_names);
	if (!table || !table->d_buf || !names)
		return 0;
	r = symbol_list_add_names(list, names, n_names, &base);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < relocations.sh_size / relocations.sh_entsize; i++) {
		GElf_Rela rela;
		GElf_Sym sym;

		/* A relocation without a symbol belongs to a function that selects its
		 * implementation (IRELATIVE). */
		if (!gelf_getrela(data, (int)i, &rela) || GELF_R_SYM(rela.r_info) == 0 ||
		    !gelf_getsym(table, (int)GELF_R_SYM(rela.r_info), &sym) ||
		    sym.st_name >= n_names || names[sym.st_name] == '\0')
			continue;
		r = symbol_list_add(
			list, &(struct symbol){
				      .start = plt.sh_addr + layout->header + i * layout->entry,
				      .size = layout->entry,
				      .name = base + (uint32_t)sym.st_name,
				      .function = true,
				      .plt = true,
			      });
		if (r < 0)
			return r;
	}
	return 0;
}
