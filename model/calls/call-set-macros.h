/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Macros that define the words of sets, for the files with these words.
 */
#pragma once

/*
 * These macros do not use each other: an argument that one macro passes to another is expanded
 * first, and #name would then give the number.
 */
#define WORD(name)                                                                                 \
	{                                                                                          \
#name, (uint64_t)(uint32_t)(name), (uint64_t)(uint32_t)(name)                      \
	}
#define FIELD(name, mask)                                                                          \
	{                                                                                          \
#name, (uint64_t)(uint32_t)(name), (uint64_t)(uint32_t)(mask)                      \
	}
/* The word for the value 0, which is written only if there are no other words. */
#define NOTHING(name)                                                                              \
	{                                                                                          \
#name, 0, UINT64_MAX                                                               \
	}
#define WORDS(array) array, ARRAY_SIZE(array)
