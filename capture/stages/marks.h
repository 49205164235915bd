/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State from earlier chunks that is still valid, for the heads of later chunks: a stage of the
 * pipeline. The writer of the archive notes that state (writer/fxt/fxt-holds.h).
 */
#pragma once

#include "capture/stages/stage.h"

struct marks {
	const struct pipeline *pipe;
	struct fxt_holds *holds; /* NULL = no chunks. Owned */
	bool log;                /* each allocation is recorded */
};

extern const struct stage marks_stage;
