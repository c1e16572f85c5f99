/* SPDX-License-Identifier: Apache-2.0 */
/* query: what DNS has for a name. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/question.h"
#include "flowop/ask.h"

static const struct nm_opt query_opts[] = {
	{.name = "name",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, name),
	 .required = true,
	 .unless = {"names"},
	 .help = "the name that is asked for, as www.example.com, with \\. and \\DDD as in zone "
		 "files; with keys, what comes behind their labels"},
	{.name = "names",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, names),
	 .is_file = true,
	 .help = "a file of the master, which is asked for line by line, instead of name and keys: "
		 "a name and a type, where type is the type if there is none; # and ; begin a "
		 "comment, as in the files of dnsperf"},
	{.name = "keys",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, keys),
	 .help = "a keyspace, by its name: each request asks for one of its keys, as a label "
		 "before name"},
	{.name = "type",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_ask, type),
	 .def = "A",
	 .help = "the type of the records, as AAAA, or TYPE and its number"},
	{.name = "edns",
	 .type = NM_TYPE_SIZE,
	 .offset = offsetof(struct nm_opts_ask, edns_bytes),
	 .max = 4096,
	 .def = "1232",
	 .help = "how long an answer over udp may be, told by EDNS(0); 0: there is no EDNS, and an "
		 "answer has 512 bytes at most"},
	{.name = "rd",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_ask, recursion),
	 .help = "recursion is desired, as by clients of a resolver"},
	{.name = "do",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_ask, dnssec),
	 .help = "records of DNSSEC are wanted; needs edns"},
	{.name = "tcp_fallback",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_ask, tcp_fallback),
	 .help = "over udp, with server: a query whose answer was cut for its length (TC) is asked "
		 "again over TCP, as resolvers do; without it that answer is one"},
	NM_OPT_END};

static int query_check(const void *opts, char *why, size_t why_size)
{
	const struct nm_opts_ask *o = opts;
	unsigned char wire[NM_NAME_MAX];
	char wrong[256];
	uint8_t length;
	uint16_t type;
	int r = 0;

	if (o->name &&
	    nm_name_read(o->name, strlen(o->name), wire, &length, wrong, sizeof wrong) < 0)
		r = snprintf(why, why_size, "name=\"%.300s\": %s", o->name, wrong);
	else if (nm_type_read(o->type, strlen(o->type), &type, wrong, sizeof wrong) < 0)
		r = snprintf(why, why_size, "type=\"%.32s\": %s", o->type, wrong);
	else if (o->dnssec && !o->edns_bytes)
		r = snprintf(why, why_size, "do goes with edns");
	else if (o->edns_bytes && o->edns_bytes < 512)
		r = snprintf(why, why_size, "edns=%llu: must be 0, or 512 to 4096",
			     (unsigned long long)o->edns_bytes);
	return r ? -EINVAL : 0;
}

const struct nm_flowop nm_flowop_query = {
	.name = "query",
	.mirror_op = &nm_flowop_serve,
	.help = "asks a name server for the records of a name, over a connection with app=dns",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_INITIATES | NM_FLOWOP_ASKS,
	.opts = query_opts,
	.opts_size = sizeof(struct nm_opts_ask),
	.check = query_check,
	.step = nm_ask_step,
	.verb = NM_VERB_QUERY,
	.lossy_step = nm_ask_datagram_step,
};
