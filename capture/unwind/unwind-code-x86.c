/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-code-x86.h"

#include <string.h>

enum { SP = 4, BP = 5, BYTES_MAX = 15 };

/* The bytes after an opcode. */
enum operand {
	NO,  /* nothing */
	M,   /* ModRM */
	MB,  /* ModRM, and a constant of one byte */
	MZ,  /* ModRM, and a constant of four bytes, or two with the prefix 66 */
	B,   /* a constant of one byte */
	Z,   /* of four bytes, or two with the prefix 66 */
	W,   /* of two bytes */
	V,   /* of four bytes, two with the prefix 66, or eight with REX.W */
	O,   /* an address: eight bytes, or four with the prefix 67 */
	WB,  /* two bytes and one byte */
	J,   /* a distance of one byte */
	JZ,  /* a distance of four bytes */
	BAD, /* no instruction */
};

/* clang-format off */
static const uint8_t code_one[256] = {
	M, M, M, M, B, Z, BAD, BAD, M, M, M, M, B, Z, BAD, BAD,           /* 00 */
	M, M, M, M, B, Z, BAD, BAD, M, M, M, M, B, Z, BAD, BAD,
	M, M, M, M, B, Z, BAD, BAD, M, M, M, M, B, Z, BAD, BAD,           /* 20 */
	M, M, M, M, B, Z, BAD, BAD, M, M, M, M, B, Z, BAD, BAD,
	BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
	NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,   /* 50 */
	BAD, BAD, BAD, M, BAD, BAD, BAD, BAD, Z, MZ, B, MB, NO, NO, NO, NO,
	J, J, J, J, J, J, J, J, J, J, J, J, J, J, J, J,                   /* 70 */
	MB, MZ, BAD, MB, M, M, M, M, M, M, M, M, M, M, M, M,
	NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, BAD, NO, NO, NO, NO, NO,  /* 90 */
	O, O, O, O, NO, NO, NO, NO, B, Z, NO, NO, NO, NO, NO, NO,
	B, B, B, B, B, B, B, B, V, V, V, V, V, V, V, V,                   /* b0 */
	MB, MB, W, NO, BAD, BAD, MB, MZ, WB, NO, W, NO, NO, B, BAD, NO,
	M, M, M, M, BAD, BAD, BAD, NO, M, M, M, M, M, M, M, M,            /* d0 */
	J, J, J, J, B, B, B, B, JZ, JZ, BAD, J, NO, NO, NO, NO,
	BAD, NO, BAD, BAD, NO, NO, M, M, NO, NO, NO, NO, NO, NO, M, M,    /* f0 */
};

static const uint8_t code_two[256] = {
	M, M, M, M, BAD, NO, NO, NO, NO, NO, BAD, NO, BAD, M, BAD, MB,    /* 00 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, BAD, BAD, BAD, BAD, M, M, M, M, M, M, M, M,           /* 20 */
	NO, NO, NO, NO, NO, NO, BAD, NO, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,                   /* 40 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,                   /* 60 */
	MB, MB, MB, MB, M, M, M, NO, M, M, BAD, BAD, M, M, M, M,
	JZ, JZ, JZ, JZ, JZ, JZ, JZ, JZ, JZ, JZ, JZ, JZ, JZ, JZ, JZ, JZ,   /* 80 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	NO, NO, NO, M, MB, M, BAD, BAD, NO, NO, NO, M, MB, M, M, M,       /* a0 */
	M, M, M, M, M, M, M, M, M, M, MB, M, M, M, M, M,
	M, M, MB, M, MB, MB, MB, M, NO, NO, NO, NO, NO, NO, NO, NO,       /* c0 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,                   /* e0 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
};
/* clang-format on */

/* An instruction while it is decoded. */
struct code {
	const uint8_t *p;
	size_t n, at; /* bytes that can be read, and that were read */
	bool is_16, has_67, is_rep, has_lock, has_rex, w, has_segment;
	bool is_vector;      /* VEX or EVEX */
	uint8_t r, x, b;     /* bits for the numbers of registers: 0 or 8 */
	uint8_t vvvv;        /* VEX: the number of a third register */
	uint8_t map, opcode; /* map: 1 = one byte, 2 = 0f, 3 = 0f 38, 4 = 0f 3a, 5 = others */
	bool has_modrm;
	uint8_t mod, reg, rm; /* of ModRM; REG and RM include r and b */
	uint8_t extension;    /* REG without r: a part of the opcode */
	bool is_indexed, is_relative;
	uint8_t base;     /* the register of a memory operand */
	int32_t distance; /* of a memory operand from its base */
	int64_t constant;
};

static bool code_take(struct code *c, uint8_t *ret)
{
	if (c->at >= c->n || c->at >= BYTES_MAX)
		return false;
	*ret = c->p[c->at++];
	return true;
}

/* Reads a number of N bytes with a sign. */
static bool code_take_number(struct code *c, size_t n, int64_t *ret)
{
	uint64_t value = 0;

	if (n > c->n - c->at || c->at + n > BYTES_MAX)
		return false;
	memcpy(&value, c->p + c->at, n);
	c->at += n;
	*ret = n == 8 ? (int64_t)value : (int64_t)(value << (64 - 8 * n)) >> (64 - 8 * n);
	return true;
}

/* ---- prefixes and opcodes ---- */

static bool code_read_prefixes(struct code *c, uint8_t *ret)
{
	for (;;) {
		if (!code_take(c, ret))
			return false;
		switch (*ret) {
		case 0x66:
			c->is_16 = true;
			break;
		case 0x67:
			c->has_67 = true;
			break;
		case 0xf2:
		case 0xf3:
			c->is_rep = *ret == 0xf3;
			break;
		case 0xf0:
			c->has_lock = true;
			break;
		case 0x64:
		case 0x65:
			c->has_segment = true;
			break;
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x26:
			break;
		default:
			return true;
		}
	}
}

static bool code_read_rex(struct code *c, uint8_t *byte)
{
	if ((*byte & 0xf0) != 0x40)
		return true;
	c->has_rex = true;
	c->w = *byte & 8;
	c->r = (*byte & 4) << 1;
	c->x = (*byte & 2) << 2;
	c->b = (uint8_t)((*byte & 1) << 3);
	return code_take(c, byte);
}

/* Reads the rest of a VEX or EVEX prefix, which begins with FIRST, and the opcode. */
static bool code_read_vector(struct code *c, uint8_t first)
{
	uint8_t bytes[3], n = first == 0xc5 ? 1 : first == 0xc4 ? 2 : 3;
	uint8_t last, map = 1;

	for (uint8_t i = 0; i < n; i++)
		if (!code_take(c, &bytes[i]))
			return false;
	last = bytes[n == 1 ? 0 : 1];
	c->is_vector = true;
	c->r = bytes[0] & 0x80 ? 0 : 8;
	if (n > 1) {
		map = bytes[0] & (n == 2 ? 0x1f : 7);
		c->x = bytes[0] & 0x40 ? 0 : 8;
		c->b = bytes[0] & 0x20 ? 0 : 8;
		c->w = last & 0x80;
	}
	c->vvvv = (uint8_t)(~last >> 3 & 15);
	c->is_16 = (last & 3) == 1;
	c->is_rep = (last & 3) == 2;
	if (map == 0 || map == 4 || map > 6 || (n < 3 && map > 3))
		return false;
	c->map = map < 4 ? map + 1 : 5;
	return code_take(c, &c->opcode);
}

static bool code_read_opcode(struct code *c)
{
	uint8_t byte;

	if (!code_read_prefixes(c, &byte))
		return false;
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return code_read_vector(c, byte);
	if (!code_read_rex(c, &byte))
		return false;
	c->map = 1;
	if (byte == 0x0f) {
		c->map = 2;
		if (!code_take(c, &byte))
			return false;
		if (byte == 0x38 || byte == 0x3a) {
			c->map = byte == 0x38 ? 3 : 4;
			if (!code_take(c, &byte))
				return false;
		}
	}
	c->opcode = byte;
	return true;
}

/* ---- operands ---- */

static enum operand code_operand(const struct code *c)
{
	enum operand o;

	switch (c->map) {
	case 1:
		o = code_one[c->opcode];
		if ((c->opcode == 0xf6 || c->opcode == 0xf7) && c->at < c->n &&
		    (c->p[c->at] & 0x30) == 0)
			return c->opcode == 0xf6 ? MB : MZ;
		return o;
	case 2:
		o = code_two[c->opcode];
		return c->is_vector && (o == JZ || (o == NO && c->opcode != 0x77)) ? M : o;
	case 4:
		return MB;
	default:
		return M;
	}
}

static bool code_read_modrm(struct code *c)
{
	uint8_t byte, sib;
	int64_t distance = 0;

	if (!code_take(c, &byte))
		return false;
	c->has_modrm = true;
	c->mod = byte >> 6;
	c->extension = byte >> 3 & 7;
	c->reg = c->extension + c->r;
	c->rm = (byte & 7) + c->b;
	if (c->mod == 3 || (c->map == 2 && !c->is_vector && (c->opcode & 0xfc) == 0x20))
		return true;
	c->base = c->rm;
	if ((byte & 7) == SP) {
		if (!code_take(c, &sib))
			return false;
		c->is_indexed = (sib >> 3 & 7) + c->x != SP;
		c->base = (sib & 7) + c->b;
		if (c->mod == 0 && (sib & 7) == BP) {
			c->is_relative = c->is_indexed = true;
			return code_take_number(c, 4, &distance);
		}
	} else if (c->mod == 0 && (byte & 7) == BP) {
		c->is_relative = true;
		if (!code_take_number(c, 4, &distance))
			return false;
		c->distance = (int32_t)distance;
		return true;
	}
	if (c->mod != 0 && !code_take_number(c, c->mod == 1 ? 1 : 4, &distance))
		return false;
	c->distance = (int32_t)distance;
	return true;
}

static bool code_read_operands(struct code *c)
{
	size_t full = c->is_16 && !c->w ? 2 : 4;

	switch (code_operand(c)) {
	case NO:
		return true;
	case M:
		return code_read_modrm(c);
	case MB:
		return code_read_modrm(c) && code_take_number(c, 1, &c->constant);
	case MZ:
		return code_read_modrm(c) && code_take_number(c, full, &c->constant);
	case B:
	case J:
		return code_take_number(c, 1, &c->constant);
	case Z:
		return code_take_number(c, full, &c->constant);
	case JZ:
		return code_take_number(c, 4, &c->constant);
	case W:
		return code_take_number(c, 2, &c->constant);
	case V:
		return code_take_number(c, c->w && c->opcode >= 0xb8 ? 8 : full, &c->constant);
	case O:
		return code_take_number(c, c->has_67 ? 4 : 8, &c->constant);
	case WB:
		return code_take_number(c, 3, &c->constant);
	default:
		return false;
	}
}

/* ---- successors ---- */

static enum code_kind code_kind_of_ff(const struct code *c)
{
	switch (c->extension) {
	case 2:
		return CODE_CALL_BY;
	case 4:
		return CODE_GO;
	case 3:
	case 5:
	case 7:
		return CODE_END;
	}
	return CODE_PLAIN;
}

static enum code_kind code_kind_of(const struct code *c)
{
	if (c->is_vector)
		return CODE_PLAIN;
	if (c->map == 2) {
		if ((c->opcode & 0xf0) == 0x80)
			return CODE_BRANCH;
		/* ud2, ud1, ud0, sysret, sysexit */
		return c->opcode == 0x0b || c->opcode == 0xb9 || c->opcode == 0xff ||
				       c->opcode == 0x07 || c->opcode == 0x35
			       ? CODE_END
			       : CODE_PLAIN;
	}
	if (c->map != 1)
		return CODE_PLAIN;
	if ((c->opcode & 0xf0) == 0x70)
		return CODE_BRANCH;
	switch (c->opcode) {
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return CODE_BRANCH;
	case 0xe8:
		return CODE_CALL;
	case 0xe9:
	case 0xeb:
		return CODE_JUMP;
	case 0xc2:
	case 0xc3:
		return CODE_RETURN;
	case 0xca:
	case 0xcb:
	case 0xcc:
	case 0xcf:
	case 0xf1:
	case 0xf4:
		return CODE_END;
	case 0xff:
		return code_kind_of_ff(c);
	}
	return CODE_PLAIN;
}

/* ---- effects ---- */

/*
 * The set with only the register NUMBER: bit 0 is SP, bit 1 is BP. Other registers are in no set.
 */
static unsigned code_bit(unsigned number)
{
	return number == SP ? 1 : number == BP ? 2 : 0;
}

/*
 * The set for operand RM, if it is a register. IS_BYTE: the operand has one byte, so without REX,
 * the numbers of SP and BP mean ah and ch.
 */
static unsigned code_rm(const struct code *c, bool is_byte)
{
	return c->mod != 3 || (is_byte && !c->has_rex) ? 0 : code_bit(c->rm);
}

static unsigned code_reg(const struct code *c, bool is_byte)
{
	return is_byte && !c->has_rex ? 0 : code_bit(c->reg);
}

static unsigned code_writes_by_one(const struct code *c)
{
	uint8_t o = c->opcode;
	bool is_byte = !(o & 1);

	if (o < 0x40) {
		if ((o & 7) >= 4 || o >= 0x38)
			return 0;
		return o & 2 ? code_reg(c, is_byte) : code_rm(c, is_byte);
	}
	if ((o & 0xf8) == 0x90 || (o & 0xf8) == 0xb8 || (o & 0xf8) == 0x58)
		return code_bit((o & 7) + c->b);
	if ((o & 0xf8) == 0xb0)
		return c->has_rex ? code_bit((o & 7) + c->b) : 0;
	switch (o) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8b:
	case 0x8d:
		return code_reg(c, false);
	case 0x8a:
		return code_reg(c, true);
	case 0x80:
	case 0x81:
	case 0x83:
		return c->extension == 7 ? 0 : code_rm(c, o == 0x80);
	case 0x86:
	case 0x87:
		return code_reg(c, is_byte) | code_rm(c, is_byte);
	case 0x88:
	case 0x89:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return code_rm(c, is_byte);
	case 0x8c:
	case 0x8f:
		return code_rm(c, false);
	case 0xf6:
	case 0xf7:
		return c->extension == 2 || c->extension == 3 ? code_rm(c, is_byte) : 0;
	case 0xfe:
	case 0xff:
		return c->extension < 2 ? code_rm(c, is_byte) : 0;
	case 0xc8:
	case 0xc9:
		return 3;
	}
	return 0;
}

/* The set of the registers that an opcode 0f XX writes: REG, RM, or none. */
static unsigned code_writes_by_two(const struct code *c)
{
	uint8_t o = c->opcode;

	if ((o & 0xf0) == 0x40 || o == 0x02 || o == 0x03)
		return code_reg(c, false);
	if ((o & 0xf0) == 0x90)
		return code_rm(c, true);
	if ((o & 0xf8) == 0xc8)
		return code_bit((o & 7) + c->b);
	switch (o) {
	case 0x2c:
	case 0x2d:
	case 0x50:
	case 0xaf:
	case 0xb2:
	case 0xb4:
	case 0xb5:
	case 0xb6:
	case 0xb7:
	case 0xb8:
	case 0xbc:
	case 0xbd:
	case 0xbe:
	case 0xbf:
	case 0xc5:
	case 0xd7:
		return code_reg(c, false);
	case 0x00:
	case 0x20:
	case 0x21:
	case 0x78:
	case 0xa4:
	case 0xa5:
	case 0xab:
	case 0xac:
	case 0xad:
	case 0xb3:
	case 0xba:
	case 0xbb:
	case 0xc7:
		return code_rm(c, false);
	case 0x01: /* smsw */
		return c->extension == 4 ? code_rm(c, false) : 0;
	case 0xae: /* rdfsbase and others */
		return c->is_rep ? code_rm(c, false) : 0;
	case 0x1e: /* rdsspq; the other ones are nops */
		return c->is_rep && c->extension == 1 ? code_rm(c, false) : 0;
	case 0x7e:
		return c->is_rep ? 0 : code_rm(c, false);
	case 0xb0:
	case 0xb1:
		return code_rm(c, o == 0xb0);
	case 0xc0:
	case 0xc1:
		return code_reg(c, o == 0xc0) | code_rm(c, o == 0xc0);
	}
	return 0;
}

/* Most instructions with VEX write no general register. */
static unsigned code_writes_by_vector(const struct code *c)
{
	uint8_t o = c->opcode;

	if (c->map == 2 &&
	    (o == 0x2c || o == 0x2d || o == 0x50 || o == 0xc5 || o == 0xd7 || o == 0x93))
		return code_reg(c, false);
	if (c->map == 2)
		return o == 0x7e && !c->is_rep ? code_rm(c, false) : 0;
	if (c->map == 3 && o >= 0xf0)
		return code_reg(c, false) | code_bit(c->vvvv) | code_rm(c, false);
	if (c->map == 4 && o >= 0xf0)
		return code_reg(c, false);
	if (c->map == 4 && o >= 0x14 && o <= 0x17)
		return code_rm(c, false);
	return c->map == 5 ? code_reg(c, false) | code_rm(c, false) : 0;
}

/* The set of the registers that C can write. */
static unsigned code_writes(const struct code *c)
{
	if (c->is_vector)
		return code_writes_by_vector(c);
	switch (c->map) {
	case 1:
		return code_writes_by_one(c);
	case 2:
		return code_writes_by_two(c);
	case 3:
		return c->opcode >= 0xf0 ? code_reg(c, false) | code_rm(c, false) : 0;
	default:
		return c->opcode >= 0x14 && c->opcode <= 0x17 ? code_rm(c, false) : 0;
	}
}

static void code_set(struct code_instruction *i, enum code_effect effect, int64_t n)
{
	i->effect = (uint8_t)effect;
	i->n = (int32_t)n;
}

/* Handles instructions of one byte that move the stack pointer. */
static bool code_pushes(const struct code *c, struct code_instruction *i)
{
	uint8_t o = c->opcode, number = (o & 7) + c->b;

	if ((o & 0xf0) == 0x50) {
		if (c->is_16)
			code_set(i, CODE_LOSE_BOTH, 0);
		else if (number == BP)
			code_set(i, o < 0x58 ? CODE_PUSH_BP : CODE_POP_BP, 0);
		else if (number == SP && o >= 0x58)
			code_set(i, CODE_LOSE_SP, 0);
		else
			code_set(i, CODE_MOVE_SP, o < 0x58 ? -8 : 8);
		return true;
	}
	switch (o) {
	case 0x68:
	case 0x6a:
	case 0x9c:
		code_set(i, CODE_MOVE_SP, -8);
		break;
	case 0x9d:
		code_set(i, CODE_MOVE_SP, 8);
		break;
	case 0x8f:
		code_set(i, c->mod == 3 ? CODE_LOSE_BOTH : CODE_MOVE_SP, 8);
		break;
	case 0xff:
		if (c->extension != 6)
			return false;
		code_set(i, CODE_MOVE_SP, -8);
		break;
	case 0xc9:
		code_set(i, CODE_LEAVE, 0);
		break;
	default:
		return false;
	}
	if (c->is_16)
		code_set(i, CODE_LOSE_BOTH, 0);
	return true;
}

/* Handles instructions with full registers that copy SP or BP, or add a constant to SP. */
static bool code_copies(const struct code *c, struct code_instruction *i)
{
	bool is_memory = c->mod != 3 && !c->is_indexed && !c->is_relative && !c->has_segment;
	uint8_t from = c->opcode == 0x89 ? c->reg : c->rm, to = c->opcode == 0x89 ? c->rm : c->reg;

	if (!c->w || c->has_67)
		return false;
	if ((c->opcode == 0x81 || c->opcode == 0x83) && c->mod == 3 && c->rm == SP &&
	    (c->extension == 0 || c->extension == 5)) {
		code_set(i, CODE_MOVE_SP, c->extension == 0 ? c->constant : -c->constant);
		return true;
	}
	if (c->opcode == 0x8d && is_memory && c->reg == SP && c->base == SP)
		code_set(i, CODE_MOVE_SP, c->distance);
	else if (c->opcode == 0x8d && is_memory && c->reg == SP && c->base == BP)
		code_set(i, CODE_SP_FROM_BP, c->distance);
	else if (c->opcode == 0x8d && is_memory && c->reg == BP && c->base == SP)
		code_set(i, CODE_BP_FROM_SP, c->distance);
	else if (c->opcode != 0x89 && c->opcode != 0x8b)
		return false;
	else if (c->mod == 3 && from == SP && to == BP)
		code_set(i, CODE_BP_FROM_SP, 0);
	else if (c->mod == 3 && from == BP && to == SP)
		code_set(i, CODE_SP_FROM_BP, 0);
	else if (is_memory && c->opcode == 0x8b && c->reg == BP && c->base == BP)
		code_set(i, CODE_LOAD_BP_AT_BP, c->distance);
	else if (is_memory && c->reg == BP && c->base == SP)
		code_set(i, c->opcode == 0x89 ? CODE_STORE_BP : CODE_LOAD_BP, c->distance);
	else
		return false;
	return true;
}

static void code_find_effect(const struct code *c, struct code_instruction *i)
{
	static const uint8_t lost[] = { CODE_NONE, CODE_LOSE_SP, CODE_LOSE_BP, CODE_LOSE_BOTH };

	if (!c->is_vector && c->map == 1 && (code_pushes(c, i) || code_copies(c, i)))
		return;
	if (!c->is_vector && c->map == 2 && (c->opcode & 0xf6) == 0xa0) /* push %fs, ... */
		code_set(i, CODE_MOVE_SP, c->opcode & 1 ? 8 : -8);
	else
		code_set(i, (enum code_effect)lost[code_writes(c)], 0);
}

/* The constant that C loads into eax or al; -1 = none. */
static int32_t code_number(const struct code *c)
{
	if (c->map != 1 || c->is_vector || c->is_16 || c->b)
		return -1;
	if (c->opcode == 0xb8 || c->opcode == 0xb0 ||
	    (c->opcode == 0xc7 && c->mod == 3 && c->rm == 0))
		return (int32_t)c->constant;
	return -1;
}

static bool code_is_padding(const struct code *c)
{
	if (c->is_vector || c->b)
		return false;
	if (c->map == 1)
		return c->opcode == 0xcc || (c->opcode == 0x90 && !c->is_rep);
	return c->map == 2 && c->opcode == 0x1f;
}

bool code_x86_read(const uint8_t *p, size_t n, uint64_t address, struct code_instruction *ret)
{
	struct code c = { .p = p, .n = n };

	if (!code_read_opcode(&c) || !code_read_operands(&c))
		return false;
	/* Two zeros are an instruction, but no compiler makes it: this is data or padding. */
	if (c.at == 2 && p[0] == 0 && p[1] == 0)
		return false;
	*ret = (struct code_instruction){
		.length = (uint8_t)c.at,
		.kind = (uint8_t)code_kind_of(&c),
		.is_padding = code_is_padding(&c),
		.is_syscall = c.map == 2 && !c.is_vector && c.opcode == 0x05,
		.has_slot = c.is_relative && !c.is_indexed,
		.number = code_number(&c),
	};
	if (ret->kind == CODE_CALL || ret->kind == CODE_JUMP || ret->kind == CODE_BRANCH)
		ret->target = address + c.at + (uint64_t)c.constant;
	if (ret->has_slot)
		ret->slot = address + c.at + (uint64_t)(int64_t)c.distance;
	code_find_effect(&c, ret);
	return true;
}
