/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/flame/flame-frames.h"
#include "cli/report/report.h"
#include "cli/report/report-table.h"

/* The page loads nothing, even if it contained markup that is not ours. */
static const char head[] =
	"<!DOCTYPE html>\n"
	"<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
	"<meta charset=\"utf-8\"/>\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\"/>\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	"<meta name=\"color-scheme\" content=\"light dark\"/>\n"
	"<meta name=\"generator\" content=\"kymo report\"/>\n<title>";

static const char style[] =
	":root{color-scheme:light dark;--bg:#fff;--fg:#1b1b1f;--dim:#5c5c66;--line:#fff;"
	"--box:#f4f4f7;--rule:#d9d9e0;--mark:#a12bd6;--load:#3f7fc4;--gap:#c9c9d1;--bar:#dbe7f6;"
	"--link:#1a5fb4;--alert:#fff1e6;--alert-rule:#c4541a}\n"
	"@media (prefers-color-scheme:dark){:root{--bg:#17181c;--fg:#ececf1;--dim:#a3a3ad;"
	"--line:#17181c;--box:#22232a;--rule:#3b3c45;--mark:#c65cf5;--load:#6ea8e6;--gap:#4a4b55;"
	"--bar:#2b3f58;--link:#8ab8f0;--alert:#33231a;--alert-rule:#e98b54}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;max-width:1240px;padding:1rem 1.25rem 4rem;background:var(--bg);"
	"color:var(--fg);font:15px/1.5 ui-sans-serif,system-ui,'DejaVu Sans',sans-serif}\n"
	"h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0 .25rem;overflow-wrap:anywhere}\n"
	"h2{font-size:1.25rem;margin:2.25rem 0 .5rem;padding-bottom:.25rem;"
	"border-bottom:1px solid var(--rule)}\n"
	"h3{font-size:1rem;margin:1.25rem 0 .25rem;overflow-wrap:anywhere}\n"
	"p{margin:.5rem 0;max-width:75ch;overflow-wrap:anywhere}a{color:var(--link)}\n"
	"code{font:.92em ui-monospace,'DejaVu Sans Mono',monospace;overflow-wrap:anywhere}\n"
	".dim,.none,caption{color:var(--dim)}\n"
	"nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;list-style:none;margin:.75rem 0;"
	"padding:0}\n"
	".alert{background:var(--alert);border-left:4px solid var(--alert-rule);"
	"padding:.25rem 1rem .5rem;margin:1rem 0;border-radius:4px}\n"
	".alert h2{border:0;margin:.5rem 0 .25rem}.alert ul,.plain{margin:.25rem 0;"
	"padding-left:1.25rem}\n"
	".note{border-left:3px solid var(--rule);padding-left:.75rem;color:var(--dim)}\n"
	"dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.2rem 1.25rem;margin:"
	".5rem 0}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}\n"
	".scroll{overflow-x:auto;margin:.75rem 0}\n"
	"table{border-collapse:collapse;max-width:100%;font-size:.92em}\n"
	"caption{text-align:left;padding:.25rem 0}\n"
	"th,td{padding:.22rem .6rem;text-align:left;vertical-align:top;"
	"border-bottom:1px solid var(--rule)}\n"
	"th{font-weight:600}.text{font-weight:400;overflow-wrap:anywhere;"
	"min-width:9rem;unicode-bidi:isolate}\n"
	".num{text-align:right;font-variant-numeric:tabular-nums}\n"
	"td.num{white-space:nowrap}td.bar{background:linear-gradient(var(--bar) 0 0) 0/var(--w) 100% "
	"no-repeat}\n"
	"td.load{width:60rem;min-width:7rem;padding:.15rem .6rem}\n"
	".load svg{display:block;width:100%;height:26px;background:var(--box)}\n"
	".load path{fill:var(--load)}.load rect{fill:var(--gap)}\n"
	".axis{display:flex;justify-content:space-between;color:var(--dim);font-size:.9em}\n"
	"details{margin:.25rem 0}summary{cursor:pointer;color:var(--link)}\n"
	"ol.stack{margin:.25rem 0;padding-left:1.5rem;font:.9em ui-monospace,'DejaVu Sans Mono',"
	"monospace;overflow-wrap:anywhere}\n"
	".steps{list-style:none;padding-left:0;font-size:.92em}\n"
	"figure{margin:.75rem 0}figcaption{color:var(--dim);font-size:.92em}\n"
	".flame-frames{display:block;width:100%;font:12px ui-sans-serif,system-ui,'DejaVu Sans',"
	"sans-serif}.frames{max-height:85vh;overflow-y:auto}\n"
	".flame-detail{min-height:1.6em;margin:.25rem 0;font-size:.92em}\n"
	".flame-controls{display:flex;flex-wrap:wrap;gap:.4rem .75rem;align-items:center;margin:"
	".5rem 0}\n"
	"input,button{font:inherit;color:var(--fg);background:var(--box);border:1px solid "
	"var(--dim);border-radius:4px;padding:.15rem .5rem}\n"
	"@media (max-width:640px){body{padding:.5rem .75rem 3rem}dl{grid-template-columns:1fr;gap:0}"
	"dd{margin-bottom:.35rem}.axis span:nth-child(even){display:none}.text{min-width:6rem}}\n"
	"@media print{.frames{max-height:none}nav,.flame-controls,.flame-detail{display:none}}\n";

/*
 * Must follow the style of a flame graph's frames: it replaces the outline of the selected frame,
 * which is black there, on the dark page.
 */
static const char dark_frames[] =
	"@media (prefers-color-scheme:dark){.f:hover rect,.f:focus rect{stroke:#fff}}\n";

static const char script[] =
	"for(const figure of document.querySelectorAll('.flame'))flame(figure,figure,0);\n";

static const struct {
	const char *id, *title;
	int (*add)(const struct report *r, struct outbuf *out);
} sections[] = {
	{ "recording", "The recording", report_machine },
	{ "cpus", "CPUs over time", report_cpus },
	{ "processes", "Processes by CPU time", report_processes },
	{ "waits", "The worst waits", report_waits },
	{ "on-cpu", "Where CPU time was spent", report_on_cpu },
	{ "off-cpu", "Where threads waited", report_off_cpu },
	{ "latencies", "Latencies", report_latencies },
	{ "calls", "Calls", report_calls },
	{ "leaks", "Memory that was not freed", report_leaks },
};

static const char losses_title[] = "What is missing";

static void report_page_add_begin(const struct report *r, struct outbuf *out)
{
	const struct summary *s = r->summary;
	time_t at = (time_t)(((int64_t)s->start_ns + r->real_offset_ns) / 1000000000);
	struct tm tm;
	char text[64] = "";

	outbuf_print(out, "<p class=\"dim\">%s", TEXT_TIME(s->duration_ns));
	if (s->started) {
		outbuf_print(out, " of ");
		report_text(out, *s->recording.host ? s->recording.host : "?", REPORT_NAME_MAX);
	}
	if (r->real_offset_ns && gmtime_r(&at, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm) > 0)
		outbuf_print(out, ", from %s on", text);
	outbuf_print(out, "</p>\n");
}

static void report_page_add_contents(const struct report *r, struct outbuf *out)
{
	outbuf_print(out, "<nav aria-label=\"Contents\"><ul>\n");
	if (report_has_losses(r))
		outbuf_print(out, "<li><a href=\"#losses\">%s</a></li>\n", losses_title);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		outbuf_print(out, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id,
			     sections[i].title);
	if (!report_has_losses(r))
		outbuf_print(out, "<li><a href=\"#losses\">%s</a></li>\n", losses_title);
	outbuf_print(out, "</ul></nav>\n");
}

static int report_page_add_section(const struct report *r, struct outbuf *out, size_t i)
{
	int e;

	outbuf_print(out,
		     "<section id=\"%s\" aria-labelledby=\"%s-title\">\n"
		     "<h2 id=\"%s-title\">%s</h2>\n",
		     sections[i].id, sections[i].id, sections[i].id, sections[i].title);
	e = sections[i].add(r, out);
	outbuf_print(out, "</section>\n");
	return e;
}

/*
 * Adds the section about what is missing. The caller puts it before all others if anything was
 * lost.
 */
static int report_page_add_losses(const struct report *r, struct outbuf *out)
{
	int e;

	outbuf_print(out,
		     "<section id=\"losses\" aria-labelledby=\"losses-title\"%s>\n"
		     "<h2 id=\"losses-title\">%s</h2>\n",
		     report_has_losses(r) ? " class=\"alert\"" : "", losses_title);
	e = report_losses(r, out);
	outbuf_print(out, "</section>\n");
	return e;
}

static int report_page_add_sections(const struct report *r, struct outbuf *out)
{
	_cleanup_(outbuf_deinit) struct outbuf body = { 0 };
	int e = 0;

	/*
	 * The sections look up names, and the section about losses lists the names that were not
	 * found. So it is made after the others, even if it precedes them.
	 */
	for (size_t i = 0; e == 0 && i < ARRAY_SIZE(sections); i++)
		e = report_page_add_section(r, &body, i);
	if (e == 0 && report_has_losses(r))
		e = report_page_add_losses(r, out);
	outbuf_append(out, body.data, body.size);
	if (e == 0 && !report_has_losses(r))
		e = report_page_add_losses(r, out);
	return e ?: body.error;
}

int report_page(const struct report *r, struct outbuf *out)
{
	int e;

	outbuf_print(out, "%s", head);
	report_text(out, r->title, REPORT_TEXT_MAX);
	outbuf_print(out, "</title>\n<style>\n%s%s%s</style>\n</head>\n<body>\n<header>\n<h1>",
		     style, flame_frames_style, dark_frames);
	report_text(out, r->title, REPORT_TEXT_MAX);
	outbuf_print(out, "</h1>\n");
	report_page_add_begin(r, out);
	report_page_add_contents(r, out);
	outbuf_print(out, "</header>\n<main>\n");
	e = report_page_add_sections(r, out);
	/* (in HTML, the marks of CDATA are comments of the script) */
	outbuf_print(out,
		     "</main>\n<script>//<![CDATA[\n'use strict';\n%s%s//]]></script>\n"
		     "</body>\n</html>\n",
		     flame_frames_script, script);
	return e < 0 ? e : out->error;
}
