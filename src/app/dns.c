/* SPDX-License-Identifier: Apache-2.0 */
/* DNS: a query has one question, and its answer is known by its id and by that question. What comes
 * behind the question is skipped, so that no name is ever followed. */
#include "app/dns.h"

#include <string.h>

/* The numbers of a connection become ids in an order in which none comes again before all others
 * were there. */
#define ID_FACTOR  40503u
#define ID_INVERSE 30599u /* ID_FACTOR * ID_INVERSE is 1 modulo 65536 */

static unsigned id_of(const struct nm_app_request *request)
{
	return (request->number * ID_FACTOR) & 0xffff;
}

/* Writes the query: how many bytes. */
static size_t put_query(const struct nm_app_request *request, unsigned char *buf)
{
	const struct nm_questions *questions = nm_questions_of(request->keyspace);
	unsigned char *at = nm_dns_put(buf, id_of(request));

	*at++ = questions->recursion ? NM_DNS_RD : 0;
	*at++ = 0;
	at = nm_dns_put(at, 1);
	memset(at, 0, 6);
	at[5] = questions->edns_bytes ? 1 : 0; /* additional records */
	at += 6;
	at += nm_question_put(questions, request->key, at);
	if (questions->edns_bytes)
		at = nm_dns_put_opt(at, questions->edns_bytes, 0, questions->dnssec);
	return (size_t)(at - buf);
}

static size_t dns_encode_message(struct nm_app_request *request, char *buf)
{
	return put_query(request, (unsigned char *)buf);
}

static void dns_encode(struct nm_app_request *request, char *buf, struct nm_app_encoded *ret)
{
	unsigned char *at = (unsigned char *)buf;
	size_t n = put_query(request, at + NM_DNS_LENGTH_BYTES);

	(void)nm_dns_put(at, (unsigned)n);
	ret->head = NM_DNS_LENGTH_BYTES + n;
	ret->payload = ret->tail = 0;
}

/* The rcode of an answer whose question has so many bytes. Its upper bits are in the record of
 * EDNS; they are read where nothing else can stand before it. */
static unsigned rcode_of(const unsigned char *data, size_t n, size_t question)
{
	const unsigned char *opt = data + NM_DNS_HEADER + question;
	unsigned rcode = data[3] & NM_DNS_RCODE;

	if (n < NM_DNS_HEADER + question + NM_DNS_OPT_BYTES || nm_dns_get(data + 6) ||
	    nm_dns_get(data + 8) || !nm_dns_get(data + 10) || opt[0] ||
	    nm_dns_get(opt + 1) != NM_DNS_TYPE_OPT)
		return rcode;
	return (unsigned)opt[5] << 4 | rcode;
}

static enum nm_class class_of(unsigned rcode)
{
	switch (rcode) {
	case NM_DNS_NOERROR:
		return NM_CLASS_OK;
	case NM_DNS_NXDOMAIN:
		return NM_CLASS_MISS;
	default:
		return NM_CLASS_REFUSED;
	}
}

static uint8_t answer_of(unsigned rcode)
{
	switch (rcode) {
#define NAME(name, number)                                                                         \
	case number:                                                                               \
		return NM_ANSWER_DNS_##name;
		NM_DNS_RCODES(NAME)
#undef NAME
	default:
		return NM_ANSWER_OTHER;
	}
}

/* Judges the head of an answer: its header, its question and the record of EDNS, or as much of them
 * as it has. What says that there is nothing need not repeat the question. */
static enum nm_parsed judge(struct nm_app_parser *parser, const struct nm_app_request *request,
			    const unsigned char *data, size_t n)
{
	if (n < NM_DNS_HEADER || nm_dns_get(data) != id_of(request) ||
	    (data[2] & (NM_DNS_QR | NM_DNS_OPCODE)) != NM_DNS_QR)
		return NM_PARSED_BAD;
	unsigned count = nm_dns_get(data + 4);
	size_t question = 0;

	if (n > NM_DNS_HEADER && count) {
		question = nm_question_take(nm_questions_of(request->keyspace), request->key,
					    data + NM_DNS_HEADER, n - NM_DNS_HEADER);
		if (count != 1 || !question)
			return NM_PARSED_BAD;
	}
	const unsigned rcode = rcode_of(data, n, question);

	parser->class = (uint8_t)class_of(rcode);
	/* Of messages the parser may have that of another answer. */
	parser->answer = parser->class == NM_CLASS_REFUSED ? answer_of(rcode) : NM_ANSWER_NONE;
	return question || parser->class != NM_CLASS_OK || (data[2] & NM_DNS_TC) ? NM_PARSED_DONE
										 : NM_PARSED_BAD;
}

static enum nm_parsed dns_parse_message(struct nm_app_parser *parser,
					const struct nm_app_request *request, const char *data,
					size_t n)
{
	const unsigned char *message = (const unsigned char *)data;
	enum nm_parsed parsed = judge(parser, request, message, n);

	if (parsed == NM_PARSED_DONE && parser->class == NM_CLASS_OK && (message[2] & NM_DNS_TC))
		parser->class = NM_CLASS_TRUNCATED;
	return parsed;
}

/* How far the answer on a stream is. */
enum { LENGTH, HEAD, REST };

static size_t head_of(uint64_t length)
{
	const size_t most = NM_DNS_HEADER + NM_QUESTION_MAX + NM_DNS_OPT_BYTES;

	return NM_DNS_LENGTH_BYTES + (length < most ? (size_t)length : most);
}

static enum nm_parsed dns_parse(struct nm_app_parser *parser, const struct nm_app_request *request,
				const char *data, size_t n, size_t *ret_taken)
{
	const unsigned char *head = (const unsigned char *)parser->line.kept;
	size_t taken = 0;

	*ret_taken = n;
	if (parser->state == LENGTH) {
		if (!nm_line_gather(&parser->line, NM_DNS_LENGTH_BYTES, data, n, &taken))
			return NM_PARSED_MORE;
		parser->at = nm_dns_get(head);
		parser->state = HEAD;
	}
	if (parser->state == HEAD) {
		if (!nm_line_gather(&parser->line, head_of(parser->at), data, n, &taken))
			return NM_PARSED_MORE;
		size_t length = parser->line.length - NM_DNS_LENGTH_BYTES;

		if (judge(parser, request, head + NM_DNS_LENGTH_BYTES, length) == NM_PARSED_BAD)
			return NM_PARSED_BAD;
		parser->left = parser->at - length;
		parser->state = REST;
	}
	size_t some = parser->left < n - taken ? (size_t)parser->left : n - taken;

	parser->left -= some;
	*ret_taken = taken + some;
	return parser->left ? NM_PARSED_MORE : NM_PARSED_DONE;
}

static uint16_t dns_number(const char *data, size_t n)
{
	return n < NM_DNS_HEADER ? 0
				 : (uint16_t)(nm_dns_get((const unsigned char *)data) * ID_INVERSE);
}

static const struct nm_app_datagram dns_datagram = {
	.encode = dns_encode_message,
	.parse = dns_parse_message,
	.number = dns_number,
	.serve = nm_dns_serve,
};

const struct nm_app nm_app_dns = {
	.name = "dns",
	.help = "DNS, over UDP and over streams: authoritative name servers and resolvers",
	.verbs = NM_VERB_BIT(NM_VERB_QUERY),
	.port = 53,
	.tls_port = 853,
	.alpn = "dot",
	.usual = NM_ANSWER_DNS_NOERROR,
	.missed = NM_ANSWER_DNS_NXDOMAIN,
	.head_bytes = NM_DNS_LENGTH_BYTES + NM_DNS_QUERY_MAX,
	.answer_bytes = NM_DNS_LENGTH_BYTES + NM_DNS_ANSWER_MAX,
	.encode = dns_encode,
	.parse = dns_parse,
	.take = nm_dns_take,
	.fail = nm_dns_fail,
	.datagram = &dns_datagram,
};
