/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a request that asks for several. */
#include "app/batch.h"

uint64_t nm_batch_key(const struct nm_app_request *request, uint32_t i)
{
	const struct nm_keyspace *keyspace = request->keyspace;

	return keyspace->law == NM_KEYS_SEQUENTIAL ? nm_keyspace_turn(keyspace, request->key + i)
						   : nm_keyspace_draw(keyspace, request->key, i);
}

char *nm_batch_put_value(const struct nm_app_request *request, uint64_t key, char *at)
{
	nm_pool_copy(request->pool->bytes, nm_pool_at(key), at, (size_t)request->size);
	return at + request->size;
}

static bool is_answered(const struct nm_batch *batch, uint32_t i)
{
	return batch->answered[i / 64] >> i % 64 & 1;
}

/* Before a value is taken: what the answer before has left does not count. */
static struct nm_batch *batch_of(const struct nm_app_parser *parser,
				 const struct nm_app_request *request)
{
	struct nm_batch *batch = request->batch;

	if (nm_batch_hits(parser->check) == 0) {
		batch->next = 0;
		memset(batch->answered, 0, sizeof batch->answered);
	}
	return batch;
}

static bool take(struct nm_app_parser *parser, struct nm_batch *batch, uint32_t i)
{
	if (i >= batch->count || is_answered(batch, i) ||
	    nm_batch_hits(parser->check) + nm_batch_refused(parser->check) == batch->count)
		return false;
	batch->answered[i / 64] |= UINT64_C(1) << i % 64;
	batch->next = i + 1;
	parser->check += NM_BATCH_HIT;
	return true;
}

bool nm_batch_take(struct nm_app_parser *parser, const struct nm_app_request *request,
		   const char *key, size_t n, uint64_t *ret_at)
{
	const uint64_t number = nm_keyspace_number(request->keyspace, key, n);
	struct nm_batch *batch = batch_of(parser, request);

	for (uint32_t k = 0; number != UINT64_MAX && k < batch->count; k++) {
		const uint32_t i = (batch->next + k) % batch->count;

		if (is_answered(batch, i) || nm_batch_key(request, i) != number)
			continue;
		*ret_at = nm_pool_at(number);
		return take(parser, batch, i);
	}
	return false;
}

bool nm_batch_take_number(struct nm_app_parser *parser, const struct nm_app_request *request,
			  uint32_t number, uint64_t *ret_at)
{
	const uint32_t i = number - nm_batch_number(request, 0);

	if (!take(parser, batch_of(parser, request), i))
		return false;
	*ret_at = nm_pool_at(nm_batch_key(request, i));
	return true;
}

enum nm_parsed nm_batch_refuse(struct nm_app_parser *parser, const struct nm_app_request *request,
			       uint8_t before)
{
	if (nm_batch_hits(parser->check) + nm_batch_refused(parser->check) == request->batch->count)
		return NM_PARSED_BAD;
	if (nm_batch_refused(parser->check) > 0 && parser->answer != before)
		parser->answer = NM_ANSWER_OTHER;
	parser->check += NM_BATCH_REFUSED;
	return NM_PARSED_MORE;
}
