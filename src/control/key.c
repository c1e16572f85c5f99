/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and makes the keys of control connections, and wipes the copies that are no longer
 * needed. */
#include "control/key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "control/wire/digest.h"

/* Hashed together with the text, so that another use of the text does not lead to the same
 * secret. */
static const char purpose[] = "netmodel control connection";

struct nm_key {
	bool known;
	unsigned char bytes[NM_KEY_BYTES];
};

/* A page for one key, which neither core dumps nor the swap device get (the latter as far as the
 * limit of locked memory allows). */
static struct nm_key *allocate(void)
{
	struct nm_key *key =
		mmap(NULL, sizeof *key, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (key == MAP_FAILED)
		return NULL;
	(void)madvise(key, sizeof *key, MADV_DONTDUMP);
	(void)mlock(key, sizeof *key);
	return key;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* 0, or -EINVAL with a phrase in why. */
static int check_text(const char *text, size_t size, char *why, size_t why_size)
{
	size_t at = 0;

	while (at < size && text[at] > ' ' && text[at] <= '~')
		at++;
	if (size == 0)
		(void)snprintf(why, why_size, "it is empty");
	else if (at < size)
		(void)snprintf(why, why_size,
			       "character %zu of it is no letter, digit or mark of ASCII", at + 1);
	else if (size < NM_KEY_LEAST || size > NM_KEY_MOST)
		(void)snprintf(why, why_size, "it has %zu characters, and must have %d to %d", size,
			       NM_KEY_LEAST, NM_KEY_MOST);
	else
		return 0;
	return -EINVAL;
}

static struct nm_key *from_text(const char *text, size_t size, char *why, size_t why_size)
{
	unsigned int length = 0;

	while (size && is_space(text[size - 1]))
		size--;
	while (size && is_space(*text)) {
		text++;
		size--;
	}
	if (check_text(text, size, why, why_size))
		return NULL;
	struct nm_key *key = allocate();

	if (key)
		key->known = HMAC(EVP_sha256(), purpose, (int)strlen(purpose),
				  (const unsigned char *)text, size, key->bytes, &length) &&
			     length == NM_KEY_BYTES;
	if (key && key->known)
		return key;
	(void)snprintf(why, why_size, "%s", key ? "it cannot be hashed" : strerror(ENOMEM));
	return nm_key_free(key);
}

struct nm_key *nm_key_new(const char *text, char *why, size_t why_size)
{
	return from_text(text, strlen(text), why, why_size);
}

/* Whether the file keeps a secret. */
static int check_file(const struct stat *file, char *why, size_t why_size)
{
	mode_t others = file->st_uid == geteuid() ? S_IRWXG | S_IRWXO : S_IRWXO;

	if (!S_ISREG(file->st_mode))
		(void)snprintf(why, why_size, "not a regular file");
	else if (file->st_mode & others)
		(void)snprintf(why, why_size,
			       "others than its owner can read or write it (mode %04o): make it "
			       "yours alone with chmod 600",
			       (unsigned)(file->st_mode & 07777));
	else
		return 0;
	return -EACCES;
}

/* The whole of it: its size, or -errno. */
static ssize_t read_all(int fd, char *to, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, to + used, size - used);

		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return -errno;
		used += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)used;
}

struct nm_key *nm_key_read(const char *path, char *why, size_t why_size)
{
	char text[NM_KEY_MOST + 64]; /* with some white space */
	struct nm_key *key = NULL;
	struct stat file;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || fstat(fd, &file) < 0) {
		(void)snprintf(why, why_size, "%s", strerror(errno));
	} else if (check_file(&file, why, why_size) == 0) {
		ssize_t size = read_all(fd, text, sizeof text);

		if (size < 0)
			(void)snprintf(why, why_size, "%s", strerror((int)-size));
		else
			key = from_text(text, (size_t)size, why, why_size);
		OPENSSL_cleanse(text, sizeof text);
	}
	if (fd >= 0)
		(void)close(fd);
	return key;
}

void nm_key_wipe(struct nm_key *key)
{
	if (!key)
		return;
	key->known = false;
	OPENSSL_cleanse(key->bytes, sizeof key->bytes);
}

void nm_key_keep_from_children(struct nm_key *key)
{
	if (key)
		(void)madvise(key, sizeof *key, MADV_WIPEONFORK);
}

struct nm_key *nm_key_free(struct nm_key *key)
{
	nm_key_wipe(key);
	if (key)
		(void)munmap(key, sizeof *key);
	return NULL;
}

const unsigned char *nm_key_bytes(const struct nm_key *key)
{
	return key->known ? key->bytes : NULL;
}

int nm_key_make(char ret_text[NM_KEY_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bits[(NM_KEY_TEXT - 1) / 2];
	int error = nm_random_bytes(bits, sizeof bits);

	if (error)
		return error;
	for (size_t i = 0; i < sizeof bits; i++) {
		ret_text[2 * i] = digits[bits[i] >> 4];
		ret_text[2 * i + 1] = digits[bits[i] & 15];
	}
	ret_text[NM_KEY_TEXT - 1] = '\0';
	OPENSSL_cleanse(bits, sizeof bits);
	return 0;
}

int nm_key_make_file(const char *path, char *why, size_t why_size)
{
	char text[NM_KEY_TEXT + 1];
	int error = nm_key_make(text);
	int fd = error ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (!error && fd < 0)
		error = -errno;
	if (!error) {
		text[NM_KEY_TEXT - 1] = '\n';
		ssize_t n = write(fd, text, NM_KEY_TEXT);

		error = n == NM_KEY_TEXT ? 0 : n < 0 ? -errno : -ENOSPC;
		if (fsync(fd) < 0 && !error && errno != EINVAL)
			error = -errno;
		if (error)
			(void)unlink(path);
	}
	if (fd >= 0 && close(fd) < 0 && !error)
		error = -errno;
	OPENSSL_cleanse(text, sizeof text);
	if (error)
		(void)snprintf(why, why_size, "%s",
			       error == -EEXIST ? "it exists already, and a key is not overwritten"
						: strerror(-error));
	return error;
}
