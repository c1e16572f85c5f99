/* SPDX-License-Identifier: Apache-2.0 */
/* The preamble of a data connection, as a stream in pieces and as a datagram: what is taken is what
 * was packed, however it was cut, and it is proved only if its proof is what the token makes of it.
 * The first byte says how it is cut. */
#include <string.h>

#include "fuzz.h"
#include "transport/preamble.h"
#include "transport/prover.h"

static struct nm_prover *prover;
static const unsigned char nonce[NM_NONCE_BYTES] = {1, 2, 3};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const unsigned char secret[NM_SECRET_BYTES] = {4, 5, 6};

	(void)argc, (void)argv;
	prover = nm_prover_new(secret);
	demand(prover != NULL);
	return 0;
}

static void check_reply(const struct nm_preamble *preamble, enum nm_preamble_kind kind,
			const uint8_t *data, int proved)
{
	struct nm_preamble_sender sender = {.serial = preamble->serial};
	uint32_t port;
	enum nm_preamble_reply reply = nm_preamble_read_reply(
		&sender, preamble, data, NM_PREAMBLE_BYTES, prover, nonce, &port);

	if (reply == NM_PREAMBLE_ANSWERED)
		demand(kind == NM_PREAMBLE_ANSWER && proved && port == preamble->port);
	if (reply == NM_PREAMBLE_CHALLENGED)
		demand(kind == NM_PREAMBLE_CHALLENGE && proved);
}

static void check_whole(const uint8_t *data, size_t size)
{
	struct nm_preamble preamble;
	char again[NM_PREAMBLE_BYTES], wire[NM_PREAMBLE_BYTES];
	enum nm_preamble_kind kind = nm_preamble_unpack(data, size, &preamble);

	if (kind == NM_PREAMBLE_NONE)
		return;
	demand(size == sizeof again);
	memcpy(wire, data, size);
	nm_preamble_pack(&preamble, kind, prover, nonce, again);
	demand(memcmp(again, data, size - NM_PROOF_BYTES) == 0);
	int proved = nm_preamble_is_proved(wire, prover, nonce);

	demand(proved == (memcmp(again, wire, size) == 0));
	check_reply(&preamble, kind, data, proved);
	/* Whatever cookie it has, that was none of ours. */
	struct nm_preamble hello = preamble;

	demand(!nm_preamble_is_returned(&hello, prover, "address", 7) &&
	       nm_preamble_is_returned(&hello, prover, "address", 7) &&
	       !nm_preamble_is_returned(&hello, prover, "another", 7));
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
		       whole.flow == preamble.flow && whole.serial == preamble.serial);
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

/* Some of them get the proof that they should have. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct nm_preamble preamble;
	enum nm_preamble_kind kind;
	char wire[NM_PREAMBLE_BYTES];

	if (size == sizeof wire + 1 && pick(&seed, 4) == 0 &&
	    (kind = nm_preamble_unpack(data + 1, sizeof wire, &preamble)) != NM_PREAMBLE_NONE) {
		nm_preamble_pack(&preamble, kind, prover, nonce, wire);
		memcpy(data + 1, wire, sizeof wire);
		return size;
	}
	return LLVMFuzzerMutate(data, size, max_size);
}
