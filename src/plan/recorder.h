/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recorded requests, line by line: a table whose columns have names in its first line, or the
 * seven columns of the public cache traces: time, key, key length, value length, client, verb,
 * ttl. */
#ifndef NM_PLAN_RECORDER_H
#define NM_PLAN_RECORDER_H

#include "app/app.h"
#include "app/recording.h"

/* The most requests, and the most bytes of all their keys together. */
#define NM_RECORDS_MAX	     100000000u
#define NM_RECORDED_KEYS_MAX UINT32_MAX

/* What a column has; the time is the first one. */
enum nm_column { NM_COLUMN_VERB, NM_COLUMN_KEY, NM_COLUMN_SIZE, NM_COLUMN_TTL, NM_COLUMN__COUNT };
#define NM_COLUMNS_MAX 32u

struct nm_recorder {
	/* Which member of a mix makes requests of the verb, + 1; 0: none. */
	uint32_t members[NM_VERB__COUNT];
	char separator;			   /* '\0': not known yet; ' ': blanks */
	unsigned column[NM_COLUMN__COUNT]; /* from 1 on; 0: there is none */
	/* of what has been recorded; owned */
	struct nm_record *list;
	char *texts;
	struct nm_recorded_key *key_list;
	uint32_t *hashed; /* keys + 1, by the hash of their texts */
	size_t count, list_room, used, texts_room, n_keys, keys_room, hashed_room;
	uint32_t longest; /* key */
	/* Lines whose verb no member has: how many, and of the first its number and verb. */
	uint64_t n_unsent;
	unsigned unsent_line;
	char unsent_verb[24];
};

/* Whether requests of the verb can be recorded. */
bool nm_recorder_knows(enum nm_verb verb);
/* Reads the names of the columns: 0, or -EINVAL with a phrase in why. */
int nm_recorder_name(struct nm_recorder *recorder, const char *line, char *why, size_t why_size);
/* Records the line with the number, which is not empty: 1; 0: no member has its verb; -ENOMEM; or
 * -EINVAL with a phrase in why. */
int nm_recorder_add(struct nm_recorder *recorder, const char *line, unsigned number, char *why,
		    size_t why_size);
/* What has been recorded, with at least one request; it must stay where it is. The memory of it is
 * moved there: `list`, `texts` and `key_list`, to be freed. */
void nm_recorder_end(struct nm_recorder *recorder, struct nm_recording *ret);
void nm_recorder_fini(struct nm_recorder *recorder);

#endif
