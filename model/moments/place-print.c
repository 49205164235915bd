/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/moments/place-print.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum {
	PRINT_DEPTH_MAX = 16,
	PRINT_ELEMENTS_MAX = 200, /* maximum number of printed elements of an array */
	PRINT_STACK_MAX = 16,
	PRINT_GAPS_MAX = 8,
	PRINT_WIDE_BYTES = 16, /* size of an integer of 128 bits */
	PRINT_VALUE_MAX = 1 << 20,
	/* maximum number of parts of a value, since shapes can nest parts without bytes */
	PRINT_STEPS_MAX = 200 * 1000,
};

/* The current position in the shape, and the value that is printed. */
struct printer {
	const char *shape;
	const uint8_t *data;
	uint64_t n; /* number of bytes at DATA */
	/*
	 * The string that a pointer refers to. Its bytes follow those of the value. NULL = no
	 * string.
	 */
	const uint8_t *more;
	uint64_t n_more;
	struct print_gap {
		uint64_t at, n;
	} gaps[PRINT_GAPS_MAX];
	size_t n_gaps;
	char *to;
	size_t size, used;
	size_t steps;
	bool bad, cut;
};

__attribute__((format(printf, 2, 3))) static void place_print_put(struct printer *p,
								  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	p->cut |= !text_append(p->to, p->size, &p->used, format, args);
	va_end(args);
}

/* ---- shape ---- */

static bool place_print_accept(struct printer *p, char c)
{
	if (*p->shape != c)
		return false;
	p->shape++;
	return true;
}

/* Parses the next number. */
static uint64_t place_print_number(struct printer *p)
{
	uint64_t n = 0;
	size_t digits = 0;

	while (isdigit((unsigned char)*p->shape)) {
		n = n * 10 + (uint64_t)(*p->shape++ - '0');
		digits++;
	}
	/* 19 digits cannot overflow. */
	p->bad |= digits == 0 || digits > 19;
	return n;
}

static void place_print_expect(struct printer *p, char c)
{
	p->bad |= !place_print_accept(p, c);
}

/* Skips the next type. */
static void place_print_skip(struct printer *p)
{
	unsigned depth = 0;

	/* Pointers and arrays are followed by their type. */
	while (*p->shape == 'p' || *p->shape == 'a') {
		p->shape++;
		place_print_number(p);
	}
	if (!*p->shape) {
		p->bad = true;
		return;
	}
	p->shape++;
	place_print_number(p);
	if (*p->shape != '{')
		return;
	do {
		if (*p->shape == '{')
			depth++;
		else if (*p->shape == '}')
			depth--;
		else if (*p->shape == '\0') {
			p->bad = true;
			return;
		}
		p->shape++;
	} while (depth > 0);
}

/* ---- bytes ---- */

static bool place_print_is_gap(const struct printer *p, uint64_t at, uint64_t n)
{
	for (size_t i = 0; i < p->n_gaps; i++)
		if (at < p->gaps[i].at + p->gaps[i].n && p->gaps[i].at < at + n)
			return true;
	return false;
}

/* Returns true if N bytes at AT are available. If not, prints "<unavailable>". */
static bool place_print_have(struct printer *p, uint64_t at, uint64_t n)
{
	if (at > p->n || n > p->n - at) {
		place_print_put(p, "<unavailable>");
		return false;
	}
	if (place_print_is_gap(p, at, n)) {
		place_print_put(p, "<optimized out>");
		return false;
	}
	return true;
}

static uint64_t place_print_load(const struct printer *p, uint64_t at, uint64_t n)
{
	uint64_t value = 0;

	memcpy(&value, p->data + at, n < 8 ? n : 8);
	return value;
}

static int64_t place_print_extend(uint64_t value, uint64_t bits)
{
	unsigned unused = bits > 0 && bits < 64 ? 64 - (unsigned)bits : 0;

	return (int64_t)(value << unused) >> unused;
}

/* ---- values ---- */

/* Prints a character, escaped for a text in QUOTE. */
static void place_print_character(struct printer *p, uint8_t c, char quote)
{
	static const char from[] = "\a\b\f\n\r\t\v\033\\", to[] = "abfnrtve\\";
	const char *escape = c ? strchr(from, c) : NULL;

	if (escape)
		place_print_put(p, "\\%c", to[escape - from]);
	else if (c == (uint8_t)quote)
		place_print_put(p, "\\%c", quote);
	else if (c < ' ' || c > '~')
		place_print_put(p, "\\%03o", c);
	else
		place_print_put(p, "%c", c);
}

static void place_print_string(struct printer *p, const uint8_t *s, uint64_t n)
{
	uint64_t length = strnlen((const char *)s, n);

	/* A NUL at the end of an array is not printed. */
	place_print_put(p, "\"");
	for (uint64_t i = 0; i < length && i < PRINT_ELEMENTS_MAX; i++)
		place_print_character(p, s[i], '"');
	place_print_put(p, "\"%s", length > PRINT_ELEMENTS_MAX ? "..." : "");
}

static void place_print_float(struct printer *p, uint64_t at, uint64_t bytes)
{
	long double extended = 0;
	double number;
	float small;

	if (bytes == 4) {
		memcpy(&small, p->data + at, sizeof(small));
		place_print_put(p, "%.9g", (double)small);
	} else if (bytes == 8) {
		memcpy(&number, p->data + at, sizeof(number));
		place_print_put(p, "%.17g", number);
	} else if (bytes == sizeof(extended)) {
		memcpy(&extended, p->data + at, sizeof(extended));
		place_print_put(p, "%.18Lg", extended);
	} else {
		place_print_put(p, "<%" PRIu64 " bytes>", bytes);
	}
}

/* Prints the two parts of a complex number. */
static void place_print_complex(struct printer *p, uint64_t at, uint64_t bytes)
{
	place_print_float(p, at, bytes / 2);
	place_print_put(p, " + ");
	place_print_float(p, at + bytes / 2, bytes / 2);
	place_print_put(p, "i");
}

/* Prints an integer of 128 bits, which printf() cannot. */
static void place_print_wide(struct printer *p, char letter, uint64_t at)
{
	__extension__ unsigned __int128 value;
	char text[48], *to = text + sizeof(text);
	bool is_negative;

	memcpy(&value, p->data + at, sizeof(value));
	is_negative = letter == 'i' && value >> 127;
	if (is_negative)
		value = -value;
	*--to = '\0';
	do
		*--to = (char)('0' + (int)(value % 10));
	while (value /= 10);
	place_print_put(p, "%s%s", is_negative ? "-" : "", to);
}

static void place_print_integer(struct printer *p, char letter, uint64_t value, uint64_t bits)
{
	switch (letter) {
	case 'i':
		place_print_put(p, "%" PRId64, place_print_extend(value, bits));
		break;
	case 'b':
		place_print_put(p, value <= 1 ? (value ? "true" : "false") : "%" PRIu64, value);
		break;
	case 'c':
	case 'h':
		if (letter == 'c')
			place_print_put(p, "%" PRId64 " '", place_print_extend(value, bits));
		else
			place_print_put(p, "%" PRIu64 " '", value);
		place_print_character(p, (uint8_t)value, '\'');
		place_print_put(p, "'");
		break;
	default:
		place_print_put(p, "%" PRIu64, value);
		break;
	}
}

/* Parses the next word, "NAME=NUMBER,": the length of its name, and its number. Returns the text
 * after it, or NULL. */
static const char *place_print_word(const char *word, size_t *ret_n, uint64_t *ret)
{
	char *end;

	*ret_n = strcspn(word, "=,}");
	if (word[*ret_n] != '=')
		return NULL;
	*ret = (uint64_t)strtoll(word + *ret_n + 1, &end, 10);
	return end + (*end == ',');
}

/* Prints the words whose bits are set in VALUE, and the remaining bits. Each word has its own
 * bit. */
static void place_print_flags(struct printer *p, const char *words, uint64_t value)
{
	const char *separator = "(";
	uint64_t number;
	size_t n;

	for (const char *w = words, *next; (next = place_print_word(w, &n, &number)); w = next) {
		if (!(number & value))
			continue;
		place_print_put(p, "%s%.*s", separator, (int)n, w);
		separator = " | ";
		value &= ~number;
	}
	if (value)
		place_print_put(p, " | unknown: 0x%" PRIx64, value);
	place_print_put(p, ")");
}

/* Prints VALUE as the words that follow in the shape: one word, or several with '|' between
 * them. */
static void place_print_enum(struct printer *p, uint64_t value, uint64_t bits)
{
	uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX, number, seen = 0;
	const char *words = p->shape;
	bool disjoint = true;
	size_t n;

	for (const char *w = words, *next; (next = place_print_word(w, &n, &number)); w = next) {
		number &= mask;
		if (number == value) {
			place_print_put(p, "%.*s", (int)n, w);
			return;
		}
		disjoint = disjoint && (number & (number - 1)) == 0 && !(number & seen);
		seen |= number;
	}
	if (disjoint && value & seen)
		place_print_flags(p, words, value);
	else
		place_print_put(p, "%" PRId64, place_print_extend(value, bits));
}

static void place_print_typed(struct printer *p, uint64_t at, unsigned depth);

/* Prints a bit field of BITS bits as the next type. It begins at bit BIT of the byte at AT. */
static void place_print_bits(struct printer *p, uint64_t at, uint64_t bit, uint64_t bits)
{
	uint64_t value, bytes = (bit + bits + 7) / 8;
	char letter = *p->shape;
	const char *end;

	if (bits == 0 || bits > 64 || bit > 7) {
		p->bad = true;
		return;
	}
	if (!place_print_have(p, at, bytes)) {
		place_print_skip(p);
		return;
	}
	value = place_print_load(p, at, bytes) >> bit;
	if (bytes > 8)
		value |= (uint64_t)p->data[at + 8] << (64 - bit);
	if (bits < 64)
		value &= (UINT64_C(1) << bits) - 1;
	end = p->shape;
	place_print_skip(p);
	if (letter == 'e') {
		const char *behind = p->shape;

		p->shape = end + strcspn(end, "{");
		p->shape += *p->shape == '{';
		place_print_enum(p, value, bits);
		p->shape = behind;
	} else {
		place_print_integer(p, letter, value, bits);
	}
}

static void place_print_struct(struct printer *p, uint64_t at, unsigned depth)
{
	bool any = false;

	place_print_expect(p, '{');
	place_print_put(p, "{");
	while (!p->bad && !p->cut && *p->shape && *p->shape != '}') {
		size_t n = strcspn(p->shape, "@");
		uint64_t member, bit = 0, bits = 0;

		place_print_put(p, "%s%.*s%s", any ? ", " : "", (int)n, p->shape, n ? " = " : "");
		any = true;
		p->shape += n;
		place_print_expect(p, '@');
		member = place_print_number(p);
		if (place_print_accept(p, ':')) {
			bit = place_print_number(p);
			place_print_expect(p, '+');
			bits = place_print_number(p);
			p->bad |= bits == 0;
		}
		if (p->bad || member > PRINT_VALUE_MAX)
			break;
		if (bits)
			place_print_bits(p, at + member, bit, bits);
		else
			place_print_typed(p, at + member, depth + 1);
		place_print_expect(p, ',');
	}
	place_print_put(p, "}");
	if (!p->cut)
		place_print_expect(p, '}');
}

/* Returns the number of bytes in an element of the next type. */
static uint64_t place_print_element_bytes(struct printer *p)
{
	const char *shape = p->shape;
	uint64_t bytes;

	if (!*p->shape)
		return 0;
	p->shape++;
	bytes = place_print_number(p);
	p->shape = shape;
	return bytes;
}

static void place_print_array(struct printer *p, uint64_t at, uint64_t bytes, unsigned depth)
{
	uint64_t element = place_print_element_bytes(p), n;
	const char *shape = p->shape;
	char letter = *p->shape;

	if (bytes == 0)
		bytes = at < p->n ? p->n - at : 0;
	n = element ? bytes / element : 0;
	if ((letter == 'c' || letter == 'h') && element == 1 && n > 0) {
		if (place_print_have(p, at, n))
			place_print_string(p, p->data + at, n);
		place_print_skip(p);
		return;
	}
	place_print_put(p, "{");
	for (uint64_t i = 0; i < n && !p->bad && !p->cut; i++) {
		place_print_put(p, "%s", i ? ", " : "");
		if (i == PRINT_ELEMENTS_MAX) {
			place_print_put(p, "...");
			break;
		}
		p->shape = shape;
		place_print_typed(p, at + i * element, depth + 1);
	}
	place_print_put(p, "}");
	p->shape = shape;
	place_print_skip(p);
}

static void place_print_pointer(struct printer *p, uint64_t at, uint64_t bytes, unsigned depth)
{
	char letter = *p->shape;

	place_print_skip(p);
	if (!place_print_have(p, at, bytes))
		return;
	place_print_put(p, "0x%" PRIx64, place_print_load(p, at, bytes));
	if (p->more && depth == 0 && (letter == 'c' || letter == 'h')) {
		place_print_put(p, " ");
		place_print_string(p, p->more, p->n_more);
	}
}

static void place_print_typed(struct printer *p, uint64_t at, unsigned depth)
{
	char letter = *p->shape;
	uint64_t bytes;

	if (!letter || depth >= PRINT_DEPTH_MAX || ++p->steps > PRINT_STEPS_MAX ||
	    !strchr("iuchbfpesUaxz", letter)) {
		p->bad = true;
		return;
	}
	p->shape++;
	bytes = place_print_number(p);
	if (p->bad || bytes > PRINT_VALUE_MAX) {
		p->bad = true;
		return;
	}
	switch (letter) {
	case 's':
	case 'U':
		place_print_struct(p, at, depth);
		return;
	case 'a':
		place_print_array(p, at, bytes, depth);
		return;
	case 'p':
		place_print_pointer(p, at, bytes, depth);
		return;
	case 'e':
		p->bad |= *p->shape != '{' || bytes > 8;
		if (!p->bad && place_print_have(p, at, bytes)) {
			p->shape++;
			place_print_enum(p, place_print_load(p, at, bytes), 8 * bytes);
		}
		p->shape += strcspn(p->shape, "}");
		place_print_expect(p, '}');
		return;
	default:
		break;
	}
	if (!place_print_have(p, at, bytes))
		return;
	if (letter == 'f')
		place_print_float(p, at, bytes);
	else if (letter == 'z')
		place_print_complex(p, at, bytes);
	else if (strchr("iu", letter) && bytes == PRINT_WIDE_BYTES)
		place_print_wide(p, letter, at);
	else if (letter == 'x' || bytes > 8)
		place_print_put(p, "<%" PRIu64 " byte%s>", bytes, bytes == 1 ? "" : "s");
	else
		place_print_integer(p, letter, place_print_load(p, at, bytes), 8 * bytes);
}

/* ---- computed values ---- */

static bool place_print_binary(const char *op, size_t n, uint64_t a, uint64_t b, uint64_t *ret)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	if (n == 1 && strchr("/%", *op) && (b == 0 || (y == -1 && *op == '/')))
		*ret = b == 0 ? 0 : -a;
	else if (n == 1 && strchr("+-*/%&|^<>", *op))
		*ret = *op == '+'   ? a + b
		       : *op == '-' ? a - b
		       : *op == '*' ? a * b
		       : *op == '/' ? (uint64_t)(x / y)
		       : *op == '%' ? a % b
		       : *op == '&' ? a & b
		       : *op == '|' ? a | b
		       : *op == '^' ? a ^ b
		       : *op == '<' ? (uint64_t)(x < y)
				    : (uint64_t)(x > y);
	else if (n == 2 && strncmp(op, "<<", 2) == 0)
		*ret = b < 64 ? a << b : 0;
	else if (n == 2 && strncmp(op, ">>", 2) == 0)
		*ret = b < 64 ? a >> b : 0;
	else if (n == 3 && strncmp(op, "s>>", 3) == 0)
		*ret = (uint64_t)(x >> (b < 64 ? b : 63));
	else if (n == 2 && op[1] == '=' && strchr("=!<>", *op))
		*ret = *op == '='   ? a == b
		       : *op == '!' ? a != b
		       : *op == '<' ? (uint64_t)(x <= y)
				    : (uint64_t)(x >= y);
	else
		return false;
	return true;
}

/* Computes the expression in parentheses. Its operands are the bytes of P, read as numbers. */
static bool place_print_compute(struct printer *p, uint64_t *ret)
{
	uint64_t stack[PRINT_STACK_MAX];
	size_t depth = 0;

	while (*p->shape && *p->shape != ')') {
		size_t n = strcspn(p->shape, " )");
		const char *op = p->shape;

		if (*op == '#' || isdigit((unsigned char)*op)) {
			uint64_t number;

			p->shape += *op == '#';
			number = place_print_number(p);
			if (depth == PRINT_STACK_MAX || p->bad)
				return false;
			if (*op == '#' && (number >= p->n / 8))
				return false;
			stack[depth++] = *op == '#' ? place_print_load(p, number * 8, 8) : number;
		} else if (n == 1 && (*op == 'n' || *op == '~') && depth > 0) {
			stack[depth - 1] = *op == 'n' ? -stack[depth - 1] : ~stack[depth - 1];
		} else if (depth < 2 || !place_print_binary(op, n, stack[depth - 2],
							    stack[depth - 1], &stack[depth - 2])) {
			p->bad = true;
			return false;
		} else {
			depth--;
		}
		p->shape = op + n;
		p->shape += *p->shape == ' ';
	}
	place_print_expect(p, ')');
	p->bad |= depth != 1;
	*ret = stack[0];
	return !p->bad;
}

/* ---- the whole value ---- */

static void place_print_read_gaps(struct printer *p)
{
	while (place_print_accept(p, '!')) {
		struct print_gap gap = { .at = place_print_number(p) };

		place_print_expect(p, '+');
		gap.n = place_print_number(p);
		place_print_expect(p, ';');
		if (p->bad || p->n_gaps == PRINT_GAPS_MAX || gap.at > PRINT_VALUE_MAX ||
		    gap.n > PRINT_VALUE_MAX) {
			p->bad = true;
			return;
		}
		p->gaps[p->n_gaps++] = gap;
	}
}

/* Copies the bytes to *TO, with zeros in the gaps. */
static bool place_print_fill_gaps(struct printer *p, uint8_t **to)
{
	uint64_t n = p->n, in = 0, out = 0;

	for (size_t i = 0; i < p->n_gaps; i++)
		n += p->gaps[i].n;
	*to = calloc(1, n + 1);
	if (!*to)
		return false;
	for (size_t i = 0; i < p->n_gaps; i++) {
		uint64_t before = p->gaps[i].at - out;

		if (p->gaps[i].at < out || before > p->n - in)
			return false;
		memcpy(*to + out, p->data + in, before);
		in += before;
		out += before + p->gaps[i].n;
	}
	memcpy(*to + out, p->data + in, p->n - in);
	p->data = *to;
	p->n = n;
	return true;
}

static void place_print_all(struct printer *p)
{
	uint8_t *filled = NULL;
	uint64_t number = 0, bytes;

	place_print_read_gaps(p);
	if (!p->bad && p->n_gaps > 0 && !place_print_fill_gaps(p, &filled))
		p->bad = true;
	if (!p->bad && place_print_accept(p, '(')) {
		if (!place_print_compute(p, &number)) {
			if (!p->bad)
				place_print_put(p, "<unavailable>");
			free(filled);
			return;
		}
		p->data = (const uint8_t *)&number;
		p->n = sizeof(number);
	} else if (!p->bad && *p->shape == 'p') {
		const char *begin = p->shape++;

		bytes = place_print_number(p);
		p->shape = begin;
		if (bytes < p->n) {
			p->more = p->data + bytes;
			p->n_more = p->n - bytes;
			p->n = bytes;
		}
	}
	if (!p->bad)
		place_print_typed(p, 0, 0);
	p->bad |= *p->shape != '\0' && !p->cut;
	free(filled);
}

size_t place_print(const struct place_bytes *value, char *to, size_t size)
{
	struct printer p = {
		.shape = value->shape,
		.data = value->data,
		.n = value->n,
		.to = to,
		.size = size,
	};

	*to = '\0';
	place_print_all(&p);
	if (p.bad && !p.cut) {
		p.used = 0;
		place_print_put(&p, "<bad shape>");
	}
	if (p.cut)
		memcpy(to + size - 4, "...", 4);
	return p.cut ? size - 1 : p.used;
}
