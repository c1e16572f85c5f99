/* SPDX-License-Identifier: Apache-2.0 */
/* echo: a payload, its CRC-32 in eight hexadecimal digits, CR LF; all of it comes back. The payload
 * is letters and digits, so that the first line feed ends a request. */
#include <string.h>
#include <zlib.h>

#include "app/app.h"

#define TAIL_BYTES 10u /* eight digits, CR LF */

static void put_tail(uint32_t crc, char *tail)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < 8; i++)
		tail[i] = digits[crc >> (28 - 4 * i) & 15];
	memcpy(tail + 8, "\r\n", 2);
}

static uint32_t crc_of_payload(const struct nm_app_request *request)
{
	uLong crc = 0;

	for (uint64_t done = 0; done < request->size;) {
		size_t from = (size_t)((request->at + done) % NM_POOL_BYTES);
		uint64_t left = request->size - done;
		size_t some = NM_POOL_BYTES - from < left ? NM_POOL_BYTES - from : (size_t)left;

		crc = crc32(crc, (const Bytef *)request->pool->text + from, (uInt)some);
		done += some;
	}
	return (uint32_t)crc;
}

static void echo_encode(struct nm_app_request *request, char *buf, struct nm_app_encoded *ret)
{
	(void)buf;
	request->check = crc_of_payload(request);
	ret->head = 0;
	ret->pool = request->pool->text;
	ret->payload = request->size;
	ret->tail = TAIL_BYTES;
	put_tail(request->check, ret->tail_text);
}

static enum nm_parsed echo_parse(struct nm_app_parser *parser, const struct nm_app_request *request,
				 const char *data, size_t n, size_t *ret_taken)
{
	uint64_t left = parser->at < request->size ? request->size - parser->at : 0;
	size_t payload = n < left ? n : (size_t)left;
	char tail[TAIL_BYTES];

	if (!nm_pool_equals(request->pool->text, request->at + parser->at, data, payload))
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
static enum nm_took echo_take(struct nm_app_served *served, const struct nm_app_service *service,
			      const char *data, size_t n, size_t *ret_taken)
{
	const char *end = memchr(data, '\n', n);
	size_t some = end ? (size_t)(end - data) + 1 : n;

	(void)service;
	*ret_taken = 0;
	if (!nm_rope_has_room(&served->out, some))
		return NM_TOOK_BAD;
	nm_rope_add(&served->out, data, some);
	*ret_taken = some;
	return end ? nm_app_answer(served, NM_VERB_ECHO, NM_CLASS_OK, "") : NM_TOOK_MORE;
}

const struct nm_app nm_app_echo = {
	.name = "echo",
	.help = "a line of text with its CRC-32, which comes back as it was: the echo server of "
		"rpc-perf",
	.verbs = NM_VERB_BIT(NM_VERB_ECHO),
	.port = 12321,
	.answer_bytes = TAIL_BYTES,
	.echoes = true,
	.encode = echo_encode,
	.parse = echo_parse,
	.take = echo_take,
};
