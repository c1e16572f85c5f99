/* SPDX-License-Identifier: Apache-2.0 */
/* Strangers that have come to a port of the run, and were none of its hosts: how many, and the
 * last. Any thread or process of the engine notes them. */
#ifndef NM_TRANSPORT_STRANGERS_H
#define NM_TRANSPORT_STRANGERS_H

#include <stdatomic.h>
#include <stdint.h>

#include "transport/conn.h"

/* All zero: nobody has come. In memory that processes share. */
struct nm_strangers {
	_Atomic uint64_t count;
	atomic_flag busy; /* somebody writes or reads the last one */
	struct nm_addr last;
};

/* Notes one more, from that address; strangers NULL: does nothing. */
void nm_strangers_note(struct nm_strangers *strangers, const struct nm_addr *from);
/* How many have come; *ret_last is the last one that did not come at the moment of another. */
uint64_t nm_strangers_read(struct nm_strangers *strangers, struct nm_addr *ret_last);

#endif
