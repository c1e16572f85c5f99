/* SPDX-License-Identifier: Apache-2.0 */
/* Laws whose points are in files of the master. */
#ifndef NM_LIB_CDF_FILES_H
#define NM_LIB_CDF_FILES_H

struct nm_diags;
struct nm_node;

/* Puts the points of the files that options of the flowops name with cdf(FILE,UNIT) in the place of
 * the names, so that whoever has the profile has all that it takes to draw. What is wrong with a
 * file or its unit is an error in diags, and the option has a size in its place. `file` names the
 * profile in messages. */
void nm_cdf_files_put_in(struct nm_node *profile, const char *file, struct nm_diags *diags);

#endif
