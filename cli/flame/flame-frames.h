/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of a flame graph, for a picture of its own (flame-svg.c) and for pages that contain
 * some: callers are above their callees, and widths are weights.
 *
 * The page defines the custom properties --fg, --line and --mark of its style.
 */
#pragma once

#include "cli/flame/flame.h"

/* Rules for the frames, for a <style>. */
extern const char flame_frames_style[];

/*
 * For a <script>: defines flame(root, keys, pad), which lets users zoom, search and move by keys.
 * ROOT is an element that is PAD wider than the frames. It contains elements of these classes:
 *
 *	flame-frames   the <svg> of the frames
 *	flame-controls hidden without a script; contains:
 *	flame-search   an <input>
 *	flame-reset    a <button>
 *	flame-matched  a text: what was found
 *	flame-detail   a text: the frame that has the focus
 *
 * KEYS is the element, or the document, whose keys are handled.
 */
extern const char flame_frames_script[];

/* The height of all frames that are drawn. */
uint32_t flame_frames_height(const struct flame *f);

/*
 * Adds the frames, for a <svg> with role="tree" that is WIDTH wide without a script. Sets the
 * numbers of drawn and omitted frames in F. Returns 0 or a negative errno.
 */
int flame_frames_add(struct flame *f, struct outbuf *out, uint32_t width);

/* Adds a line of text that says what the weights are. */
void flame_frames_add_subtitle(const struct flame *f, struct outbuf *out);
