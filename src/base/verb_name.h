/* SPDX-License-Identifier: Apache-2.0 */
/* How long the name of a verb may be: of what requests are told apart by in results. */
#ifndef NM_BASE_VERB_NAME_H
#define NM_BASE_VERB_NAME_H

#define NM_VERB_NAME 64 /* bytes, with its end */

#endif
