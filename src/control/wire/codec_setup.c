/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of the messages that begin a session and prepare a run: greetings, the order to prepare,
 * and the listeners. */
#include "control/wire/codec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/wire/message.h"
#include "flowop/flowop.h"
#include "profile/tree.h"
#include "transport/transport.h"

const struct nm_field nm_hello_fields[] = {
	NM_FIELD(TEXT, struct nm_msg_hello, magic, .max = NM_WIRE_MAX_NAME,
		 .doc = "\"" NM_PROTOCOL_MAGIC "\"."),
	NM_FIELD(U32, struct nm_msg_hello, protocol, .max = INT32_MAX),
	NM_FIELD(TEXT, struct nm_msg_hello, version, .max = NM_WIRE_MAX_NAME),
	NM_FIELD_END,
};

const struct nm_field nm_welcome_fields[] = {
	NM_FIELD(U32, struct nm_msg_hello, protocol, .max = INT32_MAX),
	NM_FIELD(TEXT, struct nm_msg_hello, version, .max = NM_WIRE_MAX_NAME),
	NM_FIELD(TEXT, struct nm_msg_hello, hostname, .max = NM_WIRE_MAX_NAME),
	NM_FIELD(BOOL, struct nm_msg_hello, no_auth,
		 .doc = "The slave takes any master without proof of who it is."),
	NM_FIELD_END,
};

json_t *nm_hello_pack(void)
{
	const struct nm_msg_hello hello = {
		.magic = NM_PROTOCOL_MAGIC, .protocol = NM_PROTOCOL, .version = NM_VERSION};

	return nm_fields_pack(nm_hello_fields, &hello);
}

json_t *nm_welcome_pack(const char *hostname, bool no_auth)
{
	const struct nm_msg_hello welcome = {.protocol = NM_PROTOCOL,
					     .version = NM_VERSION,
					     .hostname = hostname,
					     .no_auth = no_auth};

	return nm_fields_pack(nm_welcome_fields, &welcome);
}

int nm_hello_unpack(json_t *body, struct nm_msg_hello *ret)
{
	*ret = (struct nm_msg_hello){.magic = NULL};
	if (nm_fields_unpack_known(nm_hello_fields, body, ret))
		return -EPROTO;
	return strcmp(ret->magic, NM_PROTOCOL_MAGIC) == 0 ? 0 : -EPROTO;
}

int nm_welcome_unpack(json_t *body, struct nm_msg_hello *ret)
{
	static const struct nm_field of_all_versions[] = {
		NM_FIELD(U32, struct nm_msg_hello, protocol, .max = INT32_MAX),
		NM_FIELD(TEXT, struct nm_msg_hello, version, .max = NM_WIRE_MAX_NAME),
		NM_FIELD_END,
	};

	*ret = (struct nm_msg_hello){.magic = NULL};
	int error = nm_fields_unpack_known(of_all_versions, body, ret);

	if (error || ret->protocol != NM_PROTOCOL)
		return error;
	return nm_fields_unpack_known(nm_welcome_fields, body, ret);
}

struct refusal {
	const char *code, *text;
};

const struct nm_field nm_refuse_fields[] = {
	NM_FIELD(TEXT, struct refusal, code, .max = NM_WIRE_MAX_NAME,
		 .doc = "One word for programs."),
	NM_FIELD(TEXT, struct refusal, text, .max = NM_WIRE_MAX_TEXT,
		 .doc = "One line for people, which says what to do."),
	NM_FIELD_END,
};

json_t *nm_refuse_pack(const char *code, const char *text)
{
	const struct refusal refusal = {.code = code, .text = text};

	return nm_fields_pack(nm_refuse_fields, &refusal);
}

int nm_refuse_unpack(json_t *body, const char **ret_code, const char **ret_text)
{
	struct refusal refusal;
	int error = nm_fields_unpack_known(nm_refuse_fields, body, &refusal);

	if (error)
		return error;
	*ret_code = refusal.code;
	*ret_text = refusal.text;
	return 0;
}

const struct nm_field nm_prepare_fields[] = {
	NM_FIELD(TEXT, struct nm_msg_prepare, run_id, .max = NM_WIRE_MAX_NAME),
	NM_FIELD(TEXT, struct nm_msg_prepare, host, .max = NM_WIRE_MAX_NAME,
		 .doc = "What the profile calls the slave."),
	NM_FIELD(TEXT, struct nm_msg_prepare, profile, .max = NM_PROFILE_MAX_BYTES,
		 .doc = "The profile itself, as XML, with all parameters put in."),
	NM_FIELD(TEXT, struct nm_msg_prepare, file, .max = NM_WIRE_MAX_TEXT,
		 .doc = "Its name in messages."),
	NM_FIELD(TEXT, struct nm_msg_prepare, cpus, .max = NM_WIRE_MAX_TEXT, .optional = true,
		 .doc = "A list for the workers; null: the slave's own choice."),
	NM_FIELD(TEXT, struct nm_msg_prepare, counters, .max = NM_WIRE_MAX_TEXT, .optional = true,
		 .doc = "A list of events of the hardware, at most 16, with commas between; null: "
			"none."),
	NM_FIELD(U32, struct nm_msg_prepare, details, .max = NM_OBSERVE_ALL,
		 .doc = "What the slave keeps of single flowops and flows, as a sum: 1 counts, 2 "
			"times, 4 strands, 8 CPU time, 32 passes of each flow, 64 TCP_INFO."),
	NM_FIELD(BOOL, struct nm_msg_prepare, lenient,
		 .doc = "What is unknown in the profile is left out."),
	NM_FIELD(U64, struct nm_msg_prepare, interval_ns, .max = INT64_MAX / 4,
		 .doc = "0: no intervals."),
	NM_FIELD(U64, struct nm_msg_prepare, timeout_ns, .min = 1, .max = INT64_MAX / 4),
	NM_FIELD(U64, struct nm_msg_prepare, seed, .max = INT64_MAX,
		 .doc = "Of all that is random: both ends draw the sizes of messages from it."),
	NM_FIELD(BYTES, struct nm_msg_prepare, secret, .max = NM_SECRET_BYTES,
		 .doc = "Of which connections derive keys; never shown."),
	NM_FIELD_END,
};

json_t *nm_prepare_pack(const struct nm_msg_prepare *prepare)
{
	return nm_fields_pack(nm_prepare_fields, prepare);
}

int nm_prepare_unpack(json_t *body, struct nm_msg_prepare *ret)
{
	*ret = (struct nm_msg_prepare){.run_id = NULL};
	if (nm_fields_unpack(nm_prepare_fields, body, ret) ||
	    (ret->counters && nm_perf_check_form(ret->counters)))
		return -EPROTO;
	return 0;
}

/* The flowop of an opening, which says how and to which host it opens; NULL when there is no such
 * opening. */
static const struct nm_instr *find_opening(const struct nm_group *group, uint32_t opening)
{
	for (uint32_t i = 0; i < group->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];

		if (instr->op && (instr->op->flags & NM_FLOWOP_OPENS) && instr->opening == opening)
			return instr;
	}
	return NULL;
}

/* The names of the listeners of one opening. */
struct listeners {
	uint32_t group, opening;
	json_t *texts;
};

static const struct nm_field listeners_fields[] = {
	NM_FIELD(U32, struct listeners, group),
	NM_FIELD(U32, struct listeners, opening),
	NM_FIELD(VALUE, struct listeners, texts),
	NM_FIELD_END,
};

/* The texts of all workers of one opening, or NULL. */
static json_t *pack_listener(const struct nm_engine *engine, uint32_t group, uint32_t opening,
			     uint32_t n_workers)
{
	json_t *texts = json_array();
	int error = texts ? 0 : -ENOMEM;

	for (uint32_t w = 0; !error && w < n_workers; w++) {
		const char *text = nm_engine_listener(engine, group, opening, w);

		error = text ? json_array_append_new(texts, nm_text_pack(text)) : -ENOENT;
	}
	const struct listeners listeners = {
		.group = group, .opening = opening, .texts = nm_list_or_nothing(texts, error)};

	return nm_row_pack(listeners_fields, &listeners);
}

json_t *nm_endpoints_pack(const struct nm_engine *engine, const struct nm_plan *plan, uint32_t host)
{
	json_t *list = json_array();

	for (uint32_t g = 0; list && g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		for (uint32_t o = 0; list && group->runs && o < group->n_openings; o++) {
			const struct nm_instr *instr = find_opening(group, o);

			if (!instr || instr->host != host || !nm_engine_listener(engine, g, o, 0))
				continue;
			json_t *item = pack_listener(engine, g, o, group->n_workers);
			if (!item || json_array_append_new(list, item) < 0) {
				json_decref(list);
				list = NULL;
			}
		}
	}
	return list;
}

static int unpack_listener(json_t *item, struct nm_engine *engine, const struct nm_plan *plan,
			   uint32_t host)
{
	struct listeners of;

	if (nm_row_unpack(listeners_fields, item, &of) || of.group >= plan->n_groups)
		return -EPROTO;
	const struct nm_group *group = &plan->groups[of.group];
	const struct nm_instr *instr =
		of.opening < group->n_openings ? find_opening(group, of.opening) : NULL;

	/* A peer speaks for itself alone. */
	if (!group->runs || !instr || instr->host != host || !json_is_array(of.texts) ||
	    json_array_size(of.texts) != group->n_workers)
		return -EPROTO;
	for (uint32_t w = 0; w < group->n_workers; w++) {
		const char *text;

		if (nm_text_unpack(json_array_get(of.texts, w), NM_ENDPOINT_TEXT - 1, &text) ||
		    nm_engine_set_endpoint(engine, of.group, of.opening, w, text))
			return -EPROTO;
	}
	return 0;
}

int nm_endpoints_unpack(json_t *list, struct nm_engine *engine, const struct nm_plan *plan,
			uint32_t host)
{
	size_t i;
	json_t *item;

	if (!json_is_array(list))
		return -EPROTO;
	json_array_foreach(list, i, item)
	{
		int error = unpack_listener(item, engine, plan, host);
		if (error)
			return error;
	}
	return 0;
}

uint16_t nm_endpoints_port(json_t *list)
{
	struct listeners of;
	json_t *first = json_array_get(list, 0);

	if (!first || nm_row_unpack(listeners_fields, first, &of))
		return 0;
	const char *text = json_string_value(json_array_get(of.texts, 0));
	unsigned long port = text ? strtoul(text, NULL, 10) : 0;

	return port <= UINT16_MAX ? (uint16_t)port : 0;
}

struct ready {
	json_t *endpoints;
	unsigned char nonce[NM_NONCE_BYTES];
	struct nm_host_facts facts;
};

#define ENDPOINTS(owner)                                                                           \
	NM_FIELD(VALUE, owner, endpoints,                                                          \
		 .doc = "A list of [group, opening, [text, ...]]: what the listeners of the "      \
			"sender are called, one text for each worker.")

#define NONCE(owner)                                                                               \
	NM_FIELD(BYTES, owner, nonce, .max = NM_NONCE_BYTES,                                       \
		 .doc = "To which data connections to the sender are proved.")

const struct nm_field nm_ready_fields[] = {
	ENDPOINTS(struct ready),
	NONCE(struct ready),
	NM_FIELD(OBJECT, struct ready, facts, .fields = nm_host_facts_fields),
	NM_FIELD_END,
};

json_t *nm_ready_pack(json_t *endpoints, const unsigned char *nonce,
		      const struct nm_host_facts *facts)
{
	struct ready ready = {.endpoints = endpoints, .facts = *facts};

	memcpy(ready.nonce, nonce, sizeof ready.nonce);
	return nm_fields_pack(nm_ready_fields, &ready);
}

int nm_ready_unpack(json_t *body, json_t **ret_endpoints, unsigned char *ret_nonce,
		    struct nm_host_facts *ret_facts)
{
	struct ready ready;
	int error = nm_fields_unpack(nm_ready_fields, body, &ready);

	if (error)
		return error;
	*ret_endpoints = ready.endpoints;
	memcpy(ret_nonce, ready.nonce, sizeof ready.nonce);
	*ret_facts = ready.facts;
	return 0;
}

struct connect {
	json_t *endpoints;
	unsigned char nonce[NM_NONCE_BYTES];
};

const struct nm_field nm_connect_fields[] = {ENDPOINTS(struct connect), NONCE(struct connect),
					     NM_FIELD_END};

json_t *nm_connect_pack(json_t *endpoints, const unsigned char *nonce)
{
	struct connect connect = {.endpoints = endpoints};

	memcpy(connect.nonce, nonce, sizeof connect.nonce);
	return nm_fields_pack(nm_connect_fields, &connect);
}

int nm_connect_unpack(json_t *body, json_t **ret_endpoints, unsigned char *ret_nonce)
{
	struct connect connect;
	int error = nm_fields_unpack(nm_connect_fields, body, &connect);

	if (error)
		return error;
	*ret_endpoints = connect.endpoints;
	memcpy(ret_nonce, connect.nonce, sizeof connect.nonce);
	return 0;
}

struct delay {
	uint64_t ns;
};

const struct nm_field nm_delay_fields[] = {
	NM_FIELD(U64, struct delay, ns,
		 .doc = "What the master does before its next message may take so long: other "
			"slaves do not listen yet, or the user has asked for it (--wait-start)."),
	NM_FIELD_END,
};

struct clock_reading {
	uint64_t t, now;
};

const struct nm_field nm_ping_fields[] = {
	NM_FIELD(U64, struct clock_reading, t, .max = NM_FIELD_MOST_CLOCK,
		 .doc = "When it was sent, by the master's clock."),
	NM_FIELD_END,
};

const struct nm_field nm_pong_fields[] = {
	NM_FIELD(U64, struct clock_reading, t, .max = NM_FIELD_MOST_CLOCK, .doc = "Of the ping."),
	NM_FIELD(U64, struct clock_reading, now, .max = NM_FIELD_MOST_CLOCK,
		 .doc = "By the slave's clock."),
	NM_FIELD_END,
};

json_t *nm_pong_pack(uint64_t sent_ns, uint64_t now_ns)
{
	const struct clock_reading reading = {.t = sent_ns, .now = now_ns};

	return nm_fields_pack(nm_pong_fields, &reading);
}

int nm_pong_unpack(json_t *body, uint64_t *ret_sent_ns, uint64_t *ret_now_ns)
{
	struct clock_reading reading;
	int error = nm_fields_unpack(nm_pong_fields, body, &reading);

	if (error)
		return error;
	*ret_sent_ns = reading.t;
	*ret_now_ns = reading.now;
	return 0;
}
