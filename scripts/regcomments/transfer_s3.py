"""An S3-compatible bucket as a set that only grows: a key is created once and never replaced.

    <prefix>/_ocr/<aa>/<name>           a file of the OCR store, its SHA-256 in the metadata
    <prefix>/_probe/if-none-match       shows that the store honours `If-None-Match: *`

Credentials, region and proxies come from the usual AWS environment or profile, nowhere else.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from regcomments.errors import UserError
from regcomments.layout import OCR_FOLDER
from regcomments.ocr.store import MAX_FILE, is_name

PROBE_KEY = "_probe/if-none-match"
CONNECT_SECONDS = 10
READ_SECONDS = 60
ATTEMPTS = 4  # of one request, with pauses of up to 20 s between them (botocore's standard mode)
RACES = 5  # tries after 409: another host is writing the same key at this moment
_CHUNK = 1 << 20  # bytes
DEFAULT_REGION = "us-east-1"  # what stores other than AWS expect when none is set

# Every further request would fail for the same reason.
_DENIED = {"AccessDenied", "AllAccessDisabled", "AccountProblem"}
_WRONG_KEY = {"InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken"}


class TransferError(UserError):
    """Nothing can be moved: the message says why and what to do."""


class ObjectError(Exception):
    """One object could not be read or written; others may."""


class DamagedError(ObjectError):
    """An object's bytes aren't those that its SHA-256 promises."""


@dataclass(frozen=True)
class Stored:
    """An object of the bucket: the store's file name, bytes, and ETag (often the MD5)."""

    name: str
    size: int
    etag: str


class Bucket:
    """The objects of one bucket below a prefix. May be used by several threads."""

    def __init__(
        self, bucket: str, prefix: str = "", endpoint: str | None = None, *, connections: int = 8
    ) -> None:
        """Connect to nothing yet. Raises TransferError for a URL or profile that can't serve."""
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._where = f"bucket {bucket}"
        _check_endpoint(endpoint)
        try:
            import boto3
            import botocore.config
        except ImportError as error:
            raise TransferError(
                "push and pull need the package boto3: install this project with the extra [s3]"
            ) from error
        with self._explained():
            session = boto3.Session()
            config = botocore.config.Config(
                connect_timeout=CONNECT_SECONDS,
                read_timeout=READ_SECONDS,
                retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
                max_pool_connections=connections,
                # The signature covers the SHA-256 of the body, so that a store refuses bytes
                # that were damaged on the way; other checksums aren't known everywhere.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                # Stores other than AWS rarely have a host name for each bucket.
                s3={"payload_signing_enabled": True, "addressing_style": "path"},
            )
            self._client = session.client(
                "s3",
                endpoint_url=endpoint,
                region_name=session.region_name or DEFAULT_REGION,
                config=config,
            )
        url = self._client.meta.endpoint_url  # may come from the environment or profile
        _check_endpoint(url)
        self._where += f" at {url}"

    def probe(self) -> None:
        """Show that the store keeps an object that is there. Raises TransferError when not.

        A store that ignores the condition would let one host replace what another has read.
        """
        with self._explained():
            try:
                ignored = self._put(PROBE_KEY, b"first\n") and self._put(PROBE_KEY, b"second\n")
                self.get_key(PROBE_KEY)
            except ObjectError as error:
                raise TransferError(
                    f"{self._where} doesn't know `If-None-Match: *` ({error}): without it one host "
                    "could replace what another has read. Use a store that has conditional writes"
                ) from error
        if ignored:
            raise TransferError(
                f"{self._where} ignores `If-None-Match: *`: a second write replaced the first, so "
                "one host could replace what another has read. Use a store that honours it"
            )

    def list(self) -> Iterator[Stored | str]:
        """Yield the objects in the order of their keys; a key that isn't ours as a string.

        A name that would leave the store's folder, or that is larger than any result, isn't ours.
        """
        base = f"{self._prefix}{OCR_FOLDER}/"
        with self._explained():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=base
            )
            for page in pages:
                for item in page.get("Contents", ()):
                    key, size = item["Key"], item["Size"]
                    folder, _, name = key.removeprefix(base).partition("/")
                    if is_name(name) and folder == name[:2] and size <= MAX_FILE:
                        yield Stored(name, size, item.get("ETag", "").strip('"'))
                    elif not key.endswith("/"):  # such keys are made by browsers of buckets
                        yield key

    def put_new(self, name: str, data: bytes) -> bool:
        """Create the object of a store's file; False when there is one, which stays as it is.

        Raises ObjectError, TransferError.
        """
        with self._explained():
            return self._put(self._key(name), data)

    def get(self, name: str) -> bytes:
        """Return the content of a store's file. Raises DamagedError, ObjectError, TransferError."""
        with self._explained():
            return self.get_key(self._key(name))

    def get_key(self, key: str) -> bytes:
        """Return the content of the object at `key` below the prefix, checked by its SHA-256."""
        from botocore.exceptions import ClientError, IncompleteReadError, ResponseStreamingError

        for left in reversed(range(ATTEMPTS)):
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key)
                with closing(answer["Body"]) as body:
                    data = _read(body)
                break
            except ClientError as error:
                raise self._object_error(error, key) from error
            except (IncompleteReadError, ResponseStreamingError) as error:
                # botocore repeats requests, but not a body that breaks off.
                if not left:
                    raise ObjectError(f"{key}: the transfer broke off {ATTEMPTS} times") from error
        if len(data) > MAX_FILE:
            raise DamagedError(f"{key}: larger than any result")
        promised = answer.get("Metadata", {}).get("sha256")
        if promised and promised != hashlib.sha256(data).hexdigest():
            raise DamagedError(f"{key}: its bytes don't have the SHA-256 that it was stored with")
        return data

    def _key(self, name: str) -> str:
        return f"{OCR_FOLDER}/{name[:2]}/{name}"

    def _put(self, key: str, data: bytes) -> bool:
        from botocore.exceptions import ClientError

        for race in range(RACES):
            try:
                self._client.put_object(
                    Bucket=self._bucket,
                    Key=self._prefix + key,
                    Body=data,
                    IfNoneMatch="*",
                    ContentType="application/json",
                    Metadata={"sha256": hashlib.sha256(data).hexdigest()},
                )
                return True
            except ClientError as error:
                status = error.response["ResponseMetadata"].get("HTTPStatusCode")
                if status == 412:
                    return False
                if status != 409 or race == RACES - 1:
                    raise self._object_error(error, key) from error
            time.sleep(0.2 * 2**race)
        raise AssertionError("the loop returns or raises")

    def _object_error(self, error: Any, key: str) -> Exception:
        """Return the error to raise: of all transfers when the next would fail alike."""
        code = str(error.response.get("Error", {}).get("Code", ""))
        status = error.response["ResponseMetadata"].get("HTTPStatusCode")
        fatal = {*_DENIED, *_WRONG_KEY, "NoSuchBucket", "PermanentRedirect"}
        if status in (401, 403) or code in fatal:
            return error
        text = error.response.get("Error", {}).get("Message") or "no message"
        return ObjectError(f"{key}: HTTP {status} {code}: {_short(text)}")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Within, errors of boto3 become one line of a TransferError."""
        from botocore import exceptions as boto

        try:
            yield
        except boto.ClientError as error:
            raise TransferError(self._explain(error)) from error
        except (boto.NoCredentialsError, boto.PartialCredentialsError) as error:
            raise TransferError(
                f"no credentials for {self._where}: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY"
            ) from error
        except (boto.HTTPClientError, boto.ConnectionError) as error:
            raise TransferError(
                f"can't reach {self._where} ({_short(error)}): check --endpoint and the network; "
                "the same command goes on where this one stopped"
            ) from error
        except (boto.BotoCoreError, ValueError, RecursionError) as error:
            # RecursionError: botocore follows a redirect that leads back to itself.
            raise TransferError(f"{self._where}: {_short(error)}") from error

    def _explain(self, error: Any) -> str:
        code = str(error.response.get("Error", {}).get("Code", ""))
        status = error.response["ResponseMetadata"].get("HTTPStatusCode")
        if code in _WRONG_KEY:
            return (
                f"{self._where} knows no such credentials ({code}): check AWS_PROFILE or the keys"
            )
        if status in (401, 403):
            return (
                f"access to {self._where} is denied (HTTP {status}): the credentials must be "
                "allowed to list, get and, for push, put objects"
            )
        if code in ("NoSuchBucket", "404"):
            return f"there is no {self._where}: create it, or check --bucket and --endpoint"
        return f"{self._where}: HTTP {status} {code}: {_short(error)}"


def _read(body: Any) -> bytes:
    """Return a body, or just more than MAX_FILE bytes of it.

    Only a read that finds nothing more shows botocore that a body has broken off.
    """
    data = bytearray()
    while len(data) <= MAX_FILE and (chunk := body.read(_CHUNK)):
        data += chunk
    return bytes(data)


def _check_endpoint(endpoint: str | None) -> None:
    if endpoint is None:
        return
    if set(endpoint) & set("@?#"):  # before anything that would repeat it
        raise TransferError(
            "the endpoint holds a password or more than host, port and path: credentials come from "
            "AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only"
        )
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError as error:
        raise TransferError(f"endpoint {endpoint}: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise TransferError(f"endpoint {endpoint}: it is a URL such as http://rustfs:9000")


def _short(error: object) -> str:
    """Return an error's text as one line that can't act on a terminal."""
    text = " ".join(str(error).split())
    return "".join(c if c.isprintable() else "?" for c in text)[:300]
