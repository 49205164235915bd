/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names come from foreign processes. They occur only in text and attributes, escaped, and the
 * script does not parse them as markup.
 */
#include "cli/flame/flame-frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/markup.h"

enum {
	ROW = 18,      /* height of a row of frames */
	TEXT_MIN = 30, /* minimum width of frames with a name */
	N_COLORS = 6,  /* number of colours of each kind */
};

const char flame_frames_style[] =
	".f{cursor:pointer}.f rect{stroke:var(--line);stroke-width:.7}.f text{fill:#17171a;"
	"pointer-events:none;unicode-bidi:isolate}\n"
	".f:hover rect,.f:focus rect{stroke:#000;stroke-width:2}.f:focus{outline:none}\n"
	".f.s text{display:none}.f.h{display:none}.f.up rect{fill-opacity:.45}.f.up text{fill:var(--fg)}\n"
	".m rect{fill:var(--mark)!important}.m text{fill:#fff}\n"
	".r rect{fill:#d5d5da}.p rect{fill:#bfc6d1}.x rect{fill:#d0d0c8}\n"
	".u0 rect{fill:#f2a65a}.u1 rect{fill:#f4b76b}.u2 rect{fill:#ee9a63}.u3 rect{fill:#f6c177}"
	".u4 rect{fill:#e9ad6b}.u5 rect{fill:#f0b98d}\n"
	".k0 rect{fill:#8fb3e8}.k1 rect{fill:#a0c0ee}.k2 rect{fill:#86c0dd}.k3 rect{fill:#9db8e0}"
	".k4 rect{fill:#a9cbe8}.k5 rect{fill:#93add9}\n";

/* Frames are in depth-first order. data-x and data-w are the begin and the width of a frame, in the
 * unit of weights. The script depends on the elements that flame_frames_add_frame() writes. */
const char flame_frames_script[] =
	"function flame(root,keys,pad){\n"
	"const by=name=>root.querySelector('.flame-'+name);\n"
	"const all=Array.from(root.querySelectorAll('.f')).map((el,i)=>({el,i,"
	"x:+el.dataset.x,w:+el.dataset.w,d:+el.dataset.d,up:null,down:[],"
	"name:el.dataset.n,tip:el.querySelector('title').textContent}));\n"
	"const open=[];\n"
	"for(const f of all){f.el.flame=f;open.length=f.d;f.up=f.d?open[f.d-1]:null;"
	"if(f.up)f.up.down.push(f);open[f.d]=f}\n"
	"const top=all[0];let zoomed=top,at=top;\n"
	"const pct=v=>v.toFixed(4)+'%';\n"
	"function layout(){\n"
	" const wide=Math.max(root.getBoundingClientRect().width-pad,100);\n"
	" by('frames').setAttribute('width',wide);\n"
	" for(const f of all){\n"
	"  let x=(f.x-zoomed.x)/zoomed.w,w=f.w/zoomed.w;\n"
	"  const above=f.d<zoomed.d&&f.x<=zoomed.x&&f.x+f.w>=zoomed.x+zoomed.w;\n"
	"  if(above){x=0;w=1}\n"
	"  const hide=!above&&(f.d<zoomed.d||x<-1e-9||x+w>1+1e-9||w*wide<.3);\n"
	"  const c=f.el.classList;\n"
	"  c.toggle('h',hide);c.toggle('up',above);\n"
	"  if(hide)continue;\n"
	"  f.el.setAttribute('x',pct(100*x));f.el.setAttribute('width',pct(100*w));\n"
	"  c.toggle('s',w*wide<30)}\n"
	"}\n"
	"function say(f){by('detail').textContent=f?f.tip:''}\n"
	"function zoom(f){zoomed=f;by('reset').disabled=f===top;layout()}\n"
	"function go(f){if(!f||f.el.classList.contains('h'))return;at.el.setAttribute('tabindex','-1');"
	"at=f;f.el.setAttribute('tabindex','0');f.el.focus();say(f)}\n"
	"function near(f,step){const row=f.up?f.up.down:[f];let i=row.indexOf(f)+step;"
	"while(row[i]&&row[i].el.classList.contains('h'))i+=step;return row[i]}\n"
	"function widest(f){return f.down.reduce((a,b)=>!a||b.w>a.w?b:a,null)}\n"
	"function search(text){\n"
	" let test=null,sum=0,until=-1,n=0;\n"
	" if(text){try{const r=new RegExp(text,'i');test=s=>r.test(s)}"
	"catch(e){const t=text.toLowerCase();test=s=>s.toLowerCase().includes(t)}}\n"
	" for(const f of all){\n"
	"  const hit=test&&f!==top&&test(f.name);f.el.classList.toggle('m',!!hit);\n"
	"  if(hit){n++;if(f.x>=until){sum+=f.w;until=f.x+f.w}}}\n"
	" by('matched').textContent=test?'matched '+(100*sum/top.w).toFixed(2)+' % in '+n+"
	"(n===1?' place':' places'):''\n"
	"}\n"
	"root.addEventListener('click',e=>{const el=e.target.closest('.f');"
	"if(el){go(el.flame);zoom(el.flame)}});\n"
	"root.addEventListener('mouseover',e=>{const el=e.target.closest('.f');say(el?el.flame:null)});\n"
	"root.addEventListener('focusin',e=>{const el=e.target.closest('.f');if(el)say(el.flame)});\n"
	"const box=by('search');\n"
	"box.addEventListener('input',()=>search(box.value));\n"
	"by('reset').addEventListener('click',()=>zoom(top));\n"
	"window.addEventListener('resize',layout);\n"
	"keys.addEventListener('keydown',e=>{\n"
	" if(e.ctrlKey&&e.key==='f'||e.key==='/'&&e.target!==box){e.preventDefault();box.focus();"
	"box.select();return}\n"
	" if(e.key==='Escape'){if(e.target===box&&box.value){box.value='';search('')}"
	"else{zoom(top);go(top)}return}\n"
	" if(e.target===box||e.target===by('reset')||e.ctrlKey||e.altKey||e.metaKey)return;\n"
	" const to={ArrowDown:()=>go(widest(at)),ArrowUp:()=>go(at.up),ArrowLeft:()=>go(near(at,-1)),"
	"ArrowRight:()=>go(near(at,1)),Enter:()=>zoom(at),' ':()=>zoom(at)}[e.key];\n"
	" if(to){e.preventDefault();to()}\n"
	"});\n"
	"by('controls').style.display='';\n"
	"zoom(top);\n"
	"}\n";

static double flame_frames_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static void flame_frames_add_weight(const struct flame *f, struct outbuf *out, uint64_t weight)
{
	if (f->by_time)
		outbuf_print(out, "%s", TEXT_TIME(weight));
	else
		outbuf_print(out, "%" PRIu64 " sample%s", weight, weight == 1 ? "" : "s");
}

/* Returns the growth of the share of NODE, in percentage points. */
static double flame_frames_growth(const struct flame *f, const struct call_node *node)
{
	const struct call_node *root = &f->tree->nodes[0];

	return flame_frames_share(node->total[CALL_NOW], root->total[CALL_NOW]) -
	       flame_frames_share(node->total[CALL_OLD], root->total[CALL_OLD]);
}

/*
 * Adds the colour of growth: grey without a change, red for growth, blue for shrinkage. The colour
 * is full at 10 points.
 */
static void flame_frames_add_growth_color(const struct flame *f, struct outbuf *out,
					  const struct call_node *node)
{
	double points = flame_frames_growth(f, node),
	       strength = points < 0 ? -points / 10 : points / 10;
	int other, most;

	if (strength > 1)
		strength = 1;
	other = (int)(222 - 130 * strength);
	most = (int)(222 + 23 * strength);
	outbuf_print(out, " style=\"fill:rgb(%d,%d,%d)\"", points >= 0 ? most : other, other,
		     points >= 0 ? other : most);
}

static const char *flame_frames_class_of(const struct flame *f, const struct call_node *node)
{
	static const char *const user[N_COLORS] = { "u0", "u1", "u2", "u3", "u4", "u5" };
	static const char *const kernel[N_COLORS] = { "k0", "k1", "k2", "k3", "k4", "k5" };
	uint64_t color = table_hash(node->name, strlen(node->name)) % N_COLORS;

	switch (node->kind) {
	case CALL_ROOT:
		return "r";
	case CALL_PROCESS:
		return "p";
	case CALL_KERNEL:
		return f->old ? "x" : kernel[color];
	case CALL_USER:
		return f->old ? "x" : user[color];
	default:
		return "x";
	}
}

/* Adds the text "name - 12 samples, 34.50 %, 1.20 points more". */
static void flame_frames_add_tip(const struct flame *f, struct outbuf *out,
				 const struct call_node *node)
{
	const struct call_node *root = &f->tree->nodes[0];
	double points = flame_frames_growth(f, node);

	markup_add_text(out, node->name);
	outbuf_print(out, " \u2013 ");
	flame_frames_add_weight(f, out, node->total[CALL_NOW]);
	outbuf_print(out, ", %.2f\u00a0%%",
		     flame_frames_share(node->total[CALL_NOW], root->total[CALL_NOW]));
	if (f->old)
		outbuf_print(out, " (%+.2f points)", points > -0.005 && points < 0 ? 0 : points);
	if (node->self[CALL_NOW] && node->self[CALL_NOW] != node->total[CALL_NOW])
		outbuf_print(out, "; itself %.2f\u00a0%%",
			     flame_frames_share(node->self[CALL_NOW], root->total[CALL_NOW]));
}

/* Adds the frame of NODE. LEFT is its begin, in the unit of weights. */
static void flame_frames_add_frame(const struct flame *f, struct outbuf *out, uint32_t width,
				   const struct call_node *node, uint64_t left)
{
	uint64_t all = f->tree->nodes[0].total[CALL_NOW];
	double wide = flame_frames_share(node->total[CALL_NOW], all);

	outbuf_print(out,
		     "<svg class=\"f %s%s\" x=\"%.4f%%\" y=\"%" PRIu32
		     "\" width=\"%.4f%%\" height=\"%d\" tabindex=\"%d\" role=\"treeitem\" "
		     "aria-level=\"%" PRIu32 "\" data-d=\"%" PRIu32 "\" data-x=\"%" PRIu64
		     "\" data-w=\"%" PRIu64 "\" data-n=\"",
		     flame_frames_class_of(f, node), wide * width / 100 < TEXT_MIN ? " s" : "",
		     flame_frames_share(left, all), node->depth * ROW, wide, ROW - 1,
		     node->depth ? -1 : 0, node->depth + 1, node->depth, left,
		     node->total[CALL_NOW]);
	markup_add_text(out, node->name);
	outbuf_print(out, "\"><title>");
	flame_frames_add_tip(f, out, node);
	outbuf_print(out, "</title><rect width=\"100%%\" height=\"100%%\" rx=\"1.5\"");
	if (f->old && node->kind != CALL_ROOT)
		flame_frames_add_growth_color(f, out, node);
	outbuf_print(out, "/><text x=\"4\" y=\"13\">");
	markup_add_text(out, node->name);
	outbuf_print(out, "</text></svg>\n");
}

/* Returns true if NODE is wide enough for a frame. */
static bool flame_frames_is_drawn(const struct flame *f, const struct call_node *node)
{
	uint64_t weight = node->total[CALL_NOW];

	return weight != 0 &&
	       flame_frames_share(weight, f->tree->nodes[0].total[CALL_NOW]) >= f->min_percent;
}

/*
 * Adds all frames, and computes their begins. A node that is too narrow is skipped, with its
 * callees.
 */
int flame_frames_add(struct flame *f, struct outbuf *out, uint32_t width)
{
	const struct call_tree *t = f->tree;
	_cleanup_free_ uint64_t *left = calloc(t->n_nodes, sizeof(*left));
	_cleanup_free_ uint64_t *used = calloc(t->n_nodes, sizeof(*used));
	uint32_t i = 0;

	if (!left || !used)
		return -ENOMEM;
	do {
		const struct call_node *node = &t->nodes[i];

		if (i != 0) {
			left[i] = left[node->parent] + used[node->parent];
			used[node->parent] += node->total[CALL_NOW];
		}
		if (flame_frames_is_drawn(f, node)) {
			flame_frames_add_frame(f, out, width, node, left[i]);
			f->n_drawn++;
		} else if (node->total[CALL_NOW] != 0) {
			f->n_left_out++;
		}
	} while ((i = call_tree_next(t, i)) != 0);
	return out->error;
}

uint32_t flame_frames_height(const struct flame *f)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < f->tree->n_nodes; i++)
		if (f->tree->nodes[i].depth > depth && flame_frames_is_drawn(f, &f->tree->nodes[i]))
			depth = f->tree->nodes[i].depth;
	return (depth + 1) * ROW;
}

void flame_frames_add_subtitle(const struct flame *f, struct outbuf *out)
{
	const uint64_t *total = f->tree->nodes[0].total;

	flame_frames_add_weight(f, out, total[CALL_NOW]);
	outbuf_print(out, "%s%s",
		     f->on_cpu && f->off_cpu ? " on and off CPU"
		     : f->off_wake           ? " off CPU until a wakeup, with its stack"
		     : f->off_cpu            ? " off CPU"
					     : " on CPU",
		     f->inverted ? ", from the innermost function outwards" : "");
	if (f->old) {
		outbuf_print(out, ", compared with ");
		flame_frames_add_weight(f, out, total[CALL_OLD]);
		outbuf_print(out, "; red has grown, blue has shrunk, by share");
	}
	if (f->min_percent > 0)
		outbuf_print(out, "; frames below %g\u00a0%% are not drawn", f->min_percent);
}
