/* SPDX-License-Identifier: Apache-2.0 */
#include "control/wire/codec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/wire/message.h"
#include "flowop/flowop.h"
#include "transport/transport.h"

json_t *nm_hello_pack(void)
{
	return json_pack("{s:s,s:i,s:s}", "magic", NM_PROTOCOL_MAGIC, "protocol", NM_PROTOCOL,
			 "version", NM_VERSION);
}

json_t *nm_welcome_pack(const char *hostname)
{
	return json_pack("{s:i,s:s,s:o}", "protocol", NM_PROTOCOL, "version", NM_VERSION,
			 "hostname", nm_text_pack(hostname));
}

int nm_hello_unpack(json_t *body, struct nm_msg_hello *ret)
{
	*ret = (struct nm_msg_hello){.magic = NULL};
	if (nm_text_unpack(json_object_get(body, "magic"), NM_WIRE_MAX_NAME, &ret->magic) ||
	    nm_u32_unpack(json_object_get(body, "protocol"), INT32_MAX, &ret->protocol) ||
	    nm_text_unpack(json_object_get(body, "version"), NM_WIRE_MAX_NAME, &ret->version))
		return -EPROTO;
	return strcmp(ret->magic, NM_PROTOCOL_MAGIC) == 0 ? 0 : -EPROTO;
}

int nm_welcome_unpack(json_t *body, struct nm_msg_hello *ret)
{
	*ret = (struct nm_msg_hello){.magic = NULL};
	if (nm_u32_unpack(json_object_get(body, "protocol"), INT32_MAX, &ret->protocol) ||
	    nm_text_unpack(json_object_get(body, "version"), NM_WIRE_MAX_NAME, &ret->version) ||
	    nm_text_unpack(json_object_get(body, "hostname"), NM_WIRE_MAX_NAME, &ret->hostname))
		return -EPROTO;
	return 0;
}

json_t *nm_refuse_pack(const char *code, const char *text)
{
	return json_pack("{s:s,s:o}", "code", code, "text", nm_text_pack(text));
}

int nm_refuse_unpack(json_t *body, const char **ret_code, const char **ret_text)
{
	if (nm_text_unpack(json_object_get(body, "code"), NM_WIRE_MAX_NAME, ret_code) ||
	    nm_text_unpack(json_object_get(body, "text"), NM_WIRE_MAX_TEXT, ret_text))
		return -EPROTO;
	return 0;
}

uint64_t nm_run_cookie(const char *run_id)
{
	char half[17];

	(void)snprintf(half, sizeof half, "%.16s", run_id);
	return strtoull(half, NULL, 16);
}

json_t *nm_prepare_pack(const struct nm_msg_prepare *prepare)
{
	char secret[2 * NM_SECRET_BYTES + 1];

	for (size_t i = 0; i < NM_SECRET_BYTES; i++)
		(void)snprintf(secret + 2 * i, 3, "%02x", prepare->secret[i]);
	return json_pack(
		"{s:s,s:o,s:s,s:o,s:s?,s:s?,s:I,s:b,s:I,s:I,s:I,s:s}", "run_id", prepare->run_id,
		"host", nm_text_pack(prepare->host), "profile", prepare->profile, "file",
		nm_text_pack(prepare->file), "cpus", prepare->cpus, "counters", prepare->counters,
		"details", (json_int_t)prepare->details, "lenient", prepare->lenient, "interval_ns",
		(json_int_t)prepare->interval_ns, "timeout_ns", (json_int_t)prepare->timeout_ns,
		"seed", (json_int_t)prepare->seed, "secret", secret);
}

static int unpack_secret(const json_t *value, unsigned char ret[NM_SECRET_BYTES])
{
	const char *text;

	if (nm_text_unpack(value, 2 * NM_SECRET_BYTES, &text) ||
	    strspn(text, "0123456789abcdef") != 2 * NM_SECRET_BYTES)
		return -EPROTO;
	for (size_t i = 0; i < NM_SECRET_BYTES; i++) {
		const char digits[3] = {text[2 * i], text[2 * i + 1]};

		ret[i] = (unsigned char)strtoul(digits, NULL, 16);
	}
	return 0;
}

int nm_prepare_unpack(json_t *body, struct nm_msg_prepare *ret)
{
	json_t *id, *host, *profile, *file, *cpus, *counters, *details, *interval, *timeout, *seed;
	json_t *secret;
	int lenient;

	*ret = (struct nm_msg_prepare){.run_id = NULL};
	if (json_unpack_ex(
		    body, NULL, JSON_STRICT, "{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o}",
		    "run_id", &id, "host", &host, "profile", &profile, "file", &file, "cpus", &cpus,
		    "counters", &counters, "details", &details, "lenient", &lenient, "interval_ns",
		    &interval, "timeout_ns", &timeout, "seed", &seed, "secret", &secret) < 0)
		return -EPROTO;
	ret->lenient = lenient;
	if (nm_text_unpack(id, NM_WIRE_MAX_NAME, &ret->run_id) ||
	    nm_text_unpack(host, NM_WIRE_MAX_NAME, &ret->host) ||
	    nm_text_unpack(profile, NM_PROFILE_MAX_BYTES, &ret->profile) ||
	    nm_text_unpack(file, NM_WIRE_MAX_TEXT, &ret->file) ||
	    nm_u32_unpack(details, NM_DETAIL_ALL, &ret->details) ||
	    nm_u64_unpack(interval, INT64_MAX / 4, &ret->interval_ns) ||
	    nm_u64_unpack(timeout, INT64_MAX / 4, &ret->timeout_ns) || ret->timeout_ns == 0 ||
	    nm_u64_unpack(seed, INT64_MAX, &ret->seed) || unpack_secret(secret, ret->secret))
		return -EPROTO;
	if (!json_is_null(counters) &&
	    (nm_text_unpack(counters, NM_WIRE_MAX_TEXT, &ret->counters) ||
	     nm_perf_check_form(ret->counters)))
		return -EPROTO;
	return json_is_null(cpus) ? 0 : nm_text_unpack(cpus, NM_WIRE_MAX_TEXT, &ret->cpus);
}

/* Which host is at the other end of an opening, and how it is opened; NULL when there is no such
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

/* The texts of all workers of one listener, or NULL. */
static json_t *pack_listener(const struct nm_engine *engine, uint32_t group, uint32_t opening,
			     uint32_t n_workers)
{
	json_t *texts = json_array();

	for (uint32_t w = 0; texts && w < n_workers; w++) {
		const char *text = nm_engine_listener(engine, group, opening, w);

		if (!text || json_array_append_new(texts, nm_text_pack(text)) < 0) {
			json_decref(texts);
			return NULL;
		}
	}
	return json_pack("[I,I,o]", (json_int_t)group, (json_int_t)opening, texts);
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
	uint32_t g, o;

	if (!json_is_array(item) || json_array_size(item) != 3 || plan->n_groups == 0 ||
	    nm_u32_unpack(json_array_get(item, 0), plan->n_groups - 1, &g) ||
	    nm_u32_unpack(json_array_get(item, 1), UINT32_MAX, &o))
		return -EPROTO;
	const struct nm_group *group = &plan->groups[g];
	const struct nm_instr *instr = o < group->n_openings ? find_opening(group, o) : NULL;
	json_t *texts = json_array_get(item, 2);

	/* A peer speaks for itself alone. */
	if (!group->runs || !instr || instr->host != host || !json_is_array(texts) ||
	    json_array_size(texts) != group->n_workers)
		return -EPROTO;
	for (uint32_t w = 0; w < group->n_workers; w++) {
		const char *text;

		if (nm_text_unpack(json_array_get(texts, w), NM_ENDPOINT_TEXT - 1, &text) ||
		    nm_engine_set_endpoint(engine, g, o, w, text))
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

static json_t *pack_facts(const struct nm_host_facts *facts)
{
	json_t *body = json_pack("{s:I,s:I,s:I}", "cpus", (json_int_t)facts->n_cpus, "memory_bytes",
				 (json_int_t)facts->memory_bytes, "cpu_latency_limit_us",
				 (json_int_t)facts->cpu_latency_limit_us);

	for (const struct nm_host_text *text = nm_host_texts; text->name; text++)
		(void)json_object_set_new(body, text->name,
					  nm_text_pack(nm_host_text(facts, text)));
	return body;
}

static int unpack_facts(json_t *body, struct nm_host_facts *ret)
{
	size_t n_texts = 0;
	json_t *cpus, *memory, *limit;
	uint32_t n_cpus;

	if (json_unpack_ex(body, NULL, 0, "{s:o,s:o,s:o}", "cpus", &cpus, "memory_bytes", &memory,
			   "cpu_latency_limit_us", &limit) < 0 ||
	    !json_is_integer(limit) || json_integer_value(limit) < -1)
		return -EPROTO;
	ret->cpu_latency_limit_us = json_integer_value(limit);
	for (const struct nm_host_text *text = nm_host_texts; text->name; text++, n_texts++)
		if (nm_text_copy(json_object_get(body, text->name), (char *)ret + text->offset,
				 text->size))
			return -EPROTO;
	if (json_object_size(body) != n_texts + 3 || nm_u32_unpack(cpus, INT32_MAX, &n_cpus) ||
	    nm_u64_unpack(memory, INT64_MAX, &ret->memory_bytes))
		return -EPROTO;
	ret->n_cpus = n_cpus;
	return 0;
}

json_t *nm_ready_pack(json_t *endpoints, const char *source, const struct nm_host_facts *facts)
{
	return json_pack("{s:o,s:s?,s:o}", "endpoints", endpoints, "source", source, "facts",
			 pack_facts(facts));
}

int nm_ready_unpack(json_t *body, json_t **ret_endpoints, const char **ret_source,
		    struct nm_host_facts *ret_facts)
{
	json_t *source, *facts;

	*ret_source = NULL;
	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:o,s:o}", "endpoints", ret_endpoints,
			   "source", &source, "facts", &facts) < 0)
		return -EPROTO;
	if (!json_is_null(source) && nm_text_unpack(source, NM_WIRE_MAX_TEXT, ret_source))
		return -EPROTO;
	return unpack_facts(facts, ret_facts);
}

json_t *nm_connect_pack(json_t *endpoints)
{
	return json_pack("{s:o}", "endpoints", endpoints);
}

int nm_connect_unpack(json_t *body, json_t **ret_endpoints)
{
	return json_unpack_ex(body, NULL, JSON_STRICT, "{s:o}", "endpoints", ret_endpoints) < 0
		       ? -EPROTO
		       : 0;
}

json_t *nm_ping_pack(uint64_t sent_ns)
{
	return json_pack("{s:I}", "t", (json_int_t)sent_ns);
}

int nm_ping_unpack(json_t *body, uint64_t *ret_sent_ns)
{
	json_t *sent;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o}", "t", &sent) < 0)
		return -EPROTO;
	return nm_u64_unpack(sent, INT64_MAX, ret_sent_ns);
}

json_t *nm_pong_pack(uint64_t sent_ns, uint64_t now_ns)
{
	return json_pack("{s:I,s:I}", "t", (json_int_t)sent_ns, "now", (json_int_t)now_ns);
}

int nm_pong_unpack(json_t *body, uint64_t *ret_sent_ns, uint64_t *ret_now_ns)
{
	json_t *sent, *now;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:o}", "t", &sent, "now", &now) < 0 ||
	    nm_u64_unpack(sent, INT64_MAX, ret_sent_ns) ||
	    nm_u64_unpack(now, INT64_MAX, ret_now_ns))
		return -EPROTO;
	return 0;
}
