/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-elf.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "capture/unwind/byte-reader.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* A file that is being parsed. */
struct elf_parts {
	const uint8_t *data;
	size_t n;
	Elf *elf;
	GElf_Phdr eh_header; /* header PT_GNU_EH_FRAME; the type is PT_NULL if the file has none */
};

/* Returns the N bytes at OFFSET, or NULL if they are not all in the file. */
static const uint8_t *unwind_elf_bytes_at(const struct elf_parts *parts, uint64_t offset,
					  uint64_t n)
{
	return offset <= parts->n && n <= parts->n - offset ? parts->data + offset : NULL;
}

/* ---- segments ---- */

static void unwind_elf_add_segment(struct unwind_elf *elf, const struct elf_parts *parts,
				   const GElf_Phdr *header)
{
	uint64_t size = header->p_filesz;

	if (!(header->p_flags & PF_X) || header->p_offset >= parts->n ||
	    elf->n_segments == UNWIND_SEGMENTS_MAX)
		return;
	if (size > parts->n - header->p_offset)
		size = parts->n - header->p_offset;
	if (size == 0 || header->p_vaddr > UINT64_MAX - size)
		return;
	elf->segments[elf->n_segments++] = (struct unwind_segment){
		.offset = header->p_offset,
		.size = size,
		.address = header->p_vaddr,
	};
}

static void unwind_elf_read_note(struct unwind_elf *elf, const struct elf_parts *parts,
				 const GElf_Phdr *header)
{
	const uint8_t *bytes = unwind_elf_bytes_at(parts, header->p_offset, header->p_filesz);
	size_t n = header->p_filesz;
	Elf_Data *data =
		bytes && n > 0
			? elf_getdata_rawchunk(parts->elf, (int64_t)header->p_offset, n,
					       header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR)
			: NULL;
	size_t at = 0, name, description;
	GElf_Nhdr note;

	while (data && elf->n_build_id == 0 &&
	       (at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp((const char *)data->d_buf + name, "GNU", sizeof("GNU")) != 0)
			continue;
		elf->n_build_id = note.n_descsz < sizeof(elf->build_id) ? note.n_descsz
									: sizeof(elf->build_id);
		memcpy(elf->build_id, (const char *)data->d_buf + description, elf->n_build_id);
	}
}

static int unwind_elf_read_segments(struct unwind_elf *elf, struct elf_parts *parts)
{
	GElf_Phdr header;
	size_t n;

	if (elf_getphdrnum(parts->elf, &n) != 0)
		return -EBADMSG;
	for (size_t i = 0; i < n && gelf_getphdr(parts->elf, (int)i, &header); i++) {
		if (header.p_type == PT_LOAD)
			unwind_elf_add_segment(elf, parts, &header);
		else if (header.p_type == PT_NOTE && elf->n_build_id == 0)
			unwind_elf_read_note(elf, parts, &header);
		else if (header.p_type == PT_GNU_EH_FRAME)
			parts->eh_header = header;
	}
	return 0;
}

/* ---- compressed sections ---- */

static bool unwind_elf_unpack(uint32_t how, const uint8_t *from, size_t n, uint8_t *to, size_t n_to)
{
	uLongf n_done = n_to;

	if (how == ELFCOMPRESS_ZSTD)
		return ZSTD_decompress(to, n_to, from, n) == n_to;
	return how == ELFCOMPRESS_ZLIB && uncompress(to, &n_done, from, n) == Z_OK &&
	       n_done == n_to;
}

/* Decompresses SECTION, whose data follows a header, and replaces its data with the result. */
static int unwind_elf_unpack_section(struct unwind_elf *elf, struct cfi_section *section,
				     uint32_t how, size_t header, uint64_t size)
{
	_cleanup_free_ uint8_t *to = NULL;

	if (size == 0 || size > UNWIND_ELF_UNPACKED_MAX || elf->unpacked)
		return -EBADMSG;
	to = malloc(size);
	if (!to)
		return -ENOMEM;
	if (!unwind_elf_unpack(how, section->data + header, section->n - header, to, size))
		return -EBADMSG;
	section->data = elf->unpacked = TAKE_PTR(to);
	section->n = size;
	return 0;
}

static int unwind_elf_unpack_standard(struct unwind_elf *elf, struct cfi_section *section)
{
	Elf64_Chdr header;

	if (section->n < sizeof(header))
		return -EBADMSG;
	memcpy(&header, section->data, sizeof(header));
	return unwind_elf_unpack_section(elf, section, header.ch_type, sizeof(header),
					 header.ch_size);
}

/*
 * Decompresses the older format, which has no flag: "ZLIB", then the size as eight bytes,
 * big-endian.
 */
static int unwind_elf_unpack_gnu(struct unwind_elf *elf, struct cfi_section *section)
{
	uint64_t size;

	if (section->n < 12 || memcmp(section->data, "ZLIB", 4) != 0)
		return -EBADMSG;
	memcpy(&size, section->data + 4, sizeof(size));
	return unwind_elf_unpack_section(elf, section, ELFCOMPRESS_ZLIB, 12, be64toh(size));
}

/* ---- sections ---- */

static int unwind_elf_add_debug_frame(struct unwind_elf *elf, const struct cfi_section *section,
				      bool gnu, bool compressed)
{
	struct cfi_section found = *section;
	int r = 0;

	if (gnu)
		r = unwind_elf_unpack_gnu(elf, &found);
	else if (compressed)
		r = unwind_elf_unpack_standard(elf, &found);
	if (r == -EBADMSG)
		return 0; /* (other parts of the file can still be valid) */
	found.is_debug_frame = true;
	if (r == 0)
		elf->debug_frame = found;
	return r;
}

static int unwind_elf_add_section(struct unwind_elf *elf, const struct elf_parts *parts,
				  const char *name, const GElf_Shdr *header)
{
	struct cfi_section section = {
		.data = unwind_elf_bytes_at(parts, header->sh_offset, header->sh_size),
		.n = header->sh_size,
		.address = header->sh_addr,
	};
	bool compressed = header->sh_flags & SHF_COMPRESSED;

	if (header->sh_type == SHT_NOBITS || section.n == 0 || !section.data)
		return 0;
	if (strcmp(name, ".eh_frame") == 0 && !compressed && elf->eh_frame.n == 0) {
		section.data_address = elf->eh_frame.data_address;
		elf->eh_frame = section;
	} else if (strcmp(name, ".got") == 0) {
		elf->eh_frame.data_address = section.address;
	} else if (strcmp(name, ".debug_frame") == 0) {
		return unwind_elf_add_debug_frame(elf, &section, false, compressed);
	} else if (strcmp(name, ".zdebug_frame") == 0) {
		return unwind_elf_add_debug_frame(elf, &section, true, false);
	}
	return 0;
}

/* Without .symtab, .dynsym has a part of the symbols. */
static void unwind_elf_add_symbols(struct unwind_elf *elf, const struct elf_parts *parts,
				   const GElf_Shdr *header)
{
	const uint8_t *symbols = unwind_elf_bytes_at(parts, header->sh_offset, header->sh_size);
	GElf_Shdr strings;

	if (!symbols || (header->sh_type != SHT_SYMTAB &&
			 (header->sh_type != SHT_DYNSYM || elf->n_symbols > 0)))
		return;
	elf->symbols = symbols;
	elf->n_symbols = header->sh_size / sizeof(Elf64_Sym);
	elf->names = NULL;
	if (gelf_getshdr(elf_getscn(parts->elf, header->sh_link), &strings)) {
		elf->names = unwind_elf_bytes_at(parts, strings.sh_offset, strings.sh_size);
		elf->n_names = strings.sh_size;
	}
}

const char *unwind_elf_name(const struct unwind_elf *elf, uint32_t at)
{
	if (!elf->names || at >= elf->n_names || !memchr(elf->names + at, 0, elf->n_names - at))
		return NULL;
	return (const char *)elf->names + at;
}

static int unwind_elf_read_sections(struct unwind_elf *elf, const struct elf_parts *parts)
{
	size_t names;
	int r = 0;

	if (elf_getshdrstrndx(parts->elf, &names) != 0)
		return 0;
	for (Elf_Scn *s = NULL; r == 0 && (s = elf_nextscn(parts->elf, s));) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(s, &header))
			continue;
		unwind_elf_add_symbols(elf, parts, &header);
		name = elf_strptr(parts->elf, names, header.sh_name);
		if (name)
			r = unwind_elf_add_section(elf, parts, name, &header);
	}
	return r;
}

/* ---- .eh_frame without sections ---- */

/* Returns the bytes of the file that are loaded from ADDRESS to the end of its segment. */
static struct cfi_section unwind_elf_rest_of_segment(const struct elf_parts *parts,
						     uint64_t address)
{
	struct cfi_section found = { .address = address, .ends_at_zero = true };
	GElf_Phdr header;
	size_t n;

	if (elf_getphdrnum(parts->elf, &n) != 0)
		return found;
	for (size_t i = 0; i < n && gelf_getphdr(parts->elf, (int)i, &header); i++) {
		uint64_t inside = address - header.p_vaddr;

		if (header.p_type != PT_LOAD || address < header.p_vaddr ||
		    inside >= header.p_filesz || header.p_offset > UINT64_MAX - inside)
			continue;
		found.n = header.p_filesz - inside;
		found.data = unwind_elf_bytes_at(parts, header.p_offset + inside, found.n);
		if (!found.data)
			found.n = 0;
		break;
	}
	return found;
}

/*
 * Finds .eh_frame by the header PT_GNU_EH_FRAME. This header has a version, three encodings, and a
 * pointer to .eh_frame (LSB, "eh_frame_hdr").
 */
static void unwind_elf_find_by_header(struct unwind_elf *elf, const struct elf_parts *parts)
{
	struct cfi_section header = {
		.data = unwind_elf_bytes_at(parts, parts->eh_header.p_offset,
					    parts->eh_header.p_filesz),
		.n = parts->eh_header.p_filesz,
		.address = parts->eh_header.p_vaddr,
		.data_address = parts->eh_header.p_vaddr,
	};
	uint64_t address;
	size_t at = 4;

	if (header.data && header.n > at && header.data[0] == 1 &&
	    cfi_read_pointer(&header, header.data[1], &at, &address))
		elf->eh_frame = unwind_elf_rest_of_segment(parts, address);
}

/* ---- the whole file ---- */

static int unwind_elf_read_header(const struct elf_parts *parts)
{
	GElf_Ehdr header;

	if (elf_kind(parts->elf) != ELF_K_ELF || !gelf_getehdr(parts->elf, &header))
		return -EBADMSG;
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return -ENOEXEC;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_machine != EM_X86_64)
		return -ENOTSUP;
	return 0;
}

static int unwind_elf_read_parts(struct unwind_elf *elf, struct elf_parts *parts)
{
	int r = unwind_elf_read_header(parts);

	r = r ?: unwind_elf_read_segments(elf, parts);
	r = r ?: unwind_elf_read_sections(elf, parts);
	if (r == 0 && elf->eh_frame.n == 0 && parts->eh_header.p_type == PT_GNU_EH_FRAME)
		unwind_elf_find_by_header(elf, parts);
	return r;
}

int unwind_elf_init(struct unwind_elf *elf, const void *data, size_t n)
{
	struct elf_parts parts = { .data = data, .n = n };
	int r;

	*elf = (struct unwind_elf){ .data = data, .n_data = n };
	/* The magic number is checked here, because libelf would unpack archives. */
	if (n < sizeof(Elf32_Ehdr) || memcmp(data, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	elf_version(EV_CURRENT);
	/* libelf does not write to DATA. It copies parts that are not aligned. */
	parts.elf = elf_memory((char *)data, n);
	if (!parts.elf)
		return -EBADMSG;
	r = unwind_elf_read_parts(elf, &parts);
	elf_end(parts.elf);
	return r;
}

void unwind_elf_deinit(struct unwind_elf *elf)
{
	free(elf->unpacked);
	*elf = (struct unwind_elf){ 0 };
}
