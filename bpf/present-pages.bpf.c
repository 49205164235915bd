/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Finds where the kernel maps all physical memory. */
#include "bpf/present-pages.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 present_pages_base = 0, present_pages_end = 0;

#if defined(__TARGET_ARCH_x86)
/*
 * Bits of the entries of page tables. No bit tells memory of devices: newer kernels have moved that
 * bit, and use bit 58 for pages that were written, but are read-only now, as after a fork. Memory
 * of devices behind the end of physical memory is not read; other memory of devices is mapped like
 * memory.
 */
#define PRESENT_PAGE_IS_PRESENT 0x001ull
#define PRESENT_PAGE_IS_USER    0x004ull
#define PRESENT_PAGE_IS_LARGE   0x080ull
#define PRESENT_PAGE_IS_HIDDEN  0x100ull /* not "present": each access causes a fault */
#define PRESENT_PAGE_IS_SPECIAL 0x200ull /* no memory, but for example a device */
/*
 * The bits of an address, for as much memory as the kernel supports. With five levels, the highest
 * bit (51) is missing, because AMD's memory encryption sets it. (On processors with only four
 * levels, the encryption sets bit 47, which is above the mask.)
 */
#define PRESENT_PAGE_ADDRESS_4 0x00003ffffffff000ull
#define PRESENT_PAGE_ADDRESS_5 0x0007fffffffff000ull
/* With four levels, the kernel's half of the address space begins here; with five, below. */
#define PRESENT_PAGES_KERNEL_4 0xffff800000000000ull

/*
 * ENTRY is the last entry of a walk. Returns ENTRY or, if ENTRY is hidden, the same entry for a
 * present page. Entries are hidden while the kernel watches which node uses the page (NUMA
 * balancing), and with PROT_NONE. The address in a hidden entry is inverted.
 */
static __always_inline __u64 present_page_show(__u64 entry, __u64 mask)
{
	if (entry & PRESENT_PAGE_IS_PRESENT || !(entry & PRESENT_PAGE_IS_HIDDEN))
		return entry;
	return (entry ^ mask) | PRESENT_PAGE_IS_PRESENT | PRESENT_PAGE_IS_USER;
}

__noinline __u64 present_page_find(__u64 pgd, __u64 base, __u64 address)
{
	bool has_five = pgd < PRESENT_PAGES_KERNEL_4;
	__u64 mask = has_five ? PRESENT_PAGE_ADDRESS_5 : PRESENT_PAGE_ADDRESS_4;
	__u64 table = pgd, entry, physical, in_page;
	int level = has_five ? 4 : 3;
	bool is_last;

#pragma clang loop unroll(disable)
	for (int i = 0; i < 5; i++, level--) {
		if (level < 0)
			return 0;
		in_page = (1ull << (12 + 9 * level)) - 1;
		entry = address >> (12 + 9 * level) & 511;
		if (bpf_probe_read_kernel(&entry, sizeof(entry), (void *)(table + entry * 8)) < 0)
			return 0;
		if (!entry)
			return PRESENT_PAGE_EMPTY;
		is_last = level == 0 || (level <= 2 && entry & PRESENT_PAGE_IS_LARGE);
		if (is_last)
			entry = present_page_show(entry, mask);
		if (!(entry & PRESENT_PAGE_IS_PRESENT) || !(entry & PRESENT_PAGE_IS_USER))
			return 0;
		physical = entry & mask;
		if (is_last) {
			physical = (physical & ~in_page) | (address & in_page);
			if (entry & PRESENT_PAGE_IS_SPECIAL)
				return 0;
			return physical < present_pages_end ? physical : 0;
		}
		if (physical >= present_pages_end)
			return 0;
		table = base + physical;
	}
	return 0;
}

/* The kernel aligns the address to this. */
#define PRESENT_PAGES_ALIGN (1ull << 30)

struct present_pages_search {
	__u64 pgd, first, known;
	__u64 bytes[PRESENT_KNOWN_BYTES / sizeof(__u64)];
};

/* Tries the I-th possible address. Returns 1 if the known bytes are found with this address. */
static long present_pages_try(__u64 i, struct present_pages_search *s)
{
	__u64 base = s->first + i * PRESENT_PAGES_ALIGN, physical;
	__u64 found[PRESENT_KNOWN_BYTES / sizeof(__u64)];

	physical = present_page_find(s->pgd, base, s->known);
	if (physical <= PRESENT_PAGE_EMPTY ||
	    bpf_probe_read_kernel(found, sizeof(found), (const void *)(base + physical)) < 0)
		return 0;
	for (__u32 w = 0; w < PRESENT_KNOWN_BYTES / sizeof(__u64); w++)
		if (found[w] != s->bytes[w])
			return 0;
	present_pages_base = base;
	return 1;
}

/*
 * User space runs this program, with random bytes of its own. The program uses the kernel's
 * variable page_offset_base, if the address of the variable is known. Many kernels keep no names of
 * variables, and hide them without CAP_SYSLOG.
 *
 * Otherwise the program searches for the value. The first page table of the process is in the same
 * mapping, so few addresses are possible: one in each gigabyte of memory. Only with the right
 * address do the page tables lead to the known bytes. The lowest address is tried first: addresses
 * below the right one lead to memory, or to nothing, but higher ones could lead to mapped devices,
 * whose registers must not be read.
 */
SEC("?syscall")
int on_find_present_pages(struct present_known *known)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct present_pages_search s = { .known = known->address };
	__u64 end = known->memory_end, variable = 0, n;

	s.pgd = (__u64)BPF_CORE_READ(p, mm, pgd);
	if (end == 0 || bpf_probe_read_user(s.bytes, sizeof(s.bytes), (const void *)s.known) < 0)
		return 0;
	present_pages_end = end;
	bpf_kallsyms_lookup_name("page_offset_base", sizeof("page_offset_base"), 0, &variable);
	if (variable && bpf_probe_read_kernel(&s.first, sizeof(s.first), (void *)variable) == 0) {
		present_pages_try(0, &s);
		return 0;
	}
	n = end / PRESENT_PAGES_ALIGN + 1;
	if (!known->can_search || n > PRESENT_TRIES_MAX)
		return 0;
	s.first = (s.pgd & ~(PRESENT_PAGES_ALIGN - 1)) - (n - 1) * PRESENT_PAGES_ALIGN;
	bpf_loop((__u32)n, present_pages_try, &s, 0);
	return 0;
}
#else
SEC("?syscall")
int on_find_present_pages(struct present_known *known)
{
	return 0;
}
#endif
