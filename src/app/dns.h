/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of DNS (RFC 1035, 6891), as both ends of app=dns see them. */
#ifndef NM_APP_DNS_H
#define NM_APP_DNS_H

#include "app/app.h"
#include "app/question.h"

#define NM_DNS_HEADER	    12u
#define NM_DNS_OPT_BYTES    11u /* the record of EDNS */
#define NM_DNS_LENGTH_BYTES 2u	/* before a message, on a stream (RFC 1035, 4.2.2) */
#define NM_DNS_QUERY_MAX    (NM_DNS_HEADER + NM_QUESTION_MAX + NM_DNS_OPT_BYTES)
/* The longest record of an answer of our own: a pointer to the name, AAAA. */
#define NM_DNS_RECORD_MAX 28u
#define NM_DNS_ANSWER_MAX (NM_DNS_QUERY_MAX + NM_DNS_RECORD_MAX)

/* What an answer says: RCODE of the header, with the upper bits of EDNS. */
#define NM_DNS_RCODE_(name, number) NM_DNS_##name = (number),
enum nm_dns_rcode { NM_DNS_RCODES(NM_DNS_RCODE_) };
#undef NM_DNS_RCODE_

/* The first byte of the flags, and the second. */
#define NM_DNS_QR     0x80u
#define NM_DNS_OPCODE 0x78u
#define NM_DNS_AA     0x04u
#define NM_DNS_TC     0x02u
#define NM_DNS_RD     0x01u
#define NM_DNS_RCODE  0x0fu

#define NM_DNS_TYPE_A	 1u
#define NM_DNS_TYPE_AAAA 28u
#define NM_DNS_TYPE_OPT	 41u

/* A number of two bytes, the higher one first. */
static inline unsigned nm_dns_get(const unsigned char *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static inline unsigned char *nm_dns_put(unsigned char *at, unsigned value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
	return at + 2;
}

/* The record of EDNS: its end. `high`: the upper bits of the rcode. */
static inline unsigned char *nm_dns_put_opt(unsigned char *at, unsigned bytes, unsigned high,
					    bool dnssec)
{
	*at++ = 0; /* the root */
	at = nm_dns_put(at, NM_DNS_TYPE_OPT);
	at = nm_dns_put(at, bytes);
	*at++ = (unsigned char)high;
	*at++ = 0; /* its version */
	at = nm_dns_put(at, dnssec ? 0x8000 : 0);
	return nm_dns_put(at, 0);
}

/* The server's end, in dns_server.c: of a stream, and of messages. */
/* As nm_app's fail does. */
void nm_dns_fail(struct nm_app_served *served);
enum nm_took nm_dns_take(struct nm_app_served *served, const struct nm_app_service *service,
			 const char *data, size_t n, size_t *ret_taken);
bool nm_dns_serve(struct nm_app_served *served, const char *data, size_t n);

#endif
