/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/stream-tables.h"

#include <string.h>

/* Tables have 21 words, and begin at multiples of 32 bytes. */
enum { TABLE_BYTES = 21 * 8, TABLE_STEP = 192 };

struct stream_column {
	uint64_t begin, bytes; /* the section */
	uint32_t at;           /* offset of the column in each table */
	uint64_t *functions;
	size_t n;
};

static void stream_tables_add(struct stream_column *c, uint64_t function)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->functions[i] == function)
			return;
	if (function && c->n < STREAM_FUNCTIONS_MAX)
		c->functions[c->n++] = function;
}

/*
 * Reads the addresses that the section itself contains. In a program, or with packed relocations,
 * all addresses are there.
 */
static void stream_tables_read_words(struct stream_column *c, const Elf_Data *data)
{
	uint64_t word;

	for (uint64_t at = c->at; at + sizeof(word) <= data->d_size; at += TABLE_STEP) {
		memcpy(&word, (const uint8_t *)data->d_buf + at, sizeof(word));
		stream_tables_add(c, word);
	}
}

/* Reads the addresses that other relocations contain. */
static void stream_tables_read_relocs(struct stream_column *c, Elf_Scn *scn)
{
	GElf_Shdr header;
	GElf_Rela rela;
	Elf_Data *data;

	if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_RELA ||
	    !(data = elf_getdata(scn, NULL)))
		return;
	for (int i = 0; gelf_getrela(data, i, &rela); i++)
		if (GELF_R_TYPE(rela.r_info) == R_X86_64_RELATIVE && rela.r_offset >= c->begin &&
		    rela.r_offset - c->begin < c->bytes &&
		    (rela.r_offset - c->begin) % TABLE_STEP == c->at)
			stream_tables_add(c, (uint64_t)rela.r_addend);
}

size_t stream_tables_functions(const struct elf_image *image, uint32_t at,
			       uint64_t to[static STREAM_FUNCTIONS_MAX], uint64_t *ret_begin)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_image_section(image, "__libc_IO_vtables", &header);
	Elf_Data *data = scn && header.sh_type == SHT_PROGBITS ? elf_getdata(scn, NULL) : NULL;
	struct stream_column c = { .at = at, .functions = to };

	*ret_begin = 0;
	if (!data || !data->d_buf || at >= TABLE_BYTES)
		return 0;
	*ret_begin = c.begin = header.sh_addr;
	c.bytes = data->d_size;
	stream_tables_read_words(&c, data);
	for (Elf_Scn *s = NULL; (s = elf_nextscn(image->elf, s));)
		stream_tables_read_relocs(&c, s);
	return c.n;
}
