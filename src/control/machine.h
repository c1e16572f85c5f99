/* SPDX-License-Identifier: Apache-2.0 */
/* A name that tells a machine from others, and nobody the id that it is made of: machine-id(5) asks
 * for that. */
#ifndef NM_CONTROL_MACHINE_H
#define NM_CONTROL_MACHINE_H

#define NM_MACHINE_NAME 33

/* "" where the text is no id: some files say "uninitialized". */
void nm_machine_name(const char *machine_id, char ret_name[NM_MACHINE_NAME]);

#endif
