/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/code-boundary.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/probes/elf-image.h"
#include "capture/probes/function-start.h"
#include "capture/probes/instruction.h"
#include "capture/probes/probe-semaphore.h"
#include "capture/sandbox/sandbox.h"

#define BOUNDARY_TIMEOUT_NS UINT64_C(20000000000)

enum { FUNCTION_BYTES_MAX = 1 << 20 };

/* Decodes the instructions from the function's beginning to VADDR. */
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
	/* An instruction must begin at VADDR. */
	return disassembler_read(d, code + (vaddr - begin), n - (vaddr - begin), vaddr, &in)
		       ? 0
		       : -EINVAL;
}

static int boundary_find_in(const struct elf_image *image, uint64_t vaddr,
			    struct code_boundary *ret)
{
	uint64_t begin;
	size_t n;

	if (image->foreign)
		return -ENOEXEC;
	if (!elf_image_code(image, vaddr, &n, &ret->offset))
		return -ENXIO;
	ret->semaphore = probe_semaphore_find(image, vaddr);
	return function_start_before(image, vaddr, &begin) ? boundary_walk(image, begin, vaddr)
							   : -ENODATA;
}

int code_boundary_find(const void *data, uint64_t n, uint64_t vaddr, struct code_boundary *ret)
{
	struct elf_image image;
	int r = elf_image_init(&image, data, n) ?: boundary_find_in(&image, vaddr, ret);

	elf_image_deinit(&image);
	return r;
}

static int boundary_answer(const void *data, size_t n, struct outbuf *to, const void *userdata)
{
	struct code_boundary boundary;
	uint64_t vaddr;

	memcpy(&vaddr, userdata, sizeof(vaddr));
	return code_boundary_find(data, n, vaddr, &boundary)
		       ?: outbuf_append(to, &boundary, sizeof(boundary));
}

int code_boundary_find_sandboxed(int fd, uint64_t vaddr, struct code_boundary *ret)
{
	_cleanup_(outbuf_deinit) struct outbuf answer = { .limit = sizeof(*ret) };
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	r = disassembler_load()
		    ?: sandbox_run_with(fd, boundary_answer, &vaddr, BOUNDARY_TIMEOUT_NS,
					sizeof(*ret), &answer);
	if (r < 0)
		return r;
	if (answer.size != sizeof(*ret))
		return -EBADMSG;
	memcpy(ret, answer.data, sizeof(*ret));
	return ret->offset < (uint64_t)st.st_size && ret->semaphore < (uint64_t)st.st_size
		       ? 0
		       : -EBADMSG;
}
