/* SPDX-License-Identifier: Apache-2.0 */
/* Application protocols: what comes from a server, and from a client, in pieces. However it is cut,
 * as much is taken of it and it is found to be the same; and no answer has more bytes than it has
 * room for. The first byte says which protocol, the second how long the payload of its request is,
 * the third how it is cut. The answer to the request itself may be put before the rest. */
#include <string.h>

#include "app/app.h"
#include "fuzz.h"

#define MAX_SIZE  255u
#define OUT_BYTES (MAX_SIZE + 32u)

static const struct nm_app *app_of(uint8_t byte)
{
	size_t n = 0;

	while (nm_apps[n])
		n++;
	return nm_apps[byte % n];
}

static enum nm_parsed parse(const struct nm_app *app, const struct nm_app_request *request,
			    const uint8_t *data, size_t size, size_t piece, size_t *ret_taken)
{
	struct nm_app_parser parser = {.at = 0};
	enum nm_parsed parsed = NM_PARSED_MORE;
	size_t at = 0;

	while (parsed == NM_PARSED_MORE && at < size) {
		size_t n = piece < size - at ? piece : size - at, taken = 0;

		parsed = app->parse(&parser, request, (const char *)data + at, n, &taken);
		demand(taken <= n && (parsed != NM_PARSED_MORE || taken == n));
		at += taken;
	}
	*ret_taken = at;
	return parsed;
}

static void check_answer(const struct nm_app *app, const struct nm_app_request *request,
			 const uint8_t *data, size_t size, size_t piece)
{
	size_t whole_taken, taken;
	enum nm_parsed whole = parse(app, request, data, size, size, &whole_taken);
	enum nm_parsed cut = parse(app, request, data, size, piece, &taken);

	demand(cut == whole && (whole != NM_PARSED_DONE || taken == whole_taken));
}

static enum nm_took take(const struct nm_app *app, const uint8_t *data, size_t size, size_t piece,
			 char *out, size_t *ret_n)
{
	struct nm_app_served served = {.out = out, .room = OUT_BYTES};
	enum nm_took took = NM_TOOK_MORE;

	for (size_t at = 0; took == NM_TOOK_MORE && at < size;) {
		size_t n = piece < size - at ? piece : size - at, taken = 0;

		took = app->take(&served, (const char *)data + at, n, &taken);
		demand(taken <= n && (took != NM_TOOK_MORE || taken == n));
		at += taken;
	}
	*ret_n = took == NM_TOOK_REQUEST ? served.n_out : 0;
	demand(*ret_n <= OUT_BYTES);
	return took;
}

static void check_request(const struct nm_app *app, const uint8_t *data, size_t size, size_t piece)
{
	char out[OUT_BYTES], again[OUT_BYTES];
	size_t n, n_again;
	enum nm_took whole = take(app, data, size, size, out, &n);

	demand(take(app, data, size, piece, again, &n_again) == whole && n_again == n &&
	       memcmp(out, again, n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char sent[OUT_BYTES];

	if (size < 4)
		return 0;
	const struct nm_app *app = app_of(data[0]);
	struct nm_app_request request = {.verb = (enum nm_verb)__builtin_ctzll(app->verbs),
					 .size = data[1],
					 .seed = data[0]};
	size_t piece = data[2] % 32u + 1u;

	demand(app->encode(&request, sent) <= OUT_BYTES);
	check_answer(app, &request, data + 3, size - 3, piece);
	check_request(app, data + 3, size - 3, piece);
	return 0;
}

/* Some begin with the answer that they should have. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	char sent[OUT_BYTES], answer[OUT_BYTES];
	struct nm_app_served served = {.out = answer, .room = sizeof answer};
	size_t taken;

	if (size < 4 || pick(&seed, 4) != 0)
		return LLVMFuzzerMutate(data, size, max_size);
	const struct nm_app *app = app_of(data[0]);
	struct nm_app_request request = {.verb = (enum nm_verb)__builtin_ctzll(app->verbs),
					 .size = data[1],
					 .seed = data[0]};
	size_t n = app->encode(&request, sent);

	demand(app->take(&served, sent, n, &taken) == NM_TOOK_REQUEST && taken == n);
	if (3 + served.n_out > max_size)
		return LLVMFuzzerMutate(data, size, max_size);
	memcpy(data + 3, served.out, served.n_out);
	return 3 + served.n_out > size ? 3 + served.n_out : size;
}
