/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Recognises return addresses by the calls before them.
 */
#pragma once

#include "bpf/context.bpf.h"

/*
 * Returns true if the instruction before ADDRESS, in the current task, is a call. Without a call,
 * ADDRESS is not a return address. Always true on architectures whose instructions are unknown
 * here. (This is a separate function: the verifier checks it once, and not in each iteration of a
 * loop.)
 */
bool stack_follows_call(__u64 address);

#if defined(__TARGET_ARCH_x86)
/*
 * The maximum size of functions that make system calls, or that call such a function. Longer ones
 * are not recognised.
 */
#define STACK_FUNCTION_BYTES 4096

/*
 * Returns the target of the call in the 8 bytes of instructions before ADDRESS, if the target is a
 * constant or a word in memory; else 0.
 */
static __always_inline __u64 stack_called_by(__u64 address, bool *ret_direct)
{
	__u8 code[8];
	__u64 target = 0;
	__s32 offset;

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(address - sizeof(code))) < 0)
		return 0;
	__builtin_memcpy(&offset, code + 4, sizeof(offset));
	*ret_direct = code[3] == 0xe8;
	if (*ret_direct)
		return address + offset;
	if (code[2] == 0xff && code[3] == 0x15 &&
	    bpf_probe_read_user(&target, sizeof(target), (const void *)(address + offset)) < 0)
		return 0;
	return target;
}

/*
 * Returns the target of a jump through a word in memory at ADDRESS, as in linkage tables; else 0.
 */
static __always_inline __u64 stack_linked_to(__u64 address)
{
	__u8 code[16];
	__u64 target = 0;
	__s32 offset;
	__u32 at;

	if (bpf_probe_read_user(code, sizeof(code), (const void *)address) < 0)
		return 0;
	at = code[0] == 0xf3 && code[1] == 0x0f ? 4 : 0; /* endbr64 */
	at += code[at] == 0xf2;                          /* bnd */
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	__builtin_memcpy(&offset, code + at + 2, sizeof(offset));
	bpf_probe_read_user(&target, sizeof(target), (const void *)(address + at + 6 + offset));
	return target;
}

#define STACK_CALLS_NOT    0
#define STACK_CALLS        1
#define STACK_CALLS_DIRECT 2 /* the call names the function itself */

/*
 * Returns STACK_CALLS_* if the instruction before ADDRESS calls the function that contains INSIDE,
 * otherwise 0. (This is a separate function, too. Inlined into the loop over the words of a stack,
 * it took 200,000 instructions of the verifier, and 560,000 with Linux 6.1.)
 */
__u32 stack_calls_into(__u64 address, __u64 inside);
#endif
