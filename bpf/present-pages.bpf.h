/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Reads the memory of other processes without waiting for anything.
 *
 * bpf_copy_from_user_task() waits for pages that are not present. Such pages can come from another
 * program (FUSE, userfaultfd), which may never answer. And the process can remove a page, or map
 * another file, directly before the copy. So these functions walk the page tables, and read present
 * pages where the kernel maps all physical memory. Other pages are not read.
 *
 * The caller holds the lock of the address space, so the page tables of a mapping stay: these
 * functions are called in the callback of bpf_find_vma(), which does not wait for the lock either.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/record.h"

#define PRESENT_PAGE_BYTES 4096u
#define PRESENT_PAGE_EMPTY 1ull /* in place of an address: there is no page */

/*
 * The address at which the kernel maps all physical memory, and the end of that memory. 0 = unknown
 * (on_find_present_pages)
 */
extern __u64 present_pages_base, present_pages_end;

#if defined(__TARGET_ARCH_x86)
/*
 * Returns the physical address of the byte at ADDRESS in the address space whose first page table
 * is at PGD, if all physical memory is mapped at BASE; 0 = its page is not present, or is no
 * memory; PRESENT_PAGE_EMPTY = there is no page.
 */
__u64 present_page_find(__u64 pgd, __u64 base, __u64 address);

/*
 * Copies N bytes at ADDRESS, which are in one page. Returns false if the page is not present, or is
 * replaced meanwhile.
 */
static __always_inline bool present_page_read(__u64 pgd, __u64 address, void *to, __u32 n)
{
	__u64 base = present_pages_base, physical;

	if (!base)
		return false;
	physical = present_page_find(pgd, base, address);
	return physical > PRESENT_PAGE_EMPTY &&
	       bpf_probe_read_kernel(to, n, (const void *)(base + physical)) == 0 &&
	       present_page_find(pgd, base, address) == physical;
}

/*
 * Returns true if there is no page at ADDRESS. In memory without a file, the process would read
 * zeroes.
 */
static __always_inline bool present_page_is_empty(__u64 pgd, __u64 address)
{
	__u64 base = present_pages_base;

	return base && present_page_find(pgd, base, address) == PRESENT_PAGE_EMPTY;
}
#endif
