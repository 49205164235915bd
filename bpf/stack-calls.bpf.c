/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
#include "bpf/stack-calls.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#if defined(__TARGET_ARCH_x86)
__noinline __u32 stack_calls_into(__u64 address, __u64 inside)
{
	bool direct = false;
	__u64 target = stack_called_by(address, &direct);

	if (target && inside - target < STACK_FUNCTION_BYTES)
		return direct ? STACK_CALLS_DIRECT : STACK_CALLS;
	target = target ? stack_linked_to(target) : 0;
	return target && inside - target < STACK_FUNCTION_BYTES ? STACK_CALLS : STACK_CALLS_NOT;
}
#endif

__noinline bool stack_follows_call(__u64 address)
{
#if defined(__TARGET_ARCH_x86)
	__u8 code[8];

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(address - sizeof(code))) < 0)
		return false;
	/*
	 * call rel32; or FF /2 of each length: a register, or memory with an offset of 0, 1 or 4
	 * bytes
	 */
	return code[3] == 0xe8 || (code[6] == 0xff && (code[7] & 0x38) == 0x10) ||
	       (code[5] == 0xff && ((code[6] & 0xf8) == 0x50 || code[6] == 0x14)) ||
	       (code[4] == 0xff && code[5] == 0x54) ||
	       (code[2] == 0xff && ((code[3] & 0xf8) == 0x90 || code[3] == 0x15)) ||
	       (code[1] == 0xff && (code[2] == 0x94 || code[2] == 0x14));
#elif defined(__TARGET_ARCH_arm64)
	__u32 code;

	if (bpf_probe_read_user(&code, sizeof(code), (const void *)(address - sizeof(code))) < 0)
		return false;
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfefff800) == 0xd63f0800 ||
	       (code & 0xfffffc1f) == 0xd63f0000;
#else
	return address != 0;
#endif
}
