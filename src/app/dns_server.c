/* SPDX-License-Identifier: Apache-2.0 */
/* Our own name server: an authority for all names. Each has one address of the blocks that are for
 * documentation (RFC 5737, RFC 3849), and nothing else; but no name below "invalid" exists
 * (RFC 6761). */
#include <string.h>

#include "app/dns.h"
#include "base/ascii.h"

#define TTL_S	   300u
#define EDNS_BYTES 1232u /* of a message that it would take */
#define CLASS_IN   1u
#define POINTER	   0xc0u /* the upper bits of a label that goes on elsewhere */
#define NAME_BEGIN 0xc000u

static const unsigned char address[] = {192, 0, 2, 1};
static const unsigned char address6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};

/* What was asked, and whether by EDNS. */
struct query {
	const unsigned char *question;
	size_t name, length; /* bytes of its name, and of all of it */
	bool edns, dnssec;
	enum nm_dns_rcode rcode;
};

/* How many bytes a name has; 0: it is none. *ret_invalid: its last label is "invalid". pointers: it
 * may end with one, which is not followed. */
static size_t name_of(const unsigned char *data, size_t n, bool pointers, bool *ret_invalid)
{
	const unsigned char *label = NULL;
	size_t at = 0;

	for (; at < n && data[at] && data[at] <= NM_LABEL_MAX; at += data[at] + 1u)
		label = data + at;
	if (pointers && at + 1 < n && data[at] >= POINTER)
		return at + 2;
	if (at >= n || data[at] || at >= NM_NAME_MAX)
		return 0;
	*ret_invalid = label && nm_ascii_is((const char *)label + 1, *label, "invalid");
	return at + 1;
}

/* Reads `count` additional records, of which one may be that of EDNS. False: they are not whole. */
static bool read_additional(struct query *query, const unsigned char *at, size_t n, unsigned count)
{
	bool unused;

	for (; count; count--) {
		size_t name = name_of(at, n, true, &unused);

		if (!name || n - name < 10)
			return false;
		const unsigned char *record = at + name;
		size_t all = name + 10 + nm_dns_get(record + 8);

		if (all > n)
			return false;
		if (nm_dns_get(record) == NM_DNS_TYPE_OPT) {
			if (query->edns || *at)
				return false;
			query->edns = true;
			query->dnssec = record[6] & 0x80;
			if (record[5])
				query->rcode = NM_DNS_BADVERS;
		}
		at += all;
		n -= all;
	}
	return true;
}

/* Finds out what is asked by a message of n bytes, a header at least. */
static struct query read_query(const unsigned char *data, size_t n)
{
	struct query query = {.rcode = NM_DNS_NOERROR};
	const unsigned char *question = data + NM_DNS_HEADER;
	bool invalid;

	if (data[2] & NM_DNS_OPCODE) {
		query.rcode = NM_DNS_NOTIMP;
		return query;
	}
	n -= NM_DNS_HEADER;
	size_t name = name_of(question, n, false, &invalid);

	/* One question, and no records that a query cannot have. */
	if (nm_dns_get(data + 4) != 1 || nm_dns_get(data + 6) || nm_dns_get(data + 8) || !name ||
	    n - name < 4) {
		query.rcode = NM_DNS_FORMERR;
		return query;
	}
	query.question = question;
	query.name = name;
	query.length = name + 4;
	if (!read_additional(&query, question + query.length, n - query.length,
			     nm_dns_get(data + 10)))
		query.rcode = NM_DNS_FORMERR;
	else if (nm_dns_get(question + name + 2) != CLASS_IN)
		query.rcode = NM_DNS_REFUSED;
	else if (invalid && !query.rcode)
		query.rcode = NM_DNS_NXDOMAIN;
	return query;
}

/* The record that answers the question: its end. */
static unsigned char *put_record(const struct query *query, unsigned char *at)
{
	const unsigned type = nm_dns_get(query->question + query->name);
	const unsigned char *is = type == NM_DNS_TYPE_A ? address : address6;
	const size_t n = type == NM_DNS_TYPE_A ? sizeof address : sizeof address6;

	at = nm_dns_put(at, NAME_BEGIN | NM_DNS_HEADER);
	at = nm_dns_put(at, type);
	at = nm_dns_put(at, CLASS_IN);
	at = nm_dns_put(at, TTL_S >> 16);
	at = nm_dns_put(at, TTL_S & 0xffff);
	at = nm_dns_put(at, (unsigned)n);
	memcpy(at, is, n);
	return at + n;
}

static bool has_record(const struct query *query)
{
	unsigned type;

	if (query->rcode != NM_DNS_NOERROR)
		return false;
	type = nm_dns_get(query->question + query->name);
	return type == NM_DNS_TYPE_A || type == NM_DNS_TYPE_AAAA;
}

/* Writes the answer to the message: how many bytes. */
static size_t put_answer(const unsigned char *data, const struct query *query, unsigned char *buf)
{
	bool record = has_record(query);
	unsigned char *at = buf;

	memcpy(at, data, 2);
	at += 2;
	*at++ = (unsigned char)(NM_DNS_QR | (data[2] & (NM_DNS_OPCODE | NM_DNS_RD)) |
				(query->rcode == NM_DNS_NOERROR || query->rcode == NM_DNS_NXDOMAIN
					 ? NM_DNS_AA
					 : 0));
	*at++ = query->rcode & NM_DNS_RCODE;
	at = nm_dns_put(at, query->length ? 1 : 0);
	at = nm_dns_put(at, record);
	at = nm_dns_put(at, 0);
	at = nm_dns_put(at, query->edns);
	if (query->length)
		memcpy(at, query->question, query->length);
	at += query->length;
	if (record)
		at = put_record(query, at);
	if (query->edns)
		at = nm_dns_put_opt(at, EDNS_BYTES, query->rcode >> 4, query->dnssec);
	return (size_t)(at - buf);
}

static enum nm_class class_of(enum nm_dns_rcode rcode)
{
	if (rcode == NM_DNS_NXDOMAIN)
		return NM_CLASS_MISS;
	return rcode == NM_DNS_NOERROR ? NM_CLASS_OK : NM_CLASS_REFUSED;
}

/* Answers a message behind `before` bytes that are left free: how many bytes; 0: it is no query. */
static size_t answer(struct nm_app_served *served, const unsigned char *data, size_t n,
		     size_t before, unsigned char *buf)
{
	if (n < NM_DNS_HEADER || (data[2] & NM_DNS_QR))
		return 0;
	struct query query = read_query(data, n);

	served->verb = NM_VERB_QUERY;
	served->class = (uint8_t)class_of(query.rcode);
	return before + put_answer(data, &query, buf + before);
}

bool nm_dns_serve(struct nm_app_served *served, const char *data, size_t n)
{
	unsigned char text[NM_DNS_ANSWER_MAX];
	size_t size = answer(served, (const unsigned char *)data, n, 0, text);

	if (!size || !nm_rope_has_room(&served->out, size))
		return false;
	nm_rope_add(&served->out, (const char *)text, size);
	return true;
}

enum nm_took nm_dns_take(struct nm_app_served *served, const struct nm_app_service *service,
			 const char *data, size_t n, size_t *ret_taken)
{
	unsigned char text[NM_DNS_LENGTH_BYTES + NM_DNS_ANSWER_MAX];
	const unsigned char *at = (const unsigned char *)data;

	(void)service;
	*ret_taken = 0;
	if (n < NM_DNS_LENGTH_BYTES)
		return NM_TOOK_MORE;
	size_t length = nm_dns_get(at);

	if (length < NM_DNS_HEADER || length > NM_APP_KEPT_BYTES - NM_DNS_LENGTH_BYTES)
		return NM_TOOK_BAD;
	if (n < NM_DNS_LENGTH_BYTES + length)
		return NM_TOOK_MORE;
	size_t size = answer(served, at + NM_DNS_LENGTH_BYTES, length, NM_DNS_LENGTH_BYTES, text);

	if (!size || !nm_rope_has_room(&served->out, size))
		return NM_TOOK_BAD;
	(void)nm_dns_put(text, (unsigned)(size - NM_DNS_LENGTH_BYTES));
	nm_rope_add(&served->out, (const char *)text, size);
	*ret_taken = NM_DNS_LENGTH_BYTES + length;
	return NM_TOOK_REQUEST;
}

/* Of the answer its header and its question are left. */
void nm_dns_fail(struct nm_app_served *served)
{
	unsigned char text[NM_DNS_LENGTH_BYTES + NM_DNS_ANSWER_MAX];
	unsigned char *header = text + NM_DNS_LENGTH_BYTES, *question = header + NM_DNS_HEADER;
	size_t n = served->out.n_text, bytes = NM_DNS_HEADER;
	bool unused;

	memcpy(text, served->out.text, n);
	if (nm_dns_get(header + 4))
		bytes += name_of(question, n - (size_t)(question - text), false, &unused) + 4;
	header[3] = NM_DNS_SERVFAIL;
	memset(header + 6, 0, 6);
	(void)nm_dns_put(text, (unsigned)bytes);
	nm_app_fail(served, "");
	nm_rope_add(&served->out, (const char *)text, NM_DNS_LENGTH_BYTES + bytes);
}
