/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of an option that does not exist (HACKING.md, "Adding an option"). The compiler's
 * -include puts them before sources of kymo.
 */
#pragma once

/* In struct session_options. */
#define OPTION_MADE_UP_MEMBER uint64_t made_up_ns; /* 0 = default */

/* In the table. */
#define OPTION_MADE_UP_ROW                                                                         \
	{ "made-up",                                                                               \
	  0,                                                                                       \
	  "TIME",                                                                                  \
	  OPTION_OF_REPORTS,                                                                       \
	  HOW,                                                                                     \
	  "time that nobody needs",                                                                \
	  "made_up_ns",                                                                            \
	  "Collection",                                                                            \
	  "MadeUp",                                                                                \
	  .type = OPTION_TIME,                                                                     \
	  .offset = AT(made_up_ns),                                                                \
	  .min = 1000000,                                                                          \
	  .max = 60 * SECONDS,                                                                     \
	  .usual = SECONDS,                                                                        \
	  .shown = "1s",                                                                           \
	  .categories = CATEGORY_OFFCPU,                                                           \
	  .stored_as = "made_up",                                                                  \
	  .flags = OPTION_STORED },
