#!/usr/bin/env python3
"""Brings back deleted files of spaces (docs/restoring.md).

    infra/restore_files.py BUCKET --since 2026-11-28T21:40:00Z --dry-run    shows their number
    infra/restore_files.py BUCKET --since 2026-11-28T21:40:00Z              brings them back
    infra/restore_files.py BUCKET --empty                                   deletes all for good

Needs boto3 and these permissions on the bucket: s3:ListBucketVersions and s3:DeleteObjectVersion.

The bucket keeps the versions of a deleted file for 35 days. A file never changes, so bringing it
back means removing the marker that deletes it. That is no upload, so no function checks it again.
"""

import argparse
import datetime
import sys

import boto3

# How many versions S3 deletes in a call.
BATCH = 1_000


def versions(s3, bucket, kind):
    """All versions of a kind: `Versions` or `DeleteMarkers`."""
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        yield from page.get(kind, [])


def markers_since(s3, bucket, since):
    """The markers that have deleted a file after a moment. A file without data is left alone."""
    with_data = {version["Key"] for version in versions(s3, bucket, "Versions")}
    for marker in versions(s3, bucket, "DeleteMarkers"):
        is_newer = marker["LastModified"] > since
        if marker["IsLatest"] and is_newer and marker["Key"] in with_data:
            yield marker


def delete(s3, bucket, found):
    """Deletes these versions for good. Returns their number."""
    found = [{"Key": one["Key"], "VersionId": one["VersionId"]} for one in found]
    for start in range(0, len(found), BATCH):
        batch = {"Objects": found[start : start + BATCH], "Quiet": True}
        failed = s3.delete_objects(Bucket=bucket, Delete=batch).get("Errors", [])
        if failed:
            raise SystemExit(f"{len(failed)} not deleted, the first: {failed[0]}")
    return len(found)


def main():
    flags = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    flags.add_argument("bucket")
    what = flags.add_mutually_exclusive_group(required=True)
    what.add_argument("--since", type=moment, help="the moment that the table was restored to")
    what.add_argument("--empty", action="store_true", help="delete all files and their versions")
    flags.add_argument("--dry-run", action="store_true", help="only show how many it would be")
    options = flags.parse_args()
    s3 = boto3.client("s3")
    if options.empty:
        found = [
            one
            for kind in ("Versions", "DeleteMarkers")
            for one in versions(s3, options.bucket, kind)
        ]
    else:
        found = list(markers_since(s3, options.bucket, options.since))
    number = len(found) if options.dry_run else delete(s3, options.bucket, found)
    done = "deleted for good" if options.empty else "brought back"
    print(f"{number} {'would be ' if options.dry_run else ''}{done}")


def moment(text):
    """A moment such as 2026-11-28T21:40:00Z."""
    found = datetime.datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise argparse.ArgumentTypeError("expected a time zone, such as Z at the end")
    return found


if __name__ == "__main__":
    sys.exit(main())
