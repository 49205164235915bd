/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/tfile/tfile-x86-64.h"

#include <string.h>

#include "base/cleanup.h"

#define ARCHITECTURE "<architecture>i386:x86-64</architecture>"

/* By this description, GDB knows the registers. Without a description, GDB assumes an i386. */
static const char *const tfile_x86_64_lines[] = {
	"<?xml version=\"1.0\"?>",  "<target>",  "<architecture>i386:x86-64</architecture>",
	"<osabi>GNU/Linux</osabi>", "</target>",
};

const char *const *tfile_x86_64_description(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(tfile_x86_64_lines);
	return tfile_x86_64_lines;
}

const char *const tfile_x86_64_names[TFILE_X86_64_REGISTERS] = {
	"rax", "rbx", "rcx", "rdx", "rsi", "rdi",    "rbp", "rsp", "r8", "r9", "r10", "r11",
	"r12", "r13", "r14", "r15", "rip", "eflags", "cs",  "ss",  "ds", "es", "fs",  "gs",
};

bool tfile_x86_64_is(const struct tfile_head *head)
{
	if (head->register_bytes < TFILE_X86_64_BYTES)
		return false;
	for (size_t i = 0; i < head->n_description; i++)
		if (strstr(head->description[i], ARCHITECTURE))
			return true;
	return false;
}

static uint8_t *tfile_x86_64_number(uint8_t *to, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		*to++ = (uint8_t)(value >> 8 * i);
	return to;
}

void tfile_x86_64_put(uint8_t *to, const struct tfile_x86_64 *r)
{
	const uint64_t wide[] = {
		r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
		r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip,
	};
	const uint32_t narrow[] = { r->eflags, r->cs, r->ss, r->ds, r->es, r->fs, r->gs };

	for (size_t i = 0; i < ARRAY_SIZE(wide); i++)
		to = tfile_x86_64_number(to, wide[i], 8);
	for (size_t i = 0; i < ARRAY_SIZE(narrow); i++)
		to = tfile_x86_64_number(to, narrow[i], 4);
}
