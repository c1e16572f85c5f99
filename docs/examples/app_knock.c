/* SPDX-License-Identifier: Apache-2.0 */
/* KNOCK, answered by WHO. Example of docs/adding-an-app.md. */
#include <string.h>

#include "app/app.h"

static const char knock[] = "KNOCK\n", who[] = "WHO\n";

static void encode(struct nm_app_request *request, char *buf, struct nm_app_encoded *ret)
{
	(void)request;
	memcpy(buf, knock, strlen(knock));
	ret->head = strlen(knock);
	ret->payload = ret->tail = 0;
}

/* Takes what has come of a text of which *at bytes came before: how many bytes; 0: it is another
 * text. */
static size_t take_text(const char *text, uint64_t *at, const char *data, size_t n)
{
	size_t left = strlen(text) - *at, some = n < left ? n : left;

	if (memcmp(data, text + *at, some) != 0)
		return 0;
	*at += some;
	return some;
}

static enum nm_parsed parse(struct nm_app_parser *parser, const struct nm_app_request *request,
			    const char *data, size_t n, size_t *ret_taken)
{
	(void)request;
	*ret_taken = take_text(who, &parser->at, data, n);
	if (!*ret_taken)
		return NM_PARSED_BAD;
	return parser->at == strlen(who) ? NM_PARSED_DONE : NM_PARSED_MORE;
}

static enum nm_took take(struct nm_app_served *served, const struct nm_app_service *service,
			 const char *data, size_t n, size_t *ret_taken)
{
	(void)service;
	*ret_taken = take_text(knock, &served->at, data, n);
	if (!*ret_taken || !nm_rope_has_room(&served->out, strlen(who)))
		return NM_TOOK_BAD;
	if (served->at < strlen(knock))
		return NM_TOOK_MORE;
	nm_rope_add(&served->out, who, strlen(who));
	served->at = 0;
	return NM_TOOK_REQUEST;
}

const struct nm_app nm_app_knock = {
	.name = "knock",
	.help = "KNOCK, which is answered by WHO",
	.verbs = NM_VERB_BIT(NM_VERB_PING),
	.port = 4712,
	.head_bytes = sizeof knock - 1,
	.answer_bytes = sizeof who - 1,
	.encode = encode,
	.parse = parse,
	.take = take,
};
