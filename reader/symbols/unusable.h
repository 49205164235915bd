/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that gives no names, and why.
 */
#pragma once

#include <errno.h>

/* Leaves WHAT, a sentence about the file without its end, in *RETERR_WHAT. Returns -EBADMSG. */
static inline int unusable(const char **reterr_what, const char *what)
{
	*reterr_what = what;
	return -EBADMSG;
}
