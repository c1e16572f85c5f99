/* SPDX-License-Identifier: Apache-2.0 */
/* Takes values as they come. */
#include "app/value.h"

#include <string.h>

void nm_value_begin(struct nm_app_parser *parser, uint64_t at, uint64_t bytes)
{
	parser->left = bytes;
	parser->at = at;
	parser->ending = 0;
}

/* False: the value is not the one that was stored. */
static bool take_bytes(struct nm_app_parser *parser, const struct nm_app_request *request,
		       const char *data, size_t n)
{
	bool same = !request->verify || nm_pool_equals(request->pool->bytes, parser->at, data, n);

	parser->at += n;
	parser->left -= n;
	return same;
}

enum nm_parsed nm_value_take(struct nm_app_parser *parser, const struct nm_app_request *request,
			     const char *data, size_t n, size_t *ret_taken)
{
	size_t some = n < parser->left ? n : (size_t)parser->left;

	*ret_taken = some;
	if (some && !take_bytes(parser, request, data, some))
		return NM_PARSED_BAD;
	n -= some;
	if (parser->left || (!n && parser->ending < 2))
		return NM_PARSED_MORE;
	size_t end = n < 2u - parser->ending ? n : 2u - parser->ending;

	if (memcmp(data + some, &"\r\n"[parser->ending], end) != 0)
		return NM_PARSED_BAD;
	parser->ending += (uint8_t)end;
	*ret_taken += end;
	return parser->ending == 2 ? NM_PARSED_DONE : NM_PARSED_MORE;
}

void nm_value_reserve(struct nm_app_served *served, const struct nm_app_service *service,
		      const char *key, size_t length, uint32_t flags, uint64_t bytes)
{
	nm_value_skip(served, bytes);
	if (bytes <= NM_VALUE_MAX)
		served->place = nm_store_reserve(service->store, key, length, flags, bytes);
	served->key_length = (uint8_t)length;
}

void nm_value_skip(struct nm_app_served *served, uint64_t bytes)
{
	served->place = 0;
	served->at = 0;
	served->left = bytes;
}

size_t nm_value_write(struct nm_app_served *served, const struct nm_app_service *service,
		      const char *data, size_t n)
{
	size_t some = n < served->left ? n : (size_t)served->left;

	if (served->place && !nm_store_write(service->store, served->place, served->key_length,
					     served->at, data, some))
		served->place = 0;
	served->at += some;
	served->left -= some;
	return some;
}

bool nm_value_publish(const struct nm_app_served *served, const struct nm_app_service *service)
{
	return served->place && nm_store_publish(service->store, served->place, served->key_length);
}

void nm_value_put(struct nm_app_served *served, const struct nm_stored *stored)
{
	nm_rope_add_body(&served->out, &(struct nm_rope_body){.data = stored->data,
							      .wrap = stored->size + 1,
							      .bytes = stored->size,
							      .place = stored->place});
}
