/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The notes of static probes (.note.stapsdt, as <sys/sdt.h> makes them). The notes follow each
 * other, and come from untrusted files.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct usdt_note {
	uint64_t vaddr;     /* address of the instruction when the file was linked */
	uint64_t base;      /* address of .stapsdt.base when the file was linked */
	uint64_t semaphore; /* address of its counter when the file was linked; 0 = none */
	const char *provider, *name, *arguments; /* in the notes */
};

/*
 * Reads the next note from the N bytes at NOTES, at *AT, and advances *AT. Returns 1, 0 after
 * the last one, or -EBADMSG.
 */
int usdt_note_next(const char *notes, size_t n, size_t *at, struct usdt_note *ret);

/*
 * Converts VADDR, an address in NOTE, to an address in the file as it is now: prelinking may have
 * moved the section .stapsdt.base to BASE. If BASE is 0, the file has no such section, and was not
 * moved.
 */
uint64_t usdt_note_vaddr(const struct usdt_note *note, uint64_t vaddr, uint64_t base);
