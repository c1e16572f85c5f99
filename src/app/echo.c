/* SPDX-License-Identifier: Apache-2.0 */
/* echo: a payload, its CRC-32 in eight hexadecimal digits, CR LF; all of it comes back. The payload
 * is letters and digits, so that the first line feed ends a request. */
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "app/app.h"

#define TAIL_BYTES 10u /* eight digits, CR LF */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
#define ALPHABET_BYTES (sizeof alphabet - 1)

/* Where the byte at `at` of a payload is in the alphabet, and how many of n follow it there. */
static size_t alphabet_at(const struct nm_app_request *request, uint64_t at, size_t n,
			  size_t *ret_some)
{
	size_t from = (size_t)((request->seed + at) % ALPHABET_BYTES);

	*ret_some = ALPHABET_BYTES - from < n ? ALPHABET_BYTES - from : n;
	return from;
}

static void put_payload(const struct nm_app_request *request, char *buf)
{
	size_t n = (size_t)request->size, some;

	for (size_t done = 0; done < n; done += some) {
		size_t from = alphabet_at(request, done, n - done, &some);

		memcpy(buf + done, alphabet + from, some);
	}
}

/* Whether n bytes are those of the payload from `at` on. */
static bool is_payload(const struct nm_app_request *request, uint64_t at, const char *data,
		       size_t n)
{
	size_t some;

	for (size_t done = 0; done < n; done += some) {
		size_t from = alphabet_at(request, at + done, n - done, &some);

		if (memcmp(data + done, alphabet + from, some) != 0)
			return false;
	}
	return true;
}

static void put_tail(uint32_t crc, char *tail)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < 8; i++)
		tail[i] = digits[crc >> (28 - 4 * i) & 15];
	memcpy(tail + 8, "\r\n", 2);
}

static uint64_t echo_most_bytes(uint64_t size)
{
	return size + TAIL_BYTES;
}

static size_t echo_encode(struct nm_app_request *request, char *buf)
{
	put_payload(request, buf);
	request->check = (uint32_t)crc32(0, (const Bytef *)buf, (uInt)request->size);
	put_tail(request->check, buf + request->size);
	return (size_t)request->size + TAIL_BYTES;
}

static enum nm_parsed echo_parse(struct nm_app_parser *parser, const struct nm_app_request *request,
				 const char *data, size_t n, size_t *ret_taken)
{
	uint64_t left = parser->at < request->size ? request->size - parser->at : 0;
	size_t payload = n < left ? n : (size_t)left;
	char tail[TAIL_BYTES];

	if (!is_payload(request, parser->at, data, payload))
		return NM_PARSED_BAD;
	parser->at += payload;
	*ret_taken = payload;
	if (payload == n)
		return NM_PARSED_MORE;
	size_t tail_at = (size_t)(parser->at - request->size);
	size_t some = n - payload < TAIL_BYTES - tail_at ? n - payload : TAIL_BYTES - tail_at;

	put_tail(request->check, tail);
	if (memcmp(data + payload, tail + tail_at, some) != 0)
		return NM_PARSED_BAD;
	parser->at += some;
	*ret_taken += some;
	return tail_at + some == TAIL_BYTES ? NM_PARSED_DONE : NM_PARSED_MORE;
}

/* Whatever comes goes back, so that the client finds out what the way has changed. */
static enum nm_took echo_take(struct nm_app_served *served, const char *data, size_t n,
			      size_t *ret_taken)
{
	const char *end = memchr(data, '\n', n);
	size_t some = end ? (size_t)(end - data) + 1 : n;

	*ret_taken = 0;
	if (some > served->room - served->at)
		return NM_TOOK_BAD;
	memcpy(served->out + served->at, data, some);
	*ret_taken = some;
	served->at += some;
	if (!end)
		return NM_TOOK_MORE;
	served->n_out = (size_t)served->at;
	served->at = 0;
	return NM_TOOK_REQUEST;
}

const struct nm_app nm_app_echo = {
	.name = "echo",
	.help = "a line of text with its CRC-32, which comes back as it was: the echo server of "
		"rpc-perf",
	.verbs = NM_VERB_BIT(NM_VERB_ECHO),
	.port = 12321,
	.most_bytes = echo_most_bytes,
	.encode = echo_encode,
	.parse = echo_parse,
	.take = echo_take,
};
