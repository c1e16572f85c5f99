/* SPDX-License-Identifier: Apache-2.0 */
/* How far an answer has come. */
#ifndef NM_APP_PARSED_H
#define NM_APP_PARSED_H

enum nm_parsed {
	NM_PARSED_MORE, /* there is more to come */
	NM_PARSED_DONE, /* the answer is there: parser->class */
	NM_PARSED_BAD,	/* it is no answer to the request */
};

#endif
