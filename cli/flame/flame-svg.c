/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph as a self-contained SVG. Its script zooms, searches and handles keys. Without a
 * script, it is a static picture.
 */
#include <errno.h>
#include <inttypes.h>

#include "cli/common/markup.h"
#include "cli/flame/flame-frames.h"

enum {
	WIDTH = 1200,
	PAD = 20,  /* width of both margins */
	TOP = 106, /* height of the title, subtitle, search, and the frame under the pointer */
	BOTTOM = 10,
};

static const char style[] =
	"svg{--bg:#fff;--fg:#1b1b1f;--dim:#5c5c66;--line:#fff;--box:#f1f1f4;--mark:#a12bd6;"
	"background:var(--bg);font:12px ui-sans-serif,system-ui,'DejaVu Sans',sans-serif}\n"
	"#bg{fill:var(--bg)}text{fill:var(--fg)}.dim{fill:var(--dim)}#title{font-size:16px;"
	"font-weight:600}\n"
	"input,button{font:inherit;color:var(--fg);background:var(--box);border:1px solid "
	"var(--dim);border-radius:4px;padding:2px 7px}input{width:190px}\n";

static const char dark_style[] =
	"@media (prefers-color-scheme:dark){svg{--bg:#17181c;--fg:#ececf1;--dim:#a3a3ad;"
	"--line:#17181c;--box:#26272d;--mark:#c65cf5}.f:hover rect,.f:focus rect{stroke:#fff}}\n";

static const char script[] = "document.documentElement.setAttribute('width','100%');\n"
			     "flame(document.documentElement,document,20);\n";

static void flame_svg_add_head(const struct flame *f, struct outbuf *out)
{
	uint32_t height = TOP + flame_frames_height(f) + BOTTOM;

	outbuf_print(out,
		     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%" PRIu32
		     "\">\n<title>",
		     WIDTH, height);
	markup_add_text(out, f->title);
	outbuf_print(out,
		     "</title>\n<style>\n%s%s%s</style>\n"
		     "<rect id=\"bg\" width=\"100%%\" height=\"100%%\"/>\n"
		     "<text id=\"title\" x=\"10\" y=\"24\">",
		     style, flame_frames_style, dark_style);
	markup_add_text(out, f->title);
	outbuf_print(out, "</text>\n<text class=\"dim\" x=\"10\" y=\"43\">");
	flame_frames_add_subtitle(f, out);
	outbuf_print(
		out,
		"</text>\n<foreignObject class=\"flame-controls\" style=\"display:none\" x=\"10\" y=\"50\" "
		"width=\"640\" height=\"30\"><div xmlns=\"http://www.w3.org/1999/xhtml\" "
		"style=\"display:flex;gap:6px;align-items:center\">"
		"<input class=\"flame-search\" type=\"search\" placeholder=\"Search (/)\" "
		"aria-label=\"Search for functions\"/>"
		"<button class=\"flame-reset\" type=\"button\">Reset zoom</button>"
		"<span class=\"flame-matched\" aria-live=\"polite\" style=\"color:var(--fg)\"></span>"
		"</div></foreignObject>\n<text class=\"flame-detail\" x=\"10\" y=\"97\"/>\n"
		"<svg x=\"10\" y=\"%d\" width=\"%d\" role=\"tree\" class=\"flame-frames\" "
		"overflow=\"visible\">\n",
		TOP, WIDTH - PAD);
}

int flame_svg(struct flame *f, struct outbuf *out)
{
	int r;

	flame_svg_add_head(f, out);
	r = flame_frames_add(f, out, WIDTH - PAD);
	outbuf_print(out, "</svg>\n<script><![CDATA[\n'use strict';\n%s%s]]></script>\n</svg>\n",
		     flame_frames_script, script);
	return r < 0 ? r : out->error;
}
