/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Macros for words of sets, for the files with the words.
 */
#pragma once

/* These macros do not use each other: an argument that one macro passes to another is expanded. */
#define WORD(name)                                                                                 \
	{                                                                                          \
#name, (uint64_t)(uint32_t)(name), (uint64_t)(uint32_t)(name)                      \
	}
#define FIELD(name, mask)                                                                          \
	{                                                                                          \
#name, (uint64_t)(uint32_t)(name), (uint64_t)(uint32_t)(mask)                      \
	}
/* The word for the value 0. It is left out if there are other words. */
#define NOTHING(name)                                                                              \
	{                                                                                          \
#name, 0, UINT64_MAX                                                               \
	}
#define WORDS(array) array, ARRAY_SIZE(array)
