/* SPDX-License-Identifier: Apache-2.0 */
/* A peer that says what the fuzzer says, to a session that believes to have a network and a
 * clock. */
#ifndef NM_TESTS_FUZZ_TALK_H
#define NM_TESTS_FUZZ_TALK_H

#include <stddef.h>
#include <stdint.h>

/* Begins a talk: a line is said each time the session waits, as a frame. "wait NS" lets so much
 * time pass instead, and a pong whose t is -7 answers the last ping. After the last line the peer
 * says that it will say no more. NETMODEL_FUZZ_SHOW in the environment: both sides are shown. The
 * end of the session, which owns it. */
int talk_begin(const uint8_t *data, size_t size);
/* Closes the peer. */
void talk_end(void);

struct fuzz_line;
/* What the peer says in a whole session; the changes that talk.c makes to an input begin with it.
 * Valid to the end of the program. */
const uint8_t *talk_whole(const struct fuzz_line *lines, size_t *ret_size);

#endif
