/* SPDX-License-Identifier: Apache-2.0 */
/* Lets OpenSSL read and write a socket, without receives that would find nothing. */
#include <errno.h>
#include <sys/socket.h>

#include <openssl/bio.h>

#include "host/syscalls.h"
#include "transport/ssl_priv.h"

/* Whether SSL is to be called again: also during a connect, and after a signal. */
static bool is_again(ssize_t r)
{
	return r == -EAGAIN || r == -EINTR || r == -ENOTCONN;
}

static int bio_write(BIO *bio, const char *data, size_t size, size_t *ret_written)
{
	const struct nm_ssl_io *io = BIO_get_data(bio);
	ssize_t n = nm_sys_send(io->fd, data, size, MSG_NOSIGNAL);

	BIO_clear_retry_flags(bio);
	if (n >= 0) {
		*ret_written = (size_t)n;
		return 1;
	}
	*ret_written = 0;
	if (is_again(n))
		BIO_set_retry_write(bio);
	errno = (int)-n;
	return 0;
}

static int bio_read(BIO *bio, char *data, size_t size, size_t *ret_read)
{
	struct nm_ssl_io *io = BIO_get_data(bio);
	ssize_t n = io->dry ? -EAGAIN : nm_sys_recv(io->fd, data, size, 0);

	BIO_clear_retry_flags(bio);
	io->dry = n < (ssize_t)size;
	if (n > 0) {
		*ret_read = (size_t)n;
		return 1;
	}
	*ret_read = 0;
	io->eof = n == 0;
	if (is_again(n))
		BIO_set_retry_read(bio);
	errno = n < 0 ? (int)-n : 0;
	return 0;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
	const struct nm_ssl_io *io = BIO_get_data(bio);

	(void)number;
	(void)pointer;
	switch (command) {
	case BIO_CTRL_FLUSH:
	case BIO_CTRL_DUP:
		return 1;
	case BIO_CTRL_EOF:
		return io->eof;
	default:
		return 0;
	}
}

static int bio_create(BIO *bio)
{
	BIO_set_init(bio, 1);
	return 1;
}

BIO_METHOD *nm_ssl_bio_new(void)
{
	BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "netmodel socket");

	if (!method)
		return NULL;
	if (BIO_meth_set_create(method, bio_create) && BIO_meth_set_write_ex(method, bio_write) &&
	    BIO_meth_set_read_ex(method, bio_read) && BIO_meth_set_ctrl(method, bio_ctrl))
		return method;
	BIO_meth_free(method);
	return NULL;
}
