/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A static probe of the provider "kymotest", with a note as <sys/sdt.h> makes it. */
#pragma once

#define PROBE(name, semaphore, args, ...)                                                          \
	__asm__ volatile("990: nop\n"                                                              \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"                              \
			 ".balign 4\n"                                                             \
			 ".4byte 992f-991f, 994f-993f, 3\n"                                        \
			 "991: .asciz \"stapsdt\"\n"                                               \
			 "992: .balign 4\n"                                                        \
			 "993: .8byte 990b, _.stapsdt.base, " semaphore "\n"                       \
			 ".asciz \"kymotest\"\n"                                                   \
			 ".asciz \"" name "\"\n"                                                   \
			 ".asciz \"" args "\"\n"                                                   \
			 "994: .balign 4\n"                                                        \
			 ".popsection\n" ::__VA_ARGS__)

__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base, 1\n"
	".popsection\n");
