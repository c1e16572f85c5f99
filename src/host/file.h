/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a profile names: certificates, keys and authorities. The author of a profile may have
 * no right to read them, or may name a file whose open or read waits, such as a FIFO. */
#ifndef NM_HOST_FILE_H
#define NM_HOST_FILE_H

#include <stddef.h>

#define NM_FILE_MAX (16u << 20) /* bytes */

/* The folder below which files may be opened for somebody else. */
struct nm_file_root {
	int fd;		  /* of the folder; -1: there is none, and no file may be opened */
	const char *path; /* the folder as its owner names it, in messages; borrowed */
};

/* The contents of a file. */
struct nm_file {
	char *data; /* owned; ends with a NUL behind the last byte */
	size_t size;
};

/* Opens the folder. path NULL: none, with which every file is refused. 0, or -errno. */
int nm_file_root_open(struct nm_file_root *ret_root, const char *path);
void nm_file_root_close(struct nm_file_root *root);

/* Reads a regular file of at most NM_FILE_MAX bytes whole, and never waits for more of it. root
 * NULL: any file that this process may read, symbolic links included. Otherwise only what lies
 * below root: the path is relative to it or begins with it, and no part of it is a symbolic link or
 * "..". 0 with *ret_file, for nm_file_fini, or -errno with a phrase in why. */
int nm_file_read(const struct nm_file_root *root, const char *path, struct nm_file *ret_file,
		 char *why, size_t why_size);
/* Wipes and frees the contents. */
void nm_file_fini(struct nm_file *file);

#endif
