"""Checks what `sam build` has built for AWS, and packages it: `packaged.py`, after `sam build`.

The binaries are for arm64, so this machine may be unable to run them.
"""

import io
import os
import pathlib
import subprocess
import sys
import zipfile

from samtranslator.yaml_helper import yaml_parse

from cloud import REGION, Cloud
from deployment import FUNCTIONS, ROOT, functions_of

BUILT = ROOT / ".aws-sam/build"
# Lambda's file of an arm64 executable says so in these bytes.
ELF, ARM64 = b"\x7fELF", (0xB7).to_bytes(2, "little")
# Zipped. The largest had some 6 MB in November 2026; Lambda takes 50.
MOST_BYTES = 12_000_000


def main():
    found = {}
    for path in sorted(BUILT.glob("*/bootstrap")):
        binary = path.read_bytes()
        assert binary[:4] == ELF and binary[18:20] == ARM64, f"{path}: expected one for arm64"
        found[path.parent.name] = zipped_bytes(binary)
    assert len(found) == len(FUNCTIONS), f"expected {len(FUNCTIONS)} functions, got {found}"
    for name, size in found.items():
        print(f"{name:<20} {size / 1e6:.1f} MB zipped")
        assert size < MOST_BYTES, f"{name}: expected less than {MOST_BYTES} bytes, got {size}"
    with Cloud() as cloud:
        check_package(cloud)
    return 0


def zipped_bytes(binary):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("bootstrap", binary)
    return buffer.tell()


def check_package(cloud):
    """`sam package` uploads each function and names it in the template that it writes."""
    package = cloud.folder / "package.yaml"
    variables = {"AWS_ENDPOINT_URL": cloud.url, "AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION}
    variables |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    command = ["sam", "package", "--output-template-file", package]
    subprocess.run(command, cwd=ROOT, env=os.environ | variables, check=True)
    template, s3 = yaml_parse(package.read_text()), cloud.client("s3")
    for id, function in functions_of(template):
        bucket, _, key = function["Properties"]["CodeUri"].removeprefix("s3://").partition("/")
        size = s3.head_object(Bucket=bucket, Key=key)["ContentLength"]
        assert 0 < size < MOST_BYTES, (id, size)
    print(f"packaged {pathlib.Path(package).name}")


if __name__ == "__main__":
    sys.exit(main())
