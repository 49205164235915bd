/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/code-boundary.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/probes/elf-image.h"
#include "capture/probes/instruction.h"
#include "capture/sandbox/sandbox.h"

#define BOUNDARY_TIMEOUT_NS UINT64_C(20000000000)

enum {
	FUNCTION_BYTES_MAX = 1 << 20,
	/* .eh_frame_hdr as linkers make it: a table of pairs of 32 bits, sorted, relative to itself */
	HEADER_BYTES = 12,
	HEADER_VERSION = 1,
	ENCODED_COUNT = 0x03, /* unsigned 32 bits */
	ENCODED_TABLE = 0x3b, /* signed 32 bits, relative to the header */
};

struct boundary_search {
	uint64_t vaddr, begin;
	bool found;
};

/* The last symbol of a function at VADDR or below it. */
static int boundary_take_function(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
				  void *userdata)
{
	struct boundary_search *s = userdata;

	(void)name;
	(void)n;
	if (vaddr <= s->vaddr && s->vaddr - vaddr < bytes && (!s->found || vaddr > s->begin)) {
		s->begin = vaddr;
		s->found = true;
	}
	return 0;
}

static uint32_t boundary_word(const uint8_t *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* The last function that the table of the SIZE bytes at P, loaded at ADDRESS, has at VADDR or below it. */
static void boundary_search_table(struct boundary_search *s, const uint8_t *p, uint64_t size,
				  uint64_t address)
{
	uint64_t n, low = 0, high;

	if (size < HEADER_BYTES || p[0] != HEADER_VERSION || p[2] != ENCODED_COUNT ||
	    p[3] != ENCODED_TABLE)
		return;
	n = boundary_word(p + 8);
	if (n > (size - HEADER_BYTES) / 8)
		n = (size - HEADER_BYTES) / 8;
	for (high = n; low < high;) {
		uint64_t at = low + (high - low) / 2;
		uint64_t begin = address + (uint64_t)(int64_t)(int32_t)boundary_word(
						   p + HEADER_BYTES + at * 8);

		if (begin <= s->vaddr)
			low = at + 1;
		else
			high = at;
	}
	if (low == 0)
		return;
	s->begin = address +
		   (uint64_t)(int64_t)(int32_t)boundary_word(p + HEADER_BYTES + (low - 1) * 8);
	s->found = true;
}

static void boundary_search_eh_frame(struct boundary_search *s, const struct elf_image *image)
{
	GElf_Phdr p;

	for (size_t i = 0; i < image->header.e_phnum; i++)
		if (gelf_getphdr(image->elf, (int)i, &p) && p.p_type == PT_GNU_EH_FRAME &&
		    p.p_offset <= image->size && p.p_filesz <= image->size - p.p_offset)
			boundary_search_table(s, image->data + p.p_offset, p.p_filesz, p.p_vaddr);
}

/* Instructions one behind the other, from the function's first one on. */
static int boundary_walk(const struct elf_image *image, uint64_t begin, uint64_t vaddr)
{
	_cleanup_(disassembler_freep) struct disassembler *d = NULL;
	struct instruction in;
	size_t n = 0;
	uint64_t offset;
	const uint8_t *code = elf_image_code(image, begin, &n, &offset);
	int r = disassembler_new(&d);

	if (r < 0)
		return r;
	if (!code || vaddr - begin > FUNCTION_BYTES_MAX || vaddr - begin >= n)
		return -ENXIO;
	for (uint64_t at = begin; at < vaddr; at += in.length) {
		if (!disassembler_read(d, code + (at - begin), n - (at - begin), at, &in) ||
		    in.length == 0)
			return -EINVAL;
		if (at + in.length > vaddr)
			return -EINVAL;
	}
	/* (and one has to begin there) */
	return disassembler_read(d, code + (vaddr - begin), n - (vaddr - begin), vaddr, &in)
		       ? 0
		       : -EINVAL;
}

static int boundary_find_in(const struct elf_image *image, uint64_t vaddr, uint64_t *ret_offset)
{
	struct boundary_search s = { .vaddr = vaddr };
	size_t n;

	if (image->foreign)
		return -ENOEXEC;
	if (!elf_image_code(image, vaddr, &n, ret_offset))
		return -ENXIO;
	boundary_search_eh_frame(&s, image);
	if (!s.found)
		elf_image_functions(image, boundary_take_function, &s, &n);
	return s.found ? boundary_walk(image, s.begin, vaddr) : -ENODATA;
}

int code_boundary_find(const void *data, uint64_t n, uint64_t vaddr, uint64_t *ret_offset)
{
	struct elf_image image;
	int r = elf_image_init(&image, data, n);

	if (r == 0)
		r = boundary_find_in(&image, vaddr, ret_offset);
	elf_image_deinit(&image);
	return r;
}

static int boundary_answer(const void *data, size_t n, struct outbuf *to, const void *userdata)
{
	uint64_t vaddr, offset = 0;
	int r;

	memcpy(&vaddr, userdata, sizeof(vaddr));
	r = code_boundary_find(data, n, vaddr, &offset);
	if (r == 0)
		r = outbuf_append(to, &offset, sizeof(offset));
	return r;
}

int code_boundary_find_sandboxed(int fd, uint64_t vaddr, uint64_t *ret_offset)
{
	_cleanup_(outbuf_deinit) struct outbuf said = { .limit = sizeof(*ret_offset) };
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	r = sandbox_run_with(fd, boundary_answer, &vaddr, BOUNDARY_TIMEOUT_NS, sizeof(*ret_offset),
			     &said);
	if (r < 0)
		return r;
	if (said.size != sizeof(*ret_offset))
		return -EBADMSG;
	memcpy(ret_offset, said.data, sizeof(*ret_offset));
	return *ret_offset < (uint64_t)st.st_size ? 0 : -EBADMSG;
}
