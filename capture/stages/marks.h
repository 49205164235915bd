/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The valid state from earlier chunks, for the heads of later ones: a stage of the pipeline. The
 * archive's writer notes that state (writer/fxt/fxt-holds.h).
 */
#pragma once

#include "capture/stages/stage.h"

struct marks {
	const struct pipeline *pipe;
	struct fxt_holds *holds; /* NULL = no chunks. Owned */
	bool log;                /* each allocation is recorded */
};

extern const struct stage marks_stage;
