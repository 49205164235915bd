/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "writer/tfile/tfile-x86-64.h"

#include "base/array.h"
#include "base/cleanup.h"

#define R64(name)       "<reg name=\"" name "\" bitsize=\"64\" type=\"int64\"/>"
#define R32(name)       "<reg name=\"" name "\" bitsize=\"32\" type=\"int32\"/>"
#define X87(name)       "<reg name=\"" name "\" bitsize=\"32\" type=\"int\" group=\"float\"/>"
#define ST(n)           "<reg name=\"st" n "\" bitsize=\"80\" type=\"i387_ext\"/>"
#define XMM(n)          "<reg name=\"xmm" n "\" bitsize=\"128\" type=\"vec128\"/>"
#define FLAG(name, bit) "<field name=\"" name "\" start=\"" bit "\" end=\"" bit "\"/>"

/*
 * GDB counts registers on from the last `regnum`, and expects them in the block by number. It does
 * not take the description without floating point and vectors.
 */
static const char *const tfile_x86_64_lines[] = {
	"<?xml version=\"1.0\"?>",
	"<!DOCTYPE target SYSTEM \"gdb-target.dtd\">",
	"<target>",
	"<architecture>i386:x86-64</architecture>",
	"<osabi>GNU/Linux</osabi>",
	"<feature name=\"org.gnu.gdb.i386.core\">",
	"<flags id=\"i386_eflags\" size=\"4\">" FLAG("CF", "0") FLAG("", "1") FLAG("PF", "2")
		FLAG("AF", "4") FLAG("ZF", "6") FLAG("SF", "7") FLAG("TF", "8") FLAG("IF", "9")
			FLAG("DF", "10") FLAG("OF", "11"),
	FLAG("NT", "14") FLAG("RF", "16") FLAG("VM", "17") FLAG("AC", "18") FLAG("VIF", "19")
		FLAG("VIP", "20") FLAG("ID", "21") "</flags>",
	R64("rax") R64("rbx") R64("rcx") R64("rdx") R64("rsi") R64("rdi"),
	"<reg name=\"rbp\" bitsize=\"64\" type=\"data_ptr\"/>"
	"<reg name=\"rsp\" bitsize=\"64\" type=\"data_ptr\"/>",
	R64("r8") R64("r9") R64("r10") R64("r11") R64("r12") R64("r13") R64("r14") R64("r15"),
	"<reg name=\"rip\" bitsize=\"64\" type=\"code_ptr\"/>"
	"<reg name=\"eflags\" bitsize=\"32\" type=\"i386_eflags\"/>",
	R32("cs") R32("ss") R32("ds") R32("es") R32("fs") R32("gs"),
	"<reg name=\"st0\" bitsize=\"80\" type=\"i387_ext\" regnum=\"27\"/>",
	ST("1") ST("2") ST("3") ST("4") ST("5") ST("6") ST("7"),
	X87("fctrl") X87("fstat") X87("ftag") X87("fiseg") X87("fioff") X87("foseg") X87("fooff")
		X87("fop"),
	"</feature>",
	"<feature name=\"org.gnu.gdb.i386.sse\">",
	"<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>"
	"<vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"
	"<vector id=\"v16i8\" type=\"int8\" count=\"16\"/>"
	"<vector id=\"v8i16\" type=\"int16\" count=\"8\"/>"
	"<vector id=\"v4i32\" type=\"int32\" count=\"4\"/>"
	"<vector id=\"v2i64\" type=\"int64\" count=\"2\"/>",
	"<union id=\"vec128\"><field name=\"v4_float\" type=\"v4f\"/>"
	"<field name=\"v2_double\" type=\"v2d\"/><field name=\"v16_int8\" type=\"v16i8\"/>"
	"<field name=\"v8_int16\" type=\"v8i16\"/><field name=\"v4_int32\" type=\"v4i32\"/>"
	"<field name=\"v2_int64\" type=\"v2i64\"/><field name=\"uint128\" type=\"uint128\"/></union>",
	XMM("0") XMM("1") XMM("2") XMM("3") XMM("4") XMM("5") XMM("6") XMM("7"),
	XMM("8") XMM("9") XMM("10") XMM("11") XMM("12") XMM("13") XMM("14") XMM("15"),
	"<reg name=\"mxcsr\" bitsize=\"32\" type=\"int32\" group=\"vector\"/>",
	"</feature>",
	"<feature name=\"org.gnu.gdb.i386.linux\">"
	"<reg name=\"orig_rax\" bitsize=\"64\" type=\"int\" regnum=\"24\"/></feature>",
	"<feature name=\"org.gnu.gdb.i386.segments\">"
	"<reg name=\"fs_base\" bitsize=\"64\" type=\"int\" regnum=\"25\"/>"
	"<reg name=\"gs_base\" bitsize=\"64\" type=\"int\"/></feature>",
	"</target>",
};

const char *const *tfile_x86_64_description(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(tfile_x86_64_lines);
	return tfile_x86_64_lines;
}

static uint8_t *tfile_x86_64_number(uint8_t *to, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		*to++ = (uint8_t)(value >> 8 * i);
	return to;
}

void tfile_x86_64_put(uint8_t *to, size_t n, const struct tfile_x86_64 *r)
{
	const uint64_t first[] = {
		r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
		r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip,
	};
	const uint32_t narrow[] = { r->eflags, r->cs, r->ss, r->ds, r->es, r->fs, r->gs };
	const uint64_t last[] = { r->orig_rax, r->fs_base, r->gs_base };

	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		to = tfile_x86_64_number(to, first[i], 8);
	for (size_t i = 0; i < ARRAY_SIZE(narrow); i++)
		to = tfile_x86_64_number(to, narrow[i], 4);
	for (size_t i = 0; n == TFILE_X86_64_BYTES && i < ARRAY_SIZE(last); i++)
		to = tfile_x86_64_number(to, last[i], 8);
}
