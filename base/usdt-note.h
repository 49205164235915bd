/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The notes of static probes (.note.stapsdt, as <sys/sdt.h> makes them), which are consecutive.
 * They come from untrusted files.
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
 * VADDR, an address in NOTE, as an address in the file: prelinking moves the section .stapsdt.base
 * to BASE. 0 = the file has no such section, and was not moved.
 */
uint64_t usdt_note_vaddr(const struct usdt_note *note, uint64_t vaddr, uint64_t base);
