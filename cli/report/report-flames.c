/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flame graphs. If a graph is too large, its narrowest frames are left out, and the page says
 * which share these are below.
 */
#include <errno.h>
#include <inttypes.h>

#include "cli/flame/flame-frames.h"
#include "cli/report/report.h"
#include "cli/report/report-table.h"

enum { STATIC_WIDTH = 1200 /* for names without a script */ };

/* The smallest share that is drawn, in percent. */
static const double least_percent = 0.1;

/*
 * Writes the frames of F to OUT, and leaves out more of the narrow frames until they fit. Returns
 * -EMSGSIZE if even frames of at least half the width do not fit.
 */
static int report_flames_fit(struct flame *f, struct outbuf *out)
{
	int e;

	for (f->min_percent = least_percent;; f->min_percent *= 2) {
		f->n_drawn = f->n_left_out = 0;
		outbuf_reset(out);
		e = flame_frames_add(f, out, STATIC_WIDTH);
		/* (a stack of some hundred frames fits, unless its names are very long) */
		if (e != -EMSGSIZE || f->min_percent > 50)
			return e;
	}
}

static int report_flames_add_graph(const struct call_tree *tree, bool off, struct outbuf *out)
{
	_cleanup_(outbuf_deinit) struct outbuf frames = { .limit = REPORT_FLAME_BYTES };
	struct flame f = { .tree = tree, .on_cpu = !off, .off_cpu = off, .by_time = off };
	int e = report_flames_fit(&f, &frames);

	if (e == -EMSGSIZE) {
		report_note(out, "The graph is left out: its names are too long for a page.");
		return out->error;
	}
	if (e < 0)
		return e;
	outbuf_print(out, "<figure class=\"flame\">\n<figcaption>Callers are above the functions "
			  "that they call; the width of a function is its share of ");
	flame_frames_add_subtitle(&f, out);
	if (f.n_left_out > 0)
		outbuf_print(out, " (%" PRIu64 " of %" PRIu64 ")", f.n_left_out,
			     f.n_left_out + f.n_drawn);
	outbuf_print(
		out,
		". Orange is code of programs, blue is the kernel.</figcaption>\n"
		"<div class=\"flame-controls\" style=\"display:none\">"
		"<input class=\"flame-search\" type=\"search\" placeholder=\"Search\" "
		"aria-label=\"Search for functions %s CPU\"/>"
		"<button class=\"flame-reset\" type=\"button\">Reset zoom</button>"
		"<span class=\"flame-matched\" aria-live=\"polite\"></span></div>\n"
		"<p class=\"flame-detail\"></p>\n"
		"<div class=\"frames\"><svg class=\"flame-frames\" width=\"100%%\" height=\"%" PRIu32
		"\" role=\"tree\" aria-label=\"Flame graph of the time %s CPU\">\n",
		off ? "off" : "on", flame_frames_height(&f), off ? "off" : "on");
	outbuf_append(out, frames.data, frames.size);
	outbuf_print(out, "</svg></div>\n</figure>\n");
	return out->error;
}

/* Adds the functions with the most time of their own, without their callees. */
static int report_flames_add_functions(const struct call_tree *tree, struct outbuf *out)
{
	enum { FUNCTIONS_SHOWN = 15 };
	_cleanup_free_ struct call_function *functions = NULL;
	uint64_t all = tree->nodes[0].total[CALL_NOW];
	size_t n, shown;
	int e = call_tree_functions(tree, &functions, &n);

	if (e < 0)
		return e;
	shown = n < FUNCTIONS_SHOWN ? n : FUNCTIONS_SHOWN;
	report_table_begin(out, "The functions with most time of their own",
			   (const char *const[]){ "Function", ">Itself", ">With its callees",
						  NULL });
	for (size_t i = 0; i < shown; i++) {
		report_row_begin(out);
		report_cell_name(out, functions[i].name);
		report_cell_share(out, functions[i].self, all);
		report_cell_share(out, functions[i].total, all);
		report_row_end(out);
	}
	report_row_rest(out, n - shown, 3, "functions");
	report_table_end(out);
	return out->error;
}

static int report_flames_add(const struct report *r, struct outbuf *out, bool off)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	const struct call_tree_options options = {
		.by_time = off,
		.only_on_cpu = !off,
		.only_off_cpu = off,
		.names = &r->names,
	};
	int e = call_tree_new(&tree) ?: call_tree_add(tree, r->profile, &options)
				     ?: call_tree_finish(tree);

	e = e ?: report_flames_add_graph(tree, off, out);
	return e == 0 && !off ? report_flames_add_functions(tree, out) : e;
}

int report_on_cpu(const struct report *r, struct outbuf *out)
{
	char text[NOTHING_TEXT_MAX];

	if (r->profile->n_samples > 0)
		return report_flames_add(r, out, false);
	if (r->profile->n_offcpu > 0)
		report_none(out, "no samples; \u201ckymo record -e profile\u201d records them");
	else
		report_none(out, nothing_there_explain(text, r->parts, NOTHING_STACKS));
	return out->error;
}

int report_off_cpu(const struct report *r, struct outbuf *out)
{
	if (r->profile->n_offcpu > 0)
		return report_flames_add(r, out, true);
	report_none(
		out,
		"no times off a CPU with their stacks; \u201ckymo record -e offcpu\u201d records "
		"those of at least --offcpu-min");
	return out->error;
}
