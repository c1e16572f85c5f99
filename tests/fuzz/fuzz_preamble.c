/* SPDX-License-Identifier: Apache-2.0 */
/* The preamble of a data connection, as a stream in pieces and as a datagram: what is taken is what
 * was packed, however it was cut. The first byte says how it is cut. */
#include <string.h>

#include "fuzz.h"
#include "transport/preamble.h"

static void check_whole(const uint8_t *data, size_t size)
{
	struct nm_preamble preamble;
	char again[NM_PREAMBLE_BYTES];
	enum nm_preamble_kind kind = nm_preamble_unpack(data, size, &preamble);

	if (kind == NM_PREAMBLE_NONE)
		return;
	nm_preamble_pack(&preamble, kind, again);
	demand(size == sizeof again && memcmp(again, data, sizeof again) == 0);
}

static void check_pieces(const uint8_t *data, size_t size, size_t piece)
{
	struct nm_preamble_parser parser = {.got = 0};
	struct nm_preamble preamble;
	enum nm_preamble_status status = NM_PREAMBLE_MORE;
	size_t at = 0;

	while (status == NM_PREAMBLE_MORE && at < size) {
		size_t room, n = size - at;
		char *to = nm_preamble_next(&parser, &room);

		demand(room > 0);
		n = n < room ? n : room;
		n = n < piece ? n : piece;
		memcpy(to, data + at, n);
		at += n;
		status = nm_preamble_parse(&parser, n, &preamble);
	}
	struct nm_preamble whole;

	if (status == NM_PREAMBLE_DONE)
		demand(at == NM_PREAMBLE_BYTES &&
		       nm_preamble_unpack(data, at, &whole) == NM_PREAMBLE_HELLO &&
		       whole.cookie == preamble.cookie && whole.serial == preamble.serial);
	demand(status != NM_PREAMBLE_MORE || size < NM_PREAMBLE_BYTES);
}

/* An accepting end that answers each new hello, and no other. */
static void check_verdicts(const uint8_t *data, size_t size)
{
	struct nm_preamble_known known = {.serial = 0};

	for (size_t at = 0; at + sizeof(uint32_t) <= size; at += sizeof(uint32_t)) {
		uint32_t serial;

		memcpy(&serial, data + at, sizeof serial);
		enum nm_preamble_verdict verdict = nm_preamble_judge(&known, serial);

		demand(serial || verdict == NM_PREAMBLE_OLD);
		demand((verdict == NM_PREAMBLE_REPEATED) == (serial && serial == known.serial));
		if (verdict == NM_PREAMBLE_NEW)
			known.serial = serial;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	check_whole(data + 1, size - 1);
	check_pieces(data + 1, size - 1, data[0] % NM_PREAMBLE_BYTES + 1u);
	check_verdicts(data + 1, size - 1);
	return 0;
}
