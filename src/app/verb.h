/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs: what a request may ask for, in any protocol. */
#ifndef NM_APP_VERB_H
#define NM_APP_VERB_H

#include <stdbool.h>
#include <stdint.h>

/* What a request asks for; each is a flowop. */
enum nm_verb {
	NM_VERB_NONE,
	NM_VERB_PING,
	NM_VERB_ECHO,
	NM_VERB_GET,
	NM_VERB_SET,
	NM_VERB_DELETE,
	NM_VERB_HTTP,
	NM_VERB_QUERY,
	NM_VERB_COMMAND,
	NM_VERB_ADD,
	NM_VERB_REPLACE,
	NM_VERB_APPEND,
	NM_VERB_PREPEND,
	NM_VERB_INCR,
	NM_VERB_DECR,
	NM_VERB_TOUCH,
	NM_VERB_GAT,
	NM_VERB_CAS,
	NM_VERB__COUNT
};

#define NM_VERB_BIT(verb) (UINT64_C(1) << (verb))

/* Those whose answer says whether it could be done, as the key was there, or was not. */
#define NM_VERBS_CONDITIONAL                                                                       \
	(NM_VERB_BIT(NM_VERB_ADD) | NM_VERB_BIT(NM_VERB_REPLACE) | NM_VERB_BIT(NM_VERB_APPEND) |   \
	 NM_VERB_BIT(NM_VERB_PREPEND) | NM_VERB_BIT(NM_VERB_INCR) | NM_VERB_BIT(NM_VERB_DECR) |    \
	 NM_VERB_BIT(NM_VERB_TOUCH) | NM_VERB_BIT(NM_VERB_CAS))
/* Those that are answered with the value of a key. */
#define NM_VERBS_READING (NM_VERB_BIT(NM_VERB_GET) | NM_VERB_BIT(NM_VERB_GAT))
/* And all whose answer is a hit or a miss. */
#define NM_VERBS_LOOKING_UP                                                                        \
	(NM_VERBS_READING | NM_VERB_BIT(NM_VERB_DELETE) | NM_VERB_BIT(NM_VERB_QUERY) |             \
	 NM_VERBS_CONDITIONAL)
/* All that have a key. */
#define NM_VERBS_KEYED                                                                             \
	(NM_VERBS_READING | NM_VERB_BIT(NM_VERB_SET) | NM_VERB_BIT(NM_VERB_DELETE) |               \
	 NM_VERBS_CONDITIONAL)

/* Those that take away what a server has, or say when it goes. */
#define NM_VERBS_DESTRUCTIVE                                                                       \
	(NM_VERB_BIT(NM_VERB_DELETE) | NM_VERB_BIT(NM_VERB_TOUCH) | NM_VERB_BIT(NM_VERB_GAT))

/* What its flowop is called. */
const char *nm_verb_name(enum nm_verb verb);
/* Whether requests of that verb have a key. */
static inline bool nm_verb_has_key(enum nm_verb verb)
{
	return NM_VERBS_KEYED >> verb & 1;
}
/* Whether what is asked for is there, or not: the answer is a hit or a miss. */
static inline bool nm_verb_looks_up(enum nm_verb verb)
{
	return NM_VERBS_LOOKING_UP >> verb & 1;
}

#endif
