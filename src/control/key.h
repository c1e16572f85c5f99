/* SPDX-License-Identifier: Apache-2.0 */
/* The key that master and slave of a control connection share, which proves each to the other. */
#ifndef NM_CONTROL_KEY_H
#define NM_CONTROL_KEY_H

#include <stddef.h>

/* Characters of its text. An eavesdropper on a handshake may try keys at leisure, so a key is
 * random and not a word that people remember. */
#define NM_KEY_LEAST 32
#define NM_KEY_MOST  512
/* Room for the text of a key that netmodel makes: 128 random bits in hexadecimal digits. */
#define NM_KEY_TEXT 33
/* Bytes of the secret that is derived from the text. */
#define NM_KEY_BYTES 32

/* Only the secret that is derived from the text is kept, in memory that core dumps leave out. */
struct nm_key;

/* A key from its text; white space at both ends is not part of it. NULL with a phrase in why, which
 * never contains the text. */
struct nm_key *nm_key_new(const char *text, char *why, size_t why_size);
/* A key from the text of a file. The file must be a regular one that only its owner can read; the
 * file of another owner may be readable for its group, too. NULL with a phrase in why. */
struct nm_key *nm_key_read(const char *path, char *why, size_t why_size);
/* Forgets the key in this process, which cannot use the key any more; a process that was forked, or
 * has forked this one, keeps its own. Accepts NULL. */
void nm_key_wipe(struct nm_key *key);
/* Processes that are forked from now on get a key that has been wiped. Accepts NULL. */
void nm_key_keep_from_children(struct nm_key *key);
/* Wipes it and frees the memory. Accepts NULL; returns NULL. */
struct nm_key *nm_key_free(struct nm_key *key);
/* The secret, of NM_KEY_BYTES, borrowed; NULL when the key has been wiped. */
const unsigned char *nm_key_bytes(const struct nm_key *key);

/* The text of a new key. The caller wipes it. 0 or -errno. */
int nm_key_make(char ret_text[NM_KEY_TEXT]);
/* Makes a new key and the file for it, which must not exist yet. 0, or -errno with a phrase in
 * why. */
int nm_key_make_file(const char *path, char *why, size_t why_size);

#endif
