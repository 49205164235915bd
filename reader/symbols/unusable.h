/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reasons why files cannot be used. */
#pragma once

#include <errno.h>

/* Stores WHAT, the problem of a file as the end of a sentence, in *RETERR_WHAT. Returns
 * -EBADMSG. */
static inline int unusable(const char **reterr_what, const char *what)
{
	*reterr_what = what;
	return -EBADMSG;
}
