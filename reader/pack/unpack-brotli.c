/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A Brotli file is one stream without a magic number, a checksum or restart points, so damage ends
 * the file. kymo does not write Brotli, but other programs' call traces use it.
 */
#include <brotli/decode.h>
#include <errno.h>

#include "reader/pack/unpack-method.h"

/* The maximum numbers of bytes that the detection reads and decompresses. */
enum { TRIAL_IN = 1 << 20, TRIAL_OUT = 256 };

/* On damage, the decoder discards the output of the same call, so each call gets little input. */
enum { PIECE_BYTES = 1024 };

static void *unpack_brotli_create(void)
{
	return BrotliDecoderCreateInstance(NULL, NULL, NULL);
}

static void unpack_brotli_destroy(void *state)
{
	BrotliDecoderDestroyInstance(state);
}

static bool brotli_begins(const uint8_t *p, size_t n)
{
	return false;
}

static void brotli_restart(void *state)
{
	/* Never called, since a stream has no restart points. */
	(void)state;
}

static ssize_t brotli_read(void *state, struct unpack *u, uint8_t *to, size_t n)
{
	struct input *in = &u->input;
	size_t room = n;

	u->inside = !BrotliDecoderIsFinished(state);
	for (;;) {
		size_t ready = 0;
		const uint8_t *from;
		BrotliDecoderResult result;
		int r = u->inside ? input_need(in, 1) : 0;

		if (r < 0)
			return r;
		if (u->inside)
			ready = input_ready(in) < PIECE_BYTES ? input_ready(in) : PIECE_BYTES;
		from = input_peek(in);
		result = BrotliDecoderDecompressStream(state, &ready, &from, &room, &to, NULL);
		input_consume(in, (size_t)(from - input_peek(in)));
		u->inside = result != BROTLI_DECODER_RESULT_SUCCESS;
		u->ended = !u->inside;
		if (room < n || u->ended)
			return (ssize_t)(n - room);
		if (result == BROTLI_DECODER_RESULT_ERROR)
			return unpack_fail(u, false, "a damaged Brotli stream");
		if (in->eof && input_ready(in) == 0)
			return unpack_fail(u, true, "the file is cut off in a Brotli stream");
	}
}

/*
 * Feeds the available input, then more if the decoder asks for it. More input is not awaited
 * without need: most files of other formats fail within the first bytes, and a pipe may not provide
 * more for a long time. Returns true if any byte was decompressed.
 */
static bool brotli_try(struct input *in, BrotliDecoderState *state, uint8_t *to, size_t *room)
{
	size_t fed = 0;

	for (;;) {
		size_t ready = input_ready(in) - fed, before = *room;
		size_t left = ready < PIECE_BYTES ? ready : PIECE_BYTES;
		const uint8_t *from = input_peek(in) + fed;
		BrotliDecoderResult result;

		result = BrotliDecoderDecompressStream(state, &left, &from, room, &to, NULL);
		fed = (size_t)(from - input_peek(in));
		if (result == BROTLI_DECODER_RESULT_ERROR)
			return false;
		if (*room < before || result != BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT)
			return true;
		if (fed >= TRIAL_IN || input_need(in, fed + 1) <= 0)
			return false;
	}
}

bool unpack_is_brotli(struct input *in, unpack_detect_fn detect)
{
	BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	size_t room = TRIAL_OUT;
	uint8_t out[TRIAL_OUT];
	bool r = state && brotli_try(in, state, out, &room) && detect(out, sizeof(out) - room);

	if (state)
		BrotliDecoderDestroyInstance(state);
	return r;
}

const struct unpack_ops unpack_brotli_ops = {
	.create = unpack_brotli_create,
	.destroy = unpack_brotli_destroy,
	.read = brotli_read,
	.begins = brotli_begins,
	.restart = brotli_restart,
};
