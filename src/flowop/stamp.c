/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a message that may be lost: its numbers, the window of numbers that have come,
 * jitter. */
#include "flowop/stamp.h"

#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

struct wire {
	uint32_t number, seen;
	uint64_t sent_ns;
};

_Static_assert(sizeof(struct wire) == NM_STAMP_BYTES, "no padding");
_Static_assert(offsetof(struct wire, sent_ns) == NM_STAMP_NUMBERS, "the numbers come first");

bool nm_stamp_unpack(const char *data, size_t size, struct nm_stamp *ret)
{
	struct wire wire = {.sent_ns = 0};

	if (size < NM_STAMP_NUMBERS)
		return false;
	memcpy(&wire, data, size < sizeof wire ? NM_STAMP_NUMBERS : sizeof wire);
	*ret = (struct nm_stamp){.number = ntohl(wire.number),
				 .seen = ntohl(wire.seen),
				 .sent_ns = be64toh(wire.sent_ns)};
	return true;
}

void nm_stamp_pack(const struct nm_stamp *stamp, char *to, size_t size)
{
	const struct wire wire = {.number = htonl(stamp->number),
				  .seen = htonl(stamp->seen),
				  .sent_ns = htobe64(stamp->sent_ns)};

	if (size >= sizeof wire)
		memcpy(to, &wire, sizeof wire);
	else if (size >= NM_STAMP_NUMBERS)
		memcpy(to, &wire, NM_STAMP_NUMBERS);
}

/* The window holds which of the 64 numbers up to `seen` have come. */
bool nm_stamp_note_number(struct nm_conn_datagram *own, struct nm_counters *count, uint32_t number)
{
	if (nm_stamp_is_after(number, own->seen)) {
		uint32_t step = number - own->seen;

		if (step > 1)
			nm_counter_add(&count->skipped, step - 1);
		own->window = step < 64 ? own->window << step | 1 : 1;
		own->seen = number;
		return true;
	}
	uint32_t back = own->seen - number;

	if (back < 64 && (own->window >> back & 1)) {
		nm_counter_add(&count->duplicates, 1);
		return false;
	}
	if (back < 64)
		own->window |= UINT64_C(1) << back;
	nm_counter_add(&count->reordered, 1);
	return true;
}

/* With the rounding of RFC 3550, appendix A.8. The messages of one batch have one time and are one
 * sample. */
void nm_stamp_note_time(struct nm_conn_datagram *own, struct nm_counters *count, uint64_t sent_ns,
			uint64_t arrived_ns)
{
	uint64_t transit_ns = arrived_ns - sent_ns;
	uint64_t more_ns = transit_ns - own->transit_ns;
	uint64_t change_ns = more_ns > INT64_MAX ? -more_ns : more_ns;

	if (own->sent_ns) {
		own->jitter += change_ns - ((own->jitter + 8) >> 4);
		nm_counter_add(&count->jitters, 1);
		nm_counter_add(&count->jitter_ns, own->jitter >> 4);
	}
	own->sent_ns = sent_ns;
	own->transit_ns = transit_ns;
}
