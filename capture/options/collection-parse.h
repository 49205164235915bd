/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the file of a collection. The whole file is parsed. Each error is reported with its line,
 * and a file with any error is rejected.
 */
#pragma once

#include <stdio.h>

#include "capture/options/collection.h"

/*
 * Reads FILE, the collection NAME, to its end. Returns 0, -EINVAL after errors were reported, or
 * another errno.
 */
int collection_read(FILE *file, const char *name, collection_complaint_fn complain, void *userdata,
		    struct collection *ret);
