/* SPDX-License-Identifier: Apache-2.0 */
/* ping: the least that can be asked. The request is that of Redis, which answers it, too. */
#include <string.h>

#include "app/app.h"

#define REQUEST "PING\r\n"
#define ANSWER	"PONG\r\n"

static void ping_encode(struct nm_app_request *request, char *buf, struct nm_app_encoded *ret)
{
	(void)request;
	memcpy(buf, REQUEST, strlen(REQUEST));
	ret->head = strlen(REQUEST);
	ret->payload = ret->tail = 0;
}

/* Redis puts a plus before the answer, which is noted in parser->check. */
static enum nm_parsed ping_parse(struct nm_app_parser *parser, const struct nm_app_request *request,
				 const char *data, size_t n, size_t *ret_taken)
{
	(void)request;
	if (parser->at == 0)
		parser->check = *data == '+';
	const char *expected = parser->check ? "+" ANSWER : ANSWER;
	size_t left = strlen(expected) - parser->at;
	size_t some = n < left ? n : left;

	if (memcmp(data, expected + parser->at, some) != 0)
		return NM_PARSED_BAD;
	parser->at += some;
	*ret_taken = some;
	return some == left ? NM_PARSED_DONE : NM_PARSED_MORE;
}

static enum nm_took ping_take(struct nm_app_served *served, const struct nm_app_service *service,
			      const char *data, size_t n, size_t *ret_taken)
{
	size_t left = strlen(REQUEST) - served->at;
	size_t some = n < left ? n : left;

	(void)service;
	*ret_taken = 0;
	if (memcmp(data, &REQUEST[served->at], some) != 0 ||
	    !nm_rope_has_room(&served->out, strlen(ANSWER)))
		return NM_TOOK_BAD;
	*ret_taken = some;
	served->at += some;
	if (some < left)
		return NM_TOOK_MORE;
	served->at = 0;
	return nm_app_answer(served, NM_VERB_PING, NM_CLASS_OK, ANSWER);
}

const struct nm_app nm_app_ping = {
	.name = "ping",
	.help = "PING, which is answered by PONG: the ping server of rpc-perf, and Redis",
	.verbs = NM_VERB_BIT(NM_VERB_PING),
	.port = 12321,
	.head_bytes = sizeof REQUEST - 1,
	.answer_bytes = sizeof ANSWER - 1,
	.encode = ping_encode,
	.parse = ping_parse,
	.take = ping_take,
};
